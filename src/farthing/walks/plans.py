"""Policies as data: the few kinds of plan that the walks of tree methods reduce to.

A `Policy` is an object that answers for one row. A plan holds the same policy as tables, from which
`farthing.export` writes it in another language. There are six kinds::

    TreePlan      trees in order, perhaps with exits between blocks of them and a price for each block
    StationPlan   stations that buy columns, evaluate trees or linear terms, and send the row on or end it
    VotePlan      a weighted vote of two classes in a fixed order of columns, until its sign is certain
    ClassVotePlan the same for more than two classes
    DrawnVotePlan learners that are drawn at random, or taken from the top of a list, within the budget
    MessagePlan   the sum of messages, which devices with a program of their own send

After trees or stations a `Handover` may send the row to a model outside the walk.

A method gives its plan in `farthing.base.FittedModel.plan`, and what becomes of the raw output as steps of a
link in ``link_steps``. Nothing else of a method is needed to export it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Predictor
from farthing.typing import Floats, Integers
from farthing.walks.drawn_votes import DrawnVotePlan

StepName: TypeAlias = Literal[
    "first", "take", "rest", "divide", "times", "sigmoid", "second", "softmax", "normalise", "exponential",
    "one", "temper", "mean_grade", "single_sigmoid", "single_softmax", "single_exponential",
]  # fmt: skip


@dataclass(frozen=True, eq=False)
class LinkStep:
    """A step from raw outputs to probabilities or a value.

    Parameters
    ----------
    name : str
        "first" and "take": the first one or the first ``number`` outputs; "rest": all but the first.
        "divide", "times": all of them, by ``number``. "sigmoid": one log-odds to two probabilities; "second"
        is the second of them. "softmax", "normalise", "exponential" as in `farthing.base.links`. "one": a
        single class is certain. "temper":
        probabilities to the power of one over ``number``. "mean_grade": the mean of ``grades``. Steps that
        begin with "single" round to float32, as XGBoost does.
    number : float
        What a step takes.
    grades : tuple of float
        Of "mean_grade".
    """

    name: StepName
    number: float = 1.0
    grades: tuple[float, ...] = ()


Link: TypeAlias = tuple[LinkStep, ...]


@dataclass(frozen=True, eq=False)
class Interval:
    """End where the first output is at most ``low`` or at least ``high``."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Gate:
    """End where the last output is at most the threshold."""

    threshold: float


@dataclass(frozen=True, eq=False)
class Risk:
    """End by the probabilities that a link makes of the outputs.

    Parameters
    ----------
    link : tuple of LinkStep
        From outputs to probabilities.
    threshold : float
        Compared with the risk, 1 minus the largest probability or the least expected cost: end if it is at
        most this; or, with ``certainty``, end if 1 minus the risk, as a share of ``scale``, is above it.
    error_costs : ndarray of float64, shape (n_classes, n_classes), or None
        What errors cost, true by predicted class.
    certainty : bool
        See ``threshold``.
    scale : float
        See ``threshold``.
    """

    link: Link
    threshold: float
    error_costs: Floats | None = None
    certainty: bool = False
    scale: float = 1.0


Exit: TypeAlias = Interval | Gate | Risk


@dataclass(frozen=True, eq=False)
class Handover:
    """A model outside the walk, which answers for the rows that a gate sends on.

    The call of the model is the last question: its answer is a probability for each class. A row that cannot
    pay for the call, or whose call is refused, keeps the answer of the plan.

    Parameters
    ----------
    name : str
        The name of the question.
    threshold : float
        A row is sent on if the first output is above it.
    columns : tuple of int
        What the model reads, ascending: asked for before the call, if the row can pay for all of them and the
        call, which is then made unless all of them are refused. Empty if the model asks for itself.
    price : float
        What the call costs.
    """

    name: str
    threshold: float
    columns: tuple[int, ...]
    price: float


@dataclass(frozen=True, eq=False)
class TreePlan:
    """Trees in order: `farthing.walks.ForestPolicy` and `farthing.walks.PaidTrees`, with exits.

    Parameters
    ----------
    trees : Predictor
        The trees.
    ends : tuple of int
        The number of trees up to the end of each block.
    calls : tuple of int
        The place of each block's call in the cost sheet; empty if evaluations are free.
    exit : Interval, Gate, Risk or None
        Where a row ends between two blocks.
    handover : Handover or None
        What comes after the trees.
    """

    trees: Predictor
    ends: tuple[int, ...]
    calls: tuple[int, ...] = ()
    exit: Exit | None = None
    handover: Handover | None = None


