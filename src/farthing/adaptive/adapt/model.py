"""The fitted ADAPT model: a gate, a cheap model, and an expensive model for the rows that are sent on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.call_prices import CallPlaces
from farthing.adaptive.adapt.expensive_model import Answering, ExpensivePolicy, answering
from farthing.adaptive.adapt.gate_pairs import TreePair
from farthing.base import ClassifierModel, ContractClassifier
from farthing.costs import RowLedger
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import n_class_scores
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.learning.sklearn_model import SklearnModel
from farthing.learning.spread_classes import spread_classes
from farthing.typing import Floats
from farthing.walks import Policy, pass_refusal, walk_rows
from farthing.walks.plans import Handover, Link, LinkStep, Plan, Station, StationPlan, TreePlan

# Shares of rows sent on for which one fit yields variants.
SEND_SHARES: Final = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaptModel(ClassifierModel):
    """A gate, a cheap model f1 and an expensive model; the raw output is a probability for each class.

    Every row pays for what gate and f1 read. A gate score above the threshold sends the row to the expensive
    model, which then answers; features that the row owns already are free for it.

    Parameters
    ----------
    expensive : ContractClassifier or SklearnModel
        The fitted expensive model.
    pair : LinearScores or TreePair
        Gate and f1: output 0 is the gate's score.
    threshold : float
        A row is sent on if its gate score is above it.
    send_thresholds : ndarray of float64, shape (n_shares,)
        The thresholds of `SEND_SHARES`.
    history : ndarray of float64, shape (n_steps,)
        The objective after each half step of learning.
    """

    expensive: ContractClassifier | SklearnModel
    pair: LinearScores | TreePair
    threshold: float
    send_thresholds: NDArray[np.float64]
    history: NDArray[np.float64]

    @cached_property
    def answering(self) -> Answering:
        """The expensive model, behind one protocol for both kinds."""
        return answering(self.expensive)

    @cached_property
    def calls(self) -> CallPlaces:
        """Where the cost sheet has the call of the expensive model, and calls within it."""
        return CallPlaces.of(self.costs, self.answering)

    def at(self, threshold: float) -> AdaptModel:
        """Return the same model with another threshold of the gate."""
        return replace(self, threshold=float(threshold))

    def gate(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the gate's scores, (n_rows,), and what gate and f1 acquire, (n_rows, n_features)."""
        scores, acquired = self.pair.outputs(values, n_threads)
        return np.ascontiguousarray(scores[:, 0]), acquired

    def cheap_probabilities(self, scores: Floats) -> Floats:
        """Return the probabilities of f1, (n_rows, n_classes), from the scores of gate and f1."""
        return scores_to_probabilities(scores[:, 1:], len(self.classes))

    def expensive_probabilities(self, values: NDArray[np.floating]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return probabilities of all classes and acquired of the expensive model without a gate."""
        probabilities, acquired = self.answering.outputs(values)
        return self._spread(probabilities), acquired

    # The protocol of fitted models.

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the gate, f1 or the expensive model reads, shape (n_features,)."""
        if isinstance(self.expensive, SklearnModel):
            flags = np.isin(np.arange(len(self.schema)), self.expensive.columns)
        else:
            flags = self.expensive.fitted_.may_buy().copy()
        flags |= (
            self.pair.forest.tested
            if isinstance(self.pair, TreePair)
            else np.isin(np.arange(len(self.schema)), self.pair.used)
        )
        return flags

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows: all by gate and f1, those sent on by the expensive model as well."""
        if budget is not None:
            return self._outputs_within(values, budget, seeds, n_threads)
        scores, cheap = self.pair.outputs(values, n_threads)
        outputs, acquired = self.cheap_probabilities(scores), self.calls.account(cheap)
        sent = np.flatnonzero(scores[:, 0] > self.threshold)
        if len(sent):
            probabilities, more = self.answering.outputs(values[sent], None if seeds is None else seeds[sent])
            outputs[sent] = self._spread(probabilities)
            acquired[sent] = self.calls.account(cheap[sent], more)
        return outputs, acquired

    def _outputs_within(
        self,
        values: NDArray[np.floating],
        budget: Floats,
        seeds: NDArray[np.int64] | None,
        n_threads: int,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Answer rows that have a budget each; what a row is refused depends on both models."""
        # In the order of the walk: the gate and f1 buy first, the expensive model spends what they leave.
        prices = self.costs.without_calls()
        scores, cheap, refused = self.pair.outputs_within(values, prices, budget, n_threads)
        outputs, acquired = self.cheap_probabilities(scores), self.calls.account(cheap)
        sent = np.flatnonzero(scores[:, 0] > self.threshold)
        if not len(sent):
            return outputs, acquired
        called = acquired[sent]
        if self.calls.call is not None:
            called[:, self.calls.call] = True
        found = self.answering.outputs_within(values[sent], self.costs, budget[sent], called, refused[sent])
        if found is not None:
            # A row that cannot pay for the expensive model keeps the answer of f1.
            probabilities, whole, answered = found
            whole[:, self.calls.n_columns :] &= whole[:, : self.calls.n_columns].any(axis=1, keepdims=True)
            outputs[sent[answered]] = self._spread(probabilities[answered])
            acquired[sent[answered]] = whole[answered]
        else:
            # Walked again from the first question: the expensive model's policy needs the ledger of each row.
            outputs[sent], acquired[sent] = walk_rows(
                self.policy,
                self.costs,
                values[sent],
                outputs.shape[1],
                budget=budget[sent],
                seeds=None if seeds is None else seeds[sent],
            )
        return outputs, acquired

    def plan(self) -> Plan:
        """Return gate and f1; the call of the expensive model is a question."""
        reads = sorted(self.expensive.columns.tolist()) if isinstance(self.expensive, SklearnModel) else ()
        price = 0.0 if self.calls.call is None else float(self.costs.own[self.calls.call])
        handover = Handover("expensive model", self.threshold, tuple(reads), price)
        if isinstance(self.pair, TreePair):
            return TreePlan(self.pair.predictor, (self.pair.forest.n_trees,), handover=handover)
        scores = self.pair.sum_plan(self.pair.coef, self.pair.intercept)
        station = Station(tuple(self.pair.used.tolist()), scores)
        return StationPlan((station,), self.pair.intercept, partial=True, handover=handover)

    def link_steps(self) -> Link:
        """Return the steps from the scores of gate and f1 to probabilities of f1."""
        return (LinkStep("rest"), *probability_steps(len(self.classes)))

    def policy(self, seed: int | None = None) -> Policy:
        """Return a walk through gate and f1, then through the expensive model if the gate opens."""
        return _AdaptPolicy(self, self.answering.policy(len(self.schema.names), seed, self.calls.inner))

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities as they are."""
        return outputs

    def check(self) -> None:
        """Raise ValueError if gate, cheap model and expensive model do not fit together."""
        super().check()
        # Fields may come from a hostile file, so everything that prediction relies on is checked here.
        n_features, n_classes = len(self.schema.names), len(self.classes)
        if self.pair.n_features != n_features:
            raise ValueError(f"gate and f1 read {self.pair.n_features} columns; the table has {n_features}")
        if self.pair.n_outputs != 1 + n_class_scores(n_classes):
            raise ValueError(f"{self.pair.n_outputs} scores do not fit {n_classes} classes")
        if np.isnan(self.threshold):
            raise ValueError("threshold_ must be a number")
        shares = self.send_thresholds
        if shares.dtype != np.float64 or shares.shape != (len(SEND_SHARES),) or np.isnan(shares).any():
            raise ValueError(f"send_thresholds_ must be {len(SEND_SHARES)} numbers")
        if self.history.dtype != np.float64 or self.history.ndim != 1:
            raise ValueError("history_ must be a list of floats")
        if isinstance(self.expensive, SklearnModel):
            columns = self.expensive.columns
            if not len(columns) or not 0 <= columns.min() <= columns.max() < n_features:
                raise ValueError("the expensive model reads columns that the table does not have")
        elif self.expensive.fitted_.schema.columns != self.schema.columns:
            raise ValueError("the expensive model must be one of the same columns")
        CallPlaces.of(self.costs, self.answering)
        if not np.isin(self.answering.classes, self.classes).all():
            raise ValueError("the expensive model knows classes that this one does not")

    def _spread(self, probabilities: Floats) -> Floats:
        return spread_classes(probabilities, self.answering.classes, self.classes)

    def row_probabilities(self, scores: Floats, expensive: Floats | None) -> Floats:
        """Return the raw output of one row from its scores, and what the expensive model answered if asked.

        Parameters
        ----------
        scores : ndarray of float64, shape (1 + n_scores,)
            Scores of the gate and f1.
        expensive : ndarray of float64, shape (n_known_classes,), or None
            Probabilities of the expensive model's classes.
        """
        if expensive is not None:
            return np.asarray(self._spread(expensive[np.newaxis])[0])
        return np.asarray(self.cheap_probabilities(scores[np.newaxis])[0])


class _AdaptPolicy:
    """Gate and f1 first; then, if the gate opens, the expensive model."""

    def __init__(self, model: AdaptModel, after: ExpensivePolicy) -> None:
        self._model = model
        self._pair = model.pair.policy()
        self._after = after
        self._sent: bool | None = None  # None until the gate has its score
        self._call = model.calls.call  # None once it is made, or if it is free
        self._heard: int | None = None
        self._looked = False

    def wants(self, ledger: RowLedger) -> int | None:
        self._looked |= self._heard is not None and bool(ledger.owned[self._heard])
        if self._sent is None:
            column = self._pair.wants(ledger)
            if column is not None:
                return column
            self._sent = bool(self._pair.output()[0] > self._model.threshold)
            if self._sent and self._call is not None:
                # A row that cannot pay for the expensive model keeps the answer of f1.
                self._sent = self._after.can_pay(ledger, self._call)
        if not self._sent:
            return None
        # As for trees, see `PaidTrees`: a model is not called for a row of which it knows nothing.
        if self._call is not None and self._looked:
            return self._call
        while (column := self._after.wants(ledger)) is not None:
            if self._call is None or ledger.affords_all((column, self._call)):
                return column
            self._after.hear(column, np.nan)
        return None

    def hear(self, column: int, value: float) -> None:
        if column == self._call:
            self._call = None
            return
        self._heard = column
        (self._pair if self._sent is None else self._after).hear(column, value)

    def refuse(self, column: int) -> None:
        pass_refusal(self._pair if self._sent is None else self._after, column)

    def output(self) -> Floats:
        expensive = self._after.output() if self._sent and self._call is None else None
        return self._model.row_probabilities(self._pair.output(), expensive)
