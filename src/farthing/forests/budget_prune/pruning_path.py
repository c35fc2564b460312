"""A nested path of prunings: the cost and error of each, and the models themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import Frontier, Point
from farthing.base.inputs import check_cap
from farthing.costs import spending_limit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class PruningPath(Frontier):
    """Prunings of one forest, from the largest to the smallest, each nested in the one before.

    Made by `prune_path`, `cost_complexity_path` and `greedy_feature_path`. Point ``j`` is the best pruning
    for the trade-offs of ``[tradeoffs[j], tradeoffs[j + 1])``, the last one for all above. Its ``spend`` and
    ``score`` are the mean cost and the accuracy on the rows of ``X``, its ``model`` is the pruned estimator,
    built when it is asked for, and its ``details`` hold n_leaves, path_length, objective_error and
    forest_error. The path measures means only, so ``max_spend`` is NaN.

    Parameters
    ----------
    points, failures, score_name, unit, full_cost, n_skipped, reference
        As in `Frontier`.
    drop : ndarray of int64, shape (n_nodes,)
        For each inner node, the first pruning in which it is no longer split.
    measure : callable
        From a table and its labels to the mean cost and the error of each pruning.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.forests import BudgetTreeClassifier, prune_path
    >>> heart = load_heart_disease()
    >>> tree = BudgetTreeClassifier(costs=heart.costs, max_depth=4).fit(heart.X[::2], heart.y[::2])
    >>> path = prune_path(tree, heart.X[1::2], heart.y[1::2])
    >>> bool((path.tradeoffs[1:] >= path.tradeoffs[:-1]).all()), bool(path.costs[0] > path.costs[-1])
    (True, True)
    >>> path.within(5).model.forest_.n_trees
    1
    """

    drop: NDArray[np.int64] = field(kw_only=True, repr=False)
    measure: Callable[[Any, Any], tuple[NDArray[np.float64], NDArray[np.float64]]] = field(
        kw_only=True, repr=False
    )

    @cached_property
    def tradeoffs(self) -> NDArray[np.float64]:
        """The trade-off from which each pruning is the best, ascending from 0, shape (n_prunings,).

        The first pruning is the largest optimum at 0. If some of its splits gain nothing but cost something,
        the second trade-off is 0 as well, and its pruning is the best just above 0.
        """
        return np.array([point.params["tradeoff"] for point in self.points])

    @cached_property
    def costs(self) -> NDArray[np.float64]:
        """Mean spend of the rows of ``X``, in the unit of the sheet, descending, shape (n_prunings,)."""
        return np.array([point.spend for point in self.points])

    @cached_property
    def objective_errors(self) -> NDArray[np.float64]:
        """Mean over the trees of each tree's own error, which is traded for cost, shape (n_prunings,)."""
        return self._details("objective_error")

    @cached_property
    def forest_errors(self) -> NDArray[np.float64]:
        """Share of the rows of ``X`` that the forest misclassifies, shape (n_prunings,)."""
        return self._details("forest_error")

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of all trees, shape (n_prunings,)."""
        return self._details("n_leaves").astype(np.int64)

    @cached_property
    def path_lengths(self) -> NDArray[np.float64]:
        """Mean number of tests per row of ``X``, over all trees, shape (n_prunings,)."""
        return self._details("path_length")

    def _details(self, name: str) -> NDArray[np.float64]:
        return np.array([point.details[name] for point in self.points], dtype=np.float64)

    def kept(self, entry: int) -> NDArray[np.bool_]:
        """Return whether each node of the forest stays split in a pruning, shape (n_nodes,).

        Parameters
        ----------
        entry : int
            Position of the pruning; a negative one counts from the end.
        """
        # `drop` counts the prunings of the whole path; a selection of its points keeps their numbers.
        return self.drop > self.points[entry].details["number"]

    def index(self, tradeoff: float) -> int:
        """Return the position of the best pruning at a trade-off."""
        rate = float(tradeoff)
        if not rate >= 0:
            raise ValueError(f"the trade-off must be zero or more; got {tradeoff!r}")
        if rate == 0:
            # The second trade-off may be 0, too, but its pruning is the best only above 0.
            return 0
        return int(np.searchsorted(self.tradeoffs, rate, side="right")) - 1

    def at(self, tradeoff: float) -> Point:
        """Return the best pruning at a trade-off.

        Parameters
        ----------
        tradeoff : float
            The value of a unit of cost in units of error.

        Returns
        -------
        Point
            Its ``model`` is an estimator of the same class as the one pruned.
        """
        return self.points[self.index(tradeoff)]

    def within(self, budget: float, *, hard: bool = False) -> Point | None:
        """Return the largest pruning whose mean spend on the rows of ``X`` is within a budget.

        The objective error decreases with the size, so it is also the one with the least objective error; the
        accuracy of the forest on ``X`` does not affect the choice.

        Parameters
        ----------
        budget : float
            Limit on the mean spend.
        hard : bool
            Not available: the path measures means only.

        Returns
        -------
        Point or None
            None if even the smallest pruning costs more.
        """
        if hard:
            raise ValueError("a pruning path measures mean costs only; give predict() a budget to cap rows")
        cap = check_cap(budget)
        limit = spending_limit(cap)
        # Points are in the order of descending cost, so the first that fits is the largest pruning.
        return next((point for point in self.points if point.spend <= limit), None)

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
        costs, errors : ndarray of float64, shape (n_prunings,)
            Mean spend, and share of the rows that the forest misclassifies.
        """
        numbers = [int(point.details["number"]) for point in self.points]
        costs, errors = self.measure(X, y)
        return costs[numbers], errors[numbers]

    def plot(self, axes: Axes | None = None, *, label: str | None = None) -> Axes:
        """Draw the forest's error on the rows of ``X`` against their mean cost; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; None makes a new figure.
        label : str, optional
            Name of the line in the legend.

        Returns
        -------
        matplotlib Axes
        """
        if axes is None:
            try:
                from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
            except ImportError as error:
                raise ImportError("plot needs matplotlib: pip install farthing[report]") from error
            axes = Figure(figsize=(6, 4), layout="constrained").subplots()
        # A budget between two costs buys the cheaper pruning, hence steps; costs descend.
        axes.plot(self.costs, self.forest_errors, drawstyle="steps-pre", label=label)
        axes.set_xlabel(f"mean cost ({self.unit})" if self.unit else "mean cost")
        axes.set_ylabel("error")
        return axes

    def __repr__(self) -> str:
        return (
            f"PruningPath({len(self)} prunings, mean cost {self.costs[0]:.6g} to {self.costs[-1]:.6g}, "
            f"{self.n_leaves[0]} to {self.n_leaves[-1]} leaves)"
        )
