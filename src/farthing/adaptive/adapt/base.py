"""ADAPT: a gate and a cheap model, learned together to approximate an expensive model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.adaptive.adapt.call_prices import with_expensive_calls
from farthing.adaptive.adapt.expensive_model import ExpensiveModel, answering
from farthing.adaptive.adapt.expensive_trainer import ExpensiveModelTrainer, TrainedExpensiveModel
from farthing.adaptive.adapt.gate_cut import GateCut
from farthing.adaptive.adapt.gate_pairs import TreePair
from farthing.adaptive.adapt.model import SEND_SHARES, AdaptModel
from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.unlabelled_validation import UnlabelledValidationMixin
from farthing.base import ContractClassifier, Guarantee, TrainingSet
from farthing.base.inputs import check_cap
from farthing.base.parameters import FRACTION, NON_NEGATIVE, SHARE, at_least
from farthing.costs import CostsLike
from farthing.errors import BudgetError
from farthing.learning.folds import held_out_of_each_class
from farthing.learning.guarantees import GuaranteedMixin, Ladder
from farthing.learning.guarantees.guaranteed import GUARANTEE
from farthing.learning.holdout import hold_out
from farthing.learning.linear_scores import LinearScores
from farthing.table import encode
from farthing.typing import Floats

# Alternations end when one of them lowers the objective by less than this share of it.
TOLERANCE: Final = 1e-5

ADAPT_CONSTRAINTS: Final[dict[str, Any]] = {
    "n_folds": [at_least(2), None],
    "call_cost": [NON_NEGATIVE],
    "send_share": [SHARE, None],
    "guarantee": GUARANTEE,
    "validation_fraction": [FRACTION],
}
"""Allowed values of the parameters that all Adapt estimators share."""


class AdaptClassifier(GuaranteedMixin, UnlabelledValidationMixin, ContractClassifier):
    """Base class of the Adapt estimators, which differ in how the gate and f1 are learned.

    The sign is fixed: a gate score above the threshold sends a row to the expensive model.
    """

    model_type = AdaptModel
    price_parameters = ("call_cost",)
    #: Whether learning needs the out-of-fold probabilities of the expensive model.
    needs_expensive_proba: ClassVar[bool] = True

    fitted_: AdaptModel

    expensive: Any
    expensive_features: Any
    n_folds: int | None
    costs: CostsLike
    call_cost: float
    budget: float | None
    send_share: float | None
    validation_fraction: float
    random_state: Any

    @abstractmethod
    def _learn_pairs(
        self, rows: TrainingSet, problem: Problem
    ) -> Sequence[tuple[LinearScores | TreePair, list[float]]]:
        """Learn gate and f1 from each start; return them, and the objective after each half step."""

    # Learning.

    def _learn(
        self,
        rows: TrainingSet,
        *,
        validation: TrainingSet | None = None,
        expensive: TrainedExpensiveModel | None = None,
    ) -> AdaptModel:
        budget = check_cap(self.budget)
        rng = check_random_state(self.random_state)
        header = rows.header()
        # Where nothing costs anything, no budget binds.
        binds = budget is not None and (rows.costs.total(rows.costs.features) > 0 or self.call_cost > 0)
        # Gate scores of training rows are fitted to them, so a threshold that keeps a budget or a share there
        # need not keep it on new rows. It is set on held-out rows.
        held_out = validation
        if binds and held_out is None:
            rows, held_out = hold_out(rows, self.validation_fraction, lambda n, k: rng.permutation(n)[:k])
        if expensive is None:
            expensive = self.train_expensive(rows, rng)
        own_log_proba, cache = expensive.own_log_proba, expensive.cache
        # A share depends on gate scores alone, so only gate and f1 must not have seen these rows.
        if held_out is None and self._default_share() not in (None, 0, 1):
            held = held_out_of_each_class(rows.values, rows.target, self.validation_fraction, rng)
            if held.any():
                # The cache belongs to all rows.
                own_log_proba, cache = own_log_proba[~held], {}
                rows, held_out = rows.take(~held), rows.take(held)
        problem = Problem(rows.target, rows.weights, own_log_proba, rows.n_classes, cache)
        cut = self._cut(rows if held_out is None else held_out, budget if binds else None, expensive.model)
        costs = with_expensive_calls(rows.costs, self.call_cost, answering(expensive.model))
        found: list[AdaptModel] = []
        refusal: BudgetError | None = None
        for pair, history in self._learn_pairs(rows, problem):
            model = AdaptModel(
                **{**header, "costs": costs},
                expensive=expensive.model,
                pair=pair,
                threshold=0.0,
                send_thresholds=np.zeros(len(SEND_SHARES)),
                history=np.array(history, dtype=np.float64),
            )
            try:
                found.append(cut.apply(model))
            except BudgetError as error:
                refusal = error
        if refusal is not None and not found:
            raise refusal
        best = self._best(found, rows, problem)
        # After the choice, which must not depend on it: all shares of `variants` are of one model.
        return best if self.send_share is None else replace(cut, share=self.send_share).apply(best)

    def _cut(self, rows: TrainingSet, budget: float | None, expensive: ExpensiveModel) -> GateCut:
        """Return how the threshold is set without a ``send_share``; no budget means that none binds."""
        share, acquired = self._default_share(), None
        if budget is not None:
            share, acquired = None, answering(expensive).acquires(rows.values)
        return GateCut(rows=rows, share=share, budget=budget, acquired=acquired, n_threads=self.n_threads())

    def _best(
        self,
        found: list[AdaptModel],
        rows: TrainingSet,  # one start, one system
        problem: Problem,
    ) -> AdaptModel:
        """Return the best of the systems that were learned from several starts."""
        return found[0]

    def _default_share(self) -> float | None:
        """Return the share of rows to send on without a budget or ``send_share``; None means even odds."""
        return None

    def train_expensive(self, rows: TrainingSet, rng: np.random.RandomState) -> TrainedExpensiveModel:
        """Fit the expensive model unless it is fitted, and predict the rows out of fold.

        Parameters
        ----------
        rows : TrainingSet
            The training rows.
        rng : RandomState
            Generator for the folds.

        Returns
        -------
        TrainedExpensiveModel
            As `fit_rows` takes it in ``expensive``, so that several settings can share it.
        """
        n_folds = self.n_folds if self.needs_expensive_proba else None
        trainer = ExpensiveModelTrainer(self.expensive_features)
        return trainer.train(self.expensive, rows, n_folds, rng)

    # Other models of the same fit.

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other shares to send, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        for share, threshold in zip(SEND_SHARES, self.fitted_.send_thresholds.tolist(), strict=True):
            params = {"send_share": share}
            yield params, self.variant(params, self.fitted_.at(threshold))
        yield {}, self

    def with_threshold(self, threshold: float) -> Self:
        """Return the same model with another gate threshold; everything else is shared.

        Parameters
        ----------
        threshold : float
            Threshold of the gate's log-odds: minus infinity sends every row on, plus infinity sends none.

        Returns
        -------
        estimator
        """
        check_is_fitted(self)
        return self.variant({}, self.fitted_.at(threshold))

    def guarantee_ladder(self, guarantee: Guarantee) -> Ladder:  # the same for all
        """Return the models of all thresholds of `variants`, from the gate that sends no row to all rows."""
        thresholds = np.unique(self.fitted_.send_thresholds)[::-1].tolist()
        between = [(low + high) / 2 for high, low in pairwise(thresholds) if np.isfinite(low + high)]
        rungs = sorted({np.inf, *thresholds, *between, -np.inf}, reverse=True)

        def make(threshold: float) -> AdaptClassifier:
            return self.variant({}, replace(self.fitted_.at(threshold), certificate=None))

        return Ladder(tuple(rungs), -np.inf, make, is_ordered=True)

    # Predicting.

    def gate_scores(self, X: Any) -> Floats:
        """Return the gate's score of each row, its log-odds of going to the expensive model.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        check_is_fitted(self)
        encoded = encode(self.fitted_.schema, X, type(self).__name__)
        scores, acquired = self.fitted_.gate(encoded.values, self.n_threads())
        # Blindness: only the entries that the gate reads are validated.
        encoded.check(acquired)
        return scores

    def gate_proba(self, X: Any) -> Floats:
        """Return the probability, by the gate, that each row should go to the expensive model.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        return np.asarray(expit(self.gate_scores(X)))

    def sent(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows the gate sends to the expensive model.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
        """
        return self.gate_scores(X) > self.fitted_.threshold

    # Files.

    def file_params(self) -> dict[str, Any]:
        """Return the constructor parameters to store in a file: without the expensive model to fit."""
        return {**super().file_params(), "expensive": None}
