"""The contract for classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from farthing.base.estimator import BudgetedEstimator
from farthing.base.links import normalise


class ContractClassifier(ClassifierMixin, BudgetedEstimator):  # type: ignore[misc]
    """A classifier that keeps the contract; see `BudgetedEstimator` for what a method fills in.

    ``_fit`` gets the target as codes: positions in ``classes_``, of which some may have no row of positive
    weight. ``_conclude`` gives one probability a class; the prediction is the class of the largest, the
    earlier one if two are equal. The default ``prior_`` is the weighted share of each class.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {"classes_": np.ndarray}
    # Whether the method knows two classes only.
    _binary_only: ClassVar[bool] = False

    def predict_proba(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Give the probability of each class; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
            Columns in the order of ``classes_``.
        """
        outputs, _ = self._raw(X, budget, seeds)
        return self._conclude(outputs)

    def _learn_target(self, y: Any) -> NDArray[Any]:
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        try:
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
        except TypeError as error:
            types = sorted({type(label).__name__ for label in y})
            raise ValueError(
                f"y must hold labels of one type, none of them missing; got {' and '.join(types)}"
            ) from error
        if self._binary_only and len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}; "
                f"{type(self).__name__} got {len(self.classes_)} classes, wrap it in "
                "sklearn.multiclass.OneVsRestClassifier"
            )
        return np.asarray(codes, dtype=np.int64)

    def _default_prior(self, target: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        counts: NDArray[np.float64] = np.zeros((1, len(self.classes_)))
        np.add.at(counts[0], target, weights)
        return normalise(counts).ravel()

    def _results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        probabilities = self._conclude(outputs)
        return self.classes_[np.argmax(probabilities, axis=1)], probabilities

    def _conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        probabilities = self._conclude(self._settle(outputs, looked))[0]
        labels = self.classes_.tolist()
        return labels[int(probabilities.argmax())], dict(zip(labels, probabilities.tolist(), strict=True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self._binary_only
        return tags
