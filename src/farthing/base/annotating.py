"""What a fitted model is told beside its fit: labels for people, and how it did on rows."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from farthing.base.cross_fit import cross_fit
from farthing.base.inputs import target_column
from farthing.base.predicting import Predicting
from farthing.base.reference import Behaviour, Reference
from farthing.base.task_models import ClassifierModel
from farthing.labels import Labels, LabelsLike
from farthing.table import encode
from farthing.walks import fall_factor

# Rows of a reference that are walked question by question.
_MOST_WALKS: Final = 500


class Annotating(Predicting):
    """Labels and references, which predictions do not depend on."""

    @property
    def labels_(self) -> Labels:
        """What features and classes mean to people; an empty sheet if `with_labels` gave none."""
        return self._labels

    def with_labels(self, labels: LabelsLike) -> Self:
        """Return the model with a sheet of labels, which its file holds and the page shows.

        Parameters
        ----------
        labels : Labels, mapping or path
            Titles, units, ranges and names; see `farthing.Labels`. Predictions do not depend on it.

        Returns
        -------
        estimator
            It shares the fitted model with this one, which is left as it is.
        """
        sheet = Labels.of(labels)
        self._check_labels(sheet)
        made: Self = copy(self)
        made.__dict__["_labels"] = sheet
        return made

    def _check_labels(self, labels: Labels) -> None:
        check_is_fitted(self)
        names = [column.name for column in self.fitted_.questions.columns]
        labels.check(names, getattr(self.fitted_, "classes", None))

    @property
    def reference_(self) -> Reference | None:
        """What the model did on rows at fit, as counts; None if `with_reference` gave no rows."""
        return self._reference

    def with_reference(self, X: Any, y: Any = None, *, folds: int | None = None) -> Self:
        """Return the model with counts of what it does on some rows, which its file holds and an audit uses.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            Rows like those to come, best such that it did not learn from: spends, purchases, answers and
            predictions are counted in bins. No row is kept.
        y : array, shape (n_rows,), optional
            Labels of rows that it did not learn from, for the calibration, and for the falls of risk that
            reasons predict: they are multiplied by a factor that these rows need.
        folds : int, optional
            The rows are those that the model learned from, and no others have labels. The calibration and
            the factor are then found by cross-fitting: the estimator is fitted again without each of so many
            parts of the rows, 2 or more, which that model predicts and walks.

        Returns
        -------
        estimator
            It shares the fitted model with this one, which is left as it is.
        """
        if folds is not None:
            found = cross_fit(self, X, y, folds, _MOST_WALKS)
            reference = self.behaviour(X).reference()  # the labels of rows it learned from say too much
            return self.remembering(replace(reference, **vars(found)))
        reference = self.behaviour(X, y).reference()
        if y is not None and self.asks == "columns" and self.rows_are_independent:
            values = encode(self.fitted_.schema, X, type(self).__name__, needed=self.fitted_.may_buy()).values
            drawn = np.random.default_rng(0).permutation(len(values))[:_MOST_WALKS]
            factor, n_questions = fall_factor(self.fitted_, values[drawn], target_column(y)[drawn])
            reference = replace(reference, fall_factor=factor, n_questions=n_questions)
        return self.remembering(reference)

    def fitted_again(self, X: Any, y: Any) -> Self:
        """Return the estimator fitted on other rows, with what it has chosen, if it chooses."""
        again: Self = clone(self).fit(X, y)
        return again

    def remembering(self, reference: Reference | None) -> Self:
        """Return the model with such counts, of a file or of another process; None removes them."""
        made: Self = copy(self)
        made.__dict__["_reference"] = None
        if reference is not None:
            n_columns = len(self.fitted_.schema.names) if self.asks == "columns" else 0
            n_classes = len(getattr(self.fitted_, "classes", ()))
            wanted = (len(self.fitted_.costs.features), n_columns, n_classes)
            if (len(reference.bought), len(reference.answers), len(reference.said)) != wanted:
                raise ValueError("the reference is not one of the features and classes of the model")
            made.__dict__["_reference"] = reference
        return made

    def behaviour(self, X: Any, y: Any = None) -> Behaviour:
        """Return what the model does on rows: spends, purchases, answers, predictions and their truth."""
        outputs, acquired = self.raw_outputs(X)
        model = self.fitted_
        values: NDArray[np.floating] = np.empty((len(outputs), 0))
        if self.asks == "columns":
            values = encode(model.schema, X, type(self).__name__, needed=model.may_buy(), min_rows=0).values
        spend = model.costs.total_rows(acquired)
        if not isinstance(model, ClassifierModel):
            return Behaviour(spend, acquired, values)
        labels, likely = model.results(outputs)
        places = np.searchsorted(model.classes, labels)
        confidence = None if likely is None else likely[np.arange(len(places)), places]
        right = None if y is None else labels == target_column(y)
        return Behaviour(spend, acquired, values, places, len(model.classes), confidence, right)
