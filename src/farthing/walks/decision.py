"""Questions and decisions of a walk, as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, Literal

from numpy.typing import NDArray

from farthing.typing import Flags, Floats, Integers
from farthing.walks.reason import Reason


class Refusal(Enum):
    """The type of `REFUSED`; an enumeration, so that copies and pickles are the same object."""

    REFUSED = "refused"

    def __repr__(self) -> str:
        return self.name


REFUSED: Final[Literal[Refusal.REFUSED]] = Refusal.REFUSED
"""The answer "not available": it costs nothing, and the walk goes on without the feature."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a walk: a feature and its current price.

    Attributes
    ----------
    feature : str
        Name of the column.
    price : float
        What the answer adds to the spend; includes the shared cost of a group only if it is not paid yet.
    group : str or None
        The group whose shared cost the feature is part of.
    resources : dict of str to float, or None
        What the answer takes of each further resource of the cost sheet; None if it has none.
    reason : Reason or None
        Why it is asked for, found when it is read, as long as the walk stands at this question; None over a
        service, which gives it on request.
    """

    feature: str
    price: float
    group: str | None = None
    resources: dict[str, float] | None = field(default=None, repr=False, kw_only=True)
    explain: Callable[[], Reason | None] | None = field(default=None, repr=False, compare=False, kw_only=True)

    @property
    def reason(self) -> Reason | None:
        """Why the feature is asked for."""
        return None if self.explain is None else self.explain()


@dataclass(frozen=True, slots=True)
class Decision:
    """The prediction for one row.

    Attributes
    ----------
    prediction : object
        A class label, or a number for a regressor.
    probabilities : dict or None
        Probability of each class; None for a regressor.
    spent : float
        The spend, by the cost sheet.
    acquired : tuple of str
        The features paid for, in the order of the cost sheet, without those known from the start.
    resources : dict of str to float, or None
        What was taken of each further resource of the cost sheet; None if it has none.
    """

    prediction: Any
    probabilities: dict[Any, float] | None
    spent: float
    acquired: tuple[str, ...]
    resources: dict[str, float] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Decisions:
    """The predictions for many rows, as arrays.

    Attributes
    ----------
    prediction : ndarray, shape (n_rows,)
        Class labels, or numbers for a regressor.
    probabilities : ndarray of float64, shape (n_rows, n_classes), or None
        Columns in the order of ``classes_``; None for a regressor.
    spent : ndarray of float64, shape (n_rows,)
        The spend of each row.
    acquired : ndarray of bool, shape (n_rows, n_features)
        The features that each row paid for.
    """

    prediction: NDArray[Any]
    probabilities: Floats | None
    spent: Floats
    acquired: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Rounds(Decisions):
    """The predictions for many rows that were asked for panels of features.

    Attributes
    ----------
    prediction, probabilities, spent, acquired
        As in `Decisions`; features that were bought and not needed are among those acquired, and paid for.
    rounds : ndarray of int64, shape (n_rows,)
        How often each row had to wait for answers: a panel counts once.
    """

    rounds: Integers
