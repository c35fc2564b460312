"""A tree whose question is refused goes on: what is left still predicts, within the budget."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ShuffleSplit

from farthing.boosting import (
    AdaBoostClassifier,
    AdaBoostRSClassifier,
    GradientBoostingRegressor,
    GreedyMiserClassifier,
    GreedyMiserRegressor,
)
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier
from farthing.forests import (
    BudgetForestClassifier,
    BudgetTreeClassifier,
    ImportedClassifier,
    PrunedForestClassifier,
)
from farthing.neighbors import MarginNeighborsClassifier
from farthing.typing import Floats

X, y = load_breast_cancer(return_X_y=True)
LEARN, TEST = slice(0, None, 2), slice(1, None, 2)
BASE_RATE = float(np.mean(y[TEST] == 1))  # 0.613
# The feature that most trees ask for first costs a little more than the others.
COSTS = np.where(np.arange(30) == 22, 1.05, 1.0)


def models(costs: Any = None) -> dict[str, Any]:
    return {
        "votes": AdaBoostClassifier(n_estimators=60, costs=costs),
        "curtailed votes": AdaBoostClassifier(n_estimators=60, curtail=True, costs=costs),
        "sampled votes": AdaBoostRSClassifier(
            estimator=AdaBoostClassifier(n_estimators=60), sampling="top", random_state=0, costs=costs
        ),
        "neighbors": MarginNeighborsClassifier(AdaBoostClassifier(n_estimators=60), costs=costs),
        "imported": ImportedClassifier(RandomForestClassifier(20, random_state=0), costs=costs),
        "forest": BudgetForestClassifier(n_estimators=20, random_state=0, costs=costs),
        "pruned": PrunedForestClassifier(n_estimators=20, random_state=0, costs=costs),
        "tree": BudgetTreeClassifier(costs=costs),
        "miser": GreedyMiserClassifier(n_estimators=40, costs=costs),
        "early exit": EarlyExitClassifier(GreedyMiserClassifier(n_estimators=40, costs=costs)),
        "cascade": MiserCascadeClassifier(n_estimators=40, random_state=0, costs=costs),
    }


@cache
def fitted(name: str) -> Any:
    """Return the model without prices, which two tests begin with."""
    return models()[name].fit(X[LEARN], y[LEARN])


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
    model = fitted(name)
    first = first_question(model)
    accuracy = model.score(without(X[TEST], first), y[TEST])
    assert model.score(X[TEST], y[TEST]) > 0.9
    assert accuracy > (0.75 if name == "tree" else 0.85)


@pytest.mark.parametrize("name", models())
def test_a_few_missing_training_values_do_not_decide_for_refused_ones(name: str) -> None:
    # The column is missing in a tenth of the rows, all of one class.
    table = X.copy()
    first = first_question(fitted(name))
    lacking = np.flatnonzero(y == 0)[::4]
    table[lacking, first] = np.nan
    model = models()[name].fit(table[LEARN], y[LEARN])
    asked = first_question(model)
    accuracy = np.mean(model.predict(X[TEST], refused=[f"x{asked}"]) == y[TEST])
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
    rows, names = X[TEST][:12], model.fitted_.schema.names
    decided = model.decide(rows, refused=[names[column] for column in refused])
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


@pytest.mark.parametrize("max_depth", [1, 2])
def test_refused_stumps_vote_as_they_do_on_average(max_depth: int) -> None:
    # Most rows are far below the thresholds of the first column, so their mean vote is far from 0.
    rng = np.random.default_rng(0)
    table = np.column_stack([rng.exponential(size=600), rng.normal(size=(600, 2))])
    target = table[:, 0] + 0.5 * table[:, 1] + rng.normal(size=600) > 2
    model = AdaBoostClassifier(n_estimators=60, max_depth=max_depth).fit(table, target)
    whole = model.decision_function(table).mean()
    for column in range(3):
        refused = model.decision_function(without(table, column)).mean()
        assert abs(refused - whole) < (2 if max_depth == 1 else 4) * model.estimator_weights_[-10:].max()
