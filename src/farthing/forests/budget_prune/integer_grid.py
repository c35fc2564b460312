"""Errors and prices on an integer grid, so that ties and breakpoints of a pruning are exact."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from farthing._core import node_errors
from farthing.base import row_sums
from farthing.costs import CostSheet
from farthing.table.bins import plain
from farthing.trees import Forest, Predictor
from farthing.typing import Floats

Risk = Literal["error", "gini", "entropy"]

#: Prices with at most this many decimals, such as money, are exact.
MOST_DECIMALS: Final = 9
# Other numbers are rounded to the finest power of two at which all of them add up to less than 2**52: below
# 2**53, so that the sum is exact in a float, too.
_SUM_BITS: Final = 52
# Sums of integers stay below this power of two; the solver refuses 2**62.
_EXACT_BITS: Final = 61


@dataclass(frozen=True)
class Gains:
    """The risk that each split removes.

    Parameters
    ----------
    steps : ndarray of int64, shape (n_nodes,)
        The gain of each inner node's split, in steps of ``unit``; 0 at leaves.
    unit : Fraction
        The size of a step, as a share of the mean risk over trees and rows.
    unsplit : Fraction
        The risk of the forest pruned to its roots.
    """

    steps: NDArray[np.int64]
    unit: Fraction
    unsplit: Fraction


@dataclass(frozen=True)
class GridPrices:
    """A cost sheet in integer steps of ``unit``.

    Parameters
    ----------
    own : ndarray of int64, shape (n_features,)
        Own costs.
    shared : ndarray of int64, shape (n_groups,)
        Shared costs of groups.
    test : int
        The cost of one test.
    unit : Fraction
        The size of a step.
    """

    own: NDArray[np.int64]
    shared: NDArray[np.int64]
    test: int
    unit: Fraction


def holds_class_weights(forest: Forest) -> bool:
    """Return whether the values of a forest are the class weights of its training rows.

    Those of an imported forest are not.
    """
    counts = forest.value
    weight = row_sums(counts)
    if (counts < 0).any():
        return False
    if (forest.feature < 0).all():  # so there is no split that could gain anything
        return True
    return bool((weight > 0).all() and np.allclose(weight, forest.cover, rtol=1e-6, atol=0))


def bag_gains(forest: Forest, risk: Risk, error_costs: Floats | None = None) -> Gains:
    """Return the gains on the training rows of the trees, from the class weights that the trees hold.

    The risk of a tree is the sum over its leaves of ``weight * impurity``, over the weight of its root; the
    risk of the forest is the mean over trees. For "error" the impurity is the share of all classes but the
    largest; with error costs it is the expected cost of the label for which that is the least.

    Raises
    ------
    ValueError
        If the values are not class weights, as in an imported forest.
    """
    if not holds_class_weights(forest):
        raise ValueError(
            f"risk={risk!r} needs the class weights of the training rows, which an imported forest does not "
            "hold; use risk='error'"
        )
    counts = forest.value
    weight = row_sums(counts)
    # What the rows of a node cost by label: without error costs, all but those of the label cost 1.
    by_label = weight[:, np.newaxis] - counts if error_costs is None else counts @ error_costs
    mass = by_label.min(axis=1) if risk == "error" else _mass(counts, weight, risk)
    starts = forest.tree_starts()
    inner = np.flatnonzero(forest.feature >= 0)
    left, right = (starts[inner] + child[inner] for child in (forest.left, forest.right))
    # Rows whose value is missing stop at the node, whether or not it stays split.
    stopped = np.maximum(counts[inner] - counts[left] - counts[right], 0.0)
    staying = np.zeros(len(inner))
    if risk == "error":
        label = by_label[inner].argmin(axis=1)
        prices = 1.0 - np.eye(forest.width) if error_costs is None else error_costs
        staying = row_sums(stopped * prices.T[label])
    gain = np.zeros(forest.n_nodes)
    # e_h - e_left - e_right in terms of the node errors of section 4.2, less the errors of the rows that stop
    # at h in any case: they stop there with or without the split.
    gain[inner] = mass[inner] - mass[left] - mass[right] - staying
    roots = forest.offsets[:-1]
    total = weight[roots]
    whole = (counts == np.floor(counts)).all() and float(total.sum()) < 2.0**53
    # Without weights, errors are counts of rows and need no rounding. The trees must have drawn equally many,
    # or a row would count differently in each.
    if risk == "error" and error_costs is None and whole and (total == total[0]).all():
        unit = Fraction(1, int(total[0]) * forest.n_trees)
        return Gains(gain.astype(np.int64), unit, int(mass[roots].sum()) * unit)
    shares = (Fraction(float(m)) / Fraction(float(t)) for m, t in zip(mass[roots], total, strict=True))
    return _on_grid(gain / weight[starts], sum(shares, start=Fraction(0)), forest.n_trees)


def row_gains(
    predictor: Predictor,
    values: NDArray[np.floating],
    codes: NDArray[np.int64],
    error_costs: Floats | None = None,
) -> Gains:
    """Return the gains on separate rows.

    A tree is wrong on a row if the largest score of its node is not that of the row's class; with error costs
    its label is the one of the least expected cost.

    Parameters
    ----------
    predictor : Predictor
        The trees.
    values : ndarray of float, shape (n_rows, n_features)
        The encoded rows.
    codes : ndarray of int64, shape (n_rows,)
        Their classes, as positions in ``classes_``; -1 for a label that is not a class.
    """
    if error_costs is not None:
        return _row_costs(predictor, values, codes, error_costs)
    forest = predictor.forest
    label = forest.target.repeat(np.diff(forest.offsets)) + predictor.dense_scores.argmax(axis=1)
    passing, staying = node_errors(predictor.core, plain(values), codes, label)
    starts = forest.tree_starts()
    inner = np.flatnonzero(forest.feature >= 0)
    steps = np.zeros(forest.n_nodes, dtype=np.int64)
    left, right = (starts[inner] + child[inner] for child in (forest.left, forest.right))
    # As in `bag_gains`: rows that stay at the node do so with or without the split.
    steps[inner] = passing[inner] - staying[inner] - passing[left] - passing[right]
    unit = Fraction(1, len(values) * forest.n_trees)
    return Gains(steps, unit, int(passing[forest.offsets[:-1]].sum()) * unit)


def _row_costs(
    predictor: Predictor, values: NDArray[np.floating], codes: NDArray[np.int64], error_costs: Floats
) -> Gains:
    """Return the gains on separate rows in terms of error costs."""
    forest = predictor.forest
    label = (predictor.dense_scores @ error_costs).argmin(axis=1)
    passing, staying = np.zeros(forest.n_nodes), np.zeros(forest.n_nodes)
    # A label that is no class costs as much as the most expensive error.
    prices = np.vstack([error_costs, np.full(forest.width, error_costs.max())])
    no_label = np.full(forest.n_nodes, -2, dtype=np.int64)
    for code in range(-1, forest.width):
        of_class = codes == code
        if of_class.any():
            # With a label that no row has, all rows that pass a node are errors there: their number.
            found = node_errors(predictor.core, plain(values[of_class]), codes[of_class], no_label)
            passing += found[0] * prices[code][label]
            staying += found[1] * prices[code][label]
    inner = np.flatnonzero(forest.feature >= 0)
    starts = forest.tree_starts()
    left, right = (starts[inner] + child[inner] for child in (forest.left, forest.right))
    gain = np.zeros(forest.n_nodes)
    gain[inner] = (passing[inner] - staying[inner] - passing[left] - passing[right]) / len(values)
    unsplit = Fraction(float(passing[forest.offsets[:-1]].sum() / len(values)))
    return _on_grid(gain, unsplit, forest.n_trees)


def _on_grid(share: Floats, unsplit: Fraction, n_trees: int) -> Gains:
    """Round gains to the finest grid on which their sums are exact; the root errors stay as they are."""
    # Absolute values: gains may be negative, and no partial sum may leave the exact range.
    bits = _bits(float(np.abs(share).sum()), _SUM_BITS)
    steps = np.rint(np.ldexp(share, bits)).astype(np.int64)
    return Gains(steps, Fraction(2) ** -bits / n_trees, unsplit / n_trees)


def grid_prices(sheet: CostSheet, test: float, n_rows: int, n_tests: int) -> GridPrices:
    """Convert prices to integers: in decimal steps if at most nine decimals suffice, else in powers of two.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    test : float
        The cost of one test.
    n_rows, n_tests : int
        Maximum number of purchases of a feature, and of tests; no sum over them may overflow.
    """
    prices = [*sheet.own.tolist(), *sheet.shared.tolist(), float(test)]
    # The largest sum that can occur: every row buys every feature and takes every test.
    total = n_rows * (sum(prices) - prices[-1]) + n_tests * prices[-1]
    factor = next(
        (
            Fraction(10) ** decimals
            for decimals in range(MOST_DECIMALS + 1)
            # A price counts as exact if it is the float nearest to a decimal of that length, as 0.1 is.
            if total * 10**decimals < 2.0**_EXACT_BITS
            and all(round(price * 10**decimals) / 10**decimals == price for price in prices)
        ),
        Fraction(2) ** _bits(total, _SUM_BITS),
    )
    steps: list[Any] = [round(Fraction(price) * factor) for price in prices]
    n_own = len(sheet.own)
    own, shared = (np.array(part, dtype=np.int64) for part in (steps[:n_own], steps[n_own:-1]))
    return GridPrices(own, shared, steps[-1], 1 / factor)


def _mass(counts: NDArray[np.float64], weight: NDArray[np.float64], risk: Risk) -> NDArray[np.float64]:
    """Return weight times impurity of each node, shape (n_nodes,)."""
    if risk == "gini":
        return weight - row_sums(counts**2) / weight
    if risk == "entropy":
        share = counts / weight[:, np.newaxis]
        terms = np.zeros_like(counts)
        np.log(share, out=terms, where=share > 0)
        return -row_sums(counts * terms)
    raise ValueError(f"risk must be 'error', 'gini' or 'entropy'; got {risk!r}")


def _bits(total: float, most: int) -> int:
    """Return the largest b with total * 2**b below 2**most; 0 for a total of zero."""
    if total == 0:
        return 0
    # frexp returns the least e with total < 2**e.
    return int(most - np.frexp(total)[1])
