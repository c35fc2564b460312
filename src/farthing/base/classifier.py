"""The base class of classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from farthing.base.class_weights import class_factors, plain
from farthing.base.collection_predict import predict_lazily
from farthing.base.estimator import BudgetedEstimator
from farthing.base.inputs import distinct, target_column
from farthing.base.task_models import ClassifierModel
from farthing.base.training_set import TrainingSet
from farthing.distributed.detect import is_collection


class ContractClassifier(ClassifierMixin, BudgetedEstimator):  # type: ignore[misc]
    """A classifier that keeps the contract; see `BudgetedEstimator` for what a method fills in.

    ``_learn`` gets the target as codes, indices into ``rows.classes``; some classes may have no row of
    positive weight. It returns a `ClassifierModel`. If the constructor has a parameter ``class_weight``, the
    weights that ``_learn`` gets include it.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels, sorted.
    """

    #: Whether the method supports two classes only.
    binary_only: ClassVar[bool] = False
    #: Whether it learns until every training row is right, however little the row weighs; class weights then
    #: decide only where rows of different classes have the same values.
    fits_every_row: ClassVar[bool] = False

    fitted_: ClassifierModel

    def fit_rows(self, rows: TrainingSet, *, held_out: TrainingSet | None = None, **options: Any) -> Self:
        """Learn from rows that are validated already, their weights multiplied by ``class_weight``.

        Parameters
        ----------
        rows, **options
            As in `BudgetedEstimator.fit_rows`; validation rows get the factors of the training rows.
        held_out : TrainingSet, optional
            Validation rows that were held out of the rows already: all of them are balanced together.

        Returns
        -------
        self
        """
        factors = class_factors(getattr(self, "class_weight", None), rows, held_out)
        if isinstance(validation := options.get("validation"), TrainingSet):
            options["validation"] = validation.reweighed(factors)
        return super().fit_rows(rows.reweighed(factors), **options)

    def file_params(self) -> dict[str, Any]:
        """Return the parameters for a file, where class weights have plain labels as keys."""
        params = super().file_params()
        if isinstance(given := params.get("class_weight"), Mapping):
            params["class_weight"] = {plain(label): plain(weight) for label, weight in given.items()}
        return params

    def predict_proba(
        self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None
    ) -> NDArray[np.float64]:
        """Return the probability of each class; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
            Columns in the order of ``classes_``.
        """
        if is_collection(X):
            return predict_lazily(self, "predict_proba", X, budget=budget, seeds=seeds, refused=refused)  # type: ignore[no-any-return]
        outputs, _ = self.raw_outputs(X, budget=budget, seeds=seeds, refused=refused)
        return self.fitted_.conclude(outputs)

    def predict_log_proba(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Return the logarithm of `predict_proba`, minus infinity for a probability of zero.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes)
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X, budget=budget, seeds=seeds))

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Return a finite score of each class, by default from its probability; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one log-probability per class. A single class has the
            score 0, shape (n_rows,).
        """
        p = self.predict_proba(X, budget=budget, seeds=seeds)
        if p.shape[1] == 1:
            return np.zeros(len(p))
        # Forests know probabilities of zero; metrics such as scikit-learn's refuse infinite scores.
        scores = np.log(np.maximum(p, np.finfo(np.float64).tiny))
        return scores[:, 1] - scores[:, 0] if p.shape[1] == 2 else scores

    def _encode_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        y = target_column(y)
        if y.dtype.kind == "f":
            assert_all_finite(y, input_name="y")
        try:
            classes, codes = distinct(y)
            # Whole numbers and text are labels. It looks at them for as long as a small fit takes, and says
            # something only of many classes.
            if y.dtype.kind not in "iubU" or 2 * len(classes) > len(y):
                check_classification_targets(y)
        except TypeError as error:  # np.unique sorts, and labels of mixed types cannot be compared
            types = sorted({type(label).__name__ for label in y})
            raise ValueError(
                f"y must hold labels of one type, none of them missing; got {' and '.join(types)}"
            ) from error
        if self.binary_only and len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported. The type of the target is {type_of_target(y)}; "
                f"{type(self).__name__} got {len(classes)} classes, wrap it in "
                "farthing.multiclass.OneVsRestClassifier"
            )
        return np.asarray(codes, dtype=np.int64), classes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.binary_only
        return tags
