"""Raw outputs of many rows at once, by the walk of each unless a model knows a faster way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.walks import Policy, walk_rows

if TYPE_CHECKING:
    from farthing.base.fitted import FittedModel

#: From a model and the hard budget of each row to raw outputs and what is acquired.
SharedOutputs: TypeAlias = Callable[
    ["FittedModel", NDArray[np.float64] | None], tuple[NDArray[np.float64], NDArray[np.bool_]]
]


class BatchOutputs(ABC):
    """A model that predicts many rows: plainly, with refusals, within caps, by several variants."""

    costs: CostSheet
    prior: NDArray[np.float64]

    @abstractmethod
    def policy(self, seed: int | None = None) -> Policy:
        """Return a fresh policy for one row; a seed of None means the model's own."""

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # walks are sequential
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows, by default each by a walk of its own.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        budget : ndarray of float64, shape (n_rows,), optional
            Hard budget of each row; None means no limit.
        seeds : ndarray of int64, shape (n_rows,), optional
            One seed per row; None means the model's own.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            Raw outputs; see `settle` for rows that acquired nothing.
        acquired : ndarray of bool, shape (n_rows, n_features + n_calls)
            What each row paid for: features, and the calls of the cost sheet, if it has any.
        """
        # The walk is the definition of a prediction. Faster overrides must give the same bits (one truth).
        return walk_rows(self.policy, self.costs, values, len(self.prior), budget=budget, seeds=seeds)

    def outputs_refused(
        self,
        values: NDArray[np.floating],
        refused: NDArray[np.bool_],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows, some of whose entries are refused, as in `outputs`.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        refused : ndarray of bool, shape (n_rows, n_features)
            The entries that are not available; they cost nothing.
        budget, seeds, n_threads
            As in `outputs`.
        """
        outputs = np.empty((len(values), len(self.prior)))
        acquired = np.zeros((len(values), len(self.costs.features)), dtype=np.bool_)
        # A refusal is not merely a missing value: it leaves the budget as it is, and a policy may treat it in
        # a way of its own. So rows with one are walked, and the others are not.
        some = np.asarray(refused.any(axis=1))
        walked, others = np.flatnonzero(some), np.flatnonzero(~some)
        if len(others):
            outputs[others], acquired[others] = self.outputs(
                values[others], budget=_at(budget, others), seeds=_at(seeds, others), n_threads=n_threads
            )
        if len(walked):
            outputs[walked], acquired[walked] = walk_rows(
                self.policy,
                self.costs,
                values[walked],
                len(self.prior),
                budget=_at(budget, walked),
                seeds=_at(seeds, walked),
                refused=refused[walked],
            )
        return outputs, acquired

    def outputs_capped(
        self,
        values: NDArray[np.floating],
        caps: Mapping[str, NDArray[np.float64]],
        refused: NDArray[np.bool_] | None = None,
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # walks are sequential
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows within caps of further resources, each by a walk of its own.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        caps : mapping of str to ndarray of float64, shape (n_rows,)
            What each row may take of a resource.
        refused, budget, seeds, n_threads
            As in `outputs_refused`.
        """
        return walk_rows(
            self.policy,
            self.costs,
            values,
            len(self.prior),
            budget=budget,
            seeds=seeds,
            refused=refused,
            caps=caps,
            answer_of=self.answer_of,
        )

    def outputs_of_variants(
        self,
        variants: Sequence[FittedModel],
        values: NDArray[np.floating],
        *,
        budgets: Sequence[NDArray[np.float64] | None],
        n_threads: int = 1,
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
        """Predict the same rows by other models of the same fit, by default one after another.

        Models that share trees or stages override this, so that a row passes these once for all variants.

        Parameters
        ----------
        variants : sequence of FittedModel
            The models, such as those of `BudgetedEstimator.variants`.
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        budgets : sequence of ndarray of float64, shape (n_rows,), or None
            For each model, the hard budget of each row; None means no limit.
        n_threads : int
            Threads to use; any number gives the same bits.

        Yields
        ------
        outputs, acquired
            For each model, the bits of its own `outputs`.
        """
        for variant, budget in zip(variants, budgets, strict=True):
            yield variant.outputs(values, budget=budget, n_threads=n_threads)

    def shared_outputs(self, values: NDArray[np.floating], *, n_threads: int = 1) -> SharedOutputs | None:
        """Return a function that predicts the same rows by any model of the same fit, moved to any budget.

        Unlike `outputs_of_variants` it need not know the models in advance. Models whose variants share
        stages override this; None means that nothing is shared.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        callable or None
            From a model and the hard budget of each row, or None, to the bits of the model's own `outputs`.
        """
        return None

    def answer_of(self, column: int, entry: float) -> Any:
        """Return what a policy hears for an encoded entry of a table: the entry itself, unless overridden."""
        del column
        return entry


def _at(given: NDArray[Any] | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
    """Return the entries of some rows; None stays None."""
    return None if given is None else given[rows]
