"""A tree whose question is refused goes on: what is left still predicts, within the budget."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import ShuffleSplit

from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier, GreedyMiserRegressor
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier, PrunedForestClassifier
from farthing.typing import Floats

X, y = load_breast_cancer(return_X_y=True)
LEARN, TEST = slice(0, None, 2), slice(1, None, 2)
BASE_RATE = float(np.mean(y[TEST] == 1))  # 0.613
# The feature that most trees ask for first costs a little more than the others.
COSTS = np.where(np.arange(30) == 22, 1.05, 1.0)


def models(costs: Any = None) -> dict[str, Any]:
    return {
        "forest": BudgetForestClassifier(n_estimators=20, random_state=0, costs=costs),
        "pruned": PrunedForestClassifier(n_estimators=20, random_state=0, costs=costs),
        "tree": BudgetTreeClassifier(costs=costs),
        "miser": GreedyMiserClassifier(n_estimators=40, costs=costs),
        "early exit": EarlyExitClassifier(GreedyMiserClassifier(n_estimators=40, costs=costs)),
        "cascade": MiserCascadeClassifier(n_estimators=40, random_state=0, costs=costs),
    }


def first_question(model: Any) -> int:
    """Return the column that every row is asked for first."""
    return int(model.fitted_.schema.names.index(model.walk().ask.feature))


def without(table: Floats, columns: Any) -> Floats:
    """Return the table with some columns missing."""
    left = table.copy()
    left[:, columns] = np.nan
    return left


@pytest.mark.parametrize("name", models())
def test_without_the_first_question_accuracy_stays_far_above_the_base_rate(name: str) -> None:
    model = models()[name].fit(X[LEARN], y[LEARN])
    first = first_question(model)
    accuracy = model.score(without(X[TEST], first), y[TEST])
    assert model.score(X[TEST], y[TEST]) > 0.9
    assert accuracy > (0.75 if name == "tree" else 0.85)


@pytest.mark.parametrize("method", [GreedyMiserRegressor, GradientBoostingRegressor])
def test_regressors_still_explain_most_of_what_they_explained(method: Any) -> None:
    table, target = load_diabetes(return_X_y=True)
    explained = []
    for learn, test in ShuffleSplit(3, test_size=0.4, random_state=0).split(table):
        model = method(n_estimators=40).fit(table[learn], target[learn])
        rows = table[test], without(table[test], first_question(model))
        explained.append([model.score(part, target[test]) for part in rows])
    whole, refused = np.mean(explained, axis=0)
    assert refused > 0.8 * whole


@pytest.mark.parametrize("name", models())
def test_a_refusing_walk_equals_the_array_call(name: str) -> None:
    model = models(COSTS)[name].fit(X[LEARN], y[LEARN])
    refused = {first_question(model), *range(0, 30, 3)}
    rows = without(X[TEST][:12], sorted(refused))
    decided = model.decide(rows)
    names = model.fitted_.schema.names
    for row, label, probabilities in zip(rows, decided.prediction, decided.probabilities, strict=True):
        walk = model.walk()
        while (ask := walk.ask) is not None:
            column = names.index(ask.feature)
            if column in refused:
                walk.refuse()
            else:
                walk.tell(row[column])
        assert walk.decision.prediction == label
        assert list(walk.decision.probabilities.values()) == probabilities.tolist()


@pytest.mark.parametrize("name", ["forest", "tree", "miser"])
def test_a_first_question_over_the_budget_is_skipped(name: str) -> None:
    model = models(COSTS)[name].fit(X[LEARN], y[LEARN])
    first = first_question(model)
    assert COSTS[first] > 1.0
    # Enough for any other feature, one per row.
    decided = model.decide(X[TEST], budget=1.0)
    assert not decided.acquired[:, first].any()
    assert decided.spent.max() <= 1.0
    assert np.array_equal(decided.spent, decided.acquired @ COSTS)
    assert np.mean(decided.prediction == y[TEST]) > BASE_RATE + 0.1
