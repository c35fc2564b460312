"""Plans of sets of columns: the next question is the best first one of what will be needed together."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import PricedErrorsMixin, SweepContext, TrainingSet, documented, register
from farthing.base.parameters import ANY_OR_NONE, NON_NEGATIVE, at_least, between
from farthing.base.priced_errors import ERROR_COSTS
from farthing.costs import CostsLike, per_price
from farthing.forests import BudgetTreeClassifier
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import folds_of
from farthing.learning.losses import classification_loss
from farthing.learning.merged_rows import merged_rows
from farthing.learning.multi_strategy import grows_multi_output
from farthing.learning.price_of_money import price_of_money
from farthing.learning.random_numbers import draw_rows
from farthing.neighbors.lookahead.distillation import Distillation
from farthing.neighbors.lookahead.model import LookaheadModel
from farthing.neighbors.lookahead.planning import PlanLearner

# What all features together are worth by default, in errors.
_ERRORS_PER_ALL: Final = 0.1
# Folds of the boosters that are only searched with.
_FEW_FOLDS: Final = 3


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return trade-offs per the cost of all features, unless errors have prices."""
    if context.error_costs is not None:
        return {}
    whole = context.costs.total(context.costs.features) or 1.0
    return {"tradeoff": [float(per_price(share, whole)) for share in (0.1, 0.5)]}


