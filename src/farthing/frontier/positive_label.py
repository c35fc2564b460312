"""Scorers that need to know which of two labels is the positive one, such as F1."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from farthing.frontier.linearized import Ratio, binary
from farthing.frontier.scikit_learn_scores import LinearizedScore, PrecisionScore, ScikitLearnScore
from farthing.frontier.scorer import Scorer

_BY_LABEL: Final = {
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "jaccard": metrics.jaccard_score,
    "average_precision": metrics.average_precision_score,
}
# Swapping the labels does not change these.
_SYMMETRIC: Final = frozenset({"roc_auc"})


def positive_scorer(scoring: Any, positive: Any, y: NDArray[Any]) -> Any:
    """Return how to score two classes of which one is positive.

    Parameters
    ----------
    scoring : str, callable, Scorer or None
        As in `farthing.frontier.scorers.scorer_of`.
    positive : object
        The positive label, or its text; None if none was named.
    y : ndarray, shape (n_rows,)
        The labels.

    Returns
    -------
    str, callable, Scorer or None
        The scoring as it was if the label makes no difference.

    Raises
    ------
    ValueError
        If a label is needed and none is given, or the other way round.

    Examples
    --------
    >>> positive_scorer("f1", "yes", np.array(["no", "yes"])).name
    "F1 score of 'yes'"
    """
    labels = np.unique(y)
    named = scoring if isinstance(scoring, str) else None
    if positive is None:
        if named in _BY_LABEL and set(labels.tolist()) - {0, 1}:
            raise ValueError(_remedy(named, labels))
        return scoring
    if named in _SYMMETRIC:
        return scoring
    if named not in _BY_LABEL:
        what = "the accuracy" if scoring in (None, "accuracy") else scoring
        raise ValueError(
            f"a positive label makes no difference to {what}; it is for the scorings {', '.join(_BY_LABEL)}"
        )
    found = [label for label in labels.tolist() if label == positive or str(label) == str(positive)]
    if not found:
        raise ValueError(f"there is no label {positive!r}; the labels are {', '.join(map(str, labels))}")
    if len(labels) != 2:
        raise ValueError(_remedy(named, labels))
    return _scorer(named, found[0])


def _scorer(scoring: str, positive: Any) -> Scorer:
    metric = _BY_LABEL[scoring]
    name = f"{'F1 score' if scoring == 'f1' else scoring.replace('_', ' ')} of {positive!r}"
    if scoring == "average_precision":
        ranked = metrics.make_scorer(metric, pos_label=positive, response_method="predict_proba")
        return PrecisionScore(name, ranked, positive)
    scorer = metrics.make_scorer(metric, pos_label=positive, zero_division=0.0)
    if scoring == "jaccard":
        return ScikitLearnScore(name, scorer)
    kind = cast("Ratio", scoring)
    return LinearizedScore(name, scorer, partial(binary, kind, positive=positive))


def _remedy(scoring: str, labels: NDArray[Any]) -> str:
    if len(labels) == 2:
        return (
            f"the scoring {scoring} needs to know which label is positive, {labels[0]!s} or {labels[1]!s}: "
            f"pos_label={labels.tolist()[1]!r}, or --positive {labels[1]!s} on the command line"
        )
    return f"the scoring {scoring} is for two labels; with {len(labels)} use {scoring}_macro"
