"""The trade-offs whose policies one fit learns, so that it holds systems of many mean spends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from farthing.cascades.dag.graph import StateGraph
from farthing.cascades.dag.tournament import Rule
from farthing.costs import CostSheet, per_price
from farthing.typing import Floats, Integers

# The smallest of the further trade-offs: buying everything costs this share of what it gains.
_LEAST_SHARE: Final = 0.02
# Probabilities of an error above which a gate by confidence sends a row on: steps of an eighth, so that
# neighbours differ by a few per cent of the rows.
_ERRORS: Final = (0.0, *np.geomspace(0.001, 0.75, 57).round(4).tolist())
NO_GATES: Final = -1
"""The level of gates by confidence where there are none."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Trade-offs, and the points of the path: a trade-off and an offset of the gates each.

    Attributes
    ----------
    tradeoffs : ndarray of float64, shape (n_levels,)
        Ascending; the first is the one asked for. The last level, infinite, buys nothing. Before it there
        may be that of gates by confidence, which have the smallest one above zero, but do not use it.
    point_levels : ndarray of int64, shape (n_points,)
        The level of each point.
    offsets : ndarray of float64, shape (n_points,)
        The offset of each point; the first point of a level has none.
    gates : int
        The level whose policies compare the probability of an error with the offset; `NO_GATES` without.
    """

    tradeoffs: Floats
    point_levels: Integers
    offsets: Floats
    gates: int = NO_GATES

    @classmethod
    def of(
        cls,
        tradeoff: float,
        n_tradeoffs: int,
        gain: float,
        *,
        graph: StateGraph,
        costs: CostSheet,
        rule: Rule,
        gates: bool = False,
    ) -> Levels:
        """Choose trade-offs by the gain of buying everything, and by the prices.

        Parameters
        ----------
        tradeoff : float
            The first trade-off.
        n_tradeoffs : int
            How many others are tried; those below the first are left out.
        gain : float
            How much less a row loses on average in the last state than in the root.
        graph, costs, rule
            What can be bought, the prices, and how policies are learned.
        gates : bool
            Whether there are gates by confidence.
        """
        whole = costs.total(graph.states[-1])
        firsts = graph.prices(0, costs)
        cheapest = float(firsts.min()) if len(firsts) else 0.0
        others: list[float] = []
        if n_tradeoffs and gain > 0 and cheapest > 0:
            # At the largest, the cheapest purchase costs all that can be gained. Factors of one number, so
            # that prices times a power of two give the same bits.
            unit = float(per_price(gain, whole))
            most = float(per_price(whole, cheapest))
            others = (unit * np.geomspace(_LEAST_SHARE, max(1.0, most), n_tradeoffs)).tolist()
        tradeoffs = [tradeoff, *(other for other in others if other > tradeoff), np.inf]
        point_levels, offsets = [], []
        mean = float(np.mean(firsts)) if len(firsts) else 0.0
        for level, one in enumerate(tradeoffs):
            # Without a trade-off everything is bought, and with an infinite one nothing: no gate decides.
            tried = (0.0,) if one in (0.0, np.inf) else rule.offsets(one * mean)
            found = [0.0, *(offset for offset in tried if offset != 0)]
            point_levels += [level] * len(found)
            offsets += found
        number = NO_GATES
        if gates:
            number, small = len(tradeoffs) - 1, tradeoffs[1 if np.isfinite(tradeoffs[1]) else 0]
            tradeoffs.insert(number, small)
            point_levels[-1] += 1
            point_levels[-1:-1] = [number] * len(_ERRORS)
            offsets[-1:-1] = _ERRORS
        return cls(np.array(tradeoffs), np.array(point_levels, dtype=np.int64), np.array(offsets), number)
