"""The settings of the miser that a sweep tries by default."""

from __future__ import annotations

from typing import Any, Final

# Of the mean price of a feature against the whole initial loss. At the last, a feature of that price has to
# take away a fifth of the loss in the tree that buys it, so hardly any but cheap ones are bought.
_TRADEOFFS: Final = (0.0, 0.0006, 0.002, 0.006, 0.02, 0.06, 0.2)


def tradeoffs(ground: Any) -> list[float]:
    """Return trade-offs relative to the initial loss, in the unit of a price list's mean.

    Parameters
    ----------
    ground : farthing.frontier.candidates.Ground
        The table; its ``costs`` are the price list. The unit of its prices changes nothing.

    Returns
    -------
    list of float
    """
    names = ground.costs.features
    mean = ground.costs.total(names) / max(1, len(names))
    return [share / mean if mean else share for share in _TRADEOFFS]


def miser_grid(ground: Any) -> dict[str, list[Any]]:
    """Return the grid: trade-offs that suit the price list, for both ways to charge."""
    return {
        "tradeoff": tradeoffs(ground),
        "relative": [True],
        "charge": ["model", "row"],
        "n_estimators": [100],
    }
