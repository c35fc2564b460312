"""Values that are not written as in the fit find their category; others are missing, with a warning."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import farthing
from farthing.errors import TableError, UnseenCategoryWarning
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import sweep
from farthing.table import Column, PreparedTable

RNG = np.random.default_rng(0)
CODES = RNG.choice(["1", "2", "10", "?"], 200)
Y = np.isin(CODES, ["1", "10"])
X = pd.DataFrame({"code": CODES, "size": RNG.normal(size=200)})
MODEL = BudgetTreeClassifier(costs=[1, 2]).fit(X, Y)
DIGITS = CODES != "?"
NUMBERS = X[DIGITS].assign(code=X.code[DIGITS].astype(int))


@pytest.mark.parametrize(
    "written",
    [
        NUMBERS,
        NUMBERS.assign(code=NUMBERS.code.astype(float)),
        NUMBERS.assign(code=NUMBERS.code.astype("category")),
        NUMBERS.assign(code=NUMBERS.code.astype("Int64")),
        NUMBERS.assign(code=" " + NUMBERS.code.astype(str)),
        NUMBERS.assign(code=NUMBERS.code.astype(float).astype(str)),
        pl.DataFrame({"code": NUMBERS.code.to_numpy(), "size": NUMBERS["size"].to_numpy()}),
        NUMBERS.to_numpy(),
    ],
    ids=["int", "float", "category", "Int64", "blanks", "text of floats", "polars", "array"],
)
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_codes_written_otherwise_are_the_same(written):
    expected = MODEL.predict_proba(X[DIGITS])
    assert MODEL.score(X[DIGITS], Y[DIGITS]) == 1.0
    assert np.array_equal(MODEL.predict_proba(written), expected)
    frame = written.to_pandas() if isinstance(written, pl.DataFrame) else pd.DataFrame(np.asarray(written))
    for row in range(5):
        decision = farthing.consult(MODEL, {"code": frame.iloc[row, 0], "size": frame.iloc[row, 1]})
        assert list(decision.probabilities.values()) == expected[row].tolist()


@pytest.mark.parametrize(
    ("categories", "value", "code"),
    [
        (("1", "2"), 1, 0.0),
        (("1.0", "2"), 1, 0.0),
        (("1", "1.0"), 1, math.nan),
        (("1", "1.0"), " 1.0", 1.0),
        (("007", "1"), 7, 0.0),
        (("007", "1"), "7", math.nan),
        (("007", "7"), 7, math.nan),
        (("7", "1"), "007", math.nan),
        ((1, 2), "2", 1.0),
        ((1, 2), " 2.0 ", 1.0),
        ((0.5, 1.5), "1.50", 1.0),
        ((" a", "b"), "a ", 0.0),
        ((" a", "a "), "a", math.nan),
        (("True", "False"), False, 1.0),
        (("1", "0"), True, 0.0),
        (("1", "True"), True, math.nan),
        ((True, False), "true", 0.0),
        (("1e5", "2"), 1e5, math.nan),
        (("9007199254740993", "1"), 9007199254740992, math.nan),
        (("9007199254740993", "1"), 9007199254740993, 0.0),
        (("a", "A"), "a ", 0.0),
    ],
)
def test_a_match_is_unambiguous(categories, value, code):
    column = Column("c", "categorical", categories)
    encoded = column.encode_value(value)
    assert encoded == code or (math.isnan(encoded) and math.isnan(code))
    assert column.is_unseen(value) == math.isnan(code)


@pytest.mark.parametrize("call", ["predict", "predict_proba", "decide", "spend", "acquired"])
def test_array_calls_warn_once_with_the_share(call):
    other = X.assign(code=["new"] * 50 + ["1"] * 150)
    with pytest.warns(UnseenCategoryWarning) as issued:
        getattr(MODEL, call)(other)
    (warning,) = issued
    assert "column 'code': 50 of 200 values (25%), such as the string 'new'" in str(warning.message)
    assert "the fit had '1', '10', '2', '?'" in str(warning.message)
    assert warning.filename == __file__


def test_columns_that_are_not_bought_do_not_warn():
    frame = X.assign(name=np.where(Y, "a", "b"))
    model = BudgetTreeClassifier(costs=[1, 2, 9]).fit(frame, Y)
    assert not model.acquired(frame)[:, 2].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame.assign(name="new"))


def test_walks_warn():
    walk = MODEL.walk()
    with pytest.warns(UnseenCategoryWarning, match="column 'code': got the string 'new'") as issued:
        walk.tell("new")
    assert issued[0].filename == __file__
    with pytest.warns(UnseenCategoryWarning, match="'new'"):
        MODEL.walk(known={"code": "new"})
    with pytest.warns(UnseenCategoryWarning, match="'new'"):
        MODEL.walk().replay({"code": "new", "size": 1.0})
    with pytest.warns(UnseenCategoryWarning, match="'new'"):
        decision = farthing.consult(MODEL, {"code": "new", "size": 1.0})
    missing = farthing.consult(MODEL, {"code": None, "size": 1.0})
    assert decision == missing


def test_a_prepared_table_warns_at_each_prediction():
    table = PreparedTable.of(X.assign(code="new"))
    with pytest.warns(UnseenCategoryWarning, match="200 of 200 values"):
        MODEL.predict(table)


def test_a_sweep_warns_of_validation_rows_once_and_of_folds_never():
    rare = X.assign(code=[f"only {row}" if row % 5 == 0 else code for row, code in enumerate(CODES)])
    grid = [("BudgetTreeClassifier", {"max_depth": [1, 2, 3]})]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sweep(grid, rare, Y, [1, 2], cv=3)
    with pytest.warns(UnseenCategoryWarning, match="10 of 50 values") as issued:
        sweep(grid, X, Y, [1, 2], validation=(rare[:50], Y[:50]))
    assert len([w for w in issued if w.category is UnseenCategoryWarning]) == 1


def test_digits_in_a_column_of_numbers_are_refused_with_the_remedy():
    with pytest.raises(
        TableError, match=r"column 'size': got the string ' 1'.*convert the column to numbers"
    ):
        BudgetTreeClassifier().fit(X[["size"]], X["size"] > 0).predict(pd.DataFrame({"size": [" 1"]}))
