"""The baseline of section 5.4: columns first, by the lasso; then the cheap model; then the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from farthing.adaptive.adapt.base import TEXTS, AdaptClassifier
from farthing.adaptive.adapt.expensive_model import Rows
from farthing.adaptive.adapt.gate_pairs import LinearPair, Pair
from farthing.adaptive.adapt.initial_pair import Ridge, bend, logistic
from farthing.adaptive.adapt.objective import Problem, soft_values
from farthing.adaptive.adapt.projection import Floats
from farthing.base import documented, register, sigmoid, softmax
from farthing.base.parameters import check_whole
from farthing.costs import CostSheet
from farthing.learning.group_penalty import BlockPenalty
from farthing.learning.proximal_descent import Design, Smooth, descend


@register(
    grid={"C": [1e-3, 1e-2, 1e-1, 1.0], "send_weight": [0.3, 0.5, 0.7, 0.9]},
    auto=False,
)
@documented(TEXTS)
class L1GateClassifier(AdaptClassifier):
    """The baseline: logistic regression with an L1 penalty chooses the columns, blind to the gate.

    f1 is logistic regression on the chosen columns; the gate is logistic regression on the same columns, of
    whether f1 is wrong. Prices play no part.

    Parameters
    ----------
    {expensive}
    C : float
        Inverse strength of the L1 penalty, as in scikit-learn.
    n_features : int, optional
        Keep only so many columns, those of the largest coefficients.
    l2_regularization : float
        Inverse strength of the ridge of f1 and the gate, as C in scikit-learn.
    send_weight : float
        Weight of rows that f1 gets wrong, 0 to 1, in learning the gate; the others have the rest. More sends
        more rows on.
    {shared}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Section 5.4 and appendix A.2.3.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = L1GateClassifier(costs=heart.costs, n_features=3, random_state=0).fit(heart.X, heart.y)
    >>> len(model.pair_.used)
    3
    """

    _needs_words = False

    def __init__(
        self,
        expensive: Any = None,
        *,
        C: float = 1.0,
        n_features: int | None = None,
        l2_regularization: float = 1.0,
        send_weight: float = 0.5,
        expensive_features: Any = None,
        n_folds: int | None = 3,
        costs: Any = None,
        budget: float | None = None,
        send_share: float | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.expensive = expensive
        self.C = C
        self.n_features = n_features
        self.l2_regularization = l2_regularization
        self.send_weight = send_weight
        self.expensive_features = expensive_features
        self.n_folds = n_folds
        self.costs = costs
        self.budget = budget
        self.send_share = send_share
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name in ("C", "l2_regularization"):
            if not 0 < getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be above 0, and finite; got {getattr(self, name)!r}")
        if not 0 <= self.send_weight <= 1:
            raise ValueError(f"send_weight must lie between 0 and 1; got {self.send_weight!r}")
        if self.n_features is not None:
            check_whole("n_features", self.n_features, 1)

    def _learn_pair(self, rows: Rows, problem: Problem) -> tuple[Pair, list[float]]:
        design = Design.of(rows.values, self.schema_, problem.shares, 1 + problem.n_scores)
        total = float(problem.weights.sum())
        lasso = BlockPenalty(
            CostSheet.uniform(self.schema_.names), 1 / (self.C * total), design.blank.columns
        )
        sparse = logistic(design, problem, problem.shares, design.blank, lasso)
        narrow = replace(design, terms=design.terms * self._chosen(sparse)[design.blank.columns])
        ridge = Ridge(1 / (self.l2_regularization * total))
        pair = logistic(narrow, problem, problem.shares, design.blank, ridge)
        scores = narrow.scores(pair)[1:].T
        said = sigmoid(scores) if problem.n_classes == 2 else softmax(scores)
        wrong = (said.argmax(axis=1) != problem.target).astype(np.float64)
        shares = problem.shares * np.where(wrong == 1, self.send_weight, 1 - self.send_weight) * 2
        return descend(narrow, pair, _smooth(wrong, shares), 2 * bend(problem), _GateRidge(ridge, pair)), []

    def _chosen(self, sparse: LinearPair) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return the columns that the L1 penalty leaves, or the largest of them."""
        sizes = np.zeros(sparse.n_features)
        np.maximum.at(sizes, sparse.columns, np.abs(sparse.coef).max(axis=1))
        if self.n_features is not None:
            sizes[np.argsort(-sizes, kind="stable")[self.n_features :]] = 0.0
        return sizes > 0


class _GateRidge:
    """The ridge for the gate, while f1 stays as it is."""

    def __init__(self, ridge: Ridge, pair: LinearPair) -> None:
        self._ridge = ridge
        self._pair = pair

    def value(self, coef: Floats) -> float:
        return self._ridge.value(coef[:, :1])

    def prox(self, coef: Floats, step: float) -> Floats:
        return np.column_stack([self._ridge.prox(coef[:, :1], step), self._pair.coef[:, 1:]])


def _smooth(wrong: Floats, shares: Floats) -> Smooth:
    """Return the log loss of the gate as a function of the scores."""

    def smooth(scores: Floats) -> tuple[float, Floats]:
        slope = np.zeros_like(scores)
        slope[0] = (1 / (1 + np.exp(-scores[0])) - wrong) * shares
        return float(soft_values(wrong, scores) @ shares), slope

    return smooth
