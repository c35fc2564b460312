"""The estimators of ASTC."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from farthing.base import (
    BudgetedEstimator,
    ContractClassifier,
    ContractRegressor,
    SweepContext,
    TrainingSet,
    documented,
    register,
)
from farthing.base.inputs import check_cap
from farthing.base.parameters import CLASS_WEIGHT, NON_NEGATIVE, SHARE, at_least, between, one_of
from farthing.cascades.astc.design import Design
from farthing.cascades.astc.growing import GrowthProblem, grow_lists, grow_tree
from farthing.cascades.astc.grown import EndScores, as_score_tree
from farthing.cascades.score_tree import (
    ScoreTree,
    ScoreTreeClassifierModel,
    ScoreTreeRegressorModel,
    calibration_step,
    tree_temperature,
)
from farthing.costs import CostsLike, within_budget
from farthing.learning.blas_threads import one_blas_thread
from farthing.typing import Floats

# Shares of the budget whose trees a fit holds, besides the one asked for.
_SHARES: Final = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

_CONSTRAINTS: Final[dict[str, Any]] = {
    "budget_share": [SHARE],
    "depth": [between(1, 10)],
    "min_gain": [NON_NEGATIVE],
    "l2_regularization": [NON_NEGATIVE],
    "min_samples_node": [at_least(1)],
    "routing": [one_of("hard", "soft")],
}

_TEXTS: Final = {
    "parameters": """costs : CostSheet, mapping, array, Series, path or None
    Prices of the features; None means 1 each.
budget : float, optional
    What each row may spend; None means the price of all features. After the k-th of ``depth`` nodes a row
    has spent at most k / depth of it.
budget_share : float
    Share of the budget that is used, 0 to 1. The lists of features are those of the whole budget, cut short;
    so one fit contains the models of smaller shares, see `at`.
depth : int
    Number of nodes on a path; the tree has up to 2^depth - 1.
min_gain : float
    The least rise of a node's R squared for which it buys a feature.
l2_regularization : float
    Weight of the squared coefficients against the sum of squared errors, on standardised columns. Without it
    collinear columns get large coefficients that cancel, and a row that lacks one of them is far off.
min_samples_node : float
    The least number of rows of a node, or their total weight.
routing : {{"hard", "soft"}}
    Whether a training row goes to one child, or to both with weights by a sigmoid of its distance from the
    threshold.""",
    "attributes": """trees_ : tuple of ScoreTree
    The trees at shares of the budget.
caps_ : ndarray of float64, shape (n_trees,)
    What a row may spend under each of them.
level_ : int
    Which of them predicts.""",
    "references": """Kusner, Chen, Zhou, Xu, Weinberger, Chen: Feature-Cost Sensitive Learning with Submodular
Trees of Classifiers. AAAI 2014.""",
}


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the settings that a sweep tries: the lists of two budgets, each cut at ten shares."""
    whole = context.costs.total(context.costs.features)
    return {"depth": [1, 3], "budget": [0.3 * whole, whole], "min_samples_node": [20]}


