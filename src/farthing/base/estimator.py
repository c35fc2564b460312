"""The contract every model keeps, for all that classifiers and regressors share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from copy import copy
from types import NoneType, UnionType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing.base.files import PathLike, save, stored_types
from farthing.base.inputs import check_cap, check_caps, check_seed, check_seeds, check_weights
from farthing.costs import CostSheet
from farthing.table import Encoded, Schema
from farthing.walks import Decisions, Policy, Walk, walk_rows


class BudgetedEstimator(BaseEstimator, ABC):  # type: ignore[misc]
    """A model that knows what features cost; the base of `ContractClassifier` and `ContractRegressor`.

    A method fills in four things and gets the whole contract:

    ``_fit(values, target, weights, sheet)``
        Learn. Everything is validated: ``values`` are floats with NaN for missing and codes for categories
        (see ``self.schema_``), ``weights`` are positive. It may be the user's own array: never write to it.
        Sets the fitted attributes, and ``prior_`` if the raw output of knowing nothing is not the default.
    ``_policy(seed)``
        A fresh `Policy` for one row.
    ``_conclude(outputs)``
        From raw outputs (n_rows, n_outputs) to probabilities (n_rows, n_classes) or values (n_rows,); each
        row on its own, the same bits alone and among others (see `farthing.base.links`).
    ``_stored``
        Names and types of the fitted attributes that `_fit` sets and prediction needs. Prediction must rely
        on these alone, never on constructor parameters, which a file may hold at any value.

    and may add ``_answers``, the array calls in one go, and ``_check_stored``, the cross checks after a load.

    Attributes
    ----------
    costs_ : CostSheet
        The prices, in the order of the columns.
    schema_ : Schema
        Names and types of the columns.
    prior_ : ndarray of float64, shape (n_outputs,)
        The raw output of a row whose prediction looked at nothing.
    budget_ : float or None
        The cap that predictions keep when none is given; always None if the method's budget is not hard.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str, shape (n_features_in_,)
        Names of the columns, if the model was fitted on a frame.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "schema_": Schema,
        "costs_": CostSheet,
        "prior_": np.ndarray,
        "budget_": float | NoneType,
    }
    # Whether the ``budget`` parameter caps every row at prediction, rather than their mean or the fit alone.
    _hard_budget: ClassVar[bool] = False
    # Whether the ``budget`` parameter is a share of what everything costs, rather than a sum of money.
    _budget_is_share: ClassVar[bool] = False
    # Whether walks ask for columns, and the ledger is over them, rather than over devices.
    _asks_columns: ClassVar[bool] = True
    # The parameter that prices are multiplied by in learning, if the method has one.
    _tradeoff: ClassVar[str] = "tradeoff"
    # Whether a row's prediction is its own affair. Methods whose unit is a query of many rows say no, and are
    # exempt from the checks of row independence.
    _rows_alone: ClassVar[bool] = True

    # What a method fills in.

    @abstractmethod
    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[Any],
        weights: NDArray[np.float64],
        sheet: CostSheet,
    ) -> None:
        """Learn from an encoded table."""

    @abstractmethod
    def _policy(self, seed: int | None) -> Policy:
        """Return a fresh policy for one row; a seed of None is the model's own."""

    @abstractmethod
    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities or values, row by row."""

    def _answers(
        self,
        encoded: Encoded,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return raw outputs (n_rows, n_outputs) and acquired (n_rows, n_features); by default from walks."""
        return walk_rows(
            self._policy, self.costs_, encoded.values, len(self.prior_), budget=budget, seeds=seeds
        )

    def _check_stored(self) -> None:
        """Raise ValueError if attributes read from a file do not fit together."""

    def _file_params(self) -> dict[str, Any]:
        """Return the constructor parameters as a file holds them, which has no place for functions."""
        params: dict[str, Any] = self.get_params(deep=False)
        if params.get("costs") is not None:
            # The sheet as fitted stands for whatever it came from: a mapping, a Series, a file that may move.
            params["costs"] = self.costs_
        return params

    def _sheet(self, schema: Schema) -> CostSheet:
        """Return the prices from the ``costs`` parameter, over what the ledger of the method is about."""
        return CostSheet.of(getattr(self, "costs", None), schema.names)

    def _ledger_names(self) -> tuple[str, ...]:
        """Return what the ledger of a fitted model is about: its columns, or what stands in for them."""
        return self.schema_.names

    @property
    def _questions(self) -> Any:
        """What walks may ask for, and how answers are read: the schema, or what stands in for it."""
        return self.schema_

    def _start_walk(self, policy: Policy, budget: float | None, known: Mapping[str, object] | None) -> Walk:
        """Return the walk of a fresh policy."""
        return Walk(policy, self._questions, self.costs_, self._conclude_row, budget=budget, known=known)

    # What the two kinds of models differ in.

    @abstractmethod
    def _learn_target(self, y: Any) -> NDArray[Any]:
        """Check the target and return it as codes or floats, shape (n_rows,)."""

    @abstractmethod
    def _default_prior(self, target: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is predicted when nothing is known, shape (n_outputs,)."""

    @abstractmethod
    def _results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        """Return predictions (n_rows,) and probabilities (n_rows, n_classes) or None."""

    @abstractmethod
    def _conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        """Return the prediction and the probabilities of one walk."""

    # The contract.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are welcome.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is as if it were not there.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight)

    def _learn(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        by_row: Mapping[str, NDArray[Any]] | None = None,
        **options: Any,
    ) -> Self:
        """Validate everything, drop rows of weight zero and call ``_fit``.

        ``by_row`` (more arrays of one entry a row) and ``options`` go to ``_fit`` by name.
        """
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        schema = Schema.learn(X, type(self).__name__)
        values = schema.encode(X, type(self).__name__).values
        target = self._learn_target(y)
        rows = dict(by_row or {})
        check_consistent_length(values, target, *rows.values())
        weights = check_weights(sample_weight, len(values))
        if not (kept := weights > 0).all():
            values, target, weights = values[kept], target[kept], weights[kept]
            rows = {name: array[kept] for name, array in rows.items()}
        return self._fit_encoded(schema, self._sheet(schema), values, target, weights, **rows, **options)

    def _fit_encoded(
        self,
        schema: Schema,
        sheet: CostSheet,
        values: NDArray[np.floating],
        target: NDArray[Any],
        weights: NDArray[np.float64],
        **more: Any,
    ) -> Self:
        """Learn from what `fit` has checked, or another model that learns by way of this one.

        A classifier that is fitted so must have its ``classes_``.
        """
        self._adopt(schema)
        self.costs_ = sheet
        cap = check_cap(getattr(self, "budget", None))
        self.budget_ = cap if self._hard_budget else None
        self.prior_ = self._default_prior(target, weights)
        self._fit(values, target, weights, sheet, **more)
        return self

    def predict(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[Any]:
        """Predict each row.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            Only the entries that a prediction acquires are looked at.
        budget : float or array, shape (n_rows,), optional
            What each row may spend; None is the model's own hard budget, if it has one.
        seeds : int or array, shape (n_rows,), optional
            A seed for each row, for models that draw lots; the others have no use for it.

        Returns
        -------
        ndarray, shape (n_rows,)
        """
        outputs, _ = self._raw(X, budget, seeds)
        return self._results(outputs)[0]

    def acquired(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.bool_]:
        """Say what each row's prediction looks at and pays for; parameters as in `predict`.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_features)
        """
        return self._raw(X, budget, seeds)[1]

    def spend(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Say what each row's prediction pays, by the cost sheet; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        acquired = self.acquired(X, budget=budget, seeds=seeds)
        return self.costs_.total_rows(acquired)

    def decide(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Decisions:
        """Predict, and say what was acquired and paid, in one pass; parameters as in `predict`.

        Returns
        -------
        Decisions
        """
        outputs, acquired = self._raw(X, budget, seeds)
        prediction, probabilities = self._results(outputs)
        return Decisions(prediction, probabilities, self.costs_.total_rows(acquired), acquired)

    def walk(
        self,
        seed: int | None = None,
        budget: float | None = None,
        known: Mapping[str, object] | None = None,
    ) -> Walk:
        """Start the lazy prediction of one row.

        Parameters
        ----------
        seed : int, optional
            For models that draw lots; None is the model's own seed, as in the array calls.
        budget : float, optional
            What the walk may spend; None is the model's own hard budget, if it has one.
        known : mapping of str to object, optional
            Features owned from the start, which cost nothing.

        Returns
        -------
        Walk
        """
        if not self.__sklearn_is_fitted__():  # its own check takes as long as a short walk
            check_is_fitted(self)
        cap = self.budget_ if budget is None else check_cap(budget)
        return self._start_walk(self._policy(check_seed(seed)), cap, known)

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models that other parameters would give and that this fit holds already.

        Each comes with the parameters to change: a fit with them, on the same data, gives the same model. So
        one fit may give many points of a sweep. By default there is only the model itself.

        Yields
        ------
        params : dict
            Empty for the model as it is.
        model : estimator
            Fitted; it may share what was learned with this one.
        """
        check_is_fitted(self)
        yield {}, self

    def _variant(self, params: Mapping[str, Any], **learned: Any) -> Self:
        """Return a copy with other parameters and other fitted attributes."""
        made: Self = copy(self).set_params(**params)
        for name, value in learned.items():
            setattr(made, name, value)
        return made

    def save(self, path: PathLike) -> None:
        """Write the model to one file, which `farthing.load` reads; no pickle, no code in it."""
        check_is_fitted(self)
        save(self, path)

    # How it is done.

    def __sklearn_is_fitted__(self) -> bool:
        """Fitted is what a file could hold, so not a model whose first fit failed half way."""
        return all(hasattr(self, name) for name in stored_types(type(self)))

    def _raw(self, X: Any, budget: Any, seeds: Any) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return raw outputs (n_rows, n_outputs), the prior where due, and acquired (n_rows, n_features)."""
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        n_rows = len(encoded.values)
        outputs, acquired = self._answers(encoded, *self._options(n_rows, budget, seeds))
        encoded.check(acquired)
        return self._settle(outputs, acquired), acquired

    def _options(
        self, n_rows: int, budget: Any, seeds: Any
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.int64] | None]:
        """Return the budget and the seed of each row, as the array calls take them."""
        return (
            check_caps(self.budget_ if budget is None else budget, n_rows),
            None if seeds is None else check_seeds(seeds, n_rows),
        )

    def _settle(self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Give the prior to rows that looked at nothing."""
        if len(outputs) == 1:  # a walk's, which pays for every call
            return outputs if np.count_nonzero(looked) else self.prior_[np.newaxis]
        some = looked.any(axis=1, keepdims=True)
        return outputs if some.all() else np.where(some, outputs, self.prior_)

    def _adopt(self, schema: Schema) -> None:
        """Take over the columns, under the names that scikit-learn gives them."""
        self.schema_ = schema
        self.n_features_in_ = len(schema.names)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_  # of an earlier fit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        # Not ``categorical``, though categories are welcome: with it scikit-learn's checks would round every
        # table to integers. Its own histogram boosting leaves it out, too.
        tags.target_tags.required = True
        return tags
