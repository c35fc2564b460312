"""The trials of Huang, Powers and Reyzin (2015): tables of indicators, a fit of each rule, decision trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.lib.data_folder import data_folder
from experiments.lib.indicators import Table, census, digits, splice
from experiments.lib.kept_trials import Figures
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier, AdaBoostRSClassifier
from farthing.costs import CostSheet
from farthing.datasets import load_heart_disease, load_table
from farthing.forests import BudgetTreeClassifier
from farthing.table import PreparedTable

Rule: TypeAlias = Literal["basic", "greedy", "smoothed", "speedboost", "hybrid"]
# X and y to train on, X and y to test on; the tables are read once for all fits of a trial.
Parts: TypeAlias = tuple[PreparedTable, NDArray[np.int64], PreparedTable, NDArray[np.int64]]
BUDGETS = np.arange(2.0, 31.0, 2.0)
RULES: Final[tuple[Rule, ...]] = ("basic", "greedy", "smoothed", "speedboost", "hybrid")
OWN_RULES: Final[tuple[Rule, ...]] = ("basic", "greedy", "smoothed")  # the paper's
METHODS: Final = (*RULES, "rs")
LEAVES = (2, 3, 5, 9, 17, 33, 65, 129, 257)
TRAP_BUDGET = 2.0


@dataclass(frozen=True)
class Size:
    """How large a run is: rounds of boosting, and rows of the Yahoo-shaped table to train and test on."""

    n_rounds: int = 500
    yahoo_train: int = 7000
    yahoo_test: int = 15_439


TINY = Size(n_rounds=5, yahoo_train=200, yahoo_test=200)
TINY_SETS = ("splice", "ecoli", "heart")
YAHOO_TRIALS = 20  # of figure 2, in the paper


@dataclass(frozen=True)
class Setting:
    """A table of indicators and its sizes in the paper's table 1."""

    name: str
    X: NDArray[np.bool_]
    y: NDArray[np.int64]
    n_train: int
    n_test: int
    rounds: int  # of the reference AdaBoost, tuned in the paper
    paper_features: int
    paper_trials: int

    def draw(self, seed: int) -> Parts:
        """Return X and y to train on, X and y to test on."""
        rows = np.random.default_rng(seed).permutation(len(self.y))
        train, test = rows[: self.n_train], rows[self.n_train : self.n_train + self.n_test]
        return prepared(self.X.astype(np.float64), self.y, train, test)


def prepared(
    X: NDArray[np.float64], y: NDArray[np.int64], train: NDArray[np.int64], test: NDArray[np.int64]
) -> Parts:
    """Return some rows to train on and others to test on, as tables of one schema."""
    whole = PreparedTable.of(X)
    return whole.take(train), y[train], whole.take(test), y[test]


def thresholds(X: pd.DataFrame) -> NDArray[np.bool_]:
    """Return an indicator for every threshold between two values of a column."""
    columns = []
    for name in X.columns:
        column = X[name].to_numpy(dtype=np.float64, na_value=np.nan)
        columns += [column > value for value in np.unique(column[~np.isnan(column)])[:-1]]
    return np.column_stack(columns)


# Reyzin's tables: how to make one, rounds of AdaBoost and features in the paper.
INDICATORS: Final[dict[str, tuple[Callable[[], Table], int, int]]] = {
    "ocr17": (lambda: digits(1, 7), 400, 403),
    "ocr49": (lambda: digits(4, 9), 200, 403),
    "splice": (splice, 75, 240),
    "census": (census, 880, 131),
}


def settings(wanted: Sequence[str] | None = None) -> list[Setting]:
    """Return the nine tables of figure 1, or those of them that are wanted."""
    found = []
    for name, (make, rounds, paper_features) in INDICATORS.items():
        if wanted is None or name in wanted:
            table = make()
            found.append(Setting(name, table.X, table.y, 1000, table.n_test, rounds, paper_features, 100))
    return found + small_settings(wanted)


def small_settings(wanted: Sequence[str] | None) -> list[Setting]:
    """Return the five tables of numbers, an indicator for each threshold, or those that are wanted."""
    found = []
    heart = load_heart_disease()
    for name, X, y, sizes in (
        ("breast cancer", *_loaded("breast_cancer_original", "malignant"), (500, 199, 500, 82)),
        ("ecoli", *_loaded("ecoli", "cp"), (200, 136, 50, 356)),
        ("sonar", *_loaded("sonar", "M"), (100, 108, 99, 11196)),
        ("heart", pd.DataFrame(heart.X), np.asarray(heart.y), (100, 170, 15, 371)),
        ("ionosphere", *_loaded("ionosphere", "good"), (300, 51, 400, 8114)),
    ):
        if wanted is not None and name not in wanted:
            continue
        labels = (np.unique(y, return_inverse=True)[1] > 0).astype(np.int64)
        n_train, n_test, rounds, paper_features = sizes
        found.append(
            Setting(name, thresholds(_numbers(X)), labels, n_train, n_test, rounds, paper_features, 400)
        )
    return found


def _loaded(name: str, positive: str) -> tuple[pd.DataFrame, NDArray[np.bool_]]:
    table = load_table(name)
    return table.X, np.asarray(table.y).astype(str) == positive


def _numbers(X: pd.DataFrame) -> pd.DataFrame:
    """Return categories as their codes, which are ordered where it matters."""
    return pd.DataFrame(
        {name: X[name] if pd.api.types.is_numeric_dtype(X[name]) else _codes(X[name]) for name in X.columns}
    )


