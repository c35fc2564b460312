"""All variants of a fit in one pass over the rows: the bits of each variant alone."""

from typing import Any

import numpy as np
import pytest

from farthing.base import BudgetedEstimator
from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier, GreedyMiserRegressor
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier, MiserCascadeRegressor
from farthing.datasets import load_heart_disease
from farthing.table import PreparedTable

HEART = load_heart_disease()
MISER = {"costs": HEART.costs, "tradeoff": 1e-4, "n_estimators": 12, "max_depth": 2}
CASCADE = {"costs": HEART.costs, "n_estimators": 4, "max_depth": 2, "n_stages": 4, "random_state": 0}

ESTIMATORS: list[Any] = [
    GreedyMiserClassifier(**MISER),
    GreedyMiserClassifier(**MISER, charge="row", budget=200.0),
    GreedyMiserClassifier(**MISER, tree_cost=0.01),
    GreedyMiserRegressor(**MISER),
    EarlyExitClassifier(GreedyMiserClassifier(**MISER), rounds_per_exit=2),
    EarlyExitClassifier(GreedyMiserClassifier(**MISER, tree_cost=0.01), rounds_per_exit=2),
    EarlyExitClassifier(GreedyMiserClassifier(**MISER, budget=100.0), rounds_per_exit=2),
    MiserCascadeClassifier(**CASCADE),
    MiserCascadeClassifier(**CASCADE, budget=100.0, budget_kind="hard"),
    MiserCascadeClassifier(**CASCADE, budget=50.0, curtail=True),
    MiserCascadeClassifier(**CASCADE, budget=50.0, exit="learned"),
    MiserCascadeRegressor(**CASCADE),
    GradientBoostingRegressor(n_estimators=3),
]


def decisions(estimator: BudgetedEstimator, X: Any, budget: Any) -> list[tuple[str, Any, Any]]:
    """Return what each variant decides alone, and in one pass, with its parameters."""
    together = list(estimator.decide_variants(X, budget=budget))
    alone = list(estimator.variants())
    assert [params for params, _, _ in together] == [params for params, _ in alone]
    return [
        (f"{params}", model.decide(X, budget=budget), found)
        for (params, model), (_, _, found) in zip(alone, together, strict=True)
    ]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("budget", [None, 60.0])
def test_the_bits_of_each_variant_alone(estimator: Any, budget: float | None) -> None:
    table = PreparedTable.of(HEART.X)
    rows = np.arange(len(table))
    learn, held_out = table.take(rows % 4 != 0), table.take(rows % 4 == 0)
    y = np.asarray(HEART.y, dtype=np.float64)
    estimator.fit(learn, y[rows % 4 != 0])
    for name, alone, together in decisions(estimator, held_out, budget):
        for field in ("prediction", "probabilities", "spent", "acquired"):
            expected, got = getattr(alone, field), getattr(together, field)
            assert (expected is None) == (got is None), name
            assert expected is None or np.array_equal(expected, got), (name, field)


def test_a_table_without_rows_and_a_budget_for_each_row() -> None:
    estimator = MiserCascadeClassifier(**CASCADE).fit(HEART.X, HEART.y)
    assert all(len(found.spent) == 0 for _, _, found in decisions(estimator, HEART.X[:0], None))
    caps = np.arange(20.0)
    for _, alone, together in decisions(estimator, HEART.X[:20], caps):
        assert (together.spent <= caps).all()
        assert np.array_equal(alone.spent, together.spent)


def test_rows_pass_each_stage_once(monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = MiserCascadeClassifier(**CASCADE).fit(HEART.X, HEART.y)
    kind, looked = type(estimator.fitted_), []
    look = kind.look
    monkeypatch.setattr(kind, "look", lambda self, *args: looked.append(args[1]) or look(self, *args))
    list(estimator.decide_variants(HEART.X))
    assert len(looked) == len(set(looked)) > 1
