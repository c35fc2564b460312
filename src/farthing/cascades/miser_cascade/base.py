"""The miser cascade: what its classifier and regressor share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Any, ClassVar, Final, Literal, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import AimedMixin, ValidatedMixin, n_threads
from farthing.base.inputs import check_cap
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.cascades.miser_cascade.feature_chains import chains_of
from farthing.cascades.miser_cascade.learned_exits import grow_gates, with_gate
from farthing.cascades.miser_cascade.staged_model import Staged, check_chain
from farthing.costs import CostSheet
from farthing.learning.exits import ALWAYS, NEVER, ExitPath, Exits
from farthing.learning.folds import stratified_folds
from farthing.learning.losses import Loss
from farthing.learning.out_of_fold import Booster, Columns, Fold, OutOfFoldTrainer, Settings
from farthing.table import Bins
from farthing.trees import Forest

Floats = NDArray[np.float64]
Miser = TypeVar("Miser", bound=GreedyMiser)
BudgetKind = Literal["mean", "hard"]

# Below so many rows every row is held out once; above, one part of them is.
_FEW_ROWS: Final = 4000
_FOLDS: Final = 5
# Exits are set by at most so many rows; more would move thresholds by less than the noise.
_MOST_HELD: Final = 20_000
# Of the rows held out, for learned exits.
_PARTS: Final = 3

TEXTS: Final = {
    "parameters": """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, optional
        What a row may spend, see ``budget_kind``; None is no limit. `at` gives the model of another one for nothing.
    budget_kind : {"mean", "hard"}
        Whether the budget is for the mean over the rows, as rows held out see it, or for every row.
    n_stages : int
        Most stages that cost something; with as many as there are features, each may buy one.
    n_estimators : int
        Most rounds of each stage's booster; rows held out choose how many are kept.
    n_iter_no_change : int, optional
        Stop a booster after this many rounds without a lower loss on rows held out; None runs all.
    learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization, max_bins
        As in `GreedyMiserClassifier`.
    n_folds : int, optional
        Rows that exits are set and probabilities calibrated by are never those that the trees saw: with 2 or
        more every row is held out once; with 1, one row in five is held out. Then the boosters are grown anew
        on all rows. None is 5 below 4,000 rows, else 1.
    random_state : int, RandomState or None
        Of the rows held out.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.""",
    "attributes": """forest_ : Forest
        The boosters of all sets of features, one after another.
    sets_ : ndarray of bool, shape (n_sets, n_features)
        What each booster is made of. The first costs nothing: it has the free features, or none.
    ends_ : ndarray of int64, shape (n_sets,)
        The end of the trees of each.
    chains_ : ndarray of int64, shape (n_chains, n_stages)
        The sets of each chain, in the order of its stages; -1 behind the end of a short one. The first is the
        miser's, the second that of forward selection, the others are for small budgets.
    chain_ : ndarray of int64, shape (n_stages,)
        The chain of the budget.
    thresholds_ : ndarray of float64, shape (n_stages,)
        A row stops at the first stage where its risk is at most this.
    set_risks_ : ndarray of float64, shape (n_sets,)
        Mean risk of rows held out if all of them stop there.
    path_spend_, path_risk_ : ndarray of float64, shape (n_points,)
        Mean spend, ascending, and mean risk of rows held out, for every point of the path.
    path_chain_ : ndarray of int64, shape (n_points,)
        The chain of each.
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


