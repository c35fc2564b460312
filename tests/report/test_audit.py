"""The audit adds up, and counts what each row does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.random_glance import RandomGlanceClassifier

from farthing.costs import CostSheet, Group
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.report import audit

NAMES = [f"x{j}" for j in range(5)]
SHEET = CostSheet(
    dict(zip(NAMES, [1.0, 0.4, 1.5, 0.8, 0.9], strict=True)),
    groups={"blood": Group(0.3, ["x1", "x3"])},
    unit="USD",
)


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(150, 5)), 1)
    y = (X[:, 0] + X[:, 1] > 0).astype(int) + (X[:, 3] > 1)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def steps_of(model: Any, row: np.ndarray) -> np.ndarray:
    """Count a row's tests of each feature, tree by tree, node by node."""
    forest, counts = model.forest_, np.zeros(5)
    for first in forest.offsets[:-1]:
        node = int(first)
        while node is not None and forest.feature[node] >= 0:
            counts[forest.feature[node]] += 1
            node = forest.route(node, float(row[forest.feature[node]]))
    return counts


@pytest.fixture(scope="module")
def forest() -> BudgetForestClassifier:
    return BudgetForestClassifier(costs=SHEET, n_estimators=8, random_state=0).fit(*table())


def test_it_counts_what_each_row_does(forest: BudgetForestClassifier) -> None:
    X, _ = table(1)
    found = audit(forest, X, few_at_most=4)
    uses = np.array([steps_of(forest, row) for row in X])
    np.testing.assert_allclose(found.uses, uses.mean(axis=0))
    np.testing.assert_allclose(found.share, (uses > 0).mean(axis=0))
    np.testing.assert_allclose(found.few, ((uses > 0) & (uses <= 4)).mean(axis=0))
    np.testing.assert_allclose(found.many, (uses > 4).mean(axis=0))
    assert 0 < found.few.max() < 1
    assert found.many.max() > 0


def test_the_account_adds_up(forest: BudgetForestClassifier) -> None:
    X, _ = table(1)
    found, spent = audit(forest, X, quantiles=[0.25, 1.0]), forest.spend(X)
    assert found.mean == pytest.approx(spent.mean())
    assert found.quantiles[1.0] == spent.max()
    assert (spent <= found.quantiles[0.25]).mean() >= 0.25 > (spent < found.quantiles[0.25]).mean()
    frame, groups = found.to_frame(), found.groups_frame()
    assert frame["mean_cost"].sum() + groups["mean_cost"].sum() == pytest.approx(found.mean)
    touched = forest.acquired(X)[:, [1, 3]].any(axis=1).mean()
    assert groups.loc["blood", "share"] == pytest.approx(touched)
    total = frame[["unused", "used_1_to_7", "used_over_7"]].sum(axis=1)
    np.testing.assert_allclose(total, 1.0)


def test_other_prices_change_the_account_and_nothing_else(forest: BudgetForestClassifier) -> None:
    X, _ = table(1)
    own, other = audit(forest, X), audit(forest, X, costs=[1.0] * 5)
    assert other.mean == pytest.approx(forest.acquired(X).sum(axis=1).mean())
    assert (own.uses == other.uses).all()


def test_a_hard_budget_is_kept_in_the_audit() -> None:
    X, y = table()
    tree = BudgetTreeClassifier(costs=SHEET, budget=1.5).fit(X, y)
    found = audit(tree, X)
    assert found.quantiles[1.0] <= 1.5 * (1 + 1e-12)
    np.testing.assert_allclose(found.uses, np.mean([steps_of(tree, row) for row in X], axis=0))


def test_models_of_other_libraries_and_models_without_trees() -> None:
    X, y = table()
    peer = RandomForestClassifier(3, random_state=0).fit(X, y)
    assert audit(peer, X, SHEET).mean > 0
    glance = RandomGlanceClassifier().fit(X, y)
    assert (audit(glance, X).uses == glance.acquired(X).mean(axis=0)).all()


def test_it_prints_a_table(forest: BudgetForestClassifier) -> None:
    text = str(audit(forest, table()[0], quantiles=[0.5]))
    lines = text.splitlines()
    assert lines[0].startswith("mean cost ")
    assert "USD" in lines[0]
    assert lines[1].startswith("50 % of the rows at most ")
    assert lines[3].startswith("For each feature: its price")
    assert re.split(r" {2,}", lines[6]) == [
        *("feature", "group", "price", "bought by", "mean cost", "tests a row", "never"),
        *("1 to 7 times", "over 7 times"),
    ]
    assert any(line.startswith("blood") for line in lines)


def test_shares_of_the_spend_divide_shared_costs_among_what_a_row_bought(
    forest: BudgetForestClassifier,
) -> None:
    X, _ = table(1)
    weights = np.random.default_rng(0).uniform(0.5, 2, size=len(X))
    paid = np.zeros(5)
    for bought, weight in zip(forest.acquired(X), weights, strict=True):
        blood = [j for j in (1, 3) if bought[j]]
        for j in np.flatnonzero(bought):
            paid[j] += weight * (SHEET.own[j] + (0.3 / len(blood) if j in blood else 0.0))
    found = audit(forest, X, sample_weight=weights).spend_importances
    np.testing.assert_allclose(found, paid / paid.sum(), rtol=1e-12)
    np.testing.assert_allclose(paid.sum() / weights.sum(), audit(forest, X, sample_weight=weights).mean)


def test_a_model_that_buys_nothing_has_no_shares() -> None:
    X, _ = table()
    model = BudgetTreeClassifier(costs=SHEET, budget=0).fit(X, X[:, 0] > 0)
    assert audit(model, X).spend_importances.tolist() == [0.0] * 5
