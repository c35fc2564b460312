"""The expensive model: fitted or not, of Farthing or of scikit-learn, and what it says out of fold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from farthing.adaptive.adapt.gate_pairs import fits
from farthing.adaptive.adapt.projection import Floats
from farthing.adaptive.adapt.sklearn_model import SklearnModel, SklearnPolicy
from farthing.base import ContractClassifier, TreesMixin
from farthing.costs import CostSheet, RowLedger
from farthing.forests import BudgetForestClassifier, ImportedClassifier
from farthing.learning.folds import stratified_folds as deal_contents
from farthing.table import Encoded, Schema
from farthing.trees import Progress
from farthing.walks import Policy

# The array calls of models that go through all of their trees.
_PLAIN: Final = TreesMixin._answers

# Log probabilities are those of at least this: a forest may be sure, and wrong.
LEAST: Final = 1e-6

Expensive: TypeAlias = ContractClassifier | SklearnModel


class AfterGate(Protocol):
    """What comes after the gate, for one row."""

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column needed next, or None at the end."""
        ...

    def hear(self, column: int, value: float) -> None:
        """Take the answer for the column just wanted."""
        ...

    def output(self) -> Floats | None:
        """Return the probabilities of the model's classes; None if it did not come to an end."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """An encoded table with all that belongs to its rows."""

    values: NDArray[np.floating]
    target: NDArray[np.int64]
    weights: Floats

    def take(self, kept: NDArray[Any] | slice) -> Rows:
        """Return some of the rows."""
        return Rows(self.values[kept], self.target[kept], self.weights[kept])


@dataclass(frozen=True, eq=False)
class Prepared:
    """An expensive model that is ready, and the log probability that it gives to each training row's class.

    Attributes
    ----------
    model : ContractClassifier or SklearnModel
        Fitted.
    log_own : ndarray of float64, shape (n_rows,)
        Out of fold, and clipped.
    kept : dict
        What the settings of a sweep have in common besides, by all that it depends on.
    """

    model: Expensive
    log_own: Floats
    kept: dict[Any, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ExpensiveModelTrainer:
    """Where expensive models are fitted.

    Parameters
    ----------
    schema : Schema
        The columns.
    sheet : CostSheet
        The prices.
    classes : ndarray, shape (n_classes,)
        The labels.
    features : sequence of str or int, or None
        The columns that a scikit-learn model reads; None is all, or those it was fitted on by name.
    """

    schema: Schema
    sheet: CostSheet
    classes: NDArray[Any]
    features: Any = None

    def prepare(self, given: Any, rows: Rows, n_folds: int | None, chance: np.random.RandomState) -> Prepared:
        """Fit the model if need be, and ask copies of it about rows that they have not learned from."""
        model = default_model(chance) if given is None else given
        self._check(model)
        fitted = self.adopt(model, rows) if _is_fitted(model) else self.fit(model, rows)
        folds = None if n_folds is None or not _can_refit(model) else stratified_folds(rows, n_folds, chance)
        scores = self._scores(fitted, rows.values)
        if folds is not None:
            scores = np.zeros((len(rows.target), scores.shape[1]))
            for fold in range(int(folds.max()) + 1):
                held = folds == fold
                scores[held] = self._fold_scores(model, rows.take(~held), rows.values[held], scores.shape[1])
        if isinstance(fitted, SklearnModel):
            codes = np.searchsorted(fitted.classes, self.classes[rows.target])
            fitted = fitted.calibrated(scores, codes, rows.weights)
            scores = fitted.to_probabilities(scores)
        spread = self.spread(fitted, scores)
        own = spread[np.arange(len(rows.target)), rows.target]
        return Prepared(fitted, np.log(own.clip(LEAST, 1.0)))

    def fit(self, model: Any, rows: Rows) -> Expensive:
        """Fit a copy of the model."""
        learner = clone(model)
        if isinstance(learner, ContractClassifier):
            self._check_no_features()
            learner.classes_ = self.classes
            return learner._fit_encoded(self.schema, self.sheet, rows.values, rows.target, rows.weights)
        columns = self._columns(None)
        outside = SklearnModel.around(learner, columns, rows.values)
        X = np.ascontiguousarray(rows.values[:, columns], dtype=np.float64)
        X = np.where(np.isfinite(X) | np.isnan(outside.fill), X, outside.fill)
        options = {}
        if not (rows.weights == rows.weights[0]).all():
            if not has_fit_parameter(learner, "sample_weight"):
                raise ValueError(f"{type(learner).__name__} takes no sample_weight; leave the weights out")
            options["sample_weight"] = rows.weights
        labels = self.classes[rows.target]
        if (labels == labels[0]).all():
            name = type(learner).__name__
            raise ValueError(f"{name} needs rows of two classes; got one class, {labels[0]!r}")
        learner.fit(X, labels, **options)
        return SklearnModel.around(learner, columns, rows.values)

    def adopt(self, model: Any, rows: Rows) -> Expensive:
        """Take a fitted model over, if it fits the table."""
        strange = set(np.asarray(model.classes_).tolist()) - set(self.classes.tolist())
        if strange:
            raise ValueError(f"the expensive model knows the class {strange.pop()!r}, which no row has")
        if isinstance(model, ContractClassifier):
            self._check_no_features()
            if model.schema_.columns != self.schema.columns:
                raise ValueError(
                    "the expensive model was fitted on other columns, or other categories, than this table "
                    f"has: {', '.join(model.schema_.names[:5])}, ...; fit both on the same columns"
                )
            return model
        return SklearnModel.around(model, self._columns(model), rows.values)

    def spread(self, model: Expensive, probabilities: Floats) -> Floats:
        """Bring the probabilities of a model's classes to all classes, (n_rows, n_classes)."""
        known = model.classes if isinstance(model, SklearnModel) else model.classes_
        if len(known) == len(self.classes):
            return probabilities
        everyone = np.zeros((len(probabilities), len(self.classes)))
        everyone[:, np.searchsorted(self.classes, known)] = probabilities
        return everyone

    def _scores(self, model: Expensive, values: NDArray[np.floating]) -> Floats:
        return model.scores(values) if isinstance(model, SklearnModel) else answers(model, values)[0]

    def _fold_scores(self, model: Any, rows: Rows, values: NDArray[np.floating], width: int) -> Floats:
        if not isinstance(model, ContractClassifier) and (rows.target == rows.target[0]).all():
            # Nothing to learn from one class; it is certain.
            code = int(rows.target[0])
            sure = np.zeros((len(values), width))
            sure[:, code if width > 1 else 0] = 1.0 if width > 1 or code else -1.0
            return sure
        fitted = self.fit(model, rows)
        scores = self._scores(fitted, values)
        if scores.shape[1] == width:
            return scores
        if isinstance(fitted, SklearnModel) and not hasattr(fitted.model, "predict_proba"):
            raise ValueError(f"a class has too few rows for folds; {type(model).__name__} needs n_folds=None")
        return self.spread(fitted, scores)

    def _columns(self, model: Any) -> NDArray[np.int64]:
        """Return the columns that a scikit-learn model reads, in its order."""
        names = self.schema.names
        given = self.features
        if given is None:
            known = getattr(model, "feature_names_in_", None)
            given = range(len(names)) if known is None else [str(name) for name in known]
        if isinstance(given, str):
            raise ValueError(f"expensive_features is the text {given!r}; write [{given!r}]")  # noqa: TRY004
        chosen = np.asarray(given)
        if chosen.dtype == np.bool_:
            if chosen.shape != (len(names),):
                raise ValueError(f"expensive_features must have shape ({len(names)},) as a mask")
            chosen = np.flatnonzero(chosen)
        columns = [self.schema.index(one) if isinstance(one, str) else int(one) for one in chosen.tolist()]
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
            raise ValueError("expensive_features is for scikit-learn models; Farthing's say it themselves")

    def _check(self, model: Any) -> None:
        can = any(hasattr(model, name) for name in ("predict_proba", "decision_function"))
        if isinstance(model, type) or not can or not is_classifier(model):
            raise TypeError(
                "expensive must be a classifier with predict_proba or decision_function, or None; got "
                f"{model.__name__ if isinstance(model, type) else type(model).__name__}"
            )