@dataclass(frozen=True, eq=False)
class TreeSum:
    """The sum over trees ``begin`` to ``end`` of a predictor, to which ``intercept`` is added last."""

    trees: Predictor
    begin: int
    end: int
    intercept: Floats | None = None


@dataclass(frozen=True, eq=False)
class LinearSum:
    """Scores that are sums over standardised terms; a value that is not finite counts as 0.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_terms,)
        The column of each term.
    category : ndarray of float64, shape (n_terms,)
        The code that a term indicates; NaN for a number.
    mean, scale : ndarray of float64, shape (n_terms,)
        A term is (value - mean) / scale.
    coef : ndarray of float64, shape (n_terms, n_outputs)
        Added to ``intercept`` term by term.
    intercept : ndarray of float64, shape (n_outputs,)
    """

    columns: Integers
    category: Floats
    mean: Floats
    scale: Floats
    coef: Floats
    intercept: Floats


@dataclass(frozen=True, eq=False)
class Readout:
    """What a station makes of its scores: scores / divisor * slope + offset, at most ``most``.

    ``ranks`` squeezes a score between 0 and 1 first, and adds this number of stations passed.
    ``n_scaled`` is the number of outputs that it applies to, from the first; those after it stay.
    """

    divisor: float = 1.0
    slope: float = 1.0
    offset: float = 0.0
    most: float = np.inf
    ranks: float | None = None
    n_scaled: int = -1


@dataclass(frozen=True, eq=False)
class Station:
    """Columns to ask for, scores to evaluate when they are answered, and where the row goes then.

    Parameters
    ----------
    columns : tuple of int
        In the order of the questions; those answered before are skipped.
    scores : TreeSum or LinearSum
        Evaluated with all that the row has told so far.
    readout : Readout
        From the scores to the raw output.
    call : int or None
        The place in the cost sheet of the evaluation; None if it is free.
    exit : Interval, Gate, Risk or None
        Where the row ends here, else it goes to ``children[1]``.
    direction, threshold : ndarray of float64, shape (n_outputs,), and float
        Without an exit: a row goes to ``children[1]`` if the projection of its scores is above the threshold,
        else to ``children[0]``; None always takes ``children[1]``.
    children : tuple of int
        The next stations; -1 ends the walk.
    """

    columns: tuple[int, ...]
    scores: TreeSum | LinearSum
    readout: Readout = Readout()
    call: int | None = None
    exit: Exit | None = None
    direction: Floats | None = None
    threshold: float = 0.0
    children: tuple[int, int] = (-1, -1)


@dataclass(frozen=True, eq=False)
class StationPlan:
    """Stations that a row passes one after another.

    Parameters
    ----------
    stations : tuple of Station
        Children come after their parents.
    start : ndarray of float64, shape (n_outputs,)
        The output before the first station is evaluated.
    whole : bool
        Whether a row ends before a station that it cannot pay for as a whole.
    partial : bool
        Whether the output is that of the current station with what is known so far, not that of the last
        station that was finished.
    routes : Predictor or None
        A tree that sends a row to its first station: the first value of its nodes is the station, the others
        are the output until then. None begins at the first station.
    handover : Handover or None
        What comes after the stations.
    """

    stations: tuple[Station, ...]
    start: Floats
    whole: bool = False
    partial: bool = False
    routes: Predictor | None = None
    handover: Handover | None = None


@dataclass(frozen=True, eq=False)
class VotePlan:
    """A vote of two classes: see `farthing.learning.voting.curtailment.CurtailedPolicy`.

    Parameters
    ----------
    trees : Predictor
        The trees; their scores are votes times weights, whose sums are exact.
    order : ndarray of int64
        The columns in the order of the questions.
    low, high : ndarray of float64, shape (n_nodes,)
        Bounds of the scores at which a walk from each node can end.
    stump : ndarray of bool, shape (n_trees,)
        Whether a tree is a single test; its bounds are shared by its column.
    shared_low, shared_high : ndarray of float64, shape (n_tested,)
        Bounds of all stumps of a column, by its place in the order.
    start : tuple of float
        Bounds before the first answer.
    stops : ndarray of float64, shape (2, n_tested), or None
        Sums at which a row ends before each question.
    """

    trees: Predictor
    order: Integers
    low: Floats
    high: Floats
    stump: NDArray[np.bool_]
    shared_low: Floats
    shared_high: Floats
    start: tuple[float, float]
    stops: Floats | None = None


