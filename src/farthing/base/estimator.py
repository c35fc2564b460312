"""The base class of all estimators: what classifiers and regressors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing.base.annotating import Annotating
from farthing.base.changed_parameters import Snapshot
from farthing.base.collection_fit import learn_collection
from farthing.base.files import PathLike, save
from farthing.base.fitted import FittedModel
from farthing.base.inputs import check_weights, warn_one_class
from farthing.base.parameters import check_parameters
from farthing.base.training_set import TrainingSet
from farthing.costs import CostSheet, CostsLike
from farthing.distributed.detect import is_collection
from farthing.errors import LabelError, RepriceError, TableError
from farthing.notebook import html_table
from farthing.table import PreparedTable, Schema
from farthing.walks import Decisions


class BudgetedEstimator(Annotating, ABC):
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
        self._validate_params()  # before anything is read
        model, report = learn_collection(self, X, y, sample_weight, qid)
        self.cluster_report_ = report
        return self.adopt(model)

    def check_collection(self) -> None:
        """Raise TableError unless the method, with its parameters, learns from Dask collections."""
        raise TableError(
            f"{type(self).__name__} does not learn from Dask collections; call compute() on X and y to fit "
            "in one process"
        )

    def holding_out(self) -> Callable[[int, int], NDArray[np.int64]] | None:
        """Return how a fit on collections holds rows out for validation; None if it holds out none.

        Returns
        -------
        callable or None
            From the number of rows, or of queries if there are any, and the number of rows, to the numbers
            of the rows, or of the sorted queries, that are held out, ascending. ``_learn`` gets them as
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
        if not len(table) == len(target) == len(target if qid is None else qid):
            check_consistent_length(table.values, target, *([] if qid is None else [qid]))
        # Not for a prepared table: the folds of a sweep may have one class by chance.
        if not isinstance(X, PreparedTable):
            warn_one_class(classes)
        weights = check_weights(sample_weight, len(table))
        rows = TrainingSet(table, target, weights, self._cost_sheet(table.schema), classes, qid)
        if sample_weight is None:
            return rows
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

    def _validate_params(self) -> None:
        check_parameters(type(self), self._parameter_constraints, self.get_params(deep=False))

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

    def repriced(self, costs: CostSheet) -> FittedModel:
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        # Not ``categorical``, though categories are supported: with it scikit-learn's checks would round
        # every table to integers. Its own histogram boosting leaves it out, too.
        tags.target_tags.required = True
        return tags