class MiserCascade(AimedMixin, ValidatedMixin, Staged):
    """Learning, and the path of budgets; the two estimators add the loss, the calibration and the risk."""

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "chains_": np.ndarray,
        "set_risks_": np.ndarray,
        "path_spend_": np.ndarray,
        "path_risk_": np.ndarray,
        "path_chain_": np.ndarray,
        "path_thresholds_": np.ndarray,
    }

    _shares = (0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)

    # Where boosters grow, and who sets the exits; an experiment may put others in their place.
    _nursery: ClassVar[type[OutOfFoldTrainer]] = OutOfFoldTrainer
    _exits: ClassVar[type[Exits]] = Exits

    def __init__(
        self,
        costs: Any,
        budget: float | None,
        *,
        budget_kind: BudgetKind,
        n_stages: int,
        n_estimators: int,
        n_iter_no_change: int | None,
        learning_rate: float,
        max_depth: int | None,
        max_leaf_nodes: int | None,
        min_samples_leaf: int,
        l2_regularization: float,
        max_bins: int,
        n_folds: int | None,
        random_state: Any,
        n_jobs: int | None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.budget_kind = budget_kind
        self.n_stages = n_stages
        self.n_estimators = n_estimators
        self.n_iter_no_change = n_iter_no_change
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.n_folds = n_folds
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def _hard_budget(self) -> bool:  # type: ignore[override]
        return self.budget_kind == "hard"

    # What the two estimators differ in.

    @abstractmethod
    def _loss(self) -> Loss:
        """Return what the boosters minimise."""

    @abstractmethod
    def _calibrate(self, nursery: OutOfFoldTrainer, boosters: list[Booster]) -> None:
        """Learn from the rows held out how to read the scores of each set."""

    @abstractmethod
    def _errors(self, target: NDArray[Any], outputs: Floats) -> Floats:
        """Return the error that each row makes if it stops, shape (n_rows,)."""

    def _judged(self, target: NDArray[Any], outputs: Floats) -> Floats:
        """Return the errors that exits are judged by, shape (n_rows,)."""
        return self._errors(target, outputs)

    def _reweighed(self, target: NDArray[Any], weights: Floats) -> Floats:  # noqa: ARG002
        """Return the weights that rows learn with."""
        return weights

    # Learning.

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
        self.budget_ = cap if self.budget_kind == "hard" else None
        n_learned = len(values)
        if validation is not None:
            more = self._given_rows(validation)
            values, target, weights = (
                np.concatenate(pair) for pair in zip((values, target, weights), more, strict=True)
            )
        weights = self._reweighed(target, weights)
        folds = self._folds(values, target, n_learned)
        nursery = self._nursery(
            Bins(values, self.schema_, max_bins=self.max_bins, n_threads=n_threads(self.n_jobs)),
            self._loss(),
            target,
            weights,
            sheet=sheet,
            folds=folds,
            final=np.arange(n_learned),
            settings=self._settings(),
        )
        self.prior_ = nursery.loss.start(target[:n_learned], weights[:n_learned])
        sets, chains = self._chains(nursery)
        boosters = [nursery.booster(columns) for columns in sets]
        self.sets_ = np.array([np.isin(np.arange(values.shape[1]), columns) for columns in sets])
        length = max(len(chain) for chain in chains)
        self.chains_ = np.array([chain + [-1] * (length - len(chain)) for chain in chains], dtype=np.int64)
        self._calibrate(nursery, boosters)
        forests = self._set_exits(nursery, values, sets, boosters)
        self.forest_ = Forest.concat(forests)
        self.ends_ = np.cumsum([forest.n_trees for forest in forests], dtype=np.int64)
        self._aim(cap)

    def _chains(self, nursery: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        """Return sets of columns, and the chains that lead through them."""
        return chains_of(nursery, self.n_stages)

    def _set_exits(
        self,
        nursery: OutOfFoldTrainer,
        values: NDArray[np.floating],
        sets: list[Columns],
        boosters: list[Booster],
    ) -> list[Forest]:
        """Learn the path from the rows held out; return the trees of each set, gates included."""
        held = nursery.held[:: -(-len(nursery.held) // _MOST_HELD)]
        target, weights = nursery.target[held], nursery.weights[held]
        told = [
            self._read(place, np.ascontiguousarray(booster.held[:, held].T))
            for place, booster in enumerate(boosters)
        ]
        forests = [booster.forest for booster in boosters]
        last = int(self.chains_[0, (self.chains_[0] >= 0).sum() - 1])
        if self._gated():
            made = np.array([self._errors(target, outputs) for outputs in told])
            part = self._parts(values[held], target)
            gates = grow_gates(nursery, held, sets, errors=made, last=made[last], part=part)
            told = [np.column_stack([o, gate.held[0, held]]) for o, gate in zip(told, gates, strict=True)]
            forests = [with_gate(f, gate.forest) for f, gate in zip(forests, gates, strict=True)]
            self.prior_ = np.append(self.prior_, gates[0].forest.value[0, 0])
        risks = np.array([self._risks(outputs) for outputs in told])
        errors = np.array([self._judged(target, outputs) for outputs in told])
        self.set_risks_ = np.average(errors, axis=1, weights=weights)
        exits = []
        for row in self.chains_:
            chain = row[row >= 0]
            costs = self.costs_.total_rows(self._owned(chain))
            exits.append(self._exits(costs, risks[chain], errors[chain], weights))
        path = ExitPath.of(exits)
        self.path_spend_, self.path_risk_ = path.spend, path.risk
        self.path_chain_, self.path_thresholds_ = path.chain, path.thresholds
        return forests

    def _parts(self, values: NDArray[np.floating], target: NDArray[Any]) -> NDArray[np.int64]:
        """Return the part of each row held out, of those that gates are grown on."""
        dealt = stratified_folds(values, target, _PARTS, check_random_state(0))
        return np.zeros(len(target), dtype=np.int64) if dealt is None else dealt

    def _folds(self, values: NDArray[np.floating], target: NDArray[Any], n_learned: int) -> list[Fold]:
        rows = np.arange(len(target))
        if n_learned < len(target):
            return [Fold(rows[:n_learned], rows[n_learned:])]
        n_folds = self.n_folds
        if n_folds is None:
            n_folds = _FOLDS if len(target) < _FEW_ROWS else 1
        dealt = stratified_folds(
            values, target, _FOLDS if n_folds == 1 else n_folds, check_random_state(self.random_state)
        )
        if dealt is None:
            return [Fold(rows, rows)]  # one row, or copies of it
        parts = [Fold(rows[dealt != part], rows[dealt == part]) for part in range(int(dealt.max()) + 1)]
        return parts[:1] if n_folds == 1 else parts

    def _settings(self) -> Settings:
        return Settings(
            self.n_estimators,
            self.n_iter_no_change,
            self.learning_rate,
            self.max_depth,
            self.max_leaf_nodes,
            self.min_samples_leaf,
            self.l2_regularization,
            n_threads(self.n_jobs),
        )

    def _set_up(self, miser: Miser) -> Miser:
        """Give a Greedy Miser the settings of the boosters, so that it checks them."""
        names = (
            "n_estimators",
            "n_iter_no_change",
            "learning_rate",
            "max_depth",
            "max_leaf_nodes",
            "min_samples_leaf",
            "l2_regularization",
        )
        miser.set_params(**{name: getattr(self, name) for name in names})
        return miser

    def _check_parameters(self) -> None:
        if self.budget_kind not in ("mean", "hard"):
            raise ValueError(f"budget_kind must be 'mean' or 'hard'; got {self.budget_kind!r}")
        least = {"n_stages": 1, "n_estimators": 1, "n_folds": 1}
        for name, bound in least.items():
            value = getattr(self, name)
            if value is None and name == "n_folds":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < bound:
                raise ValueError(f"{name} must be an integer of at least {bound}; got {value!r}")

    # The path.

    def path(self) -> list[CascadePoint]:
        """Return the models of all mean budgets, cheapest first, with what rows held out pay and risk."""
        check_is_fitted(self)
        points = []
        for place, spend in enumerate(self.path_spend_.tolist()):
            model = self._variant({"budget": spend, "budget_kind": "mean"})
            model._aim(spend)
            points.append(CascadePoint(spend, float(self.path_risk_[place]), model))
        return points

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other budgets, see `BudgetedEstimator.variants`; the model itself comes last.

        With a mean budget there are also the models of hard ones: all rows have the same features then, the
        best set that the budget can pay.
        """
        check_is_fitted(self)
        if self.budget_kind == "mean":
            for budget in self._other_budgets():
                params = {"budget_kind": "hard", "budget": budget}
                yield params, self._variant(params).at(budget)
        yield from super().variants()

    def _aim(self, cap: float | None) -> None:
        """Choose the chain and the thresholds of a budget."""
        self.budget_ = cap if self.budget_kind == "hard" else None
        if self.budget_kind == "hard":
            place = self._best_chain(cap)
            thresholds = np.full(self.chains_.shape[1], NEVER)
        else:
            # The best within the mean budget; the cheapest if there is none.
            limit = np.inf if cap is None else cap * (1 + 1e-12)
            point = max(0, int(np.searchsorted(self.path_spend_, limit, side="right")) - 1)
            place, thresholds = int(self.path_chain_[point]), self.path_thresholds_[point]
        n_stages = int((self.chains_[place] >= 0).sum())
        self.chain_ = self.chains_[place, :n_stages].copy()
        self.thresholds_ = np.append(thresholds[: n_stages - 1], ALWAYS)

    def _best_chain(self, cap: float | None) -> int:
        """Return the chain whose last stage within a hard budget risks least, the earliest of equals."""
        limit = np.inf if cap is None else cap * (1 + 1e-12)
        risks = []
        for chain in self.chains_:
            sets = chain[chain >= 0]
            paid = self.costs_.total_rows(self._owned(sets)) <= limit
            risks.append(self.set_risks_[sets[paid][-1]])
        return int(np.argmin(risks))

    # Files.

    def _check_stored(self) -> None:
        super()._check_stored()
        n_sets, n_points, n_stages = len(self.ends_), len(self.path_spend_), self.chains_.shape[-1]
        self._check_arrays(
            {
                "chains_": (np.int64, (len(self.chains_), n_stages)),
                "set_risks_": (np.float64, (n_sets,)),
                "path_spend_": (np.float64, (n_points,)),
                "path_risk_": (np.float64, (n_points,)),
                "path_chain_": (np.int64, (n_points,)),
                "path_thresholds_": (np.float64, (n_points, n_stages)),
            }
        )
        if not n_points or (np.diff(self.path_spend_) < 0).any():
            raise ValueError("path_spend_ must ascend")
        if not ((self.path_chain_ >= 0) & (self.path_chain_ < len(self.chains_))).all():
            raise ValueError("path_chain_ must be of chains")
        for chain in self.chains_:
            check_chain(chain, n_sets)
