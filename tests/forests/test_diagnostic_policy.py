"""The diagnostic policy against all policies of small tables, and what its tree does with odd values."""

import numpy as np
import pandas as pd
import pytest

from farthing.costs import CostSheet, Group
from farthing.forests import DiagnosticPolicyClassifier

TABLE = np.array([[0.0, 30.0, 18.0], [40.0, 0.0, 50.0], [25.0, 35.0, 0.0]])
SHEET = CostSheet([2.0, 3.0, 1.0, 4.0], groups={"blood": Group(2.5, ["x1", "x3"])})
# Estimates are then those of the rows alone, so the policy is optimal on them.
PLAIN = {"shrinkage": 0.0, "node_penalty": 0.0}


def brute_force(X, y, prices, sheet, depth, owned=()):
    """Return the least total cost of some rows over all policies, by trying every test in every state."""
    least = prices.sum(axis=0).min()
    if not depth:
        return least
    names = sheet.features
    for column in set(range(X.shape[1])) - set(owned):
        price = sheet.price(names[column], [names[k] for k in owned])
        later = 0.0
        for value in np.unique(X[:, column]):
            of = X[:, column] == value
            later += brute_force(X[of], y[of], prices[of], sheet, depth - 1, (*owned, column))
        least = min(least, len(X) * price + later)
    return least


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("depth", [1, 2, 4])
def test_no_policy_of_the_training_rows_is_cheaper(seed, depth):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(40, 4)).astype(float), rng.integers(0, 3, 40)
    y[X[:, 0] + X[:, 3] > 2] = 2
    model = DiagnosticPolicyClassifier(SHEET, error_costs=TABLE, max_depth=depth, **PLAIN).fit(X, y)
    paid = TABLE[y, model.predict(X)].sum() + model.spend(X).sum()
    assert paid == pytest.approx(brute_force(X, y, TABLE[y], SHEET, depth))
    assert model.acquired(X).sum(axis=1).max() <= depth


def test_prices_of_rows_are_minimised_as_they_are():
    """Rows of one class with different prices: labels go by the class, tests by each row's own prices."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, size=(60, 4)).astype(float), rng.integers(0, 3, 60)
    cheap = TABLE[y] * np.where(X[:, 0] == 0, 1e-3, 1.0)[:, np.newaxis]
    model = DiagnosticPolicyClassifier(SHEET, max_depth=2, **PLAIN).fit(X, y, row_error_costs=cheap)
    # Where errors cost next to nothing, nothing is bought after the first column.
    assert model.spend(X[X[:, 0] == 0]).max() <= model.spend(X[X[:, 0] == 1]).max()
    all_cheap = DiagnosticPolicyClassifier(SHEET, **PLAIN).fit(X, y, row_error_costs=1e-3 * TABLE[y])
    assert all_cheap.spend(X).max() == 0


def test_probabilities_are_shrunk_to_naive_bayes():
    """One column: naive Bayes, with one row of the column's own distribution added to each class."""
    X, y = np.repeat([[0.0], [1.0]], [6, 4], axis=0), np.array([0] * 5 + [1] + [1] * 3 + [0])
    sheet = CostSheet([0.0])
    model = DiagnosticPolicyClassifier(sheet, error_costs=10.0, shrinkage=2.0, node_penalty=0.0).fit(X, y)
    overall = (np.array([6, 4]) + 0.5) / 11
    likelihood = (np.array([[5, 1], [1, 3]]) + overall[:, np.newaxis]) / (np.array([6, 4]) + 1)
    bayes = np.array([0.6, 0.4]) * likelihood
    bayes /= bayes.sum(axis=1, keepdims=True)
    expected = (np.array([[5, 1], [1, 3]]) + 2 * bayes) / np.array([[8], [6]])
    assert model.predict_proba([[0.0], [1.0]]) == pytest.approx(expected)


def test_a_test_that_saves_little_over_its_rows_is_not_bought():
    X, y = np.repeat([[0.0], [1.0]], [50, 2], axis=0), np.array([0] * 50 + [1, 1])
    settings = {"error_costs": 100.0, "shrinkage": 0.0}
    # Buying saves two errors of 100 for 52: more than one error over all rows is left.
    assert DiagnosticPolicyClassifier([1.0], node_penalty=1.0, **settings).fit(X, y).spend(X).max() == 1
    assert DiagnosticPolicyClassifier([1.0], node_penalty=2.0, **settings).fit(X, y).spend(X).max() == 0


def frame(n_rows, seed, *, missing):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n_rows)),
            "size": rng.normal(size=n_rows),
            "old": rng.integers(0, 2, n_rows).astype(float),
        }
    )
    y = (table["colour"] == "red") ^ (table["size"] > 0.3)
    if missing:
        table.loc[rng.random(n_rows) < 0.3, "size"] = np.nan
        table.loc[rng.random(n_rows) < 0.3, "colour"] = np.nan
    return table, y.to_numpy().astype(int)


def test_categories_numbers_and_missing_values():
    X, y = frame(600, 0, missing=True)
    model = DiagnosticPolicyClassifier(error_costs=100.0).fit(X, y)
    new, truth = frame(600, 1, missing=True)
    known = new.notna().all(axis=1)
    right = model.predict(new) == truth
    assert right[known].mean() > 0.9
    # A missing value of one column leaves the other to go by.
    assert right[~known].mean() > 0.55
    for row in range(40):
        walk = model.walk()
        while walk.ask is not None:
            walk.tell(new[walk.ask.feature].iloc[row])
        assert walk.decision.prediction == model.predict(new.iloc[[row]])[0]


def test_a_missing_value_that_no_training_row_had_stops_there():
    X, y = frame(300, 0, missing=False)
    model = DiagnosticPolicyClassifier(error_costs=100.0).fit(X, y)
    gone = X.assign(colour=np.nan, size=np.nan, old=np.nan).astype(X.dtypes)
    assert np.array_equal(model.predict_proba(gone), np.tile(model.predict_proba(gone.iloc[:1]), (300, 1)))
    assert model.spend(gone).max() == 1.0


def test_many_columns_are_screened_and_searched_less_deeply():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 40)).astype(float)
    y = (X[:, 7] + X[:, 31] > 2).astype(int)
    model = DiagnosticPolicyClassifier(np.full(40, 0.1), error_costs=50.0, max_features=6).fit(X, y)
    assert set(np.flatnonzero(model.fitted_.may_buy())) >= {7, 31}
    assert model.fitted_.may_buy().sum() <= 6
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize(
    "bad", [{"max_depth": 7}, {"shrinkage": -1.0}, {"node_penalty": -1.0}, {"max_values": 1}]
)
def test_parameters_out_of_range(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        DiagnosticPolicyClassifier(**bad).fit([[0.0], [1.0]], [0, 1])
