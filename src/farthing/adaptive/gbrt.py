"""ADAPT-GBRT: gate and cheap model are boosted trees that buy from one purse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt import TEXTS, TOLERANCE, AdaptClassifier, check_common
from farthing.adaptive.expensive import Rows
from farthing.adaptive.objective import Problem, soft_values
from farthing.adaptive.pairs import Pair, TreePair
from farthing.adaptive.projection import Floats, project
from farthing.base import documented, n_threads, register
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.booster import Boosting, Grow, Weighting, constants
from farthing.boosting.ledgers import ModelLedger
from farthing.boosting.losses import Loss, Target, logistic_steps
from farthing.boosting.miser import LEAST_HESSIAN
from farthing.boosting.miser_parameters import Leaf
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown

# A gate that sends no row says so with these odds.
_LEAST_SHARE = 1e-15
# A row that is sure to go on counts this much for f1, so that no leaf is without any weight.
_LEAST_STAY = 1e-12


def _soft_start(q: Target, weights: Floats) -> Floats:
    mean = float(np.clip(np.average(q, weights=weights), _LEAST_SHARE, 1 - _LEAST_SHARE))
    return np.array([np.log(mean) - np.log1p(-mean)])


# The gate's loss: log loss of a probability in place of a class.
SOFT = Loss(_soft_start, logistic_steps, soft_values)


@register(
    grid={"gamma": [1e-4, 1e-3, 1e-2], "relative": [True], "p_full": [0.1, 0.3, 0.5, 0.7]},
    auto=False,
    trials=[
        {"n_trees": 5, "gamma": 0.2, "p_full": 0.8, "n_alternations": 2, "leaf": "gradient", "n_folds": 2}
    ],
)
@documented(TEXTS)
class AdaptGbrtClassifier(AdaptClassifier):
    """A gate and a model of boosted trees that answer what they can for an expensive model.

    (OPT) of the thesis, as in `AdaptLinClassifier`. Each turn grows as many trees of f1 as of the gate anew,
    one after the other in turn, on what q says; both buy from one ledger that is empty at first, so that each
    pays only for what neither has bought (5.1, 5.2). The old pair stays unless the objective falls. The start
    is a gate of zeros and a `GreedyMiserClassifier`; at ``p_full=0`` f1 is that and the gate buys nothing.

    Parameters
    ----------
    {expensive}
    p_full : float
        Largest mean of q over the training rows, 0 to 1.
    gamma : float
        Lambda of the Greedy Miser: what a unit of price weighs against the loss summed over the rows.
    relative : bool
        Whether ``gamma`` is a share of the loss before the first tree, as in `GreedyMiserClassifier`.
    n_alternations : int
        Most turns; they end when the objective no longer falls.
    n_trees : int
        Rounds of boosting in each turn: one tree of the gate, and one of f1 or one a class if there are more
        than two.
    learning_rate, max_depth, max_leaves, min_rows_leaf, l2, leaf, max_bins
        As in `GreedyMiserClassifier`.
    {shared}
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same trees.

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapter 5, Algorithm 5.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaptGbrtClassifier(costs=heart.costs, n_trees=20, p_full=0.3, gamma=0.02, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).mean() < model.expensive_.spend(heart.X).mean())
    True
    """

    def __init__(
        self,
        expensive: Any = None,
        *,
        p_full: float = 0.5,
        gamma: float = 1.0,
        relative: bool = False,
        n_alternations: int = 3,
        n_trees: int = 30,
        learning_rate: float = 0.3,
        max_depth: int | None = 4,
        max_leaves: int | None = None,
        min_rows_leaf: int = 1,
        l2: float = 0.0,
        leaf: Leaf = "newton",
        max_bins: int = 255,
        expensive_features: Any = None,
        n_folds: int | None = 3,
        costs: Any = None,
        budget: float | None = None,
        send_share: float | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.expensive = expensive
        self.p_full = p_full
        self.gamma = gamma
        self.relative = relative
        self.n_alternations = n_alternations
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_rows_leaf = min_rows_leaf
        self.l2 = l2
        self.leaf = leaf
        self.max_bins = max_bins
        self.expensive_features = expensive_features
        self.n_folds = n_folds
        self.costs = costs
        self.budget = budget
        self.send_share = send_share
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_common(self)
        self._miser()._check_parameters()

    def _miser(self) -> GreedyMiserClassifier:
        """Return the Greedy Miser of the same settings."""
        return GreedyMiserClassifier(
            tradeoff=self.gamma,
            relative=self.relative,
            n_trees=self.n_trees,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            min_rows_leaf=self.min_rows_leaf,
            l2=self.l2,
            leaf=self.leaf,
            max_bins=self.max_bins,
            n_jobs=self.n_jobs,
        )

    def _learn_pair(self, rows: Rows, problem: Problem) -> tuple[Pair, list[float]]:
        nursery = _Nursery(self, rows, problem)
        pair = nursery.first()
        history: list[float] = []
        for _ in range(self.n_alternations):
            q, _ = project(problem.excess(pair.scores), problem.shares, self.p_full)
            history.append(nursery.objective(q, pair))
            if not q.any():
                pair = nursery.shut(pair)
                history[-1] = nursery.objective(q, pair)
                break
            grown = nursery.grow(q)
            reached = nursery.objective(q, grown)
            if not reached < history[-1]:
                history.append(history[-1])
                break
            pair = grown
            history.append(reached)
            if history[-2] - reached <= TOLERANCE * abs(reached):
                break
        return TreePair(pair.forest()), history


@dataclass(frozen=True, eq=False)
class _GrownPair:
    """Trees of gate and f1, in pieces, and the scores of the training rows."""

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
        ours = replace(f1, target=f1.target + 1, n_outputs=n_outputs)
        return Forest.concat([gate.to_output(0, n_outputs), ours])


class _Nursery:
    """Where pairs are grown, all on the same bins."""

    def __init__(self, model: AdaptGbrtClassifier, rows: Rows, problem: Problem) -> None:
        self._model = model
        self._rows = rows
        self._problem = problem
        self._threads = n_threads(model.n_jobs)
        self._bins = Bins(rows.values, model.schema_, max_bins=model.max_bins, n_threads=self._threads)
        self._weighting = Weighting.of(rows.weights)

    def first(self) -> _GrownPair:
        """Return a gate of zeros and the Greedy Miser, which settings of all shares have in common."""
        miser = self._model._miser()
        params = miser.set_params(costs=self._model.costs_).get_params()
        key = tuple(value for name, value in sorted(params.items()) if name != "n_jobs")
        if key not in self._problem.kept:
            self._problem.kept[key] = self._grow_first(miser)
        first: _GrownPair = self._problem.kept[key]
        return first

    def _grow_first(self, miser: GreedyMiserClassifier) -> _GrownPair:
        model, rows = self._model, self._rows
        miser.classes_ = model.classes_
        miser._fit_encoded(
            model.schema_, model.costs_, rows.values, rows.target, rows.weights, bins=self._bins
        )
        scores, _ = miser._ready().predict(rows.values, n_threads=self._threads)
        gate = constants(np.zeros(1), self._bins.n_features, self._bins.category_widths)
        return _GrownPair([gate], [miser.forest_], np.vstack([np.zeros((1, len(scores))), scores.T]))

    def shut(self, pair: _GrownPair) -> _GrownPair:
        """Return the pair with a gate that sends no row."""
        start = _soft_start(np.zeros(len(pair.scores[0])), self._rows.weights)
        gate = constants(start, self._bins.n_features, self._bins.category_widths)
        scores = np.vstack([np.full_like(pair.scores[:1], start[0]), pair.scores[1:]])
        return _GrownPair([gate], pair.f1, scores)

    def grow(self, q: Floats) -> _GrownPair:
        """Grow f1 on the rows that stay and the gate on q, tree by tree in turn, from one empty ledger."""
        model, problem, weights = self._model, self._problem, self._rows.weights
        f1 = self._boosting(problem.loss, problem.target, weights * np.maximum(1 - q, _LEAST_STAY))
        gate = self._boosting(SOFT, q, weights)
        ledger = ModelLedger(model.costs_, f1.start, None, 0.0)
        grow_f1, grow_gate = f1.grow(ledger), gate.grow(ledger)
        for _ in range(model.n_trees):
            f1.boosting.round(grow_f1)
            gate.boosting.round(grow_gate)
        return _GrownPair(gate.forests(), f1.forests(), np.vstack([gate.boosting.scores, f1.boosting.scores]))

    def objective(self, q: Floats, pair: _GrownPair) -> float:
        """Return (OPT): the bound, and gamma times the price of what gate and f1 test, in the mean."""
        price = self._tradeoff(self._weighting) * self._model.costs_.total(pair.tested)
        total = self._weighting.total(len(q))
        return self._problem.bound(q, pair.scores) + float(price) / total

    def _boosting(self, loss: Loss, target: Target, weights: Floats) -> _Side:
        start = loss.start(target, weights)
        weighting = Weighting.of(weights)
        scores = np.repeat(start[:, np.newaxis], len(target), axis=1)
        newton = self._model.leaf == "newton"
        boosting = Boosting(loss, target, weighting, scores, self._model.learning_rate, newton=newton)
        before = constants(start, self._bins.n_features, self._bins.category_widths)
        return _Side(boosting, before, self._grower(weighting), self._model.l2 / weighting.unit)

    def _grower(self, weighting: Weighting) -> Grower:
        model = self._model
        return Grower(
            self._bins,
            model.costs_,
            max_depth=model.max_depth,
            max_leaves=model.max_leaves,
            min_rows_leaf=model.min_rows_leaf,
            ledger="model",
            tradeoff=self._tradeoff(weighting),
            n_threads=self._threads,
        )

    def _tradeoff(self, weighting: Weighting) -> float:
        """Return gamma in the sums that trees are grown by; the same price for gate and f1."""
        if not self._model.relative:
            return self._model.gamma / weighting.unit
        return self._model.gamma * self._first_loss * (self._weighting.unit / weighting.unit)

    @cached_property
    def _first_loss(self) -> float:
        """The loss before the first tree."""
        problem = self._problem
        start = problem.loss.start(problem.target, self._rows.weights)
        scores = np.repeat(start[:, np.newaxis], len(problem.target), axis=1)
        return float(self._weighting.sum(problem.loss.values(problem.target, scores)))


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the two boosters."""

    boosting: Boosting
    start: Forest
    grower: Grower
    l2: float

    def forests(self) -> list[Forest]:
        """Return the start and all trees grown so far."""
        return [self.start, *self.boosting.trees]

    def grow(self, ledger: ModelLedger) -> Grow:
        """Return how a tree is grown, at the prices of a ledger."""
        least = 0.0
        if self.boosting.newton:
            least = LEAST_HESSIAN * self.boosting.weighting.total(len(self.boosting.target))

        def grow(gradients: Floats, hessians: Floats | None, _: int, step: float) -> Grown:
            return ledger.grow(
                self.grower, gradients, hessians, None, l2=self.l2, min_hessian=least, step=step
            )

        return grow