def default_model(chance: np.random.RandomState) -> BudgetForestClassifier:
    """Return the expensive model if none is given: a random forest that knows no prices."""
    return BudgetForestClassifier(
        cost_rule="penalty",
        tradeoff=0.0,
        max_features="sqrt",
        random_state=int(chance.randint(np.iinfo(np.int32).max)),
    )


def answers(
    model: Expensive, values: NDArray[np.floating], seeds: NDArray[np.int64] | None = None
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return probabilities of the model's classes, and what each row looks at, as if there were no gate."""
    if isinstance(model, SklearnModel):
        acquired = np.zeros(values.shape, dtype=np.bool_)
        acquired[:, model.columns] = True
        return model.probabilities(values), acquired
    nowhere = np.empty(0, dtype=np.int64)
    encoded = Encoded(values, nowhere, nowhere, (), model.schema_.columns)
    caps = None if model.budget_ is None else np.full(len(values), model.budget_)
    outputs, acquired = model._answers(encoded, caps, seeds)
    return model._conclude(model._settle(outputs, acquired)), acquired


def answers_within(  # noqa: PLR0917 - the state of the rows, one by one
    model: Expensive,
    values: NDArray[np.floating],
    sheet: CostSheet,
    budget: Floats,
    acquired: NDArray[np.bool_],
    refused: NDArray[np.bool_],
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]] | None:
    """Return what `answers` does for rows that own something, were refused something, and have a budget.

    Returns
    -------
    probabilities : ndarray of float64, shape (n_rows, n_classes)
    acquired : ndarray of bool, shape (n_rows, n_features)
        What the rows own in the end.
    asked : ndarray of bool, shape (n_rows,)
        Whether the row could pay for the model at all; probabilities of the others mean nothing.

    None if there is no other way than to walk.
    """
    if isinstance(model, SklearnModel):
        whole = acquired.copy()
        whole[:, model.columns] = True
        asked = fits(sheet, whole, budget)
        said = np.zeros((len(values), len(model.classes)))
        said[asked] = model.probabilities(values[asked])
        return said, np.where(asked[:, np.newaxis], whole, acquired), asked
    if not isinstance(model, TreesMixin) or model.budget_ is not None or type(model)._answers is not _PLAIN:
        return None
    progress = Progress(values, model.forest_.n_outputs, sheet, budget=budget)
    progress.touched[:] = _pack(acquired)
    progress.refused[:] = _pack(refused)
    model._ready().advance(progress, 0, model.forest_.n_trees)
    asks = np.full((len(values), 1), bool((model.forest_.feature >= 0).any()))
    said = model._conclude(model._settle(progress.outputs, asks))
    return said, progress.acquired, np.ones(len(values), dtype=np.bool_)


