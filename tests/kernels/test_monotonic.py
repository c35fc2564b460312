"""Monotonic constraints of the grower: the trees of its naive twin, and values that keep the order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.comparison import assert_same_tree, fast_and_slow
from tests.kernels.strategies import SEEDS, Table, limits, sheets, tables

from farthing.costs import CostSheet
from farthing.trees import Forest, Grower, Predictor


@st.composite
def constrained(draw: Any) -> tuple[Table, NDArray[np.int8]]:
    table = draw(tables())
    wished = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4))
    numeric = np.array([not n for n in table.n_categories])
    return table, (np.array(wished[: table.n_features]) * numeric).astype(np.int8)


def a_target(n_rows: int, rng: np.random.Generator, kind: str) -> dict[str, Any]:
    if kind in ("entropy", "pairs"):
        labels, weights = rng.integers(0, 2, n_rows), rng.integers(1, 4, n_rows).astype(float)
        return {"labels": labels, "weights": weights, "n_classes": 2, "kind": kind, "alpha": 0, "power": 2}
    return {
        "gradients": rng.normal(size=n_rows),
        "hessians": rng.random(n_rows) + 0.1 if kind == "hessians" else None,
        "l2_regularization": float(rng.choice([0.0, 1.0])),
    }


@given(
    given_table=constrained(),
    options=limits(),
    kind=st.sampled_from(["gradients", "hessians", "entropy", "pairs"]),
    seed=SEEDS,
    data=st.data(),
)
def test_trees_of_the_twin(
    given_table: tuple[Table, NDArray[np.int8]], options: dict[str, Any], kind: str, seed: int, data: Any
) -> None:
    table, monotonic = given_table
    prices = data.draw(sheets(table.n_features))
    target = a_target(table.n_rows, np.random.default_rng(seed), kind)
    fast, slow = fast_and_slow(table, prices, {**options, "monotonic": monotonic}, target)
    assert_same_tree(fast, slow)


def outputs(tree: Forest, X: NDArray[np.float64]) -> NDArray[np.float64]:
    found, _ = Predictor(tree, tree.value).predict(X)
    return found[:, 0] if found.shape[1] == 1 else found[:, 1] / found.sum(axis=1)


@pytest.mark.parametrize("kind", ["gradients", "hessians", "entropy", "pairs"])
@pytest.mark.parametrize("ledger", ["model", "row"])
def test_every_node_keeps_the_order(kind: str, ledger: Any) -> None:
    """Of noise, so that an unconstrained tree has the wrong order somewhere; missing values, too."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 12, (400, 3)).astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    monotonic = np.array([1, -1, 0], dtype=np.int8)
    target = a_target(400, rng, kind)

    def grow(**options: Any) -> Forest:
        grower = Grower(
            Table(X, (0, 0, 0)).fast(), CostSheet([1.0, 2.0, 0.5]), ledger=ledger, tradeoff=0.01, **options
        )
        if "gradients" in target:
            return grower.gradient(**target).tree
        named = {name: target[name] for name in ("labels", "weights", "n_classes")}
        return grower.classes(**named, impurity=kind, stream=0).tree

    def worst(tree: Forest) -> float:
        """Return the largest step in the wrong direction, over a grid of the other columns."""
        falls = []
        for column, direction in ((0, 1), (1, -1)):
            for other in (*range(12), np.nan):
                for third in (0.0, 5.0, 11.0, np.nan):
                    rows = np.empty((12, 3))
                    rows[:, 1 - column], rows[:, 2], rows[:, column] = other, third, np.arange(12)
                    falls.append((-direction * np.diff(outputs(tree, rows))).max())
        return float(max(falls))

    free, kept = grow(), grow(monotonic=monotonic)
    assert worst(free) > 0.01
    assert worst(kept) <= 0
    assert kept.n_nodes > 7


def test_no_constraint_is_none() -> None:
    rng = np.random.default_rng(1)
    table, gradients = Table(rng.normal(size=(300, 3)), (0, 0, 0)), rng.normal(size=300)
    free, zeros = (
        Grower(table.fast(), CostSheet([1.0] * 3), monotonic=monotonic).gradient(gradients).tree
        for monotonic in (None, np.zeros(3, dtype=np.int8))
    )
    assert free == zeros


def test_refused() -> None:
    table = Table(np.array([[0.0, 1.0], [1.0, 0.0]]), (0, 2))
    prices = CostSheet([1.0, 1.0])
    with pytest.raises(ValueError, match="0 for a categorical column"):
        Grower(table.fast(), prices, monotonic=np.array([0, 1], dtype=np.int8))
    with pytest.raises(ValueError, match="-1, 0 or 1"):
        Grower(table.fast(), prices, monotonic=np.array([2, 0], dtype=np.int8))
    grower = Grower(table.fast(), prices, monotonic=np.array([1, 0], dtype=np.int8))
    with pytest.raises(ValueError, match="several outputs take no monotonic constraints"):
        grower.gradient(np.ones((2, 2)))
    with pytest.raises(ValueError, match="at most two classes"):
        grower.classes(np.array([0, 1]), np.ones(2), 3)
