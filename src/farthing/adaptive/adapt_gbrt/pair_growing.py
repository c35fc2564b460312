"""Growing a gate and a cheap model of boosted trees together, with one ledger of purchases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.objective import Problem, soft_log_loss
from farthing.base import TrainingSet
from farthing.boosting import GreedyMiserClassifier
from farthing.learning.booster import Boosting, Grow, TreeSettings, Weighting, constants
from farthing.learning.ledgers import ModelLedger
from farthing.learning.losses import Loss, Target, logistic_steps
from farthing.trees import Forest, Grower, Grown
from farthing.typing import Floats

# A gate that sends no row, or every row, does so with these odds.
_MIN_SHARE: Final = 1e-15
# A row that is certain to be sent on counts this much for f1, so that no leaf is without any weight.
_MIN_CHEAP_WEIGHT: Final = 1e-12


def _soft_start(q: Target, weights: Floats) -> Floats:
    mean = float(np.clip(np.average(q, weights=weights), _MIN_SHARE, 1 - _MIN_SHARE))
    return np.array([np.log(mean) - np.log1p(-mean)])


# The gate's loss: log loss of a probability in place of a class.
SOFT_LOGISTIC: Final = Loss(_soft_start, logistic_steps, soft_log_loss)


@dataclass(frozen=True, eq=False)
class GrownPair:
    """Trees of gate and f1, and the scores of the training rows.

    Attributes
    ----------
    gate, f1 : list of Forest
        The trees, in pieces.
    scores : ndarray of float64, shape (1 + n_scores, n_rows)
        Score of the gate, then the scores of f1.
    """

    gate: list[Forest]
    f1: list[Forest]
    scores: Floats

    @property
    def tested(self) -> NDArray[np.bool_]:
        """Whether any of the trees tests a feature, shape (n_features,)."""
        found: NDArray[np.bool_] = np.zeros(self.gate[0].n_features, dtype=np.bool_)
        features = np.concatenate([forest.feature for forest in (*self.gate, *self.f1)])
        found[features[features >= 0]] = True
        return found

    def forest(self) -> Forest:
        """Return all trees as one forest: output 0 is the gate's, the others are those of f1."""
        gate, f1 = Forest.concat(self.gate), Forest.concat(self.f1)
        n_outputs = 1 + f1.n_outputs
        shifted = replace(f1, target=f1.target + 1, n_outputs=n_outputs)
        return Forest.concat([gate.to_output(0, n_outputs), shifted])


