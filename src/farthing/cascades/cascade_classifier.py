"""The miser cascade for classes."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractClassifier, documented, register
from farthing.base.calibration import temperature_of
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.losses import Loss
from farthing.cascades.miser_cascade import TEXTS, BudgetKind, Floats, MiserCascade
from farthing.cascades.nursery import Booster, Nursery


def _grid(ground: Any) -> dict[str, list[Any]]:
    """Return one fit, whose variants are the budgets; a hard budget is told at once."""
    if ground.kind == "hard":
        return {"kind": ["hard"], "budget": [ground.budget]}
    return {"kind": ["mean"]}


@register(
    grid=_grid,
    trials=[
        {"n_stages": 3, "n_trees": 4, "max_depth": 2, "n_folds": 2},
        {"n_stages": 6, "n_trees": 3, "max_depth": 2, "n_folds": 1, "budget": 2.5, "kind": "hard"},
    ],
    check_defaults=False,  # twenty boosters and five folds, for each of a hundred small fits
)
@documented(TEXTS)
class MiserCascadeClassifier(MiserCascade, ContractClassifier):
    """Stages that own more and more features, boosted trees at each, and exits set together for the budget.

    A miser of falling trade-off says which features to buy, and in which order. Each stage owns the first so
    many of them and has a booster over all it owns, which is free by then; its probabilities are calibrated
    on rows held out. A row stops at the first stage where its risk, the error that the probabilities expect,
    is at most the stage's threshold. The thresholds of all stages are set together for every mean budget at
    once (`farthing.cascades.exits`), so one fit gives the whole frontier: `at`, `path`.

    With ``kind="hard"`` no row stops before it must: each goes to the last stage that it can pay.

    Parameters
    ----------
    {parameters}
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``, in learning and in judging exits.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
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

    _stored: ClassVar[Mapping[str, type | UnionType]] = {"temperatures_": np.ndarray}

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
        trust: float = 0.5,
        class_weight: Any = None,
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
            trust=trust,
            n_folds=n_folds,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.class_weight = class_weight

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Give the scores behind the probabilities; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score a class.
        """
        outputs, _ = self._raw(X, budget, seeds)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _miser(self) -> GreedyMiserClassifier:
        """Return the Greedy Miser of the same settings and classes."""
        miser = GreedyMiserClassifier(
            n_trees=self.n_trees,
            patience=self.patience,
            learning_rate=self.learning_rate,
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
            min_rows_leaf=self.min_rows_leaf,
            l2=self.l2,
            class_weight=self.class_weight,
            max_bins=self.max_bins,
        )
        miser.classes_ = self.classes_
        return miser

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._miser()._check_parameters()

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
                probabilities = self._conclude(np.ascontiguousarray(booster.held[:, held].T))
                self.temperatures_[place] = temperature_of(probabilities, codes, weights)

    def _read(self, place: int, scores: Floats) -> Floats:
        return np.asarray(scores / self.temperatures_[place])

    def _conclude(self, outputs: Floats) -> Floats:
        return np.asarray(self._miser()._conclude(outputs))

    def _risks(self, outputs: Floats) -> Floats:
        return np.asarray(1 - self._conclude(outputs).max(axis=1))

    def _errors(self, target: NDArray[Any], outputs: Floats) -> Floats:
        return np.asarray(np.argmax(self._conclude(outputs), axis=1) != target, dtype=np.float64)

    def _check_stored(self) -> None:
        super()._check_stored()
        temperatures = self.temperatures_
        if temperatures.dtype != np.float64 or temperatures.shape != (len(self.ends_),):
            raise ValueError("temperatures_ must have one float a set")
        if not ((temperatures > 0) & np.isfinite(temperatures)).all():
            raise ValueError("temperatures_ must be above zero")
