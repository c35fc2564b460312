"""Scores without a closed form: few standard errors are resampled, and the others lie between them."""

import numpy as np
import pytest
from sklearn.metrics import make_scorer

from farthing import sweep
from farthing.cascades import EarlyExitClassifier
from farthing.datasets import load_heart_disease
from farthing.frontier.curve_errors import CurveErrors


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


class Counted:
    """A user's score of labels or of probabilities, which counts its calls."""

    def __init__(self, method):
        self.method = method
        self.calls = 0

    def __call__(self, model, X, y):
        self.calls += 1
        if self.method == "predict":
            return float(np.mean(model.predict(X) == y))
        return -float(np.mean((model.predict_proba(X)[:, 1] - y) ** 2))


@pytest.mark.parametrize(("method", "most"), [("predict", 4), ("predict_proba", 20)])
def test_a_score_of_ones_own_takes_few_calls_per_model(heart, method, most):
    score = Counted(method)
    found = sweep([EarlyExitClassifier()], heart.X, heart.y, heart.costs, scoring=score)
    assert len(found) > 15
    assert score.calls < most * len(found)


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_the_errors_are_those_of_the_closed_form(heart, method):
    plain = {"predict": "accuracy", "predict_proba": "neg_brier_score"}[method]
    ours, exact = (
        sweep([EarlyExitClassifier()], heart.X, heart.y, heart.costs, scoring=scoring)
        for scoring in (Counted(method), plain)
    )
    assert [point.score for point in ours] == pytest.approx([point.score for point in exact])
    ratios = np.array([one.error / other.error for one, other in zip(ours, exact, strict=True)])
    # Forty samples know an error to 11 %.
    assert np.all((ratios > 0.6) & (ratios < 1.6))
    assert np.median(ratios) == pytest.approx(1, abs=0.15)


def test_the_score_of_a_named_label(heart):
    calls = []

    def score(y, said):
        calls.append(len(y))
        return float(np.mean(said[y == 1]))

    found = sweep([EarlyExitClassifier()], heart.X, heart.y, heart.costs, scoring=make_scorer(score))
    assert len(calls) < 4 * len(found)
    assert all(point.error > 0 for point in found.pareto()[1:])


class Told:
    """An error that is written on the evaluation."""

    def __init__(self):
        self.asked = []

    def error(self, evaluation):
        self.asked.append(evaluation)
        return float(evaluation)


def test_errors_between_those_found_are_interpolated():
    scorer = Told()
    curve = CurveErrors(scorer)
    for place in range(41):  # a curve that rises, each model on the frontier
        curve.add(place, float(place), place / 10, place + 1.0)
    errors = curve.errors()
    assert len(scorer.asked) == 6
    assert [errors[place] for place in range(41)] == pytest.approx(range(1, 42))


def test_beaten_models_are_not_asked():
    scorer = Told()
    curve = CurveErrors(scorer)
    for place, (spend, score) in enumerate([(2.0, 0.5), (3.0, 0.4), (1.0, 0.6), (4.0, 0.7), (5.0, np.nan)]):
        curve.add(place, spend, score, float(place))
    assert curve.errors()[3] == 3.0
    assert scorer.asked == [2.0, 3.0]


def test_no_score_has_no_error():
    curve = CurveErrors(Told())
    assert curve.errors() == {}
    curve.add(7, 1.0, np.nan, 1.0)
    assert np.isnan(curve.errors()[7])
