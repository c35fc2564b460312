"""BudgetRF: random forests on a budget; chapter 3 of Nan's thesis."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import ContractClassifier, TrainingSet, ValidatedMixin, register
from farthing.base.inputs import check_cap, label_codes
from farthing.base.parameters import CLASS_WEIGHT, FRACTION, NON_NEGATIVE, at_least, between, one_of
from farthing.costs import CostsLike
from farthing.errors import BudgetWarning
from farthing.forests.budget_rf.candidate import Candidate
from farthing.forests.budget_rf.forest_model import BudgetForestModel
from farthing.forests.budget_rf.growth import MAX_FEATURES, ForestGrowth, n_drawn
from farthing.forests.budget_rf.out_of_bag import Bags
from farthing.forests.budget_rf.tree import check_impurity, check_tradeoff, impurity_of
from farthing.learning.bootstrap import SamplingUnits
from farthing.trees import CostRule, Grower, Impurity

Aggregation: TypeAlias = Literal["distribution", "vote"]
ImpurityLike: TypeAlias = Impurity | Callable[[NDArray[np.float64]], float]


@register(
    grid={"budget": [None], "n_estimators": [10, 40], "impurity": ["entropy", "pairs"]},
    auto=False,
    trials=[
        {
            "impurity": "pairs",
            "n_estimators": 8,
            "budget": 4.5,
            "aggregation": "vote",
            "max_cuts": 2,
            "cuts_above": 9,
        },
        {"n_estimators": 6, "max_features": "sqrt", "max_cuts": 4, "alpha": [0.0, 1.0], "impurity": "pairs"},
        {
            "impurity": "gini",
            "cost_rule": "penalty",
            "tradeoff": 0.01,
            "n_estimators": 5,
            "validation_fraction": 0.2,
        },
    ],
)
class BudgetForestClassifier(ValidatedMixin, ContractClassifier):
    """A random forest whose trees weigh the gain of a split against its price, grown to fit a mean budget.

    BudgetRF of Nan (thesis, algorithm 2): each tree is grown by GreedyTree on a bootstrap sample, and trees
    are added until the mean cost of the validation rows exceeds the budget; the last tree is left out. A row
    pays for a feature once, however many trees test it.

    Parameters
    ----------
    impurity : {"entropy", "gini", "pairs", "powers"} or callable
        The impurity to reduce; see `BudgetTreeClassifier`. A callable takes the weight of each class in a
        node, a float64 array of shape (n_classes,), and returns the node's impurity, a number of at least
        zero; like "pairs", a split is scored by the decrease for the worse child. For the guarantee of
        ``max_cost_`` it must be admissible, as is any polynomial with non-negative coefficients each of whose
        terms has at least two classes (lemma 3.4.4). It is called from the compiled grower for every
        threshold, in one thread, so it is slow and suits small tables only. A file holds only its name.
    alpha : float or sequence of float
        Threshold of "pairs": classes of at most this weight in a node count as noise, so that trees stop
        earlier and cost less. If several are given, the one whose forest has the least validation error is
        chosen; ties go to the cheaper forest, then to the earlier alpha.
    power : float
        Exponent of "powers", at least 2 for the guarantee.
    cost_rule, tradeoff
        As in `BudgetTreeClassifier`; gains are relative to the impurity of all training rows.
    budget : float, optional
        Limit on the mean cost of the validation rows. It does not cap single rows; `predict` takes such a
        cap. If the first tree alone costs more, the forest is empty and predicts the prior, and `fit` warns.
    n_estimators : int
        Maximum number of trees.
    max_features : int, float, {"sqrt", "log2"} or None
        Columns that are considered for each split, drawn anew for each node: a number, a share, or all. If
        none of them gives a split, the others are tried one by one.
    max_cuts : int, optional
        Number of thresholds of a numeric column that are tried in a node, drawn anew for each node; None
        means all. Few thresholds make the trees more diverse, which can help the forest at a slightly higher
        cost; the thesis drew 20 to 80.
    cuts_above : float
        ``max_cuts`` applies to nodes with more weight than this; lighter ones try all thresholds. "pairs"
        splits every node near its middle, so random thresholds are needed near the root for diverse trees,
        while near the leaves they cost accuracy.
    bootstrap : bool
        Whether each tree learns from rows drawn with replacement, rather than from all rows.
    aggregation : {"distribution", "vote"}
        Whether a tree adds the class shares of its leaf to the forest's output, or one vote for its largest
        class.
    validation_fraction : float, optional
        Share of the training rows, drawn at random, to hold out for validation unless `fit` is given
        validation rows. With None, the cost is measured on the training rows, and the error of several alphas
        out of bag.
    oob_score : bool
        Whether to measure the out-of-bag accuracy.
    max_depth, max_leaf_nodes, min_samples_leaf, max_bins
        Limits of each tree, as in `BudgetTreeClassifier`; a row that is drawn several times counts once for
        ``min_samples_leaf``.
    random_state : int, RandomState or None
        Seed of all draws. The draws of a tree are a pure function of the seed, the number of the tree and the
        position of the node in it, so the number of threads and the order of the rows do not matter.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Trees grown at the same time, as in joblib; any number gives the same forest.

    Attributes
    ----------
    forest_ : Forest
        The trees; values are the class weights of the rows drawn for the tree, so the in-bag weight that a
        node misclassifies is ``cover - value.max(axis=1)``. An empty forest is one leaf with the prior.
    n_trees_ : int
        Number of trees.
    votes_ : bool
        Whether trees vote.
    alpha_ : float
        The threshold that was chosen.
    validation_cost_ : float or None
        Mean cost of the validation rows; None without a budget.
    max_cost_ : ndarray of float64, shape (n_trees,)
        What the most expensive path of each tree costs. Theorem 3.4.2 of the thesis: let OPT be the least
        max-cost of any tree whose leaves have no impurity F and that tests no feature twice on a path. With
        an admissible F ("pairs", "powers" of at least 2, the polynomials of lemma 3.4.4),
        ``cost_rule="ratio"``, all features at each split and no limit on the growth, GreedyTree on the rows S
        costs at most (1 + ln F(S)) * OPT, where F is scaled so that its smallest value above zero is 1.
        Entropy and Gini are not monotone, so there is no such bound for them.
    oob_score_ : float
        Out-of-bag accuracy, over the rows that are out of some bag, if ``oob_score``; not in a file.
    oob_decision_function_ : ndarray of float64, shape (n_rows, n_classes)
        Out-of-bag probabilities of the training rows, if ``oob_score``; NaN for rows that are in every bag.
        Not in a file.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> forest = BudgetForestClassifier(impurity="pairs", costs=heart.costs, budget=4, random_state=0)
    >>> forest.fit(heart.X, heart.y).n_trees_
    12
    >>> float(forest.spend(heart.X).mean()) <= 4
    True
    """

    model_type = BudgetForestModel
    fits_every_row = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        "impurity": [one_of("entropy", "gini", "pairs", "powers"), callable],
        "alpha": [NON_NEGATIVE, "array-like"],
        "power": [NON_NEGATIVE],
        "cost_rule": [one_of("ratio", "penalty")],
        "tradeoff": [NON_NEGATIVE, None],
        "n_estimators": [at_least(1)],
        "max_features": MAX_FEATURES,
        "max_cuts": [at_least(1), None],
        "cuts_above": [NON_NEGATIVE],
        "bootstrap": ["boolean"],
        "aggregation": [one_of("distribution", "vote")],
        "validation_fraction": [FRACTION, None],
        "oob_score": ["boolean"],
        "max_depth": [at_least(0), None],
        "max_leaf_nodes": [at_least(1), None],
        "min_samples_leaf": [at_least(1)],
        "max_bins": [between(2, 255)],
        "random_state": ["random_state"],
    }
    fitted_: BudgetForestModel
    # The bootstrap samples of the last fit; a model from a file has none.
    _bags: Bags

    def __init__(
        self,
        *,
        impurity: ImpurityLike = "entropy",
        alpha: float | Sequence[float] = 0.0,
        power: float = 2.0,
        cost_rule: CostRule = "ratio",
        tradeoff: float | None = None,
        budget: float | None = None,
        n_estimators: int = 40,
        max_features: int | float | str | None = None,
        max_cuts: int | None = None,
        cuts_above: float = 0.0,
        bootstrap: bool = True,
        aggregation: Aggregation = "distribution",
        validation_fraction: float | None = None,
        oob_score: bool = False,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        max_bins: int = 255,
        random_state: Any = None,
        class_weight: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.impurity = impurity
        self.alpha = alpha
        self.power = power
        self.cost_rule = cost_rule
        self.tradeoff = tradeoff
        self.budget = budget
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_cuts = max_cuts
        self.cuts_above = cuts_above
        self.bootstrap = bootstrap
        self.aggregation = aggregation
        self.validation_fraction = validation_fraction
        self.oob_score = oob_score
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.max_bins = max_bins
        self.random_state = random_state
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs

    def in_bag(self, tree: int) -> NDArray[np.float64]:
        """Return the weight with which each training row was drawn for a tree.

        The draws are made again from the seed; a model from a file has none.

        Parameters
        ----------
        tree : int
            Number of the tree.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            For the rows of `fit` that had a positive weight, in their order; 0 is out of the bag.
        """
        check_is_fitted(self)
        if not hasattr(self, "_bags"):
            raise ValueError("a model from a file does not know the rows it was fitted on; fit it again")
        n_trees = self.fitted_.n_trees
        if not 0 <= tree < n_trees:
            raise ValueError(f"tree must lie between 0 and {n_trees - 1}; got {tree!r}")
        return self._bags.weights(tree)

    def file_params(self) -> dict[str, Any]:
        """Return the parameters to save: the name of an impurity that is a callable."""
        params = super().file_params()
        if callable(self.impurity):
            params["impurity"] = getattr(self.impurity, "__name__", type(self.impurity).__name__)
        return params

    # Learning.

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> BudgetForestModel:
        alphas = self._alphas(given=validation is not None)
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score needs bootstrap=True: without it no row is out of the bag")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        units = SamplingUnits.of(rows.values, rows.target, rows.weights)
        if validation is None and self.validation_fraction is not None and len(units.rows) >= 2:
            # Units rather than rows are split, so that a row of weight 2 is the same as two rows.
            units, held_out = units.split(self.validation_fraction, seed)
            validation = _of_weight(rows, held_out.row_weights())
        bags = Bags(units, seed, bool(self.bootstrap))
        # Held-out rows stay in the table, with a weight of zero, so that the table is binned only once.
        learn = replace(rows, weights=units.row_weights())
        # All alphas learn from the same bags, so that their errors differ by alpha alone.
        candidates = [self._grow(learn, validation, bags, alpha) for alpha in alphas]
        chosen = candidates[0]
        if len(candidates) > 1:
            prior = rows.prior()  # of all rows: what an empty forest predicts
            errors = [c.error(learn, validation, bags, prior=prior) for c in candidates]
            costs = [candidate.cost or 0.0 for candidate in candidates]
            chosen = candidates[min(range(len(alphas)), key=lambda i: (errors[i], costs[i], i))]
        self._bags = bags
        if self.oob_score:
            out_of_bag = chosen.out_of_bag(learn, bags)
            self.oob_decision_function_ = out_of_bag.probabilities()
            self.oob_score_ = out_of_bag.accuracy(learn)
        return self._model(rows, chosen)

    def _grow(self, rows: TrainingSet, validation: TrainingSet | None, bags: Bags, alpha: float) -> Candidate:
        """Grow the forest of one alpha; without validation rows, the cost is that of the training rows."""
        threads = self.n_threads()
        bins = rows.bins(self.max_bins, threads)
        counts = np.bincount(rows.target, weights=rows.weights, minlength=rows.n_classes).astype(np.float64)
        # The gain is a share of the impurity of all rows, so that one trade-off suits tables of any size.
        unit = impurity_of(counts, self.impurity, alpha, self.power)
        tradeoff = check_tradeoff(self.cost_rule, self.tradeoff) * unit
        growth = ForestGrowth(
            # A callable, since every worker needs a grower of its own.
            make_grower=lambda n_threads: Grower(
                bins,
                rows.costs,
                max_depth=self.max_depth,
                max_leaf_nodes=self.max_leaf_nodes,
                min_samples_leaf=self.min_samples_leaf,
                cost_rule=self.cost_rule,
                tradeoff=tradeoff,
                n_threads=n_threads,
            ),
            target=rows.target,
            n_classes=rows.n_classes,
            weights_of=bags.weights,
            options={
                "impurity": self.impurity,
                "alpha": alpha,
                "power": self.power,
                "max_features": n_drawn(self.max_features, bins.n_features),
                "max_cuts": self.max_cuts,
                "cuts_above": self.cuts_above,
                "seed": bags.seed,
            },
            n_estimators=self.n_estimators,
            n_threads=threads,
        )
        budget = check_cap(self.budget)
        if budget is None:
            trees, cost = list(growth.trees()), None
        else:
            trees, cost = growth.within(budget, rows if validation is None else validation)
        return Candidate(alpha, trees, cost, self.aggregation == "vote", threads)

    def _model(self, rows: TrainingSet, chosen: Candidate) -> BudgetForestModel:
        """Return the fitted model; if there is no tree, warn."""
        # A mean budget chooses the trees and caps no row, so the budget of the model is None.
        header = rows.header(budget=self.hard_cap())
        if not chosen.trees:
            warnings.warn(
                f"budget={self.budget!r} is less than the mean validation cost of the first tree: the forest "
                f"is empty and predicts the prior. All features together cost "
                f"{rows.costs.total(rows.costs.features):g}; raise the budget, or limit max_depth",
                BudgetWarning,
                stacklevel=5,  # the call of fit
            )
        return BudgetForestModel(
            **header,
            forest=chosen.forest(header["prior"], len(rows.schema.names)),
            votes=chosen.votes,
            n_trees=len(chosen.trees),
            alpha=chosen.alpha,
            validation_cost=chosen.cost,
        )

    # The choice among several alphas.

    def _alphas(self, *, given: bool) -> list[float]:
        """Check the alphas, and that there are rows to choose by; ``given``: `fit` got validation rows."""
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha must be a number of at least zero, or several; got {self.alpha!r}")
        check_impurity(self.impurity, alpha=self.alpha, power=self.power)
        if len(alphas) > 1 and not given and self.validation_fraction is None and not self.bootstrap:
            raise ValueError(
                "to choose among several alphas, give validation=(X, y) to fit, set validation_fraction, "
                "or set bootstrap=True: all rows are in every bag"
            )
        return [float(alpha) for alpha in alphas]

    # Validation rows, whose labels may be missing or unseen.

    def _validation_rows(
        self, rows: TrainingSet, X: Any, y: Any, sample_weight: Any = None, *, qid: Any = None
    ) -> TrainingSet:
        if y is None:
            # Such rows still measure the cost of the trees, but not their error.
            if np.size(self.alpha) > 1:
                raise ValueError(
                    "validation rows without labels cannot choose among several alphas: "
                    "give validation=(X, y)"
                )
            y = [None] * len(X)
        return super()._validation_rows(rows, X, y, sample_weight, qid=qid)

    def _validation_target(self, rows: TrainingSet, y: Any) -> NDArray[Any]:
        # A label that no training row has is -1, which no tree predicts: it counts as an error.
        return label_codes(y, np.asarray(rows.classes))


def _of_weight(rows: TrainingSet, weights: NDArray[np.float64]) -> TrainingSet:
    """Return the rows of positive weight under other weights."""
    return replace(rows, weights=weights).take(weights > 0)
