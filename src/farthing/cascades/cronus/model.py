"""Fitted cascades: a tree of scores without lower children, read out by the stage where a row leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, RegressorModel
from farthing.cascades.cronus.objective import Stage
from farthing.cascades.score_tree import ScoreTree, ScoreTreeModel
from farthing.cascades.score_tree.tree import NO_CHILD
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.learning.terms import Terms
from farthing.typing import Floats
from farthing.walks.plans import Link, Readout


def as_chain(stages: list[Stage], terms: Terms) -> ScoreTree:
    """Return the cascade as a tree of scores: a row goes on to the upper child, or ends."""
    n_stages = len(stages)
    following = [*range(1, n_stages), NO_CHILD]
    return ScoreTree.of(
        terms=terms,
        coef=np.array([stage.coef[:, np.newaxis] for stage in stages]),
        intercept=np.array([[stage.intercept] for stage in stages]),
        direction=np.ones((n_stages, 1)),
        threshold=np.array([stage.threshold for stage in stages]),
        children=np.array([[NO_CHILD, stage] for stage in following], dtype=np.int64),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class CronusModel(ScoreTreeModel):
    """A cascade of linear scores."""

    def check(self) -> None:
        """Raise ValueError if the tree is not a cascade."""
        super().check()
        n_stages = len(self.tree.children)
        chain = np.array([[NO_CHILD, stage] for stage in [*range(1, n_stages), NO_CHILD]])
        if len(self.trees) != 1 or not np.array_equal(self.tree.children, chain):
            raise ValueError("the stages of a cascade must follow each other")


@dataclass(frozen=True, eq=False, kw_only=True)
class CronusClassifierModel(CronusModel, ClassifierModel):
    """A cascade that rejects rows as the first class, stage by stage.

    Parameters
    ----------
    slope : float
        Factor of the score in the log-odds of the second class.
    offsets : ndarray of float64, shape (n_stages,)
        What the log-odds are for a score of 0, for rows that end at each stage.
    """

    slope: float
    offsets: Floats

    def read_out(self, node: int, scores: Floats) -> Floats:
        """Return the log-odds of the second class, for rejected rows at most 0, shape (n_rows, 1)."""
        odds = self.slope * scores + self.offsets[node]
        if node == len(self.offsets) - 1:
            return np.asarray(odds)
        # A row that leaves before the last stage is rejected, and one that goes on is read out again.
        return np.asarray(np.minimum(odds, 0.0))

    def readout_of(self, node: int) -> Readout:
        """Return `read_out` as data."""
        most = np.inf if node == len(self.offsets) - 1 else 0.0
        return Readout(slope=self.slope, offset=float(self.offsets[node]), most=most)

    def link_steps(self) -> Link:
        """Return the step to probabilities."""
        return probability_steps(len(self.classes))

    def conclude(self, outputs: Floats) -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs, len(self.classes))

    def check(self) -> None:
        """Raise ValueError if the log-odds do not fit the stages."""
        super().check()
        offsets = self.offsets
        if offsets.dtype != np.float64 or offsets.shape != self.tree.threshold.shape:
            raise ValueError("offsets must be floats, one for each stage")
        if not (np.isfinite(offsets).all() and 0 <= self.slope < np.inf):
            raise ValueError("the log-odds must be finite, and not fall with the score")
        self.check_probabilities()


@dataclass(frozen=True, eq=False, kw_only=True)
class CronusRankerModel(CronusModel, RegressorModel):
    """A cascade that ranks rows by the stage at which they leave, then by their score there.

    Parameters
    ----------
    scale, shift : float
        From places in this order to predictions: a factor above 0, and what is added.
    """

    scale: float
    shift: float

    def read_out(self, node: int, scores: Floats) -> Floats:
        """Return the predictions of rows that leave at a stage, shape (n_rows, 1)."""
        return np.asarray(self.scale * rank_places(node, scores) + self.shift)

    def readout_of(self, node: int) -> Readout:
        """Return `read_out` as data."""
        return Readout(slope=self.scale, offset=self.shift, ranks=float(node))

    def check(self) -> None:
        """Raise ValueError if the predictions do not keep the order."""
        super().check()
        if not (0 < self.scale < np.inf and np.isfinite(self.shift)):
            raise ValueError("scale must be above 0, and both scale and shift finite")


def rank_places(stage: int | NDArray[np.int64], scores: Floats) -> Floats:
    """Return the number of stages passed plus the score, squeezed between 0 and 1.

    Examples
    --------
    >>> rank_places(2, np.array([-1.0, 0.0, 3.0]))
    array([2.25 , 2.5  , 2.875])
    """
    return np.asarray(stage + (1 + scores / (1 + np.abs(scores))) / 2)
