"""Trees as the attributes of a TreeEnsembleRegressor of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from farthing.errors import ExportError
from farthing.trees import Predictor
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_STAY


@dataclass(eq=False)
class OnnxTrees:
    """Nodes of all trees, and the scores of the leaves.

    A node is in the tree ``tree`` with the number ``node``. In ONNX a descent ends at leaves only: where a
    missing value stays at an inner node, a test before it sends the value to a leaf with that node's score.

    Attributes
    ----------
    tree, node, feature, left, right, missing : list of int
        By node; ``missing`` is 1 where a missing value goes left.
    threshold : list of float
    mode : list of str
        How a node compares, or that it is a leaf.
    leaf_tree, leaf_node, leaf_output : list of int
        By score of a leaf: the leaf, and the output that the score is added to.
    leaf_score : list of float
    """

    tree: list[int] = field(default_factory=list)
    node: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    mode: list[str] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    leaf_tree: list[int] = field(default_factory=list)
    leaf_node: list[int] = field(default_factory=list)
    leaf_output: list[int] = field(default_factory=list)
    leaf_score: list[float] = field(default_factory=list)

    @classmethod
    def of(cls, trees: Predictor, names: Sequence[str]) -> OnnxTrees:
        """Return the trees of a predictor.

        Parameters
        ----------
        trees : Predictor
        names : sequence of str
            The columns, for the error if one of them is tested for categories.

        Raises
        ------
        ExportError
            If a test is one of categories.
        """
        forest, made = trees.forest, cls()
        coded = np.unique(forest.feature[(forest.feature >= 0) & (forest.category >= 0)])
        if len(coded):
            columns = ", ".join(repr(names[j]) for j in coded.tolist())
            raise ExportError(
                f"its trees test the categories of {columns}, and trees of ONNX compare numbers; encode them "
                "as numbers before the fit"
            )
        scores = trees.dense_scores
        compares = "BRANCH_LT" if forest.comparator == "<" else "BRANCH_LEQ"
        for tree in range(forest.n_trees):
            made._add(forest, scores, tree, compares)
        return made

    def _add(self, forest: Any, scores: Any, tree: int, compares: str) -> None:
        first, end = int(forest.offsets[tree]), int(forest.offsets[tree + 1])
        target, number = int(forest.target[tree]), end - first
        for node in range(first, end):
            place = node - first
            if forest.feature[node] < 0:
                self._add_node(tree, place, "LEAF")
                self._add_scores(tree, place, target, scores[node].tolist())
                continue
            test = (int(forest.feature[node]), float(forest.threshold[node]))
            ways = (int(forest.left[node]), int(forest.right[node]))
            rule = forest.missing[node]
            if rule == MISSING_STAY:
                # Every number is at most infinity, and NaN is not.
                self._add_node(tree, place, "BRANCH_LEQ", (test[0], np.inf), (number, number + 1))
                self._add_node(tree, number, compares, test, ways)
                self._add_node(tree, number + 1, "LEAF")
                self._add_scores(tree, number + 1, target, scores[node].tolist())
                number += 2
            else:
                self._add_node(tree, place, compares, test, ways, missing=int(rule == MISSING_LEFT))

    def _add_node(
        self,
        tree: int,
        node: int,
        mode: str,
        test: tuple[int, float] = (0, 0.0),
        ways: tuple[int, int] = (0, 0),
        *,
        missing: int = 0,
    ) -> None:
        self.tree.append(tree)
        self.node.append(node)
        self.mode.append(mode)
        self.feature.append(test[0])
        self.threshold.append(test[1])
        self.left.append(ways[0])
        self.right.append(ways[1])
        self.missing.append(missing)

    def _add_scores(self, tree: int, node: int, target: int, scores: Sequence[float]) -> None:
        for output, score in enumerate(scores):
            self.leaf_tree.append(tree)
            self.leaf_node.append(node)
            self.leaf_output.append(target + output)
            self.leaf_score.append(score)
