"""BudgetRF for rankings: the class weights of the leaves, added up over the trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractRegressor, TrainingSet, ValidatedRankerMixin, documented, register
from farthing.base.parameters import Interval, at_least, one_of
from farthing.collective import count, gather, group_totals, mean
from farthing.costs import CostsLike
from farthing.forests.budget_rf.base import BudgetForestBase
from farthing.forests.budget_rf.candidate import Judge
from farthing.forests.budget_rf.forest_model import BudgetForestRankerModel, mean_grade
from farthing.forests.budget_rf.parameters import CONSTRAINTS, SHARED, ImpurityLike
from farthing.metrics import ndcg_by_query, prefix_precision_by_query, query_weights
from farthing.trees import CostRule, MaxCuts

Metric: TypeAlias = Literal["ndcg", "prefix_precision"]

# Trees keep the weight of each class in each node, and search every split for all of them.
_MOST_GRADES: Final = 16


@register(
    grid={"budget": [None], "n_estimators": [10, 40], "impurity": ["pairs"]},
    auto=False,
    trials=[
        {"n_estimators": 5, "max_cuts": [(20, 4), (5, 2)], "budget": 4.5},
    ],
)
@documented(SHARED)
class BudgetForestRanker(ValidatedRankerMixin, BudgetForestBase, ContractRegressor):
    """A forest on a mean budget that scores documents by the training documents in its leaves.

    BudgetRF of Nan, section 3.5: the forest is that of `BudgetForestClassifier` with the grades as classes. A
    document adds up the numbers of training documents of each grade in the leaves that it ends in; the score
    is their mean grade, which of grades 0 and 1 is the share of relevant documents. `predict` returns scores;
    within a query, larger is better.

    Parameters
    ----------
    relevant_from : float, optional
        Grades of at least this count as 1, all others as 0, in `fit` and in `score`, as the thesis does with
        Yahoo's. None keeps the grades. Each is a class of its own; more than 16 are put into 16 intervals of
        the same length, each of which counts with its mean.
    metric : {"ndcg", "prefix_precision"}
        What `score` measures, and what chooses among several alphas; see `farthing.metrics`. The thesis's
        Average Precision@5 is "prefix_precision".
    k : int
        Number of documents of a query that count in it.
    {splits}
    validation_fraction : float, optional
        Share of the training rows, drawn at random, to hold out for validation unless `fit` is given
        validation rows. With None, the cost is measured on the training rows, and the error of several alphas
        out of bag.
    {limits}
    {costs}

    Attributes
    ----------
    forest_ : Forest
        The trees; values are the weights of the grades of the documents drawn for the tree. An empty forest
        is one leaf with the prior.
    grades_ : ndarray of float64, shape (n_grades,)
        The grades, or the means of their intervals, ascending.
    {attributes}

    Notes
    -----
    A walk that a budget cuts short adds the numbers of an inner node, which outweigh those of leaves.

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Section 3.5.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> grades, qid = np.digitize(X[:, 0], [0, 1]), np.repeat(np.arange(30), 10)
    >>> ranker = BudgetForestRanker(relevant_from=1, metric="prefix_precision", budget=2, random_state=0)
    >>> ranker = ranker.fit(X, grades, qid)
    >>> bool(ranker.spend(X).mean() <= 2), ranker.grades_
    (True, array([0., 1.]))
    """

    model_type = BudgetForestRankerModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "relevant_from": [Interval(Real, None, None, closed="neither"), None],
        "metric": [one_of("ndcg", "prefix_precision")],
        "k": [at_least(1)],
    }
    fitted_: BudgetForestRankerModel

    def __init__(
        self,
        *,
        relevant_from: float | None = None,
        metric: Metric = "ndcg",
        k: int = 5,
        impurity: ImpurityLike = "pairs",
        alpha: float | Sequence[float] = 0.0,
        power: float = 2.0,
        min_impurity: float = 0.0,
        cost_rule: CostRule = "ratio",
        tradeoff: float | None = None,
        budget: float | None = None,
        n_estimators: int = 40,
        max_features: int | float | str | None = None,
        max_cuts: MaxCuts = None,
        cuts_above: float = 0.0,
        bootstrap: bool = True,
        validation_fraction: float | None = None,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        max_bins: int = 255,
        random_state: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            impurity=impurity,
            alpha=alpha,
            power=power,
            min_impurity=min_impurity,
            cost_rule=cost_rule,
            tradeoff=tradeoff,
            budget=budget,
            n_estimators=n_estimators,
            max_features=max_features,
            max_cuts=max_cuts,
            cuts_above=cuts_above,
            bootstrap=bootstrap,
            validation_fraction=validation_fraction,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            max_bins=max_bins,
            random_state=random_state,
            costs=costs,
            n_jobs=n_jobs,
        )
        self.relevant_from = relevant_from
        self.metric = metric
        self.k = k

    def score(self, X: Any, y: Any, qid: Any = None, *, k: int | None = None, budget: Any = None) -> float:
        """Return the mean over the queries of NDCG@k or of the prefix precision@k; see ``metric``.

        Parameters
        ----------
        X, y, qid, k, budget
            As in `RankerMixin.score`.

        Returns
        -------
        float
        """
        grades, _ = self._encode_target(y)
        return float(
            self._by_query(grades, self.predict(X, budget=budget), qid, self.k if k is None else k).mean()
        )

    def _encode_target(self, y: Any) -> tuple[NDArray[Any], NDArray[Any] | None]:
        grades, _ = super()._encode_target(y)
        if self.relevant_from is not None:
            self._validate_params()  # before the fit does, which has the grades already
            grades = (grades >= self.relevant_from).astype(np.float64)
        return grades, None

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> BudgetForestRankerModel:
        grades, codes = grade_levels(rows.target, rows.weights)
        graded = replace(rows, target=codes, classes=grades)
        chosen = self._grow_forest(graded, validation, "count", self._judge(grades)).chosen
        prior = graded.prior()
        return BudgetForestRankerModel(
            # A mean budget chooses the trees and caps no row, so the budget of the model is None.
            **rows.header(prior, self.hard_cap()),
            forest=chosen.forest(prior, len(rows.schema.names)),
            grades=grades,
            n_trees=len(chosen.trees),
            alpha=chosen.alpha,
            validation_cost=chosen.cost,
        )

    def _judge(self, grades: NDArray[np.float64]) -> Judge:
        """Return 1 minus the metric, each query weighted by the mean weight of its documents."""

        def error(outputs: NDArray[np.float64], rows: TrainingSet) -> float:
            if not count(len(outputs)):
                return 0.0
            # Rows of this fit have codes of the grades; validation rows have grades.
            true = rows.target if rows.classes is None else rows.classes[rows.target]
            by_query = weights = np.empty(0)  # a peer may have no row to judge by
            if len(outputs):
                by_query = self._by_query(true, mean_grade(outputs, grades), rows.qid, self.k)
                weights = query_weights(rows.weights, rows.qid)
            return 1 - mean(by_query, weights)

        return error

    def _by_query(
        self, grades: NDArray[np.float64], scores: NDArray[np.float64], qid: Any, k: int
    ) -> NDArray[np.float64]:
        measure = ndcg_by_query if self.metric == "ndcg" else prefix_precision_by_query
        return measure(grades, scores, qid=qid, k=k)


def grade_levels(
    target: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct grades, or the means of 16 intervals if there are more, and the code of each row.

    Examples
    --------
    >>> grade_levels(np.array([2.0, 0.0, 2.0]), np.ones(3))
    (array([0., 2.]), array([1, 0, 1]))
    """
    grades = np.unique(gather(target))
    if len(grades) <= _MOST_GRADES:
        return grades, np.searchsorted(grades, target).astype(np.int64)
    # Halves, since the difference of two floats can be too large for one.
    place = (target / 2 - grades[0] / 2) / (grades[-1] / 2 - grades[0] / 2)
    level = np.minimum(place * _MOST_GRADES, _MOST_GRADES - 1).astype(np.int64)
    of_level = group_totals(level, weights, _MOST_GRADES)
    present = of_level > 0
    means = group_totals(level, weights * target, _MOST_GRADES)[present] / of_level[present]
    return means, (np.cumsum(present) - 1)[level]
