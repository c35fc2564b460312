"""One point of a trade-off curve: the spend and the score of one model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import Any, Final

import numpy as np

from farthing.store import register_codec

# Half the width of a 95 % interval, in standard errors.
_WIDTH: Final = 1.96
# Fields that a file holds besides the method and its parameters.
_NUMBERS: Final = ("spend", "max_spend", "score", "error", "loss")


@dataclass(frozen=True, slots=True)
class Point:
    """Spend and score of one setting of one method, on rows that it did not learn from.

    Parameters
    ----------
    method : str
        Name of the method.
    params : mapping
        The parameters that were set, beside the costs.
    spend, max_spend : float
        Mean and largest spend of a row.
    score : float
        Larger is better. Points are chosen by ``spend`` and ``score``, so these are of validation rows.
    error : float
        Standard error of the score; NaN if there is none.
    loss : float
        Breaks ties between scores: half the errors and a quarter of the Brier score of the probabilities if
        the score is the accuracy, else NaN.
    test_spend, test_score : float
        The same on test rows, which were used for no choice; NaN if there are none.
    details : mapping of str to float
        Further figures, such as the number of rounds or the fraction of rows that a gate sends on.
    estimator : estimator
        Unfitted, with all parameters set; fit it to get such a model.
    source : fitted estimator or callable, optional
        The model itself, or a function that builds it.
    """

    method: str
    params: Mapping[str, Any]
    spend: float
    max_spend: float
    score: float
    error: float = math.nan
    loss: float = math.nan
    test_spend: float = math.nan
    test_score: float = math.nan
    details: Mapping[str, float] = field(default_factory=dict, repr=False)
    estimator: Any = field(default=None, repr=False, compare=False)
    source: Any = field(default=None, repr=False, compare=False)

    @property
    def model(self) -> Any:
        """The fitted model; None if the path keeps none."""
        # No estimator has __call__, so a callable must be a function that builds one.
        return self.source() if callable(self.source) else self.source

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score.

        Examples
        --------
        >>> low, high = Point("Tree", {}, 1.0, 1.0, 0.9, 0.01).interval
        >>> round(low, 4), round(high, 4)
        (0.8804, 0.9196)
        """
        return self.score - _WIDTH * self.error, self.score + _WIDTH * self.error

    def spend_of(self, *, hard: bool) -> float:
        """Return what is compared with a budget: the largest spend of a row if it is hard, else the mean."""
        return self.max_spend if hard else self.spend

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={brief(value)}" for name, value in self.params.items())
        return f"{self.method}({settings})"


def brief(value: Any) -> str:
    """Return a parameter as a short text."""
    return f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())


def _encode(point: Point) -> dict[str, object]:
    """Return the state for a file: no models, and parameters that are not plain values as text."""
    return {
        "method": point.method,
        "params": {name: _kept(value) for name, value in point.params.items()},
        **{name: float(getattr(point, name)) for name in _NUMBERS},
        **(
            {"details": {name: float(value) for name, value in point.details.items()}}
            if point.details
            else {}
        ),
    }


def _kept(value: Any) -> str | int | float | bool | None:
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or type(value) in (str, int, float, bool) else brief(value)


def _decode(fields: dict[str, Any]) -> Point:
    """Build a point from the state of a file, which may be hostile."""
    if set(fields) - {"details"} != {"method", "params", *_NUMBERS}:
        raise ValueError(f"a point has a method, params and {', '.join(_NUMBERS)}; got {sorted(fields)}")
    details = fields.get("details", {})
    if not isinstance(details, dict) or not all(type(value) is float for value in details.values()):
        raise TypeError("the details of a point must be floats by name")
    if not isinstance(fields["method"], str) or not isinstance(fields["params"], dict):
        raise TypeError("a point has a method with a name, and its parameters by name")
    for name, value in fields["params"].items():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool | NoneType):
            raise TypeError(f"a point's parameter {name!r} must be a number, a string or None")
    if not all(type(fields[name]) is float for name in _NUMBERS):
        raise TypeError(f"{', '.join(_NUMBERS)} of a point must be floats")
    return Point(**fields)


register_codec("Point", Point, _encode, _decode)
