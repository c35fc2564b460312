"""Models to files and back: which attributes go in, and what must hold before a model comes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from os import PathLike as OsPathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from farthing import store
from farthing.base import registry
from farthing.errors import FarthingError, FileError

if TYPE_CHECKING:
    from types import UnionType

    from farthing.base.estimator import BudgetedEstimator

PathLike: TypeAlias = str | OsPathLike[str]

# What a file may hold besides registered methods: from its state to the object, by kind.
_READERS: dict[str, Callable[[dict[str, Any]], Any]] = {}


def register_reader(kind: str, build: Callable[[dict[str, Any]], Any]) -> None:
    """Let `load` read files of something that is no estimator.

    Parameters
    ----------
    kind : str
        What the file says it holds.
    build : callable
        Makes the object of the state that was written. It may come from a hostile file: all must be checked.
    """
    _READERS[kind] = build


def save(model: BudgetedEstimator, path: PathLike) -> None:
    """Write a fitted model to one file."""
    store.write(path, kind_of(model), state_of(model))


def kind_of(model: BudgetedEstimator) -> str:
    """Return the name under which a file says what the model is; only registered methods have one."""
    kind = type(model).__name__
    if kind not in registry.registered() or registry.get(kind) is not type(model):
        raise TypeError(
            f"{kind} is not a registered method, so no file of it could be loaded; "
            "put @farthing.base.register() above its class"
        )
    return kind


def state_of(model: BudgetedEstimator) -> dict[str, Any]:
    """Return all that a file holds of a fitted model, its parameters and what it has learned."""
    fitted = {name: getattr(model, name) for name in stored_types(type(model))}
    return {"params": model._file_params(), "fitted": fitted}


def load(path: PathLike, trusted: Sequence[str] = ()) -> Any:
    """Read a model from a file that ``save`` wrote.

    No code comes from the file: it names a registered method and holds numbers and text for its attributes,
    all of which are checked. A scikit-learn model within, such as the expensive one of `farthing.adaptive`,
    is read by skops, which builds only what is safe by itself and what you trust.

    Parameters
    ----------
    path : str or path-like
        The file.
    trusted : sequence of str
        Types that a scikit-learn model within may be made of, by their full names; what a file would need
        is in the error it raises. Name them only if you trust whoever made the file.

    Returns
    -------
    estimator
        A fitted model that predicts, acquires and spends bit for bit as the one saved; or an `OnlineGate`,
        which goes on where it was.

    Raises
    ------
    FileError
        If the file is not an intact Farthing model, or its method is not imported.
    FileNotFoundError
        If there is no such file.
    """
    with store.trusting(trusted):
        kind, state = store.read(path)
    try:
        return _READERS[kind](state) if kind in _READERS else build(kind, state)
    except FileError:
        raise
    except (FarthingError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise FileError(f"{path} holds a {kind} that does not fit together: {error}") from error


def load_model(path: PathLike) -> BudgetedEstimator:
    """Read a model of a table; a file that holds something else, such as an `OnlineGate`, is a FileError."""
    model = load(path)
    if not hasattr(model, "schema_"):
        raise FileError(f"{path} holds a {type(model).__name__}, which is no model of a table")
    return model  # type: ignore[no-any-return]


@cache
def stored_types(method: type) -> dict[str, type | UnionType]:
    """Return names and types of all fitted attributes that a file holds, those of base classes first."""
    types: dict[str, type | UnionType] = {}
    for base in reversed(method.__mro__):
        types.update(vars(base).get("_stored", {}))
    return types


def build(kind: str, state: dict[str, object]) -> BudgetedEstimator:
    """Make a fitted model of what `state_of` gave, checking everything; it may come from a hostile file."""
    params, fitted = _section(state, "params"), _section(state, "fitted")
    if set(state) != {"params", "fitted"}:
        raise FileError(f"a model holds params and fitted; got {sorted(state)}")
    model = unfitted(kind, params)
    types = stored_types(type(model))
    if set(fitted) != set(types):
        raise FileError(f"{kind} stores {sorted(types)}; got {sorted(fitted)}")
    for name, expected in types.items():
        if not isinstance(fitted[name], expected):
            raise FileError(f"{kind}.{name} must be {expected}; got {type(fitted[name]).__name__}")
        setattr(model, name, fitted[name])
    _check_contract(model)
    model._check_stored()
    return model


def unfitted(kind: str, params: dict[str, Any]) -> BudgetedEstimator:
    """Make a model that has learned nothing; its parameters may come from a hostile file."""
    method = registry.get(kind)
    if strange := set(params) - set(method._get_param_names()):
        raise FileError(f"{kind} has no parameter {', '.join(sorted(map(repr, strange)))}")
    model: BudgetedEstimator = method(**params)
    return model


def _section(state: dict[str, object], name: str) -> dict[str, Any]:
    section = state.get(name)
    if not isinstance(section, dict):
        raise FileError(f"the model has no {name}")
    return section


def _check_contract(model: BudgetedEstimator) -> None:
    """Check what the base class relies on at prediction."""
    model._adopt(model.schema_)
    if tuple(model._ledger_names()) != tuple(model.costs_.features):
        raise FileError("the cost sheet and the columns are not the same features in the same order")
    if model.budget_ is not None and not model.budget_ >= 0:
        raise FileError(f"budget_ must be zero or more; got {model.budget_!r}")
    prior = model.prior_
    if prior.dtype != np.float64 or prior.ndim != 1 or not len(prior) or not np.isfinite(prior).all():
        raise FileError("prior_ must be a list of finite floats")
    classes = getattr(model, "classes_", None)
    if classes is not None and not (classes.ndim == 1 and np.array_equal(np.unique(classes), classes)):
        raise FileError("classes_ must be labels, each once, in order")
    _, probabilities = model._results(prior[np.newaxis])
    if probabilities is not None and probabilities.shape != (1, len(model.classes_)):
        raise FileError(f"{len(model.classes_)} classes do not fit {probabilities.shape[1]} outputs")