class ASTCBase(BudgetedEstimator):
    """What the classifier and the regressor share: growing, and the models of smaller budgets."""

    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = _CONSTRAINTS

    fitted_: Any
    budget: float | None
    budget_share: float
    depth: int
    min_gain: float
    l2_regularization: float
    min_samples_node: float
    routing: str

    def at(self, budget: float) -> Self:
        """Return the model of a smaller budget; it costs no fit.

        Parameters
        ----------
        budget : float
            What a row may spend at most. The lists of features, which were chosen for the budget of the fit,
            are cut short.

        Returns
        -------
        estimator
            That of the largest stored share of the budget that does not exceed it.
        """
        check_is_fitted(self)
        cap = check_cap(budget)
        held = np.flatnonzero(within_budget(self.fitted_.caps, cap))
        if not len(held):
            raise ValueError(
                f"the smallest budget of this fit is {self.fitted_.caps[0]:g}; got {budget!r}. "
                "Fit with that budget instead"
            )
        return self._at_level(int(held[-1]))

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of smaller shares of the budget, see `BudgetedEstimator.variants`."""
        check_is_fitted(self)
        for level in range(len(self.fitted_.caps)):
            if level != self.fitted_.level:
                made = self._at_level(level)
                yield {"budget_share": made.budget_share}, made
        yield {}, self

    def _at_level(self, level: int) -> Self:
        share = float(self.fitted_.shares[level])
        return self.variant({"budget_share": share}, self.fitted_.at_level(level))

    def _grow(self, rows: TrainingSet, target: Floats) -> tuple[dict[str, Any], list[Floats | None]]:
        """Return the trees of all shares, as fields of the model, and the scores that calibrate each."""
        cap, total = self.hard_cap(), rows.costs.total(rows.costs.features)
        shares = np.unique([*_SHARES, float(self.budget_share)])
        trees: list[ScoreTree] = []
        scores: list[Floats | None] = []
        with one_blas_thread():
            problem = self._problem(rows, target, total if cap is None else min(cap, total))
            # Rows that go both ways in training have scores of their own in prediction.
            known = rows.classes is not None and problem.unit is None
            ends = EndScores(problem.design, calibration_step(len(rows))) if known else None
            lists, larger = grow_lists(problem)
            for share in shares[::-1].tolist():
                nodes = grow_tree(problem, lists, share, larger)
                trees.insert(0, as_score_tree(problem.design, nodes))
                scores.insert(0, None if ends is None else ends.of(nodes))
                # A share beside the usual ones must not change the bits of those below it.
                larger = nodes if share in _SHARES else larger
        fields = {
            "trees": tuple(trees),
            "shares": shares,
            "caps": shares * (total if cap is None else cap),
            "level": int(np.searchsorted(shares, self.budget_share)),
        }
        return fields, scores

    def _problem(self, rows: TrainingSet, target: Floats, budget: float) -> GrowthProblem:
        design = Design.of(rows.values, rows.schema, target, rows.weights)
        return GrowthProblem(
            design=design,
            costs=rows.costs,
            depth=self.depth,
            budget=budget,
            min_gain=self.min_gain,
            min_samples_node=self.min_samples_node,
            ridge=self.l2_regularization,
            # The targets of two classes are -1 and 1, so there it is about 1.
            unit=(float(np.sqrt(design.variances.max())) or 1.0) if self.routing == "soft" else None,
        )


@register(
    grid=_grid,
    auto=False,
    trials=[
        {
            "depth": 2,
            "routing": "soft",
            "budget": 4.0,
            "budget_share": 0.55,
            "min_samples_node": 2,
            "min_gain": 0.01,
        }
    ],
)
@documented(_TEXTS)
class ASTCClassifier(ASTCBase, ContractClassifier):
    """A tree of least-squares classifiers whose features are chosen greedily, by their gain per price.

    Each node regresses the labels of its rows on a growing list of features: the next is the one that raises
    R squared most per unit of price, given those that the path has bought, which are free. The gains come
    from an incremental QR decomposition of the products of columns, so a node reads its rows once at most.
    Half of the rows go to each child, by the score. Leaves predict with their own scores.

    Several classes are regressed together, on an indicator of each: the gain is the sum over the classes, and
    rows are divided along the direction in which the fitted scores vary most.

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
    The paper leaves some points open. Rows go to one child by default; the budget grows by the same amount at
    each level; what a node does not spend is left to the nodes below it, and a root that could buy nothing
    gets the part of the next level. Scores become probabilities by a
    temperature that is fitted on the training rows.

    References
    ----------
    {references}

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = ASTCClassifier(heart.costs, 60).fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).max() <= 60), bool(model.at(30).spend(heart.X).max() <= 30)
    (True, True)
    """

    model_type = ScoreTreeClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **_CONSTRAINTS,
        "class_weight": CLASS_WEIGHT,
    }

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        budget_share: float = 1.0,
        depth: int = 3,
        min_gain: float = 0.0,
        l2_regularization: float = 1.0,
        min_samples_node: float = 20,
        routing: str = "hard",
        class_weight: Any = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.budget_share = budget_share
        self.depth = depth
        self.min_gain = min_gain
        self.l2_regularization = l2_regularization
        self.min_samples_node = min_samples_node
        self.routing = routing
        self.class_weight = class_weight

    def _learn(self, rows: TrainingSet) -> ScoreTreeClassifierModel:
        fields, scores = self._grow(rows, _coded(rows))
        pairs = zip(fields["trees"], scores, strict=True)
        temperatures = np.array([tree_temperature(tree, rows, of) for tree, of in pairs])
        logs = np.log(np.maximum(rows.prior(), np.finfo(np.float64).tiny))
        prior = logs[1:] - logs[:1] if rows.n_classes == 2 else logs
        cap = self.hard_cap()
        return ScoreTreeClassifierModel(
            **rows.header(
                prior * temperatures[fields["level"]], None if cap is None else cap * self.budget_share
            ),
            **fields,
            temperatures=temperatures,
        )


def _coded(rows: TrainingSet) -> Floats:
    """Return -1 and 1 for two classes, else an indicator of each class, shape (n_rows, n_outputs)."""
    if rows.n_classes == 2:
        return np.asarray((2.0 * rows.target - 1.0)[:, np.newaxis])
    return np.asarray(np.eye(rows.n_classes)[rows.target])


@register(
    grid=_grid,
    auto=False,
    trials=[{"budget": 4.0, "budget_share": 0.55, "min_samples_node": 2, "min_gain": 0.01}],
)
@documented(_TEXTS)
class ASTCRegressor(ASTCBase, ContractRegressor):
    """A tree of linear regressions whose features are chosen greedily, by their gain per price.

    See `ASTCClassifier`, of which it is the case of numbers.

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
    >>> X = np.array([[0.0, 5.0], [1.0, 3.0], [2.0, 4.0], [3.0, 1.0]])
    >>> model = ASTCRegressor([1.0, 10.0], 1, depth=1, l2_regularization=0).fit(X, 2 * X[:, 0])
    >>> model.predict(X).round(6), model.spend(X)
    (array([0., 2., 4., 6.]), array([1., 1., 1., 1.]))
    """

    model_type = ScoreTreeRegressorModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        budget_share: float = 1.0,
        depth: int = 3,
        min_gain: float = 0.0,
        l2_regularization: float = 1.0,
        min_samples_node: float = 20,
        routing: str = "hard",
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.budget_share = budget_share
        self.depth = depth
        self.min_gain = min_gain
        self.l2_regularization = l2_regularization
        self.min_samples_node = min_samples_node
        self.routing = routing

    def _learn(self, rows: TrainingSet) -> ScoreTreeRegressorModel:
        target = np.ascontiguousarray(rows.target, dtype=np.float64)[:, np.newaxis]
        cap = self.hard_cap()
        fields, _ = self._grow(rows, target)
        return ScoreTreeRegressorModel(
            **rows.header(None, None if cap is None else cap * self.budget_share), **fields
        )
