"""Fitted trees of scores: one tree for each share of the budget, all of the same feature lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, FittedModel, RegressorModel, TrainingSet
from farthing.cascades.score_tree.policy import ScoreTreePolicy
from farthing.cascades.score_tree.tree import ScoreTree
from farthing.learning.affordable import affordable
from farthing.learning.calibration import score_temperature
from farthing.learning.losses import probability_steps, scores_to_probabilities
from farthing.typing import Floats
from farthing.walks import Policy
from farthing.walks.plans import Link, LinkStep, Plan, Readout, Station, StationPlan

# Most rows that a temperature is fitted on.
_CALIBRATED_ROWS: Final = 4096


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreTreeModel(FittedModel):
    """A tree of linear scores, and the trees of other settings that the same fit contains.

    Parameters
    ----------
    trees : tuple of ScoreTree
        The trees, of the same terms and number of outputs.
    shares : ndarray of float64, shape (n_trees,)
        The share of the budget of each tree, ascending.
    caps : ndarray of float64, shape (n_trees,)
        What a row may spend at most under each tree.
    level : int
        The tree that predicts.
    """

    trees: tuple[ScoreTree, ...]
    shares: Floats
    caps: Floats
    level: int

    @property
    def tree(self) -> ScoreTree:
        """The tree that predicts."""
        return self.trees[self.level]

    def at_level(self, level: int) -> Self:
        """Return the model of another tree."""
        return replace(self, level=level, budget=None if self.budget is None else float(self.caps[level]))

    def policy(self, seed: int | None = None) -> Policy:  # not stochastic
        """Return a fresh walk down the tree."""
        return ScoreTreePolicy(self)

    def plan(self) -> Plan:
        """Return the nodes as stations."""
        tree = self.tree
        stations = tuple(
            Station(
                columns=tuple(tree.columns(node)),
                scores=tree.terms.sum_plan(tree.coef[node], tree.intercept[node]),
                readout=self.readout_of(node),
                call=self.call_of(node),
                direction=tree.direction[node],
                threshold=float(tree.threshold[node]),
                children=(int(tree.children[node, 0]), int(tree.children[node, 1])),
            )
            for node in range(len(tree.threshold))
        )
        return StationPlan(stations, self.prior)

    def readout_of(self, node: int) -> Readout:
        """Return `read_out` as data."""
        return Readout()

    def read_out(self, node: int, scores: Floats) -> Floats:
        """Return the raw outputs of rows that end at a node, by default its scores, (n_rows, n_outputs)."""
        return scores

    def call_of(self, node: int) -> int | None:
        """Return the place in the cost sheet of the evaluation of a node; None if it is free."""
        number = int(self._call_numbers[node])
        return None if number < 0 else self.costs.n_columns + number

    @cached_property
    def _call_numbers(self) -> NDArray[np.int64]:
        numbers = np.full(len(self.tree.threshold), -1, dtype=np.int64)
        if self.costs.calls:
            paid = np.flatnonzero(self.tree.n_new_terms)
            numbers[paid] = np.arange(len(paid))
        return numbers

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: Floats | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,  # sums are short
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Predict many rows, node by node; see `FittedModel.outputs`."""
        tree, n_columns = self.tree, self.costs.n_columns
        outputs = np.tile(self.prior, (len(values), 1))
        acquired = np.zeros((len(values), len(self.costs.features)), dtype=np.bool_)
        at = np.zeros(len(values), dtype=np.int64)
        # Children come after their parents, so one pass sees every row on its whole way down.
        for node in range(len(tree.threshold)):
            rows = np.flatnonzero(at == node)
            if not len(rows):
                continue
            owned, evaluated = self._buy(node, acquired[rows], None if budget is None else budget[rows])
            acquired[rows] = owned
            rows, owned = rows[evaluated], owned[evaluated]
            scores = tree.scores(node, np.where(owned[:, :n_columns], values[rows], np.nan))
            outputs[rows] = self.read_out(node, scores)
            at[rows] = tree.next_nodes(node, scores)
        return outputs, acquired

    def _buy(
        self, node: int, owned: NDArray[np.bool_], budget: Floats | None
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return what rows own after the purchases of a node, and which of them are evaluated there.

        The rules are those of `ScoreTreePolicy`.
        """
        owned, call = owned.copy(), self.call_of(node)
        for column in self.tree.new_columns(node):
            owned[:, column] = True
            if budget is not None:
                owned[:, column] = affordable(self.costs, _with(owned, call), budget)
        if call is None:
            return owned, np.ones(len(owned), dtype=np.bool_)
        evaluated = np.asarray(owned.any(axis=1))
        if budget is not None:
            evaluated &= affordable(self.costs, _with(owned, call), budget)
        owned[:, call] = evaluated
        return owned, evaluated

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the tree buys, shape (n_features,)."""
        return self.tree.used

    def check(self) -> None:
        """Raise ValueError if the trees do not fit together."""
        super().check()
        if not isinstance(self.trees, tuple) or not all(isinstance(tree, ScoreTree) for tree in self.trees):
            raise ValueError("trees must be trees of scores")
        n_features = len(self.schema.names)
        for name in ("shares", "caps"):
            given = getattr(self, name)
            if (
                given.dtype != np.float64
                or given.shape != (len(self.trees),)
                or not (np.diff(given) >= 0).all()
            ):
                raise ValueError(f"{name} must ascend, one for each tree")
        if isinstance(self.level, bool) or not isinstance(self.level, int):
            raise TypeError("level must be an integer")
        if not 0 <= self.level < len(self.trees):
            raise ValueError("level must be the place of a tree")
        if self.costs.calls and len(self.costs.calls) != np.count_nonzero(self.tree.n_new_terms):
            raise ValueError("calls must be one for each node that adds terms to its path")
        for tree in self.trees:
            if tree.terms.n_features != n_features or tree.n_outputs != len(self.prior):
                raise ValueError("every tree must have scores over the columns")


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreTreeClassifierModel(ScoreTreeModel, ClassifierModel):
    """A tree of scores for classes.

    Parameters
    ----------
    temperatures : ndarray of float64, shape (n_trees,)
        Divisor of each tree's scores before the link to probabilities.
    """

    temperatures: Floats

    def at_level(self, level: int) -> Self:
        """Return the model of another tree; its prior stands for the same probabilities."""
        prior = self.prior / self.temperatures[self.level] * self.temperatures[level]
        return replace(super().at_level(level), prior=prior)

    def conclude(self, outputs: Floats) -> Floats:
        """Return the probability of each class, shape (n_rows, n_classes)."""
        return scores_to_probabilities(outputs / self.temperatures[self.level], len(self.classes))

    def link_steps(self) -> Link:
        """Return the steps to probabilities."""
        divisor = float(self.temperatures[self.level])
        return (LinkStep("divide", divisor), *probability_steps(len(self.classes)))

    def check(self) -> None:
        """Raise ValueError if the temperatures do not fit the trees."""
        super().check()
        given = self.temperatures
        if given.dtype != np.float64 or given.shape != self.caps.shape or not (given > 0).all():
            raise ValueError("temperatures must be above 0, one for each tree")
        self.check_probabilities()


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreTreeRegressorModel(ScoreTreeModel, RegressorModel):
    """A tree of scores for numbers: the score of the last node is the prediction."""


def single_tree(
    rows: TrainingSet, tree: ScoreTree, tree_cost: float, prior: Floats | None = None
) -> dict[str, Any]:
    """Return the fields of a model with one tree, which no budget limits.

    Parameters
    ----------
    rows : TrainingSet
        The rows that it was learned from.
    tree : ScoreTree
        The tree.
    tree_cost : float
        The price of evaluating a term. Unless it is 0, the cost sheet gets a call for each node that adds
        terms to its path: their evaluation.
    prior : ndarray of float64, shape (n_outputs,), optional
        As in `TrainingSet.header`.
    """
    added = tree.n_new_terms
    paid = np.flatnonzero(added).tolist() if tree_cost else []
    calls = {f"trees of node {node + 1}": tree_cost * float(added[node]) for node in paid}
    return {
        **rows.header(prior),
        "costs": rows.costs.with_calls(calls),
        "trees": (tree,),
        "shares": np.ones(1),
        "caps": np.array([np.inf]),
        "level": 0,
    }


def _with(owned: NDArray[np.bool_], call: int | None) -> NDArray[np.bool_]:
    """Return what rows would own with a call."""
    if call is None:
        return owned
    wider = owned.copy()
    wider[:, call] = True
    return wider


def calibration_step(n_rows: int) -> int:
    """Return every how many-th row a temperature is fitted on; one number needs no more."""
    return -(-n_rows // _CALIBRATED_ROWS)


def tree_temperature(tree: ScoreTree, rows: TrainingSet, scores: Floats | None = None) -> float:
    """Return the divisor of a tree's scores that gives rows the probabilities of the least log loss.

    Parameters
    ----------
    tree : ScoreTree
        The tree.
    rows : TrainingSet
        The rows, with classes.
    scores : ndarray of float64, shape (n_outputs, n_some_rows), optional
        The tree's scores of every `calibration_step`-th of them, if they are known.
    """
    if rows.n_classes == 1:
        return 1.0
    some = slice(None, None, calibration_step(len(rows)))
    outputs = tree.outputs(rows.values[some]) if scores is None else scores.T
    return score_temperature(outputs, rows.target[some], rows.weights[some])
