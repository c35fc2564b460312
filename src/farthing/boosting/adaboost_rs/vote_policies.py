"""The policies of a sampled vote: learner by learner, column by column.

They draw and add in the same order as the compiled sampler, so that both give the same bits. A vote is a
number; on more than two classes it is an array, with the vote on each class.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import draw_index, purchase_bits, seed_key
from farthing.boosting.adaboost_rs.free_rider import FreeRiderDraws, Voter
from farthing.boosting.adaboost_rs.sampling_plan import SamplingPlan
from farthing.costs import RowLedger
from farthing.learning.random_numbers import random_bits
from farthing.learning.voting.votes import LazyVote

Vote: TypeAlias = float | NDArray[np.float64]


class VotePolicy:
    """Evaluate one learner after another; the base of the three ways to choose them.

    Parameters
    ----------
    plan : SamplingPlan
        The learners, their weights and prices.
    prior : ndarray of float64, shape (n_outputs,)
        The output of a row without a vote of its own; see `output`.
    """

    def __init__(self, plan: SamplingPlan, prior: NDArray[np.float64]) -> None:
        self._plan = plan
        self._prior = prior
        self._learner = -1
        self._vote: LazyVote | None = None
        # Columns that were answered; those of them that the row does not own were refused.
        self._heard: set[int] = set()
        self._has_read = False
        self._has_ended = False
        self.samples = 0

    def output(self) -> NDArray[np.float64]:
        """Return the vote so far, shape (n_outputs,); the prior of a row that has neither read nor drawn.

        A row that was refused all that it drew has the prior, too. One whose draws, all of them, needed no
        column counts them: they are as much a part of the estimate as any others.
        """
        drew_constants = self._has_ended and self._draws > 0 and not self._heard
        if not (self._has_read or drew_constants):
            return self._prior.copy()
        # A vote may still be the number zero, before the first learner has voted.
        return np.array(np.broadcast_to(self._total(), self._prior.shape))

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column that the current learner needs; move on to the next learner when it has voted."""
        if self._heard and not self._has_read:
            self._has_read = bool(ledger.owned[list(self._heard)].any())
        column = self._wanted(ledger)
        self._has_ended = column is None
        return column

    def _wanted(self, ledger: RowLedger) -> int | None:
        while True:
            if self._vote is not None:
                column = self._vote.wants()
                if column is not None:
                    return column
                vote, self._vote = self._vote.value(), None
                self._count(self._learner, vote)
            learner = self._next(ledger)
            if learner is None:
                return None
            self._learner, self._vote = learner, self._plan.votes.lazy_vote(learner)

    def hear(self, column: int, value: float) -> None:
        """Pass the value on to the current learner."""
        self._heard.add(column)
        if self._vote is not None:
            self._vote.hear(value)

    def refuse(self, column: int) -> None:
        """Have the current learner vote without the column."""
        self._heard.add(column)
        if self._vote is not None:
            self._vote.refuse()

    @property
    def _draws(self) -> int:
        """Learners drawn at random so far."""
        raise NotImplementedError

    def _total(self) -> Vote:
        """Return the vote so far."""
        raise NotImplementedError

    def _next(self, ledger: RowLedger) -> int | None:
        """Return the learner to evaluate next, None at the end."""
        raise NotImplementedError

    def _count(self, learner: int, vote: Vote) -> None:
        """Add the vote of a learner."""
        raise NotImplementedError

    def _obtainable(self, columns: Iterable[int], ledger: RowLedger) -> list[int]:
        """Return the columns without those that were refused."""
        owned = ledger.owned
        return [column for column in columns if owned[column] or column not in self._heard]


