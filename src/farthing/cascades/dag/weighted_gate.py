"""The weighted gate between a cheap state and one with everything, learned by weighted classification."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet, documented, register
from farthing.base.parameters import ANY_OR_NONE, SHARE
from farthing.cascades.dag.base import StateGraphClassifier
from farthing.cascades.dag.graph import StateGraph
from farthing.cascades.dag.parameters import CONSTRAINTS, TEXTS
from farthing.cascades.dag.sensors import Sensors, columns_of
from farthing.cascades.dag.subsets import REST, complementary_subsets
from farthing.costs import CostsLike


@register(
    grid={"cheap_share": [0.1, 0.3]},
    auto=False,
    trials=[
        {
            "tradeoff": 0.01,
            "n_tradeoffs": 0,
            "loss": "error",
            "state_classifier": "quadratic",
            "policy_learner": "linear",
            "scores_in_policy": False,
            "n_folds": None,
            "cheap_share": 0.3,
        },
        {
            "tradeoff": 0.02,
            "n_tradeoffs": 1,
            "n_estimators": 3,
            "max_depth": 2,
            "policy_estimators": 3,
            "n_folds": 2,
            "cheap_share": 0.5,
        },
    ],
)
@documented(TEXTS)
class WeightedGateClassifier(StateGraphClassifier):
    """A cheap classifier, one of all features, and a gate that sends a row on where that is worth its price.

    The thesis of Nan derives the best gate of an oracle: a row goes to the expensive model f0 where the
    excess loss of the cheap one, l(f1, x) - l(f0, x), is above eta times the price saved (section 5.2). Both
    sides depend on the label, which a gate does not know. But the rule is a binary classification: the label
    of a row is the side that it is on, its weight the difference ``|excess loss - eta * price saved|``, which
    is what a wrong decision costs. So a gate that reads the cheap features can be learned by any classifier
    that takes weights. It is the graph of states of `DAGClassifier` with two states.

    Parameters
    ----------
    {parameters}
    cheap : sequence of columns, optional
        The columns of the cheap state, by name or number, which every row pays for. None chooses them: those
        that a least-squares classifier gains most from per unit of price, free ones first.
    full : sequence of columns, optional
        The columns that the gate sends a row on for; the second classifier reads both sets. None means all.
    cheap_share : float
        Price of the cheap columns, if none are given, as a share of the price of all.
    tradeoff : float
        Eta: the loss that a unit of price is worth. At 0 every row buys everything. With a budget it is the
        smallest trade-off that is tried.
    {tradeoffs}
    {learners}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to predict under a budget. Thesis, 2018, section 5.2.

    {reference}

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = WeightedGateClassifier(heart.costs, 100, n_estimators=20, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(0 < model.sent(heart.X).mean() < 1)
    True
    """

    policy = "filter_tree"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "cheap": ANY_OR_NONE,
        "full": ANY_OR_NONE,
        "cheap_share": [SHARE],
    }

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        cheap: Any = None,
        full: Any = None,
        cheap_share: float = 0.2,
        tradeoff: float = 0.0,
        n_tradeoffs: int = 8,
        loss: str = "log_loss",
        state_classifier: Any = None,
        policy_learner: Any = None,
        scores_in_policy: bool = True,
        n_estimators: int = 100,
        n_iter_no_change: int | None = 5,
        learning_rate: float = 0.2,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 1.0,
        max_bins: int = 255,
        policy_estimators: int = 30,
        policy_depth: int = 3,
        evaluation_cost: float = 0.0,
        n_folds: int | None = 4,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.cheap = cheap
        self.full = full
        self.cheap_share = cheap_share
        self.tradeoff = tradeoff
        self.n_tradeoffs = n_tradeoffs
        self.loss = loss
        self.state_classifier = state_classifier
        self.policy_learner = policy_learner
        self.scores_in_policy = scores_in_policy
        self.n_estimators = n_estimators
        self.n_iter_no_change = n_iter_no_change
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.policy_estimators = policy_estimators
        self.policy_depth = policy_depth
        self.evaluation_cost = evaluation_cost
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def sent(self, X: Any) -> NDArray[np.bool_]:
        """Return which rows the gate sends on, shape (n_rows,); they buy all columns of the second state."""
        acquired = self.acquired(X)
        full: NDArray[np.bool_] = self.fitted_.states[-1]
        more = full & ~self.fitted_.states[1] if len(self.fitted_.states) > 1 else full
        return np.asarray(acquired[:, more].all(axis=1)) if more.any() else np.zeros(len(acquired), np.bool_)

    def _graph(self, rows: TrainingSet) -> StateGraph:
        full = np.ones(len(rows.schema), dtype=np.bool_)
        if self.full is not None:
            full = np.isin(np.arange(len(full)), columns_of(self.full, rows.schema, "full"))
        return StateGraph.two_states(self._cheap(rows), full)

    def _cheap(self, rows: TrainingSet) -> NDArray[np.bool_]:
        """Return the columns of the cheap state, shape (n_features,)."""
        every = np.arange(len(rows.schema))
        if self.cheap is not None:
            return np.isin(every, columns_of(self.cheap, rows.schema, "cheap"))
        # A greedy choice of one subset: what a classifier gains most from per unit of price.
        sensors = complementary_subsets(rows, Sensors.of(None, rows.schema, rows.costs), 1, self.cheap_share)
        found = [
            columns for name, columns in zip(sensors.names, sensors.columns, strict=True) if name != REST
        ]
        return np.isin(every, np.concatenate([sensors.free, *found]))
