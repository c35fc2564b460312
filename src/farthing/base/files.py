"""Saving and loading models: which attributes a file holds, and what is checked before a model is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cache
from os import PathLike as OsPathLike
from types import UnionType
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from farthing import store
from farthing.base import registry
from farthing.base.fitted import FittedModel
from farthing.base.model_fields import optional_fields
from farthing.base.reference import Reference
from farthing.base.task_models import ClassifierModel
from farthing.errors import FarthingError, FileError
from farthing.labels import Labels

if TYPE_CHECKING:
    from farthing.base.estimator import BudgetedEstimator

PathLike: TypeAlias = str | OsPathLike[str]

_NO_LABELS: Final = Labels()
# Kinds of files besides registered methods, each with the function that builds the object from its state.
_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {}


def register_reader(kind: str, build: Callable[[dict[str, Any]], Any]) -> None:
    """Let `load` read files of something that is not an estimator.

    Parameters
    ----------
    kind : str
        The kind that the file names.
    build : callable
        Builds the object from the stored state. The file may be hostile, so everything must be checked.
    """
    _READERS[kind] = build


def save(model: BudgetedEstimator, path: PathLike) -> None:
    """Write a fitted model to one file."""
    labels = {"labels": model.labels_} if model.labels_ else {}
    reference = {} if model.reference_ is None else {"reference": model.reference_}
    store.write(path, kind_of(model), state_of(model) | labels | reference)


def kind_of(model: BudgetedEstimator) -> str:
    """Return the name by which a file identifies the method; only registered methods have one."""
    kind = type(model).__name__
    # A subclass may share the name of a registered method; loading would then build the wrong class.
    if not registry.is_registered(type(model)):
        raise TypeError(
            f"{kind} is not a registered method, so no file of it could be loaded; "
            "put @farthing.base.register() above its class"
        )
    return kind


def state_of(model: BudgetedEstimator) -> dict[str, Any]:
    """Return the state that a file holds: the parameters and the fields of the fitted model."""
    return {"params": model.file_params(), "fitted": model.fitted_.state()}


def load(path: PathLike, trusted: Sequence[str] = (), stream: IO[bytes] | None = None) -> Any:
    """Read a model from a file that ``save`` wrote.

    The file contains no code: it names a registered method and holds numbers and text for its attributes, all
    of which are checked. A nested scikit-learn model, such as the expensive one of `farthing.adaptive`, is
    read by skops, which builds only safe types and those in ``trusted``.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str
        Full names of types that a nested scikit-learn model may contain; the error names those that a file
        needs. List them only if you trust whoever made the file.
    stream : binary file, optional
        The same file, opened by `farthing.store.open_regular`; by default the path is opened.

    Returns
    -------
    estimator
        A fitted model that predicts, acquires and spends bit for bit as the one saved; or an `OnlineGate`,
        which resumes from its saved state.

    Raises
    ------
    FileError
        If the file is not an intact Farthing model, or its method is not imported.
    FileNotFoundError
        If there is no such file.
    """
    # Decoding needs the codecs and readers of the methods, which are registered with them.
    registry.import_methods()
    with store.trusting(trusted):
        kind, state = store.read(path, stream)
    try:
        return _READERS[kind](state) if kind in _READERS else build(kind, state)
    except FileError:
        raise
    # Whatever a hostile file trips over in a constructor is the file's fault, not the caller's.
    except (FarthingError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise FileError(f"{path} holds a {kind} that does not fit together: {error}") from error


def load_model(
    path: PathLike, trusted: Sequence[str] = (), stream: IO[bytes] | None = None
) -> BudgetedEstimator:
    """Read an estimator; a file that holds something else, such as an `OnlineGate`, raises FileError."""
    return checked_model(load(path, trusted, stream), path)


def checked_model(model: Any, path: PathLike) -> BudgetedEstimator:
    """Return what a file holds, if it is an estimator; raise FileError if not."""
    if not hasattr(model, "fitted_"):
        raise FileError(f"{path} holds a {type(model).__name__}, which is not a model of a table")
    return model  # type: ignore[no-any-return]


def build(kind: str, state: dict[str, object]) -> BudgetedEstimator:
    """Build a fitted model from the state of `state_of`, checking everything; the file may be hostile."""
    params, fitted = _section(state, "params"), _section(state, "fitted")
    labels = state.get("labels", _NO_LABELS)
    reference = state.get("reference")
    if set(state) - {"labels", "reference"} != {"params", "fitted"}:
        raise FileError(
            f"a model holds params and fitted, and perhaps labels and a reference; got {sorted(state)}"
        )
    if not isinstance(reference, Reference | None):
        raise FileError(f"the reference of a model must be a Reference; got {type(reference).__name__}")
    if not isinstance(labels, Labels):
        raise FileError(f"the labels of a model must be Labels; got {type(labels).__name__}")
    estimator = unfitted(kind, params)
    # Exactly the fields of the class: a missing one would keep a default, an extra one hide a mistake. Only
    # optional ones are left out if they are None or empty.
    types = stored_types(type(estimator).model_type)
    unset = optional_fields(type(estimator).model_type)
    fitted = {f"{name}_": value for name, value in unset.items()} | fitted
    if set(fitted) != {f"{name}_" for name in types}:
        raise FileError(f"{kind} stores {sorted(f'{name}_' for name in types)}; got {sorted(fitted)}")
    # Types before values: `check` of a model may then rely on every field being what its annotation says.
    for name, expected in types.items():
        if not isinstance(fitted[f"{name}_"], expected):
            found = type(fitted[f"{name}_"]).__name__
            raise FileError(f"{kind}.{name}_ must be {expected}; got {found}")
    model = type(estimator).model_type(**{name: fitted[f"{name}_"] for name in types})
    model.check()
    if isinstance(model, ClassifierModel):
        model.check_probabilities()
    estimator.n_threads()  # raises here, not at the first prediction, if n_jobs of the file is invalid
    return estimator.adopt(model).with_labels(labels).remembering(reference)


@cache
def stored_types(model_type: type[FittedModel]) -> dict[str, tuple[type, ...]]:
    """Return the fields of a fitted model, with the types that a file may hold there.

    Examples
    --------
    >>> from farthing.base import RegressorModel
    >>> stored_types(RegressorModel)["budget"]
    (<class 'float'>, <class 'NoneType'>)
    """
    hints = get_type_hints(model_type)
    return {field.name: _runtime_types(hints[field.name]) for field in fields(model_type)}


def _runtime_types(hint: Any) -> tuple[type, ...]:
    """Return the types that `isinstance` can check of a hint: arrays and lists without their parameters."""
    origin = get_origin(hint)
    if origin in (UnionType, Union):
        return tuple(kind for part in get_args(hint) for kind in _runtime_types(part))
    if origin is Literal:
        return tuple({type(value) for value in get_args(hint)})
    # From NumPy 2.5 on, NDArray is an alias that Python 3.12 and later evaluate late (PEP 695).
    if hasattr(origin or hint, "__value__"):
        return _runtime_types((origin or hint).__value__)
    return (origin or hint,)


def unfitted(kind: str, params: dict[str, Any]) -> BudgetedEstimator:
    """Build an unfitted estimator; its parameters may come from a hostile file."""
    method = registry.get(kind)
    if strange := set(params) - set(method().get_params(deep=False)):
        raise FileError(f"{kind} has no parameter {', '.join(sorted(map(repr, strange)))}")
    model: BudgetedEstimator = method(**params)
    return model


def _section(state: dict[str, object], name: str) -> dict[str, Any]:
    section = state.get(name)
    if not isinstance(section, dict):
        raise FileError(f"the model has no {name}")
    return section
