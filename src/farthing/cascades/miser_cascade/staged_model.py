"""A fitted model of stages: how rows go from one to the next, and the checks of a loaded model."""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import FittedModel, TreeModel
from farthing.base.batch_outputs import SharedOutputs
from farthing.base.model_fields import OPTIONAL
from farthing.cascades.miser_cascade.policy import StagePolicy
from farthing.cascades.miser_cascade.readout import Readout
from farthing.cascades.miser_cascade.stage_looks import StageLooks
from farthing.costs import spending_limit
from farthing.errors import ExportError
from farthing.learning.exits import ALWAYS, NEVER
from farthing.learning.feature_prices import by_price
from farthing.learning.score_bounds import ScoreBounds, certain
from farthing.trees import Progress
from farthing.typing import Floats
from farthing.walks import Policy
from farthing.walks.plans import Plan, Station, StationPlan, TreeSum

# The outputs of all stages are kept for all budgets, unless they would take more memory than this.
_MOST_KEPT_BYTES: Final = 2**27
# Held-out rows of similar risk by which the fall of the risk is estimated.
_SIMILAR: Final = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class StagedModel(TreeModel):
    """Walks and array calls of a chain of boosters with exits.

    Parameters
    ----------
    sets : ndarray of bool, shape (n_sets, n_features)
        The features of each booster.
    ends : ndarray of int64, shape (n_sets,)
        The end of each booster's trees in ``forest``.
    chain : ndarray of int64, shape (n_stages,)
        The booster of each stage.
    thresholds : ndarray of float64, shape (n_stages,)
        The largest risk at which a row stops there.
    held_risks, held_errors : ndarray of float64, shape (n_sets, n_rows), or None
        Risks and errors of held-out rows with each booster, by which exits are set at other prices.
    held_weights : ndarray of float64, shape (n_rows,), or None
        Their weights.
    """

    sets: NDArray[np.bool_]
    ends: NDArray[np.int64]
    chain: NDArray[np.int64]
    thresholds: Floats
    held_risks: Floats | None = field(default=None, metadata=OPTIONAL)
    held_errors: Floats | None = field(default=None, metadata=OPTIONAL)
    held_weights: Floats | None = field(default=None, metadata=OPTIONAL)

    is_one_sum: ClassVar[bool] = False

    # What a method fills in.

    @property
    @abstractmethod
    def readout(self) -> Readout:
        """The interpretation of a stage's scores."""

    @property
    def curtails(self) -> bool:
        """Whether a row, at the stage where it must stop, asks only what its label needs."""
        return False

    # Predicting.

    def policy(self, seed: int | None = None) -> Policy:  # trees are not stochastic
        """Return a walk from stage to stage."""
        return StagePolicy(self)

    def plan(self) -> Plan:
        """Return the stages as stations."""
        if self.curtails:
            raise ExportError("it curtails its last stage; fit it with curtail=False to export it")
        return StationPlan(tuple(map(self._station, range(len(self.chain)))), self.prior, whole=True)

    def _station(self, stage: int) -> Station:
        place, threshold = int(self.chain[stage]), float(self.thresholds[stage])
        ends = stage == len(self.chain) - 1 or threshold == ALWAYS
        return Station(
            columns=tuple(self.bought(stage)),
            scores=TreeSum(self.predictor, self._begin(place), int(self.ends[place])),
            readout=self.readout.as_data(place),
            exit=None if ends or threshold == NEVER else self.readout.exit_at(threshold),
            children=(-1, -1 if ends else stage + 1),
        )

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: Floats | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Answer many rows, stage by stage; see `FittedModel.outputs`."""
        n_rows = len(values)
        owned = self.owned(self.chain)
        last = self._last_stages(owned, n_rows, budget)
        progress = Progress(values, self.forest.n_outputs, self.costs, n_threads=n_threads)
        outputs = np.tile(self.prior, (n_rows, 1))
        acquired = np.zeros(values.shape, dtype=np.bool_)
        rows = np.arange(n_rows)
        for stage, threshold in enumerate(self.thresholds.tolist()):
            ends = (last[rows] == stage) | (threshold == ALWAYS)
            if self.curtails and ends.any():
                self._answer_last(progress, stage, rows[ends], outputs, acquired)
                rows, ends = rows[~ends], np.zeros((~ends).sum(), dtype=np.bool_)
            # Rows that go on in any case need no output here.
            looking = rows if threshold > NEVER else rows[ends]
            if len(looking):
                outputs[looking] = self.look(progress, int(self.chain[stage]), looking)
                acquired[looking] = owned[stage]
                stops = self.readout.risks(outputs[looking]) <= threshold
                ends[np.isin(rows, looking, assume_unique=True)] |= stops
            rows = rows[~ends]
        return outputs, acquired

    def outputs_of_variants(
        self,
        variants: Sequence[FittedModel],
        values: NDArray[np.floating],
        *,
        budgets: Sequence[Floats | None],
        n_threads: int = 1,
    ) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Answer the same rows for other budgets; all of them pass each stage once."""
        shared = self.shared_outputs(values, n_threads=n_threads)
        if shared is None:
            yield from super().outputs_of_variants(variants, values, budgets=budgets, n_threads=n_threads)
            return
        for variant, budget in zip(variants, budgets, strict=True):
            yield shared(variant, budget)

    def shared_outputs(self, values: NDArray[np.floating], *, n_threads: int = 1) -> SharedOutputs | None:
        """Return a function that answers the same rows for any budget; each stage is passed once."""
        kept = len(self.ends) * len(values) * self.forest.n_outputs * values.dtype.itemsize
        if self.curtails or kept > _MOST_KEPT_BYTES:
            return None
        looks = StageLooks(self, values, n_threads)

        def outputs(variant: FittedModel, budget: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
            if not isinstance(variant, StagedModel) or variant.forest is not self.forest:
                raise ValueError("the variants must be models of the same fit")
            return variant.outputs_by(looks, budget)

        return outputs

    def outputs_by(self, looks: StageLooks, budget: Floats | None) -> tuple[Floats, NDArray[np.bool_]]:
        """Answer many rows, as `outputs` does, from what they are told at each stage.

        Parameters
        ----------
        looks : StageLooks
            Of these rows.
        budget : ndarray of float64, shape (n_rows,), or None
            Hard budget of each row.
        """
        owned = self.owned(self.chain)
        last = np.minimum(
            self._last_stages(owned, looks.n_rows, budget), np.argmax(self.thresholds == ALWAYS)
        )
        stops = np.full(looks.n_rows, -1)
        outputs = np.tile(self.prior, (looks.n_rows, 1))
        for stage in range(int(last.max()) + 1):
            ends, threshold = last == stage, float(self.thresholds[stage])
            # Where rows go on in any case, nobody needs to look.
            if threshold == NEVER and not ends.any():
                continue
            answers, risks = looks.at(int(self.chain[stage]))
            ends = (stops < 0) & (ends | (risks <= threshold))
            stops[ends] = stage
            outputs[ends] = answers[ends]
        return outputs, owned[stops]

    def _last_stages(self, owned: NDArray[np.bool_], n_rows: int, budget: Floats | None) -> NDArray[np.int64]:
        """Return the last stage that each row can pay for, shape (n_rows,); the first is free."""
        if budget is None:
            return np.full(n_rows, len(owned) - 1)
        totals = self.costs.total_rows(owned)
        return np.asarray((totals <= spending_limit(budget)[:, np.newaxis]).sum(axis=1) - 1)

    def _answer_last(
        self,
        progress: Progress,
        stage: int,
        rows: NDArray[np.int64],
        outputs: Floats,
        acquired: NDArray[np.bool_],
    ) -> None:
        """Answer rows that end at a stage, each as soon as its label is certain; fills two arrays."""
        place = int(self.chain[stage])
        known = self.owned_before(stage)
        for step, column in enumerate(self.bought(stage)):
            # Question by question, as in the walk: a row leaves at the same question with the same bounds.
            low, high = self.bounds(place, step, known).scores(progress.values[rows], progress.n_threads)
            done = certain(low, high)
            outputs[rows[done]] = self.readout.read(place, (low[done] + high[done]) / 2)
            acquired[rows[done]] = known
            rows = rows[~done]
            if not len(rows):
                return
            known[column] = True
        outputs[rows] = self.look(progress, place, rows)
        acquired[rows] = known

    # What a stage owns and answers.

    def owned(self, chain: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return what a row owns at each stage of a chain of sets, shape (n_stages, n_features)."""
        return owned_by_stage(self.sets, chain)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the stages buy, shape (n_features,)."""
        return np.asarray(self.owned(self.chain).any(axis=0))

    def owned_before(self, stage: int) -> NDArray[np.bool_]:
        """Return what a row owns when it comes to a stage of the model's chain, shape (n_features,)."""
        if not stage:
            return np.zeros(self.sets.shape[1], dtype=np.bool_)
        owned: NDArray[np.bool_] = self.owned(self.chain[:stage])[-1]
        return owned

    def bought(self, stage: int) -> list[int]:
        """Return the columns that a stage buys in addition to those before it, the cheapest first."""
        new = self.owned(self.chain[: stage + 1])[-1] & ~self.owned_before(stage)
        columns: list[int] = by_price(self.costs, np.flatnonzero(new).astype(np.int64)).tolist()
        return columns

    def look(
        self,
        progress: Progress,
        place: int,
        rows: NDArray[np.int64],
        refused: frozenset[int] = frozenset(),
    ) -> Floats:
        """Return the raw outputs of one of the boosters for some rows of a table.

        Parameters
        ----------
        progress : Progress
            The table; its outputs are overwritten.
        place : int
            The place of the booster's set of features.
        rows : ndarray of int64, shape (n_looking,)
        refused : frozenset of int
            Columns that these rows refuse.

        Returns
        -------
        ndarray of float64, shape (n_looking, n_outputs)
        """
        # Each booster predicts from scratch: scores of an earlier stage are not part of this one's sum.
        progress.outputs[rows] = 0.0
        self.predictor.advance(progress, self._begin(place), int(self.ends[place]), rows, refused)
        outputs = progress.outputs[rows]
        if not self.readout.gated:
            return self.readout.read(place, outputs)
        return np.column_stack([self.readout.read(place, outputs[:, :-1]), outputs[:, -1]])

    def bounds(self, place: int, step: int, known: NDArray[np.bool_]) -> ScoreBounds:
        """Return the bounds of a booster's scores when some features are known; they are computed once.

        Parameters
        ----------
        place : int
            The place of the booster's set of features.
        step : int
            How many columns of its stage have been asked for.
        known : ndarray of bool, shape (n_features,)
        """
        key = place, step, known.tobytes()
        if key not in self._bounds:
            trees = self.forest.trees(self._begin(place), int(self.ends[place]))
            self._bounds[key] = ScoreBounds(trees, known)
        return self._bounds[key]

    @cached_property
    def _bounds(self) -> dict[tuple[int, int, bytes], ScoreBounds]:
        return {}

    def _begin(self, place: int) -> int:
        return int(self.ends[place - 1]) if place else 0

    # Files.

    def check(self) -> None:
        """Raise ValueError if the stages do not fit together."""
        super().check()
        n_sets = len(self.ends)
        self.check_arrays(
            {
                "sets": (np.bool_, (n_sets, len(self.schema.names))),
                "ends": (np.int64, (n_sets,)),
                "chain": (np.int64, (len(self.chain),)),
                "thresholds": (np.float64, (len(self.chain),)),
            }
        )
        self._check_held_out()
        ends = np.append(0, self.ends)
        if not n_sets or (np.diff(ends) <= 0).any() or ends[-1] != self.forest.n_trees:
            raise ValueError("ends must ascend to the number of trees")
        check_chain(self.chain, n_sets)
        if self.costs.total(self.sets[0]) != 0:
            raise ValueError("the first set must cost nothing")
        self._check_tested()

    def _check_held_out(self) -> None:
        """Check that the scores of held-out rows fit together, if there are any."""
        held = (self.held_risks, self.held_errors, self.held_weights)
        if all(array is None for array in held):
            return
        n_rows = 0 if self.held_weights is None else len(self.held_weights)
        shape = (len(self.ends), n_rows)
        names = ("held_risks", "held_errors", "held_weights")
        if any(array is None for array in held) or not n_rows:
            raise ValueError(f"{', '.join(names)} must be given together")
        self.check_arrays(
            {
                "held_risks": (np.float64, shape),
                "held_errors": (np.float64, shape),
                "held_weights": (np.float64, (n_rows,)),
            }
        )

    def similar_rows(self, place: int, risk: float) -> NDArray[np.int64] | None:
        """Return the held-out rows whose risk with a booster is nearest by rank; None if none are kept."""
        if self.held_risks is None:
            return None
        low, high = self._alike(place, risk)
        return np.asarray(self._by_risk(place)[0][low:high])

    def similar_errors(
        self, place: int, risk: float, places: Sequence[int]
    ) -> tuple[int, list[float]] | None:
        """Return how many rows `similar_rows` has, with their mean errors at each of some boosters.

        None if there are none. The sums over all first rows are kept, so that a walk subtracts two of them.
        """
        if self.held_risks is None:
            return None
        low, high = self._alike(place, risk)
        weights = self._sums(place, None)
        total = weights[high] - weights[low]
        if not total > 0:
            return None
        errors = [self._sums(place, other) for other in places]
        return high - low, [(sums[high] - sums[low]) / total for sums in errors]

    def _alike(self, place: int, risk: float) -> tuple[int, int]:
        """Return which ranks have the risk of a row."""
        ranks = self._by_risk(place)[1]
        # Rows of the same risk are all alike; where there are few, those next to them.
        low, high = bisect_left(ranks, risk), bisect_right(ranks, risk)
        half, middle = min(_SIMILAR, len(ranks)) // 2, (low + high) // 2
        return max(0, min(low, middle - half)), min(len(ranks), max(high, middle + half))

    def _by_risk(self, place: int) -> tuple[NDArray[np.int64], list[float]]:
        """Return the held-out rows in the order of their risk with a booster, and these risks."""
        found = self._risk_orders.get(place)
        if found is None:
            assert self.held_risks is not None
            order = np.argsort(self.held_risks[place], kind="stable")
            found = self._risk_orders[place] = order, self.held_risks[place][order].tolist()
        return found

    def _sums(self, place: int, other: int | None) -> list[float]:
        """Return the weights, times the errors of another booster if given, added up in the order of risk."""
        found = self._error_sums.get((place, other))
        if found is None:
            assert self.held_weights is not None
            assert self.held_errors is not None
            counted = self.held_weights if other is None else self.held_weights * self.held_errors[other]
            sums = np.append(0.0, np.cumsum(counted[self._by_risk(place)[0]]))
            found = self._error_sums[place, other] = sums.tolist()
        return found

    @cached_property
    def _risk_orders(self) -> dict[int, tuple[NDArray[np.int64], list[float]]]:
        return {}

    @cached_property
    def _error_sums(self) -> dict[tuple[int, int | None], list[float]]:
        return {}

    def check_arrays(self, shapes: Mapping[str, tuple[type, tuple[int, ...]]]) -> None:
        """Raise ValueError unless fields are arrays of a type and a shape, without NaN."""
        for name, (dtype, shape) in shapes.items():
            array: NDArray[Any] = getattr(self, name)
            if array.dtype != dtype or array.shape != shape or np.isnan(array).any():
                raise ValueError(f"{name} must be of {dtype.__name__}, shape {shape}")

    def _check_tested(self) -> None:
        """Check that no booster tests a feature outside its set, which a row would use without paying."""
        for place, (owned, end) in enumerate(zip(self.sets, self.ends.tolist(), strict=True)):
            nodes = slice(int(self.forest.offsets[self._begin(place)]), int(self.forest.offsets[end]))
            tested = self.forest.feature[nodes]
            if not owned[tested[tested >= 0]].all():
                raise ValueError("a tree tests a feature that its set does not have")


def owned_by_stage(sets: NDArray[np.bool_], chain: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return what a row owns at each stage of a chain of sets, shape (n_stages, n_features).

    Examples
    --------
    >>> owned_by_stage(np.array([[False, False], [True, False], [False, True]]), np.array([0, 2, 1]))
    array([[False, False],
           [False,  True],
           [ True,  True]])
    """
    return np.logical_or.accumulate(sets[chain], axis=0)


def check_chain(chain: NDArray[np.int64], n_sets: int) -> None:
    """Raise ValueError unless a chain is of sets, begins with the first, and has -1 after its end only."""
    n_stages = int((chain >= 0).sum())
    if n_stages == 0 or (chain[n_stages:] != -1).any() or chain.max() >= n_sets or chain[0] != 0:
        raise ValueError("a chain must begin with the first set, and hold numbers of sets")
