"""The base class of all estimators: what classifiers and regressors have in common."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cache, cached_property
from typing import Any, ClassVar, Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing.base.changed_parameters import Snapshot, advice
from farthing.base.collection_fit import learn_collection
from farthing.base.collection_predict import predict_lazily
from farthing.base.cross_fit import cross_fitted_factor
from farthing.base.files import PathLike, save
from farthing.base.fitted import ClassifierModel, FittedModel
from farthing.base.inputs import (
    check_cap,
    check_caps,
    check_seed,
    check_seeds,
    check_weights,
    n_threads,
    target_column,
    warn_one_class,
)
from farthing.base.reference import Behaviour, Reference
from farthing.base.training_set import TrainingSet
from farthing.costs import CostSheet, CostsLike, split_budget
from farthing.distributed.detect import is_collection
from farthing.errors import LabelError, RepriceError, TableError
from farthing.labels import Labels, LabelsLike
from farthing.notebook import html_table
from farthing.table import PreparedTable, Schema, encode, refused_flags, refused_names
from farthing.walks import WITHIN, Decisions, Rounds, Walk, check_panel, fall_factor, walk_in_rounds

BudgetKind: TypeAlias = Literal["hard", "mean"]

# Rows of a reference that are walked question by question.
_MOST_WALKS: Final = 500


class BudgetedEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """An estimator with feature costs; the base of `ContractClassifier` and `ContractRegressor`.

    A method defines two things and inherits the rest:

    ``model_type``
        The class of its fitted models, a `FittedModel`: a frozen dataclass that predicts rows and whose
        fields are stored in files.
    ``_learn(rows)``
        Learn from a `TrainingSet`, which is validated already, and return such a model.

    It lists the constraints of its parameters in ``_parameter_constraints``, as scikit-learn's own estimators
    do.

    Attributes
    ----------
    fitted_ : FittedModel
        The fitted model. Its fields are attributes of the estimator as well, with a trailing underscore:
        ``costs_``, ``schema_``, ``prior_``, ``budget_``, and those of the method.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features,)
        Names of the columns, if the model was fitted on a frame.
    """

    model_type: ClassVar[type[FittedModel]]
    #: Constraints of the parameters, see `farthing.base.parameters`.
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    #: What ``budget`` limits: the spend of every row, or the mean spend; a parameter where both are possible.
    budget_kind: BudgetKind = "mean"
    #: What walks ask for and the ledger lists: columns of the table, or devices that measure several columns.
    asks: ClassVar[Literal["columns", "devices"]] = "columns"
    #: Parameters that are prices beside ``costs``, such as that of evaluating a tree.
    price_parameters: tuple[str, ...] = ()
    #: Whether the prediction of a row depends on this row alone; False where the rows of a query are ranked.
    rows_are_independent: ClassVar[bool] = True
    #: Whether fits draw rows by a hash of their values, so that the order of the rows does not matter.
    draws_by_content: ClassVar[bool] = False

    fitted_: FittedModel
    # That of the class, for a model without labels.
    _labels: Labels = Labels()
    # What the model did on rows at fit, see `with_reference`.
    _reference: Reference | None = None
    # What the parameters were at the fit; that of the class, for a model from an older pickle, has none.
    _fit_parameters: Snapshot = Snapshot()

    # What a method defines.

    @abstractmethod
    def _learn(self, rows: TrainingSet, *args: Any, **options: Any) -> FittedModel:
        """Learn from validated rows, with checked parameters; ``options`` are those of `fit`."""

    @abstractmethod
    def _encode_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Check the target; return it as codes with the classes, or as floats with None."""

    def _cost_sheet(self, schema: Schema) -> CostSheet:
        """Return the prices from the ``costs`` parameter, in the order of what the method buys."""
        return CostSheet.of(getattr(self, "costs", None), schema.names)

    def file_params(self) -> dict[str, Any]:
        """Return the constructor parameters for a file; methods replace those that no file can hold."""
        params: dict[str, Any] = self.get_params(deep=False)
        if params.get("costs") is not None:
            # The fitted sheet, whatever it was given as: a mapping, a Series, a path of a file that may move.
            params["costs"] = self.fitted_.costs.without_calls()
        return params

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        # scikit-learn inspects the signature in each call; get_params, set_params and clone then take longer
        # than a small fit.
        names: list[str] = super()._get_param_names()
        return names

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; may have missing values and categories. Or a Dask array or dataframe, for
            methods that learn on a cluster: see `fit_collection`.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; rows of weight zero are ignored.

        Returns
        -------
        self
        """
        if is_collection(X):
            return self.fit_collection(X, y, sample_weight)
        return self.fit_rows(self.training_set(X, y, sample_weight))

    def fit_collection(self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> Self:
        """Learn from Dask collections on the workers of the active client: the bits of `fit` on all rows.

        Parameters
        ----------
        X : dask.array.Array or dask.dataframe.DataFrame, shape (n_rows, n_features)
            No row of it comes to this process.
        y, sample_weight, qid : Dask array or series, shape (n_rows,)
            With the partitions of X; the rows of a query must be in one partition.

        Returns
        -------
        self
            ``cluster_report_`` says what the fit took.
        """
        model, report = learn_collection(self, X, y, sample_weight, qid)
        self.cluster_report_ = report
        return self.adopt(model)

    def check_collection(self) -> None:
        """Raise TableError unless the method, with its parameters, learns from Dask collections."""
        raise TableError(
            f"{type(self).__name__} does not learn from Dask collections; call compute() on X and y to fit "
            "in one process"
        )

    def holding_out(self) -> Callable[[int], NDArray[np.int64]] | None:
        """Return how a fit on collections holds rows out for validation; None if it holds out none.

        Returns
        -------
        callable or None
            From the number of rows to the ascending numbers of those held out. ``_learn`` gets them as
            ``validation``.
        """
        return None

    def refuse_on_collections(self, *parameters: str) -> None:
        """Raise TableError if one of some parameters is set, which Dask collections do not go with."""
        for name in parameters:
            if getattr(self, name, None) is not None:
                raise TableError(
                    f"{name} of {type(self).__name__} needs all rows in one process; leave it out, or call "
                    "compute() on the collections"
                )

    def encode_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Check a target; return it as codes with the classes, or as floats with None."""
        return self._encode_target(y)

    def price_columns(self, schema: Schema) -> CostSheet:
        """Return the prices from the ``costs`` parameter, in the order of what the method buys."""
        return self._cost_sheet(schema)

    def training_set(
        self, X: Any, y: Any, sample_weight: Any = None, *, qid: NDArray[np.int64] | None = None
    ) -> TrainingSet:
        """Validate a table and its target, and drop rows of weight zero.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        qid : ndarray of int64, shape (n_rows,), optional
            The query of each row, for rankings.

        Returns
        -------
        TrainingSet
            As `fit_rows` takes it. Estimators of one kind, such as classifiers, can share it.
        """
        if is_collection(X):
            raise TableError(
                f"{type(self).__name__} got a Dask collection with arguments that need all rows in this "
                "process; call compute() on X, or leave them out"
            )
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        table = PreparedTable.of(X, type(self).__name__)
        target, classes = self._encode_target(y)
        check_consistent_length(table.values, target, *([] if qid is None else [qid]))
        # Not for a prepared table: the folds of a sweep may have one class by chance.
        if not isinstance(X, PreparedTable):
            warn_one_class(classes)
        weights = check_weights(sample_weight, len(table))
        rows = TrainingSet(table, target, weights, self._cost_sheet(table.schema), classes, qid)
        # Dropped here, once, so that no method has to treat a weight of zero as a special case.
        kept = weights > 0
        return rows if kept.all() else rows.take(kept)

    def fit_rows(self, rows: TrainingSet, **options: Any) -> Self:
        """Learn from rows that are validated already; estimators fit nested models this way.

        Parameters
        ----------
        rows : TrainingSet
            Its costs replace the ``costs`` parameter.
        **options
            Further arguments of the method's own ``fit``, such as ``validation``.

        Returns
        -------
        self
        """
        self._validate_params()
        return self.adopt(self._learn(rows, **options))

    def adopt(self, model: FittedModel) -> Self:
        """Set the fitted model, shared and not copied, and the attributes that scikit-learn expects."""
        self.fitted_ = model
        self._fit_parameters = Snapshot.of(self)
        self.__dict__.pop("_reference", None)  # that of another model
        self.n_features_in_ = len(model.schema.names)
        if model.schema.named:
            self.feature_names_in_ = np.array(model.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # left by an earlier fit
        if self._labels:
            try:
                self._check_labels(self._labels)
            except LabelError:  # those of the table of an earlier fit
                del self._labels
        return self

    # Labels.

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

    # What it did at fit.

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
            The rows are those that the model learned from, and no others have labels. The factor is then
            found by cross-fitting: the estimator is fitted again without each of so many parts of the rows,
            2 or more, which that model walks.

        Returns
        -------
        estimator
            It shares the fitted model with this one, which is left as it is.
        """
        if folds is not None:
            factor, n_questions = cross_fitted_factor(self, X, y, folds, _MOST_WALKS)
            reference = self.behaviour(X).reference()  # the labels of rows it learned from say too much
            return self.remembering(replace(reference, fall_factor=factor, n_questions=n_questions))
        reference = self.behaviour(X, y).reference()
        if y is not None and self.asks == "columns" and self.rows_are_independent:
            values = encode(self.fitted_.schema, X, type(self).__name__, needed=self.fitted_.may_buy()).values
            drawn = np.random.default_rng(0).permutation(len(values))[:_MOST_WALKS]
            factor, n_questions = fall_factor(self.fitted_, values[drawn], target_column(y)[drawn])
            reference = replace(reference, fall_factor=factor, n_questions=n_questions)
        return self.remembering(reference)

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

    def hard_cap(self) -> float | None:
        """Return the hard budget per row as a number; None if there is none."""
        cap = check_cap(getattr(self, "budget", None))
        return cap if self.budget_kind == "hard" else None

    def __getattr__(self, name: str) -> Any:
        # Called only when normal lookup fails. `__dict__` and not `self.fitted_`, which would recurse when
        # copy or pickle look for attributes of an object that is not initialised yet.
        model, field = self.__dict__.get("fitted_"), name[:-1]
        if model is not None and name.endswith("_") and _is_value(type(model), field):
            return getattr(model, field)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # Predicting.

    def predict(self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None) -> NDArray[Any]:
        """Predict each row.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            Only the entries that a prediction acquires are read. A frame may lack columns that the model
            never buys, and may have no rows. A Dask array or dataframe gives a Dask array, which is computed
            partition by partition.
        budget : float, array of shape (n_rows,), or mapping of str to these, optional
            Hard budget of each row; None means the model's own hard budget, if it has one. A mapping caps the
            costs, by their unit, and further resources of the cost sheet: ``{"USD": 100, "minutes": 30}``.
            Rows that pass the cap of a resource are walked one by one, in Python; methods other than plain
            sums of trees walk all rows then.
        seeds : int or array, shape (n_rows,), optional
            One seed per row, for stochastic models; ignored by others.
        refused : sequence of str, or array or frame of bool, shape (n_rows, n_features), optional
            What is not available: it costs nothing, and each row gets what a walk that refuses it gets. Names
            of features, for all rows, or a flag for each entry of X; True where it is refused.

        Returns
        -------
        ndarray, shape (n_rows,)
        """
        if is_collection(X):
            return predict_lazily(self, "predict", X, budget=budget, seeds=seeds, refused=refused)  # type: ignore[no-any-return]
        outputs, _ = self.raw_outputs(X, budget=budget, seeds=seeds, refused=refused)
        return self.fitted_.results(outputs)[0]

    def acquired(
        self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None
    ) -> NDArray[np.bool_]:
        """Return which features the prediction of each row acquires; parameters as in `predict`.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_features)
            In the order of ``costs_.features``. If evaluations have prices, the calls that each row paid for
            come after the columns.
        """
        if is_collection(X):
            return predict_lazily(self, "acquired", X, budget=budget, seeds=seeds, refused=refused)  # type: ignore[no-any-return]
        return self.raw_outputs(X, budget=budget, seeds=seeds, refused=refused)[1]

    def spend(
        self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None, resource: Any = None
    ) -> NDArray[np.float64]:
        """Return what the prediction of each row costs by the cost sheet.

        Parameters
        ----------
        X, budget, seeds, refused
            As in `predict`.
        resource : str, optional
            A further resource of the cost sheet, of which to return what each row takes; by default the cost.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        if is_collection(X):
            return predict_lazily(self, "spend", X, budget=budget, seeds=seeds, refused=refused)  # type: ignore[no-any-return]
        # Always the total of what was acquired, never a sum kept along the way: the account balances by
        # construction, in the same bits as in a walk.
        acquired = self.acquired(X, budget=budget, seeds=seeds, refused=refused)
        return self._account(acquired, resource)

    def _account(self, acquired: NDArray[np.bool_], resource: Any = None) -> NDArray[np.float64]:
        """Return what rows pay for what they acquired, or what they take of a further resource."""
        sheet = self.fitted_.costs
        if resource is not None and resource not in sheet.resources:
            known = ", ".join(map(repr, sheet.resources)) or "none"
            raise ValueError(f"the cost sheet has no resource {resource!r}; it has {known}")
        return (sheet if resource is None else sheet.resources[resource]).total_rows(acquired)

    def decide(self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None) -> Decisions:
        """Return predictions, acquired features and spend from one pass; parameters as in `predict`.

        Returns
        -------
        Decisions
        """
        if is_collection(X):
            return predict_lazily(self, "decide", X, budget=budget, seeds=seeds, refused=refused)  # type: ignore[no-any-return]
        outputs, acquired = self.raw_outputs(X, budget=budget, seeds=seeds, refused=refused)
        prediction, probabilities = self.fitted_.results(outputs)
        return Decisions(prediction, probabilities, self.fitted_.costs.total_rows(acquired), acquired)

    def rounds(
        self, X: Any, k: int, *, within: float = WITHIN, budget: Any = None, seeds: Any = None
    ) -> Rounds:
        """Predict each row by a walk that asks for up to k features at once; see `Walk.panel`.

        Parameters
        ----------
        X, budget, seeds
            As in `predict`.
        k : int
            The largest number of features in a panel; with 1 the decisions are those of `decide`.
        within : float
            What a row may waste on features that it does not need, as a share of what it needs.

        Returns
        -------
        Rounds
            Decisions, with the number of rounds of each row, bit for bit those of walks.
        """
        self.check_ready()
        model = self.fitted_
        if self.asks != "columns" or not self.rows_are_independent:
            raise TypeError(f"{type(self).__name__} does not ask for the columns of one row; use its walk")
        encoded = encode(model.schema, X, type(self).__name__, needed=self._needed(None), min_rows=0)
        n_rows = len(encoded.values)
        outputs, acquired, looked, rounds = walk_in_rounds(
            model,
            encoded.values,
            check_panel(k, within),
            within=within,
            seeds=None if seeds is None else check_seeds(seeds, n_rows),
            **self._limits(budget, n_rows),
            answer_of=model.answer_of,
        )
        encoded.check(acquired[:, : model.costs.n_columns])
        prediction, probabilities = model.results(model.settle(outputs, looked))
        return Rounds(prediction, probabilities, model.costs.total_rows(acquired), acquired, rounds)

    def decide_variants(
        self, X: Any, *, budget: Any = None, **options: Any
    ) -> Iterator[tuple[dict[str, Any], Self, Decisions]]:
        """Yield `variants` with their decisions about the same rows, by default one after another.

        Parameters
        ----------
        X, budget
            As in `predict`.
        **options
            Further arguments of `decide`.

        Yields
        ------
        params, model
            As in `variants`.
        decisions : Decisions
            What ``model.decide(X)`` returns.
        """
        for params, model in self.variants():
            yield params, model, model.decide(X, budget=budget, **options)

    def decider(self, X: Any, *, budget: Any = None, **options: Any) -> Callable[[Self], Decisions]:
        """Return a function that decides about the same rows by any model of this fit.

        Models that share stages pass these once, however many of them are asked.

        Parameters
        ----------
        X : array, frame or PreparedTable
            With all columns of the fit.
        budget, **options
            As in `decide_variants`.

        Returns
        -------
        callable
            From a model, such as ``self.at(budget)``, to what its ``decide(X)`` returns.
        """
        return lambda model: model.decide(X, budget=budget, **options)

    def raw_outputs(
        self, X: Any, *, budget: Any = None, seeds: Any = None, refused: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return raw outputs, as `FittedModel.conclude` takes them, and acquired; parameters as in `predict`.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            The prior for rows that acquired nothing.
        acquired : ndarray of bool, shape (n_rows, n_features)
        """
        self.check_ready()
        model = self.fitted_
        if budget is seeds is refused is model.budget is None and model.schema.is_encoded(X):
            # The usual call for one row: checks that find nothing would take as long as the prediction.
            outputs, acquired = model.outputs(X, n_threads=self.n_threads() if len(X) > 1 else 1)
            return model.settle(outputs, acquired), acquired
        encoded = encode(model.schema, X, type(self).__name__, needed=self._needed(refused), min_rows=0)
        n_rows = len(encoded.values)
        limits = self._limits(budget, n_rows)
        given: dict[str, Any] = {
            "budget": limits["budget"],
            "seeds": None if seeds is None else check_seeds(seeds, n_rows),
            "n_threads": self.n_threads() if n_rows > 1 else 1,
        }
        flags = None if refused is None else refused_flags(model.schema, X, refused, n_rows)
        if limits["caps"] and n_rows:
            outputs, acquired = model.outputs_capped(encoded.values, limits["caps"], flags, **given)
        elif flags is not None:
            outputs, acquired = model.outputs_refused(encoded.values, flags, **given)
        elif n_rows:
            outputs, acquired = model.outputs(encoded.values, **given)
        else:
            outputs = np.empty((0, len(model.prior)))
            acquired = np.empty((0, len(model.costs.features)), dtype=np.bool_)
        # Blindness: an invalid entry is an error only if a prediction acquired it, which is known only now.
        encoded.check(acquired[:, : model.costs.n_columns])
        return model.settle(outputs, acquired), acquired

    def _limits(self, budget: Any, n_rows: int) -> dict[str, Any]:
        """Return ``budget`` and ``caps`` of each row, from the argument of an array call."""
        own = self.fitted_.budget
        money, given = split_budget(budget, self.fitted_.costs)
        caps = {**self.fitted_.own_caps(), **given}
        return {
            "budget": check_caps(own if money is None else money, n_rows),
            "caps": {name: check_caps(cap, n_rows) for name, cap in caps.items()},
        }

    def _needed(self, refused: Any) -> NDArray[np.bool_]:
        """Return the columns that a table must have for a prediction, shape (n_features,)."""
        needed, names = self.fitted_.may_buy(), refused_names(refused)
        if names:
            needed = needed.copy()
            needed[[self.fitted_.schema.index(name) for name in names]] = False
        return needed

    def check_ready(self) -> None:
        """Raise NotFittedError before `fit`; warn if a parameter was changed since, which has no effect."""
        if not self.__sklearn_is_fitted__():  # check_is_fitted takes as long as a short walk
            check_is_fitted(self)
        if names := self._fit_parameters.changes(self):
            warnings.warn(advice(self, names), UserWarning, stacklevel=3)

    def n_threads(self) -> int:
        """Return the number of threads that the ``n_jobs`` parameter means; 1 for methods without one."""
        return n_threads(getattr(self, "n_jobs", None))

    def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> Walk:
        """Start the lazy prediction of one row.

        Parameters
        ----------
        seed : int, optional
            For stochastic models; None means the model's own seed, as in the array calls.
        budget : float or mapping of str to float, optional
            Hard budget of the walk; None means the model's own hard budget, if it has one. A mapping caps the
            costs, by their unit, and further resources of the cost sheet: ``{"USD": 100, "minutes": 30}``.
        known : mapping of str to object, optional
            Features owned from the start, which cost nothing.

        Returns
        -------
        Walk
        """
        self.check_ready()
        money, given = split_budget(budget, self.fitted_.costs)
        cap = self.fitted_.budget if money is None else check_cap(money)
        limits = {**self.fitted_.own_caps(), **given}
        caps = {name: float(check_cap(amount, name) or 0.0) for name, amount in limits.items()}
        factor = 1.0 if self._reference is None else self._reference.fall_factor
        return self.fitted_.walk(check_seed(seed), cap, known, caps, factor)

    # Other models of the same fit, and files.

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of other parameters that this fit already contains.

        Each comes with the parameters to change: a fit with them, on the same data, gives the same model. So
        one fit may give many points of a sweep. By default there is only the model itself.

        Yields
        ------
        params : dict
            Empty for the model as it is.
        model : estimator
            Fitted; it may share learned parts with this one.
        """
        check_is_fitted(self)
        yield {}, self

    def reprice(self, costs: CostsLike) -> Self:
        """Return the model at other prices, without new training.

        What was chosen by the prices on held-out rows, such as exits and prunings, is chosen anew from the
        scores of these rows, which the model keeps without any value of a feature. What was learned stays: a
        fit at the new prices might buy other features.

        Parameters
        ----------
        costs : CostSheet, mapping, array, Series or path
            The new prices.

        Returns
        -------
        estimator
            It shares the learned parts with this one, which is left as it is. A certificate is not kept; its
            budget is, as one without a guarantee.

        Raises
        ------
        RepriceError
            If the method keeps no scores, and says why; see `farthing.report.audit` for the account alone.
        """
        check_is_fitted(self)
        own = self.fitted_.costs
        sheet = CostSheet.of(costs, own.features[: own.n_columns]).with_calls(own.call_prices())
        aimed, certificate = self, self.fitted_.certificate
        if certificate is not None and certificate.budget is not None and getattr(self, "budget", 0) is None:
            # The budget stays without its guarantee, since nothing was tested at these prices.
            aimed = self.variant({"budget": certificate.budget, "guarantee": None}, self.fitted_)
        try:
            model = aimed.repriced(sheet)
        except RepriceError as error:
            raise RepriceError(f"{type(self).__name__} cannot be moved to other prices: {error}") from None
        return aimed.variant({"costs": sheet.without_calls()}, replace(model, certificate=None))

    def repriced(self, costs: CostSheet) -> FittedModel:  # noqa: ARG002
        """Return the fitted model at other prices, see `reprice`; by default a RepriceError."""
        raise RepriceError(
            "it keeps no held-out scores to choose by. Fit it again, or measure what the same purchases "
            "cost: farthing.report.audit(model, X, costs)"
        )

    def variant(self, params: Mapping[str, Any], model: FittedModel) -> Self:
        """Return a copy with other parameters and another fitted model for the same table."""
        made: Self = copy(self)
        if params.keys() <= set(self._get_param_names()):
            made.__dict__.update(params)
        else:  # parameters of nested estimators; it looks up those of all of them, for each variant
            made.set_params(**params)
        return made.adopt(model)

    def save(self, path: PathLike) -> None:
        """Write the model to one file, which `farthing.load` reads; it contains no pickle and no code."""
        self.check_ready()
        save(self, path)

    def _html_repr(self) -> str:
        # scikit-learn's diagram, and under it what the fitted model may buy.
        diagram: str = super()._html_repr()
        if not self.__sklearn_is_fitted__():
            return diagram
        model = self.fitted_
        buys = [name for name, may in zip(model.schema.names, model.may_buy(), strict=True) if may]
        cap = "no hard budget" if model.budget is None else f"at most {model.budget:g} for each row"
        title = f"May buy {len(buys)} of {len(model.schema.names)} columns; {cap}"
        if self.asks == "devices":
            return diagram
        rows = [(name, f"{model.costs.price(name):g}") for name in buys]
        return diagram + html_table(title, ["column", f"price {model.costs.unit}".strip()], rows)

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        # Not ``categorical``, though categories are supported: with it scikit-learn's checks would round
        # every table to integers. Its own histogram boosting leaves it out, too.
        tags.target_tags.required = True
        return tags


def _is_value(model_type: type, name: str) -> bool:
    """Return whether a name is that of a field or a property, rather than of a method."""
    fields = getattr(model_type, "__dataclass_fields__", {})
    return name in fields or isinstance(getattr(model_type, name, None), property | cached_property)
