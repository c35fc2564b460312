"""The fitted early exit for documents: which documents of a query continue after an exit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import RegressorModel
from farthing.cascades.early_exit.model import EarlyExitModel
from farthing.costs import RowLedger
from farthing.walks import ForestPolicy, Policy, RowWalk, walk_to_end


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

    no_plan: ClassVar[str] = "whether a document leaves depends on the other documents of its query"

    def policy(self, seed: int | None = None) -> Policy:  # trees are not stochastic
        """Return the policy of a query of one document, which never leaves."""
        return WholeQueryPolicy(self) if self.costs.calls else ForestPolicy.of(self.inner.predictor)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Score the documents of one query; see `FittedModel.outputs`."""
        return self.rank(values, budget, np.zeros(len(values), dtype=np.int64), n_threads)

    def outputs_refused(
        self,
        values: NDArray[np.floating],
        refused: NDArray[np.bool_],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Score the documents of one query, some of whose entries are refused."""
        query = np.zeros(len(values), dtype=np.int64)
        return self.rank(values, budget, query, n_threads, refused)

    def rank(
        self,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        query: NDArray[np.int64],
        n_threads: int = 1,
        refused: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Score the documents of many queries, given the query of each row, shape (n_rows,).

        ``refused``, shape (n_rows, n_features), are the entries that are not available.
        """

        def stays(
            number: int, of: int, outputs: NDArray[np.float64], rows: NDArray[np.int64]
        ) -> NDArray[np.bool_]:
            kept = np.ones(len(rows), dtype=np.bool_)
            for documents in _by_query(query[rows]):
                kept[documents] = self.keeps(number, of, outputs[documents])
            return kept

        if refused is None or not refused.any():
            return self.descend(values, budget, stays, n_threads)
        caps = np.full(len(values), np.inf) if budget is None else budget
        outputs = np.empty((len(values), len(self.prior)))
        acquired = np.zeros((len(values), len(self.costs.features)), dtype=np.bool_)
        for documents in _by_query(query):
            outputs[documents], acquired[documents] = self._walk_query(
                values[documents], refused[documents], caps[documents]
            )
        return outputs, acquired

    def _walk_query(
        self, values: NDArray[np.floating], refused: NDArray[np.bool_], budget: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Score the documents of one query by walks, from exit to exit."""
        policies = [self.trees_policy() for _ in values]
        walks = [
            RowWalk(policy, RowLedger(self.costs, cap))
            for policy, cap in zip(policies, budget.tolist(), strict=True)
        ]
        left = np.arange(len(values))
        for number in range(len(self.exits)):
            if number:
                left = left[[not policies[document].stopped for document in left]]
                if not len(left):
                    break
                outputs = np.stack([walks[document].output() for document in left])
                left = left[self.keeps(number, len(self.exits), outputs)]
            for document in left.tolist():
                policies[document].open(number)
                walks[document].resume()
                walk_to_end(walks[document], values[document], refused[document])
        return (
            np.stack([walk.output() for walk in walks]),
            np.array([walk.ledger.bought for walk in walks], dtype=np.bool_),
        )

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


class WholeQueryPolicy:
    """The walk of a query's only document: it never leaves, unless it cannot pay for the next trees.

    Parameters
    ----------
    model : EarlyExitRankerModel
        The boosted model with its exits.
    """

    def __init__(self, model: EarlyExitRankerModel) -> None:
        self._trees = model.trees_policy()
        self._closed = list(range(1, len(model.exits)))

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column or call of the trees."""
        while (column := self._trees.wants(ledger)) is None and self._closed and not self._trees.stopped:
            self._trees.open(self._closed.pop(0))
        return column

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just asked for."""
        self._trees.hear(column, value)

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._trees.refuse(column)

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the trees so far, shape (n_outputs,)."""
        return self._trees.output()


def _by_query(query: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the rows of each query, which need not be adjacent, in ascending order."""
    order = np.argsort(query, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(query[order])) + 1)
