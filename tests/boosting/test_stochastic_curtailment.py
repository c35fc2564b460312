"""Stochastic curtailment: labels differ from the full vote no more often than stated.

Statistical tests run over fixed seeds, at a significance of 1e-6 each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import betabinom

from farthing import load
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier, AdaBoostRSClassifier
from farthing.learning.random_numbers import draw_rows
from farthing.learning.voting.curtailment import Curtailment
from farthing.learning.voting.stochastic_curtailment import stopping_thresholds
from farthing.learning.voting.votes import TreeVotes

LEVELS = (0.01, 0.05, 0.2)
SIGNIFICANCE = 1e-6
COSTS = np.random.default_rng(1).uniform(0.5, 2.0, 15)


def table(seed: int, n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 15)), 1)
    score = X @ (0.8 ** np.arange(15)) + X[:, 0] * X[:, 1] + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, (score > 0.3).astype(np.int64)


def most_errors(n_new: int, n_held_out: int, level: float) -> float:
    """Return the largest number of differing labels among new rows that the level allows.

    The share of critical scores above the one of rank k out of n is Beta(n + 1 - k, k), so the number among
    new rows has a beta-binomial distribution.
    """
    rank = np.ceil((1 - level) * (n_held_out + 1))
    return float(betabinom.ppf(1 - SIGNIFICANCE, n_new, n_held_out + 1 - rank, rank))


def pairs() -> dict[str, tuple[Any, Any]]:
    """Return the full vote and the curtailed one, without its level, of each estimator."""
    stumps: dict[str, Any] = {"n_estimators": 60, "costs": COSTS}
    trees: dict[str, Any] = {"n_estimators": 30, "max_depth": 2, "costs": COSTS}
    bought: dict[str, Any] = {"n_estimators": 60, "budget": 12.0, "costs": COSTS}
    top: dict[str, Any] = {"sampling": "top", "n_estimators": 60, "budget": 12.0, "costs": COSTS}
    return {
        "stumps": (AdaBoostClassifier(**stumps), AdaBoostClassifier(**stumps, curtail=True)),
        "trees": (AdaBoostClassifier(**trees), AdaBoostClassifier(**trees, curtail=True)),
        "bought": (AdaBoostBTClassifier(**bought), AdaBoostBTClassifier(**bought, curtail=True)),
        "top": (AdaBoostRSClassifier(**top), AdaBoostRSClassifier(**top, curtail=True)),
    }


@pytest.mark.parametrize("name", pairs())
def test_labels_differ_no_more_often_than_stated_and_cost_less(name: str) -> None:
    X, y = table(0, 2500)
    fresh, _ = table(1, 4000)
    spends = []
    for level in LEVELS:
        _, short = pairs()[name]
        short.set_params(curtailment_error=level).fit(X, y)
        whole = short.fitted_.votes if name == "top" else TreeVotes(short.estimator_weights_, short.forest_)
        expected = whole.table(fresh) @ whole.alphas > 0
        if name == "top":  # the vote that the budget can pay for
            expected = exact_top(short, fresh)
        differ = int((short.predict(fresh).astype(bool) != expected).sum())
        assert differ <= most_errors(len(fresh), 500, level)
        spends.append(short.spend(fresh).mean())
    exact = pairs()[name][1].fit(X, y)
    assert exact.spend(fresh).mean() > spends[0] > spends[1] > spends[2]
    assert spends[2] < 0.7 * exact.spend(fresh).mean()


def exact_top(model: AdaBoostRSClassifier, fresh: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return the labels of the same vote without curtailment."""
    whole = AdaBoostRSClassifier(
        estimator=model.votes_, sampling="top", budget=12.0, costs=COSTS, n_estimators=60
    ).fit(fresh[:10], [0, 1] * 5)
    return np.asarray(whole.decision_function(fresh) > 0)


def test_the_stated_probability_is_over_held_out_rows_and_new_ones() -> None:
    """Many draws of both, from rows that the vote did not learn from; the mean share is at most the level."""
    X, y = table(0, 600)
    pool, _ = table(2, 6000)
    model = AdaBoostClassifier(n_estimators=40, curtail=True).fit(X, y)
    assert model.order_ is not None
    exact = Curtailment(model.fitted_.predictor, model.order_)
    sheet = model.costs_
    labels = exact.predict(pool, sheet, None)[0][:, 0] > 0
    rng = np.random.default_rng(3)
    n_held_out, n_new, n_draws = 99, 200, 120
    for level in (0.02, 0.1):
        shares = []
        for _ in range(n_draws):
            chosen = rng.permutation(len(pool))[: n_held_out + n_new]
            held_out, new = chosen[:n_held_out], chosen[n_held_out:]
            stops = stopping_thresholds(exact.trace, X, pool[held_out], level)
            short = Curtailment(model.fitted_.predictor, model.order_, stops)
            found = short.predict(pool[new], sheet, None)[0][:, 0] > 0
            shares.append(np.mean(found != labels[new]))
        error = np.std(shares, ddof=1) / np.sqrt(n_draws)
        assert np.mean(shares) <= level + 4.75 * error  # one-sided, 1e-6
        assert np.mean(shares) > 0


