"""The miser cascade for classes."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractClassifier, documented, register, row_sums, sigmoid, softmax
from farthing.base.calibration import temperature_of
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.losses import Loss
from farthing.cascades.cascade_grid import cascade_auto, cascade_grid
from farthing.cascades.miser_cascade import TEXTS, BudgetKind, Floats, MiserCascade
from farthing.cascades.nursery import Booster, Nursery

Exit: TypeAlias = Literal["confidence", "learned"]


@register(
    grid=cascade_grid,
    auto=cascade_auto,
    rank=1,
    trials=[
        {"n_stages": 2, "n_trees": 2, "max_depth": 2, "n_folds": 2},
        {
            "n_stages": 3,
            "n_trees": 2,
            "max_depth": 2,
            "n_folds": 1,
            "budget": 2.5,
            "kind": "hard",
            "curtail": True,
        },
    ],
)
@documented(TEXTS)
class MiserCascadeClassifier(MiserCascade, ContractClassifier):
    """Stages that own more and more features, boosted trees at each, and exits set together for the budget.

    A miser of falling trade-off says which features to buy, and in which order; forward selection on rows
    held out gives another order, and misers with hard budgets give those for small budgets. Each stage owns
    the first so many of them and has a booster over all it owns, which is free by then; its probabilities are
    calibrated on rows held out. A row stops at the first stage where its risk, the error that the
    probabilities expect, is at most the stage's threshold. The thresholds of all stages are set together for
    every mean budget at once (`farthing.cascades.exits`), so one fit gives the whole frontier: `at`, `path`.

    With ``kind="hard"`` no row stops before it must: each goes to the last stage that it can pay.

    Parameters
    ----------
    {parameters}
    exit : {"confidence", "learned"}
        What thresholds are compared with: the error that the calibrated probabilities expect, or what a gate,
        trees over the owned features that were grown on rows held out, says is gained by going on.
    trust : float
        What exits are judged by on rows held out: this part the error that the calibrated stage expects, the
        rest the error that was made. The first is less noisy, the second knows no model.
    curtail : bool
        Whether a row at the stage where it stops, whatever the answers, asks no further once its label is
        certain. Labels stay the same and cost less; the probabilities are then those of the middle between
        the bounds of the scores, and array calls take several times longer. Not for learned exits, nor with
        ``error_costs``.
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``, in learning and in judging exits.
    error_costs : array, shape (n_classes, n_classes), optional
        What errors cost; row: the true class, column: the class predicted. Labels are then those of the least
        expected cost, and exits spare this cost rather than errors. Without a budget it is in the unit of the
        prices: the cascade that costs least in all, errors and features, is taken. None is 1 for each error,
        and no limit to what may be spent to avoid it.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    error_costs_ : ndarray of float64, shape (n_classes, n_classes), or None
        As given.
    temperatures_ : ndarray of float64, shape (n_sets,)
        What the scores of each booster are divided by.
    {attributes}

    References
    ----------
    Xu, Weinberger, Chapelle: The Greedy Miser. ICML 2012. Section 6 leaves the combination with cascades to
    future work.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = MiserCascadeClassifier(costs=heart.costs, budget=20, n_trees=20, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.at(200).spend(heart.X).mean() > model.spend(heart.X).mean())
    True
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "temperatures_": np.ndarray,
        "error_costs_": np.ndarray | NoneType,
        "exit_": str,
        "curtail_": bool,
    }

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        kind: BudgetKind = "mean",
        n_stages: int = 20,
        n_trees: int = 100,
        patience: int | None = 10,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaves: int | None = None,
        min_rows_leaf: int = 1,
        l2: float = 1.0,
        max_bins: int = 255,
        exit: Exit = "confidence",
        trust: float = 0.5,
        curtail: bool = False,
        class_weight: Any = None,
        error_costs: Any = None,
        n_folds: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            budget,
            kind=kind,
            n_stages=n_stages,
            n_trees=n_trees,
            patience=patience,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaves=max_leaves,
            min_rows_leaf=min_rows_leaf,
            l2=l2,
            max_bins=max_bins,
            n_folds=n_folds,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.exit = exit
        self.trust = trust
        self.curtail = curtail
        self.class_weight = class_weight
        self.error_costs = error_costs

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Give the scores behind the probabilities; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score a class.
        """
        outputs, _ = self._raw(X, budget, seeds)
        scores = self._scores(outputs)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _miser(self) -> GreedyMiserClassifier:
        """Return the Greedy Miser of the same settings and classes."""
        miser = self._set_up(GreedyMiserClassifier(class_weight=self.class_weight))
        miser.classes_ = self.classes_
        return miser

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._miser()._check_parameters()
        if self.exit not in ("confidence", "learned"):
            raise ValueError(f"exit must be 'confidence' or 'learned'; got {self.exit!r}")
        if not 0 <= self.trust <= 1:
            raise ValueError(f"trust must lie between 0 and 1; got {self.trust!r}")
        self.exit_ = str(self.exit)
        self.curtail_ = bool(self.curtail)
        self.error_costs_ = None
        if self.error_costs is not None:
            self.error_costs_ = np.array(self.error_costs, dtype=np.float64)
            self._check_error_costs()

    def _check_error_costs(self) -> None:
        n_classes = len(self.classes_)
        costs = self.error_costs_
        if costs is None:
            return
        if costs.shape != (n_classes, n_classes) or not (np.isfinite(costs) & (costs >= 0)).all():
            raise ValueError(
                f"error_costs must be a table of {n_classes} by {n_classes} costs, true by predicted, "
                f"each zero or more; got {costs.tolist()}"
            )

    def _loss(self) -> Loss:
        return self._miser()._loss(np.empty(0), None)

    def _known_target(self, y: Any) -> NDArray[Any]:
        return self._miser()._known_target(y)

    def _reweighed(self, target: NDArray[Any], weights: Floats) -> Floats:
        factors = self._miser()._factors(target, weights)
        return weights if factors is None else weights * factors[target]

    def _calibrate(self, nursery: Nursery, boosters: list[Booster]) -> None:
        held = nursery.held
        codes, weights = nursery.target[held], nursery.weights[held]
        self.temperatures_ = np.ones(len(boosters))
        for place, booster in enumerate(boosters):
            if booster.n_rounds:
                probabilities = self._link(np.ascontiguousarray(booster.held[:, held].T))
                self.temperatures_[place] = temperature_of(probabilities, codes, weights)

    def _read(self, place: int, scores: Floats) -> Floats:
        return np.asarray(scores / self.temperatures_[place])

    def _scores(self, outputs: Floats) -> Floats:
        """Return raw outputs without that of the gate."""
        return outputs[:, :-1] if self._gated() else outputs

    def _conclude(self, outputs: Floats) -> Floats:
        return self._link(np.ascontiguousarray(self._scores(outputs)))

    def _link(self, scores: Floats) -> Floats:
        return sigmoid(scores) if len(self.classes_) == 2 else softmax(scores)

    def _expected(self, probabilities: Floats) -> Floats:
        """Return what each label must be expected to cost, shape (n_rows, n_classes)."""
        if self.error_costs_ is None:
            return 1 - probabilities
        return np.column_stack([row_sums(probabilities * costs) for costs in self.error_costs_.T])

    def _gated(self) -> bool:
        return self.exit_ == "learned"

    def _curtails(self) -> bool:
        return self.curtail_ and not self._gated() and self.error_costs_ is None

    def _risks(self, outputs: Floats) -> Floats:
        if self._gated():
            return super()._risks(outputs)
        return np.asarray(self._expected(self._conclude(outputs)).min(axis=1))

    def _errors(self, target: NDArray[Any], outputs: Floats) -> Floats:
        labels = np.argmin(self._expected(self._link(outputs)), axis=1)
        if self.error_costs_ is None:
            return np.asarray(labels != target, dtype=np.float64)
        return np.asarray(self.error_costs_[target, labels])

    def _judged(self, target: NDArray[Any], outputs: Floats) -> Floats:
        expected = self._expected(self._conclude(outputs)).min(axis=1)
        made = self._errors(target, self._scores(outputs))
        return np.asarray(self.trust * expected + (1 - self.trust) * made)

    def _aim(self, cap: float | None) -> None:
        if cap is None and self.kind == "mean" and self.error_costs_ is not None:
            cap = float(self.path_spend_[np.argmin(self.path_risk_ + self.path_spend_)])
        super()._aim(cap)

    def _results(self, outputs: Floats) -> tuple[NDArray[Any], Floats | None]:
        probabilities = self._conclude(outputs)
        return self.classes_[np.argmin(self._expected(probabilities), axis=1)], probabilities

    def _conclude_row(
        self, outputs: Floats, looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        _, probabilities = super()._conclude_row(outputs, looked)
        return self._results(self._settle(outputs, looked))[0].tolist()[0], probabilities

    def _check_stored(self) -> None:
        super()._check_stored()
        self._check_error_costs()
        n_scores = 1 if len(self.classes_) == 2 else len(self.classes_)
        if len(self.prior_) != n_scores + self._gated():
            raise ValueError(f"{len(self.classes_)} classes need {n_scores} scores; got {len(self.prior_)}")
        temperatures = self.temperatures_
        if temperatures.dtype != np.float64 or temperatures.shape != (len(self.ends_),):
            raise ValueError("temperatures_ must have one float a set")
        if not ((temperatures > 0) & np.isfinite(temperatures)).all():
            raise ValueError("temperatures_ must be above zero")
