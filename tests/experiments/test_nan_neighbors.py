"""The experiment of chapter 2 steps through rows by itself; its votes are those of the array calls."""

import numpy as np
import pytest
from experiments.lib.neighbor_claims import claims_21, claims_22
from experiments.lib.pages import RESULTS
from experiments.lib.stored_pages import StoredPage
from experiments.papers.nan2018_neighbors import findings, findings_21, stages, stored, table_21

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


def test_claims_follow_the_figures_of_the_page():
    curve = {"actual": [0.8] * 50, "estimated": [0.81] * 50, "some": [0.8] * 50}
    better = {"actual": [0.9] * 49 + [0.7], "estimated": [0.9] * 50, "some": [0.7] * 10 + [0.9] * 40}
    says = findings("miniboone", {"fmcc125": [better], "random": [curve], "voc": [curve]})
    above, voc = claims_22("Sample", 3, says)
    assert above.endswith("Here: at 49 of 49 numbers of features. **Holds.**")
    assert voc.endswith("Here: at 40 of 48 numbers of features, by +0.067 on average. **Does not hold.**")
    lines = claims_21(table_21({f"fmcc{size}": [curve] for size in (65, 125, 185)}))
    assert "the estimate is off by 0.019 on average. Here: by 0.010. **Holds.**" in lines[0]
    assert "Here: by at most 0.000. **Holds.**" in lines[3]
    assert lines[4].endswith("**Does not hold.**")


def test_the_stored_page_comes_back_from_its_own_figures():
    found = StoredPage.read(RESULTS / "nan2018_neighbors.md")
    text = stored(found)
    again = stored(StoredPage(text, found.made, found.run_commit))
    assert again == text
    for heading in ("### Letters", "### Landsat", "### MiniBooNE"):
        assert StoredPage(text, "", "").under(heading) == found.under(heading)
