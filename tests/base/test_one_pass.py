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


@pytest.mark.parametrize("exit_", ["confidence", "learned"])
def test_a_decider_has_the_bits_of_models_at_any_budget(exit_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    estimator = MiserCascadeClassifier(**CASCADE, budget=50.0, exit=exit_).fit(HEART.X, HEART.y)
    moved = [estimator.at(budget) for budget in (0.0, 17.0, 113.0, 400.0)]
    caps = np.arange(len(HEART.y), dtype=np.float64)
    alone = [[model.decide(HEART.X, budget=cap) for model in moved] for cap in (None, caps)]
    kind, looked = type(estimator.fitted_), []
    look = kind.look
    monkeypatch.setattr(kind, "look", lambda self, *args: looked.append(args[1]) or look(self, *args))
    for cap, expected in zip((None, caps), alone, strict=True):
        looked.clear()
        decide = estimator.decider(HEART.X, budget=cap)
        for model, one in zip(moved, expected, strict=True):
            found = decide(model)
            assert np.array_equal(found.probabilities, one.probabilities)
            assert np.array_equal(found.acquired, one.acquired)
            assert np.array_equal(found.spent, one.spent)
        assert len(looked) == len(set(looked)) > 1


def test_a_decider_without_shared_stages_decides_alone() -> None:
    estimator = GreedyMiserClassifier(**MISER).fit(HEART.X, HEART.y)
    found = estimator.decider(HEART.X, budget=60.0)(estimator)
    assert np.array_equal(found.probabilities, estimator.decide(HEART.X, budget=60.0).probabilities)
    assert (found.spent <= 60.0).all()


def test_a_decider_takes_models_of_its_fit_only() -> None:
    decide = MiserCascadeClassifier(**CASCADE).fit(HEART.X, HEART.y).decider(HEART.X)
    with pytest.raises(ValueError, match="same fit"):
        decide(MiserCascadeClassifier(**CASCADE).fit(HEART.X, HEART.y))
