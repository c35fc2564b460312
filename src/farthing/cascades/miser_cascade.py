"""The miser cascade: what its classifier and regressor share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, ClassVar, Final, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import TreesMixin, n_threads
from farthing.base.inputs import check_cap, check_weights
from farthing.boosting.losses import Loss
from farthing.cascades.chain import cut, free_columns, miser_order, prefix_costs
from farthing.cascades.exits import NEVER, ExitPath, Exits
from farthing.cascades.nursery import Booster, Fold, Nursery, Settings
from farthing.cascades.stage_walk import StagePolicy
from farthing.costs import CostSheet
from farthing.forests.folds import deal
from farthing.table import Bins, Encoded
from farthing.trees import Forest, Progress
from farthing.walks import Policy

Floats = NDArray[np.float64]
BudgetKind = Literal["mean", "hard"]

# What the variants of a fitted model try, as shares of the cost of all features.
_SHARES: Final = (0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
# Below so many rows every row is held out once; above, one part of them is.
_FEW_ROWS: Final = 4000
_FOLDS: Final = 5

TEXTS: Final = {
    "parameters": """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, optional
        What a row may spend, see ``kind``; None is no limit. `at` gives the model of another one for nothing.
    kind : {"mean", "hard"}
        Whether the budget is for the mean over the rows, as rows held out see it, or for every row.
    n_stages : int
        Most stages that cost something; with as many as there are features, each buys one.
    n_trees : int
        Most rounds of each stage's booster; rows held out choose how many are kept.
    patience : int, optional
        Stop a booster after this many rounds without a lower loss on rows held out; None runs all.
    learning_rate, max_depth, max_leaves, min_rows_leaf, l2, max_bins
        As in `GreedyMiserClassifier`.
    trust : float
        What exits are judged by on rows held out: this part the error that the calibrated stage expects, the
        rest the error that was made. The first is less noisy, the second knows no model.
    n_folds : int, optional
        Rows that exits are set and probabilities calibrated by are never those that the trees saw: with 2 or
        more every row is held out once, and the boosters are then grown anew on all rows; with 1, one row in
        five is held out and left out of the trees. None is 5 below 4,000 rows, else 1.
    random_state : int, RandomState or None
        Of the rows held out.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.""",
    "attributes": """order_ : ndarray of int64, shape (n_bought,)
        Columns in the order in which the stages buy them.
    stages_ : ndarray of int64, shape (n_stages, 2)
        For each stage: how many columns of the order it owns, and the end of its trees. The first stage costs
        nothing: it owns the free features, or none.
    forest_ : Forest
        The trees of all stages, one booster after another.
    thresholds_ : ndarray of float64, shape (n_stages,)
        A row stops at the first stage where its risk is at most this.
    path_spend_, path_risk_ : ndarray of float64, shape (n_points,)
        Mean spend, ascending, and mean risk of rows held out, for every point of the path.
    path_thresholds_ : ndarray of float64, shape (n_points, n_stages)
        The thresholds of each.""",
}
"""What the docstrings of the classifier and the regressor share."""


@dataclass(frozen=True, slots=True)
class CascadePoint:
    """One mean budget of a cascade.

    Attributes
    ----------
    spend : float
        What rows held out pay in the mean.
    risk : float
        Their mean error, as the exits were judged by.
    model : estimator
        The cascade with these exits; it shares the trees.
    """

    spend: float
    risk: float
    model: Any


class MiserCascade(TreesMixin):
    """Stages, exits and their path; the two estimators add the loss, the calibration and the risk."""

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "order_": np.ndarray,
        "stages_": np.ndarray,
        "thresholds_": np.ndarray,
        "path_spend_": np.ndarray,
        "path_risk_": np.ndarray,
        "path_thresholds_": np.ndarray,
    }

    def __init__(
        self,
        costs: Any,
        budget: float | None,
        *,
        kind: BudgetKind,
        n_stages: int,
        n_trees: int,
        patience: int | None,
        learning_rate: float,
        max_depth: int | None,
        max_leaves: int | None,
        min_rows_leaf: int,
        l2: float,
        max_bins: int,
        trust: float,
        n_folds: int | None,
        random_state: Any,
        n_jobs: int | None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.kind = kind
        self.n_stages = n_stages
        self.n_trees = n_trees
        self.patience = patience
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaves = max_leaves
        self.min_rows_leaf = min_rows_leaf
        self.l2 = l2
        self.max_bins = max_bins
        self.trust = trust
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    # What the two estimators differ in.

    @abstractmethod
    def _loss(self) -> Loss:
        """Return what the boosters minimise."""

    @abstractmethod
    def _known_target(self, y: Any) -> NDArray[Any]:
        """Check the target of validation rows and return it as ``_fit`` gets that of training rows."""

    @abstractmethod
    def _calibrate(self, nursery: Nursery, boosters: list[Booster]) -> None:
        """Learn from the rows held out how to read the scores of each stage."""

    @abstractmethod
    def _read(self, stage: int, scores: Floats) -> Floats:
        """Return raw outputs (n_rows, n_outputs) for what the trees of a stage say."""

    @abstractmethod
    def _risks(self, outputs: Floats) -> Floats:
        """Return the error that each row must expect if it stops, shape (n_rows,)."""

    @abstractmethod
    def _errors(self, target: NDArray[Any], outputs: Floats) -> Floats:
        """Return the error that each row makes if it stops, shape (n_rows,)."""

    def _reweighed(self, target: NDArray[Any], weights: Floats) -> Floats:  # noqa: ARG002
        """Return the weights that rows learn with."""
        return weights

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
            Rows to hold out, in place of ``n_folds``.

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
        validation: Any = None,
    ) -> None:
        self._check_parameters()
        cap = check_cap(self.budget)
        self.budget_ = cap if self.kind == "hard" else None
        n_learned = len(values)
        if validation is not None:
            more = self._given_rows(validation)
            values, target, weights = (
                np.concatenate(pair) for pair in zip((values, target, weights), more, strict=True)
            )
        weights = self._reweighed(target, weights)
        folds = self._folds(values, target, n_learned)
        nursery = Nursery(
            Bins(values, self.schema_, max_bins=self.max_bins, n_threads=n_threads(self.n_jobs)),
            self._loss(),
            target,
            weights,
            sheet=sheet,
            folds=folds,
            settings=self._settings(),
        )
        self.prior_ = nursery.loss.start(target[:n_learned], weights[:n_learned])
        self.order_ = miser_order(nursery)
        costs = prefix_costs(sheet, self.order_)
        cuts = cut(costs, len(free_columns(sheet)), self.n_stages)
        boosters = [nursery.booster(np.sort(self.order_[:owned])) for owned in cuts]
        self.forest_ = Forest.concat([booster.forest for booster in boosters])
        ends = np.cumsum([booster.forest.n_trees for booster in boosters])
        self.stages_ = np.column_stack([cuts, ends]).astype(np.int64)
        self._calibrate(nursery, boosters)
        path = self._exits(nursery, boosters, costs[cuts]).path()
        self.path_spend_, self.path_risk_ = path.spend, path.risk
        self.path_thresholds_ = path.thresholds
        self.thresholds_ = self._thresholds_within(cap)

    def _exits(self, nursery: Nursery, boosters: list[Booster], costs: Floats) -> Exits:
        """Return the rows held out, each with its risk and error at every stage."""
        held = nursery.held
        risks, errors = [], []
        for stage, booster in enumerate(boosters):
            outputs = self._read(stage, np.ascontiguousarray(booster.held[:, held].T))
            risks.append(self._risks(outputs))
            made = self._errors(nursery.target[held], outputs)
            errors.append(self.trust * risks[-1] + (1 - self.trust) * made)
        return Exits(costs, np.array(risks), np.array(errors), nursery.weights[held])

    def _folds(self, values: NDArray[np.floating], target: NDArray[Any], n_learned: int) -> list[Fold]:
        rows = np.arange(len(target))
        if n_learned < len(target):
            return [Fold(rows[:n_learned], rows[n_learned:])]
        n_folds = self.n_folds
        if n_folds is None:
            n_folds = _FOLDS if len(target) < _FEW_ROWS else 1
        dealt = deal(
            values, target, _FOLDS if n_folds == 1 else n_folds, check_random_state(self.random_state)
        )
        if dealt is None:
            return [Fold(rows, rows)]  # one row, or copies of it
        parts = [Fold(rows[dealt != part], rows[dealt == part]) for part in range(int(dealt.max()) + 1)]
        return parts[:1] if n_folds == 1 else parts

    def _settings(self) -> Settings:
        return Settings(
            self.n_trees,
            self.patience,
            self.learning_rate,
            self.max_depth,
            self.max_leaves,
            self.min_rows_leaf,
            self.l2,
            n_threads(self.n_jobs),
        )

    def _given_rows(self, validation: Any) -> tuple[NDArray[np.floating], NDArray[Any], Floats]:
        """Return validation rows as `fit` takes them."""
        if not isinstance(validation, tuple) or len(validation) not in (2, 3):
            raise ValueError(
                f"validation must be (X, y) or (X, y, sample_weight); got {type(validation).__name__}"
            )
        encoded = self.schema_.encode(validation[0], type(self).__name__)
        encoded.check()
        target = self._known_target(validation[1])
        weights = check_weights(validation[2] if len(validation) > 2 else None, len(encoded.values))
        if len(target) != len(encoded.values):
            raise ValueError(f"validation has {len(encoded.values)} rows, but {len(target)} targets")
        return encoded.values, target, weights

    def _check_parameters(self) -> None:
        if self.kind not in ("mean", "hard"):
            raise ValueError(f"kind must be 'mean' or 'hard'; got {self.kind!r}")
        least = {"n_stages": 1, "n_trees": 1, "n_folds": 1}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is None and name == "n_folds":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < bound:
                raise ValueError(f"{name} must be an integer of at least {bound}; got {value!r}")
        if not 0 <= self.trust <= 1:
            raise ValueError(f"trust must lie between 0 and 1; got {self.trust!r}")

    # The path.

    def at(self, budget: float | None) -> Self:
        """Return the model of another budget, of the same ``kind``; it shares the trees.

        Parameters
        ----------
        budget : float or None
            As the parameter; None is no limit.

        Returns
        -------
        estimator
            What `fit` with that budget gives.
        """
        check_is_fitted(self)
        cap = check_cap(budget)
        learned = {"thresholds_": self._thresholds_within(cap)}
        if self.kind == "hard":
            learned["budget_"] = cap  # type: ignore[assignment]
        return self._variant({"budget": budget}, **learned)

    def path(self) -> list[CascadePoint]:
        """Return the models of all mean budgets, cheapest first, with what rows held out pay and risk."""
        check_is_fitted(self)
        return [
            CascadePoint(float(spend), float(risk), self._variant({"budget": float(spend)}, thresholds_=each))
            for spend, risk, each in zip(
                self.path_spend_, self.path_risk_, self.path_thresholds_, strict=True
            )
        ]

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other budgets, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        whole = self.costs_.total(self.costs_.features)
        for share in _SHARES:
            params = {"budget": share * whole}
            yield params, self.at(params["budget"])
        yield {}, self

    def _thresholds_within(self, cap: float | None) -> Floats:
        """Return the thresholds of a budget; with a hard one rows stop only where they can pay no more."""
        if self.kind == "hard":
            n_stages = len(self.stages_)
            return np.where(np.arange(n_stages) < n_stages - 1, NEVER, np.inf)
        path = ExitPath(self.path_spend_, self.path_risk_, self.path_thresholds_)
        return np.array(self.path_thresholds_[path.within(cap)])

    # Predicting.

    def _policy(self, seed: int | None) -> Policy:  # noqa: ARG002 - trees draw no lots
        return StagePolicy(self)

    def _answers(
        self,
        encoded: Encoded,
        budget: Floats | None,
        seeds: NDArray[np.int64] | None,  # noqa: ARG002
    ) -> tuple[Floats, NDArray[np.bool_]]:
        n_rows = len(encoded.values)
        owned = self._owned()
        totals = self.costs_.total_rows(owned)
        last = np.full(n_rows, len(owned) - 1)
        if budget is not None:
            # The stages that a row can pay; the first is free.
            last = (totals <= (budget * (1 + 1e-12))[:, np.newaxis]).sum(axis=1) - 1
        progress = Progress(
            encoded.values, self.forest_.n_outputs, self.costs_, n_threads=n_threads(self.n_jobs)
        )
        outputs = np.tile(self.prior_, (n_rows, 1))
        stops = np.zeros(n_rows, dtype=np.int64)
        rows = np.arange(n_rows)
        for stage, threshold in enumerate(self.thresholds_.tolist()):
            ends = last[rows] == stage
            looking = rows if threshold > NEVER else rows[ends]
            if len(looking):
                outputs[looking] = self._look(progress, stage, looking)
                stops[looking] = stage
                ends[np.isin(rows, looking, assume_unique=True)] |= self._risks(outputs[looking]) <= threshold
            rows = rows[~ends]
        return outputs, owned[stops]

    def _look(self, progress: Progress, stage: int, rows: NDArray[np.int64]) -> Floats:
        """Return raw outputs of a stage for some rows of a table."""
        begin = self.stages_[stage - 1, 1] if stage else 0
        progress.outputs[rows] = 0.0
        self._ready().advance(progress, int(begin), int(self.stages_[stage, 1]), rows)
        return self._read(stage, progress.outputs[rows])

    def _owned(self) -> NDArray[np.bool_]:
        """Return what each stage owns, shape (n_stages, n_features)."""
        place = np.full(len(self.schema_.names), len(self.order_))
        place[self.order_] = np.arange(len(self.order_))
        return place < self.stages_[:, :1]

    # Files.

    def _check_stored(self) -> None:
        super()._check_stored()
        n_features = len(self.schema_.names)
        order, stages = self.order_, self.stages_
        if order.dtype != np.int64 or order.ndim != 1 or len(np.unique(order)) != len(order):
            raise ValueError("order_ must be columns, each at most once")
        if len(order) and not (order.min() >= 0 and order.max() < n_features):
            raise ValueError(f"order_ must be of columns 0 to {n_features - 1}")
        if stages.dtype != np.int64 or stages.ndim != 2 or stages.shape[1] != 2 or not len(stages):
            raise ValueError("stages_ must be of shape (n_stages, 2)")
        if (np.diff(stages, axis=0) <= 0).any() or stages[0].min() < 0 or stages[0, 1] < 1:
            raise ValueError("stages_ must ascend")
        if stages[-1, 0] > len(order) or stages[-1, 1] != self.forest_.n_trees:
            raise ValueError("stages_ must end with all trees, and with columns of the order")
        if self.costs_.total(self._owned()[0]) != 0:
            raise ValueError("the first stage must cost nothing")
        self._check_looks()
        n_points = len(self.path_spend_)
        shapes = {
            "thresholds_": (len(stages),),
            "path_spend_": (n_points,),
            "path_risk_": (n_points,),
            "path_thresholds_": (n_points, len(stages)),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != shape or np.isnan(array).any():
                raise ValueError(f"{name} must be floats of shape {shape}")
        if not n_points or (np.diff(self.path_spend_) < 0).any():
            raise ValueError("path_spend_ must ascend")

    def _check_looks(self) -> None:
        """Check that no tree tests what its stage does not own: that would be looking without paying."""
        begin = 0
        for owned, (_, end) in zip(self._owned(), self.stages_.tolist(), strict=True):
            nodes = slice(int(self.forest_.offsets[begin]), int(self.forest_.offsets[end]))
            tested = self.forest_.feature[nodes]
            if not owned[tested[tested >= 0]].all():
                raise ValueError("a tree tests a feature that its stage does not own")
            begin = end
