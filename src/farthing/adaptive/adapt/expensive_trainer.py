"""Fitting of the expensive model, and its out-of-fold predictions for the training rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from farthing.adaptive.adapt.expensive_model import ExpensiveModel, answering
from farthing.base import ContractClassifier, TrainingSet
from farthing.forests import BudgetForestClassifier, ImportedClassifier, ImportedLinearClassifier
from farthing.learning.folds import stratified_folds
from farthing.learning.sklearn_fit import check_sklearn, fit_sklearn, held_out_scores
from farthing.learning.sklearn_model import SklearnModel
from farthing.learning.spread_classes import spread_classes
from farthing.table import Schema
from farthing.typing import Floats

# Probabilities are clipped at this before the logarithm: a forest may give the true class exactly 0.
MIN_PROBABILITY: Final = 1e-6


@dataclass(frozen=True, eq=False)
class TrainedExpensiveModel:
    """A fitted expensive model, and the log probability that it gives to each training row's own class.

    Attributes
    ----------
    model : ContractClassifier or SklearnModel
        Fitted.
    own_log_proba : ndarray of float64, shape (n_rows,)
        Out of fold, and clipped.
    cache : dict
        Other results that the settings of a sweep share, keyed by all that they depend on.
    """

    model: ExpensiveModel
    own_log_proba: Floats
    cache: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ExpensiveModelTrainer:
    """Fits expensive models, of Farthing or of scikit-learn.

    Parameters
    ----------
    features : sequence of str or int, mask, or None
        The columns that a scikit-learn model reads; None means all, or those it was fitted on by name.
    """

    features: Any = None

    def train(
        self, given: Any, rows: TrainingSet, n_folds: int | None, rng: np.random.RandomState
    ) -> TrainedExpensiveModel:
        """Fit the model unless it is fitted, and predict the training rows out of fold.

        Parameters
        ----------
        given : classifier or None
            As the ``expensive`` parameter of Adapt models.
        rows : TrainingSet
            The rows to fit on.
        n_folds : int or None
            None uses the predictions of the model itself for its training rows.
        rng : RandomState
            Generator for the folds and for the seed of the default model.
        """
        model = default_model(rng) if given is None else given
        check_sklearn("expensive", model, otherwise="None")
        # The model that answers is fitted on all rows. Only the scores that the gate and f1 learn from are
        # out of fold: on its own training rows the expensive model would look better than it is.
        fitted = self.adopt(model, rows) if _is_fitted(model) else self.fit(model, rows)
        folds = None
        if n_folds is not None and _can_refit(model):
            folds = stratified_folds(rows.values, rows.target, n_folds, rng)
        if folds is None:
            scores = _scores(fitted, rows.values)
        else:
            n_scores = _scores(fitted, rows.values[:1]).shape[1]
            scores = np.zeros((len(rows), n_scores))
            for fold in range(int(folds.max()) + 1):
                held = folds == fold
                scores[held] = self._fold_scores(model, rows.take(~held), rows.values[held], n_scores)
        assert rows.classes is not None
        if isinstance(fitted, SklearnModel):
            # Platt scaling uses the out-of-fold scores too, for the same reason.
            codes = np.searchsorted(fitted.classes, rows.classes[rows.target])
            fitted = fitted.calibrated(scores, codes, rows.weights)
            scores = fitted.to_probabilities(scores)
        probabilities = spread_classes(scores, answering(fitted).classes, rows.classes)
        own = probabilities[np.arange(len(rows)), rows.target]
        return TrainedExpensiveModel(fitted, np.log(own.clip(MIN_PROBABILITY, 1.0)))

    def fit(self, model: Any, rows: TrainingSet) -> ExpensiveModel:
        """Fit a copy of the model."""
        if isinstance(model, ContractClassifier):
            self._check_no_features()
            learner: ContractClassifier = clone(model)
            return learner.fit_rows(rows)
        return fit_sklearn(model, rows, self._columns(None, rows.schema))

    def adopt(self, model: Any, rows: TrainingSet) -> ExpensiveModel:
        """Wrap a fitted model, if it matches the table."""
        assert rows.classes is not None
        strange = set(np.asarray(model.classes_).tolist()) - set(rows.classes.tolist())
        if strange:
            raise ValueError(f"the expensive model knows the class {strange.pop()!r}, which no row has")
        if isinstance(model, ContractClassifier):
            self._check_no_features()
            schema = model.fitted_.schema
            if schema.columns != rows.schema.columns:
                raise ValueError(
                    "the expensive model was fitted on other columns, or other categories, than this table "
                    f"has: {', '.join(schema.names[:5])}, ...; fit both on the same columns"
                )
            return model
        return SklearnModel.wrap(model, self._columns(model, rows.schema), rows.values)

    def _fold_scores(
        self, model: Any, rows: TrainingSet, values: NDArray[np.floating], n_scores: int
    ) -> Floats:
        """Return the scores of one fold, by a copy of the model that is fitted on the others."""
        if not isinstance(model, ContractClassifier):
            return held_out_scores(model, rows, self._columns(None, rows.schema), values, n_scores)
        fitted = self.fit(model, rows)
        scores = _scores(fitted, values)
        if scores.shape[1] == n_scores:
            return scores
        assert rows.classes is not None
        return spread_classes(scores, answering(fitted).classes, rows.classes)

    def _columns(self, model: Any, schema: Schema) -> NDArray[np.int64]:
        """Return the columns that a scikit-learn model reads, in its order."""
        names = schema.names
        given = self.features
        if given is None:
            known = getattr(model, "feature_names_in_", None)
            given = range(len(names)) if known is None else [str(name) for name in known]
        if isinstance(given, str):
            raise ValueError(f"expensive_features is the single string {given!r}; write [{given!r}]")  # noqa: TRY004
        chosen = np.asarray(given)
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(names),):
                raise ValueError(f"expensive_features must have shape ({len(names)},) as a mask")
            chosen = np.flatnonzero(chosen)
        columns = [schema.index(one) if isinstance(one, str) else int(one) for one in chosen.tolist()]
        once = len(set(columns)) == len(columns) > 0
        if not once or min(columns) < 0 or max(columns) >= len(names):
            raise ValueError(
                "expensive_features must name columns, each once, or number them from 0 to "
                f"{len(names) - 1}; got {self.features!r}"
            )
        expected = getattr(model, "n_features_in_", len(columns))
        if expected != len(columns):
            raise ValueError(
                f"the expensive model reads {expected} columns, not {len(columns)}; name them in "
                "expensive_features, in its order"
            )
        return np.array(columns, dtype=np.int64)

    def _check_no_features(self) -> None:
        if self.features is not None:
            raise ValueError(
                "expensive_features is for scikit-learn models; a Farthing model chooses its own columns"
            )


def default_model(rng: np.random.RandomState) -> BudgetForestClassifier:
    """Return the expensive model if none is given: a random forest that ignores prices."""
    return BudgetForestClassifier(
        cost_rule="penalty",
        tradeoff=0.0,
        max_features="sqrt",
        random_state=int(rng.randint(np.iinfo(np.int32).max)),
    )


def _scores(model: ExpensiveModel, values: NDArray[np.floating]) -> Floats:
    """Return probabilities, or the decisions of a scikit-learn model that gives none."""
    if isinstance(model, SklearnModel):
        return model.scores_at_once(values)
    return answering(model).outputs(values)[0]


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _can_refit(model: Any) -> bool:
    """Return whether a copy of the model can be fitted again: imports cannot."""
    imported = isinstance(model, ImportedClassifier | ImportedLinearClassifier)
    return not (imported and model.model is None)
