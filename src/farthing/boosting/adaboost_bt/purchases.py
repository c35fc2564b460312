"""Choose the learner of each round and keep the account of what it costs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.adaboost_bt.selection_rules import Rule, best
from farthing.costs import CostSheet, RowLedger
from farthing.costs.common_unit import in_unit, unit_of

Price: TypeAlias = Literal["own", "marginal"]
PRICES: Final = ("own", "marginal")
"""What a rule weighs: what a learner's features cost, bought or not, or what is unpaid of them."""

PATH_COLUMNS: Final = ("round", "feature", "edge", "cost", "spent", "left")
"""What is recorded of each round."""


class Purchases:
    """Choose learners by a rule, and pay for their features once for the whole model.

    Candidates are in the order of `farthing.learning.voting.stump_rounds.Choice`: first the constant vote,
    then the stumps of the columns; trees of several columns may follow.

    For the rules, a candidate costs the own prices of its features, bought or not, plus the shared costs of
    their groups unless those are paid; with ``price="marginal"``, only what is unpaid of either.

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
    rescale : bool
        Whether the rule gets costs and spend in a unit in which no quotient overflows; for rules whose choice
        does not depend on the unit.
    price : {"own", "marginal"}
        What a rule weighs, see above.

    Examples
    --------
    >>> from farthing.boosting.adaboost_bt.selection_rules import greedy
    >>> purchases = Purchases(CostSheet([5.0, 1.0]), 5.5, greedy, exhaust=False)
    >>> purchases.choose(np.array([0.0, 0.5, 0.3]))
    2
    >>> purchases.choose(np.array([0.0, 0.5, 0.1])) is None
    True
    >>> purchases.path([0.3])["spent"]
    array([1.])
    """

    def __init__(
        self,
        sheet: CostSheet,
        budget: float | None,
        rule: Rule,
        *,
        exhaust: bool = True,
        rescale: bool = True,
        price: Price = "own",
    ) -> None:
        # The ledger of a single row serves the whole model: what the model has bought, every row owns.
        self._ledger = RowLedger(sheet, budget)
        self._price = price
        # A price of zero for what is owned would win every round, however small the edge (section 4 of the
        # paper), if it were not for `best`. The paper has no groups: a shared cost that is paid is no reason
        # to avoid the other members.
        shared: NDArray[np.float64] = np.append(sheet.shared, 0.0)[sheet.group_of]
        self._costs: NDArray[np.float64] = np.concatenate([[0.0], sheet.own + shared])
        self._unit = unit_of(self._costs) if rescale else None
        self._rule = rule
        self._exhaust = exhaust
        # A candidate that cannot be afforded once never can: the total of it and what is owned only grows,
        # even if a group that was paid for in between has lowered its price.
        self._beyond: NDArray[np.bool_] = np.zeros(len(self._costs), dtype=np.bool_)
        # Groups whose shared cost is paid; -1 stands for none.
        self._paid: set[int] = {-1}
        self._converted: tuple[bytes, NDArray[np.float64]] | None = None
        self._bought: list[tuple[int, ...]] = []
        self._weighed: list[float] = []
        self._spent: list[float] = []
        #: Rounds before the first chosen learner that could not be afforded; None if there was none.
        self.n_before_refusal: int | None = None

    @property
    def ledger(self) -> RowLedger:
        """What the model owns and has spent."""
        return self._ledger

    def choose(self, edges: NDArray[np.float64], trees: Sequence[tuple[int, ...]] = ()) -> int | None:
        """Return the place of the chosen candidate and pay for it; None if it cannot be afforded.

        Parameters
        ----------
        edges : ndarray of float64, shape (n_features + 1 + n_trees,)
            The edges of the constant vote, the stumps and the trees.
        trees : sequence of tuples of int
            The columns of each tree.
        """
        costs, beyond = self._costs, self._beyond
        if trees:
            costs = np.append(costs, [self._cost_of(columns) for columns in trees])
            beyond = np.append(beyond, np.zeros(len(trees), dtype=np.bool_))
        scores = self._scores(edges, costs, trees)
        # A candidate with an edge of zero is never chosen; see `best`.
        open_edges = np.where(beyond, 0.0, edges)
        while (place := best(scores, open_edges, costs)) is not None:
            last = place - len(self._costs)
            columns = trees[last] if last >= 0 else () if place == 0 else (place - 1,)
            if self._ledger.affords_all(columns):
                self._take(columns, float(costs[place]))
                return place
            if self.n_before_refusal is None:
                self.n_before_refusal = len(self._bought)
            if not self._exhaust:
                return None
            if last < 0:
                self._beyond[place] = True
            open_edges[place] = 0.0
        return None

    def _cost_of(self, columns: Collection[int]) -> float:
        """Return what the rules weigh of a tree."""
        if self._price == "marginal":
            return self._ledger.price_all(columns)
        sheet = self._ledger.sheet
        own = math.fsum(sheet.own[list(columns)].tolist())
        groups = set(sheet.group_of[list(columns)].tolist()) - {-1}
        paid = set(sheet.group_of[self._ledger.owned].tolist())
        return own + math.fsum(float(sheet.shared[group]) for group in groups - paid)

    def _in_unit(self, costs: NDArray[np.float64], unit: int) -> NDArray[np.float64]:
        """Return costs in the unit; those of the columns change with the purchase of a group alone."""
        key = costs.tobytes()
        if self._converted is None or self._converted[0] != key:
            self._converted = key, in_unit(costs, unit)
        return self._converted[1].copy()

    def _take(self, columns: tuple[int, ...], cost: float) -> None:
        self._bought.append(columns)
        self._weighed.append(cost)
        self._ledger.buy_all(columns)
        sheet = self._ledger.sheet
        for group in set(sheet.group_of[list(columns)].tolist()) - self._paid:
            members = np.flatnonzero(sheet.group_of == group)
            self._costs[members + 1] = sheet.own[members]
            self._paid.add(group)
        if self._price == "marginal":
            self._costs[1:][self._ledger.owned] = 0.0
        self._spent.append(self._ledger.spent)

    def path(self, edges: list[float]) -> dict[str, NDArray[Any]]:
        """Return what each round did; see ``path_`` of `AdaBoostBTClassifier`."""
        names = self._ledger.sheet.features
        spent = np.array(self._spent)
        return {
            "round": np.arange(1, len(self._bought) + 1),
            "feature": np.array(
                [" + ".join(names[column] for column in columns) for columns in self._bought], dtype=np.str_
            ),
            "edge": np.array(edges),
            "cost": np.array(self._weighed),
            "spent": spent,
            "left": (np.inf if self._ledger.budget is None else self._ledger.budget) - spent,
        }

    def _scores(
        self,
        edges: NDArray[np.float64],
        costs: NDArray[np.float64],
        trees: Sequence[tuple[int, ...]],  # for subclasses
    ) -> NDArray[np.float64]:
        """Score the candidates; ``trees`` are the columns of the last ones."""
        return self._checked(self._rule, edges, costs)

    def _unbought(self, costs: NDArray[np.float64], trees: Sequence[tuple[int, ...]]) -> NDArray[np.bool_]:
        """Return which candidates cost something and can still be bought."""
        # Free candidates are left out, as their quality per cost would always be infinite.
        paid = [self._ledger.price_all(columns) == 0 for columns in trees]
        owned = np.concatenate([[True], self._ledger.owned, np.array(paid, dtype=np.bool_)])
        beyond = np.append(self._beyond, np.zeros(len(trees), dtype=np.bool_))
        return np.asarray((costs > 0) & ~owned & ~beyond)

    def _checked(
        self, rule: Rule, edges: NDArray[np.float64], costs: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        spent = self._ledger.spent
        if self._unit is None:
            costs = costs.copy()
        else:
            costs, spent = self._in_unit(costs, self._unit), math.ldexp(spent, -self._unit)
        scores = np.asarray(rule(edges, costs, spent), dtype=np.float64)
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
    sheet, budget, rule, exhaust, rescale, price
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
        exhaust: bool = True,
        rescale: bool = True,
        price: Price = "own",
    ) -> None:
        super().__init__(sheet, budget, rule, exhaust=exhaust, rescale=rescale, price=price)
        self._later = later
        self._threshold = threshold
        self._least: float | None = None
        self._changed = False

    def _scores(
        self, edges: NDArray[np.float64], costs: NDArray[np.float64], trees: Sequence[tuple[int, ...]]
    ) -> NDArray[np.float64]:
        if not self._changed:
            scores, unbought = self._checked(self._rule, edges, costs), self._unbought(costs, trees)
            # The paper suggests the switch at the end of section 4 and leaves the quality open. Relative to
            # the first round, the threshold does not depend on the unit of the costs. An infinite quality is
            # that of a learner without error: either it ends the training, or it is beyond the budget.
            best = float(np.max(scores[unbought & np.isfinite(scores)], initial=0.0))
            if self._least is None:
                self._least = self._threshold * best
            self._changed = best < self._least
            if not self._changed:
                return scores
        return self._checked(self._later, edges, costs)
