"""Curtailment: a vote that stops as soon as the remaining votes cannot, or hardly can, change its sign.

Scores are multiples of one power of two and bounded, so all their sums are exact: bounds and votes have no
rounding error and do not depend on the order of the additions.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import curtailed, trace_votes
from farthing.costs import CostSheet, RowLedger
from farthing.costs.common_unit import in_unit, unit_of
from farthing.learning.score_bounds import node_bounds
from farthing.table.bins import plain
from farthing.trees import Forest, Predictor
from farthing.trees.progress import unpack
from farthing.walks.plans import VotePlan

_WORD_BITS = 64


def ask_order(forest: Forest, alphas: NDArray[np.float64], sheet: CostSheet) -> NDArray[np.int64]:
    """Return the columns that the trees test, in the order in which to ask for them.

    The next column is the one whose value can change the vote most per unit of its price, given the columns
    before it. For stumps that is the difference of the bounds of all votes of the column. A test inside a
    larger tree counts twice the weight of the tree, times the fraction of training rows that reach it.

    Parameters
    ----------
    forest : Forest
        Trees that vote.
    alphas : ndarray of float64, shape (n_trees,)
        Their voting weights.
    sheet : CostSheet
        The prices, in the order of the columns.

    Returns
    -------
    ndarray of int64, shape (n_tested,)

    Examples
    --------
    >>> stump = dict(threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...              value=[[0.0], [-1.0], [1.0]], cover=[2.0, 1.0, 1.0])
    >>> forest = Forest.concat(
    ...     [Forest.from_arrays(n_features=2, feature=[f, -1, -1], **stump) for f in (0, 1)])
    >>> ask_order(forest, np.array([1.0, 2.0]), CostSheet([1.0, 1.0]))
    array([1, 0])
    """
    scores = forest.value[:, 0] * np.repeat(alphas, np.diff(forest.offsets))
    stump = is_stump(forest)
    inner = forest.feature >= 0
    columns = np.unique(forest.feature[inner]).astype(np.int64)
    reach = np.zeros(forest.n_features)
    low, high = _stump_bounds(forest, scores, stump, columns)
    reach[columns] = high - low
    deep = np.flatnonzero(inner & np.repeat(~stump, np.diff(forest.offsets)))
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))[deep]
    # Cover may be zero everywhere: it is the default of `Forest.from_arrays`.
    whole = np.maximum(forest.cover[forest.offsets[tree]], np.finfo(float).tiny)
    np.add.at(reach, forest.feature[deep], 2 * alphas[tree] * forest.cover[deep] / whole)
    return by_value(reach, columns, sheet)


def by_value(weight: NDArray[np.float64], columns: NDArray[np.int64], sheet: CostSheet) -> NDArray[np.int64]:
    """Sort columns by weight per price, where a shared cost is paid by the first of its group."""
    if not sheet.groups:
        prices = sheet.own[columns]
        return np.asarray(
            columns[np.lexsort((columns, *_by_worth(weight[columns], prices, unit_of(prices))))]
        )
    # Greedy rather than one sort: buying a column lowers the prices of the others in its group.
    ledger = RowLedger(sheet)
    left = columns.tolist()
    order: list[int] = []
    unit: int | None = None
    while left:
        prices = np.array([ledger.price(column) for column in left])
        # In a unit of the first prices, and not by a bounded ratio: tiny prices keep their order.
        unit = unit_of(prices) if unit is None else unit
        best = int(np.lexsort((left, *_by_worth(weight[left], prices, unit)))[0])
        order.append(left.pop(best))
        ledger.buy(order[-1])
    return np.array(order, dtype=np.int64)


def _by_worth(
    weight: NDArray[np.float64], prices: NDArray[np.float64], unit: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return keys that sort by weight per price; ties, such as those of free columns, by weight."""
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = np.where(prices > 0, weight / in_unit(prices, unit), np.inf)
    return -weight, -worth


