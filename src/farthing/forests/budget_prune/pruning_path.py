"""A nested path of prunings: what each costs and gets wrong, and the models themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthing.base.inputs import check_cap

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class PruningPath:
    """Prunings of one forest, from the largest to the smallest, each within the one before.

    Made by `prune_path`, `cost_complexity_path` and `greedy_feature_path`. Entry ``j`` holds for the
    trade-offs of ``[lambdas[j], lambdas[j + 1])``, the last one for all above.

    Parameters
    ----------
    lambdas, costs, objective_errors, forest_errors, n_leaves, path_lengths
        See below.
    drop : ndarray of int64, shape (n_nodes,)
        The entry at which each inner node of the forest is no longer split.
    build : callable
        From flags of the nodes that stay split to a model.
    measure : callable
        From a table and its labels to the mean cost and the error of each entry.

    Attributes
    ----------
    lambdas : ndarray of float64, shape (n_entries,)
        Where each pruning begins to be the best, ascending from 0. The first is the largest optimum at 0; if
        some of its splits gain nothing and yet cost, the second is 0 as well, and holds from just above 0.
    costs : ndarray of float64, shape (n_entries,)
        Mean spend of the rows of ``X``, in the unit of the sheet, descending.
    objective_errors : ndarray of float64, shape (n_entries,)
        Mean over the trees of each tree's own error, which the pruning trades for cost, ascending.
    forest_errors : ndarray of float64, shape (n_entries,)
        Share of the rows of ``X`` that the trees together get wrong, as ``at(lam).predict(X)`` does without a
        cap.
    n_leaves : ndarray of int64, shape (n_entries,)
        Leaves of all trees.
    path_lengths : ndarray of float64, shape (n_entries,)
        Mean number of tests that a row of ``X`` takes, in all trees.
    """

    def __init__(
        self,
        *,
        lambdas: NDArray[np.float64],
        costs: NDArray[np.float64],
        objective_errors: NDArray[np.float64],
        forest_errors: NDArray[np.float64],
        n_leaves: NDArray[np.int64],
        path_lengths: NDArray[np.float64],
        drop: NDArray[np.int64],
        build: Callable[[NDArray[np.bool_]], Any],
        measure: Callable[[Any, Any], tuple[NDArray[np.float64], NDArray[np.float64]]],
        unit: str = "",
    ) -> None:
        self.lambdas = lambdas
        self.costs = costs
        self.objective_errors = objective_errors
        self.forest_errors = forest_errors
        self.n_leaves = n_leaves
        self.path_lengths = path_lengths
        self.unit = unit
        self._drop = drop
        self._build = build
        self._measure = measure

    @property
    def drop(self) -> NDArray[np.int64]:
        """The entry from which on each node of the forest is no longer split, shape (n_nodes,)."""
        return self._drop

    def __len__(self) -> int:
        return len(self.lambdas)

    def __getitem__(self, entry: int) -> Any:
        """Return the model of an entry; a negative one counts from the end."""
        return self._build(self.kept(entry))

    def kept(self, entry: int) -> NDArray[np.bool_]:
        """Say which nodes of the forest stay split in an entry, shape (n_nodes,)."""
        place = range(len(self))[entry]
        return self._drop > place

    def index(self, lam: float) -> int:
        """Return the entry that holds at a trade-off."""
        rate = float(lam)
        if not rate >= 0:
            raise ValueError(f"the trade-off must be zero or more; got {lam!r}")
        if rate == 0:
            return 0
        return int(np.searchsorted(self.lambdas, rate, side="right")) - 1

    def at(self, lam: float) -> Any:
        """Return the model pruned at a trade-off.

        Parameters
        ----------
        lam : float
            What a unit of cost is worth in units of error.

        Returns
        -------
        estimator
            Of the kind that was pruned, and with the whole contract.
        """
        return self[self.index(lam)]

    def within(self, budget: float) -> Any:
        """Return the largest model whose mean spend on the rows of ``X`` is within a budget.

        Raises
        ------
        ValueError
            If even the smallest one costs more.
        """
        cap = check_cap(budget)
        fits = self.costs <= (np.inf if cap is None else cap * (1 + 1e-12))
        if not fits.any():
            raise ValueError(
                f"no pruning costs {budget!r} or less on average; the cheapest costs {self.costs[-1]:.6g}"
            )
        return self[int(np.argmax(fits))]

    def curve(self, X: Any, y: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Measure all prunings on other rows, as ``costs`` and ``forest_errors`` do on those of the pruning.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            The rows.
        y : array, shape (n_rows,)
            Their labels.

        Returns
        -------
        costs, errors : ndarray of float64, shape (n_entries,)
            Mean spend, and share of the rows that the trees together get wrong.
        """
        return self._measure(X, y)

    def plot(self, ax: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw the forest's error on the rows of ``X`` against their mean cost.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to; None makes a figure.
        label : str, optional
            For the legend.

        Returns
        -------
        matplotlib Axes
        """
        if ax is None:
            try:
                from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
            except ImportError as error:
                raise ImportError("plot needs matplotlib: pip install farthing[report]") from error
            ax = Figure(figsize=(6, 4), layout="constrained").subplots()
        # Between two costs a budget buys the cheaper pruning; costs descend.
        ax.plot(self.costs, self.forest_errors, drawstyle="steps-pre", label=label)
        ax.set_xlabel(f"mean cost ({self.unit})" if self.unit else "mean cost")
        ax.set_ylabel("error")
        return ax

    def __repr__(self) -> str:
        return (
            f"PruningPath({len(self)} prunings, mean cost {self.costs[0]:.6g} to {self.costs[-1]:.6g}, "
            f"{self.n_leaves[0]} to {self.n_leaves[-1]} leaves)"
        )
