"""What rankers have in common: their score, and queries in `fit`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from farthing.base.estimator import BudgetedEstimator
from farthing.base.training_set import TrainingSet
from farthing.base.validated import ValidatedMixin
from farthing.distributed.detect import is_collection
from farthing.errors import TableError
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

    def _ranking_scores(self, X: Any, qid: Any, budget: Any) -> NDArray[np.float64]:
        """Return the scores of documents, shape (n_rows,); those of a row may depend on its query."""
        return self.predict(X, budget=budget)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks expect a good score for targets below zero, which no grade can be.
        tags.regressor_tags.poor_score = True
        return tags


class ValidatedRankerMixin(RankerMixin, ValidatedMixin):
    """``fit(X, y, qid, validation=...)``: ``_learn`` gets the queries of both sets of rows as ``qid``."""

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, *, validation: Any = None
    ) -> Self:
        """Learn from documents with grades.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            One document per row.
        y : array, shape (n_rows,)
            Grades; larger is better.
        qid : array, shape (n_rows,), optional
            The query of each document, in any order; None means a single query.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is ignored.
        validation : tuple (X, y), (X, y, qid) or (X, y, qid, sample_weight), optional
            Validation rows, which choose the number of rounds and the like, instead of rows held out from the
            training data.

        Returns
        -------
        self
        """
        if is_collection(X) and validation is None:
            if qid is None:
                raise TableError(
                    f"{type(self).__name__} got a Dask collection without qid, which makes all rows one "
                    "query, and no worker has them all; give the query of each row"
                )
            return self.fit_collection(X, y, sample_weight, qid)
        rows = self.training_set(X, y, sample_weight, qid=query_ids(qid))
        given = None if validation is None else self.validation_set(rows, validation)
        return self.fit_rows(rows, validation=given)

    def validation_set(self, rows: TrainingSet, validation: Any) -> TrainingSet:
        """Check the ``validation`` argument of `fit` against the training rows.

        Parameters
        ----------
        rows : TrainingSet
            The training rows.
        validation : tuple (X, y), (X, y, qid) or (X, y, qid, sample_weight)

        Returns
        -------
        TrainingSet
        """
        if not isinstance(validation, tuple) or len(validation) not in (2, 3, 4):
            raise ValueError(
                "validation must be (X, y), (X, y, qid) or (X, y, qid, sample_weight); "
                f"got {type(validation).__name__}"
            )
        X, y, qid, weights = (*validation, None, None)[:4]
        return self._validation_rows(rows, X, y, weights, qid=query_ids(qid))
