"""What rows are told at the stages of a cascade, computed once for all budgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Progress
from farthing.typing import Floats

if TYPE_CHECKING:
    from farthing.cascades.miser_cascade.staged_model import StagedModel


class StageLooks:
    """Raw outputs and risks of all rows, by the booster of each set; each is computed when it is needed.

    Parameters
    ----------
    model : StagedModel
        A model of the fit; those of other budgets have the same boosters.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    n_threads : int
        Threads to use; any number gives the same bits.
    """

    def __init__(self, model: StagedModel, values: NDArray[np.floating], n_threads: int) -> None:
        self._model = model
        self._progress = Progress(values, model.forest.n_outputs, model.costs, n_threads=n_threads)
        self._rows = np.arange(len(values))
        self._found: dict[int, tuple[Floats, Floats]] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def at(self, place: int) -> tuple[Floats, Floats]:
        """Return raw outputs, shape (n_rows, n_outputs), and risks, shape (n_rows,), of a set of features."""
        if place not in self._found:
            outputs = self._model.look(self._progress, place, self._rows)
            self._found[place] = outputs, self._model.readout.risks(outputs)
        return self._found[place]
