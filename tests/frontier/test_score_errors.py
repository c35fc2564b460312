"""Scores without scikit-learn's detours: the same bits, and the standard error of a naive bootstrap."""

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.metrics import accuracy_score, average_precision_score, get_scorer, make_scorer, roc_auc_score

from farthing.frontier.evaluation import Evaluation, standard_error
from farthing.frontier.linearized import LINEARIZED
from farthing.frontier.resampling import N_SAMPLES, average_precisions, roc_areas, sample_blocks
from farthing.frontier.roc_error import roc_area
from farthing.frontier.scorers import ScikitLearnScore, scorer_of

REGRESSION = ["neg_mean_absolute_error", "neg_root_mean_squared_error", "r2"]
BINARY = ["f1", "precision", "recall"]
ANY_CLASSES = sorted(set(LINEARIZED) - set(REGRESSION) - set(BINARY))


def classified(n_classes=2, n_rows=300, seed=0, labels=None, decimals=10):
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n_rows, p=np.arange(2, n_classes + 2) / np.arange(2, n_classes + 2).sum())
    outputs = rng.normal(size=(n_rows, n_classes)) + 1.5 * (y[:, np.newaxis] == np.arange(n_classes))
    probabilities = np.exp(outputs) / np.exp(outputs).sum(axis=1, keepdims=True)
    probabilities[:, 1] = probabilities[:, 1].round(decimals)
    probabilities[:, 0] = 1 - probabilities[:, 1:].sum(axis=1)
    classes = np.arange(n_classes) if labels is None else np.asarray(labels)
    prediction = classes[np.argmax(outputs, axis=1)]
    return Evaluation(classes[y], prediction, probabilities, np.zeros(n_rows), classes)


def regressed(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows)
    return Evaluation(y, y + rng.normal(scale=0.7, size=n_rows), None, np.zeros(n_rows))


def evaluation_for(name, seed=0, n_rows=300):
    if name in REGRESSION:
        return regressed(n_rows, seed)
    binary = name in (*BINARY, "roc_auc", "average_precision")
    return classified(2 if binary else 3, n_rows, seed)


def direct(name, evaluation):
    """Return the score as scikit-learn gives it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # undefined ratios, which count as zero
        return ScikitLearnScore(name, get_scorer(name)).score(evaluation)


def ours(name, evaluation):
    return scorer_of(name, classifies=evaluation.classes is not None)(evaluation)


def weighed(evaluation, seed=5):
    return replace(evaluation, weights=np.random.default_rng(seed).uniform(0.5, 3, len(evaluation.y)))


@pytest.mark.parametrize("name", [*LINEARIZED, "roc_auc", "average_precision"])
def test_the_score_has_the_bits_of_scikit_learn(name):
    for seed in range(6):
        for n_rows in (37, 300):
            evaluation = evaluation_for(name, seed, n_rows)
            assert ours(name, evaluation)[0] == direct(name, evaluation)
        assert ours(name, weighed(evaluation))[0] == direct(name, weighed(evaluation))


@pytest.mark.parametrize("name", [*ANY_CLASSES, "roc_auc"])
@pytest.mark.parametrize("labels", [["a", "b"], [False, True], [-1.0, 1.0], [1, 2]], ids=str)
def test_labels_of_any_kind(name, labels):
    evaluation = classified(labels=labels, decimals=1)  # with ties
    try:
        expected = direct(name, evaluation)
    except ValueError:  # the Brier score of strings
        with pytest.raises(ValueError, match="pos_label"):
            ours(name, evaluation)
    else:
        assert ours(name, evaluation)[0] == expected


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("labels", [[False, True], [-1.0, 1.0], [1, 2]], ids=str)
def test_the_positive_class_is_one(name, labels):
    evaluation = classified(labels=labels)
    assert ours(name, evaluation)[0] == direct(name, evaluation)


@pytest.mark.parametrize("name", [*BINARY, *ANY_CLASSES])
def test_constant_predictions(name):
    evaluation = classified()
    for constant in (0, 1):
        same = replace(evaluation, prediction=np.full(300, constant))
        score, error = ours(name, same)
        assert score == direct(name, same)
        assert error >= 0


@pytest.mark.parametrize("name", [n for n in ANY_CLASSES if n not in ("neg_log_loss", "neg_brier_score")])
def test_classes_that_no_row_has(name):
    evaluation = classified(3)
    some = replace(evaluation, y=np.minimum(evaluation.y, 1))
    assert ours(name, some)[0] == direct(name, some)


@pytest.mark.parametrize("name", ["neg_log_loss", "neg_brier_score"])
def test_what_scikit_learn_refuses_is_refused(name):
    evaluation = classified(3)
    with pytest.raises(ValueError, match="number of classes"):
        ours(name, replace(evaluation, y=np.minimum(evaluation.y, 1)))
    with pytest.raises(ValueError, match="probabilities"):
        ours(name, replace(evaluation, probabilities=None))


# One of each formula; the others differ from these by a constant.
FORMULAS = [
    *("neg_log_loss", "neg_brier_score", "balanced_accuracy", "precision", "f1", "f1_macro", "f1_micro"),
    *("precision_weighted", "matthews_corrcoef", *REGRESSION, "roc_auc", "average_precision"),
]


@pytest.mark.parametrize("name", FORMULAS)
def test_the_error_is_that_of_a_naive_bootstrap(name):
    """120 samples know a standard deviation to 6 %; 40, as for the two rankings, to 11 %."""
    evaluation = weighed(evaluation_for(name, seed=1))
    rng = np.random.default_rng(11)
    naive = ScikitLearnScore(name, get_scorer(name))
    with config_context(skip_parameter_validation=True, assume_finite=True):  # for speed
        drawn = [naive.score(evaluation, rng.choice(300, 300)) for _ in range(120)]
    assert ours(name, evaluation)[1] == pytest.approx(np.std(drawn, ddof=1), rel=0.2)


@pytest.mark.parametrize("name", LINEARIZED)
def test_no_weights_are_equal_weights(name):
    evaluation = evaluation_for(name)
    twos = replace(evaluation, weights=np.full(300, 2.0))
    assert ours(name, evaluation)[1] == pytest.approx(ours(name, twos)[1], rel=1e-9)


@pytest.fixture
def calls(monkeypatch):
    """The calls of scikit-learn's scorers, which take milliseconds each."""
    made = []
    score = ScikitLearnScore._of_rows

    def counted(self, *args):
        made.append(args)
        return score(self, *args)

    monkeypatch.setattr(ScikitLearnScore, "_of_rows", counted)
    return made


