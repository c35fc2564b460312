"""Sampled votes as data: see `farthing.walks.plans`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Predictor
from farthing.typing import Floats, Integers


@dataclass(frozen=True, eq=False)
class LinearLearners:
    """Learners that vote with one feature each.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_learners,)
        The feature; -1 for a constant vote.
    factor, missing : ndarray of float64, shape (n_learners,)
        The vote is the factor times the value, or ``missing``; the factor itself if it is constant.
    alphas, weights : ndarray of float64, shape (n_learners,)
        Factors of a vote that counts as it is, and of one that was drawn.
    steps : float
        Votes that count as they are, are rounded to multiples of one over this.
    """

    columns: Integers
    factor: Floats
    missing: Floats
    alphas: Floats
    weights: Floats
    steps: float


@dataclass(frozen=True, eq=False)
class TreeLearners:
    """Learners that are trees.

    Parameters
    ----------
    trees : Predictor
        The trees.
    votes : ndarray of float64, shape (n_nodes, n_outputs)
        The weighted vote of a row that ends at a node, if it counts as it is.
    drawn : ndarray of float64, shape (n_nodes, n_outputs)
        What it adds if its tree was drawn.
    """

    trees: Predictor
    votes: Floats
    drawn: Floats


@dataclass(frozen=True, eq=False)
class TopOrder:
    """Learners from the top of a list, as far as the budget affords them.

    Parameters
    ----------
    order : ndarray of int64
        The list.
    reach : ndarray of float64, shape (len(order) + 1,)
        How far the votes from each position on can move the sum.
    curtail : bool
        Whether a row stops when its label is certain.
    stops : ndarray of float64, shape (2, n_learners), or None
        The votes at which a row stops before each learner.
    """

    order: Integers
    reach: Floats
    curtail: bool
    stops: Floats | None


@dataclass(frozen=True, eq=False)
class Draws:
    """Learners drawn with replacement; see `farthing.boosting.adaboost_rs.vote_policies.SampledVotePolicy`.

    Parameters
    ----------
    cumulative : ndarray of uint64, shape (n_learners,)
        Sums of the shares by which learners are drawn.
    exact : ndarray of int64
        Learners that always vote.
    by_cost : ndarray of int64
        Learners by descending cost.
    costs : ndarray of float64, shape (n_learners,)
        Their costs.
    scale : float
        From the mean of the draws to the full vote.
    """

    cumulative: NDArray[np.uint64]
    exact: Integers
    by_cost: Integers
    costs: Floats
    scale: float


@dataclass(frozen=True, eq=False)
class UnitDraws:
    """Sets of columns drawn without replacement; see `farthing.boosting.adaboost_rs.free_rider`.

    Parameters
    ----------
    learners : tuple of tuple of int
        The learners of each unit; they read the same columns.
    constants : tuple of int
        Learners that need no column.
    spreads : ndarray of float64, shape (n_units,)
    means : ndarray of float64, shape (n_learners, n_outputs)
        Mean votes.
    start : ndarray of float64, shape (n_outputs,)
        Their sum.
    price_exponent : int
        Scores take prices in units of this power of two.
    additive : bool
        Whether the prices of units add up.
    """

    learners: tuple[tuple[int, ...], ...]
    constants: tuple[int, ...]
    spreads: Floats
    means: Floats
    start: Floats
    price_exponent: int
    additive: bool


@dataclass(frozen=True, eq=False)
class DrawnVotePlan:
    """A vote of learners that are drawn at random, or taken from the top of a list.

    Parameters
    ----------
    learners : TreeLearners or LinearLearners
    columns : tuple of tuple of int
        The columns of each learner, ascending.
    choice : TopOrder, Draws or UnitDraws
        Which learner votes next.
    max_samples : int
        Learners that are drawn, or taken, at most.
    full_vote : bool
        Whether all learners vote as soon as the budget covers all columns.
    prior : ndarray of float64, shape (n_outputs,)
        The output of a row that has neither read nor drawn.
    seed : int
        The seed of rows without one of their own.
    keys : dict of int to int
        By column, the bits of the key of draws that its purchase flips.
    """

    learners: TreeLearners | LinearLearners
    columns: tuple[tuple[int, ...], ...]
    choice: TopOrder | Draws | UnitDraws
    max_samples: int
    full_vote: bool
    prior: Floats
    seed: int
    keys: dict[int, int]

    @property
    def way(self) -> Literal["top", "draws", "units"]:
        """The name of the choice."""
        if isinstance(self.choice, TopOrder):
            return "top"
        return "draws" if isinstance(self.choice, Draws) else "units"
