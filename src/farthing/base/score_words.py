"""Scores in words: the mean squared error is 3211, not ``neg_mean_squared_error`` -3211."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

_TITLES: Final = {
    "roc_auc": "area under the ROC curve",
    "r2": "R squared",
    "f1": "F1 score",
    "neg_brier_score": "Brier score",
    "cost of a row, negated": "mean cost of a row, with its errors",
    "risk, negated": "risk",
}

# Beginnings of the names of scores between 0 and 1.
_SHARES: Final = (
    "accuracy", "average_precision", "balanced_accuracy", "f1", "jaccard", "ndcg@", "precision", "recall",
    "roc_auc", "top_k_accuracy",
)  # fmt: skip

WEIGHTED: Final = ", classes weighted"
"""The end of the name of a score in which rows count by the weight of their class."""


@dataclass(frozen=True, slots=True)
class ScoreWords:
    """How to show a score, which is larger for better models, to people.

    Attributes
    ----------
    title : str
        What is shown.
    negated : bool
        Whether it is shown with the opposite sign, since smaller is better.
    limits : tuple of float
        The least and the largest that the score can be.

    Examples
    --------
    >>> words = ScoreWords.of("neg_mean_squared_error")
    >>> words.title, words.text(-3211.42), words.interval(-3300.0, -3100.0)
    ('mean squared error', '3211', '3100 to 3300')
    >>> ScoreWords.of("balanced_accuracy").text(0.91234)
    '0.9123'
    """

    title: str
    negated: bool
    limits: tuple[float, float] = (-math.inf, math.inf)

    @classmethod
    def of(cls, name: str) -> Self:
        """Return the words for the name of a score, such as that of a scorer of scikit-learn."""
        plain = name.removesuffix(WEIGHTED)
        title = _TITLES.get(plain, plain.removeprefix("neg_").replace("_", " ").replace("ndcg@", "NDCG@"))
        negated = plain.startswith("neg_") or plain.endswith(", negated")
        return cls(title + name[len(plain) :], negated, _limits(plain))

    @property
    def axis(self) -> str:
        """The label of an axis that shows the scores as they are."""
        return f"{self.title} (negated: higher is better)" if self.negated else self.title

    def value(self, score: float) -> float:
        """Return the number to show."""
        return -score if self.negated else score

    def text(self, score: float) -> str:
        """Return the number as text: four decimals, fewer for large numbers."""
        shown = self.value(score)
        return f"{shown:.4f}" if abs(shown) < 10 else f"{shown:.2f}" if abs(shown) < 1000 else f"{shown:.0f}"

    def clip(self, low: float, high: float) -> tuple[float, float]:
        """Return an interval of scores within what the score can be: an accuracy is at most 1.

        Examples
        --------
        >>> ScoreWords.of("accuracy").clip(0.96, 1.02), ScoreWords.of("profit").clip(0.96, 1.02)
        ((0.96, 1.0), (0.96, 1.02))
        """
        least, most = self.limits
        # Not min and max of Python, which would lose NaN, the ends of no interval.
        return (low if not low < least else least), (high if not high > most else most)

    def interval(self, low: float, high: float) -> str:
        """Return an interval of scores as text, the smaller number first."""
        low, high = self.clip(low, high)
        ends = (high, low) if self.negated else (low, high)
        return " to ".join(self.text(end) for end in ends)


def _limits(name: str) -> tuple[float, float]:
    """Return the least and the largest value of a score; of one that is unknown, none."""
    if name.startswith(_SHARES):
        return 0.0, 1.0
    if name in ("r2", "explained_variance", "d2_absolute_error_score"):
        return -math.inf, 1.0
    return -math.inf, 0.0 if name.startswith("neg_") else math.inf
