r"""Free-rider votes: an unbiased estimate of the full vote, at whatever time a budget ends the purchases.

Learners that read the same columns form a *unit*. A row draws units without replacement and buys their
columns. Once these are bought, every learner on them votes for free: those of the unit, and those of any unit
whose columns are a part of them. Their votes are weighted so that the estimate is unbiased.

**The estimate.** Let v_t be the vote of learner t times its alpha, and m_t its mean over the training rows.
Let s be what the row owns and has spent, before a draw; R(s) the sum of v_t - m_t over the *open* learners:
those that have not voted and that may still be drawn. Unit u is drawn with probability q_u, and buying it
leads to a state s_u, where the open learners are those of s that u does not complete and that the budget
still covers after u. The estimate is defined from the last draw to the first::

    r(s) = sum over the learners t that u completes of  b_t (v_t - m_t)  +  g r(s_u),

    b_t = (1 - g l_t) / p_t,

where p_t is the sum of q_w over the units w that complete t: the probability that this draw includes t, given
what came before; l_t is the sum of q_w over those that do not complete t and after which t is still open; and
g is any number that depends on s alone.

**It is unbiased**: E r(s) = R(s) for every row, over the draws. By induction from the states in which nothing
is open, where both are zero: E r(s_u) = R(s_u), so the coefficient of v_t - m_t in E r(s) is p_t b_t + g l_t,
which is 1 by the definition of b_t. The output is the sum of all m_t plus r(start). Nothing is assumed about
the number of draws, which depends on what was drawn: b_t also makes up for the draws after which t can no
longer be bought. What u leads to is judged by its full price, so q, g, p and l are known before any column of
u is. If every unit fits after every other, this is a weighting of the ordered estimates of Des Raj (1956).

So the output has the expectation of the full vote if the budget covers each learner by itself. A learner that
it does not cover even from the start counts with its mean vote, and the expectation is the full vote with
these votes in place of those that cannot be bought.

**What keeps the variance low.** None of this matters for the expectation.

- The means m_t: this is the difference estimator of survey sampling. A learner that nearly always votes the
  same adds little.
- q_u is in proportion to spread / sqrt(price): Neyman's allocation under a cost constraint. The spread of a
  unit is the standard deviation of its vote over the training rows, at least 5 % of its alphas; the price is
  what the row would pay now, so a paid group makes its other columns likely.
- The draws of a row give uncorrelated estimates of its vote, and g weighs them by their precision:
  g = n S / (S_left + n S), where S is the sum of the spreads of the open units, S_left what will not be
  bought of it in the end, and n the number of further draws, both by mean prices. With equal spreads and
  prices this is simple random sampling: n of N units, and each weight is N / n.
- A unit whose expected number of draws is at least one is bought without a draw, so that r(s) is its votes
  plus r(s_u), as long as all other open units can still be bought after it: a take-all stratum.
- Votes that cost nothing more are added in the same way, and so are all once all open units are affordable.

**Values that are not there.** A missing value is paid for, and the learner votes with it. A refused column
costs nothing, and its learners vote without it: the estimate is unbiased for the full vote of a row that
refuses these columns, unless it obtained nothing at all, when the output is the prior. Learners read their
columns one by one, so a tree whose path avoids a column does not buy it; the estimate stays unbiased, since
what was bought is a part of s. A walk that somebody ends before its last question has no unbiased output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.costs.common_unit import in_unit, unit_of
from farthing.learning.voting.votes import LinearVotes, TreeVotes

# A learner and its weight.
Voter: TypeAlias = tuple[int, float]
# From the scores of the open units to the one that is drawn.
Choose: TypeAlias = Callable[[Sequence[float]], int]

# The least spread of a unit, in parts of its alphas: a vote that was constant in training may vary later.
_LEAST_SPREAD: Final = 0.05
# Half of the slack of a budget (`spending_limit`): purchases are later added up in another order.
_HALF_SLACK: Final = 1 + 5e-13
# Rows whose votes are held at one time.
_BLOCK: Final = 1024


def units_of(columns: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the learners of each distinct set of columns but the empty one, in the order of the learners.

    Examples
    --------
    >>> units_of([(0,), (), (0, 2), (0,)])
    ((0, 3), (2,))
    """
    found: dict[tuple[int, ...], list[int]] = {}
    for learner, own in enumerate(columns):
        if own:
            found.setdefault(own, []).append(learner)
    return tuple(tuple(learners) for learners in found.values())


