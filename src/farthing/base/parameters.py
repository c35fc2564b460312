"""Constraints of parameters: one table per estimator, checked by scikit-learn's code.

An estimator lists its constraints in ``_parameter_constraints``; `fit` checks them all before it learns. A
parameter that breaks its constraint raises ``InvalidParameterError``, which is a ``ValueError``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from sklearn.utils._param_validation import (
    Interval,
    Options,
    StrOptions,
    validate_parameter_constraints,
)

__all__ = [
    "ANY_OR_NONE",
    "BOOLEAN",
    "CLASS_WEIGHT",
    "FRACTION",
    "JOBS",
    "NON_NEGATIVE",
    "POSITIVE",
    "RANDOM_STATE",
    "SHARE",
    "Interval",
    "Options",
    "StrOptions",
    "at_least",
    "between",
    "check_parameters",
    "check_whole",
    "one_of",
]


def at_least(least: int) -> Interval:
    """Return the constraint of an integer that is no smaller.

    Examples
    --------
    >>> at_least(1).is_satisfied_by(0)
    False
    """
    return Interval(Integral, least, None, closed="left")


def between(least: int, most: int) -> Interval:
    """Return the constraint of an integer within bounds, both included."""
    return Interval(Integral, least, most, closed="both")


def one_of(*names: str) -> StrOptions:
    """Return the constraint of a string out of a few."""
    return StrOptions(set(names))


#: Zero or more, and finite.
NON_NEGATIVE: Final = Interval(Real, 0, np.inf, closed="left")
#: Above zero, and finite.
POSITIVE: Final = Interval(Real, 0, np.inf, closed="neither")
#: From 0 to 1, both included.
SHARE: Final = Interval(Real, 0, 1, closed="both")
#: Between 0 and 1, both excluded.
FRACTION: Final = Interval(Real, 0, 1, closed="neither")
BOOLEAN: Final = "boolean"
RANDOM_STATE: Final = "random_state"
#: Threads, as in joblib.
JOBS: Final[list[Any]] = [Integral, None]
#: As in scikit-learn; see `farthing.base.class_weights`.
CLASS_WEIGHT: Final[list[Any]] = [Mapping, one_of("balanced"), None]
#: Checked where it is used; for price lists, for instance, which come in many forms.
ANY_OR_NONE: Final[list[Any]] = [object, None]


#: Types of which values are equal only to values that are as valid.
PLAIN: Final = frozenset({bool, int, float, str, type(None)})
# Values of a class that are remembered; a search over floats would give ever more.
_MOST_KNOWN: Final = 4096


@cache
def _known_values(_: type) -> set[tuple[str, type, Any]]:
    """Return the names, types and values of parameters of a class that were found to be valid."""
    return set()


def check_parameters(kind: type, constraints: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    """Raise InvalidParameterError for the first parameter that breaks its constraints.

    scikit-learn builds all constraints anew in each call, which takes as long as a small fit; plain values
    that a parameter of the class has had before are not checked again.

    Parameters
    ----------
    kind : type
        The class of the estimator.
    constraints : mapping
        Of the class, by parameter.
    given : mapping
        The values, by parameter.
    """
    known = _known_values(kind)
    unknown = {}
    for name, value in given.items():
        if type(value) in PLAIN and (name, type(value), value) in known:
            continue
        if constraints.get(name, ANY_OR_NONE) is not ANY_OR_NONE:
            unknown[name] = value
    if not unknown:
        return
    validate_parameter_constraints(constraints, unknown, caller_name=kind.__name__)
    if len(known) < _MOST_KNOWN:
        known.update((name, type(value), value) for name, value in unknown.items() if type(value) in PLAIN)


def check_whole(name: str, given: Any, least: int, most: int | None = None) -> None:
    """Raise ValueError unless an argument of a function is an integer within its bounds.

    Examples
    --------
    >>> check_whole("n_rounds", 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: n_rounds must be at least 1; got 0
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise ValueError(f"{name} must be an integer; got {given!r}")  # noqa: TRY004 - as for its bounds
    if given < least or (most is not None and given > most):
        expected = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {expected}; got {given}")
