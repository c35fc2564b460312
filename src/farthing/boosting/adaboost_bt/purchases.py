"""Choose the learner of each round and keep the account of what it costs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.adaboost_bt.selection_rules import Rule, best
from farthing.costs import CostSheet, RowLedger

PATH_COLUMNS: Final = ("round", "feature", "edge", "cost", "spent", "left")
"""What is recorded of each round."""


class Purchases:
    """Choose learners by a rule, and pay for their features once for the whole model.

    Candidates are in the order of `farthing.learning.voting.stump_rounds.Choice`: first the constant vote,
    then the columns.

    Parameters
    ----------
    sheet : CostSheet
        The prices, in the order of the columns.
    budget : float or None
        The limit on the total spend; None for no limit.
    rule : callable
        Weighs edges against costs; see `farthing.boosting.adaboost_bt.selection_rules`.
    exhaust : bool
        Whether to continue with the best affordable learner when the best of all cannot be afforded.

    Examples
    --------
    >>> from farthing.boosting.adaboost_bt.selection_rules import greedy
    >>> purchases = Purchases(CostSheet([5.0, 1.0]), 5.5, greedy)
    >>> purchases.choose(np.array([0.0, 0.5, 0.3]))
    2
    >>> purchases.choose(np.array([0.0, 0.5, 0.1])) is None
    True
    >>> purchases.path([0.3])["spent"]
    array([1.])
    """

    def __init__(self, sheet: CostSheet, budget: float | None, rule: Rule, *, exhaust: bool = False) -> None:
        # The ledger of a single row serves the whole model: what the model has bought, every row owns.
        self._ledger = RowLedger(sheet, budget)
        # For the rules, always the original cost (section 4 of the paper): at a price of zero, an owned
        # feature would win every round, however small its edge.
        self._costs = np.array([0.0, *(RowLedger(sheet).price(column) for column in range(len(sheet.own)))])
        self._rule = rule
        self._exhaust = exhaust
        # A candidate that cannot be afforded once never can: the total of it and what is owned only grows,
        # even if a group that was paid for in between has lowered its price.
        self._beyond: NDArray[np.bool_] = np.zeros(len(self._costs), dtype=np.bool_)
        self._places: list[int] = []
        self._spent: list[float] = []

    @property
    def unbought(self) -> NDArray[np.bool_]:
        """The candidates that still cost something, shape (n_features + 1,)."""
        owned: NDArray[np.bool_] = np.concatenate([[True], self._ledger.owned])
        # Free candidates are left out, as their quality per cost would always be infinite.
        return (self._costs > 0) & ~owned

    def choose(self, edges: NDArray[np.float64]) -> int | None:
        """Return the place of the chosen candidate and pay for it; None if it cannot be afforded."""
        scores = self._scores(edges)
        # A candidate with an edge of zero is never chosen; see `best`.
        open_edges = np.where(self._beyond, 0.0, edges)
        while (place := best(scores, open_edges, self._costs)) is not None:
            if place == 0 or self._ledger.affords(place - 1):
                self._take(place)
                return place
            if not self._exhaust:
                return None
            self._beyond[place] = True
            open_edges[place] = 0.0
        return None

    def _take(self, place: int) -> None:
        if place > 0:
            self._ledger.buy(place - 1)
        self._places.append(place)
        self._spent.append(self._ledger.spent)

    def path(self, edges: list[float]) -> dict[str, NDArray[Any]]:
        """Return what each round did; see ``path_`` of `AdaBoostBTClassifier`."""
        places = np.array(self._places, dtype=np.int64)
        names = np.array(["", *self._ledger.sheet.features])
        spent = np.array(self._spent)
        return {
            "round": np.arange(1, len(places) + 1),
            "feature": names[places],
            "edge": np.array(edges),
            "cost": self._costs[places],
            "spent": spent,
            "left": (np.inf if self._ledger.budget is None else self._ledger.budget) - spent,
        }

    def _scores(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._checked(self._rule, edges)

    def _checked(self, rule: Rule, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = np.asarray(rule(edges, self._costs, self._ledger.spent), dtype=np.float64)
        if scores.shape != edges.shape or np.isnan(scores).any():
            raise ValueError(
                f"the rule must return a score for each of {len(edges)} candidates, none of them NaN; "
                f"got shape {scores.shape}"
            )
        return scores


class HybridPurchases(Purchases):
    """Switch from one rule to another once the quality of the candidates not bought yet has dropped.

    Parameters
    ----------
    sheet, budget, rule, exhaust
        As in `Purchases`; the scores of ``rule`` are the quality.
    later : callable
        The rule after the switch.
    threshold : float
        The rule changes, permanently, when the best quality among the candidates not bought yet drops below
        this share of the best of the first round.
    """

    def __init__(
        self,
        sheet: CostSheet,
        budget: float | None,
        rule: Rule,
        *,
        later: Rule,
        threshold: float,
        exhaust: bool = False,
    ) -> None:
        super().__init__(sheet, budget, rule, exhaust=exhaust)
        self._later = later
        self._threshold = threshold
        self._least: float | None = None
        self._changed = False

    def _scores(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        if not self._changed:
            scores = self._checked(self._rule, edges)
            # The paper suggests the switch at the end of section 4 and leaves the quality open. Relative to
            # the first round, the threshold does not depend on the unit of the costs.
            best = float(np.max(scores[self.unbought], initial=0.0))
            if self._least is None:
                self._least = self._threshold * best
            self._changed = best < self._least
            if not self._changed:
                return scores
        return self._checked(self._later, edges)
