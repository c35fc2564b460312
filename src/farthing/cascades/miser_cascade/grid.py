"""The settings of the cascade that a sweep tries by default."""

from __future__ import annotations

from typing import Any, Final

from farthing.base import SweepContext

# Below this many rows shallower boosters are often better.
_FEW_ROWS: Final = 1000
# There one of 255 bins would hold a row or two, and the search for splits goes through all of them: with
# fewer bins and longer steps boosters are as accurate and take less time, see docs/results/door_rules.md.
_OF_FEW_ROWS: Final[dict[str, list[Any]]] = {"max_depth": [3], "max_bins": [31], "learning_rate": [0.15]}


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
    """Return the same, with shallower boosters of fewer bins and longer steps for small tables."""
    return {**cascade_grid(context), **(_OF_FEW_ROWS if context.n_rows < _FEW_ROWS else {"max_depth": [4]})}


def cascade_is_preferred(context: SweepContext) -> bool:
    """Return whether the cascade was the best method on tables like this: docs/results/door_rules.md.

    Measured for mean budgets and equal prices of all errors.
    """
    return context.budget_kind == "mean" and context.error_costs is None
