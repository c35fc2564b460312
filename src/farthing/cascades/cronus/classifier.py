"""Cronus for two classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from farthing.base import ContractClassifier, TrainingSet, documented, register
from farthing.base.parameters import CLASS_WEIGHT, FRACTION, RANDOM_STATE
from farthing.cascades.cronus.base import CronusBase, Weighed
from farthing.cascades.cronus.calibration import ExitOdds
from farthing.cascades.cronus.model import CronusClassifierModel
from farthing.cascades.cronus.parameters import CONSTRAINTS, SMALL, TEXTS, grid
from farthing.cascades.score_tree import single_tree
from farthing.costs import CostsLike
from farthing.learning.holdout import hold_out_at_random
from farthing.learning.merged_rows import merged_rows
from farthing.typing import Floats


@register(grid=grid, auto=False, trials=[SMALL])
@documented(TEXTS)
class CronusClassifier(CronusBase, ContractClassifier):
    """A cascade that rejects rows of the first class stage by stage, over boosted trees at their prices.

    A stage is a linear score of trees that were boosted before. A row pays for the features of the trees that
    the stage adds, and leaves as the first class if its score is below the stage's threshold; the last stage
    answers. In training rows leave with a probability, by a steep sigmoid, so that the squared loss at the
    exits and the price of the stages, relaxed to a mixed norm, are lowered together. Meant for tables where
    the second class is rare.

    Parameters
    ----------
    {parameters}
    validation_fraction : float or None
        Share of the rows that choose among the cycles, and that probabilities are calibrated on; they are not
        learned from. None means all rows, for all.
    class_weight : mapping, "balanced" or None
        As in scikit-learn: the weights omega of the loss, 3.5 and 1 in the paper. They do not count in the
        price.
    random_state : int, RandomState or None
        Draws the rows to calibrate on.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
        The labels.
    {attributes}
    slope_ : float
        Factor of the score in the log-odds of the second class.
    offsets_ : ndarray of float64, shape (n_stages,)
        What they are for a score of 0 at each stage. Rejected rows have log-odds of at most 0.

    Notes
    -----
    {notes}

    References
    ----------
    {references}

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = CronusClassifier(heart.costs, n_estimators=20, max_cycles=2, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).mean() < heart.costs.total(heart.costs.features))
    True
    """

    model_type = CronusClassifierModel
    binary_only = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "class_weight": CLASS_WEIGHT,
        "validation_fraction": [FRACTION, None],
        "random_state": [RANDOM_STATE],
    }

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        tradeoff: float = 0.01,
        learners: Literal["columns", "trees"] = "trees",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        tree_cost: float = 0.0,
        n_stages: int = 4,
        reject_fraction: float = 0.15,
        inflation: float = 1.3,
        sparsity: float = 1e-4,
        last_sparsity: float | None = None,
        steepness: float = 50.0,
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
        self.n_stages = n_stages
        self.reject_fraction = reject_fraction
        self.inflation = inflation
        self.sparsity = sparsity
        self.last_sparsity = last_sparsity
        self.steepness = steepness
        self.max_cycles = max_cycles
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.random_state = random_state

    def fit_rows(self, rows: TrainingSet, **options: Any) -> Self:
        """Learn from rows that are validated already; see `ContractClassifier.fit_rows`."""
        return super().fit_rows(rows, counts=rows.weights, **options)

    def _learn(self, rows: TrainingSet, counts: Floats) -> CronusClassifierModel:
        # Class weights make errors dearer, not rows more numerous: the price goes by the weights before them.
        factor_of_class = np.ones(rows.n_classes)
        factor_of_class[rows.target] = rows.weights / counts
        rows = merged_rows(replace(rows, weights=counts))
        learned = held = rows
        if self.validation_fraction is not None:
            learned, held = hold_out_at_random(rows, self.validation_fraction, self.random_state)
        parts = [
            Weighed(part, np.where(part.target == 1, 1.0, -1.0), part.reweighed(factor_of_class).weights)
            for part in (learned, held)
        ]
        tree = self._cascade(*parts)
        scores, stages = tree.ends(held.values)
        odds = ExitOdds.of(scores[:, 0], stages, held.target == 1, parts[1].omega, self.n_stages)
        logs = np.log(np.maximum(rows.reweighed(factor_of_class).prior(), np.finfo(np.float64).tiny))
        prior = logs[1:] - logs[:1] if rows.n_classes == 2 else logs
        return CronusClassifierModel(
            **single_tree(rows, tree, self.evaluation_price, prior), slope=odds.slope, offsets=odds.offsets
        )
