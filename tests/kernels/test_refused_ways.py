"""Where trees send refused values, against the rule written out node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from farthing.boosting import AdaBoostClassifier, GreedyMiserClassifier
from farthing.forests import BudgetForestClassifier
from farthing.trees import Forest, Predictor

LEFT, RIGHT, STAY = 0, 1, 2


def naive_ways(forest: Forest, scores: NDArray[np.float64]) -> list[int]:
    """Choose the side that keeps the sum so far nearest to its mean, by the reach of every node."""
    excess = np.zeros((forest.n_features, forest.n_outputs))
    ways: list[int] = []
    for tree, (first, end) in enumerate(zip(forest.offsets[:-1], forest.offsets[1:], strict=True)):

        def share(node: int, first: int = first) -> float:
            left, right = forest.cover[[first + forest.left[node], first + forest.right[node]]]
            return float(left / (left + right))

        def mean(node: int, first: int = first) -> NDArray[np.float64]:
            if forest.feature[node] < 0:
                return scores[node]
            sides = mean(first + int(forest.left[node])), mean(first + int(forest.right[node]))
            return share(node) * sides[0] + (1 - share(node)) * sides[1]

        def reach(feature: int, first: int = first) -> dict[int, float]:
            """Return the share of rows at each node if the feature is refused, as far as ways are known."""
            found = {int(first): 1.0}
            stack = [int(first)]
            while stack:
                node = stack.pop()
                if forest.feature[node] < 0 or (forest.feature[node] == feature and node >= len(ways)):
                    continue
                sides = [first + int(forest.left[node]), first + int(forest.right[node])]
                if forest.feature[node] == feature:
                    parts = [1.0, 0.0] if ways[node] == LEFT else [0.0, 1.0]
                else:
                    parts = [share(node), 1 - share(node)]
                for child, part in zip(sides, parts, strict=True):
                    found[int(child)] = found[node] * part
                    stack.append(int(child))
            return found

        for node in range(first, end):
            feature = int(forest.feature[node])
            if feature < 0:
                ways.append(STAY)
                continue
            outputs = slice(int(forest.target[tree]), int(forest.target[tree]) + forest.width)
            sides = [first + int(forest.left[node]), first + int(forest.right[node])]
            moves = [reach(feature)[node] * (mean(child) - mean(node)) for child in sides]
            off = [float(np.abs(excess[feature, outputs] + move).sum()) for move in moves]
            # Sums in another order differ in the last bits, and then the larger side is as good.
            level = np.isclose(off[0], off[1], rtol=1e-9, atol=1e-12)
            way = (LEFT if share(node) >= 0.5 else RIGHT) if level else int(off[1] < off[0])
            ways.append(way)
            excess[feature, outputs] += moves[way]
    return ways


def table(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.exponential(size=(90, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.digitize(np.nansum(X[:, :2], axis=1) + rng.normal(size=90), [1.0, 3.0])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (GreedyMiserClassifier(n_estimators=5, max_depth=4), 3),
        (GreedyMiserClassifier(n_estimators=8, max_depth=3), 2),
        (BudgetForestClassifier(n_estimators=5, random_state=0), 3),
        (AdaBoostClassifier(n_estimators=12, max_depth=3), 2),
    ],
)
def test_refused_values_go_where_the_rule_sends_them(model: Any, n_classes: int, seed: int) -> None:
    X, y = table(seed)
    predictor = model.fit(X, np.minimum(y, n_classes - 1)).fitted_.predictor
    assert predictor.refused_ways.tolist() == naive_ways(predictor.forest, predictor.scores)


def test_a_single_tree_sends_refused_values_to_the_larger_child() -> None:
    X, y = table(2)
    forest = BudgetForestClassifier(n_estimators=1, random_state=0).fit(X, y).fitted_.forest
    predictor = Predictor(forest)
    inner = forest.feature >= 0
    assert inner.sum() > 5
    goes_left = forest.cover[forest.left[inner]] >= forest.cover[forest.right[inner]]
    assert np.array_equal(predictor.refused_ways[inner], np.where(goes_left, LEFT, RIGHT))
    assert (predictor.refused_ways[~inner] == STAY).all()


def test_a_forest_without_covers_sends_refused_values_on() -> None:
    stump = Forest.from_arrays(
        n_features=1,
        feature=[0, -1, -1],
        threshold=[0.5, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0], [-1.0], [1.0]],
    )
    ways = Predictor(Forest.concat([stump, stump, stump])).refused_ways
    assert ways.reshape(3, 3).tolist() == [[LEFT, STAY, STAY], [RIGHT, STAY, STAY], [LEFT, STAY, STAY]]
