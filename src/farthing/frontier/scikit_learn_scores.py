"""Scores of scikit-learn and of the user's own, with a standard error.

Many have a closed form. For the others the error is that of the jackknife if the score looks at labels alone,
since all rows of the same true and predicted label then have the same influence; else of the bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context

from farthing.frontier.evaluation import Evaluation, standard_error
from farthing.frontier.linearized import Linearized
from farthing.frontier.replay import Replay, replay_of
from farthing.frontier.resampling import N_SAMPLES, average_precisions, roc_areas, sample_blocks
from farthing.frontier.roc_error import roc_area, roc_error
from farthing.frontier.scorer import Scorer
from farthing.typing import Floats, Integers


class ScikitLearnScore(Scorer):
    """Any scorer of scikit-learn, with a standard error by jackknife or bootstrap."""

    def __init__(self, name: str, scorer: Any) -> None:
        self.name = name
        self._scorer = scorer

    def identity(self) -> Any:
        """Return the name and the scorer, which can be pickled if the user's function can."""
        return self.name, self._scorer

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the score and its standard error."""
        score, error = self.quick(evaluation)
        return score, self.error(evaluation) if error is None else error

    def quick(self, evaluation: Evaluation) -> tuple[float, float | None]:
        """Return the score; its standard error takes many scores."""
        return self.score(evaluation), None

    def error(self, evaluation: Evaluation) -> float:
        """Return the standard error."""
        # The rows passed scikit-learn's checks once; samples of them need not.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            found = self._jackknife(evaluation)
            return self._bootstrap(evaluation) if found is None else found

    def score(self, evaluation: Evaluation, rows: Integers | None = None) -> float:
        """Return the score of all rows, or of some."""
        return self._of_rows(replay_of(evaluation), np.arange(len(evaluation.y)) if rows is None else rows)

    def _of_rows(self, replay: Replay, rows: Integers) -> float:
        evaluation = replay.evaluation
        options = {} if evaluation.weights is None else {"sample_weight": evaluation.weights[rows]}
        return float(self._scorer(replay, rows, evaluation.y[rows], **options))

    def _of_sample(self, replay: Replay, rows: Integers) -> float:
        try:
            return self._of_rows(replay, rows)
        except ValueError:  # a sample without one of the classes, say
            return math.nan

    def _jackknife(self, evaluation: Evaluation) -> float | None:
        """Return the jackknife's standard error; None if the score is not one of labels alone.

        The score without a row is the same for all rows of a cell: of equal truth, prediction and weight.
        """
        cells = _cells(evaluation)
        if cells is None:
            return None
        first, counts = cells
        n_rows, replay = len(evaluation.y), replay_of(evaluation)
        scores = np.empty(len(first))
        for place, row in enumerate(first):
            scores[place] = self._of_sample(replay, np.delete(np.arange(n_rows), row))
            if replay.asked_probabilities or not replay.asked_labels or math.isnan(scores[place]):
                return None
        deviations = scores - np.average(scores, weights=counts)
        return float(np.sqrt((n_rows - 1) / n_rows * np.sum(counts * deviations**2)))

    def _bootstrap(self, evaluation: Evaluation) -> float:
        replay = replay_of(evaluation)
        drawn = [
            self._of_sample(replay, np.repeat(np.arange(len(counts)), counts))
            for block in sample_blocks(len(evaluation.y))
            for counts in block
        ]
        return _spread(np.array(drawn))


class OwnScore(ScikitLearnScore):
    """A function of the user's own, as a scorer of scikit-learn."""

    calls_back = True