class SampledVotePolicy(VotePolicy):
    """Draw learners at random; algorithms 2 and 3 of Reyzin (2011).

    With "cost" sampling, learners that cost nothing vote first, exactly. If all remaining columns are
    affordable, all learners vote. Otherwise draws continue while the budget covers the largest unpaid price
    of any learner.

    Parameters
    ----------
    plan : SamplingPlan
        Shares, weights and prices.
    prior : ndarray of float64, shape (n_outputs,)
        See `VotePolicy`.
    seed : int
        The row's seed.
    """

    def __init__(self, plan: SamplingPlan, prior: NDArray[np.float64], seed: int) -> None:
        super().__init__(plan, prior)
        self._seed_key = seed_key(seed)
        self._place = 0  # among the exact votes, or in the full vote
        self._mode = "exact"
        self._certain: Vote = 0.0
        self._sum: Vote = 0.0
        self._full: Vote = 0.0
        self._seen: tuple[int, int] | None = None  # purchases and refusals at which these hold:
        self._key = self._seed_key
        self._largest_unpaid = 0.0

    @property
    def _draws(self) -> int:
        return self.samples

    def _total(self) -> Vote:
        """Return the estimate of the full vote, or the full vote once it is complete."""
        plan = self._plan
        # A full vote that is cut short is biased towards the first learners, so the draws before it are
        # preferred.
        if self._mode == "full" and (self._place == len(plan.columns) or not self.samples):
            return self._full
        if self.samples:
            return self._certain + plan.scale * self._sum / self.samples
        return self._certain

    def _next(self, ledger: RowLedger) -> int | None:
        plan = self._plan
        if self._mode == "exact":
            if self._place < len(plan.exact):
                self._place += 1
                return int(plan.exact[self._place - 1])
            self._mode = "draw"
        if self._mode == "draw":
            if not plan.cumulative[-1]:
                return None
            # `_changed` comes first: it also renews the key and the price that the other branches read. A
            # draw is a pure function of the key and its number, so a walk can be resumed anywhere.
            if self._changed(ledger) and plan.full_vote and self._affords_all(ledger):
                self._mode, self._place = "full", 0
            # The loop condition of algorithms 2 and 3, with <= in place of <. It asks for the most expensive
            # learner, not for the one drawn: skipping those that are too expensive would bias the vote.
            elif self.samples >= plan.max_samples or ledger.spent + self._largest_unpaid > ledger.limit:
                return None
            else:
                return draw_index(plan.cumulative, self._key, self.samples)
        if self._place == len(plan.columns):
            return None
        self._place += 1
        return self._place - 1

    def _count(self, learner: int, vote: Vote) -> None:
        plan = self._plan
        if self._mode == "exact":
            self._certain = self._certain + plan.weighted(learner, vote)
        elif self._mode == "full":
            self._full = self._full + plan.weighted(learner, vote)
        else:
            self._sum = self._sum + float(plan.weights[learner]) * vote
            self.samples += 1

    def _affords_all(self, ledger: RowLedger) -> bool:
        return ledger.affords_all(self._obtainable(self._plan.relevant, ledger))

    def _changed(self, ledger: RowLedger) -> bool:
        """Return whether anything was bought or refused since the last draw; if so, renew key and price."""
        bought = np.flatnonzero(ledger.bought)
        state = len(bought), len(self._heard)
        if state == self._seen:
            return False
        self._seen = state
        self._key = draw_key(self._seed_key, bought)
        self._largest_unpaid = self._largest_unpaid_price(ledger)
        return True

    def _largest_unpaid_price(self, ledger: RowLedger) -> float:
        plan, largest = self._plan, 0.0
        for learner in plan.by_cost.tolist():
            if plan.costs[learner] <= largest:
                break  # the unpaid part is never more than the cost from an empty ledger
            largest = max(largest, ledger.price_all(self._obtainable(plan.columns[learner], ledger)))
        return largest


class FreeRiderVotePolicy(VotePolicy):
    """Draw sets of columns; all learners that have their columns vote.

    See `farthing.boosting.adaboost_rs.free_rider` for the estimate.

    Parameters
    ----------
    plan : SamplingPlan
        The units that are drawn.
    prior : ndarray of float64, shape (n_outputs,)
        See `VotePolicy`.
    seed : int
        The row's seed.
    """

    def __init__(self, plan: SamplingPlan, prior: NDArray[np.float64], seed: int) -> None:
        super().__init__(plan, prior)
        assert plan.units is not None
        self._seed_key = seed_key(seed)
        self._draw = FreeRiderDraws(plan.units, plan.max_samples, plan.full_vote)
        self._queue: deque[Voter] = deque()
        self._weight = 0.0
        self._means = plan.units.means
        self._known: Vote = 0.0
        # The mean votes of the learners that are not known exactly.
        self._unknown: Vote = plan.units.mean_total
        self._estimate: Vote = 0.0

    @property
    def _draws(self) -> int:
        return 0  # constants are not drawn

    def _total(self) -> Vote:
        """Return the votes that are known, the means of the others and their estimated difference."""
        return self._known + self._unknown + self._estimate

    def _next(self, ledger: RowLedger) -> int | None:
        while not self._queue:
            owned = ledger.owned
            refused = {column for column in self._heard if not owned[column]}
            key = draw_key(self._seed_key, np.flatnonzero(ledger.bought))
            choose = partial(draw_by_score, key=key, counter=self.samples)
            voters = self._draw.next(ledger, refused, choose)
            if voters is None:
                return None
            self._queue.extend(voters)
            self.samples = self._draw.draws
        learner, self._weight = self._queue.popleft()
        return learner

    def _count(self, learner: int, vote: Vote) -> None:
        weighted, mean = self._plan.weighted(learner, vote), self._means[learner]
        if self._weight == 1.0:
            self._known = self._known + weighted
            self._unknown = self._unknown - mean
        else:
            self._estimate = self._estimate + self._weight * (weighted - mean)


