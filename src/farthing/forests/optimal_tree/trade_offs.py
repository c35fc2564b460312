"""All optimal trees of a problem on the lower hull of spend and risk, from a few exact searches."""

from __future__ import annotations

import math
import time
from typing import Final

from farthing.forests.optimal_tree.tree_problem import OptimalTree, TreeProblem

# A tree below the line between two others by less than this share of it is on the line.
_SAME: Final = 1e-12


def lower_hull(problem: TreeProblem, least_tradeoff: float, end: float = math.inf) -> list[OptimalTree]:
    """Return the optimal trees of all trade-offs from one on, the cheapest last.

    For two trees of the hull, the trade-off at which both have the same objective either has a better tree,
    which lies between them, or none, and they are neighbours: each search finds a tree or closes a gap.

    Parameters
    ----------
    problem : TreeProblem
        The rows and prices.
    least_tradeoff : float
        The lowest trade-off.
    end : float
        When to stop, in seconds of ``time.monotonic``; the trees between those found are then left out.

    Returns
    -------
    list of OptimalTree
        Mean spend strictly descends and the mean risk, penalties included, strictly ascends.
    """

    def solve(tradeoff: float, budget: float | None = None) -> OptimalTree:
        return problem.solve(tradeoff, budget, end - time.monotonic())

    first, last = solve(least_tradeoff), solve(0.0, 0.0)
    if not _cheaper(last, first):
        return [first]
    found, pairs = [first, last], [(first, last)]
    while pairs and time.monotonic() < end:
        dear, cheap = pairs.pop()
        tradeoff = (_risk(cheap) - _risk(dear)) / (dear.spend - cheap.spend)
        if tradeoff <= least_tradeoff:
            continue
        tree = solve(tradeoff)
        line = _risk(dear) + tradeoff * dear.spend
        # With guessed bounds a tree need not be the best, and one that is not between the two ends no search.
        between = cheap.spend < tree.spend < dear.spend
        if between and _risk(tree) + tradeoff * tree.spend < line * (1 - _SAME):
            found.append(tree)
            pairs += [(dear, tree), (tree, cheap)]
    kept: list[OptimalTree] = []
    for tree in sorted(found, key=lambda tree: (tree.spend, _risk(tree))):
        # A tree that spends more must have a lower risk, else it is only one of several best.
        if not kept or _risk(tree) < _risk(kept[-1]):
            kept.append(tree)
    return kept[::-1]


def _risk(tree: OptimalTree) -> float:
    return tree.risk + tree.penalty


def _cheaper(one: OptimalTree, other: OptimalTree) -> bool:
    return one.spend < other.spend * (1 - _SAME)