class LinearizedScore(ScikitLearnScore):
    """A score of scikit-learn whose standard error has a closed form, see `farthing.frontier.linearized`.

    Parameters
    ----------
    name : str
        scikit-learn's name of the score.
    scorer : callable
        scikit-learn's scorer, for what is not the plain case.
    linearize : callable
        From an evaluation to the score and the influence of each row, or None.
    """

    def __init__(self, name: str, scorer: Any, linearize: Callable[[Evaluation], Linearized | None]) -> None:
        super().__init__(name, scorer)
        self._linearize = linearize

    def quick(self, evaluation: Evaluation) -> tuple[float, float | None]:
        """Return the score and its standard error, to first order."""
        found = self._linearize(evaluation)
        if found is None:
            return super().quick(evaluation)
        score, influences = found
        if evaluation.weights is not None:  # the order in which scikit-learn adds up weights varies
            score = self.score(evaluation)
        return score, standard_error(influences, evaluation.weights)

    def of_rows(self, evaluation: Evaluation) -> Floats | None:
        """Return the influences, moved so that their mean is the score; None without a closed form."""
        found = self._linearize(evaluation)
        if found is None:
            return None
        score, influences = found
        return np.asarray(influences - evaluation.mean(influences) + score)


class AreaScore(ScikitLearnScore):
    """The area under the ROC curve of two classes, with the standard error of DeLong."""

    def quick(self, evaluation: Evaluation) -> tuple[float, float | None]:
        """Return the area and its standard error, which is resampled if there are weights."""
        found = _positives(evaluation)
        if found is None or evaluation.weights is not None:
            return super().quick(evaluation)
        return roc_area(*found), roc_error(*found)

    def error(self, evaluation: Evaluation) -> float:
        """Return the standard error over resampled rows, all in one pass if there are two classes."""
        found = _positives(evaluation)
        if found is None:
            return super().error(evaluation)
        return _spread(roc_areas(*found, evaluation.weights))


class PrecisionScore(ScikitLearnScore):
    """The average precision of two classes, with a standard error over resampled rows, all in one pass.

    Parameters
    ----------
    name : str
        What the score is called.
    scorer : callable
        scikit-learn's scorer.
    positive : object, optional
        The positive class; None means 1, which must be the second one.
    """

    def __init__(self, name: str, scorer: Any, positive: Any = None) -> None:
        super().__init__(name, scorer)
        self._positive = positive

    def error(self, evaluation: Evaluation) -> float:
        """Return the standard error."""
        found = _positives(evaluation, self._positive)
        # Unless it is told which class is positive, scikit-learn wants it to be 1, or raises.
        if found is None or (self._positive is None and np.asarray(evaluation.classes)[1] != 1):
            return super().error(evaluation)
        return _spread(average_precisions(*found, evaluation.weights))


def _cells(evaluation: Evaluation) -> tuple[Integers, Integers] | None:
    """Return a row of each cell of truth, prediction and weight, and the size of the cell.

    None if there are as many cells as bootstrap samples, which then take no longer.
    """
    truth, given = evaluation.places(evaluation.y), evaluation.places(evaluation.prediction)
    if evaluation.classes is None or truth is None or given is None or len(truth) < 2:
        return None
    weights = np.ones(len(truth)) if evaluation.weights is None else evaluation.weights
    keys = np.stack([truth, given, weights])
    _, first, counts = np.unique(keys, axis=1, return_index=True, return_counts=True)
    return (first, counts) if len(first) < N_SAMPLES else None


def _positives(evaluation: Evaluation, positive: Any = None) -> tuple[NDArray[np.bool_], Floats] | None:
    """Return which rows are positive, and their scores; None unless two classes occur in the rows."""
    probabilities, places = evaluation.probabilities, evaluation.places(evaluation.y)
    if probabilities is None or probabilities.shape[1] != 2 or places is None:
        return None
    place = int(positive is None or np.asarray(evaluation.classes)[1] == positive)
    truth, scores = places == place, probabilities[:, place]
    plain = truth.any() and not truth.all() and np.isfinite(scores).all()
    return (truth, scores) if plain else None


def _spread(resampled: Floats) -> float:
    """Return the standard deviation over bootstrap samples; NaN if most of them have no score."""
    drawn = resampled[~np.isnan(resampled)]
    return float(np.std(drawn, ddof=1)) if len(drawn) > len(resampled) // 2 else math.nan
