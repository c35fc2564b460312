"""Scorers that need to know which of two labels is the positive one, such as F1."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics

from farthing.frontier.scorers import ScikitLearnScore, Scorer

_BY_LABEL: Final = {
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "jaccard": metrics.jaccard_score,
    "average_precision": metrics.average_precision_score,
}
_OF_PROBABILITIES: Final = frozenset({"average_precision"})
# Swapping the labels does not change these.
_SYMMETRIC: Final = frozenset({"roc_auc"})


def positive_scorer(scoring: str | None, positive: Any, y: NDArray[Any]) -> str | Scorer | None:
    """Return how to score two classes of which one is positive.

    Parameters
    ----------
    scoring : str or None
        Name of a scorer of scikit-learn.
    positive : object
        The positive label, or its text; None if none was named.
    y : ndarray, shape (n_rows,)
        The labels.

    Returns
    -------
    str, Scorer or None
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
    if positive is None:
        if scoring in _BY_LABEL and set(labels.tolist()) - {0, 1}:
            raise ValueError(_remedy(scoring, labels))
        return scoring
    if scoring in _SYMMETRIC:
        return scoring
    if scoring is None or scoring not in _BY_LABEL:
        raise ValueError(
            f"a positive label makes no difference to {scoring or 'the accuracy'}; it is for the scorings "
            f"{', '.join(_BY_LABEL)}"
        )
    found = [label for label in labels.tolist() if label == positive or str(label) == str(positive)]
    if not found:
        raise ValueError(f"there is no label {positive!r}; the labels are {', '.join(map(str, labels))}")
    if len(labels) != 2:
        raise ValueError(_remedy(scoring, labels))
    response = "predict_proba" if scoring in _OF_PROBABILITIES else "predict"
    options = {} if scoring in _OF_PROBABILITIES else {"zero_division": 0.0}
    scorer = metrics.make_scorer(_BY_LABEL[scoring], pos_label=found[0], response_method=response, **options)
    title = "F1 score" if scoring == "f1" else scoring.replace("_", " ")
    return ScikitLearnScore(f"{title} of {positive!r}", scorer)


def _remedy(scoring: str, labels: NDArray[Any]) -> str:
    if len(labels) == 2:
        return (
            f"the scoring {scoring} needs to know which label is positive, {labels[0]!s} or {labels[1]!s}: "
            f"add --positive {labels[1]!s}"
        )
    return f"the scoring {scoring} is for two labels; with {len(labels)} use {scoring}_macro"
