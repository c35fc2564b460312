"""The fitted early exit for classes, and its walk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from farthing._core import Judged, SplitJudge, Ways
from farthing.base import ClassifierModel, FittedModel, PricedErrorsModel
from farthing.cascades.early_exit.model import EarlyExitModel
from farthing.costs import RowLedger
from farthing.trees import Progress
from farthing.typing import Floats
from farthing.walks import Foresight, Policy, Split, Stand
from farthing.walks.plans import Exit, Plan, Risk, TreePlan, ends_outside, riskiest

# Outputs and purchases at all exits are kept for all variants, unless they would take more memory than this.
_MOST_KEPT_BYTES: Final = 2**27
_TINY: Final = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False, kw_only=True)
class EarlyExitClassifierModel(EarlyExitModel, PricedErrorsModel):
    """Boosted trees that a row leaves once its top class is likely enough.

    Parameters
    ----------
    threshold : float
        Probability of the top class above which a row leaves, 0 to 1; with error costs, see `certainty`.
    """

    threshold: float

    def policy(self, seed: int | None = None) -> Policy:  # trees are not stochastic
        """Return a walk from exit to exit."""
        return ExitPolicy(self)

    def plan(self) -> Plan:
        """Return the trees with the exits between them."""
        return TreePlan(self.inner.predictor, self.exits, self.call_places, self._exit())

    def _exit(self) -> Exit:
        if len(self.prior) == 1:
            return ends_outside(self.is_clear, riskiest(lambda scores: self.certainty(self.conclude(scores))))
        costs = self.error_costs
        scale = 1.0 if costs is None else max(float(costs.max()), _TINY)
        return Risk(self.link_steps(), self.threshold, costs, certainty=True, scale=scale)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Answer many rows, exit by exit; see `FittedModel.outputs`."""
        return self.descend(
            values, budget, lambda _number, _of, outputs, _rows: ~self.is_clear(outputs), n_threads
        )

    def outputs_of_variants(
        self,
        variants: Sequence[FittedModel],
        values: NDArray[np.floating],
        *,
        budgets: Sequence[Floats | None],
        n_threads: int = 1,
    ) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Answer the same rows by other thresholds and fewer rounds; rows pass the trees once."""
        if (
            self._too_large(values)
            or not self._shares(variants)
            or any(budget is not None for budget in budgets)
        ):
            yield from super().outputs_of_variants(variants, values, budgets=budgets, n_threads=n_threads)
            return
        passed = PassedExits(self, values, n_threads)
        for variant in variants:
            yield passed.leave(variant)

    def _too_large(self, values: NDArray[np.floating]) -> bool:
        """Return whether the outputs and purchases at all exits take too much memory."""
        per_row = self.prior.nbytes + len(self.costs.features)
        return len(self.exits) * len(values) * per_row > _MOST_KEPT_BYTES

    def _shares(self, variants: Sequence[FittedModel]) -> TypeGuard[Sequence[EarlyExitClassifierModel]]:
        """Return whether the trees of variants are the first ones of this model, at the same prices."""
        # Many of them differ in the threshold alone.
        models = {}
        for variant in variants:
            if not isinstance(variant, EarlyExitClassifierModel) or self.costs != variant.costs:
                return False
            models[id(variant.model)] = variant.inner
        return all(self.inner.holds(inner) for inner in models.values())

    def split_judge(self) -> SplitJudge | None:
        """Return that of the boosted model, which knows the exits; None if errors have prices."""
        if self.error_costs is not None:
            return None
        return self.inner.split_judge(self.exits, self.threshold)

    def is_clear(self, outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return for which rows the label is certain enough, shape (n_rows,)."""
        # Strictly above, so that at a threshold of 1 no row leaves.
        return np.asarray(self.certainty(self.conclude(outputs)) > self.threshold)

    def certainty(self, probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability of the top class, or with error costs what is not at risk, (n_rows,)."""
        if self.error_costs is None:
            return np.asarray(probabilities.max(axis=1))
        # As a share of the most expensive error, so that 1 per error gives the probability again.
        return np.asarray(1 - self.risks(probabilities) / max(float(self.error_costs.max()), _TINY))

    def check(self) -> None:
        """Raise ValueError if the exits do not fit the boosted model."""
        super().check()
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"threshold must lie between 0 and 1; got {self.threshold!r}")
        if not isinstance(self.inner, ClassifierModel):
            raise TypeError(f"a {type(self.model).__name__} is not a classifier")
        if not np.array_equal(self.inner.classes, self.classes):
            raise ValueError("the classes must be those of the inner model")


class PassedExits:
    """What rows are told at the exits of a model, and have bought by then, if none leaves before.

    Parameters
    ----------
    model : EarlyExitClassifierModel
        The model with the most trees.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    n_threads : int
        Threads to use; any number gives the same bits.
    """

    def __init__(self, model: EarlyExitClassifierModel, values: NDArray[np.floating], n_threads: int) -> None:
        self._predictor = model.inner.predictor
        self._values, self._sheet, self._n_threads = values, model.costs, n_threads
        # For each model of trees, what rows are told at its exits; models of other thresholds share it.
        self._told: dict[int, tuple[Floats, NDArray[np.bool_], Floats]] = {}

    def leave(self, model: EarlyExitClassifierModel) -> tuple[Floats, NDArray[np.bool_]]:
        """Return raw outputs and acquired features of all rows where they leave a model."""
        key = id(model.model)
        if key not in self._told:
            self._told[key] = self._pass(model)
        outputs, acquired, tops = self._told[key]
        leaves = tops > model.threshold
        leaves[-1] = True
        places, rows = np.argmax(leaves, axis=0), np.arange(tops.shape[1])
        return outputs[places, rows], acquired[places, rows]

    def _pass(self, model: EarlyExitClassifierModel) -> tuple[Floats, NDArray[np.bool_], Floats]:
        """Return outputs, acquired features and the probability of the top class, exit by exit."""
        n_rows = len(self._values)
        progress = Progress(self._values, len(model.prior), self._sheet, n_threads=self._n_threads)
        outputs = np.empty((len(model.exits), *progress.outputs.shape))
        acquired = np.empty((len(model.exits), n_rows, len(self._sheet.features)), dtype=np.bool_)
        for number, (begin, end) in enumerate(pairwise((0, *model.exits))):
            self._predictor.advance(progress, begin, end)
            outputs[number], acquired[number] = progress.outputs, progress.acquired
        # Each row is concluded independently, so all exits are at once.
        tops = model.conclude(outputs.reshape(-1, outputs.shape[2])).max(axis=1)
        return outputs, acquired, tops.reshape(-1, n_rows)


class ExitPolicy:
    """Walk the trees up to an exit, and on to the next one unless the top class is clear.

    Parameters
    ----------
    model : EarlyExitClassifierModel
        The boosted model with its exits.
    """

    def __init__(self, model: EarlyExitClassifierModel) -> None:
        self._model = model
        self._trees = model.trees_policy()
        self._n_passed = 0

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the trees, or None once the row leaves."""
        # The policy of the trees ends at each exit.
        while (column := self._trees.wants(ledger)) is None and not self._trees.stopped:
            if self._n_passed == len(self._model.exits) - 1:
                return None
            if self._model.is_clear(self._trees.output()[np.newaxis])[0]:
                return None
            self._n_passed += 1
            self._trees.open(self._n_passed)
        return column

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just asked for."""
        self._trees.hear(column, value)

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._trees.refuse(column)

    def foresee(self, column: int, answers: Sequence[float], ledger: RowLedger) -> Foresight | None:
        """Return where each of some answers would lead to; None if evaluations have a price."""
        found = self._trees.foresee(column, answers, ledger)
        if found is None:
            return None
        # Most answers lead to another question of the same block. The others are at an exit.
        for place, asked in enumerate(found.columns):
            if asked is None:
                twin = copy(self)
                twin.__dict__.update(_trees=self._trees.after(column, answers[place]))
                found.columns[place], found.stands[place] = twin.wants(ledger), twin.stand()
                found.outputs[place] = twin.output()
        return found

    def judged(self, judge: SplitJudge, ways: Ways, looked: bool) -> Judged | None:
        """Return what the answers would do to the belief; None if the core cannot tell where rows leave."""
        found = self._trees.judged(judge, ways, looked)
        return found if found is not None and found.is_clear else None

    def split(self) -> Split | None:
        """Return the split that the trees stand at."""
        return self._trees.split()

    def stand(self) -> Stand:
        """Return where the row stands in the trees."""
        return self._trees.stand()

    def why_ended(self) -> str:
        """Return why the row has left, in words."""
        if self._trees.stopped:
            return "the trees up to the next exit cost more than is left"
        if self._n_passed == len(self._model.exits) - 1:
            return "all trees are finished"
        model, output = self._model, self._trees.output()[np.newaxis]
        sure = float(model.certainty(model.conclude(output))[0])
        place = f"exit {self._n_passed + 1} of {len(model.exits)}"
        return f"at {place} the top class is likely enough: {sure:.3g}, above {model.threshold:.3g}"

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the trees so far, shape (n_outputs,)."""
        return self._trees.output()
