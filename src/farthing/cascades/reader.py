"""One reader for all branches: networks that answer whatever a row has bought."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from farthing.base.threads import one_thread
from farthing.boosting.booster import Floats
from farthing.cascades.learner import Learner, Singles
from farthing.cascades.network import MOST_UNITS, Network
from farthing.cascades.reading import Reading
from farthing.forests.bootstrap import Units
from farthing.store import register_codec

# Rows of a step.
_BATCH: Final = 256
# The last steps are this part as long as the first.
_LAST_RATE: Final = 0.01


@dataclass(frozen=True, eq=False)
class Reader:
    """Networks whose scores are mixed with those of the boosters.

    Attributes
    ----------
    reading : Reading
        What they read, and how.
    networks : list of Network
        Each gives one score a class.
    share : float
        Their part of the answer, 0 to 1, that of the boosters is the rest.
    """

    reading: Reading
    networks: list[Network]
    share: float

    def mixed(self, outputs: Floats, values: NDArray[np.floating], known: NDArray[np.bool_]) -> Floats:
        """Return the scores of boosters mixed with those of the networks: log probabilities are averaged.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            Of the boosters: a score for each class, or the log-odds of the second of two.
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        known : ndarray of bool, shape (n_rows, n_features)
            What is known of each row.
        """
        inputs = self.reading.inputs(values, known)
        scores = np.asarray(sum(network.outputs(inputs) for network in self.networks)) / len(self.networks)
        if outputs.shape[1] == 1:
            scores = scores[:, 1:] - scores[:, :1]
        return np.asarray((1 - self.share) * outputs + self.share * scores)


@dataclass(frozen=True, eq=False)
class Lessons:
    """What networks learn from: rows, and what the branches would have bought for them.

    Attributes
    ----------
    reading : Reading
        How values become inputs.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers.
    weights : ndarray of float64, shape (n_rows,)
        Positive weights.
    branch_of : ndarray of int64, shape (n_rows,)
        The branch of each row.
    bought : ndarray of bool, shape (n_branches, n_features)
        What each branch buys.
    n_classes : int
        Classes.
    """

    reading: Reading
    values: NDArray[np.floating]
    target: NDArray[np.int64]
    weights: Floats
    branch_of: NDArray[np.int64]
    bought: NDArray[np.bool_]
    n_classes: int

    @cached_property
    def units(self) -> Units:
        """The rows as units to draw."""
        return Units.of(self.values, self.target, self.weights)

    @cached_property
    def _mean_weight(self) -> float:
        return float(self.units.weight[self.units.rows].mean())

    def drawn(self, chance: np.random.Generator) -> NDArray[np.int64]:
        """Return the rows of all units, in an order by lot."""
        return self.units.rows[chance.permutation(len(self.units.rows))]

    def slopes(
        self, learner: Learner, rows: NDArray[np.int64], outside: float, chance: np.random.Generator
    ) -> Singles:
        """Return how the mean log loss of some rows rises with their scores, shape (n_rows, n_classes).

        A part of them, outside, is read as if another branch had bought for them.
        """
        branches = self.branch_of[rows]
        elsewhere = chance.random(len(rows)) < outside
        branches[elsewhere] = chance.integers(0, len(self.bought), size=int(elsewhere.sum()))
        scores = learner.outputs(self.reading.inputs(self.values[rows], self.bought[branches], np.float32))
        scores -= scores.max(axis=1, keepdims=True)
        slopes = np.exp(scores)
        slopes /= slopes.sum(axis=1, keepdims=True)
        slopes[np.arange(len(rows)), self.target[rows]] -= 1
        weight = self.units.weight[rows] / (self._mean_weight * len(rows))
        return np.asarray(slopes * weight.astype(np.float32)[:, np.newaxis])


class School:
    """A network that learns from lessons, step by step.

    Parameters
    ----------
    lessons : Lessons
        What it learns from.
    plan : NetworkReader
        How it learns.
    seed : int
        For all lots.
    """

    def __init__(self, lessons: Lessons, plan: NetworkReader, seed: int) -> None:
        self._lessons, self._plan = lessons, plan
        self.chance = np.random.default_rng(seed)
        sizes = [lessons.reading.n_inputs, plan.n_units, plan.n_units, lessons.n_classes]
        self.learner = Learner(sizes, self.chance, plan.dropout)
        self.waiting = np.zeros(0, dtype=np.int64)
        self.n_done = 0

    def go_on(self, n_steps: int) -> bool:
        """Learn for so many steps, or to the end; tell whether that is reached."""
        plan = self._plan
        with one_thread():
            for _ in range(min(n_steps, plan.n_steps - self.n_done)):
                while len(self.waiting) < _BATCH:  # every unit once before any comes again
                    self.waiting = np.concatenate([self.waiting, self._lessons.drawn(self.chance)])
                rows, self.waiting = self.waiting[:_BATCH], self.waiting[_BATCH:]
                slopes = self._lessons.slopes(self.learner, rows, plan.outside, self.chance)
                fading = (1 + float(np.cos(np.pi * self.n_done / plan.n_steps))) / 2
                self.learner.step(slopes, plan.learning_rate * (_LAST_RATE + (1 - _LAST_RATE) * fading))
                self.n_done += 1
        return self.n_done == plan.n_steps


class NetworkReader(BaseEstimator):  # type: ignore[misc]
    """How a reader learns: the ``reader`` of a `BranchingCascadeClassifier`.

    Parameters
    ----------
    share : float
        Its part of the answer, above 0 and at most 1. The rest is that of the boosters.
    n_units : int
        Units of each of the two layers of a network, at most 512.
    n_steps : int
        Steps that each network learns for, of 256 rows.
    learning_rate : float
        Length of the first steps, by Adam; the last are near zero.
    dropout : float
        Part of the units that are silent in a step, at least 0 and below 1.
    outside : float
        Part of the rows of a step, 0 to 1, that are read as if another branch had bought for them: the more,
        the less a network learns by heart of the few rows of a branch.
    n_networks : int
        Networks whose scores are averaged.
    """

    def __init__(
        self,
        share: float = 0.5,
        *,
        n_units: int = 256,
        n_steps: int = 5000,
        learning_rate: float = 0.001,
        dropout: float = 0.0,
        outside: float = 0.1,
        n_networks: int = 1,
    ) -> None:
        self.share = share
        self.n_units = n_units
        self.n_steps = n_steps
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.outside = outside
        self.n_networks = n_networks

    def check(self) -> None:
        """Raise ValueError if a parameter is none."""
        for name, most in (("n_units", MOST_UNITS), ("n_steps", np.inf), ("n_networks", np.inf)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
                raise ValueError(f"{name} must be an integer from 1 to {most}; got {value!r}")
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1; got {self.share!r}")
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be above 0; got {self.learning_rate!r}")
        if not 0 <= self.outside <= 1:
            raise ValueError(f"outside must lie between 0 and 1; got {self.outside!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout!r}")

    def learn(self, lessons: Lessons, seed: int) -> Reader:
        """Teach all networks."""
        networks = [self._network(lessons, seed + number) for number in range(self.n_networks)]
        return Reader(lessons.reading, networks, float(self.share))

    def _network(self, lessons: Lessons, seed: int) -> Network:
        school = School(lessons, self, seed)
        school.go_on(self.n_steps)
        return school.learner.network()


def _encode(reader: Reader) -> dict[str, object]:
    return {"reading": reader.reading, "networks": list(reader.networks), "share": reader.share}


def _decode(fields: dict[str, Any]) -> Reader:
    reading, networks, share = fields["reading"], fields["networks"], fields["share"]
    if not isinstance(reading, Reading) or not isinstance(share, float) or not 0 <= share <= 1:
        raise ValueError("a reader has a reading, and a share between 0 and 1")
    if not isinstance(networks, list) or not networks:
        raise ValueError("a reader has networks")
    for network in networks:
        if not isinstance(network, Network) or network.n_inputs != reading.n_inputs:
            raise ValueError(f"the networks of a reader must have {reading.n_inputs} inputs")
        if network.n_outputs != networks[0].n_outputs:
            raise ValueError("the networks of a reader must have the same outputs")
    return Reader(reading, networks, share)


register_codec("Reader", Reader, _encode, _decode)
register_codec(
    "NetworkReader", NetworkReader, BaseEstimator.get_params, lambda fields: NetworkReader(**fields)
)
