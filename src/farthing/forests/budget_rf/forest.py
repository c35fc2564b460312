"""Forests on a budget: BudgetRF of Nan's thesis, chapter 3."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing.base import ContractClassifier, TreesMixin, n_threads, normalise, register
from farthing.base.inputs import label_codes
from farthing.costs import CostSheet
from farthing.errors import BudgetWarning
from farthing.forests.budget_rf.growth import ForestGrowth, Rows, n_drawn
from farthing.forests.budget_rf.tree import check_tradeoff, impurity_of
from farthing.learning.bootstrap import Units
from farthing.table import Bins
from farthing.trees import CostRule, Forest, Grower, Impurity, Predictor

Aggregation: TypeAlias = Literal["distribution", "vote"]
ImpurityLike: TypeAlias = Impurity | Callable[[NDArray[np.float64]], float]


@dataclass(frozen=True)
class _Candidate:
    """The forest of one alpha."""

    alpha: float
    trees: list[Forest]
    cost: float | None


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
class BudgetForestClassifier(TreesMixin, ContractClassifier):
    """A random forest whose trees weigh what a split tells against its price, and whose size obeys a budget.

    BudgetRF of Nan (thesis, algorithm 2): a tree is grown by GreedyTree on a bootstrap sample, and trees are
    added until the mean cost of the validation rows passes the budget; the tree that passes it is left out.
    A row pays for a feature once, however many trees test it.

    Parameters
    ----------
    impurity : {"entropy", "gini", "pairs", "powers"} or callable
        What a split should lower; see `BudgetTreeClassifier`. A callable takes the weight of each class in a
        node, a float64 array of shape (n_classes,), and returns the node's impurity, a number of at least
        zero; it is used like "pairs", by the fall for the worse child. For the guarantee of ``max_cost_`` it
        must be admissible, as any polynomial with non-negative coefficients is of whose terms each has at
        least two classes (lemma 3.4.4). It is called from the compiled grower for every threshold, in one
        thread, so it is slow: good for small tables. A file holds only its name.
    alpha : float or sequence of float
        Threshold of "pairs": classes of at most this weight in a node count as noise, so that trees stop
        earlier and cost less. Of several, the one whose forest has the least error on the validation rows is
        taken; the cheaper forest of equals, then the earlier.
    power : float
        Exponent of "powers", at least 2 for the guarantee.
    cost_rule, tradeoff
        As in `BudgetTreeClassifier`; the share of impurity is that of all training rows.
    budget : float, optional
        What the validation rows may cost on average. Not a cap on single rows; `predict` takes one. If the
        first tree is too dear, the forest is empty, predicts the prior, and warns.
    n_estimators : int
        Most trees.
    max_features : int, float, {"sqrt", "log2"} or None
        Columns among which each split is sought, drawn anew for each node: a number, a share of them, or all.
        If none of them gives a split, the others are tried one by one.
    max_cuts : int, optional
        Thresholds of a numeric column that are tried in a node, drawn anew for each node; None is all. Few
        make trees differ, which can help the forest and costs a little more; the thesis drew 20 to 80.
    cuts_above : float
        ``max_cuts`` holds in nodes of more weight than this, so of more rows drawn; lighter ones try all
        thresholds. "pairs" cuts every node near its middle, so that trees differ only by chance near the
        root, while near the leaves chance costs accuracy.
    bootstrap : bool
        Whether each tree learns from rows drawn with replacement, or from all of them.
    aggregation : {"distribution", "vote"}
        Whether a tree adds the class shares of its node to the forest's answer, or one vote for its largest
        class.
    validation_fraction : float, optional
        Share of the training rows, drawn by lot, that is held out as validation rows, unless `fit` is given
        some. None holds out nothing: the cost is measured on the training rows, and the error of several
        alphas on those out of the bag.
    oob_score : bool
        Whether to measure the accuracy on rows that are out of the bag.
    max_depth, max_leaf_nodes, min_samples_leaf, max_bins
        Limits of each tree, as in `BudgetTreeClassifier`; each row drawn counts once for ``min_samples_leaf``.
    random_state : int, RandomState or None
        Seed of all draws. The draws of a tree are a pure function of the seed, the number of the tree and the
        place of the node in it, so threads do not matter; nor does the order of the rows.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    n_jobs : int, optional
        Trees grown at the same time, as in joblib; any number gives the same forest.

    Attributes
    ----------
    forest_ : Forest
        The trees; values are the class weights of the rows drawn for the tree, so the weight that a node
        gets wrong in the bag is ``cover - value.max(axis=1)``. An empty forest is one leaf with the prior.
    n_trees_ : int
        Number of trees.
    votes_ : bool
        Whether trees vote.
    alpha_ : float
        The threshold taken.
    validation_cost_ : float or None
        Mean cost of the validation rows; None without a budget.
    oob_score_ : float
        Accuracy on the rows that are out of the bag of some tree, if ``oob_score``; not in a file.
    oob_decision_function_ : ndarray of float64, shape (n_rows, n_classes)
        Probabilities of the training rows from the trees whose bag they are out of, if ``oob_score``; NaN
        for rows that are in every bag. Not in a file.
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

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "votes_": bool,
        "n_trees_": int,
        "alpha_": float,
        "validation_cost_": float | NoneType,
    }
    # Validation rows and their labels, while `fit` has some.
    _given: tuple[Any, Any] = (None, None)

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
        costs: Any = None,
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
        self.costs = costs
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X, y, sample_weight
            The training rows, their labels and weights. Whole weights are repetitions of the row; others
            multiply the number of times that the row is drawn.
        X_val : array or frame, shape (n_validation_rows, n_features), optional
            The validation rows.
        y_val : array, shape (n_validation_rows,), optional
            Their labels; needed only to choose among several alphas.

        Returns
        -------
        self
        """
        self._given = (X_val, y_val)
        try:
            return super().fit(X, y, sample_weight)
        finally:
            del self._given

    @property
    def max_cost_(self) -> NDArray[np.float64]:
        """What the dearest path of each tree costs, shape (n_trees,).

        Theorem 3.4.2 of the thesis: let OPT be the least max-cost of any tree whose leaves have no impurity F
        and that tests no feature twice on a path. With an admissible F ("pairs", "powers" of at least 2, the
        polynomials of lemma 3.4.4), ``cost_rule="ratio"``, all features at each split and no limit on the
        growth, GreedyTree on the rows S costs at most (1 + ln F(S)) * OPT, where F is scaled so that its
        smallest value above zero is 1. Entropy and Gini are not monotone and promise nothing.
        """
        trees = self.forest_
        return np.array([max_cost(trees.trees(t, t + 1), self.costs_) for t in range(trees.n_trees)])

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
        if not hasattr(self, "_units"):
            raise ValueError("a model from a file does not know the rows it was fitted on; fit it again")
        if not 0 <= tree < self.n_trees_:
            raise ValueError(f"tree must lie between 0 and {self.n_trees_ - 1}; got {tree!r}")
        return self._drawn(tree)

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,
    ) -> None:
        self._check_params()
        alphas = self._alphas()
        self.votes_ = self.aggregation == "vote"
        self._draws = bool(self.bootstrap)
        self._seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        self._units = Units.of(values, target, weights)
        judges = self._judges(values, target)
        rows = Rows(values, target, self._units.all())
        bins = Bins(values, self.schema_, max_bins=self.max_bins, n_threads=n_threads(self.n_jobs))
        candidates = [self._grow(bins, rows, judges or rows, alpha, sheet) for alpha in alphas]
        chosen = candidates[0]
        if len(candidates) > 1:
            costs = [0.0 if c.cost is None else c.cost for c in candidates]
            errors = [self._error(candidate, rows, judges) for candidate in candidates]
            chosen = candidates[min(range(len(alphas)), key=lambda i: (errors[i], costs[i], i))]
        self._adopt_trees(chosen, values.shape[1], sheet)
        if self.oob_score:
            self._measure_out_of_bag(chosen, rows)

    def _adopt_trees(self, chosen: _Candidate, n_features: int, sheet: CostSheet) -> None:
        self.alpha_ = chosen.alpha
        self.validation_cost_ = chosen.cost
        self.n_trees_ = len(chosen.trees)
        if chosen.trees:
            self.forest_ = Forest.concat(chosen.trees)
            return
        self.forest_ = Forest.constant(self.prior_, n_features)
        warnings.warn(
            f"budget={self.budget!r} is less than the mean validation cost of the first tree: the forest is "
            f"empty and predicts the prior. All features together cost {sheet.total(sheet.features):g}; "
            "raise the budget, or limit max_depth",
            BudgetWarning,
            stacklevel=5,
        )

    # Rows to judge by.

    def _judges(self, values: NDArray[np.floating], target: NDArray[np.int64]) -> Rows | None:
        """Return the validation rows; None if the training rows serve."""
        given, labels = self._given
        if given is not None:
            encoded = self.schema_.encode(given, type(self).__name__)
            encoded.check(np.ones(encoded.values.shape, dtype=np.bool_))
            codes = np.full(len(encoded.values), -1) if labels is None else label_codes(labels, self.classes_)
            check_consistent_length(encoded.values, codes)
            return Rows(encoded.values, codes, np.ones(len(codes)))
        if labels is not None:
            raise ValueError("y_val was given without X_val")
        if self.validation_fraction is None or len(self._units.rows) < 2:
            return None
        if not 0 < self.validation_fraction < 1:
            raise ValueError(
                f"validation_fraction must lie between 0 and 1, or be None; got {self.validation_fraction!r}"
            )
        self._units, held = self._units.part(self.validation_fraction, self._seed)
        weights = held.all()
        kept = weights > 0
        return Rows(values[kept], target[kept], weights[kept])

    def _error(self, candidate: _Candidate, rows: Rows, judges: Rows | None) -> float:
        """Return the weighted share of validation rows, or of those out of the bag, that are wrong."""
        if judges is None:
            outputs, voters = self._out_of_bag(candidate, rows)
            heard = voters > 0
            outputs = outputs[heard]
            judges = Rows(rows.values[heard], rows.target[heard], rows.weights[heard])
        else:
            outputs = np.broadcast_to(self.prior_, (len(judges.values), len(self.prior_)))
            if candidate.trees:
                outputs = self._outputs(Forest.concat(candidate.trees), judges.values)
        if not len(outputs):
            return 0.0
        return float(np.average(outputs.argmax(axis=1) != judges.target, weights=judges.weights))

    def _outputs(self, forest: Forest, values: NDArray[np.floating]) -> NDArray[np.float64]:
        ready = Predictor(forest, self._node_scores(forest))
        return ready.predict(values, n_threads=n_threads(self.n_jobs))[0]

    # Out of the bag.

    def _out_of_bag(self, candidate: _Candidate, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the sum of the answers of the trees that did not see a row, and how many those are."""
        outputs = np.zeros((len(rows.target), len(self.classes_)))
        voters = np.zeros(len(rows.target), dtype=np.int64)
        for number, tree in enumerate(candidate.trees):
            out = np.flatnonzero((self._drawn(number) == 0) & (rows.weights > 0))
            if len(out):
                outputs[out] += self._outputs(tree, rows.values[out])
                voters[out] += 1
        return outputs, voters

    def _measure_out_of_bag(self, candidate: _Candidate, rows: Rows) -> None:
        outputs, voters = self._out_of_bag(candidate, rows)
        judged = voters > 0
        shares = np.full(outputs.shape, np.nan)
        shares[judged] = normalise(outputs[judged])
        self.oob_decision_function_ = shares
        right = outputs[judged].argmax(axis=1) == rows.target[judged]
        self.oob_score_ = float(np.average(right, weights=rows.weights[judged])) if judged.any() else np.nan

    def _drawn(self, tree: int) -> NDArray[np.float64]:
        return self._units.drawn(self._seed, tree) if self._draws else self._units.all()

    # Growing.

    def _grow(self, bins: Bins, rows: Rows, judges: Rows, alpha: float, sheet: CostSheet) -> _Candidate:
        """Grow the forest of one alpha."""
        counts = np.bincount(rows.target, weights=rows.weights, minlength=len(self.classes_))
        whole = impurity_of(counts.astype(np.float64), self.impurity, alpha, self.power)
        tradeoff = check_tradeoff(self.cost_rule, self.tradeoff) * whole
        grove = ForestGrowth(
            make_grower=lambda threads: Grower(
                bins,
                sheet,
                max_depth=self.max_depth,
                max_leaf_nodes=self.max_leaf_nodes,
                min_samples_leaf=self.min_samples_leaf,
                cost_rule=self.cost_rule,
                tradeoff=tradeoff,
                n_threads=threads,
            ),
            target=rows.target,
            n_classes=len(self.classes_),
            draw=self._drawn,
            options={
                "impurity": self.impurity,
                "alpha": alpha,
                "power": self.power,
                "max_features": n_drawn(self.max_features, bins.n_features),
                "max_cuts": self.max_cuts,
                "cuts_above": self.cuts_above,
                "seed": self._seed,
            },
            n_estimators=self.n_estimators,
            n_threads=n_threads(self.n_jobs),
        )
        if self.budget is None:
            return _Candidate(alpha, list(grove.trees()), None)
        return _Candidate(alpha, *grove.within(self.budget, judges, sheet))

    # Parameters.

    def _check_params(self) -> None:
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 1:
            raise ValueError(f"n_estimators must be an integer of at least 1; got {self.n_estimators!r}")
        if self.max_cuts is not None and not (
            isinstance(self.max_cuts, int | np.integer) and self.max_cuts >= 1
        ):
            raise ValueError(f"max_cuts must be an integer of at least 1, or None; got {self.max_cuts!r}")
        if not 0 <= self.cuts_above < np.inf:
            raise ValueError(f"cuts_above must be a number of at least 0; got {self.cuts_above!r}")
        if self.aggregation not in ("distribution", "vote"):
            raise ValueError(f"aggregation must be 'distribution' or 'vote'; got {self.aggregation!r}")
        if isinstance(self.impurity, str):
            impurity_of(np.ones(1), self.impurity)  # raises if there is none of that name
        elif not callable(self.impurity):
            raise TypeError(f"impurity must be a name or a callable; got {self.impurity!r}")
        if self.oob_score and not self.bootstrap:
            raise ValueError("oob_score needs bootstrap=True: without it no row is out of the bag")

    def _alphas(self) -> list[float]:
        alphas = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        if alphas.ndim != 1 or not len(alphas) or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alpha must be a number of at least zero, or several; got {self.alpha!r}")
        if len(alphas) > 1:
            if self.impurity != "pairs":
                raise ValueError(f"several alphas have no meaning with impurity={self.impurity!r}; give one")
            if self._given[0] is not None and self._given[1] is None:
                raise ValueError("X_val without y_val cannot choose among several alphas; give y_val")
            if self._given[0] is None and self.validation_fraction is None and not self.bootstrap:
                raise ValueError(
                    "to choose among several alphas, give X_val and y_val to fit, set validation_fraction, "
                    "or set bootstrap=True: all rows are in every bag"
                )
        return [float(alpha) for alpha in alphas]

    # The contract.

    def _file_params(self) -> dict[str, Any]:
        params = super()._file_params()
        if callable(self.impurity):
            params["impurity"] = getattr(self.impurity, "__name__", type(self.impurity).__name__)
        return params

    def _node_scores(self, forest: Forest) -> NDArray[np.float64]:
        if self.votes_:
            return np.asarray(np.eye(forest.n_outputs)[forest.value.argmax(axis=1)])
        return normalise(forest.value)

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return normalise(outputs)


def max_cost(tree: Forest, sheet: CostSheet) -> float:
    """Return what the dearest path from the root to a leaf of a tree costs.

    Parameters
    ----------
    tree : Forest
        One tree.
    sheet : CostSheet
        The prices, in the order of the columns.
    """
    owned = tree.tests()[tree.feature < 0] > 0
    return float(sheet.total_rows(owned).max())
