"""Early exit for classes: a row whose class is clear enough leaves, and pays for no more trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import UnionType
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from farthing.base import ContractClassifier, TreesMixin, register
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.greedy_miser.grid import tradeoffs
from farthing.cascades.early_exit.base import Wrapper
from farthing.costs import RowLedger
from farthing.table import Encoded
from farthing.walks import ForestPolicy, Policy

# What the variants of a fitted model try; at 1 no row leaves early.
_THRESHOLDS: Final = (0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.93, 0.95, 0.97, 0.98, 0.99, 0.995, 1.0)
# And for every third of the model's own variants, which have fewer trees.
_FEWER: Final = (0.65, 0.8, 0.9, 0.97, 1.0)
_STEP: Final = 3


def _grid(ground: Any) -> dict[str, list[Any]]:
    """Return exits from misers of every other default trade-off, for both ways to charge."""
    cap = ground.budget if ground.budget_kind == "hard" else None
    misers = [
        GreedyMiserClassifier(tradeoff=tradeoff, relative=True, charge=charge, budget=cap)
        for tradeoff in tradeoffs(ground)[::2]
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
class EarlyExitClassifier(Wrapper, ContractClassifier):
    """A boosted classifier that stops as soon as the top class is likely enough.

    The trees are learned as ever. Every few rounds a row may leave: if the probability of its top class is
    above the threshold, the trees to come are not walked and what they would look at is not paid. Rows that
    leave keep the probabilities they left with. For rankings, see `EarlyExitRanker`.

    Parameters
    ----------
    estimator : classifier made of boosted trees, optional
        What is learned; None is a `GreedyMiserClassifier` at its defaults, which knows no prices. Its hard
        budget, if it has one, is kept.
    threshold : float
        Probability of the top class above which a row leaves, 0 to 1; at 1 none does.
    rounds_per_exit : int
        Rounds of boosting between two exits.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features, in place of the estimator's; None leaves those.
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

    _stored: ClassVar[Mapping[str, type | UnionType]] = {"threshold_": float}

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
        X : array or frame, shape (n_rows, n_features)
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
        return self._fit_model(lambda model: model.fit(X, y, sample_weight, **options))

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other thresholds and fewer rounds, see `BudgetedEstimator.variants`; itself comes last."""
        check_is_fitted(self)
        if self.estimator is not None:
            *fewer, _ = self.model_.variants()
            for params, model in fewer[::-_STEP]:
                short = self._variant({"estimator": clone(self.estimator).set_params(**params)}, model_=model)
                nested = {f"estimator__{name}": value for name, value in params.items()}
                for threshold in _FEWER:
                    yield {**nested, "threshold": threshold}, short._at(threshold)
        for threshold in _THRESHOLDS:
            yield {"threshold": threshold}, self._at(threshold)
        yield {}, self

    def _at(self, threshold: float) -> Self:
        return self._variant({"threshold": threshold}, threshold_=threshold)

    def _default_model(self) -> TreesMixin:
        return GreedyMiserClassifier()

    def _check_model(self, model: object) -> TreesMixin:
        if not isinstance(model, TreesMixin) or not isinstance(model, ContractClassifier):
            raise TypeError(
                f"estimator must be a classifier made of trees, such as GreedyMiserClassifier; got "
                f"{type(model).__name__}. For rankings, see EarlyExitRanker"
            )
        return self._check_sum(model)

    def _learn_exits(self) -> None:
        self.threshold_ = float(self.threshold)
        _check_threshold("threshold", self.threshold_)

    def _take(self, model: Any) -> None:
        super()._take(model)
        self.classes_ = model.classes_

    def _policy(self, seed: int | None) -> Policy:  # noqa: ARG002 - trees draw no lots
        return _ExitPolicy(self, ForestPolicy.of(self.model_._ready()), self._exits())

    def _answers(
        self,
        encoded: Encoded,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,  # noqa: ARG002
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        return self._descend(encoded, budget, lambda _number, _of, outputs, _rows: ~self._clear(outputs))

    def _clear(self, outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell for which rows the top class is likely enough, shape (n_rows,)."""
        return np.asarray(self._conclude(outputs).max(axis=1) > self.threshold_)

    def _check_stored(self) -> None:
        super()._check_stored()
        _check_threshold("threshold_", self.threshold_)
        if not np.array_equal(self.model_.classes_, self.classes_):
            raise ValueError("the classes must be those of the model within")


class _ExitPolicy:
    """Walk the trees up to an exit, and on to the next one unless the top class is clear."""

    def __init__(self, model: EarlyExitClassifier, trees: ForestPolicy, exits: tuple[int, ...]) -> None:
        self._model = model
        self._trees = trees
        self._exits = list(exits)
        self._trees.end = self._exits.pop(0)

    def wants(self, ledger: RowLedger) -> int | None:
        while (column := self._trees.wants(ledger)) is None and self._exits:
            if self._model._clear(self._trees.output()[np.newaxis])[0]:
                return None
            self._trees.end = self._exits.pop(0)
        return column

    def hear(self, column: int, value: float) -> None:
        self._trees.hear(column, value)

    def output(self) -> NDArray[np.float64]:
        return self._trees.output()


def _check_threshold(name: str, threshold: float) -> None:
    if not 0 <= threshold <= 1:
        raise ValueError(f"{name} is a probability and must lie between 0 and 1; got {threshold!r}")
