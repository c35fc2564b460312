"""Learned exits: a gate for each set of features, trees that predict what a row would gain by going on."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.learning.folds import folds_among
from farthing.learning.losses import SQUARED
from farthing.learning.out_of_fold import Columns, OutOfFoldBooster, OutOfFoldTrainer
from farthing.trees import Forest
from farthing.typing import Floats

# Gains are noisy, and held-out rows are few: small trees.
_DEPTH: Final = 3
_MOST_ROUNDS: Final = 40
_PATIENCE: Final = 5
# Folds of the held-out rows.
_FOLDS: Final = 3


def grow_gates(
    trainer: OutOfFoldTrainer,
    held_out: NDArray[np.int64],
    sets: list[Columns],
    *,
    errors: Floats,
    last: int,
) -> list[OutOfFoldBooster]:
    """Grow a gate for each set of features.

    The gain of a row is its error with the set minus its error with the last set of the first chain; the gate
    of ADAPT learns from the same difference. Gates learn from rows that the boosters were not grown
    on, in folds, so that each of these rows has an output of a gate that has not seen it.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        Where the boosters were grown.
    held_out : ndarray of int64, shape (n_held_out,)
        Rows that the boosters were not grown on.
    sets : list of ndarray of int64
        The columns of each set.
    errors : ndarray of float64, shape (n_sets, n_held_out)
        The errors of the held-out rows with each set.
    last : int
        The place of the last set of the first chain.

    Returns
    -------
    list of OutOfFoldBooster
        With one output each; ``held_out`` is of shape (1, n_rows).
    """
    rows = trainer.rows
    folds = folds_among(rows, _FOLDS, check_random_state(0), held_out)
    settings = replace(
        trainer.settings,
        n_estimators=min(_MOST_ROUNDS, trainer.settings.n_estimators),
        max_depth=_DEPTH,
    )
    gates = []
    for columns, own in zip(sets, errors, strict=True):
        # Rows that are not held out have no honest error; they are in no fold, so their zeros are never used.
        gains = np.zeros(len(rows))
        gains[held_out] = own - errors[last]
        gate_trainer = OutOfFoldTrainer(
            replace(rows, target=gains),
            SQUARED,
            folds=folds,
            final=held_out,
            settings=settings,
            max_bins=trainer.max_bins,
            n_iter_no_change=_PATIENCE,
        )
        gates.append(gate_trainer.booster(columns))
    return gates


def with_gate(booster: Forest, gate: Forest) -> Forest:
    """Return the trees of a booster and, after its outputs, those of its gate."""
    n_outputs = booster.n_outputs + 1
    # Trees of one forest are equally wide: where the booster's have a value for each of its outputs, those of
    # the gate add zero to them.
    zeros = np.zeros((gate.n_nodes, booster.width - 1))
    wider = replace(gate, node_values=np.column_stack([zeros, gate.value]), n_outputs=booster.width)
    return Forest.concat(
        [replace(booster, n_outputs=n_outputs), wider.to_output(n_outputs - booster.width, n_outputs)]
    )
