"""Boosted trees as the columns of a linear model: the boosting trick of Cronus and CSTC."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.learning.booster import TreeSettings, constants
from farthing.learning.least_squares_boosting import boost
from farthing.learning.terms import Scorer
from farthing.store import register_codec
from farthing.trees import Forest, Predictor
from farthing.typing import Floats
from farthing.walks.plans import LinearSum, TreeSum


@dataclass(frozen=True, eq=False)
class TreeTerms:
    """The outputs of trees, phi(x) = (h_1(x), ..., h_T(x)).

    A term reads every column that its tree may test, as in the papers' account, and not only those on the
    path of a row: a row buys the columns of all trees that it is going to evaluate, then it evaluates them. A
    column that it could not buy is missing, and sends the row the tree's way of missing values.

    Parameters
    ----------
    forest : Forest
        The trees, each with one value per node, without the learning rate.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> terms = TreeTerms(Forest.concat([stump, stump.scaled(3.0)]))
    >>> X = np.array([[np.nan, 0.2], [np.nan, 0.7]])
    >>> terms.terms(X)
    array([[-1., -3.],
           [ 1.,  3.]])
    >>> terms.scorer(np.array([[0.0], [2.0]]), np.array([10.0]))(X)
    array([[ 4.],
           [16.]])
    >>> terms.reads
    array([[False,  True],
           [False,  True]])
    """

    forest: Forest

    def __post_init__(self) -> None:
        if self.forest.n_outputs != 1:
            raise ValueError(f"the trees must have one output; got {self.forest.n_outputs}")

    @classmethod
    def boosted(cls, rows: TrainingSet, targets: Floats, settings: TreeSettings, max_bins: int = 255) -> Self:
        """Boost trees on the squared loss of targets, one after another target.

        Parameters
        ----------
        rows : TrainingSet
            The rows; their prices play no role.
        targets : ndarray of float64, shape (n_rows, n_targets)
            Numbers, -1 and 1 for two classes, or an indicator of each class.
        settings : TreeSettings
            How trees are grown; ``n_estimators`` is the number for each target.
        max_bins : int
            Most bins of a column.

        Returns
        -------
        TreeTerms
            A constant term if no split lowers the loss.
        """
        bins = rows.bins(max_bins, settings.n_threads)
        grower = settings.make_grower(bins, rows.costs, ledger="row")
        trees: list[Forest] = []
        for target in targets.T:
            trees += boost(
                grower,
                np.ascontiguousarray(target),
                rows.weights,
                start=float(np.average(target, weights=rows.weights)),
                n_estimators=settings.n_estimators,
                learning_rate=settings.learning_rate,
            )
        trees = trees or [constants(np.zeros(1), bins.n_features, bins.category_widths)]
        return cls(Forest.concat(trees).scaled(1 / settings.learning_rate))

    @property
    def n_terms(self) -> int:
        """Number of trees."""
        return self.forest.n_trees

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return self.forest.n_features

    @cached_property
    def reads(self) -> NDArray[np.bool_]:
        """Which columns each tree may test, shape (n_terms, n_features)."""
        forest = self.forest
        reads = np.zeros((forest.n_trees, forest.n_features), dtype=np.bool_)
        tests = forest.feature >= 0
        reads[self._tree_of_node[tests], forest.feature[tests]] = True
        return reads

    def terms(self, values: NDArray[np.floating]) -> Floats:
        """Return the outputs of all trees, shape (n_rows, n_terms)."""
        n_trees = self.forest.n_trees
        apart = replace(self.forest, n_outputs=n_trees, target=np.arange(n_trees))
        return Predictor(apart).predict(values)[0]

    def scorer(self, coef: Floats, intercept: Floats) -> Scorer:
        """Return weighted sums of the trees; those whose coefficients are 0 are left out."""
        predictor = self._weighted(coef)
        return _Constant(intercept) if predictor is None else _TreeSum(predictor, intercept)

    def sum_plan(self, coef: Floats, intercept: Floats) -> TreeSum | LinearSum:
        """Return the same sums as tables; see `Terms`."""
        predictor = self._weighted(coef)
        if predictor is not None:
            return TreeSum(predictor, 0, predictor.forest.n_trees, intercept)
        none = np.zeros(0)
        return LinearSum(none.astype(np.int64), none, none, none, coef[:0], intercept)

    def _weighted(self, coef: Floats) -> Predictor | None:
        """Return the trees times their coefficients, without those whose coefficients are 0."""
        active = np.flatnonzero((coef != 0).any(axis=1))
        if not len(active):
            return None
        chosen = Forest.concat([self.forest.trees(tree, tree + 1) for tree in active.tolist()])
        sizes = np.diff(chosen.offsets)
        value = chosen.value * np.repeat(coef[active], sizes, axis=0)
        return Predictor(replace(chosen, node_values=value, n_outputs=coef.shape[1]))

    @property
    def _tree_of_node(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(self.forest.n_trees), np.diff(self.forest.offsets))


class _Constant:
    """The scores of no terms."""

    def __init__(self, intercept: Floats) -> None:
        self._intercept = intercept

    def __call__(self, values: NDArray[np.floating], refused: frozenset[int] = frozenset()) -> Floats:
        return np.tile(self._intercept, (len(values), 1))


class _TreeSum:
    """The scores of trees whose values are multiplied by their coefficients."""

    def __init__(self, predictor: Predictor, intercept: Floats) -> None:
        self._predictor = predictor
        self._intercept = intercept

    def __call__(self, values: NDArray[np.floating], refused: frozenset[int] = frozenset()) -> Floats:
        sums = self._predictor.without(refused).predict(values)[0]
        return np.asarray(sums + self._intercept)


def _decode(fields: dict[str, Any]) -> TreeTerms:
    if set(fields) != {"forest"} or not isinstance(fields["forest"], Forest):
        raise ValueError("the terms of trees hold a forest")
    return TreeTerms(fields["forest"])


register_codec("TreeTerms", TreeTerms, lambda terms: {"forest": terms.forest}, _decode)
