"""Optimal trees against every tree of small tables, and what their budgets and limits promise."""

import math
import warnings
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing import BudgetedClassifier, ErrorCosts, load
from farthing.base import SweepContext
from farthing.costs import CostSheet, Group
from farthing.errors import UnseenCategoryWarning
from farthing.forests import OptimalTreeClassifier
from farthing.frontier.candidates import candidates

# The plain optimum.
PLAIN = {"node_penalty": 0.0}


def divisions(values, categorical, max_levels, intervals=False):
    """Return the sets of values that a test of a column may send left; None is missing."""
    present = sorted({value for value in values if value is not None})
    levels = [*present, *([None] if None in values else [])]
    if not categorical:
        firsts = range(len(present)) if intervals else (0,)
        runs = [set(present[first:end]) for first in firsts for end in range(first + 1, len(present) + 1)]
        return [*runs, *(left | {None} for left in runs)]
    sizes = range(1, len(levels)) if len(levels) <= max_levels else (1,)
    return [set(left) for size in sizes for left in combinations(levels, size)]


class EveryTree:
    """All trees of a table, tried one by one."""

    def __init__(
        self,
        columns,
        categorical,
        labels,
        weights,
        sheet,
        *,
        tradeoff=1.0,
        budget=math.inf,
        penalty=0.0,
        max_levels=4,
        intervals=False,
    ):
        self.columns, self.labels, self.weights, self.sheet = columns, labels, weights, sheet
        self.tradeoff, self.budget, self.penalty = tradeoff, budget, penalty
        # What may be tested is a property of the table, not of a node.
        self.tests = [
            divisions(set(column), kind, max_levels, intervals)
            for column, kind in zip(columns, categorical, strict=True)
        ]
        self.least = cache(self._least)

    def price(self, column, owned):
        """Return the price of a column, or None if the budget does not allow it."""
        names = self.sheet.features
        more = [names[k] for k in sorted({*owned, column})]
        if self.sheet.total(more) > self.budget * (1 + 1e-12):
            return None
        return self.sheet.price(names[column], [names[k] for k in sorted(owned)])

    def children(self, rows, owned):
        """Yield the price, the rows on the left and on the right, and what they own, of each test."""
        for column, tests in enumerate(self.tests):
            price = self.price(column, owned)
            if price is None:
                continue
            for left_values in tests:
                left = frozenset(row for row in rows if self.columns[column][row] in left_values)
                if 0 < len(left) < len(rows):
                    yield price, left, rows - left, owned | {column}

    def leaf(self, rows):
        """Return the cost of the best label."""
        return min(sum(self.labels[row][label] for row in rows) for label in range(len(self.labels[0])))

    def _least(self, rows, owned, depth):
        best = self.leaf(rows)
        if depth:
            weight = sum(self.weights[row] for row in rows)
            for price, left, right, more in self.children(rows, owned):
                cost = weight * price * self.tradeoff + self.penalty
                best = min(
                    best, cost + self.least(left, more, depth - 1) + self.least(right, more, depth - 1)
                )
        return best

    def points(self, rows, owned, depth):
        """Return the (spend, cost of errors) of every tree."""
        found = {(0.0, self.leaf(rows))}
        if depth:
            weight = sum(self.weights[row] for row in rows)
            for price, left, right, more in self.children(rows, owned):
                for a in self.points(left, more, depth - 1):
                    for b in self.points(right, more, depth - 1):
                        found.add((weight * price + a[0] + b[0], a[1] + b[1]))
        return found


@st.composite
def priced_tables(draw, most_columns=6, most_rows=11):
    n_rows, n_columns = draw(st.integers(3, most_rows)), draw(st.integers(1, most_columns))
    n_classes = draw(st.integers(2, 3))
    cell = st.sampled_from([0, 1, 2, 3, 0, 1, 2, 3, None])
    columns = [draw(st.lists(cell, min_size=n_rows, max_size=n_rows)) for _ in range(n_columns)]
    # A column needs a value to have a type.
    columns = [[0, *column[1:]] for column in columns]
    categorical = draw(st.lists(st.booleans(), min_size=n_columns, max_size=n_columns))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    y[:n_classes] = range(n_classes)
    price = st.sampled_from([0.0, 0.3, 1.0, 2.5, 4.0])
    own = draw(st.lists(price, min_size=n_columns, max_size=n_columns))
    members = draw(st.sets(st.integers(0, n_columns - 1)))
    groups = {"lab": Group(draw(price), [f"x{k}" for k in sorted(members)])} if len(members) > 1 else {}
    error = st.sampled_from([0.5, 1.0, 3.0, 10.0])
    errors = np.array([[0.0 if a == b else draw(error) for b in range(n_classes)] for a in range(n_classes)])
    weights = draw(st.lists(st.sampled_from([1.0, 1.0, 2.0, 0.3]), min_size=n_rows, max_size=n_rows))
    frame = pd.DataFrame(
        {
            f"x{k}": pd.Categorical([None if v is None else f"c{v}" for v in column])
            if kind
            else [math.nan if v is None else float(v) for v in column]
            for k, (column, kind) in enumerate(zip(columns, categorical, strict=True))
        }
    )
    sheet = CostSheet(dict(zip(frame.columns, own, strict=True)), groups=groups)
    return columns, categorical, frame, np.array(y), np.array(weights), sheet, errors


