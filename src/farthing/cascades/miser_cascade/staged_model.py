"""A model of stages: how rows go from one to the next, and what a file of it must hold."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from farthing.base import TreesMixin, n_threads
from farthing.cascades.miser_cascade.feature_chains import by_price
from farthing.cascades.miser_cascade.policy import StagePolicy
from farthing.learning.exits import ALWAYS, NEVER
from farthing.learning.score_bounds import Bounds, certain
from farthing.table import Encoded
from farthing.trees import Progress
from farthing.walks import Policy

Floats = NDArray[np.float64]

# Bounds by model. They stand beside the models, not in them, so that predicting changes no attribute.
_BOUNDS: WeakKeyDictionary[Staged, dict[Any, Bounds]] = WeakKeyDictionary()


class Staged(TreesMixin):
    """Walks and array calls of a chain of boosters with exits.

    Attributes
    ----------
    sets_, ends_ : ndarray
        The features of each booster, and the end of its trees in ``forest_``.
    chain_, thresholds_ : ndarray, shape (n_stages,)
        The booster of each stage, and the largest risk at which a row stops there.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "sets_": np.ndarray,
        "ends_": np.ndarray,
        "chain_": np.ndarray,
        "thresholds_": np.ndarray,
    }
    _one_sum: ClassVar[bool] = False

    # What a method fills in.

    @abstractmethod
    def _read(self, place: int, scores: Floats) -> Floats:
        """Return raw outputs (n_rows, n_outputs) for the scores of a set, without that of its gate."""

    def _risks(self, outputs: Floats) -> Floats:
        """Return what thresholds are compared with, shape (n_rows,): by default what the gate says."""
        return outputs[:, -1]

    def _gated(self) -> bool:
        """Tell whether exits are learned: the last output is then that of a gate."""
        return True

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
        owned = self._owned(self.chain_)
        totals = self.costs_.total_rows(owned)
        last = np.full(n_rows, len(owned) - 1)
        if budget is not None:
            # The stages that a row can pay; the first is free.
            last = (totals <= (budget * (1 + 1e-12))[:, np.newaxis]).sum(axis=1) - 1
        progress = Progress(
            encoded.values, self.forest_.n_outputs, self.costs_, n_threads=n_threads(self.n_jobs)
        )
        outputs = np.tile(self.prior_, (n_rows, 1))
        acquired = np.zeros(encoded.values.shape, dtype=np.bool_)
        rows = np.arange(n_rows)
        for stage, threshold in enumerate(self.thresholds_.tolist()):
            ends = (last[rows] == stage) | (threshold == ALWAYS)
            if self._curtails() and ends.any():
                decided = rows[ends]
                self._answer_last(progress, stage, decided, outputs, acquired)
                rows, ends = rows[~ends], np.zeros((~ends).sum(), dtype=np.bool_)
            looking = rows if threshold > NEVER else rows[ends]
            if len(looking):
                outputs[looking] = self._look(progress, int(self.chain_[stage]), looking)
                acquired[looking] = owned[stage]
                ends[np.isin(rows, looking, assume_unique=True)] |= self._risks(outputs[looking]) <= threshold
            rows = rows[~ends]
        return outputs, acquired

    def _answer_last(
        self,
        progress: Progress,
        stage: int,
        rows: NDArray[np.int64],
        outputs: Floats,
        acquired: NDArray[np.bool_],
    ) -> None:
        """Answer rows that end at a stage, each as soon as its label is certain; fills two arrays."""
        place = int(self.chain_[stage])
        owned = self._owned(self.chain_[: stage + 1])
        known = owned[-2].copy() if stage else np.zeros_like(owned[-1])
        for step, column in enumerate(self._bought(stage)):
            low, high = self._bounds(place, step, known).scores(progress.values[rows], progress.n_threads)
            done = certain(low, high)
            outputs[rows[done]] = self._read(place, (low[done] + high[done]) / 2)
            acquired[rows[done]] = known
            rows = rows[~done]
            if not len(rows):
                return
            known[column] = True
        outputs[rows] = self._look(progress, place, rows)
        acquired[rows] = known

    def _curtails(self) -> bool:
        """Tell whether a row that is to stop at a stage asks no more there than its label needs."""
        return False

    def _bounds(self, place: int, step: int, known: NDArray[np.bool_]) -> Bounds:
        """Return the bounds of a booster at a step of its stage; they are made once."""
        made = _BOUNDS.setdefault(self, {})
        key = place, step, known.tobytes()
        if key not in made:
            begin = int(self.ends_[place - 1]) if place else 0
            made[key] = Bounds(self.forest_.trees(begin, int(self.ends_[place])), known)
        return made[key]

    def _bought(self, stage: int) -> list[int]:
        """Return the columns that a stage buys beside those before it, the cheapest first."""
        owned = self._owned(self.chain_[: stage + 1])
        new = owned[-1] & ~owned[-2] if stage else owned[-1]
        columns: list[int] = by_price(self.costs_, np.flatnonzero(new).astype(np.int64)).tolist()
        return columns

    def _look(self, progress: Progress, place: int, rows: NDArray[np.int64]) -> Floats:
        """Return the raw outputs of one of the boosters for some rows of a table."""
        begin = self.ends_[place - 1] if place else 0
        progress.outputs[rows] = 0.0
        self._ready().advance(progress, int(begin), int(self.ends_[place]), rows)
        outputs = progress.outputs[rows]
        if not self._gated():
            return self._read(place, outputs)
        return np.column_stack([self._read(place, outputs[:, :-1]), outputs[:, -1]])

    def _owned(self, chain: Any) -> NDArray[np.bool_]:
        """Return what a row owns at each stage of a chain, shape (n_stages, n_features)."""
        return np.logical_or.accumulate(self.sets_[chain], axis=0)

    # Files.

    def _check_stored(self) -> None:
        super()._check_stored()
        n_sets = len(self.ends_)
        self._check_arrays(
            {
                "sets_": (np.bool_, (n_sets, len(self.schema_.names))),
                "ends_": (np.int64, (n_sets,)),
                "chain_": (np.int64, (len(self.chain_),)),
                "thresholds_": (np.float64, (len(self.chain_),)),
            }
        )
        ends = np.append(0, self.ends_)
        if not n_sets or (np.diff(ends) <= 0).any() or ends[-1] != self.forest_.n_trees:
            raise ValueError("ends_ must ascend to the number of trees")
        check_chain(self.chain_, n_sets)
        if self.costs_.total(self.sets_[0]) != 0:
            raise ValueError("the first set must cost nothing")
        self._check_looks()

    def _check_arrays(self, shapes: Mapping[str, tuple[type, tuple[int, ...]]]) -> None:
        """Check that fitted arrays are of a type and a shape, and hold numbers."""
        for name, (dtype, shape) in shapes.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.shape != shape or np.isnan(array).any():
                raise ValueError(f"{name} must be of {dtype.__name__}, shape {shape}")

    def _check_looks(self) -> None:
        """Check that no booster tests what its set does not have: that would be looking without paying."""
        begin = 0
        for owned, end in zip(self.sets_, self.ends_.tolist(), strict=True):
            nodes = slice(int(self.forest_.offsets[begin]), int(self.forest_.offsets[end]))
            tested = self.forest_.feature[nodes]
            if not owned[tested[tested >= 0]].all():
                raise ValueError("a tree tests a feature that its set does not have")
            begin = end


def check_chain(chain: NDArray[np.int64], n_sets: int) -> None:
    """Raise ValueError unless a chain is of sets, begins with the first, and has -1 behind its end only."""
    n_stages = int((chain >= 0).sum())
    if n_stages == 0 or (chain[n_stages:] != -1).any() or chain.max() >= n_sets or chain[0] != 0:
        raise ValueError("a chain must begin with the first set, and be of sets")
