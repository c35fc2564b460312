"""Adaptive methods beside the rest of Farthing: cascades, sweeps, the front door, audits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from tests.adaptive.device_columns import DEVICES

import farthing
from farthing import BudgetedClassifier, CostSheet
from farthing.adaptive import AdaptLinClassifier, EdgeClassifier
from farthing.base import SweepContext
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier
from farthing.frontier.candidates import candidates
from farthing.report import audit


def test_an_early_exit_may_be_the_expensive_model_before_it_is_fitted(halves, sheet):
    (X, y), (fresh, _) = halves
    exits = EarlyExitClassifier(
        GreedyMiserClassifier(n_estimators=20, max_depth=2), threshold=0.8, rounds_per_exit=2
    )
    model = AdaptLinClassifier(exits, tradeoff=0.001, p_full=0.6, costs=sheet, random_state=0).fit(X, y)
    alone = clone(exits).set_params(costs=sheet).fit(X, y)
    assert np.array_equal(model.expensive_.predict_proba(fresh), alone.predict_proba(fresh))
    assert np.array_equal(model.expensive_.spend(fresh), alone.spend(fresh))
    assert 0 < model.sent(fresh).mean() < 1


def test_a_front_door_must_be_fitted_before(halves):
    (X, y), _ = halves
    with pytest.raises(TypeError, match="call its fit first"):
        AdaptLinClassifier(BudgetedClassifier()).fit(X[:60], y[:60])


def test_a_sweep_leaves_prices_and_budgets_of_devices_alone(gated):
    (X, y), _ = gated
    estimator = EdgeClassifier(DEVICES, costs={"wrist": 2.0, "ankle": 1.0, "hip": 1.0}, max_steps=10)
    frontier = farthing.sweep([(estimator, {"budget_share": [None, 0.5]})], X, y, [7.0] * 5, budget=20.0)
    assert not frontier.failures
    assert [point.params["budget_share"] for point in frontier.points] == [None, 0.5]
    assert all(point.spend <= 4 for point in frontier.points)


def test_no_sweep_takes_devices_for_columns_by_itself():
    tried = {
        c.method
        for c in candidates("auto", SweepContext(100, 5, 3, CostSheet.uniform(["a", "b", "c", "d", "e"])))
    }
    assert tried
    assert not tried & {"EdgeClassifier", "EdgeRegressor"}


def test_an_audit_is_over_devices(edge_model, gated):
    _, (fresh, _) = gated
    found = audit(edge_model, fresh, costs={"wrist": 3.0, "ankle": 1.0, "hip": 2.0})
    assert found.share.tolist() == edge_model.acquired(fresh).mean(axis=0).tolist()
    assert found.mean == pytest.approx(edge_model.acquired(fresh).mean(axis=0) @ [3.0, 1.0, 2.0])
