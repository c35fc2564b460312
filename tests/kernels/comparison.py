"""A tree of the compiled core and the nodes of its twin, compared bit by bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.kernels import naive
from tests.kernels.strategies import Table

from farthing.costs import CostSheet
from farthing.trees import Grower, Grown


def fast_and_slow(
    table: Table,
    prices: tuple[CostSheet, naive.Sheet],
    options: dict[str, Any],
    target: dict[str, Any],
    *,
    rows: NDArray[np.int64] | None = None,
    columns: NDArray[np.int64] | None = None,
    owned: NDArray[np.uint8] | None = None,
    draws: dict[str, Any] | None = None,
) -> tuple[Grown, naive.Grower]:
    """Grow the same tree twice. `target` is either of gradients (with a key of that name) or of labels.

    `draws` may have the numbers of columns and of cuts that are drawn, the seed and the stream, or
    for gradients the number of the tree.
    """
    lots = {"max_features": None, "max_cuts": None, "cuts_above": 0, "seed": 0, "stream": 0}
    lots.update(draws or {})
    number = lots.pop("number", None) if "gradients" in target else lots["stream"]
    grower = Grower(table.fast(), prices[0], **options)
    chosen = {"rows": rows, "columns": columns, "owned": owned}
    if "gradients" in target:
        fast = grower.gradient(
            target["gradients"],
            target["hessians"],
            l2_regularization=target["l2_regularization"],
            number=number,
            **chosen,
        )
        several = target["gradients"].ndim == 2
        slow_target: naive.Target = (
            naive.VectorGradients(**target, rows=rows) if several else naive.Gradients(**target)
        )
    else:
        kind, alpha, power = (target[name] for name in ("kind", "alpha", "power"))
        least = target.get("min_impurity", 0.0)
        known = [target[name] for name in ("labels", "weights", "n_classes")]
        fast = grower.classes(
            *known, impurity=kind, alpha=alpha, power=power, min_impurity=least, **chosen, **lots
        )
        slow_target = naive.Classes(**target)
    unlimited = {"max_depth": math.inf, "max_leaf_nodes": math.inf, "budget": math.inf}
    slow = naive.Grower(
        table.slow(),
        slow_target,
        prices[1],
        **{name: unlimited[name] if value is None else value for name, value in options.items()},
        columns=None if columns is None else columns.tolist(),
        owned=set() if owned is None else set(np.flatnonzero(owned).tolist()),
        max_features=lots["max_features"],
        max_cuts=lots["max_cuts"],
        cuts_above=lots["cuts_above"],
        key=naive.random_bits(lots["seed"], lots["stream"]),
        number=number,
    )
    slow.grow(np.arange(table.n_rows) if rows is None else rows)
    return fast, slow


def assert_same_tree(fast: Grown, slow: naive.Grower) -> None:
    """Structure, thresholds, code sets, values, covers, leaves of rows and the ledger are the same bits."""
    tree, nodes = fast.tree.validate(), slow.nodes
    for name in ("feature", "left", "right", "threshold", "missing", "cover"):
        assert getattr(tree, name).tolist() == [getattr(node, name) for node in nodes], name
    assert tree.value.tolist() == [node.value for node in nodes]
    for i, node in enumerate(nodes):
        assert naive.code_sets(tree, i) == (node.left_codes, node.right_codes)
    leaf_of_row = np.full(len(fast.leaf_of_row), -1)
    for i, node in enumerate(nodes):
        if node.feature < 0:
            leaf_of_row[node.rows] = i
    assert fast.leaf_of_row.tolist() == leaf_of_row.tolist()
    assert set(np.flatnonzero(fast.owned).tolist()) == slow.owned
