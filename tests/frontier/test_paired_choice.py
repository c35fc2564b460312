"""The choice at a budget, the correction of its score, and aiming."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from farthing import CostSheet, ErrorCosts
from farthing.base import SweepContext
from farthing.cascades import MiserCascadeClassifier
from farthing.frontier.aiming import aim_at
from farthing.frontier.candidates import candidates
from farthing.frontier.optimism import optimism
from farthing.frontier.paired_choice import LEAST_WEIGHT, Contender, rank
from farthing.frontier.row_values import MOST_ROWS, RowValues, Standing, some_rows


def contender(losses, overall):
    losses = np.asarray(losses, dtype=np.float32)
    return Contender(Standing(-losses, losses, np.ones(len(losses)), np.arange(len(losses))), overall)


def test_the_least_loss_at_the_budget_wins():
    rng = np.random.default_rng(0)
    base = rng.uniform(0, 1, 500)
    order = rank([contender(base + shift, 0.5) for shift in (0.02, 0.0, 0.05)])
    assert order == [1, 0, 2]


def test_what_is_no_better_at_the_budget_is_judged_by_all_budgets():
    rng = np.random.default_rng(1)
    base = rng.uniform(0, 1, 100)
    noise = rng.normal(0, 0.2, 100)
    noise -= noise.mean()
    lucky, steady = contender(base + noise - 1e-4, 0.6), contender(base, 0.4)
    # A lead of 0.0001 with an error of 0.02 is nothing beside 0.2 over all budgets.
    assert rank([lucky, steady]) == [1, 0]
    # A clear lead is not talked away.
    assert rank([contender(base - 0.1, 0.6), steady]) == [0, 1]


def test_the_joined_difference_by_hand():
    """Two settings: the reference, and one with d = -0.02, m = 0.1, e = 0.01."""
    rows = np.arange(4)
    losses = np.array([0.5, 0.5, 0.5, 0.5])
    d = np.array([-0.04, 0.0, -0.04, 0.0])
    e2 = np.var(d, ddof=1) / 4
    scatter = max(0.0, (d.mean() - 0.1) ** 2 - e2)
    weight = max(LEAST_WEIGHT, scatter / (scatter + e2))
    joined = weight * d.mean() + (1 - weight) * 0.1
    made = [Contender(Standing(-x, x, np.ones(4), rows), o) for x, o in ((losses, 0.4), (losses + d, 0.5))]
    assert rank(made) == ([1, 0] if joined < 0 else [0, 1])


def test_one_is_chosen_without_a_comparison():
    assert rank([contender([0.1], 0.1)]) == [0]
    assert rank([]) == []


def coins(n_models, n_rows, rng, lead=0.0):
    made = []
    for place in range(n_models):
        right = (rng.uniform(size=n_rows) < 0.7 + lead * (place == 0)).astype(np.float32)
        made.append(Standing(right, 1 - right, np.ones(n_rows), np.arange(n_rows)))
    return made


def test_optimism_is_what_the_best_of_equal_models_gains_by_luck():
    rng = np.random.default_rng(3)
    gained, said = [], []
    for _ in range(80):
        models = coins(10, 200, rng)
        best = max(float(one.scores.mean()) for one in models)
        gained.append(best - 0.7)
        said.append(optimism(models))
    # The expected largest of ten normal deviates is 1.54 standard errors, 0.05 here.
    assert np.mean(gained) == pytest.approx(0.05, abs=0.005)
    assert np.mean(said) == pytest.approx(np.mean(gained), rel=0.15)


def test_optimism_is_that_of_the_rule_by_which_the_model_is_chosen():
    rng = np.random.default_rng(5)
    preferred = [True] + 9 * [False]
    gained, said = [], []
    for _ in range(80):
        models = coins(10, 200, rng)
        scores = [float(one.scores.mean()) for one in models]
        order = rank(
            [Contender(one, 0.0, is_preferred=wins) for one, wins in zip(models, preferred, strict=True)]
        )
        gained.append(scores[order[0]] - 0.7)
        said.append(optimism(models, preferred))
    # One of nine others is ahead by two standard errors now and then, and then by luck.
    assert 0 < np.mean(gained) < 0.03
    assert np.mean(said) == pytest.approx(np.mean(gained), abs=0.01)


def test_optimism_of_a_choice_by_weighted_rows_repeats_that_choice():
    # Of all rows the second model is right, but for those that have no weight.
    right = np.array([1, 1, 0, 0] * 20, dtype=np.float32)
    weights = np.tile([1.0, 1.0, 0.0, 0.0], 20)
    made = [Standing(value, 1 - value, weights, np.arange(80)) for value in (1 - right, right)]
    assert optimism(made) == 0.0


def test_there_is_no_optimism_without_a_choice():
    rng = np.random.default_rng(4)
    one = coins(1, 100, rng)
    assert optimism(one) == 0.0
    assert optimism(one * 3) < 0.02  # the same model three times
    assert optimism(coins(5, 400, rng, lead=0.29)) < 0.01  # one that is far better than the others


def test_bisection_hits_the_aim_from_below():
    def spend(nominal):
        return 0.6 * nominal + 0.2 * np.sin(nominal)

    tried = []

    def measured(nominal):
        tried.append(nominal)
        return spend(nominal)

    found = aim_at(10.0, [(5.0, spend(5.0)), (40.0, spend(40.0))], measured)
    assert 9.0 < spend(found) <= 10.0
    assert len(tried) <= 5
    # An aim above all that is known takes the largest; one below all of it the least.
    assert aim_at(100.0, [(5.0, 3.0), (40.0, 24.0)], measured) == 40.0
    assert aim_at(1.0, [(5.0, 3.0)], lambda nominal: 0.6 * nominal) <= 1.0 / 0.6


def test_values_of_rows_survive_a_cache():
    rng = np.random.default_rng(5)
    values = RowValues(
        *(rng.uniform(size=(3, 7)).astype(np.float32) for _ in range(3)), np.ones(7), np.arange(7)
    )
    again = RowValues.from_state(values.state())
    assert np.array_equal(again.scores, values.scores)
    assert np.array_equal(again.spends, values.spends)
    assert np.array_equal(again.rows, values.rows)
    assert len(some_rows(10**6)) == MOST_ROWS


def preferring(losses, *, overall=0.5):
    return replace(contender(losses, overall), is_preferred=True)


def test_the_best_preferred_setting_wins_unless_another_is_clearly_ahead():
    base = np.random.default_rng(6).uniform(0, 1, 100)
    noise = np.tile([0.1, -0.1], 50)  # standard error of the mean: 0.01
    worse, best = preferring(base + 0.001), preferring(base)
    near, clear = (contender(base + noise - lead, 0.5) for lead in (1.5 * 0.01, 3 * 0.01))
    assert rank([near, worse, best]) == [2, 0, 1]
    assert rank([clear, worse, best]) == [0, 2, 1]
    # Without a preference the least loss wins.
    assert rank([near, contender(base, 0.5)]) == [0, 1]
    assert rank([near, best], ahead=0.0) == [0, 1]


def context(**changes):
    costs = CostSheet([1.0] * 4)
    made = SweepContext(100, 4, 2, costs, 2.0, "mean", 0, False, None)
    return replace(made, **changes)


def preferred_among(methods, **changes):
    return {one.method for one in candidates(methods, context(**changes)) if one.is_preferred}


def test_which_method_is_preferred():
    assert preferred_among("auto") == {"MiserCascadeClassifier"}
    assert preferred_among("auto", error_costs=ErrorCosts(5.0, [0, 1])) == {"DiagnosticPolicyClassifier"}
    # Nothing was measured for hard budgets, nor for methods of others.
    assert preferred_among("auto", budget_kind="hard") == set()
    assert preferred_among([LogisticRegression(), "AdaBoostClassifier"]) == set()
    # What the user gives counts as much as what the sweep brings along.
    assert preferred_among([MiserCascadeClassifier(max_depth=3), "AdaBoostClassifier"]) == {
        "MiserCascadeClassifier"
    }
