"""Weighted votes of boosted trees: the fitted model, and the base class of its estimators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import TrainingSet, TreeModel
from farthing.costs import CostSheet
from farthing.learning.voting.curtailment import CurtailedPolicy, Curtailment, ask_order, check_order
from farthing.learning.voting.stochastic_curtailment import check_stops, stopping_thresholds
from farthing.learning.voting.vote_model import BinaryVoteClassifier, VoteModel
from farthing.table import Schema, encode
from farthing.trees import Forest, Predictor
from farthing.walks import Policy

GRID: Final = 2.0**-32
"""Voting weights are multiples of this, so that sums of them are exact in any order."""

MOST: Final = 2.0**20
"""Bound of the sum of a model's voting weights: sums of multiples of the grid below it fit in 53 bits."""

# Rows per block: the predictor returns floats, eight times the memory of the int8 votes.
_BLOCK: Final = 1024


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeVoteModel(TreeModel, VoteModel):
    """The weighted vote of trees whose leaves vote -1 or +1: f(x) = sum of alpha_t h_t(x).

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
        """Return the vote of each node times the weight of its tree, shape (n_nodes, 1)."""
        weights: NDArray[np.float64] = np.repeat(self.estimator_weights, np.diff(self.forest.offsets))
        return self.forest.value * weights[:, np.newaxis]

    @cached_property
    def curtailment(self) -> Curtailment:
        """The bounds of a curtailed vote."""
        if self.order is None:
            raise ValueError("the vote is not curtailed")
        return Curtailment(self.predictor, self.order, self.stops)

    def policy(self, seed: int | None = None) -> Policy:
        """Return a policy that walks the trees in order, or the columns in the order of a curtailed vote."""
        return super().policy(seed) if self.order is None else CurtailedPolicy(self.curtailment)

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
        return self.curtailment.predict(values, self.costs, budget, n_threads)

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
        votes : ndarray of int8, shape (n_rows, n_trees)
            -1, 0 or +1.
        acquired : ndarray of bool, shape (n_rows, n_features)
        """
        n_trees = self.forest.n_trees
        # One output per tree, so that the predictor does not sum over trees.
        predictor = Predictor(replace(self.forest, n_outputs=n_trees, target=np.arange(n_trees)))
        votes = np.empty((len(values), n_trees), dtype=np.int8)
        acquired = np.empty(values.shape, dtype=np.bool_)
        for start in range(0, len(votes), _BLOCK):
            block = slice(start, start + _BLOCK)
            votes[block], acquired[block] = predictor.predict(values[block], n_threads=n_threads)
        return votes, acquired

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
        if self.prior.shape != (1,) or self.forest.n_outputs != 1:
            raise ValueError(f"a vote has one output; got {self.forest.n_outputs}")
        check_estimator_weights(self.estimator_weights, self.forest)
        check_order(self.order, self.forest)
        if self.stops is not None and self.order is None:
            raise ValueError("stops belong to a curtailed vote, which has an order")
        check_stops(self.stops, 0 if self.order is None else len(self.order))


class TreeVoteClassifier(BinaryVoteClassifier):
    """An estimator that learns a `TreeVoteModel`.

    The more probable class is that of the vote's sign, bit for bit.

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

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the margin y f(x) / sum of alphas of each row, between -1 and 1.

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
        votes = self._votes(X) @ weights
        if len(votes) != len(y):
            raise ValueError(f"X has {len(votes)} rows, y has {len(y)}")
        signs = np.where(np.searchsorted(classes, y) == 1, 1.0, -1.0)
        return np.asarray(signs * votes / weights.sum())

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the vote after each round, shape (n_rows,)."""
        votes = self._votes(X)
        total = np.zeros(len(votes))
        for column, weight in enumerate(self.fitted_.estimator_weights):
            total = total + weight * votes[:, column]
            yield total

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round, shape (n_rows, n_classes)."""
        for vote in self.staged_decision_function(X):
            yield self.fitted_.conclude(vote[:, np.newaxis])

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round, shape (n_rows,)."""
        for vote in self.staged_decision_function(X):
            yield self.fitted_.results(vote[:, np.newaxis])[0]

    def _votes(self, X: Any) -> NDArray[np.int8]:
        """Return the vote of every tree for each row, shape (n_rows, n_trees)."""
        check_is_fitted(self)
        encoded = encode(self.fitted_.schema, X, type(self).__name__)
        votes, acquired = self.fitted_.votes_by_tree(encoded.values, self.n_threads())
        encoded.check(acquired)
        return votes


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
        vote = 1.0 if prior[0] > 0 else -1.0
        # Sets of categories are stored in words of 64 bits.
        widths = [-(-len(column.categories) // 64) for column in schema.columns]
        forest, estimator_weights = Forest.constant([vote], len(schema.names), widths), np.ones(1)
    order = ask_order(forest, estimator_weights, costs) if curtail else None
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
