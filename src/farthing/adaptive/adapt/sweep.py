"""Many settings of an Adapt model that share their tables and their expensive model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from farthing.adaptive.adapt.base import AdaptClassifier
from farthing.adaptive.adapt.call_prices import CallPlaces, with_expensive_calls
from farthing.adaptive.adapt.expensive_model import answering
from farthing.adaptive.adapt.model import AdaptModel
from farthing.base import Point
from farthing.costs import CostSheet
from farthing.learning.sklearn_model import SklearnModel
from farthing.learning.spread_classes import spread_classes
from farthing.table import encode


@dataclass(frozen=True, slots=True, eq=False)
class _EvaluationRows:
    """Rows for evaluation, with the results of the expensive model on them, computed once."""

    values: NDArray[np.floating]
    labels: NDArray[Any]
    correct: NDArray[np.bool_]
    acquired: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Evaluation:
    """Spend and correctness of each row, with the cheap model and if it is sent on."""

    gate: NDArray[np.float64]
    cheap_spend: NDArray[np.float64]
    sent_spend: NDArray[np.float64]
    cheap_correct: NDArray[np.bool_]
    sent_correct: NDArray[np.bool_]

    def at(self, threshold: float) -> tuple[NDArray[np.float64], float, float]:
        """Return the spend of each row, the accuracy, and the share of rows that are sent on."""
        # Both outcomes of each row are known, so a threshold costs no further prediction.
        sent = self.gate > threshold
        spend = np.where(sent, self.sent_spend, self.cheap_spend)
        correct = np.where(sent, self.sent_correct, self.cheap_correct)
        return spend, float(correct.mean()), float(sent.mean())


class AdaptSweep:
    """Fits and evaluates settings of Adapt models that have one expensive model in common.

    The expensive model is fitted once, predicts the training rows out of fold once, and predicts the
    evaluation rows once.

    Parameters
    ----------
    estimator : AdaptClassifier
        What is fitted; never changed.
    training : tuple (X, y) or (X, y, sample_weight)
        The training rows.
    validation : tuple (X, y)
        Rows that select among the settings.
    test : tuple (X, y), optional
        Rows that are only reported; None reports the validation rows again.
    shares : sequence of float
        Further thresholds for each model, given as shares of the validation rows to send on.
    """

    def __init__(
        self,
        estimator: AdaptClassifier,
        training: tuple[Any, ...],
        *,
        validation: tuple[Any, Any],
        test: tuple[Any, Any] | None = None,
        shares: tuple[float, ...] = (),
    ) -> None:
        self._estimator = estimator
        self._shares = shares
        self._rows = estimator.training_set(*training)
        # The seed comes from a clone, so that the user's RandomState does not advance. The expensive model
        # comes from the estimator itself, since a clone of it would be unfitted.
        rng = check_random_state(clone(estimator).random_state)
        self._expensive = estimator.train_expensive(self._rows, rng)
        self._held_out = estimator.validation_set(self._rows, validation)
        self._validation = self._evaluation_rows(*validation)
        self._test = self._validation if test is None else self._evaluation_rows(*test)

    @property
    def n_validation(self) -> int:
        """Number of validation rows."""
        return len(self._validation.labels)

    @property
    def expensive(self) -> Any:
        """The expensive model as it was given."""
        return self._estimator.expensive

    @property
    def costs(self) -> CostSheet:
        """The prices."""
        return self._rows.costs

    def fit(self, params: dict[str, Any], estimator: AdaptClassifier | None = None) -> list[Point]:
        """Fit one setting, of another estimator with the same expensive model and folds if one is given.

        Parameters
        ----------
        params : dict
            Parameters to set.
        estimator : AdaptClassifier, optional
            None means that of the sweep.

        Returns
        -------
        list of Point
            One for each threshold: the model's own, and those of the shares.
        """
        model = clone(self._estimator if estimator is None else estimator).set_params(**params)
        model.set_params(
            guarantee=None
        )  # the points are of all thresholds, which are judged by the same rows
        if "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=1)  # settings run in parallel already
        # Another estimator, or another setting, may have prices of its own.
        costs = CostSheet.of(model.costs, self._rows.schema.names)
        rows, held_out = (replace(part, costs=costs) for part in (self._rows, self._held_out))
        model.fit_rows(rows, validation=held_out, expensive=self._expensive)
        validation = _evaluate(model.fitted_, self._validation)
        test = validation if self._test is self._validation else _evaluate(model.fitted_, self._test)
        thresholds = [model.fitted_.threshold]
        if self._shares:
            # Rows at the threshold stay. Taking the next higher score that occurs sends at most the given
            # share, where an interpolated quantile could send more.
            levels = [1 - share for share in self._shares]
            thresholds += np.quantile(validation.gate, levels, method="higher").tolist()
        return [self._point(model, params, at, validation, test) for at in thresholds]

    def reference(self) -> Point:
        """Return the expensive model, as a system that sends every row on and buys nothing before."""
        model = self._expensive.model
        costs = with_expensive_calls(self._rows.costs, self._estimator.call_cost, answering(model))
        account = CallPlaces.of(costs, answering(model)).account
        parts = (self._validation, self._test)
        free = [np.zeros((len(part.labels), costs.n_columns), dtype=np.bool_) for part in parts]
        spends = [
            costs.total_rows(account(nothing, part.acquired))
            for nothing, part in zip(free, parts, strict=True)
        ]
        scores = [float(part.correct.mean()) for part in parts]
        return Point(
            type(model.model if isinstance(model, SklearnModel) else model).__name__,
            {},
            spend=float(spends[0].mean()),
            max_spend=float(spends[0].max()),
            score=scores[0],
            error=self._standard_error(scores[0]),
            test_spend=float(spends[1].mean()),
            test_score=scores[1],
            details={"threshold": -np.inf, "sent": 1.0},
        )

    def _point(
        self,
        model: AdaptClassifier,
        params: dict[str, Any],
        threshold: float,
        validation: _Evaluation,
        test: _Evaluation,
    ) -> Point:
        spend, score, _ = validation.at(threshold)
        test_spend, test_score, sent = test.at(threshold)
        return Point(
            type(model).__name__,
            params,
            spend=float(spend.mean()),
            max_spend=float(spend.max()),
            score=score,
            error=self._standard_error(score),
            test_spend=float(test_spend.mean()),
            test_score=test_score,
            details={"threshold": threshold, "sent": sent},
            source=model.with_threshold(threshold),
        )

    def _standard_error(self, accuracy: float) -> float:
        return math.sqrt(accuracy * (1 - accuracy) / self.n_validation)

    def _evaluation_rows(self, X: Any, y: Any) -> _EvaluationRows:
        encoded = encode(self._rows.schema, X, type(self._estimator).__name__)
        encoded.check()
        labels, classes = np.asarray(y), self._rows.classes
        assert classes is not None
        model = answering(self._expensive.model)
        probabilities, acquired = model.outputs(encoded.values)
        predicted = classes[spread_classes(probabilities, model.classes, classes).argmax(axis=1)]
        return _EvaluationRows(encoded.values, labels, predicted == labels, acquired)


def _evaluate(model: AdaptModel, rows: _EvaluationRows) -> _Evaluation:
    scores, acquired = model.pair.outputs(rows.values)
    cheap = model.conclude(model.settle(model.cheap_probabilities(scores), acquired))
    total, account = model.costs.total_rows, model.calls.account
    return _Evaluation(
        gate=np.ascontiguousarray(scores[:, 0]),
        cheap_spend=total(account(acquired)),
        sent_spend=total(account(acquired, rows.acquired)),
        cheap_correct=model.classes[cheap.argmax(axis=1)] == rows.labels,
        sent_correct=rows.correct,
    )
