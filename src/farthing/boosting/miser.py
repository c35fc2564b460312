"""The Greedy Miser of Xu, Weinberger and Chapelle (2012): what its regressor, classifier and ranker share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import TreesMixin, ladder, n_threads
from farthing.base.inputs import check_caps, check_weights
from farthing.boosting.booster import Boosting, Floats, Grow, Weighting, constants
from farthing.boosting.draws import draw_rows, subkey
from farthing.boosting.ledgers import EachRowLedger, Ledger, ModelLedger, trees_within
from farthing.boosting.losses import Loss
from farthing.boosting.watch import Watch
from farthing.costs import CostSheet
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown, Predictor, Progress, RowLedgers

Charge = Literal["model", "row"]
Leaf = Literal["newton", "gradient"]

# Least share of the training weight that the hessians of a leaf make up: where the model is all but certain,
# Newton steps are long and say little.
LEAST_HESSIAN = 1e-6

PARAMETERS = """tradeoff : float
        Lambda of equation 5: a tree is grown to minimise the sum over the training rows of half the squared
        error to the negative gradient, times the row's weight, plus tradeoff times the price of what the tree
        newly buys. So its unit is that of the summed loss per unit of price: twice the rows, or weights twice
        as large, bear twice the lambda. 0 is the cost-blind booster.
    relative : bool
        Whether ``tradeoff`` is a share of the loss before the first tree, summed over the rows, rather than a
        sum itself: at 0.01, a feature of price 1 has to take away 1 % of that loss in the tree that buys it.
        Then one grid of trade-offs fits tables of any size.
    charge : {"model", "row"}
        Who pays. "model", as in the paper: the first use of a feature buys it for all rows and all trees to
        come. "row": each row buys what lies on its own ways through the trees, once; a split at a node is
        charged tradeoff * (1/N) * sum over the node's rows of price(feature | owned by the row), so that
        dear features are moved to where few rows need them.
    budget : float, optional
        Hard: no row, seen or unseen, ever spends more, trees included at ``tree_cost`` each. With "model", a
        feature that would take the model over it is not considered. With "row", a row that cannot afford a
        feature goes on without, in training as at prediction.
    tree_cost : float
        What it costs to evaluate one tree. It counts against the budget and is reported in
        ``evaluation_cost_``; `spend` is about features alone.
    n_trees : int
        Rounds of boosting: one tree each, or one tree a class if there are more than two.
    learning_rate : float
        What each tree's values are multiplied by.
    max_depth, max_leaves : int, optional
        Limits of each tree; None for none.
    min_rows_leaf : int
        Fewest training rows of a leaf, counted and not weighed.
    l2 : float
        Ridge on the leaves.
    leaf : {"newton", "gradient"}
        "newton" fits the trees to Newton steps: the square in equation 5 is weighted by the second derivative
        of the loss. "gradient" is equation 5 to the letter. For squared loss they are the same.
    subsample : float
        Share of the rows that each tree is grown on, drawn without replacement.
    validation_fraction : float, optional
        Share of the rows that is set aside to choose the number of rounds; None for none.
    patience : int, optional
        Stop after this many rounds without a better score on the validation rows; None runs all rounds.
        Either way the model keeps the rounds up to the best.
    warm_start : bool
        Whether `fit` goes on from the trees of the last one, up to ``n_trees`` rounds in all.
    max_bins : int
        Thresholds are sought among at most this many bins of a column, 2 to 255.
    random_state : int, RandomState or None
        For ``subsample`` and ``validation_fraction``.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same trees."""

ATTRIBUTES = """forest_ : Forest
        What is predicted before the first tree, as trees of one node, then the trees in the order of growth.
    evaluation_cost_ : float
        ``tree_cost`` times the number of trees.
    validation_losses_ : ndarray of float64, shape (n_rounds,)
        What the validation rows said after each round that was tried, less is better; empty without such
        rows."""


def documented(method: type) -> type:
    """Fill in what the docstrings of the three estimators share."""
    if method.__doc__ is not None:
        method.__doc__ = method.__doc__.replace("{parameters}", PARAMETERS).replace(
            "{attributes}", ATTRIBUTES
        )
    return method


@dataclass(frozen=True, slots=True)
class PriceLevel:
    """How many of the features of one price a model uses; figure 2 of the paper draws their share.

    Attributes
    ----------
    price : float
        The price alone, shared cost included.
    n_features, n_bought : int
        Features of this price, and those of them that some tree tests.
    """

    price: float
    n_features: int
    n_bought: int


class GreedyMiser(TreesMixin):
    """The booster behind the three estimators; they add the loss and the meaning of the target."""

    _hard_budget = True
    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "evaluation_cost_": float,
        "validation_losses_": np.ndarray,
    }

    def __init__(
        self,
        *,
        tradeoff: float = 0.0,
        relative: bool = False,
        charge: Charge = "model",
        budget: float | None = None,
        tree_cost: float = 0.0,
        n_trees: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaves: int | None = None,
        min_rows_leaf: int = 1,
        l2: float = 0.0,
        leaf: Leaf = "newton",
        subsample: float = 1.0,
        validation_fraction: float | None = None,
        patience: int | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        random_state: Any = None,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tradeoff = tradeoff
        self.relative = relative
        self.charge = charge
        self.budget = budget
        self.tree_cost = tree_cost
        self.n_trees = n_trees
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_rows_leaf = min_rows_leaf
        self.l2 = l2
        self.leaf = leaf
        self.subsample = subsample
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.warm_start = warm_start
        self.max_bins = max_bins
        self.random_state = random_state
        self.costs = costs
        self.n_jobs = n_jobs

    # What the three estimators differ in.

    @abstractmethod
    def _loss(self, target: NDArray[Any], qid: NDArray[np.int64] | None) -> Loss:
        """Return what is minimised on these rows."""

    @abstractmethod
    def _known_target(self, y: Any) -> NDArray[Any]:
        """Check the target of validation rows and return it as ``_fit`` gets that of training rows."""

    def _judge(
        self,
        loss: Loss,
        target: NDArray[Any],
        scores: Floats,
        weights: Floats,
        qid: NDArray[np.int64] | None,  # noqa: ARG002
    ) -> float:
        """Return how bad scores (n_outputs, n_rows) are on validation rows; the mean loss by default."""
        return float(np.average(loss.values(target, scores), weights=weights))

    def _factors(self, target: NDArray[Any], weights: Floats) -> Floats | None:  # noqa: ARG002
        """Return what the weights of rows of each class are multiplied by, shape (n_classes,), or None."""
        return None

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are welcome.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is as if it were not there.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Rows that choose the number of rounds, in place of ``validation_fraction``.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, validation=validation)

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[Any],
        weights: Floats,
        sheet: CostSheet,
        *,
        qid: NDArray[np.int64] | None = None,
        validation: Any = None,
        bins: Bins | None = None,
    ) -> None:
        self._check_parameters()
        threads = n_threads(self.n_jobs)
        factors = self._factors(target, weights)
        rows = Rows(values, target, weights, qid).reweighed(factors)
        self.prior_ = self._loss(rows.target, rows.qid).start(rows.target, rows.weights)
        chance = self.subsample < 1 or self.validation_fraction is not None
        key = _key(self.random_state) if chance else 0
        watched = None if validation is None else self._given_rows(validation).reweighed(factors)
        if watched is None and self.validation_fraction is not None:
            rows, watched = rows.apart(self.validation_fraction, subkey(key, 0))
        if bins is None:
            bins = Bins(rows.values, self.schema_, max_bins=self.max_bins, n_threads=threads)
        before = self._before(bins)
        progress = self._progress(rows, before, threads)
        boosting = Boosting(
            self._loss(rows.target, rows.qid),
            rows.target,
            Weighting.of(rows.weights),
            np.ascontiguousarray(progress.outputs.T),
            self.learning_rate,
            newton=self.leaf == "newton",
            n_before=before.n_trees - before.n_outputs,
        )
        tradeoff = self.tradeoff * self._scale(boosting)
        ledger = self._ledger(bins, before, progress, boosting.weighting, tradeoff)
        grower = Grower(
            bins,
            sheet,
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            min_rows_leaf=self.min_rows_leaf,
            ledger=self.charge,
            tradeoff=tradeoff,
            n_threads=threads,
        )
        grow = self._grow(grower, ledger, boosting.weighting, key)
        watch = None if watched is None else self._watch(watched, before, ledger, threads)
        self._rounds(boosting, grow, ledger, watch)
        n_outputs = before.n_outputs
        kept = boosting.trees if watch is None else boosting.trees[: watch.best * n_outputs]
        self.forest_ = Forest.concat([before, *kept])
        self.validation_losses_ = np.array([] if watch is None else watch.losses, dtype=np.float64)
        self.evaluation_cost_ = float(self.tree_cost * (self.forest_.n_trees - n_outputs))
        if self.budget_ is not None:
            self.budget_ = ledger.left(self.budget_, self.evaluation_cost_)

    def _before(self, bins: Bins) -> Forest:
        """Return the trees to go on from: those of the last fit, or constants."""
        if not (self.warm_start and hasattr(self, "forest_")):
            return constants(self.prior_, bins.n_features, bins.category_widths)
        last, n_outputs = self.forest_, len(self.prior_)
        if not np.array_equal(last.category_widths, bins.category_widths):
            raise ValueError("warm_start needs the columns and categories of the last fit; set it to False")
        if last.n_outputs != n_outputs:
            raise ValueError("warm_start needs the classes of the last fit; set it to False")
        if (rounds := last.n_trees // n_outputs - 1) > self.n_trees:
            raise ValueError(f"n_trees must be at least the {rounds} of the last fit; got {self.n_trees}")
        self.prior_ = last.value[:n_outputs, 0].copy()
        return last

    def _progress(self, rows: Rows, before: Forest, threads: int) -> Progress:
        """Return where the rows stand after the trees that there are already."""
        caps = None
        if self.charge == "row" and (cap := self._cap(before.n_outputs)) is not None:
            caps = np.full(len(rows.target), cap)
        progress = Progress(rows.values, before.n_outputs, self.costs_, budget=caps, n_threads=threads)
        Predictor(before).advance(progress, 0, before.n_trees)
        return progress

    def _cap(self, n_outputs: int) -> float | None:
        """Return what a row may spend on features once all trees that the budget bears are paid for."""
        if self.budget_ is None:
            return None
        most = trees_within(self.budget_, self.tree_cost, self.n_trees * n_outputs, n_outputs)
        return max(0.0, self.budget_ - self.tree_cost * most)

    def _ledger(
        self, bins: Bins, before: Forest, progress: Progress, weighting: Weighting, tradeoff: float
    ) -> Ledger:
        if self.charge == "model":
            return ModelLedger(self.costs_, before, self.budget_, self.tree_cost)
        n_outputs = before.n_outputs
        cap = self._cap(n_outputs)
        ledgers = None
        if cap is not None or tradeoff > 0:
            ledgers = RowLedgers(
                bins,
                self.costs_,
                budget=cap,
                weights=weighting.weights,
                owned=progress.touched,
                n_threads=progress.n_threads,
            )
        most = trees_within(self.budget_, self.tree_cost, self.n_trees * n_outputs, n_outputs)
        return EachRowLedger(ledgers, cap=cap, most_trees=most, n_trees=before.n_trees - n_outputs)

    def _grow(self, grower: Grower, ledger: Ledger, weighting: Weighting, key: int) -> Grow:
        def grow(gradients: Floats, hessians: Floats | None, number: int) -> Grown:
            n_rows = len(gradients)
            drawn = None
            if self.subsample < 1:
                n_drawn = max(1, round(self.subsample * n_rows))
                drawn = draw_rows(subkey(key, number + 1), n_rows, n_drawn)
            return ledger.grow(
                grower,
                gradients,
                hessians,
                drawn,
                l2=self.l2 / weighting.unit,
                min_hessian=LEAST_HESSIAN * weighting.total(n_rows) if self.leaf == "newton" else 0.0,
            )

        return grow

    def _scale(self, boosting: Boosting) -> float:
        """Return what a trade-off of 1 is worth in the sums that trees are grown by."""
        if not self.relative:
            return 1 / boosting.weighting.unit
        start = np.repeat(self.prior_[:, np.newaxis], len(boosting.target), axis=1)
        return boosting.weighting.sum(boosting.loss.values(boosting.target, start))

    def _watch(self, rows: Rows, before: Forest, ledger: Ledger, threads: int) -> Watch:
        caps = None if ledger.cap is None else np.full(len(rows.target), ledger.cap)
        loss = self._loss(rows.target, rows.qid)
        return Watch(
            Progress(rows.values, before.n_outputs, self.costs_, budget=caps, n_threads=threads),
            before,
            lambda scores: self._judge(loss, rows.target, scores, rows.weights, rows.qid),
        )

    def _rounds(self, boosting: Boosting, grow: Grow, ledger: Ledger, watch: Watch | None) -> None:
        """Run rounds until there are enough, the budget bears no more trees, or patience ends."""
        n_outputs = len(self.prior_)
        for _ in range(boosting.n_before // n_outputs, self.n_trees):
            if not ledger.opens(n_outputs):
                return
            trees = boosting.round(grow)
            if watch is not None:
                watch.add(Forest.concat(trees))
                if self.patience is not None and watch.idle >= self.patience:
                    return

    def _given_rows(self, validation: Any) -> Rows:
        """Return validation rows as `fit` takes them."""
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            raise ValueError(
                f"validation must be (X, y) or (X, y, sample_weight); got {type(validation).__name__}"
            )
        return self._validation_rows(*validation)

    def _validation_rows(self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> Rows:
        encoded = self.schema_.encode(X, type(self).__name__)
        encoded.check()
        target = self._known_target(y)
        weights = check_weights(sample_weight, len(encoded.values))
        if len(target) != len(encoded.values):
            raise ValueError(f"validation has {len(encoded.values)} rows, but {len(target)} targets")
        return Rows(encoded.values, target, weights, qid)

    def _check_parameters(self) -> None:
        _check_whole("n_trees", self.n_trees, 0)
        for name in ("tradeoff", "tree_cost", "l2"):
            value = getattr(self, name)
            if not (0 <= value < np.inf):
                raise ValueError(f"{name} must be zero or more, and finite; got {value!r}")
        if not (0 < self.learning_rate < np.inf):
            raise ValueError(f"learning_rate must be above 0, and finite; got {self.learning_rate!r}")
        if not 0 < self.subsample <= 1:
            raise ValueError(f"subsample must lie above 0 and up to 1; got {self.subsample!r}")
        fraction = self.validation_fraction
        if fraction is not None and not 0 < fraction < 1:
            raise ValueError(f"validation_fraction must lie between 0 and 1, or be None; got {fraction!r}")
        if self.patience is not None:
            _check_whole("patience", self.patience, 1)
        for name, choices in (("charge", ("model", "row")), ("leaf", ("newton", "gradient"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name} must be one of {choices}; got {getattr(self, name)!r}")

    # What the fitted model tells beside its predictions.

    @property
    def n_rounds_(self) -> int:
        """Rounds of boosting that the model is made of."""
        check_is_fitted(self)
        n_outputs = len(self.prior_)
        return self.forest_.n_trees // n_outputs - 1

    def staged_predict(self, X: Any, *, budget: Any = None) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round; parameters as in `predict`.

        Yields
        ------
        ndarray, shape (n_rows,)
        """
        for outputs, acquired in self._staged(X, budget):
            yield self._results(self._settle(outputs, acquired))[0]

    def staged_spend(self, X: Any, *, budget: Any = None) -> Iterator[Floats]:
        """Yield what each row has paid after each round, by the cost sheet; parameters as in `predict`.

        Yields
        ------
        ndarray of float64, shape (n_rows,)
        """
        for _, acquired in self._staged(X, budget):
            yield self.costs_.total_rows(acquired)

    def _staged(self, X: Any, budget: Any) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Yield raw outputs and acquired after each round."""
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        caps = check_caps(self.budget_ if budget is None else budget, len(encoded.values))
        n_outputs = len(self.prior_)
        progress = Progress(
            encoded.values, n_outputs, self.costs_, budget=caps, n_threads=n_threads(self.n_jobs)
        )
        ready = self._ready()
        ready.advance(progress, 0, n_outputs)
        for tree in range(n_outputs, self.forest_.n_trees, n_outputs):
            ready.advance(progress, tree, tree + n_outputs)
            acquired = progress.acquired
            encoded.check(acquired)
            yield progress.outputs.copy(), acquired

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of fewer rounds, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        watched = len(self.validation_losses_) or self.validation_fraction is not None
        if not (watched or self.tree_cost or self.warm_start):
            for n_rounds in ladder(self.n_rounds_)[:-1]:
                forest = self.forest_.trees(0, (n_rounds + 1) * len(self.prior_))
                yield {"n_trees": n_rounds}, self._variant({"n_trees": n_rounds}, forest_=forest)
        yield {}, self

    def bought_by_price(self, n_rounds: int | None = None) -> list[PriceLevel]:
        """Count the features that the trees test, by their price; figure 2 of the paper.

        Parameters
        ----------
        n_rounds : int, optional
            Look at the first so many rounds only.

        Returns
        -------
        list of PriceLevel
            By ascending price.
        """
        n_outputs = len(self.prior_)
        rounds = self.n_rounds_ if n_rounds is None else min(n_rounds, self.n_rounds_)
        tested = self.forest_.feature[: self.forest_.offsets[(rounds + 1) * n_outputs]]
        bought = np.zeros(self.forest_.n_features, dtype=np.bool_)
        bought[tested[tested >= 0]] = True
        prices = np.array([self.costs_.price(name) for name in self.costs_.features])
        levels = np.unique(prices)
        return [
            PriceLevel(float(p), int((prices == p).sum()), int((bought & (prices == p)).sum()))
            for p in levels
        ]

    def _check_stored(self) -> None:
        super()._check_stored()
        n_outputs = len(self.prior_)
        if self.forest_.width != 1 or self.forest_.n_trees % n_outputs:
            raise ValueError("the trees are not rounds of one tree for each output")
        if not (0 <= self.evaluation_cost_ < np.inf):
            raise ValueError(f"evaluation_cost_ must be zero or more; got {self.evaluation_cost_!r}")


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a table with all that belongs to them."""

    values: NDArray[np.floating]
    target: NDArray[Any]
    weights: Floats
    qid: NDArray[np.int64] | None

    def apart(self, fraction: float, key: int) -> tuple[Rows, Rows]:
        """Part the rows, or the queries if there are any, into those to learn from and those held out."""
        units = (
            np.arange(len(self.target)) if self.qid is None else np.unique(self.qid, return_inverse=True)[1]
        )
        n_units = int(units.max()) + 1
        n_held = round(fraction * n_units)
        if not 0 < n_held < n_units:
            what = "rows" if self.qid is None else "queries"
            raise ValueError(
                f"validation_fraction={fraction} leaves no {what} on one side of {n_units}; "
                "give more, or validation rows of their own"
            )
        held = np.isin(units, draw_rows(key, n_units, n_held))
        return self._take(~held), self._take(held)

    def reweighed(self, factors: Floats | None) -> Rows:
        """Return the rows with their weights multiplied by the factor of their class."""
        return self if factors is None else replace(self, weights=self.weights * factors[self.target])

    def _take(self, kept: NDArray[np.bool_]) -> Rows:
        qid = None if self.qid is None else self.qid[kept]
        return Rows(self.values[kept], self.target[kept], self.weights[kept], qid)


def _key(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _check_whole(name: str, value: Any, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}; got {value!r}")
