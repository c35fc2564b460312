"""Readers of a branching cascade: networks that answer together with its boosters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from farthing.boosting.booster import Floats
from farthing.cascades.network import MOST_UNITS, Network
from farthing.cascades.reading import MOST_LEVELS, Reading
from farthing.cascades.school import AllBranches, Lessons, OneBranch, School, Ward
from farthing.store import register_codec
from farthing.table import Schema


@dataclass(frozen=True, eq=False)
class Part:
    """Networks that read alike, and whose scores are averaged.

    Attributes
    ----------
    reading : Reading
        What they read, and how.
    networks : list of Network
        Each gives one score a class.
    """

    reading: Reading
    networks: list[Network]

    def scores(self, values: NDArray[np.floating], known: NDArray[np.bool_]) -> Floats:
        """Return the mean scores of rows of which some entries are known, shape (n_rows, n_classes)."""
        inputs = self.reading.inputs(values, known)
        return np.asarray(sum(network.outputs(inputs) for network in self.networks)) / len(self.networks)


@dataclass(frozen=True, eq=False)
class Reader:
    """Networks whose scores are mixed with those of the boosters.

    Attributes
    ----------
    parts : list of Part
        One for all branches, or one for each.
    share : float
        Their part of the answer, 0 to 1, that of the boosters is the rest.
    """

    parts: list[Part]
    share: float

    def mixed(
        self,
        outputs: Floats,
        values: NDArray[np.floating],
        known: NDArray[np.bool_],
        branch_of: NDArray[np.int64],
    ) -> Floats:
        """Return the scores of boosters mixed with those of the networks: log probabilities are averaged.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            Of the boosters: a score for each class, or the log-odds of the second of two.
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        known : ndarray of bool, shape (n_rows, n_features)
            What is known of each row.
        branch_of : ndarray of int64, shape (n_rows,)
            The branch of each row.
        """
        reads = np.zeros(len(values), dtype=np.int64) if len(self.parts) == 1 else branch_of
        made = np.array(outputs)
        for number in np.unique(reads).tolist():
            rows = np.flatnonzero(reads == number)
            scores = self.parts[number].scores(values[rows], known[rows])
            if outputs.shape[1] == 1:
                scores = scores[:, 1:] - scores[:, :1]
            made[rows] = (1 - self.share) * outputs[rows] + self.share * scores
        return made


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
    by_branch : bool
        Whether each branch has networks of its own. These are taught by the rows nearest to the branch, as if
        it had bought for all of them; ``outside`` is the part of a step that are not its own.
    learn_rows : int, optional
        The nearest rows that teach the networks of a branch; None is all.
    n_levels : int
        Inputs of a number. One is the number itself, standardised. More are levels of it, evenly spread over
        its different values: what a number means may then change from level to level, as with trees.
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
        by_branch: bool = False,
        learn_rows: int | None = None,
        n_levels: int = 1,
    ) -> None:
        self.share = share
        self.n_units = n_units
        self.n_steps = n_steps
        self.learning_rate = learning_rate
        self.dropout = dropout
        self.outside = outside
        self.n_networks = n_networks
        self.by_branch = by_branch
        self.learn_rows = learn_rows
        self.n_levels = n_levels

    def check(self) -> None:
        """Raise ValueError if a parameter is none."""
        bounds = {"n_units": MOST_UNITS, "n_steps": np.inf, "n_networks": np.inf, "n_levels": MOST_LEVELS}
        if self.learn_rows is not None:
            bounds["learn_rows"] = np.inf
        for name, most in bounds.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
                raise ValueError(f"{name} must be an integer from 1 to {most}; got {value!r}")
        if not isinstance(self.by_branch, bool | np.bool_):
            raise ValueError(f"by_branch must be True or False; got {self.by_branch!r}")  # noqa: TRY004 - as others
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1; got {self.share!r}")
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be above 0; got {self.learning_rate!r}")
        if not 0 <= self.outside <= 1:
            raise ValueError(f"outside must lie between 0 and 1; got {self.outside!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be at least 0 and below 1; got {self.dropout!r}")

    def learn(
        self, ward: Ward, schema: Schema, nearest: Callable[[int], NDArray[np.int64]], seed: int
    ) -> Reader:
        """Teach all networks.

        Parameters
        ----------
        ward : Ward
            Rows, and what branches buy.
        schema : Schema
            Of the table.
        nearest : callable
            A branch to all rows, the nearest to it first.
        seed : int
            For all lots.
        """
        lessons: list[Lessons] = []
        anything = np.asarray(ward.bought.any(axis=0))
        if self.by_branch:
            for branch, bought in enumerate(ward.bought):
                reading = self._reading(ward, schema, bought if bought.any() else anything)
                lessons.append(OneBranch(ward, reading, branch, nearest(branch)[: self.learn_rows]))
        else:
            lessons.append(AllBranches(ward, self._reading(ward, schema, anything)))
        parts = []
        for number, one in enumerate(lessons):
            seeds = [seed + number * self.n_networks + network for network in range(self.n_networks)]
            parts.append(Part(one.reading, [self._network(one, own) for own in seeds]))
        return Reader(parts, float(self.share))

    def _reading(self, ward: Ward, schema: Schema, columns: NDArray[np.bool_]) -> Reading:
        return Reading.learn(ward.values, ward.weights, schema, np.flatnonzero(columns), self.n_levels)

    def _network(self, lessons: Lessons, seed: int) -> Network:
        school = School(lessons, self, seed)
        school.go_on(self.n_steps)
        return school.learner.network()


def _encode(reader: Reader) -> dict[str, object]:
    parts = [{"reading": part.reading, "networks": list(part.networks)} for part in reader.parts]
    return {"parts": parts, "share": reader.share}


def _decode(fields: dict[str, Any]) -> Reader:
    parts, share = fields["parts"], fields["share"]
    if not isinstance(share, float) or not 0 <= share <= 1:
        raise ValueError("a reader has a share between 0 and 1")
    if not isinstance(parts, list) or not parts:
        raise ValueError("a reader has parts")
    made = [_decode_part(part) for part in parts]
    if len({part.networks[0].n_outputs for part in made}) > 1:
        raise ValueError("the networks of a reader must have the same outputs")
    return Reader(made, share)


def _decode_part(fields: Any) -> Part:
    if not isinstance(fields, dict) or set(fields) != {"reading", "networks"}:
        raise ValueError("a part of a reader has a reading and networks")
    reading, networks = fields["reading"], fields["networks"]
    if not isinstance(reading, Reading) or not isinstance(networks, list) or not networks:
        raise ValueError("a part of a reader has a reading and networks")
    for network in networks:
        if not isinstance(network, Network) or network.n_inputs != reading.n_inputs:
            raise ValueError(f"the networks of a reader must have {reading.n_inputs} inputs")
        if network.n_outputs != networks[0].n_outputs:
            raise ValueError("the networks of a reader must have the same outputs")
    return Part(reading, networks)


register_codec("Reader", Reader, _encode, _decode)
register_codec(
    "NetworkReader", NetworkReader, BaseEstimator.get_params, lambda fields: NetworkReader(**fields)
)
