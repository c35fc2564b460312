"""The experiment of chapter 2 steps through rows by itself; its votes are those of the array calls."""

import numpy as np
import pytest
from experiments.papers.nan2018_neighbors import findings_21, stages

from farthing.boosting import AdaBoostClassifier
from farthing.neighbors import MarginNeighborsClassifier, RandomOrderClassifier, ValueOfClassifier


@pytest.mark.parametrize(
    "model",
    [
        MarginNeighborsClassifier(AdaBoostClassifier(n_estimators=20), n_neighbors=9, confidence=1.0),
        RandomOrderClassifier(
            AdaBoostClassifier(n_estimators=20), n_neighbors=9, confidence=1.0, random_state=0
        ),
        ValueOfClassifier(confidence=1.0),
    ],
)
def test_stages_are_predictions_within_budgets(model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 4))
    model.fit(X, X @ [1.0, 2.0, -1.0, 0.5] > 0)
    votes, estimated = stages(model, X[:10], seed=5)
    for n_features in range(1, 5):
        options = {"budget": n_features, "seeds": 5 + np.arange(10)}
        assert np.array_equal(model.decision_function(X[:10], **options), votes[:, n_features - 1])
        assert np.array_equal(model.estimated_accuracy(X[:10], **options), estimated[:, n_features - 1])


def test_the_page_says_how_far_the_estimate_is_off():
    curve = {"actual": [0.5] * 50, "estimated": [0.75] * 50}
    text = findings_21({f"fmcc{size}": [curve] for size in (65, 125, 185)})
    assert "65 neighbours: the estimate is off by 0.250 on average (thesis: 0.0" in text
