"""Predictions of tables that lack columns, have refused entries, or have no rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import farthing
from farthing.adaptive import AdaptLinClassifier
from farthing.boosting import AdaBoostRSClassifier, GreedyMiserClassifier
from farthing.cascades import BranchingCascadeClassifier, EarlyExitClassifier, MiserCascadeClassifier
from farthing.errors import TableError
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.neighbors import MarginNeighborsClassifier
from farthing.table import PreparedTable

RNG = np.random.default_rng(1)
X = pd.DataFrame(
    {
        "noise": RNG.normal(size=120),
        "age": RNG.normal(size=120),
        "dye": RNG.choice(["a", "b", "c"], 120),
        "ca": RNG.normal(size=120),
    }
)
Y = ((X["age"] + (X["dye"] == "b")) > 0.3).to_numpy()
COSTS = {"noise": 500.0, "age": 1.0, "dye": 2.0, "ca": 400.0}
TREE = BudgetTreeClassifier(max_depth=3, costs=COSTS).fit(X, Y)


def test_the_tree_of_these_tests_buys_two_columns():
    assert TREE.acquired(X).any(axis=0).tolist() == [False, True, True, False]
    assert TREE.fitted_.may_buy().tolist() == [False, True, True, False]


@pytest.mark.parametrize("kind", ["pandas", "polars", "mapping", "prepared", "part of a prepared table"])
def test_columns_that_are_never_bought_may_be_absent(kind):
    narrow = X[["dye", "age"]]
    given = {
        "pandas": narrow,
        "polars": pl.DataFrame(narrow.to_dict(orient="list")),
        "mapping": narrow.to_dict(orient="list"),
        "prepared": PreparedTable.of(X[["age", "dye"]]),
        "part of a prepared table": PreparedTable.of(X[["age", "dye"]]).take(np.arange(120)),
    }[kind]
    assert np.array_equal(TREE.predict_proba(given), TREE.predict_proba(X))
    decided, expected = TREE.decide(given), TREE.decide(X)
    assert np.array_equal(decided.spent, expected.spent)
    assert np.array_equal(decided.acquired, expected.acquired)


def test_columns_that_may_be_bought_are_named():
    for given in (X[["age"]], PreparedTable.of(X[["age"]])):
        with pytest.raises(TableError, match="dye") as caught:
            TREE.predict(given)
        assert "noise" not in str(caught.value)
    with pytest.raises(TableError, match=r"refused=\[\.\.\.\]"):
        TREE.predict(X[["age"]])
    with pytest.raises(TableError, match=r"unseen at fit time:\n- agee\n.*\n- age"):
        TREE.predict(X[["dye", "age"]].rename(columns={"age": "agee"}))
    with pytest.raises(TableError, match="X has 2 features, but BudgetTreeClassifier is expecting 4"):
        TREE.predict(X[["noise", "age"]].to_numpy())


MODELS = [
    BudgetForestClassifier(n_estimators=3, max_depth=3, random_state=0),
    GreedyMiserClassifier(n_estimators=10, tradeoff=0.01),
    EarlyExitClassifier(GreedyMiserClassifier(n_estimators=10, tradeoff=0.01)),
    AdaBoostRSClassifier(n_estimators=5, random_state=0),
    MiserCascadeClassifier(budget=5.0, n_estimators=10, random_state=0),
    BranchingCascadeClassifier(budget=5.0, random_state=0),
    AdaptLinClassifier(BudgetForestClassifier(n_estimators=3, max_depth=2, random_state=0)),
    MarginNeighborsClassifier(n_neighbors=10, random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_methods_read_only_what_they_may_buy(model):
    fitted = model.set_params(costs=COSTS).fit(X, Y)
    needed = fitted.fitted_.may_buy()
    assert not (fitted.acquired(X) & ~needed).any()
    narrow = X.loc[:, needed]
    assert np.array_equal(fitted.predict_proba(narrow), fitted.predict_proba(X))
    for name in narrow.columns:
        with pytest.raises(TableError, match=name):
            fitted.predict(X.drop(columns=name))


def test_the_front_door_takes_narrow_tables():
    front = farthing.BudgetedClassifier(
        budget=3.0, costs=COSTS, methods=[("BudgetTreeClassifier", {"max_depth": [2]})], random_state=0
    ).fit(X, Y)
    narrow = X.loc[:, front.fitted_.may_buy()]
    assert narrow.shape[1] <= 2
    assert np.array_equal(front.predict(narrow), front.predict(X))


def walked(row, refused, budget=None):
    """Return the decision of a walk that refuses some features of a row of X."""
    walk = TREE.walk(budget=budget)
    while (ask := walk.ask) is not None:
        if ask.feature in refused:
            walk.refuse()
        else:
            walk.tell(X.iloc[row][ask.feature])
    return walk.decision


@pytest.mark.parametrize("kind", ["names", "array", "frame", "other order", "prepared", "polars"])
@pytest.mark.parametrize("budget", [None, 2.0])
def test_refused_entries_are_those_of_a_walk(kind, budget):
    flags = pd.DataFrame(RNG.random(X.shape) < 0.5, columns=X.columns)
    given, refused = X, flags.to_numpy()
    if kind == "names":
        flags = pd.DataFrame({name: np.full(len(X), name == "age") for name in X.columns})
        refused = ["age"]
    elif kind == "frame":
        refused = flags[["dye", "age"]]
    elif kind == "other order":
        given, refused = X[X.columns[::-1]], refused[:, ::-1]
    elif kind == "prepared":
        given = PreparedTable.of(X)
    elif kind == "polars":
        refused = pl.DataFrame(flags.to_dict(orient="list"))
    decided = TREE.decide(given, refused=refused, budget=budget)
    plain = TREE.decide(X, budget=budget)
    assert not np.array_equal(decided.spent, plain.spent), "the refusals must make a difference"
    for row in range(0, len(X), 7):
        decision = walked(row, set(X.columns[flags.iloc[row]]), budget)
        assert decided.prediction[row] == decision.prediction
        assert decided.probabilities[row].tolist() == list(decision.probabilities.values())
        assert decided.spent[row] == decision.spent
        assert tuple(X.columns[decided.acquired[row]]) == decision.acquired
    for call, expected in (
        ("predict", decided.prediction),
        ("predict_proba", decided.probabilities),
        ("spend", decided.spent),
        ("acquired", decided.acquired),
    ):
        assert np.array_equal(getattr(TREE, call)(given, refused=refused, budget=budget), expected)


def test_a_column_that_is_refused_may_be_absent():
    narrow = TREE.predict_proba(X[["age"]], refused=["dye"])
    assert np.array_equal(narrow, TREE.predict_proba(X, refused="dye"))
    assert not np.array_equal(narrow, TREE.predict_proba(X))


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (["aeg"], "unknown feature 'aeg'; did you mean 'age'"),
        (np.zeros((120, 3), dtype=bool), "refused must have a column for each of the 4 of X; got 3"),
        (np.zeros((7, 4), dtype=bool), "refused must have a row for each of the 120 of X; got 7"),
        (np.zeros((120, 4)), "True and False only; column 'noise'"),
        (pd.DataFrame({"agee": np.zeros(120, dtype=bool)}), "unknown feature 'agee'"),
    ],
)
def test_flags_that_do_not_fit_are_refused(refused, message):
    with pytest.raises(TableError, match=message):
        TREE.predict(X, refused=refused)


@pytest.mark.parametrize(
    "rows", [X[:0], X[:0].to_dict(orient="list"), PreparedTable.of(X).take(np.arange(0))]
)
def test_tables_without_rows(rows):
    assert TREE.predict(rows).shape == (0,)
    assert TREE.predict(rows).dtype == bool
    assert TREE.predict_proba(rows).shape == (0, 2)
    assert TREE.spend(rows).shape == (0,)
    assert TREE.acquired(rows, budget=np.empty(0), seeds=1).shape == (0, 4)
    assert len(TREE.decide(rows, refused=["age"]).prediction) == 0


def test_arrays_without_rows():
    model = BudgetTreeClassifier().fit(np.eye(4), [0, 1, 0, 1])
    assert model.predict(np.empty((0, 4))).tolist() == []
    with pytest.raises(TableError, match="0 sample"):
        BudgetTreeClassifier().fit(np.empty((0, 4)), [])
