"""The settings of the miser that a sweep tries by default."""

from __future__ import annotations

from typing import Any, Final

# Of a whole price list against the whole initial loss.
_TRADEOFFS: Final = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def tradeoffs(ground: Any) -> list[float]:
    """Return trade-offs relative to the initial loss, in the unit of a price list.

    Parameters
    ----------
    ground : farthing.frontier.candidates.Ground
        The table; its ``costs`` are the price list. The unit of its prices changes nothing.

    Returns
    -------
    list of float
    """
    whole = ground.costs.total(ground.costs.features)
    return [share / whole if whole else share for share in _TRADEOFFS]


def miser_grid(ground: Any) -> dict[str, list[Any]]:
    """Return the grid: trade-offs that suit the price list, for both ways to charge."""
    return {
        "tradeoff": tradeoffs(ground),
        "relative": [True],
        "charge": ["model", "row"],
        "n_trees": [100],
    }
