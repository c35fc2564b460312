"""Class weights of the front door: they weigh fits and scores, never spends."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score

import farthing
from farthing import BudgetedClassifier, ErrorCosts
from farthing.base.score_words import ScoreWords
from farthing.forests import BudgetTreeClassifier

pytestmark = pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
TREE = BudgetTreeClassifier(max_depth=2, min_samples_leaf=5)


@pytest.fixture(scope="module")
def rare():
    X, y = make_classification(600, 5, n_informative=3, weights=[0.95], class_sep=0.6, random_state=3)
    return X, np.where(y == 1, "ill", "well")


def fit(rare, **params):
    return BudgetedClassifier(methods=[TREE], cv=3, **params).fit(*rare)


def test_balanced_finds_the_rare_class(rare):
    plain, balanced = fit(rare), fit(rare, class_weight="balanced")
    X, y = rare
    assert np.mean(plain.predict(X) == "ill") < 0.05
    gain = balanced_accuracy_score(y, balanced.predict(X)) - balanced_accuracy_score(y, plain.predict(X))
    assert gain > 0.15


def test_the_score_is_weighted_too(rare):
    balanced = fit(rare, class_weight="balanced")
    assert balanced.frontier_.score_name == "accuracy, classes weighted"
    # The mean of the recalls, which a constant label gets half of.
    guess = next(point for point in balanced.frontier_ if point.params.get("budget") == 0.0)
    assert guess.score == pytest.approx(0.5, abs=0.02)
    assert balanced.chosen_.score > 0.6


def test_a_mapping_is_the_same_as_weights_of_rows_but_for_spends(rare):
    X, y = rare
    weights = np.where(y == "ill", 8.0, 1.0)
    by_class, by_row = fit(rare, class_weight={"ill": 8.0}), fit((X, y, weights))
    assert by_class.predict_proba(X).tobytes() == by_row.predict_proba(X).tobytes()
    assert by_class.chosen_.score == pytest.approx(by_row.chosen_.score, abs=1e-3)  # folds weigh by rows
    assert by_class.chosen_.spend == pytest.approx(by_class.spend(X).mean(), rel=0.15)
    assert by_row.chosen_.spend == pytest.approx(np.average(by_row.spend(X), weights=weights), rel=0.15)


def test_the_budget_is_that_of_the_rows_as_they_come(rare):
    model = BudgetedClassifier(
        budget=1.5, class_weight={"ill": 50.0}, methods=["BudgetTreeClassifier"], cv=2
    ).fit(*rare)
    assert model.spend(rare[0]).mean() <= 1.5 * 1.01


def test_a_file_keeps_it_whatever_the_type_of_its_keys(rare, tmp_path):
    X, y = rare
    codes = np.where(y == "ill", 1, 0)
    weights = dict(zip(*np.unique(codes, return_counts=True), strict=True))  # keys and values of NumPy
    model = fit((X, codes), class_weight=weights)
    model.save(tmp_path / "m")
    assert farthing.load(tmp_path / "m").class_weight == weights


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"class_weight": {"dead": 2.0}}, "'dead', which is not a class; there are ."),
        ({"class_weight": "even"}, "class_weight"),
        ({"class_weight": "balanced", "scoring": ErrorCosts([[0, 1], [9, 0]])}, "ErrorCosts"),
    ],
)
def test_mistakes(rare, params, message):
    with pytest.raises(ValueError, match=message):
        fit(rare, **params)


def test_its_words():
    assert ScoreWords.of("f1, classes weighted").title == "F1 score, classes weighted"
    assert ScoreWords.of("neg_log_loss, classes weighted").text(-0.5) == "0.5000"
