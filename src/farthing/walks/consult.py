"""Run a walk to its end with answers from a source."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from farthing.errors import TableError, warn
from farthing.spelling import close_names
from farthing.walks.decision import REFUSED, Ask, Decision
from farthing.walks.panels import WITHIN


class Steps(Protocol):
    """The interface of a walk that `consult` needs; of a local `Walk` and of one over a service."""

    @property
    def ask(self) -> Ask | None:
        """The feature wanted next; None at the end."""
        ...

    @property
    def decision(self) -> Decision:
        """The prediction so far."""
        ...

    def tell(self, value: object) -> None:
        """Answer the question."""
        ...

    def panel(self, k: int, *, within: float = WITHIN) -> tuple[Ask, ...]:
        """Return up to k questions to ask at once."""
        ...

    def tell_panel(self, answers: Mapping[str, object]) -> None:
        """Answer several questions at once."""
        ...


class Walkable(Protocol):
    """Any fitted model, local or behind a service."""

    def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> Steps:
        """Start the lazy prediction of one row."""
        ...


class AsyncSteps(Protocol):
    """A walk whose answers are awaited."""

    @property
    def ask(self) -> Ask | None:
        """The feature wanted next; None at the end."""
        ...

    @property
    def decision(self) -> Decision:
        """The prediction so far."""
        ...

    def tell(self, value: object) -> Awaitable[None]:
        """Answer the question."""
        ...

    def panel(self, k: int, *, within: float = WITHIN) -> Awaitable[tuple[Ask, ...]]:
        """Return up to k questions to ask at once."""
        ...

    def tell_panel(self, answers: Mapping[str, object]) -> Awaitable[None]:
        """Answer several questions at once."""
        ...


class AsyncWalkable(Protocol):
    """A model behind an asynchronous service."""

    def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> Awaitable[AsyncSteps]:
        """Start the lazy prediction of one row."""
        ...


class Record(Protocol):
    """A row with named fields: a dict, a pandas Series."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return the field with a name, or raise KeyError."""
        ...

    def keys(self) -> Any:
        """Return the names."""
        ...


class RowSources(Protocol):
    """Sources that are asked about one row at a time, such as `farthing.sources.Sources`."""

    def begin(self, row: Any) -> Record:
        """Return the answers for a row; what they cannot give is `REFUSED`."""
        ...

    def begin_async(self, row: Any) -> Record:
        """Return the answers for a row, each of which is awaited."""
        ...


Source: TypeAlias = Callable[[str], object] | Record | RowSources
"""What `consult` asks for values: a function of the feature's name, a mapping, a row, or a set of sources."""

AsyncSource: TypeAlias = Callable[[str], Awaitable[object]] | Source
"""What `aconsult` asks for values: what `consult` takes, or a coroutine function of the feature's name."""

Lacking: TypeAlias = Literal["raise", "refuse"]


def consult(
    model: Walkable,
    source: Source,
    *,
    row: Any = None,
    seed: int | None = None,
    budget: float | Mapping[str, float] | None = None,
    known: Mapping[str, object] | None = None,
    lacking: Lacking = "raise",
    panel: int = 1,
    within: float = WITHIN,
) -> Decision:
    """Predict one row, taking from a source only the features that the model asks for.

    Parameters
    ----------
    model : fitted model
        Anything with ``walk``.
    source : callable, mapping or Sources
        From the name of a feature to its value, which is ``farthing.REFUSED`` if it is not available. A
        mapping (a dict, a pandas Series) needs only what the model asks for, and may hold more than the model
        knows, as the row of a database does. `farthing.sources.Sources` are called when they are needed; a
        source that fails, or gives a value that its column cannot hold, is refused.
    row : object, optional
        What sources are called with: the key of the row, or what is known of it.
    seed : int, optional
        Seed of a stochastic model.
    budget : float or mapping of str to float, optional
        Budget of this row; a mapping caps further resources of the prices as well.
    known : mapping of str to object, optional
        Features owned from the start, which cost nothing.
    lacking : {"raise", "refuse"}
        What happens if the model asks for a feature that a mapping lacks, which may well be a misspelt key:
        an error, or a refusal.
    panel : int
        The largest number of features to ask for at once, see `Walk.panel`: those that the model is likely to
        need. `aconsult` awaits them together.
    within : float
        What may be wasted on features of panels that are not needed, as a share of what is needed.

    Returns
    -------
    Decision
        Prediction, probabilities, spend and acquired features.

    Raises
    ------
    TableError
        If a mapping lacks what the model asks for; it names the keys that look like it.

    Examples
    --------
    >>> from farthing.costs import CostSheet
    >>> from farthing.table import Schema
    >>> from farthing.trees import Forest
    >>> from farthing.walks import ForestPolicy, Walk, consult
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> class Model:
    ...     def walk(self, seed=None, budget=None, known=None):
    ...         return Walk(
    ...             ForestPolicy(stump, stump.value), Schema.learn([[0.0, 0.0]]), CostSheet([3, 5]),
    ...             lambda outputs, looked: (float(outputs[0, 0]), None),
    ...             budget=budget, known=known)
    >>> consult(Model(), {"x1": 0.7})
    Decision(prediction=1.0, probabilities=None, spent=5.0, acquired=('x1',))
    >>> consult(Model(), {"x1": 0.7}, budget=4)
    Decision(prediction=0.0, probabilities=None, spent=0.0, acquired=())
    >>> consult(Model(), {"X1": 0.7})
    Traceback (most recent call last):
    ...
    farthing.errors.TableError: the mapping lacks 'x1', which the model asks for; did you mean 'X1'? ...
    """
    if hasattr(source, "begin"):
        source = source.begin(row)
    fetch = _fetcher(source, lacking, model)
    walk = model.walk(seed=seed, budget=budget, known=known)
    while (ask := walk.ask) is not None:
        asks = (ask,) if panel == 1 else walk.panel(panel, within=within)
        answers = {ask.feature: _ready(ask.feature, fetch(ask.feature)) for ask in asks}
        told = False
        while not told:
            try:
                walk.tell(answers[ask.feature]) if panel == 1 else walk.tell_panel(answers)
                told = True
            except TableError as error:
                answers[_reject(source, ask.feature if panel == 1 else error.column, error)] = REFUSED
    return walk.decision