class Curtailment:
    """The bounds of a forest of votes, for curtailed walks and array calls.

    Parameters
    ----------
    predictor : Predictor
        The forest and what its nodes add to the vote.
    order : ndarray of int64, shape (n_tested,)
        The columns that the trees test, in the order in which to ask for them.
    stops : ndarray of float64, shape (2, n_tested), optional
        The sums at which a row stops before each question, from `stopping_thresholds`; None for exact
        curtailment.
    """

    def __init__(
        self, predictor: Predictor, order: NDArray[np.int64], stops: NDArray[np.float64] | None = None
    ) -> None:
        self.predictor = predictor
        self.order = order
        self.stops = stops
        forest, scores = predictor.forest, predictor.dense_scores[:, 0]
        #: Place of each column in the order, -1 if no tree tests it; shape (n_features,).
        self.position: NDArray[np.int64] = np.full(forest.n_features, -1, dtype=np.int64)
        self.position[order] = np.arange(len(order))
        #: Bounds of the scores at which a walk from each node can end, shape (n_nodes,).
        self.low, self.high = node_bounds(forest, scores)
        #: Whether each tree is a single test, shape (n_trees,).
        self.stump = is_stump(forest)
        #: Bounds of the sum of all stumps of a column, by its place in the order, shape (n_tested,).
        self.shared_low, self.shared_high = _stump_bounds(forest, scores, self.stump, order)

    @cached_property
    def start(self) -> tuple[float, float]:
        """Bounds of the vote before the first answer."""
        deep = self.predictor.forest.offsets[:-1][~self.stump]
        return (
            float(self.shared_low.sum() + self.low[deep].sum()),
            float(self.shared_high.sum() + self.high[deep].sum()),
        )

    def plan(self) -> VotePlan:
        """Return the vote and its bounds as tables."""
        return VotePlan(
            self.predictor,
            self.order,
            self.low,
            self.high,
            self.stump,
            self.shared_low,
            self.shared_high,
            self.start,
            self.stops,
        )

    def predict(
        self,
        values: NDArray[np.floating],
        sheet: CostSheet,
        budget: NDArray[np.float64] | None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return votes (n_rows, 1) and acquired (n_rows, n_features); the same bits as `CurtailedPolicy`.

        Parameters
        ----------
        values : ndarray of float32 or float64, shape (n_rows, n_features)
            An encoded table.
        sheet : CostSheet
            The prices, in the order of the columns.
        budget : ndarray of float64, shape (n_rows,), or None
            Hard budget of each row.
        n_threads : int
            Threads to use; any number gives the same bits.
        """
        stop_low, stop_high = np.zeros((2, 0)) if self.stops is None else self.stops
        outputs, words = curtailed(
            self.predictor.core,
            plain(values),
            **self._arrays(),
            stop_low=stop_low,
            stop_high=stop_high,
            budgets=budget,
            own=sheet.own,
            shared=sheet.shared,
            group_of=sheet.group_of,
            n_threads=n_threads,
        )
        return outputs, unpack(words, self.predictor.forest.n_features)

    def trace(
        self, values: NDArray[np.floating], n_threads: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of the finished votes before each question, if nothing stops a row.

        Returns
        -------
        sums : ndarray of float64, shape (n_rows, n_tested)
            In the order of the questions; NaN where a row is not asked, and before the first question, where
            no row stops, since it would have the prior.
        votes : ndarray of float64, shape (n_rows,)
            The full votes.
        """
        sums, votes = trace_votes(self.predictor.core, plain(values), **self._arrays(), n_threads=n_threads)
        roots = self.predictor.forest.offsets[:-1]
        tested = self.predictor.forest.feature[roots]
        if len(self.order):
            sums[:, self.position[tested[tested >= 0]].min()] = np.nan
        return sums, votes

    def _arrays(self) -> dict[str, Any]:
        """Return the bounds as the compiled functions take them."""
        return {
            "order": self.order,
            "position": self.position,
            "stump": self.stump.view(np.uint8),
            "shared_low": self.shared_low,
            "shared_high": self.shared_high,
            "low": self.low,
            "high": self.high,
        }


class CurtailedPolicy:
    """Ask for the features of a vote in a fixed order until its sign is certain, or likely enough.

    The next column is the first one in the order that an unfinished tree needs. A vote of zero counts as
    negative.

    Parameters
    ----------
    curtailment : Curtailment
        The forest and its bounds.
    """

    def __init__(self, curtailment: Curtailment) -> None:
        self._curtailment = curtailment
        forest = curtailment.predictor.forest
        self._forest = forest
        self._scores = curtailment.predictor.dense_scores[:, 0]
        self._nodes: NDArray[np.int64] = forest.offsets[:-1].copy()
        self._answers: dict[int, float] = {}
        self._refused: frozenset[int] = frozenset()
        # Unfinished trees, by the place in the order of the column that they need next.
        self._waiting: dict[int, list[int]] = {}
        self._low, self._high = curtailment.start
        self._seen = 0.0
        for tree, node in enumerate(self._nodes.tolist()):
            if forest.feature[node] >= 0:
                self._wait(tree, node)
            else:
                self._seen += float(self._scores[node])

    def wants(self, ledger: RowLedger) -> int | None:  # the order is fixed
        """Return the next column; None if the sign is certain or likely, or all trees are finished."""
        # Exact comparisons are safe, as the bounds have no rounding error.
        if self._low > 0 or self._high <= 0 or not self._waiting:
            return None
        place, stops = min(self._waiting), self._curtailment.stops
        if stops is not None and (self._seen <= stops[0, place] or self._seen > stops[1, place]):
            return None
        return int(self._curtailment.order[place])

    def hear(self, column: int, value: float) -> None:
        """Continue all trees that need the column."""
        plan = self._curtailment
        place = int(plan.position[column])
        self._answers[column] = value
        # The trees of this column leave the bounds and are added again below, with their votes or with
        # tighter bounds.
        self._low -= float(plan.shared_low[place])
        self._high -= float(plan.shared_high[place])
        for tree in self._waiting.pop(place):
            if not plan.stump[tree]:
                self._low -= float(plan.low[self._nodes[tree]])
                self._high -= float(plan.high[self._nodes[tree]])
            self._advance(tree)

    def refuse(self, column: int) -> None:
        """Continue all trees that need the column without it."""
        self._refused |= {column}
        self._forest = self._curtailment.predictor.without(self._refused).forest
        self.hear(column, np.nan)

    def why_ended(self) -> str:
        """Return why the vote has ended, in words."""
        if not self._waiting:
            return "all trees have voted"
        if self._low > 0 or self._high <= 0:
            between = f"{self._low:.3g} and {self._high:.3g}"
            return f"no vote that is left can change the label: the sum ends between {between}"
        return f"the vote so far, {self._seen:.3g}, is far enough from zero for the error that is allowed"

    def output(self) -> NDArray[np.float64]:
        """Return the sum of the finished votes, shape (1,)."""
        return np.array([self._seen])

    def _advance(self, tree: int) -> None:
        node = int(self._nodes[tree])
        while (column := int(self._forest.feature[node])) >= 0:
            if column not in self._answers:
                self._nodes[tree] = node
                self._low += float(self._curtailment.low[node])
                self._high += float(self._curtailment.high[node])
                self._wait(tree, node)
                return
            turn = self._forest.route(node, self._answers[column])
            if turn is None:  # a missing value stays: the node itself votes
                break
            node = turn
        score = float(self._scores[node])
        self._seen += score
        self._low += score
        self._high += score

    def _wait(self, tree: int, node: int) -> None:
        place = int(self._curtailment.position[self._forest.feature[node]])
        self._waiting.setdefault(place, []).append(tree)


def check_order(order: NDArray[np.int64] | None, forest: Forest) -> None:
    """Raise ValueError unless an order has each column that the trees test exactly once, and no other."""
    if order is None:
        return
    if forest.comparator != "<=" or forest.dtype != "float64":
        raise ValueError("curtailment needs trees that compare by <= in float64")
    tested = np.unique(forest.feature[forest.feature >= 0])
    if order.dtype != np.int64 or order.ndim != 1 or not np.array_equal(np.sort(order), tested):
        raise ValueError("order must have each column that the trees test once, and no other")


def is_stump(forest: Forest) -> NDArray[np.bool_]:
    """Return whether each tree is a single test, shape (n_trees,)."""
    return np.asarray((forest.feature[forest.offsets[:-1]] >= 0) & (np.diff(forest.offsets) == 3))


def _stump_bounds(
    forest: Forest, scores: NDArray[np.float64], stump: NDArray[np.bool_], order: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound the sum of all stumps of each column, over all values that they distinguish and a missing one."""
    # Jointly, not stump by stump: thresholds on one column exclude each other, which gives tighter bounds.
    roots = forest.offsets[:-1][stump]
    numeric = (forest.category[roots] < 0) & np.isfinite(forest.threshold[roots])
    bounds = np.zeros((2, forest.n_features))
    _add_threshold_bounds(bounds, forest, scores, roots[numeric])
    others = roots[~numeric]
    for column in np.unique(forest.feature[others]).tolist():
        own = others[forest.feature[others] == column]
        by_threshold = forest.category[own] < 0
        for same_kind, votes in (
            (own[by_threshold], _threshold_votes),
            (own[~by_threshold], _category_votes),
        ):
            if len(same_kind):
                sums = votes(forest, same_kind, _outcomes(forest, scores, same_kind)).sum(axis=1)
                bounds[:, column] += sums.min(), sums.max()
    low, high = bounds[:, order]
    return low, high


def _add_threshold_bounds(
    bounds: NDArray[np.float64], forest: Forest, scores: NDArray[np.float64], roots: NDArray[np.int64]
) -> None:
    """Add the bounds of the stumps of finite thresholds, of all columns at once; see `_threshold_votes`.

    Sums are exact, so running sums over all columns serve each of them.
    """
    if not len(roots):
        return
    roots = roots[np.lexsort((forest.threshold[roots], forest.feature[roots]))]
    features, thresholds = forest.feature[roots], forest.threshold[roots]
    left, right, missing = _outcomes(forest, scores, roots)
    begins = np.flatnonzero(np.append(True, features[1:] != features[:-1]))
    ends = np.append(begins[1:], len(roots))
    n_own = ends - begins
    to_left, to_right = (np.append(0.0, np.cumsum(one)) for one in (left, right))
    all_right = to_right[ends] - to_right[begins]
    # A value equal to a threshold is right of those below it, and left of the others.
    first = np.append(True, (thresholds[1:] != thresholds[:-1]) | (features[1:] != features[:-1]))
    at = np.flatnonzero(first)
    segment = np.repeat(np.arange(len(begins)), n_own)[at]
    sums = to_right[at] - to_right[begins[segment]] + to_left[ends[segment]] - to_left[at]
    starts = np.flatnonzero(np.append(True, segment[1:] != segment[:-1]))
    alone = np.array([all_right, np.add.reduceat(missing, begins)])
    columns = features[begins]
    bounds[0, columns] += np.minimum(np.minimum.reduceat(sums, starts), alone.min(axis=0))
    bounds[1, columns] += np.maximum(np.maximum.reduceat(sums, starts), alone.max(axis=0))


def _outcomes(forest: Forest, scores: NDArray[np.float64], roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the score of each stump for left, right and missing, shape (3, n_stumps)."""
    left, right = scores[roots + forest.left[roots]], scores[roots + forest.right[roots]]
    return np.stack([left, right, np.choose(forest.missing[roots], [left, right, scores[roots]])])


def _threshold_votes(
    forest: Forest, roots: NDArray[np.int64], outcomes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the scores for a value in each gap between thresholds, and for a missing one."""
    thresholds = forest.threshold[roots]
    # One representative value per gap: each threshold, which goes left, and one above all of them.
    answers = np.append(np.unique(thresholds), np.inf)
    votes = np.where(answers[:, np.newaxis] <= thresholds, outcomes[0], outcomes[1])
    return np.vstack([votes, outcomes[2]])


def _category_votes(
    forest: Forest, roots: NDArray[np.int64], outcomes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the scores for each category, and for a missing one."""
    width = int(forest.category_widths[forest.feature[roots[0]]])
    words = forest.category[roots][:, np.newaxis] + np.arange(width)
    goes_left, goes_right = (_bits(forest.category_words[words + shift]) for shift in (0, width))
    votes = np.where(goes_left, outcomes[0], np.where(goes_right, outcomes[1], outcomes[2]))
    return np.vstack([votes, outcomes[2]])


def _bits(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Unpack sets of codes, shape (n_sets, width), into bools, shape (n_codes, n_sets)."""
    return unpack(np.ascontiguousarray(words), words.shape[1] * _WORD_BITS).T
