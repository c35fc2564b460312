"""The baseline of section 5.4: columns first, by the lasso; then the cheap model; then the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from farthing.adaptive.adapt.base import ADAPT_CONSTRAINTS, AdaptClassifier
from farthing.adaptive.adapt.initial_pair import fit_f1
from farthing.adaptive.adapt.objective import Problem, soft_log_loss
from farthing.adaptive.adapt.parameter_docs import L1_TEXTS
from farthing.base import Guarantee, TrainingSet, documented, register
from farthing.base.parameters import CLASS_WEIGHT, POSITIVE, SHARE, at_least
from farthing.costs import CostSheet, CostsLike
from farthing.learning.group_penalty import GroupPenalty
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import RidgePenalty, log_loss_curvature
from farthing.learning.losses import scores_to_probabilities
from farthing.learning.proximal_descent import SmoothLoss, proximal_descent
from farthing.typing import Floats


@register(
    grid={"C": [1e-3, 1e-2, 1e-1, 1.0], "send_weight": [0.3, 0.5, 0.7, 0.9]},
    auto=False,
    trials=[{"expensive": GaussianNB(), "C": 0.1, "send_weight": 0.8, "call_cost": 0.3}],
)
@documented(L1_TEXTS)
class L1GateClassifier(AdaptClassifier):
    """The baseline: logistic regression with an L1 penalty selects the columns, without regard to the gate.

    f1 is logistic regression on the selected columns; the gate is logistic regression on the same columns, of
    whether f1 is wrong. Prices are ignored.

    Parameters
    ----------
    {expensive}
    C : float
        Inverse strength of the L1 penalty, as in scikit-learn.
    n_features : int, optional
        Number of columns to keep, those with the largest coefficients; None keeps all that are selected.
    l2_regularization : float
        Inverse strength of the L2 penalty of f1 and the gate, as C in scikit-learn.
    send_weight : float
        Weight of the rows that f1 gets wrong when the gate is fitted, 0 to 1; the other rows have the
        complement. A larger value sends more rows on.
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

    needs_expensive_proba = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        **ADAPT_CONSTRAINTS,
        "C": [POSITIVE],
        "n_features": [at_least(1), None],
        "l2_regularization": [POSITIVE],
        "send_weight": [SHARE],
    }

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
        class_weight: Any = None,
        costs: CostsLike = None,
        call_cost: float = 0.0,
        budget: float | None = None,
        send_share: float | None = None,
        guarantee: Guarantee | None = None,
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
        self.class_weight = class_weight
        self.costs = costs
        self.call_cost = call_cost
        self.budget = budget
        self.send_share = send_share
        self.guarantee = guarantee
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _learn_pairs(self, rows: TrainingSet, problem: Problem) -> list[tuple[LinearScores, list[float]]]:
        design = LinearDesign.of(rows.values, rows.schema, problem.shares, 1 + problem.n_scores)
        total = float(problem.weights.sum())
        # The baseline ignores prices. scikit-learn's C multiplies the summed loss, while the loss here is a
        # mean, so the penalty is divided by the total weight.
        uniform = CostSheet.uniform(rows.schema.names)
        lasso = GroupPenalty(uniform, 1 / (self.C * total), design.zeros.columns)
        sparse = fit_f1(design, problem, problem.shares, design.zeros, lasso)
        # Columns that were not selected become zeros, which no fit gives a coefficient.
        narrow = replace(design, terms=design.terms * self._selected(sparse)[design.zeros.columns])
        ridge = RidgePenalty(1 / (self.l2_regularization * total))
        pair = fit_f1(narrow, problem, problem.shares, design.zeros, ridge)
        probabilities = scores_to_probabilities(narrow.scores(pair)[1:].T, problem.n_classes)
        wrong = (probabilities.argmax(axis=1) != problem.target).astype(np.float64)
        # Times 2, so that a send_weight of 0.5 leaves the weights as they are. A row may then count twice,
        # which doubles the curvature.
        shares = problem.shares * np.where(wrong == 1, self.send_weight, 1 - self.send_weight) * 2
        curvature = 2 * log_loss_curvature(problem.n_classes)
        gate_ridge = _GateRidge(ridge, pair)
        return [(proximal_descent(narrow, pair, _gate_loss(wrong, shares), curvature, gate_ridge), [])]

    def _selected(self, sparse: LinearScores) -> NDArray[np.bool_]:
        """Return which columns the L1 penalty leaves, or the largest of them, shape (n_features,)."""
        sizes = np.zeros(sparse.n_features)
        np.maximum.at(sizes, sparse.columns, np.abs(sparse.coef).max(axis=1))
        if self.n_features is not None:
            sizes[np.argsort(-sizes, kind="stable")[self.n_features :]] = 0.0
        return sizes > 0


class _GateRidge:
    """An L2 penalty of the gate, while f1 stays as it is."""

    def __init__(self, ridge: RidgePenalty, pair: LinearScores) -> None:
        self._ridge = ridge
        self._pair = pair

    def value(self, coef: Floats) -> float:
        return self._ridge.value(coef[:, :1])

    def prox(self, coef: Floats, step: float) -> Floats:
        return np.column_stack([self._ridge.prox(coef[:, :1], step), self._pair.coef[:, 1:]])


def _gate_loss(wrong: Floats, shares: Floats) -> SmoothLoss:
    """Return the log loss of the gate as a function of the scores."""

    def loss(scores: Floats) -> tuple[float, Floats]:
        gradient = np.zeros_like(scores)
        gradient[0] = (1 / (1 + np.exp(-scores[0])) - wrong) * shares
        return float(soft_log_loss(wrong, scores) @ shares), gradient

    return loss
