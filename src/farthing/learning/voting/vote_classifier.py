"""Weighted votes of weak learners: their grid, their link to probabilities, what they answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Self
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import TreesMixin, n_threads
from farthing.learning.voting.curtailment import CurtailedPolicy, Curtailment, ask_order, check_order
from farthing.learning.voting.link import VoteLink
from farthing.table import Encoded
from farthing.trees import Forest, Predictor
from farthing.walks import Policy

GRID: Final = 2.0**-32
"""Voting weights are multiples of this, so that sums of them are exact in any order."""

MOST: Final = 2.0**20
"""The voting weights of a model sum to less than this, far below where multiples of the grid would round."""

# Rows whose votes are held as floats at one time.
_BLOCK: Final = 1024

# Curtailed votes by model; beside the models, so that predicting changes no attribute.
_READY: WeakKeyDictionary[VoteClassifier, Curtailment] = WeakKeyDictionary()


class VoteClassifier(TreesMixin, VoteLink):
    """A classifier of two classes by the weighted vote of trees whose leaves say -1 or +1.

    The raw output is the vote, f(x) = sum of alpha_t h_t(x), with the link of `VoteLink`; so the more
    probable class is that of the vote's sign, bit for bit.

    Attributes
    ----------
    forest_ : Forest
        A tree for each round, leaves -1 and +1, other nodes 0.
    estimator_weights_ : ndarray of float64, shape (n_trees,)
        The voting weight of each tree, a multiple of 2**-32.
    order_ : ndarray of int64 or None
        The columns in the order in which a curtailed vote asks for them; None if it is not curtailed.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "estimator_weights_": np.ndarray,
        "order_": np.ndarray | NoneType,
    }
    estimator_weights_: NDArray[np.float64]
    order_: NDArray[np.int64] | None

    def margins(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return y f(x) / sum of alphas, between -1 and 1: how far each vote was right.

        The vote is the whole one, whether or not predictions are curtailed; so it is in the ``staged_``
        calls.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
        y : array, shape (n_rows,)
            The true labels.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        check_is_fitted(self)
        y = np.asarray(y)
        unknown = ~np.isin(y, self.classes_)
        if unknown.any():
            raise ValueError(
                f"y has the label {y[unknown].tolist()[0]!r}; the model knows {self.classes_.tolist()}"
            )
        votes = self._votes(X) @ self.estimator_weights_
        if len(votes) != len(y):
            raise ValueError(f"X has {len(votes)} rows, y has {len(y)}")
        signs = np.where(np.searchsorted(self.classes_, y) == 1, 1.0, -1.0)
        return np.asarray(signs * votes / self.estimator_weights_.sum())

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the vote after each round, shape (n_rows,)."""
        votes = self._votes(X)
        total = np.zeros(len(votes))
        for column, alpha in enumerate(self.estimator_weights_):
            total = total + alpha * votes[:, column]
            yield total

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities after each round, shape (n_rows, n_classes)."""
        for vote in self.staged_decision_function(X):
            yield self._conclude(vote[:, np.newaxis])

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round, shape (n_rows,)."""
        for vote in self.staged_decision_function(X):
            yield self._results(vote[:, np.newaxis])[0]

    def _first_rounds(self, n_rounds: int, params: Mapping[str, Any], **learned: Any) -> Self:
        """Return the vote of the first rounds alone, with other parameters."""
        made = self._variant(params, **learned)
        forest = self.forest_.trees(0, n_rounds) if n_rounds else None
        made._take(forest, self.estimator_weights_[:n_rounds].copy(), curtail=self.order_ is not None)
        return made

    def _take(self, forest: Forest | None, alphas: NDArray[np.float64], *, curtail: bool) -> None:
        """Set the fitted attributes; without a forest, one vote for the more frequent class."""
        if forest is None:
            vote = 1.0 if self.prior_[0] > 0 else -1.0
            widths = [-(-len(column.categories) // 64) for column in self.schema_.columns]
            forest, alphas = Forest.constant([vote], len(self.schema_.names), widths), np.ones(1)
        self.forest_ = forest
        self.estimator_weights_ = alphas
        self.order_ = ask_order(forest, alphas, self.costs_) if curtail else None

    def _policy(self, seed: int | None) -> Policy:
        return super()._policy(seed) if self.order_ is None else CurtailedPolicy(self._curtailment())

    def _answers(
        self,
        encoded: Encoded,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        if self.order_ is None:
            return super()._answers(encoded, budget, seeds)
        threads = n_threads(getattr(self, "n_jobs", None))
        return self._curtailment().predict(encoded.values, self.costs_, budget, threads)

    def _curtailment(self) -> Curtailment:
        """Return the curtailed vote of today's forest and order."""
        ready = _READY.get(self)
        if ready is None or ready.order is not self.order_ or ready.predictor is not self._ready():
            assert self.order_ is not None
            ready = _READY[self] = Curtailment(self._ready(), self.order_)
        return ready

    def _votes(self, X: Any) -> NDArray[np.int8]:
        """Return what each tree says about each row, shape (n_rows, n_trees), whatever it costs."""
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        apart = replace(self.forest_, n_outputs=self.forest_.n_trees, target=np.arange(self.forest_.n_trees))
        predictor = Predictor(apart)
        votes = np.empty((len(encoded.values), apart.n_trees), dtype=np.int8)
        acquired = np.empty(encoded.values.shape, dtype=np.bool_)
        threads = n_threads(getattr(self, "n_jobs", None))
        for start in range(0, len(votes), _BLOCK):
            rows = slice(start, start + _BLOCK)
            votes[rows], acquired[rows] = predictor.predict(encoded.values[rows], n_threads=threads)
        encoded.check(acquired)
        return votes

    def _node_scores(self, forest: Forest) -> NDArray[np.float64]:
        weights: NDArray[np.float64] = np.repeat(self.estimator_weights_, np.diff(forest.offsets))
        return forest.value * weights[:, np.newaxis]

    def _check_stored(self) -> None:
        super()._check_stored()
        if self.prior_.shape != (1,) or self.forest_.n_outputs != 1:
            raise ValueError(f"a vote has one output; got {self.forest_.n_outputs}")
        check_alphas(self.estimator_weights_, self.forest_)
        check_order(self.order_, self.forest_)


def check_alphas(alphas: NDArray[np.float64], forest: Forest) -> None:
    """Raise ValueError unless sums of these voting weights are exact, one for each tree of votes."""
    if alphas.dtype != np.float64 or alphas.shape != (forest.n_trees,):
        raise ValueError(
            f"estimator_weights_ must be {forest.n_trees} floats; got {alphas.dtype} {alphas.shape}"
        )
    if not np.isfinite(alphas).all() or (np.rint(alphas / GRID) * GRID != alphas).any() or (alphas < 0).any():
        raise ValueError("estimator_weights_ must be multiples of 2**-32, zero or more")
    if not alphas.sum() < MOST:
        raise ValueError(f"estimator_weights_ must sum to less than {MOST}")
    if not np.isin(forest.value, (-1.0, 0.0, 1.0)).all():
        raise ValueError("the trees must vote -1, 0 or +1")
