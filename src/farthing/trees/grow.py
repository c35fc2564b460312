"""Growing trees on a binned table, with prices."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from farthing._core import TreeGrower
from farthing.collective import peers
from farthing.costs import CostSheet
from farthing.deadline import check_deadline
from farthing.table import Bins
from farthing.trees.cut_rules import MaxCuts, cut_rules
from farthing.trees.forest import Forest
from farthing.trees.ledgers import RowLedgers

Impurity = Literal["entropy", "gini", "pairs", "powers"]
"""How mixed the classes of a node are, which a split is to lower."""

CostRule = Literal["penalty", "ratio"]
"""How a gain is weighed against a price: their difference, with a trade-off, or their ratio."""

LedgerKind = Literal["model", "row"]
"""Who owns what was paid for: the whole model, or each row by itself."""

# Fits in the core's 64-bit integers, with room for sums.
_NO_LIMIT: Final = 2**62


@dataclass(frozen=True, slots=True)
class Grown:
    """A grown tree, the leaves of its rows and the updated ledger.

    Attributes
    ----------
    tree : Forest
        One tree.
    leaf_of_row : ndarray of int64, shape (n_rows,)
        The leaf of each training row; -1 for other rows, unless they were sent down the tree, too.
    owned : ndarray of uint8, shape (n_features,)
        1 for features that the model owns after this tree; unchanged under the row ledger.
    """

    tree: Forest
    leaf_of_row: NDArray[np.int64]
    owned: NDArray[np.uint8]


class Grower:
    """Grow trees on one binned table, best split first.

    Every open leaf has a best split at the current prices. The best of these is applied, until no split is
    worth its price or a limit is reached.

    Missing values go the way that gains most. A node without missing values among its training rows sends
    them on all the same, since a value may be refused later: a single tree to the child with more rows, the
    trees of an ensemble to either child, as often as its training rows went there.

    Parameters
    ----------
    bins : Bins
        The table.
    sheet : CostSheet
        The prices, in the order of the columns.
    max_depth, max_leaf_nodes : int or None
        Limits, None for none.
    min_samples_leaf : int
        Minimum number of rows in a leaf.
    ledger : {"row", "model"}
        Who owns what a split buys: the rows below it, or all rows in this and every later tree.
    cost_rule : {"penalty", "ratio"}
        Penalty: the largest gain - tradeoff * unpaid price; under the row ledger the price is multiplied by
        the fraction of the training weight that pays it. Ratio: the least original price per gain.
    tradeoff : float
        Factor of the price in the penalty, in units of gain per unit of price.
    budget : float or None
        Hard limit on the cost of every path (row ledger) or of all trees together (model ledger).
    n_threads : int
        Threads to use; any number gives the same tree.
    monotonic : ndarray of int8, shape (n_features,), optional
        1 where the values of nodes must not fall as the feature rises, -1 where they must not rise, else 0.
        The value is G / (H + l2_regularization), kept within the bounds that the splits above set, or the
        share of the second of two classes, where splits that leave the bounds are not made. One output or two
        classes only; 0 for categorical columns. Missing values are not constrained.

    With peers (see `farthing.collective`) the table holds a part of the rows, and all peers grow the tree of
    all rows together: every one of them has the sums of all, and takes the same decisions.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> grower = Grower(Bins(X, Schema.learn(X)), CostSheet([1.0]), max_depth=1)
    >>> grower.gradient(np.array([-1.0, -1.0, 1.0, 1.0])).tree.value.ravel()
    array([ 0., -1.,  1.])
    """

    def __init__(
        self,
        bins: Bins,
        sheet: CostSheet,
        *,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        ledger: LedgerKind = "row",
        cost_rule: CostRule = "penalty",
        tradeoff: float = 0.0,
        budget: float | None = None,
        n_threads: int = 1,
        monotonic: NDArray[np.int8] | None = None,
    ) -> None:
        self._bins = bins
        # A read-only view, shared by all trees of this grower.
        self._category_widths = bins.category_widths.view()
        self._category_widths.flags.writeable = False
        self._core = TreeGrower(
            bins.core,
            sheet.own,
            sheet.shared,
            sheet.group_of,
            max_depth=limit("max_depth", max_depth, least=0),
            max_leaves=limit("max_leaf_nodes", max_leaf_nodes, least=1),
            min_rows_leaf=limit("min_samples_leaf", min_samples_leaf, least=1),
            ledger=ledger,
            cost_rule=cost_rule,
            tradeoff=tradeoff,
            budget=math.inf if budget is None else budget,
            n_threads=n_threads,
            peers=peers(),
            monotonic=monotonic,
        )

    @property
    def n_updated_roots(self) -> int:
        """Trees so far that reused the leaf sums of the tree before them, see ``step`` of `gradient`."""
        return self._core.n_updated_roots

    def gradient(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64] | None = None,
        *,
        l2_regularization: float = 0.0,
        owned: NDArray[np.uint8] | None = None,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
        budget: float | None = None,
        ledgers: RowLedgers | None = None,
        min_hessian: float = 0.0,
        send_others: bool = False,
        step: float | None = None,
        number: int | None = None,
    ) -> Grown:
        """Fit negative gradients by least squares; a node's value is G / (H + l2_regularization).

        Gradients of several outputs give one tree with a value for each of them. The gain of a split is then
        the sum of the gains of the outputs, with a diagonal hessian: half the increase of the sum over the
        outputs of G^2 / (H + l2_regularization).

        Parameters
        ----------
        gradients : ndarray of float64, shape (n_rows,) or (n_outputs, n_rows)
            Negative gradients of the loss, times the rows' weights.
        hessians : ndarray of float64, shape of the gradients or (n_rows,), optional
            Second derivatives times weights for Newton steps, or weights for gradient steps; None means 1
            each.
        l2_regularization : float
            Added to the hessians of every node.
        owned : ndarray of uint8, shape (n_features,), optional
            Features that the model owns already, under the model ledger.
        rows, columns : ndarray of int64, optional
            Ascending indices of the rows to learn from and of the columns to split on; None means all.
        budget : float, optional
            A hard budget for this tree in place of the grower's own.
        ledgers : RowLedgers, optional
            What the rows own from earlier trees, under the row ledger; updated with what they buy here. The
            price of a split is then (1/N) * sum over the node's rows of price(feature | owned by row), and
            the budget is that of the ledgers.
        min_hessian : float
            Least sum of hessians in a leaf, over all outputs; has no effect if they are 1 each.
        send_others : bool
            Whether other rows than the training rows are sent down the tree, too, and pay for its tests.
        step : float, optional
            Factor of the values. With hessians of 1 they are then rounded to the grid on which gradients are
            summed, if its spacing is at most 2**-16 of most gradients. Under the model ledger, the leaf sums
            of this tree then give the root sums of the next one exactly, if the gradients decrease by its
            values, as those of the squared loss do. None leaves the values unscaled. Values of several
            outputs are not rounded.
        number : int, optional
            Number of trees before this one in its ensemble; see `Grower` on missing values. With None, such a
            value ends the descent at the node, with the node's value.

        Returns
        -------
        Grown
        """
        check_deadline()
        core = self._core
        grow = core.gradient
        if gradients.ndim == 2 and len(gradients) == 1:
            gradients, hessians = gradients[0], None if hessians is None else hessians.reshape(-1)
        elif gradients.ndim == 2:
            grow = core.gradients
            if hessians is not None and hessians.ndim == 1:
                hessians = np.ascontiguousarray(np.broadcast_to(hessians, gradients.shape))
        return self._grown(
            *grow(
                gradients,
                hessians,
                l2=l2_regularization,
                columns=columns,
                rows=rows,
                owned=owned,
                budget=budget,
                ledger=None if ledgers is None else ledgers.core,
                min_hessian=min_hessian,
                send_others=send_others,
                step=step,
                number=number,
            )
        )

    def classes(
        self,
        labels: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_classes: int,
        *,
        impurity: Impurity | Callable[[NDArray[np.float64]], float] = "entropy",
        alpha: float = 0.0,
        power: float = 2.0,
        min_impurity: float = 0.0,
        owned: NDArray[np.uint8] | None = None,
        rows: NDArray[np.int64] | None = None,
        columns: NDArray[np.int64] | None = None,
        max_features: int | None = None,
        max_cuts: MaxCuts = None,
        cuts_above: float = 0.0,
        seed: int = 0,
        stream: int = 0,
    ) -> Grown:
        """Grow a classification tree; a node's value is its weight of each class.

        With "entropy" and "gini" the gain of a split is the decrease of the weighted impurity; with "pairs"
        and "powers" it is the minimax gain F(S) - max F(S_i) of Nan's GreedyTree (thesis, Algorithm 2, line
        12). If bins next to the threshold are empty in a node, the threshold is in the middle of the gap.

        Parameters
        ----------
        labels : ndarray of int64, shape (n_rows,)
            Class codes from 0.
        weights : ndarray of float64, shape (n_rows,)
            Weights of the rows.
        n_classes : int
            Number of classes.
        impurity : {"entropy", "gini", "pairs", "powers"} or callable
            "pairs" is equation 3.10 with threshold ``alpha``, "powers" equation 3.13 with exponent ``power``.
            A callable takes the weights of the classes, a float64 array of shape (n_classes,), and returns
            a non-negative number, 0 for a node that is not to be split; its gain is minimax, too.
        alpha, power : float
            See above.
        min_impurity : float
            A node whose impurity is at most this is not split; entropy (in nats) and Gini count times the
            weight of the node.
        owned, rows, columns
            As in `gradient`.
        max_features : int, optional
            Number of columns sampled for the split of each node; if none of them has a split that is worth
            its price, the others follow one by one. Needs the row ledger.
        max_cuts : int, sequence of (weight, cuts) or None
            Number of thresholds of a numeric column tried in a node, sampled with replacement among the bins
            between its lowest and highest value there; by the weight of the node, see `cut_rules`; None means
            all. Needs the row ledger.
        cuts_above : float
            A single number of ``max_cuts`` applies to nodes of more weight than this; lighter ones try all
            thresholds.
        seed, stream : int
            Key of this sampling; that of a node is a pure function of the key and its position in the tree.
            ``stream`` is the number of trees before this one in its forest; see `Grower` on missing values.

        Returns
        -------
        Grown
        """
        check_deadline()
        return self._grown(
            *self._core.classes(
                labels,
                weights,
                n_classes,
                impurity=impurity,
                alpha=alpha,
                power=power,
                min_impurity=min_impurity,
                columns=columns,
                rows=rows,
                owned=owned,
                max_features=max_features,
                cuts=cut_rules(max_cuts, cuts_above),
                seed=seed,
                stream=stream,
            )
        )

    def votes(
        self,
        signed_weights: NDArray[np.float64],
        n_outputs: int = 1,
        *,
        tradeoff: float = 0.0,
        owned: NDArray[np.uint8] | None = None,
        budget: float | None = None,
    ) -> Grown:
        """Grow a tree on labels of -1 and +1; a node's value is its mean label for each output.

        The gain of a split is the increase of the sum over the sides and outputs of S^2 / W, where S is the
        sum of the signed weights and W that of their sizes; with weights that sum to 1 it is at most 1. A
        missing value that no training row of a node had ends the descent there.

        Parameters
        ----------
        signed_weights : ndarray of float64, shape (n_rows * n_outputs,)
            Weight times label, row by row.
        n_outputs : int
            Labels per row.
        tradeoff : float
            Factor of the price in the penalty, in place of the grower's own.
        owned : ndarray of uint8, shape (n_features,), optional
            Features that the model owns already, under the model ledger.
        budget : float, optional
            A hard budget for this tree in place of the grower's own.

        Returns
        -------
        Grown
        """
        check_deadline()
        return self._grown(
            *self._core.votes(signed_weights, n_outputs, tradeoff=tradeoff, owned=owned, budget=budget)
        )

    def _grown(self, fields: dict[str, Any], leaves: NDArray[np.int64], owned: NDArray[np.uint8]) -> Grown:
        tree = Forest.from_core(fields, self._bins.n_features, self._category_widths)
        return Grown(tree, leaves, owned)


def limit(name: str, given: int | None, least: int) -> int:
    """Return a limit of trees as the core takes it; None means no limit.

    Examples
    --------
    >>> limit("max_depth", 3, least=0)
    3
    """
    if given is None:
        return _NO_LIMIT
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise TypeError(f"{name} must be an integer; got {given!r}")
    if given < least:
        raise ValueError(f"{name} must be at least {least}; got {given}")
    return int(given)
