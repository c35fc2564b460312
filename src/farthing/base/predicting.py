"""Predictions of a fitted model: of tables by array calls, of one row by a walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base.collection_predict import predict_lazily
from farthing.base.fitted_estimator import FittedEstimator
from farthing.base.inputs import check_cap, check_caps, check_seed, check_seeds
from farthing.costs import spending_limit, split_budget
from farthing.distributed.detect import is_collection
from farthing.table import encode, refused_flags, refused_names
from farthing.walks import WITHIN, Decisions, Rounds, Walk, check_panel, largest_share, walk_in_rounds


class Predicting(FittedEstimator):
    """The calls that predict, with an account of what each row buys."""

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

    def panel_share(
        self, X: Any, k: int, *, more: float = WITHIN, budget: Any = None, seeds: Any = None
    ) -> float:
        """Return the largest ``within`` for which panels of k cost little more than one question at a time.

        A walk that was unlucky may waste nothing more, and one that was lucky keeps what it was allowed, so
        that rows waste less on average than ``within``; or more, where the model does not foresee answers
        well. This looks at what rows do waste, such as those that the model learned from.

        Parameters
        ----------
        X, k, budget, seeds
            As in `rounds`.
        more : float
            How much more money, as a share of that of one question at a time.

        Returns
        -------
        float
            For `rounds`, `Walk.panel` and `consult`; infinite if panels that are always full cost no more.
        """
        if not more >= 0:  # written so that NaN fails, too
            raise ValueError(f"more must be a share of at least zero; got {more!r}")

        def money(k: int, within: float) -> float:
            return float(self.rounds(X, k, within=within, budget=budget, seeds=seeds).spent.sum())

        allowed = spending_limit((1 + more) * money(1, 0.0))
        return largest_share(lambda within: money(k, within) <= allowed)

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
