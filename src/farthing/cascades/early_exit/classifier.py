"""Early exit for classes: a row whose class is clear enough leaves, and pays for no more trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from farthing.base import (
    BudgetedEstimator,
    ContractClassifier,
    Guarantee,
    OnePassMixin,
    PricedErrorsMixin,
    SweepContext,
    documented,
    register,
)
from farthing.base.parameters import ANY_OR_NONE, SHARE
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades.early_exit.base import CONSTRAINTS, EarlyExitBase
from farthing.cascades.early_exit.classifier_model import EarlyExitClassifierModel
from farthing.cascades.early_exit.model import is_made_of_trees
from farthing.costs import CostsLike
from farthing.learning.guarantees import GuaranteedMixin, Ladder
from farthing.learning.guarantees.guaranteed import GUARANTEE, GUARANTEE_TEXT
from farthing.learning.tradeoff_grid import relative_tradeoffs
from farthing.trees import LedgerKind

# The thresholds of variants; at 1 no row leaves early.
_THRESHOLDS: Final = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 1.0)
# Those for every third of the inner model's own variants, which have fewer rounds.
_FEWER: Final = (0.65, 0.8, 0.9, 0.97, 1.0)
_STEP: Final = 3


# Those that a guarantee is tested on: the remaining doubt falls by a fifth each time.
_LADDER: Final = (*(round(1 - 0.8**step, 12) for step in range(45)), 1.0)
# Below this many rows the two ways to charge hardly differ.
_FEW_ROWS: Final = 1000


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return exits from misers of every other default trade-off, for both ways to charge."""
    return _exits(context, relative_tradeoffs(context)[::2], ("model", "row"))


def _auto(context: SweepContext) -> dict[str, list[Any]]:
    """Return the two trade-offs between that of no prices and the largest one."""
    charges: tuple[LedgerKind, ...] = ("model",) if context.n_rows < _FEW_ROWS else ("model", "row")
    return _exits(context, relative_tradeoffs(context)[2:6:2], charges)


def _exits(
    context: SweepContext, tradeoffs: Sequence[float], charges: tuple[LedgerKind, ...]
) -> dict[str, list[Any]]:
    cap = context.budget if context.budget_kind == "hard" else None
    misers = [
        GreedyMiserClassifier(tradeoff=tradeoff, relative=True, charge=charge, budget=cap)
        for tradeoff in tradeoffs
        for charge in charges
    ]
    # Xu et al. (section 6) have an exit every 10 trees; here there are twice as many.
    return {"estimator": misers, "rounds_per_exit": [5]}


