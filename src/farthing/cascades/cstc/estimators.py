"""The estimators of CSTC."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Final

import numpy as np
from sklearn.utils import check_random_state

from farthing.base import (
    BudgetedEstimator,
    ContractClassifier,
    ContractRegressor,
    SweepContext,
    TrainingSet,
    documented,
    register,
)
from farthing.base.parameters import (
    CLASS_WEIGHT,
    FRACTION,
    NON_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    at_least,
    between,
)
from farthing.cascades.cstc.finishing import as_score_tree, fine_tuned, pruned
from farthing.cascades.cstc.objective import CSTCObjective
from farthing.cascades.cstc.row_losses import LogRowLoss, SquaredRowLoss
from farthing.cascades.cstc.training import train_tree
from farthing.cascades.score_tree import (
    ScoreTree,
    ScoreTreeClassifierModel,
    ScoreTreeRegressorModel,
    tree_temperature,
)
from farthing.costs import CostsLike
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.holdout import hold_out
from farthing.learning.linear_design import LinearDesign
from farthing.learning.logistic import n_class_scores
from farthing.learning.mixed_norm import MixedNorm
from farthing.typing import Floats

_CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE],
    "depth": [between(1, 6)],
    "sparsity": [NON_NEGATIVE],
    "steepness": [POSITIVE],
    "max_cycles": [at_least(0)],
    "tol": [POSITIVE],
    "validation_fraction": [FRACTION, None],
    "random_state": [RANDOM_STATE],
}

_TEXTS: Final = {
    "parameters": """costs : CostSheet, mapping, array, Series, path or None
    Prices of the features; None means 1 each.
tradeoff : float
    What a unit of price weighs against the loss, lambda.
depth : int
    Number of nodes on a path; the tree has up to 2^depth - 1.
sparsity : float
    Weight of the L1 norm of the coefficients, rho.
steepness : float
    Factor of the scores in the sigmoid by which training rows go up or down. The scores
    of classes are log-odds, those of numbers are in units of the target's standard deviation.
max_cycles : int
    Most cycles over the nodes; 0 leaves each as it was fitted alone.
tol : float
    A cycle that lowers the objective by less than this share of it is the last.
validation_fraction : float or None
    Share of the rows that decide which nodes are pruned and how sharp probabilities are; they are not learned
    from. None prunes nothing.
random_state : int, RandomState or None
    Draws these rows.""",
    "attributes": """trees_ : tuple of ScoreTree
    The tree.""",
    "references": """Xu, Kusner, Weinberger, Chen: Cost-Sensitive Tree of Classifiers. ICML 2013.""",
}


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the settings that a sweep tries: a feature of the mean price should cost parts of the loss."""
    unit = context.mean_price or 1.0
    return {"tradeoff": [share / unit for share in (0.003, 0.01, 0.03, 0.1)]}


class CSTCBase(BudgetedEstimator):
    """What the classifier and the regressor share: the optimisation of the tree."""

    descent_is_approximate = True
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS

    fitted_: Any
    tradeoff: float
    depth: int
    sparsity: float
    steepness: float
    max_cycles: int
    tol: float
    validation_fraction: float | None
    random_state: Any

    @abstractmethod
    def _loss(self, rows: TrainingSet) -> LogRowLoss | SquaredRowLoss:
        """Return the loss of rows."""

    def _tree(self, rows: TrainingSet, n_outputs: int) -> tuple[ScoreTree, TrainingSet]:
        """Optimise, prune and tune the tree; return it with the rows that it did not learn from, if any."""
        learned, held = rows, None
        if self.validation_fraction is not None and self.depth > 1:
            random = check_random_state(self.random_state)
            learned, held = hold_out(
                rows, self.validation_fraction, lambda n, k: np.sort(random.permutation(n)[:k])
            )
        with one_blas_thread():
            shares = learned.weights / learned.weights.sum()
            design = LinearDesign.of(learned.values, learned.schema, shares, n_outputs)
            objective = self._objective(learned, design, shares)
            nodes, _ = train_tree(
                objective, n_outputs, max_cycles=self.max_cycles, tol=self.tol, steepness=self.steepness
            )
            nodes = {place: node.without_small() for place, node in nodes.items()}
            if held is not None:
                nodes = pruned(nodes, design.zeros.terms(held.values), held.weights, self._loss(held))
            nodes = fine_tuned(nodes, design.terms, learned.weights, self._loss(learned))
        return as_score_tree(nodes, design.zeros), learned if held is None else held

    def _objective(self, rows: TrainingSet, design: LinearDesign, shares: Floats) -> CSTCObjective:
        columns = design.zeros.columns
        reads = columns[:, np.newaxis] == np.arange(design.zeros.n_features)
        return CSTCObjective(
            learners=design.terms,
            shares=shares,
            loss=self._loss(rows),
            norm=MixedNorm.of(reads, rows.costs, np.zeros(len(columns))),
            depth=self.depth,
            tradeoff=self.tradeoff,
            sparsity=self.sparsity,
        )