@given(
    priced_tables(),
    st.integers(0, 3),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.sampled_from([None, 0.0, 1.3, 3.5]),
    st.sampled_from([0.0, 0.4]),
    st.sampled_from([2, 4, 6]),
    st.sampled_from(["thresholds", "intervals"]),
)
def test_no_tree_costs_less(table, depth, tradeoff, budget, node_penalty, max_levels, numeric_tests):
    columns, categorical, frame, y, weights, sheet, errors = table
    model = OptimalTreeClassifier(
        sheet,
        budget,
        max_depth=depth,
        error_costs=errors,
        tradeoff=tradeoff,
        node_penalty=node_penalty,
        numeric_tests=numeric_tests,
        max_levels=max_levels,
        n_jobs=2,
    ).fit(frame, y, weights)
    class_prices = errors.sum(axis=1) / (len(errors) - 1)
    penalty = node_penalty * np.average(class_prices[y], weights=weights)
    every = EveryTree(
        columns,
        categorical,
        (errors[y] * weights[:, np.newaxis]).tolist(),
        weights.tolist(),
        sheet,
        tradeoff=tradeoff,
        budget=math.inf if budget is None else budget,
        penalty=penalty,
        max_levels=max_levels,
        intervals=numeric_tests == "intervals",
    )
    least = every.least(frozenset(range(len(y))), frozenset(), depth)
    assert model.objective_ * weights.sum() == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert model.optimality_gap_ == 0
    # The tree does cost what the search says.
    spend = model.spend(frame)
    n_tests, tests_on_path = count_tests(model.forest_, numeric_tests == "intervals")
    paid = (weights * (errors[y, model.predict(frame)] + tradeoff * spend)).sum() + penalty * n_tests
    assert paid == pytest.approx(least, rel=1e-9, abs=1e-12)
    assert tests_on_path <= depth
    assert model.forest_.depth() <= (2 if numeric_tests == "intervals" else 1) * tests_on_path
    assert budget is None or spend.max() <= budget * (1 + 1e-12)


def count_tests(forest, intervals):
    """Return the number of tests of a tree and the most on a path; an interval is one.

    Two nested thresholds of a column are an interval if the same stands below the outer sides of both.
    """

    def shape(node):
        feature = int(forest.feature[node])
        if feature < 0:
            return (-1, forest.value[node].tolist())
        sides = [shape(int(forest.left[node])), shape(int(forest.right[node]))]
        return (feature, float(forest.threshold[node]), forest.value[node].tolist(), *sides)

    def count(node):
        feature = int(forest.feature[node])
        if feature < 0:
            return 0, 0
        left, right = int(forest.left[node]), int(forest.right[node])
        nested = intervals and forest.feature[right] == feature and forest.category[node] < 0
        if nested and shape(int(forest.right[right])) == shape(left):
            right = int(forest.left[right])
        counts, depths = zip(count(left), count(right), strict=True)
        return 1 + sum(counts), 1 + max(depths)

    return count(0)


@given(
    priced_tables(most_columns=3, most_rows=7),
    st.integers(1, 2),
    st.sampled_from(["thresholds", "intervals"]),
)
def test_every_breakpoint_of_the_trade_off_is_found(table, depth, numeric_tests):
    columns, categorical, frame, y, weights, sheet, errors = table
    model = OptimalTreeClassifier(
        sheet,
        budget_kind="mean",
        max_depth=depth,
        error_costs=errors,
        tradeoff=0.0,
        numeric_tests=numeric_tests,
        **PLAIN,
    )
    model.fit(frame, y, weights)
    labels = (errors[y] * weights[:, np.newaxis]).tolist()
    intervals = numeric_tests == "intervals"
    every = EveryTree(columns, categorical, labels, weights.tolist(), sheet, intervals=intervals)
    points = np.array(sorted(every.points(frozenset(range(len(y))), frozenset(), depth))) / weights.sum()
    hull = lower_hull(points)
    found = np.column_stack([model.path_costs_, model.path_errors_])[::-1]
    np.testing.assert_allclose(found, hull, rtol=1e-9, atol=1e-12)
    # Each tree of the path spends and errs as it says, and `at` takes the last one that fits.
    for spend, risk in hull.tolist():
        tree = model.at(spend)
        assert np.average(tree.spend(frame), weights=weights) == pytest.approx(spend, abs=1e-9)
        assert np.average(errors[y, tree.predict(frame)], weights=weights) == pytest.approx(risk, abs=1e-9)
        again = OptimalTreeClassifier(**{**model.get_params(), "budget": spend}).fit(frame, y, weights)
        assert again.forest_ == tree.forest_