@pytest.mark.parametrize("name", [*LINEARIZED, "roc_auc"])
def test_no_call_of_scikit_learn(name, calls):
    ours(name, evaluation_for(name))
    assert len(calls) == 0
    ours(name, weighed(evaluation_for(name)))
    assert len(calls) == 1


def test_one_call_for_the_average_precision(calls):
    ours("average_precision", classified())
    assert len(calls) == 1


def own_score(y, said):
    return float(np.mean(said == y))


def test_labels_of_a_cell_have_the_same_influence(calls):
    score, error = scorer_of(make_scorer(own_score), classifies=True)(classified())
    assert len(calls) == 1 + 4
    assert error == pytest.approx(math.sqrt(score * (1 - score) / 299), rel=1e-9)


@pytest.mark.parametrize("evaluation", [weighed(classified()), classified(7)], ids=["weights", "classes"])
def test_many_cells_are_resampled(calls, evaluation):
    _, error = scorer_of(make_scorer(accuracy_score), classifies=True)(evaluation)
    assert len(calls) == N_SAMPLES + 1
    right = (evaluation.prediction == evaluation.y).astype(float)
    assert error == pytest.approx(standard_error(right, evaluation.weights), rel=0.3)


def test_a_score_of_probabilities_is_resampled(calls):
    def mean_of_right(model, X, y):
        return float(np.mean(model.predict_proba(X)[np.arange(len(y)), y]))

    evaluation = classified()
    _, error = scorer_of(mean_of_right, classifies=True)(evaluation)
    # One more, by which it is seen to ask for probabilities.
    assert len(calls) == 1 + N_SAMPLES + 1
    rows = evaluation.probabilities[np.arange(300), evaluation.y]
    assert error == pytest.approx(np.std(rows, ddof=1) / math.sqrt(300), rel=0.3)


@pytest.mark.parametrize("name", ["jaccard", "jaccard_macro", "adjusted_rand_score"])
def test_the_jackknife_is_the_bootstrap(name):
    evaluation = evaluation_for(name if name != "jaccard" else "f1", seed=1)
    rng = np.random.default_rng(11)
    naive = ScikitLearnScore(name, get_scorer(name))
    with config_context(skip_parameter_validation=True, assume_finite=True):
        drawn = [naive.score(evaluation, rng.choice(300, 300)) for _ in range(120)]
    assert ours(name, evaluation)[1] == pytest.approx(np.std(drawn, ddof=1), rel=0.2)


def test_a_row_without_which_there_is_no_score():
    """The one row of a class cannot be left out; samples without it are."""
    y = np.array([0] * 30 + [1])
    evaluation = Evaluation(y, np.append(y[:-2], [1, 1]), None, np.zeros(31), np.array([0, 1]))

    def strict(y, said):
        if len(set(y)) < 2:
            raise ValueError("one class")
        return float(np.mean(said == y))

    score, error = scorer_of(make_scorer(strict), classifies=True)(evaluation)
    assert score == 30 / 31
    assert 0 < error < 0.1


def test_rankings_of_all_samples_at_once():
    rng = np.random.default_rng(2)
    truth, scores, weights = rng.random(50) < 0.4, rng.random(50).round(1), rng.uniform(1, 2, 50)
    (block,) = sample_blocks(50)
    for way, twin in ((roc_areas, roc_auc_score), (average_precisions, average_precision_score)):
        one_by_one = [twin(truth, scores, sample_weight=counts * weights) for counts in block]
        np.testing.assert_allclose(way(truth, scores, weights), one_by_one, rtol=1e-12)


def test_many_rows_come_in_blocks_of_the_same_samples():
    n_rows = 2**20 // N_SAMPLES + 1
    blocks = list(sample_blocks(n_rows))
    assert [len(block) for block in blocks] == [N_SAMPLES - 1, 1]
    rng = np.random.default_rng(0)
    for counts in np.concatenate(blocks)[:3]:
        assert np.array_equal(counts, np.bincount(rng.choice(n_rows, n_rows), minlength=n_rows))


def test_samples_of_one_class_have_no_area():
    truth = np.array([True, False, False])
    with_both = [0 < counts[0] < 3 for block in sample_blocks(3) for counts in block]
    assert (~np.isnan(roc_areas(truth, np.array([0.3, 0.1, 0.2])))).tolist() == with_both
    assert roc_area(truth, np.array([0.3, 0.1, 0.2])) == 1.0
