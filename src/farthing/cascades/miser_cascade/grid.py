"""The settings of the cascade that a sweep tries by default."""

from __future__ import annotations

import math
from typing import Any, Final

from farthing.base import SweepContext

# How the boosters of classes are grown for tables of fewer rows than this; the last is for all larger
# ones. There is no use in 255 bins for a few hundred rows, and the search for splits goes through all of
# them; and a hundred rounds of short steps end before the held-out loss is at its least.
# docs/results/door_rules.md compares the first with the defaults of the method.
_OF_CLASSES: Final[dict[float, dict[str, list[Any]]]] = {
    1000: {"max_depth": [3], "max_bins": [31], "learning_rate": [0.15]},
    4000: {"max_depth": [4], "max_bins": [63], "learning_rate": [0.2]},
    math.inf: {"max_depth": [4], "learning_rate": [0.2]},
}
# Below this many rows shallower boosters of numbers are often better.
_FEW_ROWS: Final = 1000


def cascade_grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return one fit, whose variants are the budgets; a hard budget is part of the fit.

    Parameters
    ----------
    context : SweepContext
        The table and the budget.
    """
    if context.budget_kind == "hard":
        return {"budget_kind": ["hard"], "budget": [context.budget]}
    return {"budget_kind": ["mean"]}


def cascade_auto(context: SweepContext) -> dict[str, list[Any]]:
    """Return the same, with shallower boosters, fewer bins and longer steps for small tables."""
    if context.n_classes is None:
        return {**cascade_grid(context), "max_depth": [3 if context.n_rows < _FEW_ROWS else 4]}
    return {
        **cascade_grid(context),
        **_OF_CLASSES[min(rows for rows in _OF_CLASSES if context.n_rows < rows)],
    }


def cascade_is_preferred(context: SweepContext) -> bool:
    """Return whether the cascade was the best method on tables like this: docs/results/door_rules.md.

    Measured for mean budgets and equal prices of all errors.
    """
    return context.budget_kind == "mean" and context.error_costs is None
