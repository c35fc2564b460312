"""Scores, and their standard errors."""

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, make_scorer, roc_auc_score

from farthing.frontier import ErrorCosts
from farthing.frontier.roc_error import roc_error
from farthing.frontier.scorers import Evaluation, brier, scorer_of
from farthing.metrics import ndcg


@pytest.fixture
def told():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    up = np.clip(0.5 + 0.2 * (2 * y - 1) + rng.normal(scale=0.3, size=400), 0.01, 0.99)
    probabilities = np.column_stack([1 - up, up])
    return Evaluation(y, (up > 0.5).astype(int), probabilities, np.full(400, 2.0), np.array([0, 1]))


def test_accuracy_and_its_standard_error(told):
    score, error = scorer_of(None, classifies=True)(told)
    right = (told.y == told.prediction).astype(float)
    assert score == right.mean()
    assert error == pytest.approx(right.std(ddof=1) / 20)


def test_weights_count_like_copies(told):
    weights = np.where(np.arange(400) < 100, 2.0, 1.0)
    weighed = Evaluation(told.y, told.prediction, None, told.spend, told.classes, weights)
    twice = np.concatenate([np.arange(400), np.arange(100)])
    copied = Evaluation(told.y[twice], told.prediction[twice], None, told.spend[twice], told.classes)
    assert scorer_of("accuracy", classifies=True)(weighed)[0] == pytest.approx(
        scorer_of("accuracy", classifies=True)(copied)[0]
    )


def test_any_scorer_of_scikit_learn(told):
    score, error = scorer_of("average_precision", classifies=True)(told)
    assert score == average_precision_score(told.y, told.probabilities[:, 1])
    assert 0.003 < error < 0.05


def test_the_area_has_the_error_of_its_pairs(told):
    score, error = scorer_of("roc_auc", classifies=True)(told)
    assert score == roc_auc_score(told.y, told.probabilities[:, 1])
    up = told.probabilities[:, 1].round(1)  # with ties
    ahead, behind = up[told.y == 1, np.newaxis], up[told.y == 0]
    pairs = (ahead > behind) + (ahead == behind) / 2
    assert pairs.mean() == pytest.approx(roc_auc_score(told.y, up))
    by_pairs = sum(pairs.mean(axis=axis).var(ddof=1) / pairs.shape[1 - axis] for axis in (0, 1))
    assert roc_error(told.y == 1, up) == pytest.approx(math.sqrt(by_pairs))
    weighed = replace(told, weights=np.ones(400))  # rows are drawn again for these
    assert scorer_of("roc_auc", classifies=True)(weighed)[1] == pytest.approx(error, rel=0.3)
    assert math.isnan(roc_error(np.array([True, False, False]), np.array([1.0, 0.0, 0.5])))


def test_a_scorer_of_ones_own(told):
    judge = scorer_of(make_scorer(lambda y, said: float(np.mean(said == 1))), classifies=True)
    assert judge(told)[0] == told.prediction.mean()


def test_squared_error_is_negated():
    told = Evaluation(np.array([1.0, 2.0]), np.array([1.0, 4.0]), None, np.zeros(2))
    assert scorer_of(None, classifies=False)(told)[0] == -2


def test_rankings_are_means_over_queries():
    grades, scores, qid = np.array([2.0, 0, 1, 0]), np.array([1.0, 2, 3, 4]), np.array([7, 7, 8, 8])
    told = Evaluation(grades, scores, None, np.zeros(4), qid=qid)
    assert scorer_of("ndcg@1", classifies=False)(told)[0] == ndcg(grades, scores, qid=qid, k=1)
    assert scorer_of("precision@2", classifies=False)(told)[0] == 0.0


@pytest.mark.parametrize("scoring", ["ndcg@", "ndcg@0", "ndcg@x", "recall@3"])
def test_no_such_ranking(scoring):
    with pytest.raises(ValueError, match="ndcg@k"):
        scorer_of(scoring, classifies=False)


def test_a_single_row_has_no_standard_error():
    told = Evaluation(np.array([1]), np.array([1]), None, np.zeros(1), np.array([0, 1]))
    assert math.isnan(scorer_of("accuracy", classifies=True)(told)[1])


class TestErrorCosts:
    def test_spend_and_error_are_one_currency(self, told):
        costs = ErrorCosts([[0, 10], [100, 0]])
        score, _ = scorer_of(costs, classifies=True)(told)
        given = (told.probabilities[:, 1] > 1 / 11).astype(int)
        expected = np.mean(np.where(told.y == 1, 100 * (given == 0), 10 * (given == 1)))
        assert score == pytest.approx(-(expected + 2.0))

    def test_without_probabilities_the_labels_count(self):
        told = Evaluation(np.array([0, 1]), np.array([1, 1]), None, np.zeros(2), np.array([0, 1]))
        assert scorer_of(ErrorCosts([[0, 3], [5, 0]]), classifies=True)(told)[0] == -1.5

    def test_labels_name_the_order(self):
        costs = ErrorCosts([[0, 1], [2, 0]], labels=["sick", "fit"])
        assert costs.over(np.array(["fit", "sick"])).costs.tolist() == [[0, 2], [1, 0]]

    def test_unknown_labels(self):
        with pytest.raises(ValueError, match="odd"):
            ErrorCosts([[0, 1], [2, 0]], labels=["sick", "fit"]).over(np.array(["fit", "odd"]))

    @pytest.mark.parametrize("costs", [[[0, 1]], [[0, np.nan], [1, 0]], [1, 2]])
    def test_not_a_table_of_costs(self, costs):
        with pytest.raises(ValueError, match="costs must be"):
            ErrorCosts(costs)


def test_an_unknown_name_is_refused_with_the_nearest_one():
    with pytest.raises(ValueError, match=r"scoring 'roc_acu' is not .* \(did you mean 'roc_auc'\?\)"):
        scorer_of("roc_acu", classifies=True)


def test_right_labels_count_though_their_probabilities_are_too_sure():
    """A deep tree is certain of every label: by its squared distance alone it would lose to a stump."""
    y = np.zeros(100, dtype=int)
    sure = np.where(np.arange(100) < 80, 1.0, 0.0)
    careful = np.where(np.arange(100) < 75, 0.75, 0.25)
    scorer = scorer_of("accuracy", classifies=True)

    def evaluation(chance):
        both = np.column_stack([chance, 1 - chance])
        return Evaluation(y, (chance < 0.5).astype(int), both, np.zeros(100), classes=np.arange(2))

    assert brier(evaluation(sure)) > brier(evaluation(careful))
    assert scorer.loss(evaluation(sure)) < scorer.loss(evaluation(careful))