def lower_hull(points):
    """Return the corners of the lower left hull, ascending in spend."""
    kept = []
    for point in points[np.lexsort((points[:, 1], points[:, 0]))].tolist():
        if kept and point[1] >= kept[-1][1] - 1e-12:
            continue
        while len(kept) > 1 and slope(kept[-1], point) <= slope(kept[-2], kept[-1]) + 1e-12:
            kept.pop()
        kept.append(point)
    return np.array(kept)


def slope(a, b):
    return (b[1] - a[1]) / (b[0] - a[0])


def xor_table(n_rows=400, n_columns=8, seed=0):
    """The label is the exclusive or of three columns, each of which tells nothing alone."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = ((X[:, 1] > 0.2) ^ (X[:, 2] > -0.3) ^ (X[:, 3] > 0)).astype(int)
    flipped = rng.random(n_rows) < 0.05
    return X, np.where(flipped, 1 - y, y)


def test_columns_that_tell_something_only_together_are_found():
    X, y = xor_table()
    model = OptimalTreeClassifier(tradeoff=0.001, max_depth=3, max_values=12).fit(X, y)
    assert set(model.forest_.feature.tolist()) == {-1, 1, 2, 3}
    assert model.score(X, y) > 0.85


@pytest.mark.parametrize("depth", [3, 4])
def test_any_number_of_threads_gives_the_same_tree(depth):
    X, y = xor_table(150, 6)
    X = np.round(X)  # many ties
    sheet = CostSheet(np.array([1.0, 1.0, 2.0, 1.0, 1.0, 2.0]), groups={"g": Group(1.0, ["x0", "x3"])})
    fits = [
        OptimalTreeClassifier(
            sheet, max_depth=depth, max_values=6, error_costs=30.0, n_jobs=n_jobs, **PLAIN
        ).fit(X, y)
        for n_jobs in (1, 2, 4, 1)
    ]
    assert all(fit.forest_ == fits[0].forest_ for fit in fits)
    assert len({fit.objective_ for fit in fits}) == 1


def test_a_deeper_tree_costs_no_more_and_unseen_rows_keep_the_hard_budget():
    X, y = xor_table(200, 6)
    sheet = CostSheet(np.arange(1.0, 7.0), groups={"g": Group(2.0, ["x1", "x4"])})
    fits = [
        OptimalTreeClassifier(sheet, 9.5, max_depth=depth, error_costs=50.0).fit(X, y) for depth in range(4)
    ]
    costs = [fit.objective_ for fit in fits]
    assert costs == sorted(costs, reverse=True)
    new = np.random.default_rng(1).normal(size=(500, 6)) * 3
    assert fits[-1].spend(new).max() <= 9.5


def test_a_time_limit_returns_a_tree_and_a_bound_below_the_optimum():
    X, y = xor_table(300, 8)
    settings_ = {"max_depth": 3, "max_values": 10, "tradeoff": 0.001, **PLAIN}
    best = OptimalTreeClassifier(**settings_).fit(X, y)
    hurried = OptimalTreeClassifier(**settings_, time_limit=0.0).fit(X, y)
    assert hurried.optimality_gap_ > 0
    assert hurried.lower_bound_ <= best.objective_ <= hurried.objective_
    assert hurried.objective_ - hurried.lower_bound_ == hurried.optimality_gap_
    # What it reports of itself is so.
    paid = (hurried.predict(X) != y).mean() + 0.001 * hurried.spend(X).mean()
    assert paid == pytest.approx(hurried.objective_)
    path = OptimalTreeClassifier(**settings_, budget_kind="mean", time_limit=0.0).fit(X, y)
    assert path.optimality_gap_ > 0


@pytest.mark.parametrize("seconds", [0.0, 0.0003, 0.001, 0.003, 0.01])
def test_a_limit_at_any_depth_of_the_search_proves_a_bound_of_the_full_depth(seconds):
    X, y = xor_table(120, 5, seed=1)
    settings_ = {"max_depth": 4, "max_values": 6, "tradeoff": 0.001, **PLAIN}
    best = OptimalTreeClassifier(**settings_).fit(X, y)
    hurried = OptimalTreeClassifier(**settings_, time_limit=seconds).fit(X, y)
    assert hurried.lower_bound_ <= best.objective_ <= hurried.objective_


def test_the_least_price_of_rows_of_their_own_is_minimised():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(60, 3)).astype(float), rng.integers(0, 2, 60)
    prices = np.where(np.eye(2, dtype=bool)[y], 0.0, rng.choice([0.1, 5.0], size=(60, 1)))
    model = OptimalTreeClassifier([0.1, 0.2, 0.3], max_depth=2, **PLAIN).fit(X, y, row_error_costs=prices)
    every = EveryTree(
        [column.astype(int).tolist() for column in X.T],
        [False] * 3,
        prices.tolist(),
        [1.0] * 60,
        CostSheet([0.1, 0.2, 0.3]),
    )
    least = every.least(frozenset(range(60)), frozenset(), 2)
    assert model.objective_ * 60 == pytest.approx(least, rel=1e-9)


def test_more_categories_than_bins_go_to_the_side_of_their_rows():
    rng = np.random.default_rng(0)
    names = np.array([f"c{k:03d}" for k in range(300)])
    codes = np.concatenate([np.arange(300), rng.integers(0, 300, 600)])
    y = (codes == 7).astype(int)
    frame = pd.DataFrame({"x": pd.Categorical(names[codes], categories=names)})
    model = OptimalTreeClassifier(tradeoff=0.0, max_depth=1, error_costs=1.0, **PLAIN).fit(frame, y)
    assert (model.predict(frame) == y).all()
    # A category that no row of the node has stays, as a missing value does.
    with pytest.warns(UnseenCategoryWarning):
        assert model.predict(pd.DataFrame({"x": ["unheard of"]})).tolist() == [0]


def test_files_keep_the_trees_of_all_budgets(tmp_path):
    X, y = xor_table(200, 4)
    model = OptimalTreeClassifier(np.arange(1.0, 5.0), budget_kind="mean", max_depth=2, error_costs=30.0).fit(
        X, y
    )
    model.save(tmp_path / "tree")
    again = load(tmp_path / "tree")
    assert [variant.forest_ for _, variant in again.variants()] == [v.forest_ for _, v in model.variants()]
    assert again.lower_bound_ == model.lower_bound_


@pytest.mark.parametrize(
    "bad",
    [
        {"max_depth": 7},
        {"max_values": 1},
        {"max_levels": 13},
        {"tradeoff": -1.0},
        {"budget_kind": "soft"},
        {"time_limit": -1},
    ],
)
def test_wrong_settings_are_refused(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        OptimalTreeClassifier(**bad).fit([[0.0], [1.0]], [0, 1])


def test_trees_of_other_budgets_need_a_mean_budget():
    model = OptimalTreeClassifier(max_depth=1).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="budget_kind='mean'"):
        model.at(3.0)


@pytest.mark.parametrize("budget_kind", ["hard", "mean"])
def test_the_front_door_may_try_it(budget_kind):
    X, y = xor_table(200, 4)
    sheet = CostSheet([4.0, 1.0, 1.0, 1.0])
    door = BudgetedClassifier(
        sheet, budget=3.0, budget_kind=budget_kind, methods=["OptimalTreeClassifier"], random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        door.fit(X, y)
    spend = door.spend(X)
    assert (spend.max() if budget_kind == "hard" else spend.mean()) <= 3.0 * (1 + 1e-12)
    assert door.score(X, y) > 0.7


def test_a_sweep_tries_it_where_errors_have_prices_as_deep_as_is_fast():
    def depths(n_rows, n_features, **changes):
        given = {"budget": None, "budget_kind": "mean", "error_costs": ErrorCosts(5.0, [0, 1]), **changes}
        context = SweepContext(
            n_rows,
            n_features,
            2,
            CostSheet([1.0] * n_features),
            given["budget"],
            given["budget_kind"],
            0,
            error_costs=given["error_costs"],
        )
        tried = [one for one in candidates("auto", context) if one.method == "OptimalTreeClassifier"]
        return [(one.params["max_depth"], one.params["budget_kind"]) for one in tried]

    assert depths(300, 10) == [(3, "hard"), (4, "hard")]
    assert depths(30_000, 10) == [(3, "hard")]
    assert depths(300, 100, budget=20.0) == [(2, "mean")]
    assert depths(300, 10, error_costs=None) == []
