"""CSTC for classes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from farthing.base import ContractClassifier, TrainingSet, documented, register
from farthing.base.parameters import CLASS_WEIGHT
from farthing.cascades.cstc.base import CSTCBase
from farthing.cascades.cstc.parameters import CONSTRAINTS, OVER_COLUMNS, TEXTS, grid
from farthing.cascades.cstc.tasks import Classes
from farthing.cascades.score_tree import ScoreTreeClassifierModel, single_tree, tree_temperature
from farthing.costs import CostsLike
from farthing.learning.merged_rows import merged_rows


@register(grid=grid, auto=False, trials=[OVER_COLUMNS])
@documented(TEXTS)
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
    halves the rows of each node, where the paper says nothing. A node is evaluated after all of its features
    are bought: also with trees, of which a row's path may test fewer. The last nodes are fitted again on the
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
    _parameter_constraints: ClassVar[dict[str, Any]] = {**CONSTRAINTS, "class_weight": CLASS_WEIGHT}

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        tradeoff: float = 0.01,
        learners: Literal["columns", "trees"] = "columns",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        tree_cost: float = 0.0,
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
        self.learners = learners
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.tree_cost = tree_cost
        self.depth = depth
        self.sparsity = sparsity
        self.steepness = steepness
        self.max_cycles = max_cycles
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state

    def _learn(self, rows: TrainingSet) -> ScoreTreeClassifierModel:
        rows = merged_rows(rows)
        logs = np.log(np.maximum(rows.prior(), np.finfo(np.float64).tiny))
        prior = logs[1:] - logs[:1] if rows.n_classes == 2 else logs
        tree, held = self._tree(rows, Classes(rows.n_classes))
        temperature = tree_temperature(tree, held)
        return ScoreTreeClassifierModel(
            **single_tree(rows, tree, self.evaluation_price, prior * temperature),
            temperatures=np.array([temperature]),
        )
