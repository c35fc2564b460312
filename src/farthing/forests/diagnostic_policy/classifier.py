"""Diagnostic policies: the tests and labels of the least expected total cost."""

from __future__ import annotations

from typing import Any, ClassVar, Final

import numpy as np

from farthing.base import PricedErrorsMixin, SweepContext, TrainingSet, documented, register
from farthing.base.error_costs import ErrorPrices
from farthing.base.parameters import ANY_OR_NONE, NON_NEGATIVE, at_least, between
from farthing.base.priced_errors import ERROR_COSTS
from farthing.costs import CostsLike, per_price
from farthing.forests.budget_rf.tree import ClassCountModel
from farthing.forests.diagnostic_policy.coded_rows import CodedRows
from farthing.forests.diagnostic_policy.column_values import ColumnValues
from farthing.forests.diagnostic_policy.policy_search import PolicySearch
from farthing.forests.diagnostic_policy.policy_tree import PolicyTree
from farthing.learning.price_of_money import price_of_money

# Bins that intervals are joined from: those that other methods have by default, made once for a table.
_BINS: Final = 255
# What all features together are worth by default, in errors.
_ERRORS_PER_ALL: Final = 0.1


def _grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the defaults where errors have a price, else trade-offs per the cost of all features."""
    if context.error_costs is not None:
        # A choice among shrinkages by folds was no better than one for all, on tables of a few hundred rows.
        return {}
    whole = context.costs.total(context.costs.features) or 1.0
    return {"tradeoff": [float(per_price(share, whole)) for share in (0.03, 0.1, 0.3, 1.0, 3.0)]}


def _has_error_prices(context: SweepContext) -> bool:
    return context.error_costs is not None


def _auto(context: SweepContext) -> dict[str, list[Any]] | None:
    return _grid(context) if context.error_costs is not None else None


@register(
    grid=_grid,
    auto=_auto,
    rank=0,
    time_rank=2,
    preferred=_has_error_prices,
    trials=[
        {"max_depth": 2, "error_costs": 20.0},
        {
            "max_depth": 2,
            "max_features": 3,
            "max_values": 3,
            "tradeoff": 0.0,
            "shrinkage": 0.0,
            "node_penalty": 0.0,
        },
    ],
)
@documented({"error_costs": ERROR_COSTS})
class DiagnosticPolicyClassifier(PricedErrorsMixin):
    """The policy of the least expected total cost, tests and errors, found by dynamic programming.

    A state is what is known of a row: the values of some columns. In each state the policy stops with the
    label of the least expected cost, or buys the column after which the expected cost, its price included,
    is the least. Columns have a few values each, and a test tells them all apart. The probabilities of a
    state are those of its training rows, shrunk to naive Bayes, since few rows agree on several columns; the
    policy is optimal for these estimates, up to ``max_depth`` tests of ``max_features`` columns.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    {error_costs}
    tradeoff : float, optional
        What a unit of price is worth, in units of error price. None means 1 with error costs: errors and
        tests are then in one currency. Without them, ten times all features cost as much as an error.
    max_depth : int
        Most columns that a row may buy, 0 to 6. It is lowered until no more than 1,000 sets of columns are
        searched: to 4 for 11 columns, to 3 for 16.
    shrinkage : float
        Weight of naive Bayes in the probabilities of a state, in training rows; 0 trusts the rows alone.
    node_penalty : float
        What a test must save over all training rows of its state beyond its price, in mean prices of an
        error: cost-complexity, which stops where few rows decide.
    max_features : int
        Most columns that are considered: those with the least cost if one buys the column and stops.
    max_values : int
        Most values of a numeric column that are told apart; columns with more are cut into intervals of
        equal weight. Categories stay apart.
    n_jobs : int, optional
        Threads of predictions, as in joblib.

    Attributes
    ----------
    forest_ : Forest
        The policy as one tree; values are class probabilities.
    error_costs_ : ndarray of float64, shape (n_classes, n_classes), or None
        The prices that decide labels.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    Bayer-Zubek, Dietterich: Integrating Learning from Examples into the Search for Diagnostic Policies. JAIR
    24, 2005. It searches the same states with AO* and shrinks probabilities to the uniform ones.

    Examples
    --------
    >>> from farthing import ErrorCosts
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> errors = ErrorCosts([[0, 75], [88, 0]])
    >>> model = DiagnosticPolicyClassifier(heart.costs, error_costs=errors).fit(heart.X, heart.y)
    >>> model.walk().ask.feature
    'cp'
    """

    model_type = ClassCountModel
    price_parameters = ("error_costs",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "error_costs": ANY_OR_NONE,
        "tradeoff": [NON_NEGATIVE, None],
        "max_depth": [between(0, 6)],
        "shrinkage": [NON_NEGATIVE],
        "node_penalty": [NON_NEGATIVE],
        "max_features": [at_least(1)],
        "max_values": [between(2, _BINS)],
    }
    fitted_: ClassCountModel

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        error_costs: Any = None,
        tradeoff: float | None = None,
        max_depth: int = 6,
        shrinkage: float = 10.0,
        node_penalty: float = 1.0,
        max_features: int = 16,
        max_values: int = 6,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.error_costs = error_costs
        self.tradeoff = tradeoff
        self.max_depth = max_depth
        self.shrinkage = shrinkage
        self.node_penalty = node_penalty
        self.max_features = max_features
        self.max_values = max_values
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> ClassCountModel:
        values = ColumnValues.of(rows.bins(_BINS, self.n_threads()), rows.weights, int(self.max_values))
        errors = rows.errors
        if errors is None:
            table = 1.0 - np.eye(rows.n_classes)
            errors = ErrorPrices(table, table[rows.target])
        codes = values.codes.astype(np.int64)
        search = PolicySearch(
            CodedRows(codes, values.n_values, rows.target, rows.weights, errors.rows, errors.table),
            rows.costs,
            price_of_money(self.tradeoff, rows, _ERRORS_PER_ALL),
            int(self.max_depth),
            float(self.shrinkage),
            int(self.max_features),
            float(self.node_penalty),
        )
        return ClassCountModel(**rows.header(), forest=PolicyTree(search, values).forest())
