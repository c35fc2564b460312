"""Adaptive approximation: a gate, a cheap model, and an expensive one for the rows that the gate sends on."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.adaptive.adapt.expensive_model import (
    AfterGate,
    ExpensiveModelTrainer,
    Prepared,
    Rows,
    answers,
    answers_within,
    beyond,
)
from farthing.adaptive.adapt.gate_pairs import SLACK, LinearPair, Pair, TreePair
from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.adapt.projection import Floats, mean_of
from farthing.adaptive.adapt.sklearn_model import SklearnModel
from farthing.adaptive.adapt.thresholds import (
    WithValidation,
    apart,
    check_share,
    lowest_threshold,
    share_threshold,
)
from farthing.base import ContractClassifier, n_threads, sigmoid, softmax
from farthing.base.inputs import check_cap
from farthing.base.parameters import check_whole
from farthing.costs import CostSheet, RowLedger
from farthing.errors import BudgetError
from farthing.table import Encoded
from farthing.walks import Policy, walk_rows

# The shares sent on that one fit gives as variants.
SEND_SHARES: Final = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
# Turns end when one of them lowers the objective by less than this share of it.
TOLERANCE = 1e-5

EXPENSIVE = """expensive : classifier, optional
        What is approximated. Any scikit-learn classifier with ``predict_proba`` or ``decision_function``
        (scaled by Platt's method then, which may move its border a little); it gets categories as numbers,
        and the median for a missing value unless it takes NaN. Or a Farthing classifier, whose own spend on a
        row counts; an Adapt model among them, so that stages nest, each approximating the system before it.
        If it is fitted, it is taken as it is; else a copy is fitted. None is a random forest, a
        `BudgetForestClassifier` that knows no prices. A file holds the fitted model, not this parameter."""

SHARED = """expensive_features : sequence of str or int, or mask, optional
        The columns that a scikit-learn model reads, in its order; it needs them all at once. None is all
        columns, or those it was fitted on by name.
    n_folds : int, optional
        Folds. Copies of the expensive model are fitted on all folds but one, and asked about that one, since
        a model is too sure of the rows that it has learned from. None takes the word of the model itself, as
        for trees that `farthing.forests.from_model` brought over, which cannot be fitted again.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, optional
        What rows may spend in the mean. It sets the gate's threshold on validation rows: the largest set of
        top gate scores, cut where scores differ, whose mean spend fits. None is a threshold of 0.
    send_share : float, optional
        Share of the rows that the gate sends on, 0 to 1, in place of the threshold of 0: the largest set of
        top gate scores that is no larger. It is one of the validation rows if there are any, else of the
        training rows. A budget holds besides.
    validation_fraction : float
        Share of the rows that is held out to set the threshold, if there is a budget and `fit` is given no
        validation rows.
    random_state : int, RandomState or None
        For folds and held out rows."""

ATTRIBUTES = """expensive_ : classifier
        The fitted expensive model; a scikit-learn model is ``expensive_.model``.
    pair_ : LinearPair or TreePair
        The gate and f1.
    threshold_ : float
        A row is sent on if its gate score is above it.
    send_thresholds_ : ndarray of float64, shape (n_shares,)
        The thresholds of the ``send_share`` of each of the model's `variants`.
    history_ : ndarray of float64, shape (n_steps,)
        The objective of (OPT) after each half step: q, then gate and f1, then q, and so on.
    classes_ : ndarray, shape (n_classes,)
        The labels."""

TEXTS = {"expensive": EXPENSIVE, "shared": SHARED, "attributes": ATTRIBUTES}
"""What the docstrings of the estimators share."""


class AdaptClassifier(WithValidation, ContractClassifier):
    """What the estimators share; they differ in how gate and f1 are learned.

    The raw output is a probability for each class. The sign is fixed: a gate score above the threshold sends
    a row to the expensive model.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "expensive_": ContractClassifier | SklearnModel,
        "pair_": LinearPair | TreePair,
        "threshold_": float,
        "send_thresholds_": np.ndarray,
        "history_": np.ndarray,
    }
    _tradeoff = "tradeoff"
    # Whether learning needs to know what the expensive model says of the training rows.
    _needs_words: ClassVar[bool] = True

    expensive: Any
    expensive_features: Any
    n_folds: int | None
    costs: Any
    budget: float | None
    send_share: float | None
    validation_fraction: float
    random_state: Any

    # What the estimators differ in.

    @abstractmethod
    def _learn_pair(self, rows: Rows, problem: Problem) -> tuple[Pair, list[float]]:
        """Learn gate and f1; return them, and the objective after each half step."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError for a parameter that cannot be."""

    # Learning.

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: Floats,
        sheet: CostSheet,
        *,
        validation: Any = None,
        prepared: Prepared | None = None,
    ) -> None:
        self._check_parameters()
        check_share("validation_fraction", self.validation_fraction)
        if self.send_share is not None and not 0 <= self.send_share <= 1:
            raise ValueError(f"send_share must lie between 0 and 1; got {self.send_share!r}")
        if self.n_folds is not None:
            check_whole("n_folds", self.n_folds, 2)
        budget = check_cap(self.budget)
        rows = Rows(values, target, weights)
        chance = check_random_state(self.random_state)
        held = self._held_rows(validation)
        # Where nothing costs anything, no budget binds.
        binds = budget is not None and sheet.total(sheet.features) > 0
        if binds and held is None:
            rows, held = apart(rows, self.validation_fraction, chance)
        if prepared is None:
            shop = ExpensiveModelTrainer(self.schema_, sheet, self.classes_, self.expensive_features)
            prepared = shop.prepare(self.expensive, rows, self.n_folds if self._needs_words else None, chance)
        problem = Problem(rows.target, rows.weights, prepared.log_own, len(self.classes_), prepared.kept)
        pair, history = self._learn_pair(rows, problem)
        self.expensive_ = prepared.model
        self.pair_ = pair
        self.history_ = np.array(history, dtype=np.float64)
        least = self._threshold(held, budget) if binds and held is not None else -np.inf
        self._set_thresholds(rows if held is None else held, least, otherwise=least if binds else 0.0)

    def _set_thresholds(self, rows: Rows, least: float, otherwise: float) -> None:
        """Set the thresholds of the shares sent on, none below ``least``; without a share, ``otherwise``."""
        gate = np.ascontiguousarray(self.pair_.answers(rows.values, self._threads())[0][:, 0])

        def at(share: float) -> float:
            return max(least, share_threshold(gate, rows.weights, share))

        self.send_thresholds_ = np.array([at(share) for share in SEND_SHARES])
        self.threshold_ = otherwise if self.send_share is None else at(self.send_share)

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other shares sent on, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        for share, threshold in zip(SEND_SHARES, self.send_thresholds_.tolist(), strict=True):
            params = {"send_share": share}
            yield params, self._variant(params, threshold_=threshold)
        yield {}, self

    def _threshold(self, rows: Rows, budget: float | None) -> float:
        """Return the lowest threshold at which the mean spend of the rows is within the budget."""
        gate, cheap, whole = self._spends(rows.values)
        shares = rows.weights / rows.weights.sum()
        least = mean_of(cheap, shares)
        limit = np.inf if budget is None else budget * (1 + SLACK)
        if least > limit:
            raise BudgetError(
                f"gate and cheap model alone cost {least:g} in the mean, more than the budget of {budget:g}; "
                "raise the budget, or tradeoff, so that they buy less"
            )
        return lowest_threshold(gate, (whole - cheap) * shares, limit - least)

    def _spends(self, values: NDArray[np.floating]) -> tuple[Floats, Floats, Floats]:
        """Return gate scores, what each row pays if it stays, and what it pays if it is sent on."""
        scores, acquired = self.pair_.answers(values, self._threads())
        _, more = answers(self.expensive_, values)
        total = self.costs_.total_rows
        return np.ascontiguousarray(scores[:, 0]), total(acquired), total(acquired | more)

    # Predicting.

    def gate_proba(self, X: Any) -> Floats:
        """Give the probability, by the gate, that each row should go to the expensive model.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        return np.asarray(expit(self._gate(X)))

    def sent(self, X: Any) -> NDArray[np.bool_]:
        """Say which rows the gate sends to the expensive model.

        Returns
        -------
        ndarray of bool, shape (n_rows,)
        """
        return self._gate(X) > self.threshold_

    def _gate(self, X: Any) -> Floats:
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        scores, acquired = self.pair_.answers(encoded.values, self._threads())
        encoded.check(acquired)
        return np.ascontiguousarray(scores[:, 0])

    def _answers(
        self, encoded: Encoded, budget: NDArray[np.float64] | None, seeds: NDArray[np.int64] | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        values = encoded.values
        if budget is not None:
            return self._answers_within(values, budget, seeds)
        scores, acquired = self.pair_.answers(values, self._threads())
        outputs = self._stay(scores)
        sent = np.flatnonzero(scores[:, 0] > self.threshold_)
        if len(sent):
            said, more = answers(self.expensive_, values[sent], None if seeds is None else seeds[sent])
            outputs[sent] = self._spread(said)
            acquired[sent] |= more
        return outputs, acquired

    def _answers_within(
        self, values: NDArray[np.floating], budget: Floats, seeds: NDArray[np.int64] | None
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Answer rows that have a budget each; who is refused what depends on both models."""
        scores, acquired, refused = self.pair_.within(values, self.costs_, budget, self._threads())
        outputs = self._stay(scores)
        sent = np.flatnonzero(scores[:, 0] > self.threshold_)
        if not len(sent):
            return outputs, acquired
        rest = values[sent], self.costs_, budget[sent], acquired[sent], refused[sent]
        if (found := answers_within(self.expensive_, *rest)) is not None:
            said, acquired[sent], asked = found
            outputs[sent[asked]] = self._spread(said[asked])
        else:
            outputs[sent], acquired[sent] = walk_rows(
                self._policy,
                self.costs_,
                values[sent],
                outputs.shape[1],
                budget=budget[sent],
                seeds=None if seeds is None else seeds[sent],
            )
        return outputs, acquired

    def _policy(self, seed: int | None) -> Policy:
        return _AdaptPolicy(self, beyond(self.expensive_, len(self.schema_.names), seed))

    def _at(self, threshold: float) -> Self:
        """Return the same model with another threshold; all else is shared."""
        other = copy.copy(self)
        other.threshold_ = float(threshold)
        return other

    def _alone(self, values: NDArray[np.floating]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return probabilities and acquired of the expensive model without a gate."""
        said, acquired = answers(self.expensive_, values)
        return self._spread(said), acquired

    def _stay(self, scores: Floats) -> Floats:
        """Turn scores of gate and f1 into the probabilities of f1."""
        return sigmoid(scores[:, 1:]) if len(self.classes_) == 2 else softmax(scores[:, 1:])

    def _spread(self, said: Floats) -> Floats:
        return ExpensiveModelTrainer(self.schema_, self.costs_, self.classes_).spread(self.expensive_, said)

    def _conclude(self, outputs: Floats) -> Floats:
        return outputs

    def _threads(self) -> int:
        return n_threads(getattr(self, "n_jobs", None))

    # Files.

    def _file_params(self) -> dict[str, Any]:
        return {**super()._file_params(), "expensive": None}

    def _check_stored(self) -> None:
        super()._check_stored()
        self._threads()
        n_features, n_classes = len(self.schema_.names), len(self.classes_)
        if self.pair_.n_features != n_features:
            raise ValueError(f"gate and f1 read {self.pair_.n_features} columns; the table has {n_features}")
        if self.pair_.n_outputs != (2 if n_classes == 2 else 1 + n_classes):
            raise ValueError(f"{self.pair_.n_outputs} scores do not fit {n_classes} classes")
        if np.isnan(self.threshold_):
            raise ValueError("threshold_ must be a number")
        shares = self.send_thresholds_
        if shares.dtype != np.float64 or shares.shape != (len(SEND_SHARES),) or np.isnan(shares).any():
            raise ValueError(f"send_thresholds_ must be {len(SEND_SHARES)} numbers")
        if self.history_.dtype != np.float64 or self.history_.ndim != 1:
            raise ValueError("history_ must be a list of floats")
        if isinstance(self.expensive_, SklearnModel):
            known, columns = self.expensive_.classes, self.expensive_.columns
            if not len(columns) or not 0 <= columns.min() <= columns.max() < n_features:
                raise ValueError("the expensive model reads columns that the table does not have")
        else:
            known = self.expensive_.classes_
            if self.expensive_.schema_.columns != self.schema_.columns:
                raise ValueError("the expensive model must be one of the same columns")
        if not np.isin(known, self.classes_).all():
            raise ValueError("the expensive model knows classes that this one does not")


class _AdaptPolicy:
    """Gate and f1 first; then, if the gate opens, the expensive model."""

    def __init__(self, model: AdaptClassifier, after: AfterGate) -> None:
        self._model = model
        self._pair = model.pair_.policy()
        self._after = after
        self._sent: bool | None = None

    def wants(self, ledger: RowLedger) -> int | None:
        if self._sent is None:
            column = self._pair.wants(ledger)
            if column is not None:
                return column
            self._sent = bool(self._pair.output()[0] > self._model.threshold_)
        return self._after.wants(ledger) if self._sent else None

    def hear(self, column: int, value: float) -> None:
        (self._pair if self._sent is None else self._after).hear(column, value)

    def output(self) -> Floats:
        said = self._after.output() if self._sent else None
        if said is not None:
            return np.asarray(self._model._spread(said[np.newaxis])[0])
        return np.asarray(self._model._stay(self._pair.output()[np.newaxis])[0])


def check_common(model: Any) -> None:
    """Check the parameters of the three methods: p_full, tradeoff, n_alternations."""
    if not 0 <= model.p_full <= 1:
        raise ValueError(f"p_full is a share and must lie between 0 and 1; got {model.p_full!r}")
    if not 0 <= model.tradeoff < np.inf:
        raise ValueError(f"tradeoff must be zero or more, and finite; got {model.tradeoff!r}")
    check_whole("n_alternations", model.n_alternations, 1)
