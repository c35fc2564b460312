"""Raw outputs of held-out rows for every set of features; exits are set by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.miser_cascade.gates import grow_gates, with_gate
from farthing.cascades.miser_cascade.readout import Readout
from farthing.collective import all_numbers, own_rows
from farthing.learning.out_of_fold import Columns, OutOfFoldBooster, OutOfFoldTrainer
from farthing.trees import Forest
from farthing.typing import Floats

# Largest number of rows that set the exits; more would move thresholds by less than the noise.
_MOST_HELD_OUT: Final = 20_000


@dataclass(frozen=True, eq=False)
class StageOutputs:
    """The trees of all sets, gates included, and their raw outputs for held-out rows.

    Attributes
    ----------
    held_out : ndarray of int64, shape (n_held_out,)
        Numbers of the held-out rows.
    outputs : list of ndarray of float64, shape (n_held_out, n_outputs)
        For each set, from boosters and gates that have not seen these rows.
    forests : list of Forest
        For each set, the trees of its booster and its gate.
    prior : ndarray of float64, shape (n_outputs,)
        The raw output of a row that has no feature.
    """

    held_out: NDArray[np.int64]
    outputs: list[Floats]
    forests: list[Forest]
    prior: Floats

    @classmethod
    def of(
        cls,
        trainer: OutOfFoldTrainer,
        sets: list[Columns],
        boosters: list[OutOfFoldBooster],
        readout: Readout,
        *,
        last: int,
    ) -> StageOutputs:
        """Read the scores of the boosters, and grow gates if exits are learned.

        Parameters
        ----------
        trainer : OutOfFoldTrainer
            Where the boosters were grown.
        sets : list of ndarray of int64
            The columns of each set.
        boosters : list of OutOfFoldBooster
            The booster of each set.
        readout : Readout
            How their scores are read.
        last : int
            The place of the last set of the first chain, which gates compare the others with.
        """
        rows = trainer.rows
        # Every k-th row: the same rows on every run, without a seed.
        numbers = all_numbers(trainer.held_out)
        held_out = own_rows(numbers[:: -(-len(numbers) // _MOST_HELD_OUT)], len(rows))
        prior = trainer.loss.start(rows.target[trainer.final], rows.weights[trainer.final])
        forests = [booster.forest for booster in boosters]
        outputs = [
            readout.read(place, np.ascontiguousarray(booster.held_out[:, held_out].T))
            for place, booster in enumerate(boosters)
        ]
        if not readout.gated:
            return cls(held_out, outputs, forests, prior)
        errors = np.array([readout.errors(rows.target[held_out], scores) for scores in outputs])
        gates = grow_gates(trainer, held_out, sets, errors=errors, last=last)
        return cls(
            held_out,
            [
                np.column_stack([o, gate.held_out[0, held_out]])
                for o, gate in zip(outputs, gates, strict=True)
            ],
            [with_gate(forest, gate.forest) for forest, gate in zip(forests, gates, strict=True)],
            # The first tree of a gate is its constant: the mean gain, which is the output without any
            # feature.
            np.append(prior, gates[0].forest.value[0, 0]),
        )
