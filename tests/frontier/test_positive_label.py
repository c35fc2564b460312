"""Scores that are about one of two labels: F1 of "yes"."""

import numpy as np
import pytest
from sklearn import metrics

import farthing
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import BudgetedClassifier
from farthing.frontier.evaluation import Evaluation
from farthing.frontier.positive_label import positive_scorer
from farthing.frontier.scorers import ScikitLearnScore, scorer_of

LABELS = np.array(["no", "yes"])
METRICS = {
    "f1": metrics.f1_score,
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "average_precision": metrics.average_precision_score,
}


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(0)
    truth = rng.random(400) < 0.3
    p = np.clip(0.5 * truth + rng.normal(0.25, 0.25, 400), 0.01, 0.99)
    probabilities = np.column_stack([1 - p, p])
    return Evaluation(
        LABELS[truth.astype(int)], LABELS[(p > 0.5).astype(int)], probabilities, np.zeros(400), LABELS
    )


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3))
    return X, LABELS[(X[:, 0] + 0.3 * rng.normal(size=120) > 0.4).astype(int)]


@pytest.mark.parametrize("positive", LABELS)
@pytest.mark.parametrize("scoring", METRICS)
def test_the_score_of_text_labels_is_that_of_scikit_learn(evaluation, scoring, positive):
    score, _ = positive_scorer(scoring, positive, LABELS)(evaluation)
    given = evaluation.prediction
    if scoring == "average_precision":
        given = evaluation.probabilities[:, LABELS.tolist().index(positive)]
    assert score == METRICS[scoring](evaluation.y, given, pos_label=positive)


@pytest.mark.parametrize("scoring", METRICS)
def test_text_labels_have_the_error_of_numbers_without_resampling_by_scikit_learn(
    evaluation, scoring, monkeypatch
):
    numbers = Evaluation(
        (evaluation.y == "yes").astype(int),
        (evaluation.prediction == "yes").astype(int),
        evaluation.probabilities,
        evaluation.spend,
        np.array([0, 1]),
    )
    expected = scorer_of(scoring, classifies=True)(numbers)

    def refuse(*_):
        raise AssertionError("a sample was scored by scikit-learn, which is slow")

    monkeypatch.setattr(ScikitLearnScore, "_of_sample", refuse)
    assert positive_scorer(scoring, "yes", LABELS)(evaluation) == expected


class TestFrontDoor:
    def test_a_label_of_text(self, rows, tmp_path):
        model = BudgetedClassifier(
            scoring="f1", pos_label="yes", methods=[BudgetTreeClassifier(max_depth=1)], cv=2
        )
        model.fit(*rows)
        assert model.frontier_.score_name == "F1 score of 'yes'"
        assert 0.6 < model.chosen_.score < 1
        model.save(tmp_path / "m")
        assert farthing.load(tmp_path / "m").get_params()["pos_label"] == "yes"

    def test_without_one_the_error_names_the_remedy(self, rows):
        model = BudgetedClassifier(scoring="f1", methods=[BudgetTreeClassifier(max_depth=2)], cv=2)
        with pytest.raises(ValueError, match="which label is positive, no or yes: pos_label='yes'"):
            model.fit(*rows)

    def test_a_sweep_takes_it_too(self, rows):
        tried = [BudgetTreeClassifier(max_depth=2)]
        found = farthing.sweep(tried, *rows, scoring="recall", pos_label="no")
        assert found.score_name == "recall of 'no'"
        assert not found.failures
        with pytest.raises(ValueError, match="pos_label='yes'"):
            farthing.sweep(tried, *rows, scoring="recall")

    def test_a_label_without_effect_is_an_error(self, rows):
        with pytest.raises(ValueError, match="makes no difference to the accuracy"):
            BudgetedClassifier(pos_label="yes").fit(*rows)
        with pytest.raises(ValueError, match="no label 'maybe'; the labels are no, yes"):
            BudgetedClassifier(scoring="f1", pos_label="maybe").fit(*rows)
