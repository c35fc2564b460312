"""DAG: policies over all sets of sensors, learned backward by cost-sensitive classification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from farthing.base import TrainingSet, documented, register
from farthing.base.parameters import BOOLEAN, SHARE, between, one_of
from farthing.cascades.dag.base import StateGraphClassifier
from farthing.cascades.dag.graph import StateGraph
from farthing.cascades.dag.parameters import CONSTRAINTS, TEXTS
from farthing.cascades.dag.sensors import Sensors
from farthing.cascades.dag.subsets import complementary_subsets
from farthing.costs import CostsLike

MOST_SENSORS: Final = 8
"""The largest number of sensors, all sets of which are states: 256 of them."""


# Subsets that many sensors are put into by default; with the rest there are 32 states.
_N_SUBSETS: Final = 4


@register(
    grid={"policy_learner": ["linear", None]},
    auto=False,
    trials=[
        {
            "tradeoff": 0.02,
            "n_tradeoffs": 0,
            "loss": "error",
            "state_classifier": "linear",
            "evaluation_cost": 0.2,
            "n_folds": None,
            "n_subsets": 1,
            "subset_share": 0.6,
        },
        {"confidence_gates": True, "n_tradeoffs": 1, "n_estimators": 3, "n_folds": 2, "n_subsets": 2},
        {
            "tradeoff": 0.002,
            "n_tradeoffs": 1,
            "policy": "filter_tree",
            "policy_learner": None,
            "n_estimators": 3,
            "max_depth": 2,
            "policy_estimators": 3,
            "n_folds": 2,
            "n_subsets": 2,
        },
    ],
)
@documented(TEXTS)
class DAGClassifier(StateGraphClassifier):
    """A policy for every set of sensors: stop and classify, or buy one more.

    A state is a set of sensors. It has a classifier of what it owns, fitted on all rows, and a policy that
    reads the same and decides whether a row stops or which sensor it buys. Policies are learned from the
    last state back to the root: the cost of stopping is the loss of the classifier, that of a purchase the
    trade-off times its price plus the cost to go under the policies that are learned already. So each policy
    is one cost-sensitive classification on all rows. With a consistent learner the result is the best policy
    of the graph.

    The classifiers do not depend on the trade-off, so one fit learns the policies of several trade-offs, and
    has a model for many mean budgets: `at`, `path`.

    Parameters
    ----------
    {parameters}
    sensors : mapping of str to sequence of columns, optional
        The columns, by name or number, that are bought together; columns of no sensor are not used. None
        means the groups of the cost sheet that have a shared cost, and every other column by itself. Sensors
        that cost nothing are owned from the start.
    n_subsets : int, "auto" or None
        Many sensors have too many sets. They are put into so many subsets that complement each other, and one
        for the rest, which are then bought as wholes; not where there are no more sensors than that. "auto"
        means 4 subsets for more than 8 sensors; with None more than 8 are an error.
    subset_share : float
        Price of all subsets together, as a share of the price of all sensors. What is left over is in the
        last one, the rest.
    tradeoff : float
        Lambda: the loss that a unit of price is worth. At 0 every row buys everything. With a budget it is
        the smallest trade-off that is tried.
    {tradeoffs}
    policy : {{"filter_tree", "regression"}}
        How costs become a policy: a tournament of binary problems, in which rows are weighted by the
        difference of their two costs; or a regression of the cost of each action, of which the least is
        taken.
    confidence_gates : bool
        Whether the fit also has the simplest policies: a row goes on where its state's classifier is less
        sure than a threshold, the same at all states, and buys what is the best on average. A budget, or
        `LazyPipeline.cheapest`, chooses among these thresholds and the learned policies. It needs the
        regression and the scores in policies.
    {learners}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    At prediction a sensor is bought whole or not at all: under a hard budget those that a row cannot pay for
    are no actions. A refused column is missing.

    Where the paper leaves a point open: losses and decisions are out of fold, and the gain of a subset is per
    unit of price. Policies read the probabilities of their state, which the paper's do not. The paper has
    ``loss="error"`` and, it seems, ``policy="filter_tree"``; the defaults were a little more accurate, and
    faster, on samples of covtype and adult.

    References
    ----------
    {reference}

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = DAGClassifier(heart.costs, 20, n_subsets=3, n_estimators=20, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.at(200).spend(heart.X).mean() > model.spend(heart.X).mean())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "sensors": [Mapping, None],
        "n_subsets": [between(1, MOST_SENSORS - 1), one_of("auto"), None],
        "subset_share": [SHARE],
        "policy": [one_of("filter_tree", "regression")],
        "confidence_gates": [BOOLEAN],
    }

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        sensors: Mapping[str, Any] | None = None,
        n_subsets: int | str | None = "auto",
        subset_share: float = 0.5,
        tradeoff: float = 0.0,
        n_tradeoffs: int = 8,
        loss: str = "probability",
        policy: str = "regression",
        state_classifier: Any = None,
        policy_learner: Any = "linear",
        scores_in_policy: bool = True,
        confidence_gates: bool = False,
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
        self.sensors = sensors
        self.n_subsets = n_subsets
        self.subset_share = subset_share
        self.tradeoff = tradeoff
        self.n_tradeoffs = n_tradeoffs
        self.loss = loss
        self.policy = policy
        self.state_classifier = state_classifier
        self.policy_learner = policy_learner
        self.scores_in_policy = scores_in_policy
        self.confidence_gates = confidence_gates
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

    def _graph(self, rows: TrainingSet) -> StateGraph:
        sensors = Sensors.of(self.sensors, rows.schema, rows.costs)
        n_subsets = self.n_subsets
        if n_subsets == "auto":
            n_subsets = _N_SUBSETS if len(sensors) > MOST_SENSORS else None
        if n_subsets is not None:
            sensors = complementary_subsets(rows, sensors, int(n_subsets), self.subset_share)
        if len(sensors) > MOST_SENSORS:
            raise ValueError(
                f"{len(sensors)} sensors have 2^{len(sensors)} sets; {type(self).__name__} takes all sets of "
                f"at most {MOST_SENSORS} (these are {', '.join(sensors.names[:3])}, ...). Put them into "
                f"subsets with n_subsets={_N_SUBSETS}, or group columns with sensors="
            )
        named = dict(zip(sensors.names, sensors.columns, strict=True))
        return StateGraph.all_subsets(sensors.free, named, len(rows.schema))
