"""The fitted early exit for documents: which documents of a query continue after an exit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.base import RegressorModel
from farthing.cascades.early_exit.model import Descent, EarlyExitModel
from farthing.walks import ForestPolicy, Policy


@dataclass(frozen=True, eq=False, kw_only=True)
class EarlyExitRankerModel(EarlyExitModel, RegressorModel):
    """Boosted trees that a document leaves once it is too far behind the best of its query.

    Parameters
    ----------
    margin : float
        How far a document may be behind at the first exit, in units of the score.
    k : int
        Rank of the document that the others are compared with.
    """

    margin: float
    k: int

    def policy(self, seed: int | None = None) -> Policy:  # noqa: ARG002 - trees are not stochastic
        """Return the policy of a query of one document, which never leaves."""
        return ForestPolicy.of(self.inner.predictor)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,  # noqa: ARG002
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Score the documents of one query; see `FittedModel.outputs`."""
        outputs, acquired, _ = self.rank(values, budget, np.zeros(len(values), dtype=np.int64), n_threads)
        return outputs, acquired

    def rank(
        self,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        query: NDArray[np.int64],
        n_threads: int = 1,
    ) -> Descent:
        """Score the documents of many queries, given the query of each row, shape (n_rows,)."""

        def stays(
            number: int, of: int, outputs: NDArray[np.float64], rows: NDArray[np.int64]
        ) -> NDArray[np.bool_]:
            kept = np.ones(len(rows), dtype=np.bool_)
            # Rows of a query need not be adjacent.
            order = np.argsort(query[rows], kind="stable")
            bounds = np.flatnonzero(np.diff(query[rows][order])) + 1
            for documents in np.split(order, bounds):
                kept[documents] = self.keeps(number, of, outputs[documents])
            return kept

        return self.descend(values, budget, stays, n_threads)

    def keeps(self, number: int, of: int, outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which documents of one query continue after an exit, shape (n_documents,).

        Parameters
        ----------
        number, of : int
            The number of the exit, from 1, and of all exits.
        outputs : ndarray of float64, shape (n_documents, n_outputs)
            Raw outputs of the documents that are left.
        """
        scores = self.conclude(outputs)
        if len(scores) <= self.k:
            return np.ones(len(scores), dtype=np.bool_)
        # The proximity threshold of Xu et al. (section 6): at exit i of n, a score at least margin (n - i) /
        # (n - 1) below the k-th best leaves; the paper has k = 5. It tightens from exit to exit.
        last = np.partition(scores, -self.k)[-self.k]
        behind = scores <= last - self.margin * (of - number) / (of - 1)
        # With a margin of zero, those that are level with the k-th best stay.
        return np.asarray(~(behind & (scores < last)))

    def check(self) -> None:
        """Raise ValueError if the exits do not fit the boosted model."""
        super().check()
        if not isinstance(self.inner, RegressorModel):
            raise TypeError(f"a {type(self.model).__name__} is not a regressor or a ranker")
        if not 0 <= self.margin < np.inf:
            raise ValueError(f"margin must be zero or more, and finite; got {self.margin!r}")
        if self.k < 1:
            raise ValueError(f"k must be at least 1; got {self.k}")
