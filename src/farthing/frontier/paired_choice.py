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
3. The least joined difference wins, but for settings that are preferred, those of the method that is best on
   most tables: if the best of these is within `AHEAD` standard errors of the least, it wins. On few rows
   differences are mostly noise, and what did better on other tables is the better guess. One of several
   settings is often ahead by one standard error by chance, hardly ever by two.

More shrinkage towards all budgets was no better on the tables by which the rule was set
(docs/results/door_rules.md): what is best over all budgets is often not what is best at a small one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from farthing.frontier.row_values import Standing, difference

LEAST_WEIGHT: Final = 0.9
"""The least weight of the difference at the budget itself."""

AHEAD: Final = 2.0
"""Standard errors of a paired difference by which a setting must be ahead of one that is preferred."""


@dataclass(frozen=True, eq=False)
class Contender:
    """What is compared of one setting.

    Parameters
    ----------
    standing : Standing
        The values of its rows at the budget.
    overall : float
        Its mean loss over all budgets.
    is_preferred : bool
        Whether it wins unless another is clearly better.
    """

    standing: Standing
    overall: float
    is_preferred: bool = False


def rank(
    contenders: Sequence[Contender], *, least_weight: float = LEAST_WEIGHT, ahead: float = AHEAD
) -> list[int]:
    """Return the places of the contenders, the one to choose first.

    Parameters
    ----------
    contenders : sequence of Contender
        All judged by the same rows.
    least_weight : float
        The least weight of the difference at the budget.
    ahead : float
        Standard errors by which a setting must be ahead of one that is preferred.

    Examples
    --------
    >>> def made(*losses, overall):
    ...     values = np.array(losses, dtype=np.float32)
    ...     rows = np.arange(len(losses))
    ...     return Contender(Standing(-values, values, np.ones(len(values)), rows), *overall)
    >>> rank([made(0.2, 0.4, overall=[0.4]), made(0.1, 0.45, overall=[0.3])])
    [1, 0]
    >>> rank([made(0.2, 0.4, overall=[0.4, True]), made(0.1, 0.45, overall=[0.3])])
    [0, 1]
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
    order = [int(place) for place in np.argsort(joined, kind="stable")]
    best = next((place for place in order if contenders[place].is_preferred), None)
    if best is None:
        return order
    # The best that is preferred goes before all that are not clearly better.
    preferred = contenders[best].standing
    errors = [difference(c.standing.losses, preferred.losses, preferred.weights).error for c in contenders]
    clear = [place for place in order if joined[place] < joined[best] - ahead * errors[place]]
    return [*clear, best, *(place for place in order if place not in clear and place != best)]
