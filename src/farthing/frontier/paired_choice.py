"""The choice among settings at one budget, by differences of their losses on the same rows.

Losses of models on the same rows rise and fall together, so the standard error of a difference is far smaller
than that of a loss; and the loss is far less noisy than the score, such as the accuracy. Still, the best of
several settings on a few hundred rows is partly lucky. So each difference is shrunk a little towards what it
is over all budgets:

1. The reference is the setting of the least mean loss over all budgets.
2. The difference of a setting to the reference at the budget, d with standard error e, and its mean
   difference over all budgets, m, are joined to w d + (1 - w) m, with w = v / (v + e^2). The variance v, by
   which true differences at one budget scatter about m, is estimated from all settings by the method of
   moments. The weight w is at least `LEAST_WEIGHT`.
3. The least joined difference wins.

More shrinkage was no better on the tables by which the rule was set (docs/results/door_rules.md): what is
best over all budgets is often not what is best at a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from farthing.frontier.row_values import Standing, difference

LEAST_WEIGHT: Final = 0.9
"""The least weight of the difference at the budget itself."""


@dataclass(frozen=True, eq=False)
class Contender:
    """What is compared of one setting.

    Parameters
    ----------
    standing : Standing
        The values of its rows at the budget.
    overall : float
        Its mean loss over all budgets.
    """

    standing: Standing
    overall: float


def rank(contenders: Sequence[Contender], *, least_weight: float = LEAST_WEIGHT) -> list[int]:
    """Return the places of the contenders, the one to choose first.

    Parameters
    ----------
    contenders : sequence of Contender
        All judged by the same rows.
    least_weight : float
        The least weight of the difference at the budget.

    Examples
    --------
    >>> def made(*losses, overall):
    ...     values = np.array(losses, dtype=np.float32)
    ...     return Contender(Standing(-values, values, np.ones(len(values)), np.arange(len(values))), overall)
    >>> rank([made(0.2, 0.4, overall=0.4), made(0.1, 0.4, overall=0.3)])
    [1, 0]
    """
    if len(contenders) < 2:
        return list(range(len(contenders)))
    reference = min(range(len(contenders)), key=lambda place: contenders[place].overall)
    base = contenders[reference]
    found = [difference(c.standing.losses, base.standing.losses, base.standing.weights) for c in contenders]
    at_budget = np.array([one.mean for one in found])
    squares = np.array([one.error for one in found]) ** 2
    over_all = np.array([one.overall - base.overall for one in contenders])
    others = np.arange(len(contenders)) != reference
    scatter = max(0.0, float(np.mean((at_budget - over_all)[others] ** 2 - squares[others])))
    total = scatter + squares
    weight = np.divide(scatter, total, out=np.ones_like(total), where=total > 0)
    weight = np.maximum(weight, least_weight)
    joined = weight * at_budget + (1 - weight) * over_all
    return [int(place) for place in np.argsort(joined, kind="stable")]