def _codes(column: Any) -> Any:
    codes = pd.Series(pd.Categorical(column).codes, index=column.index, dtype=np.float64)
    return codes.where(codes >= 0)


def run_trial(setting: Setting, seed: int, size: Size) -> Figures:
    """Fit every rule once and read its errors at every budget from that one fit.

    Returns
    -------
    dict
        Errors in percent: of each of `METHODS`, shape (n_budgets,); "adaboost", shape (); "trees" and their
        mean spend, "tree_spend", by `LEAVES`; "greedy_spent" and "smoothed_spent", of TRAP_BUDGET.
    """
    parts = X, y, X_test, y_test = setting.draw(seed)
    drawn = np.random.default_rng(seed + 10_000).uniform(0, 2, size=X.shape[1])
    costs = CostSheet.of(drawn, X.schema.names)
    figures, spent = curves(parts, costs, size.n_rounds)
    full = AdaBoostClassifier(n_estimators=setting.rounds, intercept=False).fit(X, y)
    figures["adaboost"] = np.array(percent_wrong(full.decision_function(X_test), y_test))
    trees = [_tree(X, y, costs, leaves) for leaves in LEAVES]
    shares = [tree.predict_proba(X_test) for tree in trees]
    figures["trees"] = np.array([percent_wrong(share[:, 1] - share[:, 0], y_test) for share in shares])
    figures["tree_spend"] = np.array([tree.spend(X_test).mean() for tree in trees])
    return figures | {f"{rule}_spent": np.array(spent[rule]) for rule in ("greedy", "smoothed")}


def curves(parts: Parts, costs: CostSheet, n_rounds: int) -> tuple[Figures, dict[Rule, float]]:
    """Return the errors at each budget by method, and what each rule spends of TRAP_BUDGET."""
    X, y, X_test, y_test = parts
    errors: Figures = {}
    spent: dict[Rule, float] = {}
    for rule in RULES:
        # Algorithm 1 to the letter: it ends at the first choice that the budget does not cover.
        model = AdaBoostBTClassifier(
            rule=rule, budget=BUDGETS[-1], costs=costs, n_estimators=n_rounds, intercept=False, exhaust=False
        ).fit(X, y)
        staged = [percent_wrong(votes, y_test) for votes in model.staged_decision_function(X_test)]
        # The model of a smaller budget is the first rounds: see AdaBoostBTClassifier.at.
        prior = percent_wrong(np.full(len(y_test), model.prior_[0]), y_test)
        rounds = np.searchsorted(model.path_["spent"], BUDGETS * (1 + 1e-12), side="right")
        errors[rule] = np.array([prior, *staged])[rounds]
        spent[rule] = float(model.at(TRAP_BUDGET).path_["spent"].max(initial=0.0))
    sampled = AdaBoostRSClassifier(
        estimator=AdaBoostClassifier(n_estimators=n_rounds, intercept=False), sampling="weight", costs=costs
    ).fit(X, y)
    seeds = np.arange(len(y_test))
    votes = [sampled.decision_function(X_test, budget=budget, seeds=seeds) for budget in BUDGETS]
    errors["rs"] = np.array([percent_wrong(vote, y_test) for vote in votes])
    return errors, spent


def percent_wrong(votes: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Return the error of votes in percent; a tied vote, of zero, counts as half an error.

    Examples
    --------
    >>> percent_wrong(np.array([1.0, -1.0, 0.0, 0.0]), np.array([1, 1, 1, 0]))
    50.0
    """
    wrong = np.where(votes == 0, 0.5, (votes > 0) != (y == 1))
    return 100 * float(wrong.mean())


def _tree(X: PreparedTable, y: NDArray[np.int64], costs: CostSheet, leaves: int) -> BudgetTreeClassifier:
    """Fit a plain CART tree: Gini impurity, prices without weight."""
    tree = BudgetTreeClassifier(
        impurity="gini", cost_rule="penalty", tradeoff=0.0, max_leaf_nodes=leaves, costs=costs
    )
    return tree.fit(X, y)


# Figure 2: a table of the shape of Yahoo's, which is not available any more.


def yahoo_sheet() -> CostSheet:
    """Return Yahoo's 519 prices over ten: .1, .5, 2, 5, 10, 15, 20; the paper has some of 1, too."""
    return CostSheet.read(data_folder() / "costs" / "yahoo_ltr_519.csv").scaled(0.1)


def yahoo_like(
    seed: int, prices: NDArray[np.float64], n_rows: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return rows whose relevance one feature at price 20 predicts well, many cheaper ones a little.

    Relevance is a hidden number; each feature is it, times a loading, and noise. Loadings are drawn once, the
    same for all trials: that of the most expensive feature is far above all others.
    """
    fixed = np.random.default_rng(2015)
    loading = fixed.gamma(0.7, 0.22, size=len(prices))
    loading[np.argmax(prices)] = 1.6
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    X = hidden[:, np.newaxis] * loading + rng.normal(size=(n_rows, len(prices)))
    return np.maximum(X, -1.0), (hidden + 0.3 * rng.normal(size=len(hidden)) > -0.3).astype(np.int64)


def run_yahoo(seed: int, size: Size) -> Figures:
    """Run one trial of figure 2."""
    prices = yahoo_sheet().own
    X, y = yahoo_like(seed, prices, size.yahoo_train + size.yahoo_test)
    parts = prepared(X, y, *np.split(np.arange(len(y)), [size.yahoo_train]))
    return curves(parts, CostSheet.of(prices, parts[0].schema.names), size.n_rounds)[0]