class TopVotePolicy(VotePolicy):
    """Take learners from the top of a list, skipping those that the budget cannot afford.

    Parameters
    ----------
    plan : SamplingPlan
        The list, the weights and the prices.
    prior : ndarray of float64, shape (n_outputs,)
        See `VotePolicy`.
    """

    def __init__(self, plan: SamplingPlan, prior: NDArray[np.float64]) -> None:
        super().__init__(plan, prior)
        self._place = 0
        self._sum: Vote = 0.0

    @property
    def _draws(self) -> int:
        return 0

    def _total(self) -> Vote:
        """Return the weighted vote of the learners so far."""
        return self._sum

    def _next(self, ledger: RowLedger) -> int | None:
        plan = self._plan
        while self._place < len(plan.order) and self.samples < plan.max_samples:
            reach = float(plan.reach[self._place])
            # Not before anything is read: such a row gets the prior, which may be another label.
            if plan.curtail and self._has_read and is_certain(self._sum, reach):
                return None
            if plan.stops is not None and self._has_read:
                low, high = plan.stops[:, self._place]
                if self._sum <= low or self._sum > high:
                    return None
            learner = int(plan.order[self._place])
            self._place += 1
            # All columns of the learner or none, so that nothing is paid for a vote that is cut short.
            if ledger.affords_all(self._obtainable(plan.columns[learner], ledger)):
                return learner
        return None

    def _count(self, learner: int, vote: Vote) -> None:
        self._sum = self._sum + self._plan.weighted(learner, vote)
        self.samples += 1


def draw_key(key: int, bought: NDArray[np.int64]) -> int:
    """Return the key of the draws of a row that bought these columns."""
    # Only purchases enter the key, so what was not acquired cannot change a draw (blindness); XOR makes
    # their order irrelevant.
    for column in bought.tolist():
        key ^= purchase_bits(column)
    return key


def draw_by_score(scores: Sequence[float], key: int, counter: int) -> int:
    """Draw a place in proportion to the scores, all above zero.

    Examples
    --------
    >>> sum(draw_by_score([1.0, 3.0], 7, counter) for counter in range(1000))
    739
    """
    bits = int(random_bits(key, np.array([counter], dtype=np.uint64))[0])
    total = 0.0
    for score in scores:
        total += score
    place, upto = (bits >> 11) * 2.0**-53 * total, 0.0
    for index, score in enumerate(scores[:-1]):
        upto += score
        if upto > place:
            return index
    return len(scores) - 1


def is_certain(vote: Vote, reach: float) -> bool:
    """Return whether votes that move every sum by at most ``reach`` cannot change the label.

    A sum of zero is the first class, as is a negative one; among more classes, the first of equals wins.

    Examples
    --------
    >>> is_certain(0.5, 0.4), is_certain(-0.5, 0.5), is_certain(0.5, 0.5)
    (True, True, False)
    >>> is_certain(np.array([0.5, -0.5, -0.6]), 0.5), is_certain(np.array([-0.5, 0.5, -0.6]), 0.5)
    (True, False)
    """
    if not isinstance(vote, np.ndarray):
        return vote > reach or vote <= -reach
    first = int(np.argmax(vote))
    # Exact, as all sums are on a grid: one class may lose as much as another one gains.
    leads = vote[first] - vote - 2 * reach
    return bool((leads[:first] > 0).all() and (leads[first + 1 :] >= 0).all())