def _fields(tree: ScoreTree) -> dict[str, Any]:
    """Return the fields of a model with a single tree, which no budget limits."""
    return {"trees": (tree,), "shares": np.ones(1), "caps": np.array([np.inf]), "level": 0}


@register(
    grid=_grid,
    auto=False,
    trials=[{"depth": 2, "tradeoff": 0.02, "max_cycles": 1, "validation_fraction": None}],
)
@documented(_TEXTS)
class CSTCClassifier(CSTCBase, ContractClassifier):
    """A tree of linear classifiers that are optimised together, under the expected price of their paths.

    A row pays for the features of the root's classifier and goes up or down by its score, and so on; the last
    classifier predicts. In training rows go both ways, with probabilities by a sigmoid of the score, so that
    the expected loss and the expected price, relaxed to a mixed norm, can be lowered together: one node after
    another, until the objective no longer falls. Then nodes that do not help validation rows are pruned, and
    the last nodes are fitted again on the features that they have.

    Parameters
    ----------
    {parameters}
    class_weight : mapping, "balanced" or None
        As in scikit-learn.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    {attributes}

    Notes
    -----
    The paper minimises the squared loss; for classes this is the log loss. Rows of several classes are routed
    along the direction in which the scores of the node vary most at the start. A start from the root down
    halves the rows of each node, where the paper says nothing. The last nodes are fitted again on the
    training rows that end there, without the L1 norm; probabilities get a temperature from validation rows.

    References
    ----------
    {references}

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = CSTCClassifier(heart.costs, tradeoff=0.01, max_cycles=1, random_state=0).fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).mean() < heart.costs.total(heart.costs.features))
    True
    """

    model_type = ScoreTreeClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {**_CONSTRAINTS, "class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        tradeoff: float = 0.01,
        depth: int = 3,
        sparsity: float = 1e-4,
        steepness: float = 1.0,
        max_cycles: int = 10,
        tol: float = 1e-3,
        validation_fraction: float | None = 0.2,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.tradeoff = tradeoff
        self.depth = depth
        self.sparsity = sparsity
        self.steepness = steepness
        self.max_cycles = max_cycles
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state

    def _loss(self, rows: TrainingSet) -> LogRowLoss:
        return LogRowLoss(rows.target, rows.n_classes)

    def _learn(self, rows: TrainingSet) -> ScoreTreeClassifierModel:
        logs = np.log(np.maximum(rows.prior(), np.finfo(np.float64).tiny))
        prior = logs[1:] - logs[:1] if rows.n_classes == 2 else logs
        tree, held = self._tree(rows, n_class_scores(rows.n_classes))
        temperature = tree_temperature(tree, held)
        return ScoreTreeClassifierModel(
            **rows.header(prior * temperature), **_fields(tree), temperatures=np.array([temperature])
        )


@register(
    grid=_grid,
    auto=False,
    trials=[{"depth": 2, "tradeoff": 0.02, "max_cycles": 1, "validation_fraction": None}],
)
@documented(_TEXTS)
class CSTCRegressor(CSTCBase, ContractRegressor):
    """A tree of linear regressions that are optimised together, under the expected price of their paths.

    See `CSTCClassifier`. The loss is half of the squared error, in units of the target's variance, so that a
    trade-off means the same for targets of any scale.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    {references}

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 4.0], [3.0, 1.0]] * 5)
    >>> model = CSTCRegressor([1.0, 10.0], depth=1).fit(X, 2 * X[:, 0])
    >>> model.predict(X[:4]).round(2), model.spend(X[:4])
    (array([0., 2., 4., 6.]), array([1., 1., 1., 1.]))
    """

    model_type = ScoreTreeRegressorModel

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        tradeoff: float = 0.01,
        depth: int = 3,
        sparsity: float = 1e-4,
        steepness: float = 10.0,
        max_cycles: int = 10,
        tol: float = 1e-3,
        validation_fraction: float | None = 0.2,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.tradeoff = tradeoff
        self.depth = depth
        self.sparsity = sparsity
        self.steepness = steepness
        self.max_cycles = max_cycles
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _loss(self, rows: TrainingSet) -> SquaredRowLoss:
        return SquaredRowLoss(np.ascontiguousarray(rows.target, dtype=np.float64))

    def _learn(self, rows: TrainingSet) -> ScoreTreeRegressorModel:
        target = np.ascontiguousarray(rows.target, dtype=np.float64)
        mean = float(np.average(target, weights=rows.weights))
        spread = float(np.sqrt(np.average((target - mean) ** 2, weights=rows.weights))) or 1.0
        tree, _ = self._tree(replace(rows, target=(target - mean) / spread), 1)
        return ScoreTreeRegressorModel(**rows.header(), **_fields(tree.rescaled(spread, mean)))