@pytest.mark.parametrize("name", ["stumps", "trees", "bought", "top"])
def test_level_zero_is_exact_curtailment_bit_for_bit(name: str) -> None:
    X, y = table(0, 400)
    fresh, _ = table(1, 300)
    _, exact = pairs()[name]
    exact.fit(X, y)
    zero = pairs()[name][1].set_params(curtailment_error=0.0).fit(X, y)
    assert zero.fitted_.stops is None
    # A level that no rank of so few rows reaches has infinite thresholds, on the same bits.
    tiny = pairs()[name][1].set_params(curtailment_error=1e-3).fit(X, y)
    assert np.isinf(tiny.fitted_.stops).all()
    again = pairs()[name][1].set_params(curtailment_error=0.0)
    kept = np.setdiff1d(np.arange(400), held_out_rows(400, 80))
    again.fit(X[kept], y[kept])
    for one, other in ((zero, exact), (tiny, again)):
        assert one.predict_proba(fresh).tobytes() == other.predict_proba(fresh).tobytes()
        assert np.array_equal(one.acquired(fresh), other.acquired(fresh))


def held_out_rows(n_rows: int, n_held_out: int) -> NDArray[np.int64]:
    return draw_rows(int.from_bytes(b"curtail"), n_rows, n_held_out)


@pytest.mark.parametrize("name", ["stumps", "trees", "bought", "top"])
def test_walks_and_arrays_stop_at_the_same_question(name: str, tmp_path: Any) -> None:
    X, y = table(0, 400)
    fresh, _ = table(1, 25)
    model = pairs()[name][1].set_params(curtailment_error=0.1).fit(X, y)
    model.save(tmp_path / "model.farthing")
    loaded = load(tmp_path / "model.farthing")
    for budget in (None, 4.0):
        decided = loaded.decide(fresh, budget=budget)
        for row, values in enumerate(fresh):
            walk = model.walk() if budget is None else model.walk(budget=budget)
            while walk.ask is not None:
                walk.tell(values[int(walk.ask.feature[1:])])
            assert walk.decision.probabilities is not None
            assert walk.decision.probabilities[1] == decided.probabilities[row, 1]
            assert walk.decision.spent == decided.spent[row]


def test_thresholds_by_hand() -> None:
    """Nine rows held out: of rank 9 with an error of 0.1, of rank 8 with 0.2, none with 0.05."""

    def trace(rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return rows[:, :1], rows[:, 1]

    learned = np.array([[0.0, -3.0], [0.0, 5.0]])  # the rest has mean 1 and standard deviation 4
    # Sums and finals of the held-out rows: the sign is wrong at sums of 1, 2, ..., 6.
    held_out = np.array([[s, -1.0] for s in range(1, 7)] + [[5.0, 1.0], [-9.0, -1.0], [-1.0, -1.0]])
    # The scores of the wrong ones are (s + 1) / 4. That of rank 9 is 7 / 4: a row stops above 4 * 7 / 4 - 1.
    assert stopping_thresholds(trace, learned, held_out, 0.1) == pytest.approx(np.array([[-8.0], [6.0]]))
    assert stopping_thresholds(trace, learned, held_out, 0.2) == pytest.approx(np.array([[-7.0], [5.0]]))
    assert np.isinf(stopping_thresholds(trace, learned, held_out, 0.05)).all()
    low, high = stopping_thresholds(trace, learned, held_out, 1.0)[:, 0]
    assert (low, high) == pytest.approx((-1.0, 0.0))  # the score is at least zero
    # The critical sum itself does not stop, whatever rounding does.
    assert stopping_thresholds(trace, learned, held_out, 0.1)[1, 0] >= 6.0


def test_settings_that_do_not_fit() -> None:
    X, y = table(0, 100)
    for method in (AdaBoostClassifier, AdaBoostBTClassifier, AdaBoostRSClassifier):
        with pytest.raises(ValueError, match="set curtail=True"):
            method(curtailment_error=0.1).fit(X, y)
        with pytest.raises(ValueError, match="curtailment_error"):
            method(curtail=True, curtailment_error=-0.1).fit(X, y)
    with pytest.raises(ValueError, match="two classes; got 3"):
        AdaBoostClassifier(curtail=True, curtailment_error=0.1).fit(X, np.arange(100) % 3)
    bought = AdaBoostBTClassifier(n_estimators=10, curtail=True, curtailment_error=0.1).fit(X, y)
    with pytest.raises(ValueError, match="fit again"):
        bought.at(3.0)
    assert [params for params, _ in bought.variants()] == [{}]
    model = AdaBoostClassifier(n_estimators=10, curtail=True, curtailment_error=0.1).fit(X, y).fitted_
    for wrong in (np.zeros((2, 1)), -np.ones((2, len(model.order))), np.full((2, len(model.order)), np.nan)):
        with pytest.raises(ValueError, match="stops"):
            type(model)(**{**vars_of(model), "stops": wrong}).check()


def vars_of(model: Any) -> dict[str, Any]:
    return {name.removesuffix("_"): value for name, value in model.state().items()}
