"""Weighted votes of boosted trees: the fitted model, and the base class of its estimators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import Guarantee, TrainingSet, TreeModel
from farthing.costs import CostSheet
from farthing.learning.guarantees import GuaranteedMixin, Ladder
from farthing.learning.voting.class_curtailment import (
    ClassCurtailment,
    CurtailedClassPolicy,
    class_ask_order,
)
from farthing.learning.voting.curtailment import CurtailedPolicy, Curtailment, ask_order, check_order
from farthing.learning.voting.margin_bounds import low_margin_bound
from farthing.learning.voting.stochastic_curtailment import check_stops, stopping_thresholds
from farthing.learning.voting.vote_model import VoteClassifier, VoteModel
from farthing.table import Schema, encode
from farthing.trees import Forest, Predictor
from farthing.walks import Policy
from farthing.walks.plans import Plan, TreePlan

GRID: Final = 2.0**-32
"""Voting weights are multiples of this, so that sums of them are exact in any order."""

MOST: Final = 2.0**20
"""Bound of the sum of a model's voting weights: sums of multiples of the grid below it fit in 53 bits."""

# Rows per block: the predictor returns floats, eight times the memory of the int8 votes.
_BLOCK: Final = 1024

# By how much the thresholds of a curtailed vote are moved for a guarantee, as parts of all weights.
_APART: Final = (0.0, *(round(float(part), 12) for part in np.geomspace(0.002, 0.7, 30)), 1.0)


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeVoteModel(TreeModel, VoteModel):
    """The weighted vote of trees whose leaves vote -1 or +1: f(x) = sum of alpha_t h_t(x).

    On more than two classes a leaf has a vote on each class, and f(x) is a vector.

    Parameters
    ----------
    forest : Forest
        A tree for each round, leaves -1 and +1, other nodes 0.
    estimator_weights : ndarray of float64, shape (n_trees,)
        The voting weight alpha_t of each tree, a multiple of 2**-32.
    order : ndarray of int64 or None
        The columns in the order in which a curtailed vote asks for them; None if it is not curtailed.
    stops : ndarray of float64, shape (2, n_tested), or None
        The sums at which a vote stops that is curtailed with some error probability, before each question;
        see `farthing.learning.voting.stochastic_curtailment`.
    """

    estimator_weights: NDArray[np.float64]
    order: NDArray[np.int64] | None
    stops: NDArray[np.float64] | None = None

    def node_scores(self) -> NDArray[np.float64]:
        """Return the votes of each node times the weight of its tree, shape (n_nodes, n_outputs)."""
        weights: NDArray[np.float64] = np.repeat(self.estimator_weights, np.diff(self.forest.offsets))
        return self.forest.value * weights[:, np.newaxis]

    @cached_property
    def curtailment(self) -> Curtailment:
        """The bounds of a curtailed vote on two classes."""
        if self.order is None:
            raise ValueError("the vote is not curtailed")
        return Curtailment(self.predictor, self.order, self.stops)

    @cached_property
    def class_curtailment(self) -> ClassCurtailment:
        """The bounds of a curtailed vote on more than two classes."""
        if self.order is None:
            raise ValueError("the vote is not curtailed")
        return ClassCurtailment(self.predictor, self.estimator_weights, self.order)

    def policy(self, seed: int | None = None) -> Policy:
        """Return a policy that walks the trees in order, or the columns in the order of a curtailed vote."""
        if self.order is None:
            return super().policy(seed)
        if self.forest.n_outputs > 1:
            return CurtailedClassPolicy(self.class_curtailment)
        return CurtailedPolicy(self.curtailment)

    def plan(self) -> Plan:
        """Return the trees in order, or the bounds of a curtailed vote."""
        if self.order is None:
            return TreePlan(
                self.predictor, (self.forest.n_trees,), (self.costs.n_columns,) if self.costs.calls else ()
            )
        return self.class_curtailment.plan() if self.forest.n_outputs > 1 else self.curtailment.plan()

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return the votes of many rows; see `FittedModel.outputs`."""
        if self.order is None:
            return super().outputs(values, budget=budget, seeds=seeds, n_threads=n_threads)
        plan = self.class_curtailment if self.forest.n_outputs > 1 else self.curtailment
        return plan.predict(values, self.costs, budget, n_threads)

    def settle(self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Replace the outputs of rows that acquired nothing by the prior, unless none needs to."""
        if self.order is not None and self.forest.n_outputs > 1 and self.class_curtailment.is_constant:
            return outputs
        return super().settle(outputs, looked)

    @property
    def round_edges(self) -> NDArray[np.float64]:
        """The edge of each learner when it was chosen, shape (n_rounds_done,)."""
        raise NotImplementedError

    @property
    def passes_all_trees(self) -> bool:
        """Whether the vote is not curtailed."""
        return self.order is None

    def votes_by_tree(
        self, values: NDArray[np.floating], n_threads: int = 1
    ) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Return the vote of every tree for each row, never curtailed.

        Returns
        -------
        votes : ndarray of int8, shape (n_rows, n_trees) or (n_rows, n_trees, n_classes)
            -1, 0 or +1.
        acquired : ndarray of bool, shape (n_rows, n_features)
        """
        forest, n_trees, width = self.forest, self.forest.n_trees, self.forest.width
        # One output per tree, so that the predictor does not sum over trees: the node where a row ends.
        nodes: NDArray[np.float64] = np.arange(forest.n_nodes, dtype=np.float64)[:, np.newaxis]
        ends = replace(forest, n_outputs=n_trees, target=np.arange(n_trees), node_values=nodes)
        predictor, vote_of = Predictor(ends), forest.value.astype(np.int8)
        votes = np.empty((len(values), n_trees, width), dtype=np.int8)
        acquired = np.empty(values.shape, dtype=np.bool_)
        for start in range(0, len(votes), _BLOCK):
            block = slice(start, start + _BLOCK)
            ended, acquired[block] = predictor.predict(values[block], n_threads=n_threads)
            votes[block] = vote_of[ended.astype(np.int64)]
        return votes[:, :, 0] if width == 1 else votes, acquired

    def curtailed_with(
        self, error: float, learned: TrainingSet, held_out: TrainingSet | None, n_threads: int = 1
    ) -> Self:
        """Return the vote that stops with this error probability, calibrated on rows that were held out.

        The vote itself if no rows were; see `farthing.learning.voting.stochastic_curtailment`.
        """
        if held_out is None:
            return self
        trace = partial(self.curtailment.trace, n_threads=n_threads)
        return replace(self, stops=stopping_thresholds(trace, learned.values, held_out.values, error))

    def first_rounds(self, n_rounds: int, **learned: Any) -> Self:
        """Return the vote of the first rounds only; ``learned`` are other fields to replace.

        Raises
        ------
        ValueError
            If the vote is curtailed with some error probability, which would have to be calibrated again.
        """
        if self.stops is not None:
            raise ValueError("a vote with a curtailment_error has no shorter ones: fit again")
        ensemble = vote_fields(
            self.forest.trees(0, n_rounds) if n_rounds else None,
            self.estimator_weights[:n_rounds].copy(),
            schema=self.schema,
            costs=self.costs,
            prior=self.prior,
            curtail=self.order is not None,
        )
        return replace(self, **ensemble, **learned)

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        n_outputs = 1 if len(self.classes) <= 2 else len(self.classes)
        if self.forest.n_outputs != n_outputs or self.forest.width != n_outputs:
            raise ValueError(
                f"a vote on {len(self.classes)} classes has {n_outputs} outputs; got {self.forest.n_outputs}"
            )
        check_estimator_weights(self.estimator_weights, self.forest)
        check_order(self.order, self.forest)
        if self.stops is not None and self.order is None:
            raise ValueError("stops belong to a curtailed vote, which has an order")
        check_stops(self.stops, 0 if self.order is None else len(self.order))


class TreeVoteClassifier(GuaranteedMixin, VoteClassifier):
    """An estimator that learns a `TreeVoteModel`.

    The most probable class is that of the vote's sign, or of the largest vote, bit for bit.

    Attributes
    ----------
    forest_ : Forest
        A tree for each round, leaves -1 and +1, other nodes 0.
    estimator_weights_ : ndarray of float64, shape (n_trees,)
        The voting weight of each tree, a multiple of 2**-32.
    order_ : ndarray of int64 or None
        The columns in the order in which a curtailed vote asks for them; None if it is not curtailed.
    stops_ : ndarray of float64, shape (2, n_tested), or None
        With ``curtailment_error``, the votes at which a row stops before each question.
    """

    fitted_: TreeVoteModel

    def guarantee_ladder(self, guarantee: Guarantee) -> Ladder:  # the same for all
        """Return the votes that are curtailed with some error, from this one to one without any error.

        The thresholds of the vote at which rows stop are moved away from zero by a part of all weights.
        """
        model, stops = self.fitted_, self.fitted_.stops
        if stops is None:
            raise TypeError(
                f"this {type(self).__name__} has no curtailment_error, so it has no variants to choose from"
            )

        def make(part: float) -> TreeVoteClassifier:
            apart = part * float(model.estimator_weights.sum())
            moved = None if part >= 1 else stops + np.array([[-apart], [apart]])
            return self.variant({}, replace(model, stops=moved, certificate=None))

        return Ladder(_APART, 1.0, make, is_ordered=True)

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the margin of each row, between -1 and 1: y f(x) / sum of alphas.

        On more than two classes it is half the lead of the true class over the best of the others,
        (f_y(x) - max f_k(x)) / (2 sum of alphas).

        As in the ``staged_`` methods, all trees vote, even if predictions are curtailed.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
        y : array, shape (n_rows,)
            The true labels.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        check_is_fitted(self)
        y, classes = np.asarray(y), self.fitted_.classes
        unknown = ~np.isin(y, classes)
        if unknown.any():
            raise ValueError(
                f"y has the label {y[unknown].tolist()[0]!r}; the model knows {classes.tolist()}"
            )
        weights = self.fitted_.estimator_weights
        votes = np.asarray(np.moveaxis(self._votes(X), 1, -1) @ weights)
        if len(votes) != len(y):
            raise ValueError(f"X has {len(votes)} rows, y has {len(y)}")
        return np.asarray(vote_margins(votes, np.searchsorted(classes, y)) / weights.sum())

    def training_error_bound(self) -> float:
        """Bound the share of the training weight that the full vote misclassifies.

        The product over the rounds of sqrt(1 - edge^2) = 2 sqrt(eps (1 - eps)), where eps is the learner's
        weighted error, times sqrt(K - 1) on K classes. Class weights are part of the training weight.

        Returns
        -------
        float
            At most 1.

        Examples
        --------
        >>> from farthing.boosting import AdaBoostClassifier
        >>> X, y = np.arange(8.0).reshape(-1, 1), np.array([0, 0, 1, 1, 1, 0, 0, 0])
        >>> model = AdaBoostClassifier(n_estimators=2).fit(X, y)
        >>> round(model.training_error_bound(), 4), float(np.mean(model.predict(X) != y))
        (0.75, 0.375)
        """
        return self.margin_bound(0.0)

    def margin_bound(self, theta: float) -> float:
        """Bound the share of the training weight whose margin is at most theta; see `margins`.

        exp(theta sum of alphas) times `training_error_bound` (Huang, Powers and Reyzin 2015, section 5). A
        small share of low margins bounds the error on new rows, whatever the number of rounds.

        Parameters
        ----------
        theta : float
            Between 0 and 1.

        Returns
        -------
        float
            At most 1.
        """
        check_is_fitted(self)
        edges, weights = self.fitted_.round_edges, self.fitted_.estimator_weights
        # Without a single round the vote is a constant, which has a weight but no edge.
        return low_margin_bound(weights[: len(edges)], edges, theta, len(self.fitted_.classes))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the vote after each round, shape (n_rows,) or (n_rows, n_classes)."""
        votes = self._votes(X)
        total = np.zeros(votes[:, 0].shape)
        for column, weight in enumerate(self.fitted_.estimator_weights):
            total = total + weight * votes[:, column]
            yield total

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round, shape (n_rows, n_classes)."""
        for vote in self.staged_decision_function(X):
            yield self.fitted_.conclude(vote.reshape(len(vote), -1))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round, shape (n_rows,)."""
        for vote in self.staged_decision_function(X):
            yield self.fitted_.results(vote.reshape(len(vote), -1))[0]

    def _votes(self, X: Any) -> NDArray[np.int8]:
        """Return the vote of every tree for each row; see `TreeVoteModel.votes_by_tree`."""
        check_is_fitted(self)
        encoded = encode(self.fitted_.schema, X, type(self).__name__)
        votes, acquired = self.fitted_.votes_by_tree(encoded.values, self.n_threads())
        encoded.check(acquired)
        return votes


