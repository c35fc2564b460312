"""Estimators whose `fit` may be given validation rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base.estimator import BudgetedEstimator
from farthing.base.inputs import check_weights, target_column
from farthing.base.training_set import TrainingSet
from farthing.distributed.detect import is_collection
from farthing.table import PreparedTable, encode


class ValidatedMixin(BudgetedEstimator):
    """``fit(X, y, validation=...)``: ``_learn`` gets these rows as a `TrainingSet` named ``validation``."""

    # Also where a subclass passes it on among other options of `fit`.
    __metadata_request__fit: ClassVar[dict[str, None]] = {"validation": None}

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; may have missing values and categories.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; rows of weight zero are ignored.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Validation rows, which choose the number of rounds, the threshold for a budget and the like,
            instead of rows held out from the training data.

        Returns
        -------
        self
        """
        if is_collection(X) and validation is None:
            return self.fit_collection(X, y, sample_weight)
        rows = self.training_set(X, y, sample_weight)
        given = None if validation is None else self.validation_set(rows, validation)
        return self.fit_rows(rows, validation=given)

    def validation_set(self, rows: TrainingSet, validation: Any) -> TrainingSet:
        """Check the ``validation`` argument of `fit` against the training rows.

        Parameters
        ----------
        rows : TrainingSet
            The training rows.
        validation : tuple (X, y) or (X, y, sample_weight)

        Returns
        -------
        TrainingSet
        """
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            raise ValueError(
                f"validation must be (X, y) or (X, y, sample_weight); got {type(validation).__name__}"
            )
        return self._validation_rows(rows, *validation)

    def _validation_rows(
        self, rows: TrainingSet, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None
    ) -> TrainingSet:
        # Under the schema of the training rows: unseen categories are missing, as they are at prediction.
        encoded = encode(rows.schema, X, type(self).__name__)
        encoded.check()
        target = self._validation_target(rows, y)
        weights = check_weights(sample_weight, len(encoded.values))
        if len(target) != len(encoded.values):
            raise ValueError(f"validation has {len(encoded.values)} rows, but {len(target)} targets")
        table = PreparedTable(rows.schema, encoded)
        return replace(rows, table=table, target=target, weights=weights, qid=qid)

    def _validation_target(self, rows: TrainingSet, y: Any) -> NDArray[Any]:
        """Check the target of validation rows and encode it like that of the training rows."""
        if rows.classes is None:
            return self._encode_target(y)[0]
        labels = target_column(y)
        known = np.isin(labels, rows.classes)
        if not known.all():
            raise ValueError(
                f"validation has the class {labels[~known].tolist()[0]!r}, which no training row has; "
                f"there are {rows.classes.tolist()}"
            )
        return np.asarray(np.searchsorted(rows.classes, labels), dtype=np.int64)
