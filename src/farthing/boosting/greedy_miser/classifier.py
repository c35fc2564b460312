"""The Greedy Miser for classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from farthing.base import PricedErrorsMixin, TrainingSet, documented, register
from farthing.base.parameters import ANY_OR_NONE, CLASS_WEIGHT
from farthing.base.priced_errors import ERROR_COSTS
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.grid import miser_grid
from farthing.boosting.greedy_miser.model import GreedyMiserClassifierModel
from farthing.boosting.greedy_miser.parameters import CONSTRAINTS, SHARED, Charge, Leaf
from farthing.costs import CostsLike
from farthing.learning.calibration import share_offsets
from farthing.learning.losses import Loss, classification_loss
from farthing.learning.monotonic import MonotonicClassesMixin
from farthing.learning.multi_strategy import MULTI_STRATEGY, MULTI_STRATEGY_TEXT, MultiStrategy
from farthing.learning.unordered import UnorderedMixin


@register(
    grid=miser_grid,
    auto=False,  # early exits include its models
    trials=[
        {"n_estimators": 12, "tradeoff": 0.01, "relative": True, "max_depth": 2, "leaf": "gradient"},
        {"n_estimators": 8, "tradeoff": 0.1, "charge": "row", "budget": 3.0, "tree_cost": 0.02},
        {"n_estimators": 4, "tradeoff": 0.01, "tree_cost": 0.02, "multi_strategy": "multi_output_tree"},
        {
            "n_estimators": 4,
            "tradeoff": 0.1,
            "charge": "row",
            "budget": 3.0,
            "multi_strategy": "multi_output_tree",
        },
        {"n_estimators": 4, "tradeoff": 1.0, "error_costs": 20.0},
    ],
)
@documented(SHARED | {"multi_strategy": MULTI_STRATEGY_TEXT, "error_costs": ERROR_COSTS})
class GreedyMiserClassifier(MonotonicClassesMixin, UnorderedMixin, PricedErrorsMixin, GreedyMiser):
    """Boosted trees on log loss that weigh the gain of a feature against its cost.

    Two classes share one tree per round. More classes have one tree each per round, as in the paper's
    experiment on scenes, or one tree for all of them; what one tree buys, all classes own.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``; "balanced" gives all classes the same total weight.
    {multi_strategy}
    {error_costs} The loss of a row then counts by the mean price of the errors of its class,
        undone in the scores by constants; a ``tradeoff`` that is not relative is in one currency: at
        1, a unit of price is worth a unit of error price, with the log loss for the error. Not with
        ``warm_start``.
    {parameters}

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    {attributes}

    References
    ----------
    Xu, Weinberger, Chapelle: The Greedy Miser: Learning under Test-time Budgets. ICML 2012.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = GreedyMiserClassifier(costs=heart.costs, tradeoff=0.001, relative=True).fit(heart.X, heart.y)
    >>> plain = GreedyMiserClassifier(costs=heart.costs).fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).mean() < plain.spend(heart.X).mean())
    True
    """

    model_type = GreedyMiserClassifierModel
    fitted_: GreedyMiserClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "class_weight": CLASS_WEIGHT,
        "multi_strategy": MULTI_STRATEGY,
        "error_costs": ANY_OR_NONE,
    }

    def __init__(
        self,
        *,
        tradeoff: float = 0.0,
        relative: bool = False,
        charge: Charge = "model",
        budget: float | None = None,
        tree_cost: float = 0.0,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        leaf: Leaf = "newton",
        subsample: float = 1.0,
        monotonic_cst: Any = None,
        class_weight: Any = None,
        multi_strategy: MultiStrategy = "auto",
        error_costs: Any = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        random_state: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            tradeoff=tradeoff,
            relative=relative,
            charge=charge,
            budget=budget,
            tree_cost=tree_cost,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            l2_regularization=l2_regularization,
            leaf=leaf,
            subsample=subsample,
            monotonic_cst=monotonic_cst,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            max_bins=max_bins,
            random_state=random_state,
            costs=costs,
            n_jobs=n_jobs,
        )
        self.class_weight = class_weight
        self.multi_strategy = multi_strategy
        self.error_costs = error_costs

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Return the scores behind the probabilities; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score per class.
        """
        outputs, _ = self.raw_outputs(X, budget=budget, seeds=seeds)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _learn(
        self, rows: TrainingSet, *, validation: TrainingSet | None = None
    ) -> GreedyMiserClassifierModel:
        if rows.errors is None:
            return cast(GreedyMiserClassifierModel, super()._learn(rows, validation=validation))
        if self.warm_start:
            raise ValueError("warm_start=True cannot be combined with error_costs; leave out one of them")
        factors = rows.errors.class_factors()
        given = None if validation is None else validation.reweighed(factors)
        learned = super()._learn(rows.reweighed(factors), validation=given)
        model = cast(GreedyMiserClassifierModel, learned)
        if np.ptp(factors) == 0:
            return model
        # Rows that weigh f times as much have f times the odds (Elkan 2001, theorem 2); a booster that has
        # not converged is off by less, so the constant is fitted to the shares of the classes.
        caps = None if model.budget is None else np.full(len(rows), model.budget)
        scores, _ = model.outputs(rows.values, budget=caps, n_threads=self.n_threads())
        shares = replace(rows, errors=None).prior()
        return model.shifted(share_offsets(scores, shares, rows.weights, -np.log(factors)))

    def _loss(self, rows: TrainingSet) -> Loss:
        return classification_loss(rows.n_classes)
