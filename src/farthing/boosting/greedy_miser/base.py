"""The Greedy Miser of Xu, Weinberger and Chapelle (2012): what its regressor, classifier and ranker share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetKind, OnePassMixin, TrainingSet, ValidatedMixin, ladder
from farthing.boosting.greedy_miser.model import GreedyMiserModel, trees_per_round, with_tree_call
from farthing.boosting.greedy_miser.parameters import CONSTRAINTS, MiserParameters
from farthing.boosting.greedy_miser.staged import StagedMixin
from farthing.boosting.greedy_miser.tree_budget import TreeBudget
from farthing.collective import count, mean, save, saved, total
from farthing.learning.booster import (
    Boosting,
    Grow,
    TreeSettings,
    Weighting,
    constants,
    n_splitting_trees,
)
from farthing.learning.early_stopping import EarlyStopping
from farthing.learning.holdout import hold_out, n_held_out
from farthing.learning.ledgers import Ledger, ModelLedger, PerRowLedger, trees_within
from farthing.learning.losses import Loss
from farthing.learning.monotonic import directions_of
from farthing.learning.random_numbers import draw_rows, subkey
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown, Progress, RowLedgers
from farthing.typing import Floats


class GreedyMiser(OnePassMixin, MiserParameters, StagedMixin, ValidatedMixin):
    """The base of the three estimators, which add the loss and the meaning of the target."""

    model_type: ClassVar[type[GreedyMiserModel]]
    budget_kind: BudgetKind = "hard"
    price_parameters = ("tree_cost",)
    #: Whether the labels of the rows at a node follow from its Newton step.
    steps_tell_labels: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    #: What validation holds out.
    units: ClassVar[str] = "rows"

    # What the three estimators differ in.

    @abstractmethod
    def _loss(self, rows: TrainingSet) -> Loss:
        """Return the loss to minimise on these rows."""

    def _validation_loss(self, loss: Loss, rows: TrainingSet, scores: Floats) -> float:
        """Return the loss of scores (n_outputs, n_rows) on validation rows; by default the weighted mean."""
        return mean(loss.values(rows.target, scores), rows.weights)

    # Learning.

    def check_collection(self) -> None:
        """Return: all sums over rows are those of `farthing.collective`."""

    def holding_out(self) -> Callable[[int, int], NDArray[np.int64]] | None:
        """Return how rows are held out, by ``validation_fraction``, see `BudgetedEstimator.holding_out`."""
        fraction = self.validation_fraction
        if fraction is None:
            return None
        key = _key(deepcopy(self.random_state))  # which the ranks draw again

        def draw(n_units: int, n_rows: int) -> NDArray[np.int64]:
            return draw_rows(subkey(key, 0), n_units, n_held_out(fraction, n_units, self.units, n_rows))

        return draw

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> GreedyMiserModel:
        stochastic = self.subsample < 1 or self.validation_fraction is not None
        # A fit without chance draws nothing from a RandomState that the caller may share.
        key = _key(self.random_state) if stochastic else 0
        if validation is None and self.validation_fraction is not None:
            rows, validation = hold_out(rows, self.validation_fraction, partial(draw_rows, subkey(key, 0)))
        loss = self._loss(rows)
        prior = loss.start(rows.target, rows.weights)
        budget = self.hard_cap()
        settings = TreeSettings.of(self, len(prior), self._monotonic(rows, budget))
        bins = rows.bins(self.max_bins, settings.n_threads)
        first = self._trees_before(prior, bins, settings)
        resumed = saved()
        before = Forest.concat([first, *resumed])
        n_first = trees_per_round(before)
        prior = before.value[:n_first].reshape(-1).copy()  # with a warm start, that of the last fit
        progress = self._progress(rows, before, budget)
        boosting = Boosting(
            loss,
            rows.target,
            Weighting.of(rows.weights),
            np.ascontiguousarray(progress.outputs.T),
            self.learning_rate,
            newton=settings.newton,
            n_before=before.n_trees - n_first,
            multi_output=settings.multi_output,
        )
        tradeoff = self.tradeoff * self._tradeoff_unit(rows, boosting, prior)
        ledger = self._ledger(bins, before, progress, boosting.weighting, tradeoff=tradeoff, budget=budget)
        grower = settings.make_grower(bins, rows.costs, ledger=self.charge, tradeoff=tradeoff)
        grow = self._grow(settings, grower, ledger, boosting, key)
        stopping = None if validation is None else self._early_stopping(validation, first, ledger)
        if stopping is not None:
            for trees in resumed:
                stopping.add(trees)
        crowded = self._run_rounds(boosting, grow, ledger, stopping)
        grown = [trees.trees(i, i + 1) for trees in resumed for i in range(trees.n_trees)] + boosting.trees
        kept = grown if stopping is None else grown[: stopping.best * n_first]
        forest = Forest.concat([first, *_without_last_constants(kept, n_first)])
        evaluation_cost = float(self.tree_cost * n_splitting_trees(forest))
        if budget is not None:
            self._warn_of_tree_costs(rows, budget, forest, evaluation_cost, crowded=crowded)
        cap = None if budget is None else ledger.prediction_budget(budget, evaluation_cost)
        # Without Newton steps, with losses of rankings, or within bounds, the labels at a node do not follow
        # from its value.
        tells_labels = settings.newton and self.steps_tell_labels and settings.monotonic is None
        return self.model_type(
            **{**rows.header(prior=prior, budget=cap), "costs": with_tree_call(rows.costs, evaluation_cost)},
            forest=forest,
            evaluation_cost=evaluation_cost,
            learning_rate=float(self.learning_rate) if tells_labels else None,
            validation_losses=np.array([] if stopping is None else stopping.losses, dtype=np.float64),
        )

    def _monotonic(self, rows: TrainingSet, budget: float | None) -> NDArray[np.int8] | None:
        n_classes = 2 if rows.classes is None else rows.n_classes
        directions = directions_of(self.monotonic_cst, rows.schema, n_classes)
        if directions is not None and self.charge == "row" and budget is not None:
            raise ValueError(
                "monotonic_cst cannot be kept with charge='row' and a budget: what a row can afford depends "
                "on the values that it has shown; use charge='model', or leave out one of them"
            )
        return directions

    def _trees_before(self, prior: Floats, bins: Bins, settings: TreeSettings) -> Forest:
        """Return the trees to continue from: those of the last fit, or constants."""
        if not (self.warm_start and hasattr(self, "fitted_")):
            return constants(prior, bins.n_features, bins.category_widths, multi_output=settings.multi_output)
        last, n_outputs = self.fitted_.forest, len(prior)
        if not np.array_equal(last.category_widths, bins.category_widths):
            raise ValueError("warm_start needs the columns and categories of the last fit; set it to False")
        if last.n_outputs != n_outputs:
            raise ValueError("warm_start needs the classes of the last fit; set it to False")
        if (last.width > 1) != settings.multi_output:
            raise ValueError("warm_start needs the multi_strategy of the last fit; set it to False")
        if (rounds := last.n_trees // trees_per_round(last) - 1) > self.n_estimators:
            raise ValueError(
                f"n_estimators must be at least the {rounds} of the last fit; got {self.n_estimators}"
            )
        return last

    def _progress(self, rows: TrainingSet, before: Forest, budget: float | None) -> Progress:
        """Return the state of the training rows after the existing trees."""
        _, cap = self._row_limits(budget, trees_per_round(before))
        # With charge="model" the budget is kept when the model buys, so no row needs a cap of its own.
        return rows.progress(before, cap=None if self.charge == "model" else cap, n_threads=self.n_threads())

    def _row_limits(self, budget: float | None, at_once: int) -> tuple[int, float | None]:
        """Return how many trees fit into the budget, and how much they leave for the features of each row."""
        most = trees_within(budget, self.tree_cost, self.n_estimators * at_once, at_once)
        # `trees_within` allows for rounding, so the rest may be slightly negative.
        return most, None if budget is None else max(0.0, budget - self.tree_cost * most)

    def _ledger(
        self,
        bins: Bins,
        before: Forest,
        progress: Progress,
        weighting: Weighting,
        *,
        tradeoff: float,
        budget: float | None,
    ) -> Ledger:
        costs = progress.sheet
        if self.charge == "model":
            return ModelLedger(costs, before, budget, self.tree_cost)
        most_trees, cap = self._row_limits(budget, trees_per_round(before))
        ledgers = None
        # Otherwise no split depends on who owns what, and the booster is the cost-blind one (free is free).
        if cap is not None or tradeoff > 0:
            ledgers = RowLedgers(
                bins,
                costs,
                budget=cap,
                weights=weighting.weights,
                owned=progress.touched,
                n_threads=progress.n_threads,
            )
        n_trees = n_splitting_trees(before)
        return PerRowLedger(ledgers, cap=cap, most_trees=most_trees, n_trees=n_trees)

    def _grow(
        self, settings: TreeSettings, grower: Grower, ledger: Ledger, boosting: Boosting, key: int
    ) -> Grow:
        n_rows, weighting = len(boosting.target), boosting.weighting
        n_all = count(n_rows)

        def grow_tree(gradients: Floats, hessians: Floats | None, number: int, **leaves: float) -> Grown:
            drawn = None
            if self.subsample < 1:
                n_drawn = max(1, round(self.subsample * n_all))
                # Stream 0 of the key is the hold-out split. Each tree has a stream of its own, so a warm
                # start draws what a single fit would have drawn.
                drawn = draw_rows(subkey(key, number + 1), n_rows, n_drawn)
            return ledger.grow(grower, gradients, hessians, drawn, number, **leaves)

        return settings.make_grow(grow_tree, weighting, weighting.total(n_rows))

    def _tradeoff_unit(self, rows: TrainingSet, boosting: Boosting, prior: Floats) -> float:
        """Return a trade-off of 1 in the unit of the sums that trees are grown by."""
        if rows.errors is not None and not self.relative:
            # In one currency: losses times the mean price of an error, against what all rows pay together.
            n_rows = total(rows.weights / rows.errors.class_factors()[rows.target])
            return n_rows / float(rows.errors.class_prices().mean()) / boosting.weighting.unit
        if not self.relative:
            # Sums over rows are in multiples of the common factor of the weights, so lambda must be, too.
            return 1 / boosting.weighting.unit
        start = np.repeat(prior[:, np.newaxis], len(boosting.target), axis=1)
        return boosting.weighting.sum(boosting.loss.values(boosting.target, start))

    def _early_stopping(self, rows: TrainingSet, before: Forest, ledger: Ledger) -> EarlyStopping:
        # Validation rows have the cap of the training rows, which is also that of prediction.
        caps = None if ledger.cap is None else np.full(len(rows), ledger.cap)
        loss = self._loss(rows)
        return EarlyStopping(
            Progress(rows.values, before.n_outputs, rows.costs, budget=caps, n_threads=self.n_threads()),
            before,
            lambda scores: self._validation_loss(loss, rows, scores),
        )

    def _run_rounds(
        self, boosting: Boosting, grow: Grow, ledger: Ledger, stopping: EarlyStopping | None
    ) -> bool:
        """Run rounds until there are enough, no split pays, the budget has no room, or the loss stalls.

        Returns
        -------
        bool
            Whether the budget had no room for more trees.
        """
        at_once = boosting.trees_per_round
        # Without chance, a round without a split would be repeated for ever. Another draw may split again.
        must_split = self.subsample == 1
        for _ in range(boosting.n_before // at_once, self.n_estimators):
            if stopping is not None and stopping.is_over(self.n_iter_no_change):
                return False
            # All trees of a round or none: a round that lacks the trees of some classes would favour the
            # others.
            if not ledger.reserve_trees(at_once):
                return True
            trees = boosting.round(grow, must_split=must_split)
            if not trees:
                return False
            ledger.release_trees(at_once - sum(map(n_splitting_trees, trees)))
            save(Forest.concat(trees))
            if stopping is not None:
                stopping.add(Forest.concat(trees))
        return False

    def _warn_of_tree_costs(
        self, rows: TrainingSet, budget: float, forest: Forest, evaluation_cost: float, *, crowded: bool
    ) -> None:
        """Warn if the trees leave nothing of the budget for features, or the budget ended boosting."""
        at_once = trees_per_round(forest)
        tree_budget = TreeBudget(budget, self.tree_cost, at_once, self.n_estimators, rows.costs)
        # With charge="row" the trees of all rounds come before any feature, with "model" those of one round.
        n_reserved = at_once
        if self.charge == "row":
            n_reserved = max(at_once, self._row_limits(budget, at_once)[0])
        if not tree_budget.warn_of_starved_features(n_reserved) and crowded:
            tree_budget.warn_of_missing_rounds(forest.n_trees // at_once - 1, evaluation_cost)

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the models of fewer rounds, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        model = self.fitted_
        validated = len(model.validation_losses) or self.validation_fraction is not None
        # With these, a fit of fewer rounds would not be the first rounds of this one.
        if not (validated or self.tree_cost or self.warm_start):
            for n_rounds in ladder(model.n_rounds)[:-1]:
                params = {"n_estimators": n_rounds}
                # A fit leaves out rounds without a split at its end, which subsamples may have.
                if model.splits_in(n_rounds):
                    yield params, self.variant(params, model.first_rounds(n_rounds))
        yield {}, self


def _without_last_constants(trees: list[Forest], at_once: int) -> list[Forest]:
    """Return rounds, of so many trees each, up to the last in which a tree has a split."""
    splits = [place for place, tree in enumerate(trees) if n_splitting_trees(tree)]
    return trees[: (splits[-1] // at_once + 1) * at_once] if splits else []


def _key(random_state: Any) -> int:
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
