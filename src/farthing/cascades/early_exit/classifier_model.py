"""The fitted early exit for classes, and its walk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, PricedErrorsModel
from farthing.cascades.early_exit.model import EarlyExitModel
from farthing.costs import RowLedger
from farthing.walks import Policy

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

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the trees so far, shape (n_outputs,)."""
        return self._trees.output()