class PairGrower:
    """Grows pairs of gate and f1 on the same rows, with the settings of a Greedy Miser.

    Parameters
    ----------
    miser : GreedyMiserClassifier
        Not fitted: its parameters are the settings of the trees and the trade-off.
    rows : TrainingSet
        The training rows.
    problem : Problem
        The same rows, with what the expensive model predicts for them.
    """

    def __init__(self, miser: GreedyMiserClassifier, rows: TrainingSet, problem: Problem) -> None:
        self._miser = miser
        self._settings = TreeSettings.of(miser)
        self._rows = rows
        self._problem = problem
        self._bins = rows.bins(miser.max_bins, self._settings.n_threads)
        self._weighting = Weighting.of(rows.weights)

    def initial(self) -> GrownPair:
        """Return a gate of zeros and the Greedy Miser, grown once for all settings that share it."""
        params = {**self._miser.get_params(), "costs": self._rows.costs}
        # Any number of threads gives the same trees, so n_jobs is not part of the key.
        key = tuple(value for name, value in sorted(params.items()) if name != "n_jobs")
        if key not in self._problem.cache:
            self._problem.cache[key] = self._grow_initial()
        pair: GrownPair = self._problem.cache[key]
        return pair

    def _grow_initial(self) -> GrownPair:
        fitted = self._miser.fit_rows(self._rows).fitted_
        scores, _ = fitted.predictor.predict(self._rows.values, n_threads=self._settings.n_threads)
        gate = self._constant(np.zeros(1))
        return GrownPair([gate], [fitted.forest], np.vstack([np.zeros((1, len(scores))), scores.T]))

    def without_gate(self, pair: GrownPair) -> GrownPair:
        """Return the pair with a gate that sends no row on."""
        start = _soft_start(np.zeros(len(pair.scores[0])), self._rows.weights)
        scores = np.vstack([np.full_like(pair.scores[:1], start[0]), pair.scores[1:]])
        return GrownPair([self._constant(start)], pair.f1, scores)

    def grow(self, q: Floats) -> GrownPair:
        """Grow f1 on the rows that stay and the gate on q, in alternating trees, from one empty ledger."""
        problem, weights = self._problem, self._rows.weights
        # In the loss of section 5.3, f1 and the gate share no term once q is fixed: f1 learns the labels with
        # the weights 1 - q, the gate learns q itself. Only the prices couple them.
        f1 = self._booster(problem.loss, problem.target, weights * np.maximum(1 - q, _MIN_CHEAP_WEIGHT))
        gate = self._booster(SOFT_LOGISTIC, q, weights)
        # One ledger is the u_alpha of (5.1) and (5.2): what either model has bought is free for both. f1
        # moves first in each round, as in Algorithm 5.
        ledger = ModelLedger(self._rows.costs, f1.start, None, 0.0)
        grow_f1, grow_gate = f1.grow_from(ledger), gate.grow_from(ledger)
        for _ in range(self._settings.n_estimators):
            f1.boosting.round(grow_f1)
            gate.boosting.round(grow_gate)
        return GrownPair(gate.forests(), f1.forests(), np.vstack([gate.boosting.scores, f1.boosting.scores]))

    def objective(self, q: Floats, pair: GrownPair) -> float:
        """Return (OPT): the bound, and tradeoff times the price of what gate and f1 test, per row."""
        price = self._tradeoff(self._weighting) * self._rows.costs.total(pair.tested)
        total = self._weighting.total(len(q))
        return self._problem.bound(q, pair.scores) + float(price) / total

    def _booster(self, loss: Loss, target: Target, weights: Floats) -> _Booster:
        start = loss.start(target, weights)
        weighting = Weighting.of(weights)
        scores = np.repeat(start[:, np.newaxis], len(target), axis=1)
        settings = self._settings
        boosting = Boosting(loss, target, weighting, scores, settings.learning_rate, newton=settings.newton)
        grower = settings.make_grower(self._bins, self._rows.costs, tradeoff=self._tradeoff(weighting))
        return _Booster(boosting, self._constant(start), grower, settings)

    def _constant(self, start: Floats) -> Forest:
        return constants(start, self._bins.n_features, self._bins.category_widths)

    def _tradeoff(self, weighting: Weighting) -> float:
        """Return the trade-off in the sums that trees are grown by; the same price for gate and f1."""
        # Each booster divides its weights by its own unit, and gains scale with it. The price must be divided
        # as well, or the gate and f1 would pay different prices for the same feature.
        if not self._miser.relative:
            return self._miser.tradeoff / weighting.unit
        return self._miser.tradeoff * self._initial_loss * (self._weighting.unit / weighting.unit)

    @cached_property
    def _initial_loss(self) -> float:
        """The loss before the first tree."""
        problem = self._problem
        start = problem.loss.start(problem.target, self._rows.weights)
        scores = np.repeat(start[:, np.newaxis], len(problem.target), axis=1)
        return float(self._weighting.sum(problem.loss.values(problem.target, scores)))


@dataclass(frozen=True, eq=False)
class _Booster:
    """The booster of the gate or of f1."""

    boosting: Boosting
    start: Forest
    grower: Grower
    settings: TreeSettings

    def forests(self) -> list[Forest]:
        """Return the start and all trees grown so far."""
        return [self.start, *self.boosting.trees]

    def grow_from(self, ledger: ModelLedger) -> Grow:
        """Return how a tree is grown, at the prices of a ledger."""

        def grow_tree(gradients: Floats, hessians: Floats | None, number: int, **leaves: float) -> Grown:
            return ledger.grow(self.grower, gradients, hessians, None, number, **leaves)

        weighting = self.boosting.weighting
        return self.settings.make_grow(grow_tree, weighting, weighting.total(len(self.boosting.target)))
