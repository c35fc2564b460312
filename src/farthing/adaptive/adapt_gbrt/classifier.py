"""ADAPT-GBRT: gate and cheap model are boosted trees that share their purchases."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from farthing.adaptive.adapt.base import ADAPT_CONSTRAINTS, TOLERANCE, AdaptClassifier
from farthing.adaptive.adapt.gate_pairs import TreePair
from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.adapt.parameter_docs import TEXTS
from farthing.adaptive.adapt.projection import project
from farthing.adaptive.adapt_gbrt.pair_growing import PairGrower
from farthing.base import Guarantee, TrainingSet, documented, register
from farthing.base.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    NON_NEGATIVE,
    POSITIVE,
    SHARE,
    at_least,
    between,
    one_of,
)
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostsLike


@register(
    grid={"tradeoff": [1e-4, 1e-3, 1e-2], "relative": [True], "p_full": [0.1, 0.3, 0.5, 0.7]},
    auto=False,
    trials=[
        {
            "expensive": GreedyMiserClassifier(n_estimators=5),
            "n_estimators": 5,
            "tradeoff": 0.2,
            "p_full": 0.8,
            "n_alternations": 2,
            "leaf": "gradient",
            "n_folds": 2,
            "call_cost": 0.2,
        }
    ],
)
@documented(TEXTS)
class AdaptGbrtClassifier(AdaptClassifier):
    """A gate and a model f1 of boosted trees, learned together to answer easy rows for an expensive model.

    It minimises (OPT) of the thesis, as `AdaptLinClassifier` does. Each alternation grows new trees of f1 and
    of the gate, one of each in turn, for the current q. Both buy from one ledger that is empty at first, so
    that each pays only for what neither has bought (5.1, 5.2). From the second alternation on the old pair is
    kept unless the objective falls. The initial pair is a gate of zeros and a `GreedyMiserClassifier`; at
    ``p_full=0`` f1 stays that model, and the gate buys nothing.

    Parameters
    ----------
    {expensive}
    {p_full}
    tradeoff : float
        Lambda of the Greedy Miser: weight of a unit of price against the loss summed over the rows.
    relative : bool
        Whether ``tradeoff`` is a share of the loss before the first tree, as in `GreedyMiserClassifier`.
    n_alternations : int
        Maximum number of alternations; they stop early when the objective no longer falls.
    n_estimators : int
        Rounds of boosting in each alternation: one tree of the gate, and one of f1, or one per class if there
        are more than two.
    learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization, leaf, max_bins
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
    >>> settings = {"n_estimators": 20, "p_full": 0.3, "tradeoff": 0.02, "random_state": 0}
    >>> model = AdaptGbrtClassifier(costs=heart.costs, **settings).fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).mean() < model.expensive_.spend(heart.X).mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        **ADAPT_CONSTRAINTS,
        "p_full": [SHARE],
        "tradeoff": [NON_NEGATIVE],
        "relative": [BOOLEAN],
        "n_alternations": [at_least(1)],
        "n_estimators": [at_least(0)],
        "learning_rate": [POSITIVE],
        "max_depth": [at_least(0), None],
        "max_leaf_nodes": [at_least(1), None],
        "min_samples_leaf": [at_least(1)],
        "l2_regularization": [NON_NEGATIVE],
        "leaf": [one_of("newton", "gradient")],
        "max_bins": [between(2, 255)],
    }

    def __init__(
        self,
        expensive: Any = None,
        *,
        p_full: float = 0.5,
        tradeoff: float = 1.0,
        relative: bool = False,
        n_alternations: int = 3,
        n_estimators: int = 30,
        learning_rate: float = 0.3,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        leaf: Literal["newton", "gradient"] = "newton",
        max_bins: int = 255,
        expensive_features: Any = None,
        n_folds: int | None = 3,
        class_weight: Any = None,
        costs: CostsLike = None,
        call_cost: float = 0.0,
        budget: float | None = None,
        send_share: float | None = None,
        guarantee: Guarantee | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.expensive = expensive
        self.p_full = p_full
        self.tradeoff = tradeoff
        self.relative = relative
        self.n_alternations = n_alternations
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.leaf = leaf
        self.max_bins = max_bins
        self.expensive_features = expensive_features
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.costs = costs
        self.call_cost = call_cost
        self.budget = budget
        self.send_share = send_share
        self.guarantee = guarantee
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _default_share(self) -> float | None:
        return self.p_full

    def _learn_pairs(self, rows: TrainingSet, problem: Problem) -> list[tuple[TreePair, list[float]]]:
        grower = PairGrower(self.miser(), rows, problem)
        pair = grower.initial()
        history: list[float] = []
        for turn in range(self.n_alternations):
            q, _ = project(problem.excess(pair.scores), problem.shares, self.p_full)
            history.append(grower.objective(q, pair))
            # Only at p_full = 0. Nothing is left to gate, and the thesis recovers the Greedy Miser exactly
            # (end of section 5.3), so the gate must not buy anything either.
            if not q.any():
                pair = grower.without_gate(pair)
                history[-1] = grower.objective(q, pair)
                break
            grown = grower.grow(q)
            reached = grower.objective(q, grown)
            # New trees start from an empty ledger and an empty model, so they may end above the pair that
            # they would replace. Keeping the better pair makes the objective monotone. The initial gate is no
            # alternative: its zeros send nothing on, so the history starts after it if it has to.
            if not reached < history[-1] and turn == 0:
                history.clear()
            elif not reached < history[-1]:
                history.append(history[-1])
                break
            pair = grown
            history.append(reached)
            if turn and history[-2] - reached <= TOLERANCE * abs(reached):
                break
        return [(TreePair(pair.forest()), history)]

    def miser(self) -> GreedyMiserClassifier:
        """Return a Greedy Miser of the same settings, not fitted: f1 if no row is sent on."""
        return GreedyMiserClassifier(
            tradeoff=self.tradeoff,
            relative=self.relative,
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            l2_regularization=self.l2_regularization,
            leaf=self.leaf,
            max_bins=self.max_bins,
            multi_strategy="one_output_per_tree",
            n_jobs=self.n_jobs,
        )
