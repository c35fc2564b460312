"""Sampled votes on several classes: a sampled vote per class, all of them with the same draws.

Which learner is drawn depends on the seed and on what the row has bought, never on a vote. So the samplers of
all classes draw the same learners, in the same order, for one price, and each estimates the vote on its
class: together they estimate the vector of votes, without bias where each of them is unbiased.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.adaboost_rs.vote_policies import TopVotePolicy, VotePolicy
from farthing.costs import RowLedger


class ClassVotePolicy:
    """Walk the votes of all classes in step: they ask for the same columns.

    Parameters
    ----------
    policies : sequence of VotePolicy
        One for each class.
    """

    def __init__(self, policies: Sequence[VotePolicy]) -> None:
        self._policies = policies

    @property
    def samples(self) -> int:
        """Learners drawn, or taken from the top, so far."""
        return self._policies[0].samples

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column that the current learner needs."""
        # Each of them moves on to its next learner here, so all are asked.
        (column,) = {policy.wants(ledger) for policy in self._policies}
        return column

    def hear(self, column: int, value: float) -> None:
        """Pass the value on to the votes of all classes."""
        for policy in self._policies:
            policy.hear(column, value)

    def refuse(self, column: int) -> None:
        """Go on without the column in the votes of all classes."""
        for policy in self._policies:
            policy.refuse(column)

    def output(self) -> NDArray[np.float64]:
        """Return the votes so far, shape (n_classes,)."""
        return np.concatenate([policy.output() for policy in self._policies])


class CurtailedTopPolicy(ClassVotePolicy):
    """Take learners from the top of a list until the remaining votes cannot change the winner.

    Parameters
    ----------
    policies : sequence of TopVotePolicy
        One for each class, none of them curtailed.
    """

    def __init__(self, policies: Sequence[TopVotePolicy]) -> None:
        super().__init__(policies)
        self._tops = policies
        self._certain = False

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column that the current learner needs; None if the winner is certain."""
        column = None if self._certain else super().wants(ledger)
        # As with two classes, not before anything is read: such a row has the prior.
        if column is not None and self._tops[0].has_read:
            self._certain = self._is_certain()
        return None if self._certain else column

    def _is_certain(self) -> bool:
        votes = np.array([top.vote for top in self._tops])
        first = int(np.argmax(votes))
        # Exact, as all votes and their bounds are on a grid. A tie goes to the earlier class.
        moves = np.array([top.uncounted for top in self._tops])
        leads = votes[first] - votes - (moves[first] + moves)
        return bool((leads[:first] > 0).all() and (leads[first + 1 :] >= 0).all())