@register(
    grid=_grid,
    auto=False,
    trials=[
        {
            "n_estimators": 8,
            "max_depth": 2,
            "max_sets": 24,
            "max_size": 3,
            "width": 2,
            "n_folds": 2,
            "n_neighbors": 12,
        },
        {
            "n_estimators": 6,
            "max_depth": 2,
            "max_sets": 16,
            "max_size": 2,
            "width": 2,
            "n_folds": 2,
            "error_costs": 20.0,
            "budget": 5.0,
        },
    ],
)
@documented({"error_costs": ERROR_COSTS})
class LookaheadClassifier(PricedErrorsMixin):
    """Ask for what will be needed together: plans of sets of columns, where single ones tell nothing.

    The nearest training rows that agree on what is known stand for a row. For each of them, and for each set
    of a library, it is known what a row loses that knows the set, by boosters that are trained on rows with
    random columns hidden and have not seen the row. A question is worth what the best set costs after its
    answer: the expected loss plus ``tradeoff`` times the price of the set, over the neighbours with that
    answer. The row asks for the column of the least such cost and stops if none is below what it would lose
    now. So it buys a column that says nothing of the label, if it says which columns do.

    Time per question grows with the training rows, the columns and the sets; `distill` makes a tree of it.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        Hard: no row spends more, and plans that the row cannot afford are not made. None means no limit.
    {error_costs}
    tradeoff : float, optional
        What a unit of price is worth, in units of error price. None means 1 with error costs: errors and
        tests are then in one currency. Without them, ten times all features cost as much as an error.
    n_neighbors : int, optional
        Training rows that stand for a row, with all that are as near as the last of them. None chooses 15 or
        50 by the total cost of training rows that are held out.
    max_sets : int
        Sets in the library.
    max_size : int
        Columns of the largest sets but one, which has all.
    width : int or None
        Sets of a size whose supersets the search for the library tries, by branch and bound: sets whose price
        alone is above the best total so far are cut off with all that contain them. None tries all others,
        which finds the best sets that there are, and takes long with more than some 12 columns.
    max_rows : int
        Most training rows that are kept, drawn at random.
    n_estimators, learning_rate, max_depth, min_samples_leaf
        Of the booster, as in `farthing.boosting.GreedyMiserClassifier`; it ends earlier if held-out rows
        gain nothing. Rows are copied with different columns hidden; a leaf has as many entries as so many
        rows have copies.
    n_folds : int
        Folds, of which each has a booster; predictions use their mean.
    random_state : int, RandomState or None
        Draws the columns that are hidden, the folds, and the rows that are kept.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same bits.

    Attributes
    ----------
    sets_ : ndarray of bool, shape (n_sets, n_features)
        The library.
    n_neighbors_ : float
        The least weight of a neighbourhood.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    Valancius, Lennon, Oliva: Acquisition Conditioned Oracle for Nongreedy Active Feature Acquisition. ICML
    2024. It draws sets at random for each row and plans no answer ahead.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(400, 5)).astype(float)
    >>> y = np.where(X[:, 0] == 0, X[:, 1], X[:, 2]).astype(int)  # column 0 alone says nothing of y
    >>> model = LookaheadClassifier(tradeoff=0.01, random_state=0).fit(X, y)
    >>> float(model.score(X, y)), float(model.spend(X).mean())
    (1.0, 2.0)
    """

    model_type = LookaheadModel
    price_parameters = ("error_costs",)
    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "error_costs": ANY_OR_NONE,
        "tradeoff": [NON_NEGATIVE, None],
        "n_neighbors": [at_least(1), None],
        "max_sets": [between(2, 4096)],
        "max_size": [at_least(1)],
        "width": [at_least(1), None],
        "max_rows": [at_least(1)],
        "n_estimators": [at_least(1)],
        "max_depth": [at_least(1)],
        "min_samples_leaf": [at_least(1)],
        "n_folds": [at_least(2)],
        "random_state": ["random_state"],
    }
    fitted_: LookaheadModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        error_costs: Any = None,
        tradeoff: float | None = None,
        n_neighbors: int | None = None,
        max_sets: int = 256,
        max_size: int = 6,
        width: int | None = 6,
        max_rows: int = 3000,
        n_estimators: int = 150,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        min_samples_leaf: int = 1,
        n_folds: int = 5,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.error_costs = error_costs
        self.tradeoff = tradeoff
        self.n_neighbors = n_neighbors
        self.max_sets = max_sets
        self.max_size = max_size
        self.width = width
        self.max_rows = max_rows
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    def distill(
        self, X: Any = None, *, max_depth: int = 10, min_samples_leaf: int = 5
    ) -> BudgetTreeClassifier:
        """Return a tree that does what the policy does with most rows, to be read, exported and walked fast.

        It buys what nearly all rows of a node buy sooner or later; its tests are of columns that it has by
        then, and tell apart what the policy does next. It buys no column that the policy buys from no such
        row, and keeps its budget; but it may know less: where a test would be needed that it has no depth or
        rows for, all do what most would do.

        Parameters
        ----------
        X : ndarray, pandas.DataFrame, polars.DataFrame or array-like, optional
            Rows to walk, which need no labels; the more, the closer is the tree. None walks those that the
            model keeps.
        max_depth : int
            Most tests on a path.
        min_samples_leaf : int
            Fewest rows on either side of a test.

        Returns
        -------
        BudgetTreeClassifier
            Fitted; the values of its nodes are the policy's probabilities.
        """
        check_is_fitted(self)
        if max_depth < 0 or min_samples_leaf < 1:
            raise ValueError(
                f"max_depth must be 0 or more and min_samples_leaf 1 or more; got {max_depth} and "
                f"{min_samples_leaf}"
            )
        model = self.fitted_
        if X is None:
            values, weights = model.values, model.weights
        else:
            encoded = model.schema.encode(X, type(self).__name__).values
            values, weights = np.asarray(encoded, dtype=np.float64), np.ones(len(encoded))
            if not len(values):
                raise ValueError("X has no rows to walk")
        forest = Distillation(
            model, values, weights, int(max_depth), int(min_samples_leaf), self.n_threads()
        ).forest()
        tree = BudgetTreeClassifier(costs=model.costs, budget=model.budget, max_depth=int(max_depth))
        return tree.adopt(
            tree.model_type(
                schema=model.schema,
                costs=model.costs,
                prior=model.conclude(model.prior[np.newaxis])[0],
                budget=model.budget,
                classes=model.classes,
                error_costs=model.error_costs,
                forest=forest,
            )
        )

    def _learn(self, rows: TrainingSet) -> LookaheadModel:
        seed = int(check_random_state(self.random_state).randint(2**31))
        tradeoff = price_of_money(self.tradeoff, rows, _ERRORS_PER_ALL)
        rows = merged_rows(rows)
        prior = classification_loss(rows.n_classes).start(rows.target, rows.weights)
        header = rows.header(prior, self.hard_cap())
        if len(rows) > self.max_rows:
            rows = rows.take(draw_rows(seed, len(rows), int(self.max_rows)))
        random = np.random.RandomState(seed)
        learner = PlanLearner(
            rows=rows,
            few_folds=folds_of(rows.values, rows.target, min(_FEW_FOLDS, int(self.n_folds)), random),
            folds=folds_of(rows.values, rows.target, int(self.n_folds), random),
            settings=TreeSettings(
                n_estimators=int(self.n_estimators),
                learning_rate=float(self.learning_rate),
                max_depth=int(self.max_depth),
                min_samples_leaf=int(self.min_samples_leaf),
                multi_output=grows_multi_output("auto", len(prior)),
                n_threads=self.n_threads(),
            ),
            tradeoff=tradeoff,
            header=header,
            max_sets=int(self.max_sets),
            max_size=int(self.max_size),
            width=None if self.width is None else int(self.width),
            random=random,
        )
        return learner.learn(None if self.n_neighbors is None else float(self.n_neighbors))
