"""Cronus for rankings."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np

from farthing.base import ContractRegressor, RankerMixin, TrainingSet, documented, register
from farthing.base.parameters import POSITIVE, Interval, at_least
from farthing.base.ranker import query_ids
from farthing.cascades.cronus.base import CronusBase, Weighed
from farthing.cascades.cronus.model import CronusRankerModel, rank_places
from farthing.cascades.cronus.parameters import CONSTRAINTS, SMALL, TEXTS, grid
from farthing.cascades.score_tree import single_tree
from farthing.costs import CostsLike
from farthing.learning.merged_rows import merged_rows
from farthing.typing import Floats


@register(grid=grid, auto=False, trials=[SMALL])
@documented(TEXTS)
class CronusRanker(RankerMixin, CronusBase, ContractRegressor):
    """A cascade that rejects documents stage by stage, and ranks those that stay longer before the others.

    See `CronusClassifier`. Documents rank by the stage at which they leave, those rejected below all others,
    and then by their score there. `predict` returns places in this order, moved and scaled to the mean and
    the spread of the training grades. `score` is NDCG@k; `farthing.metrics.precision` is the paper's measure.

    Parameters
    ----------
    relevant_grade : float or None
        Documents of at least this grade are positive, as in the paper, and the others negative. None
        regresses on the grades, in units of their standard deviation.
    positive_weight : float
        Weight of a positive document in the loss, omega; 3.5 in the paper. It needs ``relevant_grade``.
    k : int
        Number of documents of a query that count in `score`.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    {notes}

    References
    ----------
    {references}

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> X, qid = random.normal(size=(300, 3)), np.repeat(np.arange(30), 10)
    >>> grades = np.digitize(X[:, 0], [0, 1])
    >>> model = CronusRanker([1.0, 5.0, 5.0], n_estimators=10, tradeoff=0.01).fit(X, grades, qid)
    >>> model.score(X, grades, qid) > 0.9, float(model.spend(X).mean())
    (True, 1.0)
    """

    model_type = CronusRankerModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "relevant_grade": [Interval(Real, None, None, closed="neither"), None],
        "positive_weight": [POSITIVE],
        "k": [at_least(1)],
    }

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        relevant_grade: float | None = None,
        positive_weight: float = 1.0,
        k: int = 5,
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
    ) -> None:
        self.costs = costs
        self.relevant_grade = relevant_grade
        self.positive_weight = positive_weight
        self.k = k
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

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from documents with grades.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            One document per row.
        y : array, shape (n_rows,)
            Grades; larger is better.
        qid : array, shape (n_rows,), optional
            The query of each document, in any order. Learning goes document by document, without it.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is ignored.

        Returns
        -------
        self
        """
        return self.fit_rows(self.training_set(X, y, sample_weight, qid=query_ids(qid)))

    def _learn(self, rows: TrainingSet) -> CronusRankerModel:
        rows = merged_rows(rows)
        if self.relevant_grade is None and self.positive_weight != 1:
            raise ValueError(
                f"positive_weight={self.positive_weight} needs relevant_grade, which says what is positive"
            )
        target, factors = np.asarray(rows.target, dtype=np.float64), np.ones(len(rows))
        if self.relevant_grade is None:
            mean, spread = _moments(target, rows)
            target = (target - mean) / spread
        else:
            positive = target >= self.relevant_grade
            target = np.where(positive, 1.0, -1.0)
            factors = np.where(positive, self.positive_weight, 1.0)
        documents = Weighed(rows, target, rows.weights * factors)
        tree = self._cascade(documents, documents)
        scores, stages = tree.ends(rows.values)
        places, wanted = _moments(rank_places(stages, scores[:, 0]), rows), _moments(rows.target, rows)
        scale = wanted[1] / places[1]
        return CronusRankerModel(
            **single_tree(rows, tree, self.evaluation_price), scale=scale, shift=wanted[0] - scale * places[0]
        )


def _moments(values: Floats, rows: TrainingSet) -> tuple[float, float]:
    """Return the weighted mean and standard deviation of values, the latter 1 if they are all the same."""
    mean = float(np.average(values, weights=rows.weights))
    return mean, float(np.sqrt(np.average((values - mean) ** 2, weights=rows.weights))) or 1.0
