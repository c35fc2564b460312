"""Early exit for classes: a row whose class is clear enough leaves, and pays for no more trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetedEstimator, ClassifierModel, ContractClassifier, SweepContext, register
from farthing.base.parameters import SHARE
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades.early_exit.base import CONSTRAINTS, EarlyExitBase, EarlyExitModel, is_made_of_trees
from farthing.costs import RowLedger
from farthing.learning.tradeoff_grid import relative_tradeoffs
from farthing.walks import ForestPolicy, Policy

# The thresholds of variants; at 1 no row leaves early.
_THRESHOLDS: Final = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 1.0)
# Those for every third of the inner model's own variants, which have fewer rounds.
_FEWER: Final = (0.65, 0.8, 0.9, 0.97, 1.0)
_STEP: Final = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class EarlyExitClassifierModel(EarlyExitModel, ClassifierModel):
    """Boosted trees that a row leaves once its top class is likely enough.

    Parameters
    ----------
    threshold : float
        Probability of the top class above which a row leaves, 0 to 1.
    """

    threshold: float

    def policy(self, seed: int | None = None) -> Policy:  # noqa: ARG002 - trees are not stochastic
        """Return a walk from exit to exit."""
        return ExitPolicy(self)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,  # noqa: ARG002
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows, exit by exit; see `FittedModel.outputs`."""
        return self.descend(
            values, budget, lambda _number, _of, outputs, _rows: ~self.is_clear(outputs), n_threads
        )

    def is_clear(self, outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for which rows the top class is likely enough, shape (n_rows,)."""
        return np.asarray(self.conclude(outputs).max(axis=1) > self.threshold)

    def check(self) -> None:
        """Raise ValueError if the exits do not fit the boosted model."""
        super().check()
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must lie between 0 and 1; got {self.threshold!r}")
        if not isinstance(self.inner, ClassifierModel):
            raise TypeError(f"a {type(self.model).__name__} is no classifier")
        if not np.array_equal(self.inner.classes, self.classes):
            raise ValueError("the classes must be those of the model within")


class ExitPolicy:
    """Walk the trees up to an exit, and on to the next one unless the top class is clear.

    Parameters
    ----------
    model : EarlyExitClassifierModel
        The boosted model with its exits.
    """

    def __init__(self, model: EarlyExitClassifierModel) -> None:
        self._model = model
        self._trees = ForestPolicy.of(model.inner.predictor)
        self._exits = list(model.exits)
        self._trees.end = self._exits.pop(0)

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the trees, or None once the row leaves."""
        while (column := self._trees.wants(ledger)) is None and self._exits:
            if self._model.is_clear(self._trees.output()[np.newaxis])[0]:
                return None
            self._trees.end = self._exits.pop(0)
        return column

    def hear(self, column: int, value: float) -> None:
        """Take the answer."""
        self._trees.hear(column, value)

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the trees so far, shape (n_outputs,)."""
        return self._trees.output()


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return exits from misers of every other default trade-off, for both ways to charge."""
    cap = context.budget if context.budget_kind == "hard" else None
    misers = [
        GreedyMiserClassifier(tradeoff=tradeoff, relative=True, charge=charge, budget=cap)
        for tradeoff in relative_tradeoffs(context)[::2]
        for charge in ("model", "row")
    ]
    return {"estimator": misers, "rounds_per_exit": [5]}


@register(
    grid=_grid,
    rank=2,
    trials=[
        {
            "estimator": GreedyMiserClassifier(n_estimators=8, max_depth=2),
            "threshold": 0.5,
            "rounds_per_exit": 1,
        }
    ],
)
class EarlyExitClassifier(EarlyExitBase, ContractClassifier):
    """A boosted classifier that stops as soon as the top class is likely enough.

    The trees are learned as usual. Every few rounds a row may leave: if the probability of its top class is
    above the threshold, the remaining trees are not walked and the features that only they test are not paid.
    Rows that leave keep the probabilities they left with. For rankings, see `EarlyExitRanker`.

    Parameters
    ----------
    estimator : classifier made of boosted trees, optional
        What is learned; None is a `GreedyMiserClassifier` at its defaults, which ignores prices. Its hard
        budget, if it has one, is kept.
    threshold : float
        Probability of the top class above which a row leaves, 0 to 1; at 1 none does.
    rounds_per_exit : int
        Rounds of boosting between two exits.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features, in place of the estimator's; None keeps those.
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
    }

    fitted_: EarlyExitClassifierModel

    def __init__(
        self,
        estimator: Any = None,
        *,
        threshold: float = 0.9,
        rounds_per_exit: int = 10,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, rounds_per_exit, costs, n_jobs)
        self.threshold = threshold

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are welcome.
        y : array, shape (n_rows,)
            Labels.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is as if it were not there.
        **options
            Whatever else the estimator's ``fit`` takes.

        Returns
        -------
        self
        """
        return self.wrap(self._unfitted().fit(X, y, sample_weight, **options))

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other thresholds and fewer rounds, see `BudgetedEstimator.variants`; itself comes last."""
        check_is_fitted(self)
        if self.estimator is not None:
            *fewer, _ = self.fitted_.model.variants()
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

    def _make_model(self, fields: dict[str, Any]) -> EarlyExitClassifierModel:
        classes = fields["model"].fitted_.classes
        return EarlyExitClassifierModel(**fields, classes=classes, threshold=float(self.threshold))
