"""The Greedy Miser of Xu, Weinberger and Chapelle (2012): what its regressor, classifier and ranker share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import ValidatedMixin, ladder, n_threads
from farthing.boosting.greedy_miser.parameters import MiserParameters
from farthing.boosting.greedy_miser.staged import StagedTrees
from farthing.costs import CostSheet
from farthing.learning.booster import Boosting, Floats, Grow, Weighting, constants
from farthing.learning.early_stopping import EarlyStopping
from farthing.learning.ledgers import Ledger, ModelLedger, PerRowLedger, trees_within
from farthing.learning.losses import Loss
from farthing.learning.random_numbers import draw_rows, subkey
from farthing.learning.training_set import Rows
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown, Predictor, Progress, RowLedgers

# Least share of the training weight that the hessians of a leaf make up: where the model is all but certain,
# Newton steps are long and say little.
LEAST_HESSIAN = 1e-6


class GreedyMiser(MiserParameters, ValidatedMixin, StagedTrees):
    """The booster behind the three estimators; they add the loss and the meaning of the target."""

    _hard_budget = True
    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "evaluation_cost_": float,
        "validation_losses_": np.ndarray,
    }

    # What the three estimators differ in.

    @abstractmethod
    def _loss(self, target: NDArray[Any], qid: NDArray[np.int64] | None) -> Loss:
        """Return what is minimised on these rows."""

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
        watched = None if validation is None else self._watched_rows(validation).reweighed(factors)
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
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
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
        if (rounds := last.n_trees // n_outputs - 1) > self.n_estimators:
            raise ValueError(
                f"n_estimators must be at least the {rounds} of the last fit; got {self.n_estimators}"
            )
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
        most = trees_within(self.budget_, self.tree_cost, self.n_estimators * n_outputs, n_outputs)
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
        most = trees_within(self.budget_, self.tree_cost, self.n_estimators * n_outputs, n_outputs)
        return PerRowLedger(ledgers, cap=cap, most_trees=most, n_trees=before.n_trees - n_outputs)

    def _grow(self, grower: Grower, ledger: Ledger, weighting: Weighting, key: int) -> Grow:
        def grow(gradients: Floats, hessians: Floats | None, number: int, step: float) -> Grown:
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
                l2_regularization=self.l2_regularization / weighting.unit,
                min_hessian=LEAST_HESSIAN * weighting.total(n_rows) if self.leaf == "newton" else 0.0,
                step=step,
            )

        return grow

    def _scale(self, boosting: Boosting) -> float:
        """Return what a trade-off of 1 is worth in the sums that trees are grown by."""
        if not self.relative:
            return 1 / boosting.weighting.unit
        start = np.repeat(self.prior_[:, np.newaxis], len(boosting.target), axis=1)
        return boosting.weighting.sum(boosting.loss.values(boosting.target, start))

    def _watch(self, rows: Rows, before: Forest, ledger: Ledger, threads: int) -> EarlyStopping:
        caps = None if ledger.cap is None else np.full(len(rows.target), ledger.cap)
        loss = self._loss(rows.target, rows.qid)
        return EarlyStopping(
            Progress(rows.values, before.n_outputs, self.costs_, budget=caps, n_threads=threads),
            before,
            lambda scores: self._judge(loss, rows.target, scores, rows.weights, rows.qid),
        )

    def _rounds(self, boosting: Boosting, grow: Grow, ledger: Ledger, watch: EarlyStopping | None) -> None:
        """Run rounds until there are enough, the budget bears no more trees, or n_iter_no_change ends."""
        n_outputs = len(self.prior_)
        for _ in range(boosting.n_before // n_outputs, self.n_estimators):
            if not ledger.opens(n_outputs):
                return
            trees = boosting.round(grow)
            if watch is not None:
                watch.add(Forest.concat(trees))
                if self.n_iter_no_change is not None and watch.idle >= self.n_iter_no_change:
                    return

    def _watched_rows(self, validation: Any) -> Rows:
        """Return validation rows as `fit` takes them."""
        return Rows(*self._given_rows(validation), None)

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of fewer rounds, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        watched = len(self.validation_losses_) or self.validation_fraction is not None
        if not (watched or self.tree_cost or self.warm_start):
            for n_rounds in ladder(self.n_rounds_)[:-1]:
                forest = self.forest_.trees(0, (n_rounds + 1) * len(self.prior_))
                yield {"n_estimators": n_rounds}, self._variant({"n_estimators": n_rounds}, forest_=forest)
        yield {}, self

    def _check_stored(self) -> None:
        super()._check_stored()
        if not (0 <= self.evaluation_cost_ < np.inf):
            raise ValueError(f"evaluation_cost_ must be zero or more; got {self.evaluation_cost_!r}")


def _key(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
