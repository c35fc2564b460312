"""The tables that the checks fit and predict: small, seeded, with missing values and shared costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags

from farthing.costs import CostSheet, Group
from farthing.typing import Floats

# Word masks of the compiled core hold 64 features: this table needs two words.
N_WIDE = 72


@dataclass(frozen=True)
class Problem:
    """A learning problem: rows to fit on, unseen rows to predict, and the prices of the features.

    Attributes
    ----------
    X : array or frame, shape (n_rows, n_features)
        Rows to fit on.
    y : array, shape (n_rows,)
        Their targets.
    fresh : array or frame, shape (n_fresh, n_features)
        Rows that no fit sees.
    sheet : CostSheet
        Prices, in the order of the columns.
    categorical : int or None
        The column that holds text, if any.
    """

    X: Any
    y: Any
    fresh: Any
    sheet: CostSheet
    categorical: int | None = None

    @property
    def is_wide(self) -> bool:
        """Whether it has more columns than a word of the compiled core has bits."""
        return len(self.names) > 64

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.sheet.features

    @cached_property
    def total(self) -> float:
        """The total cost of all features."""
        return self.sheet.total(self.names)

    @cached_property
    def free_sheet(self) -> CostSheet:
        """The same features at a cost of zero."""
        return CostSheet(dict.fromkeys(self.names, 0.0))

    @cached_property
    def free_groups(self) -> CostSheet:
        """The same features at a cost of zero, in a group that costs zero too."""
        return CostSheet(dict.fromkeys(self.names, 0.0), groups={"lab": Group(0.0, self.names[1::3])})

    def budgets(self, n_rows: int | None = None) -> list[Any]:
        """Return budgets for the fresh rows, or for ``n_rows``: none, one for all rows, and one per row."""
        n_rows = len(self.fresh) if n_rows is None else n_rows
        # Shuffled, so that a model cannot pass by using a neighbour's budget.
        per_row = np.random.default_rng(3).permutation(np.linspace(0, self.total, n_rows))
        exact = self.sheet.total(self.names[:2])  # two features, to the last bit
        if self.is_wide:  # fewer, since walks over it are long
            return [None, exact, 0.3 * self.total, per_row]
        return [None, 0.0, 0.4, exact, 0.6 * self.total, np.inf, per_row]

    @cached_property
    def mixed_budgets(self) -> Floats:
        """All those budgets at once, for checks that would take long with each of them: one per fresh row.

        Each budget for all rows is that of some rows, and the others keep their own.
        """
        *for_all, per_row = self.budgets()
        mixed = np.array(per_row)
        numbers = [budget for budget in for_all if budget is not None]
        for place, budget in enumerate(numbers):
            mixed[place :: 2 * len(numbers)] = budget
        return mixed

    def row(self, row: int) -> dict[str, Any]:
        """Return a fresh row as a mapping from feature to value."""
        return dict(zip(self.names, self.fresh[row], strict=True))


# A free feature, two groups, costs whose sums round, and a resource of which a free feature takes some.
_SHEET = CostSheet(
    {"x0": 1.0, "x1": 0.3, "x2": 0.7, "x3": 0.0, "x4": 2.1, "x5": 0.1},
    groups={"lab": Group(1.3, ["x1", "x4"]), "scan": Group(0.6, ["x2", "x5"])},
    resources={"minutes": {"costs": {"x0": 0.3, "x1": 5.0, "x2": 1.1, "x3": 0.7}, "groups": {"lab": 2.3}}},
)
# One group lies across the border between the two words.
_WIDE_SHEET = CostSheet(
    {f"x{column}": 0.1 + 0.3 * (column % 4) for column in range(N_WIDE)},
    groups={"lab": Group(1.3, ["x1", "x40", "x70"]), "border": Group(0.6, ["x63", "x64"])},
    resources={"minutes": {f"x{column}": 0.1 * (column % 7) for column in range(N_WIDE)}},
)


Tables: TypeAlias = Literal["all", "narrow", "mixed", "small"]


def problems(estimator: Any, tables: Tables = "all") -> list[Problem]:
    """Return the problems to check an estimator on.

    Parameters
    ----------
    estimator : estimator
        It decides what the target is: numbers, two classes or three.
    tables : {"all", "narrow", "mixed", "small"}
        "narrow": floats with NaN, and an object table with categories, of six columns each. "all": also a
        table of 72 columns. "mixed": only that of numbers and categories. "small": one of few rows, for
        estimators that are slow to fit.
    """
    if tables == "small":
        return [_numeric(estimator, 30, 10)]
    if tables == "mixed":
        return [_mixed(estimator)]
    narrow = [_numeric(estimator, 60, 12), _mixed(estimator)]
    return narrow if tables == "narrow" else [*narrow, _wide(estimator)]


def _numeric(estimator: Any, n_rows: int, n_fresh: int) -> Problem:
    table, signal = _table(7)
    y, end = target_of(estimator, signal), n_rows + n_fresh
    return Problem(table[:n_rows], y[:n_rows], table[n_rows:end], _SHEET)


def _mixed(estimator: Any) -> Problem:
    table, signal = _table(8)
    X, column, trees = table.astype(object), 2, ("ash", "beech", "cedar")
    X[:, column] = [None if np.isnan(code) else trees[int(code)] for code in table[:, column]]
    y = target_of(estimator, signal)
    return Problem(X[:60], y[:60], X[60:72], _SHEET, column)


def _table(seed: int) -> tuple[Floats, Floats]:
    """Return 90 rows of six columns, one in ten entries missing, and the signal in them."""
    rng = np.random.default_rng(seed)
    table = np.round(rng.normal(size=(90, 6)), 2)
    table[:, 2] = rng.integers(0, 3, size=90)
    table[:, 3] = rng.integers(0, 2, size=90)
    signal = table[:, 0] + (table[:, 2] == 1) * 1.5 - table[:, 1] + table[:, 3] + 0.5 * table[:, 4]
    table[rng.random(size=table.shape) < 0.1] = np.nan
    return table, signal


def _wide(estimator: Any) -> Problem:
    """Return a problem whose informative columns lie in both words and on either side of the border."""
    rng = np.random.default_rng(9)
    table = np.round(rng.normal(size=(66, N_WIDE)), 2)
    signal = 0.8 + 3 * table[:, 70] - table[:, 3] + table[:, 63] - table[:, 64] + 0.5 * table[:, 40]
    table[rng.random(size=table.shape) < 0.05] = np.nan
    y = target_of(estimator, signal)
    return Problem(table[:60], y[:60], table[60:], _WIDE_SHEET)


def target_of(estimator: Any, signal: Floats) -> Any:
    """Return the signal itself for a regressor, else as many classes as the estimator can learn."""
    if not is_classifier(estimator):
        return signal
    binary = not get_tags(estimator).classifier_tags.multi_class
    codes = np.searchsorted([0.8] if binary else [0.3, 1.5], signal)
    return np.array(["low", "mid", "top"])[codes]