def vote_margins(votes: NDArray[np.float64], target: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the votes for the truth, shape (n_rows,): y f(x), or half the lead of the true class.

    Parameters
    ----------
    votes : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
    target : ndarray of int64, shape (n_rows,)
        The true classes, as codes.

    Examples
    --------
    >>> vote_margins(np.array([0.5, 0.5]), np.array([1, 0]))
    array([ 0.5, -0.5])
    >>> vote_margins(np.array([[0.5, -1.0, 0.1]]), np.array([0]))
    array([0.2])
    """
    if votes.ndim == 1:
        return np.where(target == 1, votes, -votes)
    own = target[:, np.newaxis] == np.arange(votes.shape[1])
    others = np.where(own, -np.inf, votes).max(axis=1)
    return np.asarray((votes[own] - others) / 2)


def vote_fields(
    forest: Forest | None,
    estimator_weights: NDArray[np.float64],
    *,
    schema: Schema,
    costs: CostSheet,
    prior: NDArray[np.float64],
    curtail: bool,
) -> dict[str, Any]:
    """Return the fields of a `TreeVoteModel` that describe its ensemble.

    Parameters
    ----------
    forest : Forest or None
        One tree per round; None gives a constant vote for the more frequent class.
    estimator_weights : ndarray of float64, shape (n_trees,)
        The voting weights.
    schema, costs, prior
        Of the model.
    curtail : bool
        Whether predictions end as soon as the label is certain.
    """
    if forest is None:
        if len(prior) == 1:
            vote = [1.0 if prior[0] > 0 else -1.0]
        else:
            vote = np.where(np.arange(len(prior)) == np.argmax(prior), 1.0, -1.0).tolist()
        # Sets of categories are stored in words of 64 bits.
        widths = [-(-len(column.categories) // 64) for column in schema.columns]
        forest, estimator_weights = Forest.constant(vote, len(schema.names), widths), np.ones(1)
    order = None
    if curtail:
        orders = ask_order if forest.n_outputs == 1 else class_ask_order
        order = orders(forest, estimator_weights, costs)
    return {"forest": forest, "estimator_weights": estimator_weights, "order": order}


def check_estimator_weights(weights: NDArray[np.float64], forest: Forest) -> None:
    """Raise ValueError unless there is a weight for each tree of votes, and sums of them are exact."""
    if weights.dtype != np.float64 or weights.shape != (forest.n_trees,):
        raise ValueError(
            f"estimator_weights must be {forest.n_trees} floats; got {weights.dtype} {weights.shape}"
        )
    # Division by a power of two is exact, so a multiple of the grid comes back unchanged.
    on_grid = np.isfinite(weights).all() and (np.rint(weights / GRID) * GRID == weights).all()
    if not on_grid or (weights < 0).any():
        raise ValueError("estimator_weights must be multiples of 2**-32, zero or more")
    if not weights.sum() < MOST:
        raise ValueError(f"estimator_weights must sum to less than {MOST}")
    if not np.isin(forest.value, (-1.0, 0.0, 1.0)).all():
        raise ValueError("the trees must vote -1, 0 or +1")
