"""Masked models beside array calls and walks, for every method that asks for columns, with three features."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from farthing.adaptive import EdgeClassifier
from farthing.base import get, registered, trials
from farthing.boosting import AdaBoostClassifier, GreedyMiserClassifier, GreedyMiserRegressor
from farthing.checks.problems import problems
from farthing.costs import CostSheet, Group
from farthing.forests import BudgetTreeClassifier
from farthing.walks import MaskedModel

N_FEATURES, BUDGET, N_ROWS = 6, 3, 4
NAMES = tuple(f"x{place}" for place in range(N_FEATURES))
UNIT = CostSheet(dict.fromkeys(NAMES, 1.0))
# Other settings than the last trial's, which take long.
FAST: dict[str, dict[str, Any]] = {
    "MarginNeighborsClassifier": {"estimator": AdaBoostClassifier(n_estimators=10)},
    "RandomOrderClassifier": {"estimator": AdaBoostClassifier(n_estimators=10)},
}
METHODS = [
    name
    for name in registered()
    if get(name).__module__.startswith("farthing.")
    and getattr(get(name), "asks", "columns") == "columns"
    and getattr(get(name), "rows_are_independent", True)
]


@cache
def fitted(name: str) -> tuple[Any, Any]:
    """Return a model at its last trial settings, fitted for prices of 1, and a table of new rows.

    A mean budget is left out: it need not be one that the method can keep.
    """
    estimator = clone(trials(name)[-1]).set_params(**FAST.get(name, {}))
    (problem,) = problems(estimator, "small")
    own = estimator.get_params(deep=False)
    given: dict[str, Any] = {"costs": UNIT, "n_jobs": 1, "budget_kind": "hard"}
    if "budget_kind" in own or get(name).budget_kind == "hard":
        given["budget"] = BUDGET
    keep = {key: value for key, value in given.items() if key in own}
    return estimator.set_params(**keep).fit(problem.X, problem.y), problem.fresh


def only(rows: Any, mask: Any, hidden: float = 0.0) -> Any:
    """Return what the mask has; the rest is hidden."""
    return np.where(mask, rows, hidden)


def episodes(masked: MaskedModel, rows: Any) -> Any:
    """Let rows act until all have stopped; return the masks."""
    mask = np.zeros(rows.shape, dtype=bool)
    for _ in range(rows.shape[1] + 1):
        actions = masked.act(only(rows, mask), mask)[:, 0]
        if not actions.any():
            return mask
        going = np.flatnonzero(actions)
        assert not mask[going, actions[going] - 1].any(), "what a row has is asked for again"
        mask[going, actions[going] - 1] = True
    raise AssertionError("a row has not stopped")


@pytest.mark.parametrize("name", METHODS)
def test_episodes_end_as_array_calls_do(name: str) -> None:
    model, fresh = fitted(name)
    rows = fresh[:N_ROWS]
    masked = MaskedModel(model, budget=BUDGET)
    mask = episodes(masked, rows)
    assert mask.sum(axis=1).max() <= BUDGET
    acquired = model.acquired(rows, budget=BUDGET)[:, : model.costs_.n_columns]
    assert np.array_equal(mask, acquired)
    call = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    assert np.array_equal(masked.predict(only(rows, mask, np.nan), mask), call(rows, budget=BUDGET))


def test_some_rows_of_some_methods_look_at_three_features() -> None:
    """The test above is not one of models that look at nothing."""
    counts = [
        fitted(name)[0].acquired(fitted(name)[1][:N_ROWS], budget=BUDGET).sum(axis=1).max()
        for name in METHODS
    ]
    assert np.mean(np.array(counts) == BUDGET) > 0.5


@pytest.mark.parametrize("name", ["GreedyMiserClassifier", "BudgetTreeClassifier", "LookaheadClassifier"])
def test_predictions_on_the_way_are_those_of_the_walk(name: str) -> None:
    model, fresh = fitted(name)
    masked = MaskedModel(model, budget=BUDGET)
    for row in fresh[:N_ROWS]:
        walk, mask = model.walk(budget=BUDGET), np.zeros((1, N_FEATURES), dtype=bool)
        while True:
            said = list(walk.decision.probabilities.values())
            assert masked.predict(only(row[np.newaxis], mask), mask)[0].tolist() == said
            if walk.ask is None:
                break
            mask[0, NAMES.index(walk.ask.feature)] = True
            walk.tell(row[NAMES.index(walk.ask.feature)])


def fixed_order() -> tuple[Any, Any]:
    """Return a tree that asks for x0, and then for x1 or x2, with a budget of two; and its rows."""
    X = np.array([[a, b, c, d] for a in (0.0, 1) for b in (0.0, 1) for c in (0.0, 1) for d in (0.0, 1)])
    y = np.where(X[:, 0] == 0, X[:, 1], 2 + X[:, 2]).astype(int)
    return BudgetTreeClassifier(budget=2, max_depth=2).fit(X, y), X


def test_what_the_walk_did_not_ask_for_is_known_and_free() -> None:
    model, X = fixed_order()
    masked, row = MaskedModel(model), X[[5]]
    mask = np.array([[False, True, True, True]])
    walk = model.walk(known={"x1": row[0, 1], "x2": row[0, 2], "x3": row[0, 3]})
    assert masked.act(only(row, mask), mask).tolist() == [[1 + NAMES.index(walk.ask.feature)]]
    walk.tell(row[0, 0])
    mask[0, 0] = True
    assert masked.act(only(row, mask), mask).tolist() == [[0]]
    assert masked.predict(only(row, mask), mask)[0].tolist() == list(walk.decision.probabilities.values())


def test_a_selection_mask_tells_what_was_there_first() -> None:
    miser = GreedyMiserClassifier(budget=2, n_estimators=8, costs=UNIT)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, N_FEATURES))
    model = miser.fit(X, (X.sum(axis=1) > 0).astype(int))
    masked = MaskedModel(model)
    first = NAMES.index(model.walk().ask.feature)
    mask, chosen = np.zeros((1, N_FEATURES), dtype=bool), np.zeros((1, N_FEATURES), dtype=bool)
    mask[0, first] = True
    for _ in range(2):  # the budget is two features beside the first
        action = int(masked.act(only(X[:1], mask), mask, chosen)[0, 0])
        mask[0, action - 1] = chosen[0, action - 1] = True
    assert mask.sum() == 3
    assert masked.act(only(X[:1], mask), mask, chosen).tolist() == [[0]]
    walk = model.walk(known={NAMES[first]: X[0, first]})
    walk.replay(dict(zip(NAMES, X[0], strict=True)))
    said = masked.predict(only(X[:1], mask), mask, selection_mask=chosen)
    assert said[0].tolist() == list(walk.decision.probabilities.values())
    # Without it the first feature counts: it is one of the two.
    mask = np.zeros((1, N_FEATURES), dtype=bool)
    mask[0, first] = True
    mask[0, int(masked.act(only(X[:1], mask), mask)[0, 0]) - 1] = True
    assert masked.act(only(X[:1], mask), mask).tolist() == [[0]]


def test_blocks_are_revealed_as_a_whole_and_paid_for_once() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, N_FEATURES))
    blocks = np.arange(N_FEATURES) // 2
    groups = {f"b{block}": Group(1.0, [NAMES[2 * block], NAMES[2 * block + 1]]) for block in range(3)}
    costs = CostSheet(dict.fromkeys(NAMES, 0.0), groups=groups)
    model = GreedyMiserClassifier(costs=costs, budget=2, n_estimators=20).fit(
        X, (X.sum(axis=1) > 0).astype(int)
    )
    masked, rows = MaskedModel(model, selection_of=blocks), X[:N_ROWS].reshape(N_ROWS, 3, 2)
    mask = np.zeros(rows.shape, dtype=bool)
    for _ in range(2):
        actions = masked.act(only(rows, mask), mask)[:, 0]
        assert (actions > 0).all()
        mask[np.arange(N_ROWS), actions - 1] = True
    assert masked.act(only(rows, mask), mask).tolist() == [[0]] * N_ROWS
    assert np.array_equal(masked.predict(only(rows, mask), mask), model.predict_proba(X[:N_ROWS]))


def test_no_rows_floats_of_32_bits_and_regressors() -> None:
    model, X = fixed_order()
    masked, none = MaskedModel(model), np.zeros((0, 4))
    assert masked.act(none, none.astype(bool)).shape == (0, 1)
    assert masked.predict(none, none.astype(bool)).shape == (0, 4)
    single, mask = X.astype(np.float32), np.ones(X.shape, dtype=bool)
    assert np.array_equal(masked.predict(single, mask), model.predict_proba(single))

    class Tensor:
        def __init__(self, values: Any) -> None:
            self.values = values

        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.asarray(self.values, dtype=dtype)

    assert np.array_equal(masked.predict(Tensor(single), Tensor(mask)), masked.predict(single, mask))
    y = X @ np.array([1.0, 2.0, 0.5, 0.0])
    regressor = GreedyMiserRegressor(n_estimators=3).fit(X, y)
    assert np.array_equal(MaskedModel(regressor).predict(X, mask), regressor.predict(X))


def test_errors_say_what_does_not_fit() -> None:
    model, X = fixed_order()
    masked = MaskedModel(model)
    with pytest.raises(ValueError, match=r"\(16, 4\) and feature_mask \(16, 3\)"):
        masked.act(X, np.ones((16, 3), dtype=bool))
    with pytest.raises(ValueError, match="a row has 3 features; the model has 4"):
        masked.act(X[:, :3], np.ones((16, 3), dtype=bool))
    with pytest.raises(ValueError, match="selection_of must be 4 numbers"):
        MaskedModel(model, selection_of=[0, 1])
    with pytest.raises(TypeError, match="EdgeClassifier does not ask for the columns"):
        MaskedModel(EdgeClassifier())