@register(
    grid=_grid,
    auto=_auto,
    rank=2,
    time_rank=4,
    trials=[
        {
            "estimator": GreedyMiserClassifier(n_estimators=8, max_depth=2, tree_cost=0.1),
            "threshold": 0.5,
            "rounds_per_exit": 1,
            "error_costs": 5.0,
        }
    ],
)
@documented({"guarantee": GUARANTEE_TEXT.replace(" In place of ``budget``.", " In place of ``threshold``.")})
class EarlyExitClassifier(OnePassMixin, GuaranteedMixin, EarlyExitBase, PricedErrorsMixin):
    """A boosted classifier that stops as soon as the top class is likely enough.

    The trees are learned as usual. Every few rounds a row may leave: if the probability of its top class is
    above the threshold, the remaining trees are not walked and the features that only they test are not paid
    for. Rows that leave keep the probabilities they left with. For rankings, see `EarlyExitRanker`.

    Parameters
    ----------
    estimator : classifier made of boosted trees, optional
        The model to learn; None means a `GreedyMiserClassifier` at its defaults, which ignores prices. Its
        hard budget, if it has one, is kept.
    threshold : float
        Probability of the top class above which a row leaves, 0 to 1; at 1 none does. With error costs, in
        place of the probability: 1 minus the expected cost of the label over the price of the worst error.
    rounds_per_exit : int
        Rounds of boosting between two exits.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features, in place of the estimator's; None keeps those.
    error_costs : ErrorCosts or array, shape (n_classes, n_classes), optional
        Prices of errors, in place of the estimator's, which must take them; None keeps those.
    {guarantee}
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same bits.

    Attributes
    ----------
    model_ : classifier
        The fitted estimator.
    threshold_ : float
        As given.
    rounds_per_exit_ : int
        As given.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    Cambazoglu et al.: Early exit optimizations for additive machine learned ranking systems. WSDM 2010. For
    classes: section 6 of Xu, Weinberger, Chapelle: The Greedy Miser. ICML 2012.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> plain = GreedyMiserClassifier(n_estimators=50, costs=heart.costs).fit(heart.X, heart.y)
    >>> early = EarlyExitClassifier.around(plain, threshold=0.9)
    >>> bool(early.spend(heart.X).mean() < plain.spend(heart.X).mean())
    True
    """

    model_type = EarlyExitClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "threshold": [SHARE],
        "error_costs": ANY_OR_NONE,
        "guarantee": GUARANTEE,
    }

    fitted_: EarlyExitClassifierModel

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float = 0.9,
        rounds_per_exit: int = 10,
        costs: CostsLike = None,
        error_costs: Any = None,
        guarantee: Guarantee | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, rounds_per_exit, costs, n_jobs)
        self.threshold = threshold
        self.error_costs = error_costs
        self.guarantee = guarantee

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are allowed.
        y : array, shape (n_rows,)
            Labels.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is ignored.
        **options
            Further options of the estimator's ``fit``.

        Returns
        -------
        self
        """
        if self.guarantee is not None:  # rows are kept for its test, so they must be counted first
            return super().fit(X, y, sample_weight, **options)
        return self.wrap(self._unfitted().fit(X, y, sample_weight, **options))

    def guarantee_ladder(self, guarantee: Guarantee) -> Ladder:  # the same for all
        """Return the models of thresholds from 0, where all rows leave at once, to 1, where none does."""

        def make(threshold: float) -> EarlyExitClassifier:
            model = replace(self.fitted_, threshold=threshold, certificate=None)
            return self.variant({"threshold": threshold}, model)

        return Ladder(_LADDER, 1.0, make, is_ordered=True)

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other thresholds and fewer rounds, see `BudgetedEstimator.variants`; itself comes last."""
        check_is_fitted(self)
        if self.estimator is not None:
            *fewer, _ = self.fitted_.model.variants()
            # The last variant is the model itself, whose thresholds follow below.
            for params, model in fewer[::-_STEP]:
                estimator = clone(self.estimator).set_params(**params)
                nested = {f"estimator__{name}": value for name, value in params.items()}
                for threshold in _FEWER:
                    yield (
                        {**nested, "threshold": threshold},
                        self.variant(
                            {"estimator": estimator, "threshold": threshold},
                            replace(self.fitted_, model=model, threshold=threshold),
                        ),
                    )
        for threshold in _THRESHOLDS:
            params = {"threshold": threshold}
            yield params, self.variant(params, replace(self.fitted_, threshold=threshold))
        yield {}, self

    def _default_estimator(self) -> BudgetedEstimator:
        return GreedyMiserClassifier()

    def _check_estimator(self, model: object) -> BudgetedEstimator:
        if not is_made_of_trees(model) or not isinstance(model, ContractClassifier):
            raise TypeError(
                f"estimator must be a classifier made of trees, such as GreedyMiserClassifier; got "
                f"{type(model).__name__}. For rankings, see EarlyExitRanker"
            )
        return model

    def _unfitted(self) -> Any:
        model = super()._unfitted()
        if self.error_costs is None:
            return model
        if "error_costs" not in model.get_params(deep=False):
            raise ValueError(f"{type(model).__name__} has no parameter error_costs; leave it out")
        return model.set_params(error_costs=self.error_costs)

    def _make_model(self, fields: dict[str, Any]) -> EarlyExitClassifierModel:
        inner = fields["model"].fitted_
        return EarlyExitClassifierModel(
            **fields,
            classes=inner.classes,
            error_costs=getattr(inner, "error_costs", None),
            threshold=float(self.threshold),
        )
