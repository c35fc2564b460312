"""The rounds of AdaBoost: weak learners chosen one after another by their edges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import Booster, ClassBooster
from farthing.deadline import check_deadline
from farthing.learning.voting.tree_vote_model import GRID, MOST
from farthing.table import Bins
from farthing.trees import Forest, Predictor
from farthing.trees.node_arrays import MISSING_STAY

# Rounds between two looks at the clock.
_BLOCK: Final = 32


@dataclass(frozen=True, slots=True)
class Learner:
    """A weak learner and its votes on the training rows.

    Attributes
    ----------
    tree : Forest
        One tree, leaves of -1 and +1, other nodes 0.
    votes : ndarray of int8, shape (n_rows * n_outputs,)
        The votes of each row's leaf, row by row.
    """

    tree: Forest
    votes: NDArray[np.int8]


Choice: TypeAlias = Callable[[NDArray[np.float64]], int | Learner | None]
"""From the edges of all candidates to the index of the one to take, or to a learner of its own; None stops.

Index 0 is the constant vote, index j + 1 the best stump of column j; an edge of 0 is no candidate.
"""


class StumpRounds:
    """AdaBoost on one table, one learner per round.

    A stump splits one column in two and votes +1 on one side and -1 on the other: a number against a
    threshold between two bins, a category against a set of categories. Its edge is the sum over the rows of
    weight times label times vote, where the weights sum to 1. The search for the largest edge of each column
    is exact, over all thresholds, all sets and both signs; the sums are of integers, so any number of threads
    gives the same bits.

    With several outputs this is AdaBoost.MH (Schapire and Singer 1999): labels and weights are those of pairs
    of a row and a class, and each side of a stump votes +1 or -1 on every class. The edge is the sum over the
    pairs. The search over thresholds is exact, that over sets of categories finds a local optimum; missing
    values go to the side that gives the larger edge.

    Missing values are a third group, which votes by the sign of its own sum: it goes to the side with that
    vote (to the right if the sum is zero). If no training row was missing, a missing value goes where a
    refused one would, see `farthing.trees.Predictor.refused_ways`: over the rounds, its votes add up to
    nearly what the feature votes on average.

    Parameters
    ----------
    bins : Bins
        The table.
    labels : ndarray of int8, shape (n_rows,) or (n_rows, n_outputs)
        -1 or +1; see `farthing.learning.voting.vote_targets`.
    weights : ndarray of float64, of the same shape
        Weights of the labels, above zero.
    n_threads : int
        Threads to use.

    Attributes
    ----------
    alphas, edges : list of float
        The voting weight and the edge of each learner so far.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    >>> rounds = StumpRounds(Bins(X, Schema.learn(X)), np.array([1, -1, 1, 1], dtype=np.int8), np.ones(4))
    >>> rounds.candidates()
    array([0.5, 0.5, 0. ])
    >>> rounds.run(lambda edges: 1, n_rounds=1)
    >>> rounds.edges
    [0.5]
    >>> rounds.forest().value.ravel()
    array([ 0., -1.,  1.])
    """

    def __init__(
        self, bins: Bins, labels: NDArray[np.int8], weights: NDArray[np.float64], n_threads: int = 1
    ) -> None:
        self.alphas: list[float] = []
        self.edges: list[float] = []
        #: Votes per leaf: 1, or one for each class.
        self.n_outputs = 1 if labels.ndim == 1 else labels.shape[1]
        self._bins = bins
        self._learners: list[Learner] = []
        self._core: Booster | ClassBooster
        if labels.ndim == 1:
            self._core = Booster(bins.core, labels, weights, weights, n_threads, 1)
        else:
            # The weight of a row, which its cases share; see `vote_targets`.
            covers = weights.sum(axis=1)
            self._core = ClassBooster(
                bins.core, labels.ravel(), weights.ravel(), covers, n_threads, self.n_outputs
            )

    def candidates(self) -> NDArray[np.float64]:
        """Return the edges of the constant vote and of the best stump of each column; see `Choice`."""
        return self._core.edges()

    def learner(self, place: int) -> Learner:
        """Return a candidate: the constant vote, or the best stump of a column; see `Choice`."""
        learned: tuple[Any, NDArray[np.int8]] = self._core.learner(place, 1)
        fields, votes = learned
        return Learner(Forest.from_core(fields, self._bins.n_features, self._bins.category_widths), votes)

    def edge(self, votes: NDArray[np.int8]) -> float:
        """Return the edge of a learner with these votes, shape (n_rows * n_outputs,)."""
        return self._core.edge(votes)

    def distribution(self) -> NDArray[np.float64]:
        """Return the current weights times the labels, which sum to 1 without their signs.

        Returns
        -------
        ndarray of float64, shape (n_rows * n_outputs,)
        """
        return self._core.distribution()

    def run(self, choose: Choice, *, n_rounds: int, intercept: bool = True, max_depth: int = 1) -> None:
        """Add learners until a limit is reached, one makes no error, or none has an edge.

        A learner gets the voting weight alpha = 1/2 ln((1 + edge) / (1 - edge)), and the distribution becomes
        D exp(-alpha y h) / Z. (Huang et al. print the exponent with the other sign, which would make easy
        rows heavier.)

        Parameters
        ----------
        choose : callable
            See `Choice`; in all rounds an index, or in all rounds a learner.
        n_rounds : int
            Maximum number of rounds.
        intercept : bool
            Whether the constant vote is a candidate.
        max_depth : int
            Maximum number of tests on a path of a learner. Below its root, a node takes the best stump of
            all columns if that raises the edge of the tree.
        """
        perfect, room = False, self._room()
        while not perfect and len(self.edges) < n_rounds and room > 0:
            check_deadline()
            edges = self.candidates()
            edges[edges <= GRID] = 0.0  # their voting weight would be 0 on the grid
            if not intercept:
                edges[0] = 0.0
            chosen = choose(edges) if edges.any() else None
            if chosen is None:
                break
            if isinstance(chosen, Learner):
                self._learners.append(chosen)
                edge, alpha, perfect = self._core.add(chosen.votes)
            else:
                edge, alpha, perfect = self._core.take(chosen, max_depth)
            self.edges.append(edge)
            self.alphas.append(alpha)
            room -= alpha

    def boost(self, *, n_rounds: int, intercept: bool = True, max_depth: int = 1) -> None:
        """Add the learner of the largest edge, round by round, as `run` does with a choice by ``argmax``.

        Parameters
        ----------
        n_rounds, intercept, max_depth
            As in `run`.
        """
        perfect, room = False, self._room()
        while not perfect and len(self.edges) < n_rounds and room > 0:
            check_deadline()
            asked = min(_BLOCK, n_rounds - len(self.edges))
            # An edge below the grid would have a voting weight of 0 on it.
            rounds = self._core.boost(asked, room, GRID, intercept, max_depth)
            for edge, alpha, perfect in rounds:  # noqa: B007 - that of the last round
                self.edges.append(edge)
                self.alphas.append(alpha)
                room -= alpha
            if len(rounds) < asked:
                break

    def _room(self) -> float:
        # Sums of voting weights are exact only below MOST, so their total is limited, too.
        return MOST - self._core.max_vote_weight - sum(self.alphas)

    def forest(self) -> Forest | None:
        """Return a tree for each round, leaves -1 and +1 and other nodes 0; None if there was no round."""
        if not self.edges:
            return None
        if self._learners:
            forest = Forest.concat([learner.tree for learner in self._learners])
        else:
            trees: dict[str, Any] = self._core.trees()
            forest = Forest.from_arrays(
                n_features=self._bins.n_features,
                category_widths=self._bins.category_widths,
                **trees,
            )
        weights: NDArray[np.float64] = np.repeat(self.alphas, np.diff(forest.offsets))
        ways = Predictor(forest, forest.value * weights[:, np.newaxis]).refused_ways
        return replace(forest, missing=np.where(forest.missing == MISSING_STAY, ways, forest.missing))