def _pack(flags: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Pack sets of features into words of 64; the inverse of `farthing.trees.progress.unpack`."""
    n_words = -(-flags.shape[1] // 64)
    octets = np.zeros((len(flags), 8 * n_words), dtype=np.uint8)
    packed = np.packbits(flags, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64)


def beyond(model: Expensive, n_features: int, seed: int | None) -> AfterGate:
    """Return what comes after the gate, for one row."""
    return (
        SklearnPolicy(model, n_features) if isinstance(model, SklearnModel) else FarthingPolicy(model, seed)
    )


class FarthingPolicy:
    """A Farthing model after the gate: it walks as it would alone, within its own budget if it has one."""

    def __init__(self, model: ContractClassifier, seed: int | None) -> None:
        self._model = model
        self._policy: Policy = model._policy(seed)
        # Its own account: what it would have bought without a gate before it.
        self._account = RowLedger(model.costs_, model.budget_)
        self._ended = False

    def wants(self, ledger: RowLedger) -> int | None:  # noqa: ARG002 - it goes by its own account
        """Return the column needed next; None at the end."""
        while (column := self._policy.wants(self._account)) is not None:
            if self._account.affords(column):
                return column
            self._policy.hear(column, np.nan)
        self._ended = True
        return None

    def hear(self, column: int, value: float) -> None:
        """Take a value, and enter it in the model's own account."""
        self._account.buy(column)
        self._policy.hear(column, value)

    def output(self) -> Floats | None:
        """Return the probabilities of the model's classes; None before the end."""
        if not self._ended:
            return None
        outputs = self._policy.output()[np.newaxis]
        settled = self._model._settle(outputs, self._account.bought[np.newaxis])
        return np.asarray(self._model._conclude(settled)[0])


def stratified_folds(rows: Rows, n_folds: int, chance: np.random.RandomState) -> NDArray[np.int64] | None:
    """Deal rows to folds, class by class, as `farthing.learning.folds.stratified_folds` does.

    Examples
    --------
    >>> rows = Rows(np.arange(4.0)[:, np.newaxis], np.array([0, 0, 1, 1]), np.ones(4))
    >>> folds = stratified_folds(rows, 2, np.random.RandomState(0))
    >>> [sorted(folds[:2].tolist()), sorted(folds[2:].tolist())]
    [[0, 1], [0, 1]]
    """
    return deal_contents(rows.values, rows.target, n_folds, chance)


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _can_refit(model: Any) -> bool:
    """Tell whether a copy of the model could be fitted again: trees that were brought over cannot."""
    return not (isinstance(model, ImportedClassifier) and model.model is None)