@dataclass(frozen=True, eq=False)
class ClassVotePlan:
    """A vote of k classes: see `farthing.learning.voting.class_curtailment.CurtailedClassPolicy`.

    Parameters
    ----------
    trees, order, stump
        As in `VotePlan`.
    weights : ndarray of float64, shape (n_trees,)
        The voting weights.
    node_lead, node_sum : ndarray of int8, shapes (n_nodes, k, k) and (n_nodes, k)
        Least leads, and least plus largest votes.
    shared_lead, shared_sum : ndarray of float64, shapes (n_tested, k, k) and (n_tested, k)
        The same of all stumps of a column.
    start : tuple of ndarray
        The same before the first answer, (k, k) and (k,).
    """

    trees: Predictor
    order: Integers
    stump: NDArray[np.bool_]
    weights: Floats
    node_lead: NDArray[np.int8]
    node_sum: NDArray[np.int8]
    shared_lead: Floats
    shared_sum: Floats
    start: tuple[Floats, Floats]


@dataclass(frozen=True, eq=False)
class DevicePlan:
    """The program of a device: it sends the scores of a local model if its gate is open.

    Parameters
    ----------
    name : str
    readings : tuple of str
        The features that it measures and reads.
    categories : tuple of tuple
        The categories of each, by code; empty for a number.
    scores : LinearSum
        The gate's score, then those of the message; columns are places in ``readings``.
    threshold : float
        The gate is open if its score is above it.
    """

    name: str
    readings: tuple[str, ...]
    categories: tuple[tuple[object, ...], ...]
    scores: LinearSum
    threshold: float


@dataclass(frozen=True, eq=False)
class MessagePlan:
    """The sum of messages of devices, which are asked in order; a silent device costs nothing.

    Parameters
    ----------
    devices : tuple of DevicePlan
        In the order of the questions.
    start : ndarray of float64, shape (n_scores,)
        The output without a message.
    """

    devices: tuple[DevicePlan, ...]
    start: Floats


Plan: TypeAlias = TreePlan | StationPlan | VotePlan | ClassVotePlan | DrawnVotePlan | MessagePlan

# Scores beyond these have a probability of 0 or 1 in doubles.
_FAR: Final = 1024.0


def first_true(holds: Callable[[float], bool], low: float = -_FAR, high: float = _FAR) -> float:
    """Return the least double between two bounds where a monotone predicate holds; infinity if none does.

    A comparison with a threshold on probabilities becomes one on scores, which needs no exponential, so that
    all languages take the same decision.

    Examples
    --------
    >>> first_true(lambda x: x >= 0.3)
    0.3
    """
    if holds(low):
        return -np.inf
    if not holds(high):
        return np.inf
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return high
        if holds(middle):
            high = middle
        else:
            low = middle


def ends_outside(ends: Callable[[Floats], NDArray[np.bool_]], middle: float = 0.0) -> Interval:
    """Return the interval of scores within which a row goes on, from which scores end.

    Parameters
    ----------
    ends : callable
        From scores (n_rows, 1) to whether rows end there. It holds far from ``middle`` and not near it, or
        never, or everywhere.
    middle : float
        A score of the highest risk.
    """

    def at(score: float) -> bool:
        return bool(ends(np.array([[score]]))[0])

    if at(middle):
        return Interval(np.inf, -np.inf)
    return Interval(
        low=-first_true(lambda score: at(-score), -middle, _FAR), high=first_true(at, middle, _FAR)
    )


def riskiest(certainty: Callable[[Floats], Floats]) -> float:
    """Return a score of the least certainty, where a function of scores (n_rows, 1) has a single valley."""
    grid = np.linspace(-40.0, 40.0, 8001)[:, np.newaxis]
    width = 0.01
    while True:
        middle = float(grid[int(np.argmin(certainty(grid))), 0])
        if width < 1e-14:
            return middle
        grid = np.linspace(middle - width, middle + width, 201)[:, np.newaxis]
        width /= 50
