"""Classifiers that learn by prices of errors: the parameter ``error_costs``, and labels of the least cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base.classifier import ContractClassifier
from farthing.base.error_costs import ErrorCosts, error_prices, row_error_prices
from farthing.base.inputs import check_weights
from farthing.base.task_models import ClassifierModel
from farthing.base.training_set import TrainingSet
from farthing.typing import Floats

#: The parameter's text, for docstrings.
ERROR_COSTS: Final = """error_costs : ErrorCosts, float or array of shape (n_classes, n_classes), optional
        Prices of errors, in the unit of the features' prices: one for all, or for each true class (row) and
        predicted class (column). Labels are then those of the least expected cost. `fit` takes prices of
        each row in place of these. None means 1 per error."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PricedErrorsModel(ClassifierModel):
    """A classifier whose label is the one of the least expected cost.

    Parameters
    ----------
    error_costs : ndarray of float64, shape (n_classes, n_classes), or None
        What errors cost, true class by predicted class; None takes the most likely class.
    """

    error_costs: Floats | None = None

    def decide(self, probabilities: Floats) -> NDArray[np.int64]:
        """Return the index of the class of the least expected cost, the lowest of equals."""
        if self.error_costs is None:
            return super().decide(probabilities)
        return ErrorCosts(self.error_costs).decide(probabilities)

    def risks(self, probabilities: Floats) -> Floats:
        """Return the expected cost of each row's label, shape (n_rows,)."""
        if self.error_costs is None:
            return np.asarray(1 - probabilities.max(axis=1))
        return np.asarray(ErrorCosts(self.error_costs).expected(probabilities).min(axis=1))

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        if self.error_costs is not None:
            ErrorCosts(self.error_costs).over(self.classes)


class PricedErrorsMixin(ContractClassifier):
    """A classifier with a parameter ``error_costs``: ``rows.errors`` of ``_learn`` holds the prices.

    `TrainingSet.header` has the table for the model, which is a `PricedErrorsModel`.
    """

    # Also where a subclass passes it on among other options of `fit`.
    __metadata_request__fit: ClassVar[dict[str, None]] = {"row_error_costs": None}

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, row_error_costs: Any = None, **options: Any
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; may have missing values and categories.
        y : array, shape (n_rows,)
            Labels.
        sample_weight : array, shape (n_rows,), optional
            Weights; rows of weight zero are ignored.
        row_error_costs : array, shape (n_rows, n_classes), optional
            The price of predicting each class for each row, classes in sorted order, in place of the
            parameter ``error_costs``. New rows have no such prices, so labels are decided by their means
            over the rows of each class. They belong to rows as weights do, hence not a parameter.
        **options
            Further arguments of the method, such as ``validation``.

        Returns
        -------
        self
        """
        if row_error_costs is None:
            return super().fit(X, y, sample_weight, **options)
        rows = self.training_set(X, y)
        rows = replace(rows, weights=check_weights(sample_weight, len(rows)))
        # Rows of weight zero are dropped only now, when the prices belong to the rows.
        rows = replace(rows, errors=row_error_prices(row_error_costs, rows)).take(rows.weights > 0)
        if options.get("validation") is not None:
            options["validation"] = self.validation_set(rows, options["validation"])
        return self.fit_rows(rows, **options)

    def fit_rows(self, rows: TrainingSet, **options: Any) -> Self:
        """Learn from rows that are validated already, with the prices of their errors.

        Parameters
        ----------
        rows, **options
            As in `ContractClassifier.fit_rows`; validation rows have the prices of their classes.

        Returns
        -------
        self
        """
        given = getattr(self, "error_costs", None)
        if rows.errors is None and given is not None:
            rows = rows.priced(error_prices(given, rows))
        if rows.errors is not None:
            if getattr(self, "class_weight", None) is not None:
                raise ValueError(
                    "error_costs says what each error costs, so class_weight has no place beside it; "
                    "leave out one of them"
                )
            if isinstance(validation := options.get("validation"), TrainingSet):
                table = rows.errors.table
                # A label that no training row has is -1: it counts as the class of the highest prices.
                worst = int(np.argmax(table.sum(axis=1)))
                codes = np.where(validation.target < 0, worst, validation.target)
                prices = replace(rows.errors, rows=table[codes])
                options["validation"] = replace(validation, errors=prices)
        return super().fit_rows(rows, **options)

    def file_params(self) -> dict[str, Any]:
        """Return the parameters for a file, with the error costs as a plain table over ``classes_``."""
        params = super().file_params()
        if params.get("error_costs") is not None:
            check_is_fitted(self)
            params["error_costs"] = np.asarray(self.fitted_.error_costs).tolist()  # type: ignore[attr-defined]
        return params
