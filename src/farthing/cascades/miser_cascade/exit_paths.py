"""The exits of every mean budget, from what held-out rows have at each set of features, at some prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.miser_cascade.model import stages_of
from farthing.cascades.miser_cascade.staged_model import owned_by_stage
from farthing.costs import CostSheet
from farthing.learning.exits import ExitPath, Exits
from farthing.typing import Floats

# Held-out rows that a model keeps, to set its exits at other prices.
_MOST_KEPT: Final = 4000


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """What held-out rows have at each set of features; no value of a feature is among it.

    Parameters
    ----------
    risks, errors : ndarray of float64, shape (n_sets, n_rows)
        The risks, which thresholds are compared with, and the errors of stopping there.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    price : float or None
        The largest price of an error, if errors have prices.
    """

    risks: Floats
    errors: Floats
    weights: Floats
    price: float | None = None

    def exit_path(
        self,
        costs: CostSheet,
        sets: NDArray[np.bool_],
        chains: NDArray[np.int64],
        exits_type: type[Exits] = Exits,
    ) -> dict[str, Any]:
        """Set the exits of all mean budgets; return the fields of the model that hold them.

        Parameters
        ----------
        costs : CostSheet
            The prices.
        sets : ndarray of bool, shape (n_sets, n_features)
            The features of each set.
        chains : ndarray of int64, shape (n_chains, n_stages)
            The sets of each chain, -1 after its end.
        exits_type : type of Exits
            Sets the thresholds of a chain.
        """
        # Only if errors have a price: exits of another type need not know of it.
        priced = {} if self.price is None else {"price": self.price}
        exits = []
        for chain in map(stages_of, chains):
            # A stage costs all that a row owns by then, shared costs charged once, so that the exits are set
            # by the same account as predictions.
            totals = costs.total_rows(owned_by_stage(sets, chain))
            exits.append(exits_type(totals, self.risks[chain], self.errors[chain], self.weights, **priced))
        path = ExitPath.of(exits)
        return {
            "path_spend": path.spend,
            "path_risk": path.risk,
            "path_chain": path.chain,
            "path_thresholds": path.thresholds,
        }

    def kept(self) -> dict[str, Floats]:
        """Return the fields of a model that keep them; of many rows, a part drawn at random."""
        n_rows = len(self.weights)
        rows = np.arange(n_rows)
        if n_rows > _MOST_KEPT:
            rows = np.sort(np.random.default_rng(0).permutation(n_rows)[:_MOST_KEPT])
        return {
            "held_risks": np.ascontiguousarray(self.risks[:, rows]),
            "held_errors": np.ascontiguousarray(self.errors[:, rows]),
            "held_weights": self.weights[rows],
        }
