"""The choice among settings at one budget, by differences on the same rows.

Scores of models on the same rows rise and fall together, so the standard error of a difference is far smaller
than that of a score. Still, among twenty settings on a few hundred rows the best one at one budget is partly
lucky. So each difference is shrunk towards what the setting is over all budgets:

1. The reference is the setting with the least mean loss over all budgets.
2. The difference of a setting to the reference at the budget, d with standard error e, and its mean
   difference over all budgets, m, are joined to w d + (1 - w) m, with w = v / (v + e^2). The variance v, by
   which true differences at one budget scatter about m, is estimated from all settings by the method of
   moments; it is at least zero, which leaves m alone.
3. The largest joined difference wins; settings within half a standard error of it are told apart by loss.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from farthing.frontier.row_values import Standing, difference
from farthing.typing import Floats

# Joined differences within this many standard errors of the best count as equal to it.
_AS_GOOD: Final = 0.5


@dataclass(frozen=True, eq=False)
class Contender:
    """What is compared of one setting.

    Parameters
    ----------
    standing : Standing
        The values of its rows at the budget.
    overall : tuple of float
        Its mean score and its mean loss over all budgets.
    """

    standing: Standing
    overall: tuple[float, float]


def rank(contenders: Sequence[Contender]) -> list[int]:
    """Return the places of the contenders, the one to choose first.

    Parameters
    ----------
    contenders : sequence of Contender
        All judged by the same rows.
    """
    if len(contenders) < 2:
        return list(range(len(contenders)))
    reference = min(range(len(contenders)), key=lambda place: contenders[place].overall[1])
    base = contenders[reference]
    found = [difference(one.standing.scores, base.standing.scores, base.standing.weights) for one in contenders]
    d = np.array([one.mean for one in found])
    e = np.array([one.error for one in found])
    m = np.array([one.overall[0] - base.overall[0] for one in contenders])
    others = np.arange(len(contenders)) != reference
    scatter = (d - m)[others] ** 2 - e[others] ** 2
    v = max(0.0, float(np.mean(scatter)))
    with np.errstate(invalid="ignore", divide="ignore"):
        w = np.where(e > 0, v / (v + e**2), 1.0)
    joined = w * d + (1 - w) * m
    losses = np.array([np.average(one.standing.losses, weights=one.standing.weights) for one in contenders])
    left = list(range(len(contenders)))
    order: list[int] = []
    while left:
        best = max(left, key=lambda place: (joined[place], -losses[place]))
        slack = _AS_GOOD * (e[best] if e[best] > 0 else _typical(e[left]))
        near = [place for place in left if joined[place] >= joined[best] - slack]
        order.append(min(near, key=lambda place: (losses[place], -joined[place])))
        left.remove(order[-1])
    return order


def _typical(errors: Floats) -> float:
    """Return the median of the positive errors; 0 if there is none."""
    positive = errors[errors > 0]
    return float(np.median(positive)) if len(positive) else 0.0

