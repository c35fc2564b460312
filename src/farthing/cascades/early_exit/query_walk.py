"""The walk over a query: it asks about all documents, since which of them leave depends on the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.errors import WalkError
from farthing.walks import Ask, Decision, PaidTrees, Walk

# (number of the exit from 1, number of all, raw outputs of the documents left) to which of them go on.
Keep: TypeAlias = Callable[[int, int, NDArray[np.float64]], NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class QueryAsk(Ask):
    """A question about one document of a query.

    Attributes
    ----------
    document : int
        Its place among the query's documents, from 0.
    """

    document: int = 0


class QueryWalk:
    """The lazy prediction of all documents of a query; `EarlyExitRanker.walk_query` makes it.

    Between two exits the documents are asked about one after another. At an exit, those too far behind leave.

    Parameters
    ----------
    walks : sequence of (Walk, PaidTrees)
        A walk for each document, and its policy.
    n_exits : int
        Number of exits; the last is the end of the trees.
    keep : callable
        Returns which documents continue after an exit.
    """

    def __init__(self, walks: Sequence[tuple[Walk, PaidTrees]], n_exits: int, keep: Keep) -> None:
        self._walks = list(walks)
        self._n_exits = n_exits
        self._keep = keep
        self._left = list(range(len(self._walks)))
        self._leg = 0
        self._place = 0  # among those that are left
        self._settle()

    @property
    def ask(self) -> QueryAsk | None:
        """The document and the feature wanted next; None when the query is ranked."""
        if self._place >= len(self._left):
            return None
        document = self._left[self._place]
        ask = self._walks[document][0].ask
        if ask is None:
            return None
        return QueryAsk(ask.feature, ask.price, ask.group, document)

    def tell(self, value: object) -> None:
        """Answer the question and pay for it, as in `Walk.tell`."""
        self._asked("tell").tell(value)
        self._settle()

    def refuse(self) -> None:
        """Refuse the question: the feature of this document is not available, as in `Walk.refuse`."""
        self._asked("refuse").refuse()
        self._settle()

    @property
    def spent(self) -> float:
        """The total spend on all documents so far."""
        return float(sum(walk.spent for walk, _ in self._walks))

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The score of each document as of now, and what it paid."""
        return tuple(walk.decision for walk, _ in self._walks)

    def _asked(self, verb: str) -> Walk:
        if self.ask is None:
            raise WalkError(
                f"{verb} was called, but the query is ranked; loop only while walk.ask is not None"
            )
        return self._walks[self._left[self._place]][0]

    def _settle(self) -> None:
        """Move to the next question, past finished documents and exits of the query."""
        while True:
            # A document may have no question between two exits, and a query none over several of them.
            while self._place < len(self._left) and self._walks[self._left[self._place]][0].ask is None:
                self._place += 1
            if self._place < len(self._left) or self._leg == self._n_exits - 1:
                return
            self._leave()

    def _leave(self) -> None:
        """Remove the documents too far behind, and open the next trees to the others."""
        self._leg += 1
        # A document that could not pay for its trees has left already.
        self._left = [document for document in self._left if not self._walks[document][1].stopped]
        if self._left:
            # Documents leave only when all have reached the exit, since each is compared with the k-th best.
            outputs = np.stack([self._walks[document][1].output() for document in self._left])
            stays = self._keep(self._leg, self._n_exits, outputs)
            self._left = [document for document, goes_on in zip(self._left, stays, strict=True) if goes_on]
        for document in self._left:
            walk, policy = self._walks[document]
            policy.open(self._leg)
            walk.resume()
        self._place = 0
