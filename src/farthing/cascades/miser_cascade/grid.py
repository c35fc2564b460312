"""The settings of the cascade that a sweep tries by default."""

from __future__ import annotations

from typing import Any, Final

# Below so many rows shallower boosters are often better, and take no time.
_FEW_ROWS: Final = 1000


def cascade_grid(ground: Any) -> dict[str, list[Any]]:
    """Return one fit, whose variants are the budgets; a hard budget is told at once.

    Parameters
    ----------
    ground : farthing.frontier.candidates.Ground
        The table and the budget.
    """
    if ground.budget_kind == "hard":
        return {"budget_kind": ["hard"], "budget": [ground.budget]}
    return {"budget_kind": ["mean"]}


def cascade_auto(ground: Any) -> dict[str, list[Any]]:
    """Return the same, and for small tables shallower boosters, too."""
    depths = [4, 2, 1] if ground.n_rows < _FEW_ROWS else [4]
    return {**cascade_grid(ground), "max_depth": depths}
