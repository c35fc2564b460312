"""The settings of the cascade that a sweep tries by default."""

from __future__ import annotations

from typing import Any


def cascade_grid(ground: Any) -> dict[str, list[Any]]:
    """Return one fit, whose variants are the budgets; a hard budget is told at once.

    Parameters
    ----------
    ground : farthing.frontier.candidates.Ground
        The table and the budget.
    """
    if ground.kind == "hard":
        return {"kind": ["hard"], "budget": [ground.budget]}
    return {"kind": ["mean"]}
