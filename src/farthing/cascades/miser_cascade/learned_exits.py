"""Learned exits: trees that say what a row would gain by going on, from the features that it owns."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.learning.losses import SQUARED
from farthing.learning.out_of_fold import Booster, Columns, Fold, OutOfFoldTrainer
from farthing.trees import Forest

Floats = NDArray[np.float64]

# Gains are noisy, and rows held out are few: small trees.
_DEPTH: Final = 3
_MOST_ROUNDS: Final = 40
_PATIENCE: Final = 5


def grow_gates(
    nursery: OutOfFoldTrainer,
    held: NDArray[np.int64],
    sets: list[Columns],
    *,
    errors: Floats,
    last: Floats,
    part: NDArray[np.int64],
) -> list[Booster]:
    """Grow a gate for each set of features.

    What a row gains is the error that it makes there less the one that it makes with the last set of the
    first chain; the gate of ADAPT learns the sign of the same difference. It is learned from the rows that
    the boosters were not grown on, in parts, so that each of them is told by a gate that has not seen it.

    Parameters
    ----------
    nursery : OutOfFoldTrainer
        Where the boosters were grown.
    held : ndarray of int64, shape (n_held,)
        Rows that the boosters were not grown on.
    sets : list of ndarray of int64
        Columns of each.
    errors : ndarray of float64, shape (n_sets, n_held)
        What the rows held out make wrong at each set.
    last : ndarray of float64, shape (n_held,)
        What they make wrong with the last set of the first chain.
    part : ndarray of int64, shape (n_held,)
        The part of each row held out.

    Returns
    -------
    list of Booster
        With one output each. ``held`` is of shape (1, n_rows).
    """
    folds = [Fold(held[part != each], held[part == each]) for each in np.unique(part)]
    if len(folds) == 1:
        folds = [Fold(held, held)]  # one row, or copies of it
    settings = replace(
        nursery.settings,
        n_estimators=min(_MOST_ROUNDS, nursery.settings.n_estimators),
        n_iter_no_change=_PATIENCE,
        max_depth=_DEPTH,
    )
    gates = []
    for columns, own in zip(sets, errors, strict=True):
        gains = np.zeros(nursery.bins.n_rows)
        gains[held] = own - last
        gates.append(
            OutOfFoldTrainer(
                nursery.bins,
                SQUARED,
                gains,
                nursery.weights,
                sheet=nursery.sheet,
                folds=folds,
                final=held,
                settings=settings,
            ).booster(columns)
        )
    return gates


def with_gate(booster: Forest, gate: Forest) -> Forest:
    """Return the trees of a booster and, behind its outputs, those of its gate."""
    n_outputs = booster.n_outputs + 1
    return Forest.concat([replace(booster, n_outputs=n_outputs), gate.to_output(n_outputs - 1, n_outputs)])