def vote_moments(
    votes: TreeVotes | LinearVotes,
    values: NDArray[np.floating],
    weights: NDArray[np.float64],
    n_threads: int = 1,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what is known of the votes before any column is read.

    Parameters
    ----------
    votes : TreeVotes or LinearVotes
        The learners.
    values : ndarray, shape (n_rows, n_features)
        The encoded training rows.
    weights : ndarray of float64, shape (n_rows,)
        Their weights.
    n_threads : int
        Threads to use.

    Returns
    -------
    means : ndarray of float64, shape (n_learners,) or (n_learners, n_classes)
        The mean vote of each learner.
    spreads : ndarray of float64, shape (n_units,)
        The standard deviation of the weighted vote of each unit, at least 5 % of its alphas. On more than two
        classes, the root of the sum of the variances.
    """
    units = units_of(votes.columns())
    member = np.zeros((len(votes.alphas), len(units)))
    for place, learners in enumerate(units):
        member[list(learners), place] = votes.alphas[list(learners)]
    blocks = [slice(start, start + _BLOCK) for start in range(0, len(values), _BLOCK)]
    total = weights.sum()
    means = (
        sum(np.tensordot(weights[block], votes.table(values[block], n_threads), 1) for block in blocks)
        / total
    )
    squares = np.zeros(len(units))
    for block in blocks:
        # Shape (n_rows, n_units), or (n_rows, n_classes, n_units).
        centred = (votes.table(values[block], n_threads) - means).swapaxes(1, -1) @ member
        squares += np.atleast_2d(np.tensordot(weights[block], centred**2, 1)).sum(axis=0)
    return np.asarray(means), np.maximum(np.sqrt(squares / total), _LEAST_SPREAD * member.sum(axis=0))


@dataclass(frozen=True, eq=False)
class VoteUnits:
    """The units of a vote.

    Attributes
    ----------
    columns : tuple of tuples of int
        The columns of each unit, ascending.
    learners : tuple of tuples of int
        The learners of each unit, ascending.
    constants : tuple of int
        The learners that need no column.
    spreads : ndarray of float64, shape (n_units,)
        See `vote_moments`.
    means : ndarray of float64, shape (n_learners,) or (n_learners, n_classes)
        The mean vote of each learner times its alpha, on the grid of the plan.
    price_exponent : int
        Scores take prices in units of this power of two, so that scaling all of them changes no bit.
    additive : bool
        Whether each unit is one column without a group, so that the prices of units add up.
    """

    columns: tuple[tuple[int, ...], ...]
    learners: tuple[tuple[int, ...], ...]
    constants: tuple[int, ...]
    spreads: NDArray[np.float64]
    means: NDArray[np.float64]
    price_exponent: int
    additive: bool

    @property
    def mean_total(self) -> Any:
        """The sum of the mean votes: a number, or one for each of several classes."""
        return self.means.sum(axis=0)  # exact, on the grid

    @classmethod
    def make(
        cls,
        columns: tuple[tuple[int, ...], ...],
        sheet: CostSheet,
        means: NDArray[np.float64],
        spreads: NDArray[np.float64],
    ) -> VoteUnits:
        """Make the units of learners that read these columns."""
        learners = units_of(columns)
        return cls(
            columns=tuple(columns[members[0]] for members in learners),
            learners=learners,
            constants=tuple(learner for learner, own in enumerate(columns) if not own),
            spreads=spreads,
            means=means,
            price_exponent=unit_of(np.append(sheet.own, sheet.shared)),
            additive=all(len(own) < 2 and (sheet.group_of[list(own)] < 0).all() for own in columns),
        )


class FreeRiderDraws:
    """The draws of one row: which learners vote next, and with what weight.

    Parameters
    ----------
    units : VoteUnits
        The units of the vote.
    max_draws : int
        Maximum number of draws.
    takes_all : bool
        Whether all open learners vote as soon as the budget covers them, and take-all units are bought first.

    Attributes
    ----------
    draws : int
        Units drawn or taken so far.
    """

    def __init__(self, units: VoteUnits, max_draws: int, takes_all: bool) -> None:
        self._units = units
        self._max_draws = max_draws
        self._takes_all = takes_all
        self._open: list[int] | None = None
        self._share = 1.0  # the product of the g of the draws so far
        self.draws = 0

    def next(self, ledger: RowLedger, refused: set[int], choose: Choose) -> list[Voter] | None:
        """Return the learners that vote next; None at the end.

        Parameters
        ----------
        ledger : RowLedger
            What the row owns and may spend, after the learners of the last call have voted.
        refused : set of int
            The columns that were asked for and not obtained.
        choose : callable
            Draws one of the open units: from their scores, which are in proportion to the q, to its place
            among them.
        """
        units = self._units
        if self._open is None:
            obtainable = [[column for column in own if column not in refused] for own in units.columns]
            self._open = [unit for unit, own in enumerate(obtainable) if ledger.affords_all(own)]
            if units.constants:
                return [(learner, 1.0) for learner in units.constants]
        if not self._open:
            return None
        state = _State(units, self._open, ledger, refused)
        if (free := [i for i, price in enumerate(state.prices) if price <= 0]) or (
            self._takes_all and ledger.affords_all(frozenset().union(*state.lacks))
        ):
            chosen = free or list(range(len(self._open)))
            self._open = [unit for i, unit in enumerate(state.open) if i not in set(chosen)]
            return [voter for i in chosen for voter in state.voters(i, self._share)]
        drawn = self._take_certain(state) or self._take_drawn(state, choose)
        self.draws += 1
        return drawn

    def _take_certain(self, state: _State) -> list[Voter] | None:
        """Buy a unit whose expected number of draws is at least one, if all others can still be bought."""
        best = state.scores.index(max(state.scores))
        if (
            not self._takes_all
            or self._max_draws - self.draws < 2
            or state.left * state.scores[best] < state.worth
        ):
            return None
        others = [i for i in range(len(state.open)) if not state.completes(best, i)]
        if not all(state.covers(best, i) for i in others):
            return None
        completed = [i for i in range(len(state.open)) if state.completes(best, i)]
        self._open = [state.open[i] for i in others]
        return [voter for i in completed for voter in state.voters(i, self._share)]

    def _take_drawn(self, state: _State, choose: Choose) -> list[Voter]:
        """Draw a unit."""
        drawn = choose(state.scores)
        draws_left = self._max_draws - self.draws - 1
        deferred = state.deferred(draws_left)
        voters: list[Voter] = []
        still_open = []
        for i, unit in enumerate(state.open):
            if state.completes(drawn, i):
                chance = later = 0.0
                for other, score in enumerate(state.scores):
                    if state.completes(other, i):
                        chance += score
                    elif draws_left and state.covers(other, i):
                        later += score
                voters += state.voters(i, self._share * ((state.total - deferred * later) / chance))
            elif draws_left and state.covers(drawn, i):
                still_open.append(unit)
        self._share *= deferred
        self._open = still_open
        return voters


class _State:
    """The open units of a row before a draw, with their prices and scores."""

    def __init__(self, units: VoteUnits, open_units: list[int], ledger: RowLedger, refused: set[int]) -> None:
        self._units = units
        self._ledger = ledger
        self.open = open_units
        owned = ledger.owned
        #: The columns that each unit lacks.
        self.lacks = [
            frozenset(column for column in units.columns[unit] if not owned[column] and column not in refused)
            for unit in open_units
        ]
        self.prices = [ledger.price_all(columns) for columns in self.lacks]
        self._spreads = [float(units.spreads[unit]) for unit in open_units]
        in_units = in_unit(np.array(self.prices), units.price_exponent).tolist()
        #: In proportion to the probabilities of the draw.
        self.scores = [
            spread / math.sqrt(price) if price > 0 else math.inf
            for spread, price in zip(self._spreads, in_units, strict=True)
        ]
        # Added one by one, as the compiled draws do.
        self.total = self.worth = self._spread = self._drawn_spread = self._cost = 0.0
        for score, price, spread in zip(self.scores, self.prices, self._spreads, strict=True):
            self.total += score
            self.worth += score * price
            self._spread += spread
            self._drawn_spread += score * spread
            self._cost += price

    @property
    def left(self) -> float:
        """What is left of the budget."""
        return math.inf if self._ledger.budget is None else self._ledger.budget - self._ledger.spent

    def completes(self, unit: int, other: int) -> bool:
        """Return whether the purchase of a unit lets all learners of the other one vote."""
        return self.lacks[other] <= self.lacks[unit]

    def covers(self, unit: int, other: int) -> bool:
        """Return whether the budget covers the other unit after the purchase of a unit."""
        ledger = self._ledger
        if ledger.budget is None:
            return True
        limit = ledger.budget * _HALF_SLACK
        # The price of both is at most the sum of the two, and equal to it for additive units.
        if ledger.spent + (self.prices[unit] + self.prices[other]) <= limit:
            return True
        if self._units.additive:
            return False
        return ledger.spent + ledger.price_all(self.lacks[unit] | self.lacks[other]) <= limit

    def deferred(self, draws_left: int) -> float:
        """Return g, the weight of what is estimated after this draw: above 0, at most 1."""
        others = len(self.open) - 1
        if not others:
            return 1.0
        price = self.worth / self.total
        rest = self._cost - price
        part = min(max((self.left - price) / rest, 0.0), 1.0) if rest > 0 else 1.0
        more = min(part * others, float(draws_left))
        part = more / others
        more = max(more, 1.0)
        spread = self._spread
        return more * spread / ((spread - self._drawn_spread / self.total) * (1.0 - part) + more * spread)

    def voters(self, unit: int, weight: float) -> list[Voter]:
        """Return the learners of a unit with a weight."""
        return [(learner, weight) for learner in self._units.learners[self.open[unit]]]
