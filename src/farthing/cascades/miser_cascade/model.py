"""The fitted miser cascade: the stages of its budget, and the path of all other budgets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetKind
from farthing.cascades.miser_cascade.finer_exits import FinerExit, HeldOutChain, finer_exits
from farthing.cascades.miser_cascade.staged_model import StagedModel, check_chain
from farthing.costs import spending_limit
from farthing.learning.exits import ALWAYS, NEVER
from farthing.typing import Floats

# Points of the path above a budget whose thresholds are raised to meet it.
_RAISED: Final = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class MiserCascadeModel(StagedModel):
    """A staged model with the exits of every mean budget.

    Parameters
    ----------
    chains : ndarray of int64, shape (n_chains, n_stages)
        The sets of each chain, in the order of its stages; -1 after the end of a short one.
    set_risks : ndarray of float64, shape (n_sets,)
        Mean risk of held-out rows if all of them stop there.
    path_spend, path_risk : ndarray of float64, shape (n_points,)
        Mean spend, ascending, and mean risk of held-out rows, for every point of the path.
    path_chain : ndarray of int64, shape (n_points,)
        The chain of each point.
    path_thresholds : ndarray of float64, shape (n_points, n_stages)
        The thresholds of each point.
    """

    chains: NDArray[np.int64]
    set_risks: Floats
    path_spend: Floats
    path_risk: Floats
    path_chain: NDArray[np.int64]
    path_thresholds: Floats

    def at(self, cap: float | None, budget_kind: BudgetKind) -> Self:
        """Return the model of another budget, with its chain and thresholds; None means no limit."""
        limit = spending_limit(cap)
        if budget_kind == "hard":
            number = self._best_chain(limit)
            # No row stops by its risk; each goes on as long as it can pay.
            thresholds = np.full(self.chains.shape[1], NEVER)
        else:
            # The best within the mean budget; the cheapest if there is none.
            point = self.path_point(cap)
            number, thresholds = int(self.path_chain[point]), self.path_thresholds[point]
        chain = stages_of(self.chains[number])
        return replace(
            self,
            budget=cap if budget_kind == "hard" else None,
            chain=chain,
            thresholds=np.append(thresholds[: len(chain) - 1], ALWAYS),
        )

    def path_point(self, cap: float | None) -> int:
        """Return the place on the path of the model of a mean budget; None means no limit."""
        return max(0, int(np.searchsorted(self.path_spend, spending_limit(cap), side="right")) - 1)

    def near(self, limit: float) -> Self:
        """Return the model that spends at most a limit on held-out rows, and errs least on them.

        Beside the points of the path there are those between them, see `finer_exits`. A model whose file
        holds no scores of held-out rows has the points of the path only.
        """
        cap = spending_limit(limit)
        below = self.path_point(limit)
        coarse = self.at(limit, "mean")
        if self._held_out is None:
            return coarse
        chain = self._held_out[int(self.path_chain[below])]
        least = chain.spend_and_error(coarse.thresholds)[1]
        points = range(below + 1, min(below + 1 + _RAISED, len(self.path_spend)))
        below_them = (one for point in points for one in self._between(point))
        settings = [one for one in below_them if one.spend <= cap and one.error < least]
        if not settings:
            return coarse
        best = min(settings, key=lambda one: one.error)
        chosen = stages_of(self.chains[self.path_chain[best.point]])
        return replace(coarse, chain=chosen, thresholds=best.thresholds)

    def _between(self, point: int) -> list[FinerExit]:
        """Return the settings below a point of the path; they are made once."""
        assert self._held_out is not None
        if point not in self._finer:
            rows = self._held_out[int(self.path_chain[point])]
            self._finer[point] = finer_exits(rows, point, self.path_thresholds[point])
        return self._finer[point]

    @cached_property
    def _finer(self) -> dict[int, list[FinerExit]]:
        return {}

    @cached_property
    def _held_out(self) -> dict[int, HeldOutChain] | None:
        """The held-out rows on each chain of the path, by its number; None if none are kept."""
        if self.held_risks is None or self.held_errors is None or self.held_weights is None:
            return None
        return {
            number: HeldOutChain(totals, self.held_risks[chain], self.held_errors[chain], self.held_weights)
            for number, (chain, totals) in enumerate(self._chain_costs)
        }

    def _best_chain(self, limit: float) -> int:
        """Return the chain whose last stage within a hard budget has the least risk, the first of ties."""
        # The first set costs nothing, so at least one stage is always affordable.
        last = [chain[costs <= limit][-1] for chain, costs in self._chain_costs]
        return int(np.argmin(self.set_risks[last]))

    @cached_property
    def _chain_costs(self) -> list[tuple[NDArray[np.int64], Floats]]:
        """The sets of each chain, and what a row has paid in total at each of its stages."""
        chains = [stages_of(row) for row in self.chains]
        return [(chain, self.costs.total_rows(self.owned(chain))) for chain in chains]

    def max_spend(self, point: int) -> float:
        """Return the most that a row can spend at a point of the path."""
        chain = stages_of(self.chains[self.path_chain[point]])
        thresholds = np.append(self.path_thresholds[point, : len(chain) - 1], ALWAYS)
        # No row passes the first stage where all rows stop.
        last = int(np.argmax(thresholds == ALWAYS))
        return float(self.costs.total(self.owned(chain)[last]))

    def check(self) -> None:
        """Raise ValueError if the path and the chains do not fit together."""
        super().check()
        n_sets, n_points, n_stages = len(self.ends), len(self.path_spend), self.chains.shape[-1]
        self.check_arrays(
            {
                "chains": (np.int64, (len(self.chains), n_stages)),
                "set_risks": (np.float64, (n_sets,)),
                "path_spend": (np.float64, (n_points,)),
                "path_risk": (np.float64, (n_points,)),
                "path_chain": (np.int64, (n_points,)),
                "path_thresholds": (np.float64, (n_points, n_stages)),
            }
        )
        if not n_points or (np.diff(self.path_spend) < 0).any():
            raise ValueError("path_spend must ascend")
        if not ((self.path_chain >= 0) & (self.path_chain < len(self.chains))).all():
            raise ValueError("path_chain must hold numbers of chains")
        for chain in self.chains:
            check_chain(chain, n_sets)


def stages_of(chain: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sets of a chain without the -1 after its end.

    Examples
    --------
    >>> stages_of(np.array([0, 4, 2, -1]))
    array([0, 4, 2])
    """
    return chain[chain >= 0]
