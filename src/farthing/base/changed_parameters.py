"""Parameters that were changed after `fit`, which a fitted model does not follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from operator import is_
from typing import Any, Final

import numpy as np

from farthing.base.parameters import PLAIN

# These take effect without a fit, or affect nothing but the next one.
_WITHOUT_A_FIT: Final = frozenset({"n_jobs", "progress", "verbose", "warm_start"})

# Libraries whose estimators leave their parameters alone.
_KNOWN: Final = frozenset({"farthing", "sklearn"})


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The parameters of an estimator at its fit, to be compared with those it has later.

    Parameters
    ----------
    names : tuple of str
        The parameters that only a fit puts into effect.
    values : tuple of object
        Their values.
    nested : dict of str to Snapshot
        The parameters of those values that are estimators themselves.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier(max_depth=2)
    >>> before = Snapshot.of(tree)
    >>> before.changes(tree.set_params(max_depth=3))
    ['max_depth']
    """

    names: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    nested: dict[str, Snapshot] | None = None

    @classmethod
    def of(cls, estimator: Any) -> Snapshot:
        """Return the parameters of an estimator as they are now."""
        params = {
            name: value
            for name, value in estimator.get_params(deep=False).items()
            if name not in _WITHOUT_A_FIT
        }
        nested = {
            name: cls.of(value)
            for name, value in params.items()
            if type(value) not in PLAIN and _is_estimator(value)
        }
        return cls(tuple(params), tuple(params.values()), nested or None)

    def changes(self, estimator: Any) -> list[str]:
        """Return the parameters that have another value now, ``outer__inner`` for nested ones."""
        attributes = vars(estimator)
        # The usual case, kept short since every walk begins with it.
        if self.nested is None and all(map(is_, map(attributes.get, self.names), self.values)):
            return []
        names = []
        for name, before in zip(self.names, self.values, strict=True):
            now = attributes.get(name)
            if now is not before and not _equal(now, before):
                names.append(name)
            elif self.nested is not None and name in self.nested:
                names += [f"{name}__{inner}" for inner in self.nested[name].changes(now)]
        return names


def advice(model: Any, names: list[str]) -> str:
    """Return the warning about changed parameters, with what to do."""
    which = " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
    one = len(names) == 1
    was, old, new = ("was", "the value", "the new one") if one else ("were", "the values", "the new ones")
    text = (
        f"{which} {was} changed after fit, but this {type(model).__name__} keeps {old} that it was fitted "
        f"with; call fit again to use {new}"
    )
    if "budget" in names:
        text += (
            ", or model.at(budget) for another budget without a fit"
            if hasattr(model, "at")
            else ", or predict(X, budget=...) to cap every row without a fit"
        )
    return text


def _is_estimator(value: Any) -> bool:
    return _is_known(value.__class__) and hasattr(value, "get_params") and not isinstance(value, type)


@cache
def _is_known(kind: Any) -> bool:
    # Models of other libraries may change their own parameters in fit, as those of CatBoost do.
    return any(base.__module__.partition(".")[0] in _KNOWN for base in kind.__mro__)


def _equal(now: Any, before: Any) -> bool:
    """Return whether two parameters that are different objects have the same value."""
    if type(now) is not type(before):
        return False
    try:
        same = (now == before) | ((now != now) & (before != before))  # noqa: PLR0124 - NaN is NaN
        return bool(same) if np.ndim(same) == 0 else bool(np.all(same))
    except (TypeError, ValueError):  # arrays of different shapes, or values that cannot be compared
        return False
