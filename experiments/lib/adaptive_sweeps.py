"""The settings that `experiments.papers.nan2018_adaptive` sweeps, by method, size of the study and set."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Thresholds of each gate, besides 0: those that send these shares of the validation rows on.
SHARES = np.round(np.arange(0.05, 1.0, 0.05), 2)


@dataclass(frozen=True)
class Sweep:
    """What is swept; trade-offs of the trees are shares of the loss before the first tree."""

    n_estimators: int = 100
    n_alternations: int = 5
    tradeoffs: tuple[float, ...] = tuple(np.geomspace(3e-4, 3e-2, 6)[[1, 0, 2, 3, 4, 5]])
    p_fulls: tuple[float, ...] = (0.3, 0.1, 0.5, 0.7)
    rates: tuple[float, ...] = (0.3,)
    depths: tuple[int, ...] = (4,)
    # ADAPT-LIN, and the L1 baseline with as many settings: all 16 supports at each strength of its penalty.
    lin_tradeoffs: tuple[float, ...] = tuple(np.geomspace(1e-4, 1e-1, 8))
    lin_p_fulls: tuple[float, ...] = (0.3, 0.6)
    strengths: tuple[float, ...] = (0.1,)
    miser_rates: tuple[float, ...] = tuple(np.geomspace(1e-5, 1.0, 20))  # those of the appendix
    miser_tradeoffs: tuple[float, ...] = (0.0, *np.geomspace(1e-4, 3e-2, 6))
    forest_trees: int = 500  # of the forest that is f0 on letters
    shrink: int = 1  # one row in so many is left of each table


DEFAULT = Sweep()
# The appendix: 500 trees, 30 turns, 10 trade-offs, 9 shares, 9 learning rates; 20 trade-offs for ADAPT-LIN,
# 20 strengths for the baseline, 20 learning rates and 20 trade-offs for the Greedy Miser.
FULL = Sweep(
    500,
    30,
    tuple(np.geomspace(1e-5, 1e-1, 10)),
    tuple(np.linspace(0.1, 0.9, 9)),
    tuple(np.linspace(0.1, 1.0, 9)),
    lin_tradeoffs=tuple(np.geomspace(1e-4, 1.0, 20)),
    lin_p_fulls=tuple(np.linspace(0.1, 0.9, 9)),
    strengths=tuple(np.geomspace(1e-3, 1e1, 20)),
    miser_tradeoffs=(0.0, *np.geomspace(1e-5, 1e-1, 19)),
)
TINY = Sweep(
    n_estimators=2,
    n_alternations=1,
    tradeoffs=(1e-3,),
    p_fulls=(0.3,),
    lin_tradeoffs=(1e-2,),
    lin_p_fulls=(0.3,),
    miser_rates=(0.3,),
    miser_tradeoffs=(0.0, 1e-3),
    forest_trees=4,
    shrink=80,
)


# Where trade-offs are swept on the two sets of figure 5.4, closer to each other than on letters: from the
# number of features that gate and f1 test at the saving of the thesis, by the validation rows.
MINIBOONE: dict[str, Any] = {"tradeoffs": (3e-3, 4e-3, 5e-3, 2e-3, 7e-3, 1e-2)}
COVTYPE: dict[str, Any] = {
    "tradeoffs": (1.3e-3, 1e-3, 1.7e-3, DEFAULT.tradeoffs[0]),
    # A fit takes 20 to 50 times as long as on the other sets.
    "miser_rates": DEFAULT.miser_rates[-4:],
    # More rows support deeper trees, as a sample of 8,000 training and 6,000 validation rows showed.
    "depths": (8,),
}


def adjusted(sweep: Sweep, changes: dict[str, Any]) -> Sweep:
    """Return the default sweep with what differs on a set; other sweeps as they are."""
    return replace(sweep, **changes) if sweep is DEFAULT else sweep


def product(**lists: Iterable[Any]) -> list[dict[str, Any]]:
    """Return all combinations."""
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def tree_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings of ADAPT-GBRT."""
    return product(
        n_estimators=[sweep.n_estimators],
        max_depth=sweep.depths,
        p_full=sweep.p_fulls,
        tradeoff=sweep.tradeoffs,
        learning_rate=sweep.rates,
    )


def line_settings(sweep: Sweep) -> list[dict[str, Any]]:
    """Return the settings of ADAPT-LIN."""
    return product(tradeoff=sweep.lin_tradeoffs, p_full=sweep.lin_p_fulls)


def l1_settings(n_features: int, sweep: Sweep) -> list[dict[str, Any]]:
    """Return the supports of the L1 baseline; its gate moves by its threshold."""
    return product(C=sweep.strengths, n_features=range(1, n_features + 1))
