"""What rankers have in common: their score."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from farthing.base.estimator import BudgetedEstimator
from farthing.metrics import ndcg, query_codes


def query_ids(qid: Any) -> NDArray[np.int64] | None:
    """Return queries as integers from 0; None, a single query of all rows, stays None.

    Examples
    --------
    >>> query_ids(["b", "a", "b"])
    array([1, 0, 1])
    """
    if qid is None:
        return None
    ids = column_or_1d(qid)
    return query_codes(ids, len(ids))


class RankerMixin(BudgetedEstimator):
    """A regressor of grades whose rows are documents of queries; `score` is the mean NDCG."""

    k: int

    def score(self, X: Any, y: Any, qid: Any = None, *, k: int | None = None, budget: Any = None) -> float:
        """Return the mean NDCG@k over the queries, see `farthing.metrics.ndcg`; 1 is the best order.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            One document per row.
        y : array, shape (n_rows,)
            Grades, zero or more; larger is better.
        qid : array, shape (n_rows,), optional
            The query of each document, in any order; None means a single query.
        k : int, optional
            Number of documents that count; None means the ranker's own.
        budget : float or array, shape (n_rows,), optional
            As in `predict`.

        Returns
        -------
        float
        """
        return ndcg(y, self._ranking_scores(X, qid, budget), qid=qid, k=self.k if k is None else k)

    def _ranking_scores(self, X: Any, qid: Any, budget: Any) -> NDArray[np.float64]:  # noqa: ARG002
        """Return the scores of documents, shape (n_rows,); those of a row may depend on its query."""
        return self.predict(X, budget=budget)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks expect a good score for targets below zero, which no grade can be.
        tags.regressor_tags.poor_score = True
        return tags