async def aconsult(
    model: Walkable | AsyncWalkable,
    source: AsyncSource,
    *,
    row: Any = None,
    seed: int | None = None,
    budget: float | Mapping[str, float] | None = None,
    known: Mapping[str, object] | None = None,
    lacking: Lacking = "raise",
    panel: int = 1,
    within: float = WITHIN,
) -> Decision:
    """Predict one row as `consult` does, awaiting each answer that the source gives as an awaitable.

    Parameters
    ----------
    model : fitted model
        Anything with ``walk``. It may be a coroutine function, and so may the walk's ``tell``: walks of a
        remote model are awaited.
    source : coroutine function, callable, mapping or Sources
        From the name of a feature to its value. Sources that are plain functions are called in a thread.
    row, seed, budget, known, lacking, panel, within
        As in `consult`; the features of a panel are awaited together.

    Returns
    -------
    Decision
        Prediction, probabilities, spend and acquired features.
    """
    if hasattr(source, "begin_async"):
        source = source.begin_async(row)
    fetch = _fetcher(source, lacking, model)
    walk = await _awaited(model.walk(seed=seed, budget=budget, known=known))
    while (ask := walk.ask) is not None:
        asks = (ask,) if panel == 1 else await _awaited(walk.panel(panel, within=within))
        values = await asyncio.gather(*(_awaited(fetch(ask.feature)) for ask in asks))
        answers = {ask.feature: value for ask, value in zip(asks, values, strict=True)}
        told = False
        while not told:
            try:
                await _awaited(walk.tell(values[0]) if panel == 1 else walk.tell_panel(answers))
                told = True
            except TableError as error:
                answers[_reject(source, ask.feature if panel == 1 else error.column, error)] = REFUSED
                values = list(answers.values())
    return walk.decision  # type: ignore[no-any-return]


def _ready(feature: str, value: object) -> object:
    """Return a value of a source that is not to be awaited."""
    if inspect.isawaitable(value):
        if inspect.iscoroutine(value):
            value.close()  # or Python warns that it was never awaited
        raise TypeError(
            f"the source answered {feature!r} with an awaitable; use await farthing.aconsult(...)"
        )
    return value


def _reject(source: Any, feature: str | None, error: TableError) -> str:
    """Let the answers of sources note a value that the model cannot take; for any other source, raise it."""
    reject = getattr(source, "reject", None)
    if reject is None or feature is None:
        raise error
    reject(feature, error)
    return feature


async def _awaited(given: Any) -> Any:
    """Await a value if it is awaitable."""
    return await given if inspect.isawaitable(given) else given


def _fetcher(source: Any, lacking: Lacking, model: Any) -> Callable[[str], object]:
    """Return a function from the name of a feature to its value or `REFUSED`."""
    if lacking not in ("raise", "refuse"):
        raise ValueError(f"lacking must be 'raise' or 'refuse'; got {lacking!r}")
    if callable(source):
        return source  # type: ignore[no-any-return]
    if not hasattr(source, "__getitem__") or not hasattr(source, "keys"):
        raise TypeError(
            "source must be a callable or a mapping from feature names to values, or "
            f"farthing.sources.Sources; got {type(source).__name__}"
        )

    def fetch(feature: str) -> object:
        # Not source.get: a pandas Series would return None, which is a measured, missing and paid value.
        try:
            return source[feature]
        except KeyError:
            if lacking == "raise":
                raise _lacks(source, feature) from None
            _warn_if_misspelt(source, feature, model)
            return REFUSED

    return fetch


def _keys(source: Record) -> list[str]:
    return [str(key) for key in source.keys()]  # noqa: SIM118 - a pandas Series iterates over its values


def _similar(feature: str, keys: list[str]) -> list[str]:
    """Return the keys that look like a feature, at most three."""
    by_folded = {key.strip().casefold(): key for key in keys}
    return [by_folded[key] for key in close_names(feature.strip().casefold(), by_folded, n=3)]


def _warn_if_misspelt(source: Record, feature: str, model: Any) -> None:
    """Warn if a mapping lacks a feature, but has a key like it that is no feature of the model."""
    names = getattr(getattr(model, "costs_", None), "features", ())
    if close := _similar(feature, [key for key in _keys(source) if key not in names]):
        alike = " or ".join(map(repr, close))
        warn(
            f"{feature!r} is refused, since the mapping lacks it; did you mean {alike}, which is no feature "
            "of the model?",
            UserWarning,
        )


def _lacks(source: Record, feature: str) -> TableError:
    """Return the error for a mapping without a feature that the model asks for."""
    keys = _keys(source)
    if close := _similar(feature, keys):
        hint = f"did you mean {' or '.join(map(repr, close))}?"
    else:
        shown = ", ".join(map(repr, keys[:8])) or "nothing"
        hint = f"it has {shown}" + (f", ... ({len(keys)} keys)." if len(keys) > 8 else ".")
    noun = getattr(source, "noun", "the mapping")
    return TableError(
        f"{noun} lacks {feature!r}, which the model asks for; {hint} If it is not available, give it "
        f"the value farthing.REFUSED, or pass lacking='refuse' to refuse all that {noun} lacks"
    )
