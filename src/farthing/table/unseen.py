"""Categories that no training row had: where they are, and the warning about them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.errors import UnseenCategoryWarning, warn
from farthing.table.values import Scalar, show

_reported_elsewhere: ContextVar[bool] = ContextVar("_reported_elsewhere", default=False)


@contextmanager
def unseen_reported_elsewhere() -> Iterator[None]:
    """Leave out the warning, for callers that report unseen categories in a way of their own."""
    token = mute_unseen()
    try:
        yield
    finally:
        unmute_unseen(token)


def mute_unseen() -> Token[bool]:
    """Leave out the warning from now on, where a context manager would take longer than what it encloses."""
    return _reported_elsewhere.set(True)


def unmute_unseen(token: Token[bool]) -> None:
    """Undo `mute_unseen`, which returned the token."""
    _reported_elsewhere.reset(token)


@dataclass(frozen=True, eq=False)
class Unseen:
    """The unseen categories of one column.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_unseen,)
        Their rows.
    values : sequence of object, length n_unseen
        What the table has there.
    """

    rows: NDArray[np.int64]
    values: Sequence[object]

    @classmethod
    def of(cls, found: dict[int, object]) -> "Unseen":
        """Build one from values by row."""
        return cls(np.fromiter(found, np.int64, len(found)), tuple(found.values()))

    def describe(self, name: str, categories: tuple[Scalar, ...], looked: NDArray[np.bool_]) -> str | None:
        """Say in one line how much of a column is unseen; None if nothing is.

        Parameters
        ----------
        name : str
            Name of the column.
        categories : tuple
            The categories of the fit.
        looked : ndarray of bool, shape (n_rows,)
            The rows whose entry was looked at.
        """
        counted = looked[self.rows]
        n_unseen, n_looked = np.count_nonzero(counted), np.count_nonzero(looked)
        if not n_unseen:
            return None
        example = show(self.values[int(np.argmax(counted))])
        share = f"{n_unseen} of {n_looked} values ({n_unseen / n_looked:.0%})"
        return f"column {name!r}: {share}, such as {example}; the fit had {_listed(categories)}"


def warn_unseen(descriptions: Sequence[str]) -> None:
    """Warn once of all columns that have unseen categories; the lines are those of `Unseen.describe`."""
    if descriptions and not _reported_elsewhere.get():
        warn(
            "got categories that match none of the fit, or more than one, and count as missing: "
            + "; ".join(descriptions),
            UnseenCategoryWarning,
        )


def warn_unseen_value(name: str, categories: tuple[Scalar, ...], value: object) -> None:
    """Warn of one answer of a walk."""
    if not _reported_elsewhere.get():
        warn(
            f"column {name!r}: got {show(value)}, which matches no category of the fit, or more than one, "
            f"and counts as missing; the fit had {_listed(categories)}",
            UnseenCategoryWarning,
        )


def _listed(categories: tuple[Scalar, ...], most: int = 8) -> str:
    shown = ", ".join(map(repr, categories[:most])) or "none"
    return shown if len(categories) <= most else f"{shown}, ... ({len(categories)} in all)"
