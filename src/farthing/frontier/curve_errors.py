"""Standard errors along the curve of one fit, for scores whose error takes many scores to find."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from farthing.frontier.evaluation import Evaluation
from farthing.frontier.scorer import Scorer

# Models of a fit whose error is found; more are kept while the fit is evaluated, and thinned out.
_MOST_FOUND: Final = 6
_MOST_KEPT: Final = 12


class CurveErrors:
    """The standard errors of some models of one fit, from those of a few that are near its frontier.

    A fit may give a hundred models, and a sweep shows and compares the best of them. So the error is found
    for at most six that no other of the fit beats in both spend and score, spread over the curve. Those
    between are models of the same fit judged by the same rows, whose error hardly differs: it is
    interpolated.

    Parameters
    ----------
    scorer : Scorer
        Finds an error.

    Examples
    --------
    >>> from farthing.frontier.scorers import scorer_of
    >>> y = np.array([0, 1, 1, 1])
    >>> curve = CurveErrors(scorer_of("accuracy", classifies=True))
    >>> for place, spend in enumerate([1.0, 2.0, 3.0]):
    ...     said = np.where(np.arange(4) > place, y, 0)
    ...     curve.add(place, spend, float(np.mean(said == y)), Evaluation(y, said, None, np.full(4, spend)))
    >>> {place: round(error, 2) for place, error in curve.errors().items()}
    {0: 0.0, 1: 0.0, 2: 0.0}
    """

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self._spends: dict[int, float] = {}
        # The frontier so far, by spend: place, spend, score and predictions.
        self._front: list[tuple[int, float, float, Evaluation]] = []

    def add(self, place: int, spend: float, score: float, evaluation: Evaluation) -> None:
        """Add a model.

        Parameters
        ----------
        place : int
            A name for it.
        spend, score : float
            What it spends on average, and its score.
        evaluation : Evaluation
            Its predictions, which are kept only while it is on the frontier.
        """
        self._spends[place] = spend
        if math.isnan(score) or any(
            other <= spend and better >= score for _, other, better, _ in self._front
        ):
            return
        self._front = [one for one in self._front if one[1] < spend or one[2] > score]
        self._front.append((place, spend, score, evaluation))
        self._front.sort(key=lambda one: one[1])
        if len(self._front) > _MOST_KEPT:
            self._thin()

    def errors(self) -> dict[int, float]:
        """Return the standard error of each model, by its place."""
        if not self._spends:
            return {}
        if len(self._front) > _MOST_FOUND:
            self._thin()
        found = {spend: self._scorer.error(told) for _, spend, _, told in self._front}
        known = {spend: error for spend, error in found.items() if not math.isnan(error)}
        if not known:  # no model has a score, or none an error
            return dict.fromkeys(self._spends, math.nan)
        errors = np.interp(list(self._spends.values()), list(known), list(known.values()))
        return dict(zip(self._spends, errors.tolist(), strict=True))

    def _thin(self) -> None:
        """Leave models that are spread evenly over the frontier, with both ends."""
        places = np.linspace(0, len(self._front) - 1, _MOST_FOUND).round().astype(int)
        self._front = [self._front[place] for place in places]
