"""What a schema learns, what it refuses, and in which words."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from farthing.errors import TableError
from farthing.table import Column, Schema

FRAME = pd.DataFrame(
    {
        "age": [63, 41, 50],
        "chol": [233.0, np.nan, 250.0],
        "sex": ["male", "female", None],
        "smoker": [True, False, True],
        "pain": pd.Categorical(["typical", "none", "typical"], categories=["typical", "unused", "none"]),
    }
)


def test_kinds_and_categories():
    schema = Schema.learn(FRAME)
    assert schema.named
    assert schema.names == ("age", "chol", "sex", "smoker", "pain")
    assert [column.kind for column in schema.columns] == [
        "numeric",
        "numeric",
        "categorical",
        "numeric",
        "categorical",
    ]
    assert schema.columns[2].categories == ("female", "male")  # sorted
    assert schema.columns[4].categories == ("typical", "none")  # those that occur, in the order of the dtype


def test_pandas_and_polars_give_the_same():
    from_polars = pl.from_pandas(FRAME).with_columns(
        pl.col("pain").cast(pl.Enum(["typical", "unused", "none"]))
    )
    assert Schema.learn(from_polars) == Schema.learn(FRAME)
    expected = [[63, 233, 1, 1, 0], [41, np.nan, 0, 0, 1], [50, 250, np.nan, 1, 0]]
    for table in (FRAME, from_polars):
        encoded = Schema.learn(FRAME).encode(table)
        np.testing.assert_array_equal(encoded.values, expected)
        assert encoded.values.flags.f_contiguous


@pytest.mark.parametrize("dtype", ["str", "string", "object", "category"])
def test_columns_of_missing_values_only(dtype):
    # Before pandas 3, "str" was but another name of "object".
    empty = pd.Series([None, None], dtype=dtype)
    schema = Schema.learn(pd.DataFrame({"a": empty, "b": [1.0, 2.0]}))
    assert schema.columns[0] == Column("a", "numeric" if empty.dtype == object else "categorical")
    assert np.isnan(schema.encode_value(0, None))


def test_types_of_categories_are_kept():
    schema = Schema.learn(
        pd.DataFrame({"a": pd.Categorical([3, 1, 3]), "b": pd.Categorical([True, False, True])})
    )
    assert [repr(column.categories) for column in schema.columns] == ["(1, 3)", "(False, True)"]
    assert schema.encode_value(0, 3.0) == 1.0
    assert schema.encode_value(0, "3") == 1.0


def test_numbers_in_a_list_with_strings_stay_numbers():
    schema = Schema.learn([[1, "a"], [2, "b"]])
    assert schema.columns == (Column("x0", "numeric"), Column("x1", "categorical", ("a", "b")))
    assert not schema.named


def test_masked_entries_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    np.testing.assert_array_equal(Schema.learn(X).encode(X).values, [[1, np.nan], [3, 4]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_floats_are_not_copied(dtype, order):
    X = np.array([[1, np.nan, 3], [np.inf, 5, 6]], dtype=dtype, order=order)
    for view in (X, X[:, ::2], X[::-1]):
        values = Schema.learn(view).encode(view).values
        assert np.shares_memory(values, X)
        assert values.dtype == dtype
        assert values.strides == view.strides


def test_a_frame_of_one_dtype_is_not_copied():
    X = np.arange(6.0).reshape(2, 3)
    frame = pd.DataFrame(X, columns=list("abc"), copy=False)
    assert np.shares_memory(Schema.learn(frame).encode(frame).values, X)


def test_read_only_input_is_fine():
    X = np.arange(6.0).reshape(2, 3)
    X.flags.writeable = False
    assert Schema.learn(X).encode(X).values is not None


def test_integer_column_names_are_no_names():
    schema = Schema.learn(pd.DataFrame(np.eye(2)))
    assert not schema.named
    assert schema.names == ("x0", "x1")


def test_array_to_a_schema_with_names():
    schema = Schema.learn(FRAME[["age", "sex"]])
    X = np.array([[50, "male"], [38, "other"]], dtype=object)
    with pytest.warns(
        UserWarning, match="X does not have valid feature names, but Foo was fitted with feature names"
    ):
        encoded = schema.encode(X, "Foo")
    np.testing.assert_array_equal(encoded.values, [[50, 1], [38, np.nan]])


def test_frame_to_a_schema_without_names():
    schema = Schema.learn(np.eye(2))
    with pytest.warns(UserWarning, match="X has feature names, but Foo was fitted without feature names"):
        encoded = schema.encode(pd.DataFrame({"b": [1.0], "a": [2.0]}), "Foo")
    np.testing.assert_array_equal(encoded.values, [[1, 2]])


def test_unknown_and_missing_names_are_named():
    schema = Schema.learn(FRAME)
    with pytest.raises(TableError) as caught:
        schema.encode(FRAME.rename(columns={"chol": "cholesterol"}))
    assert str(caught.value) == (
        "The feature names should match those that were passed during fit.\n"
        "Feature names unseen at fit time:\n- cholesterol\n"
        "Feature names seen at fit time, yet now missing:\n- chol\n"
    )


def test_a_space_matches_an_underscore_if_no_name_fits_better():
    schema = Schema.learn(pd.DataFrame({"mean_dose": [1.0], "b": [2.0]}))
    assert schema.encode(pd.DataFrame({"b": [4.0], "mean dose": [3.0]})).values.tolist() == [[3.0, 4.0]]
    both = Schema.learn(pd.DataFrame({"a b": [1.0], "a_b": [2.0]}))
    assert both.encode(pd.DataFrame({"a_b": [4.0], "a b": [3.0]})).values.tolist() == [[3.0, 4.0]]
    with pytest.raises(TableError, match="seen at fit time, yet now missing:\n- a_b"):
        both.encode(pd.DataFrame({"a b": [3.0]}))
    with pytest.raises(TableError, match="unseen at fit time:\n- mean dose"):
        schema.encode(pd.DataFrame({"b": [4.0], "mean dose": [3.0], "mean_dose": [3.0]}))


def test_many_wrong_names_are_cut_short():
    schema = Schema.learn(pd.DataFrame(np.eye(8), columns=list("abcdefgh")))
    with pytest.raises(TableError, match=r"missing:\n- b\n- c\n- d\n- e\n- f\n- \.\.\.\n$"):
        schema.encode(pd.DataFrame({"a": [1.0]}))


@pytest.mark.parametrize("call", ["learn", "encode"])
@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.ones(3), TableError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.float64(3), TableError, "Expected 2D array, got scalar array instead"),
        (np.ones((2, 2, 2)), TableError, "Found array with dim 3"),
        (pd.Series([1.0, 2.0]), TableError, "Expected a 2-dimensional container"),
        (
            np.ones((0, 3)),
            TableError,
            r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required by Foo",
        ),
        (
            np.ones((3, 0)),
            TableError,
            r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required by Foo",
        ),
        (pd.DataFrame({"a": []}), TableError, r"0 sample\(s\) \(shape=\(0, 1\)\).* by Foo"),
        (pd.DataFrame(index=[1, 2]), TableError, r"0 feature\(s\) \(shape=\(2, 0\)\).* by Foo"),
        (pl.DataFrame({"a": []}), TableError, r"0 sample\(s\)"),
        (np.ones((2, 3)) + 1j, TableError, "Complex data not supported"),
        (scipy.sparse.eye_array(3).tocsr(), TypeError, "Sparse data was passed"),
        (pl.LazyFrame({"a": [1]}), TableError, r"LazyFrame.*collect\(\)"),
        (
            pd.DataFrame([[1, 2]], columns=["a", 3]),
            TypeError,
            "only supported if all input features have string",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), TableError, "more than once: 'a'"),
        ([[1, 2], [3]], TableError, "inhomogeneous"),
    ],
)
def test_what_is_no_table(call, X, error, message):
    schema = Schema.learn(np.eye(3))
    with pytest.raises(error, match=f"(?s){message}"):
        (Schema.learn if call == "learn" else schema.encode)(X, "Foo")


def test_wrong_number_of_features():
    with pytest.raises(TableError, match="X has 3 features, but Foo is expecting 4 features as input"):
        Schema.learn(np.eye(4)).encode(np.eye(3), "Foo")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (
            pd.to_datetime(["2020-01-01", "2020-01-02"]),
            r"column 'a': got the dtype datetime64.*, expected numbers",
        ),
        (pd.to_timedelta([1, 2]), "column 'a': got the dtype timedelta64"),
        (pd.Series([1j, 2j]), "column 'a': got the dtype complex128"),
        (pd.period_range("2020", periods=2, freq="D"), "column 'a': got Period"),
        (pd.cut([1, 2], 2), "column 'a': got Interval"),
        (pd.Series([1, "b"]), "column 'a': got the number 1 and the string 'b' in one column"),
        (pd.Series([True, "b"]), "column 'a': got the boolean True and the string 'b' in one column"),
        (
            pd.Series([{"foo": "bar"}, 1]),
            "column 'a': got {'foo': 'bar'} of type dict.*must be a string or a number",
        ),
        (pl.Series([[1], [2]]), r"column 'a': got the dtype List\(Int64\)"),
        (pl.Series([b"a", b"b"]), "column 'a': got the dtype Binary"),
    ],
)
def test_columns_that_cannot_be_learned(column, message):
    frame = pl.DataFrame({"a": column}) if isinstance(column, pl.Series) else pd.DataFrame({"a": column})
    with pytest.raises(TableError, match=message) as caught:
        Schema.learn(frame)
    assert isinstance(caught.value, TypeError)  # scikit-learn's checks expect it


def test_dates_at_predict_are_invalid_only_where_looked_at():
    schema = Schema.learn(FRAME[["age", "sex"]])
    dates = pd.DataFrame({"age": pd.to_datetime(["2020-01-01", None]), "sex": ["male", "female"]})
    encoded = schema.encode(dates)
    np.testing.assert_array_equal(encoded.values, [[np.nan, 1], [np.nan, 0]])
    encoded.check(np.array([[False, True], [True, True]]))  # NaT is missing
    with pytest.raises(TableError, match=r"column 'age': got Timestamp\(.* in row 0, expected a number"):
        encoded.check(np.array([[True, True], [True, True]]))


def test_check_wants_the_shape_of_the_table():
    encoded = Schema.learn(np.eye(2)).encode(np.eye(2))
    with pytest.raises(
        TableError, match=r"got an account of shape \(1, 2\), expected that of the table, \(2, 2\)"
    ):
        encoded.check(np.ones((1, 2), dtype=bool))


def test_index_finds_or_suggests():
    schema = Schema.learn(FRAME)
    assert schema.index("chol") == 1
    with pytest.raises(TableError, match="got the unknown feature 'chl'; did you mean 'chol'"):
        schema.index("chl")
    with pytest.raises(TableError, match="expected one of 'age', 'chol'"):
        schema.index("zzz")
    with pytest.raises(TableError, match="unknown feature 0"):
        schema.index(0)


def test_schemas_copy_pickle_and_hash():
    schema = Schema.learn(FRAME)
    for twin in (copy.deepcopy(schema), pickle.loads(pickle.dumps(schema))):
        assert twin == schema
        assert hash(twin) == hash(schema)
        assert twin.encode_value(2, "male") == 1.0


GOOD = Schema.learn(FRAME).to_dict()


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {},
        {"named": True},
        GOOD | {"extra": 1},
        GOOD | {"named": 1},
        GOOD | {"columns": []},
        GOOD | {"columns": "ab"},
        GOOD | {"columns": [None]},
        GOOD | {"columns": GOOD["columns"][:1] * 2},
        GOOD | {"named": False},
        GOOD | {"columns": [{"name": "a", "kind": "numeric"}]},
        GOOD | {"columns": [{"name": 1, "kind": "numeric", "categories": []}]},
        GOOD | {"columns": [{"name": "a", "kind": "other", "categories": []}]},
        GOOD | {"columns": [{"name": "a", "kind": [], "categories": []}]},
        GOOD | {"columns": [{"name": "a", "kind": "numeric", "categories": ["b"]}]},
        GOOD | {"columns": [{"name": "a", "kind": "categorical", "categories": "ab"}]},
        GOOD | {"columns": [{"name": "a", "kind": "categorical", "categories": [[]]}]},
        GOOD | {"columns": [{"name": "a", "kind": "categorical", "categories": [None]}]},
        GOOD | {"columns": [{"name": "a", "kind": "categorical", "categories": [float("nan")]}]},
        GOOD | {"columns": [{"name": "a", "kind": "categorical", "categories": [1, True]}]},
    ],
)
def test_hostile_dictionaries(bad):
    assert Schema.from_dict(GOOD) == Schema.learn(FRAME)
    with pytest.raises(TableError):
        Schema.from_dict(bad)


def test_pandas_and_polars_are_not_needed():
    code = """
import sys
sys.modules["pandas"] = sys.modules["polars"] = None
import numpy as np
from farthing.table import Schema
schema = Schema.learn(np.array([[1, "a"], [None, "b"]], dtype=object))
print(schema.encode([[2.5, "b"]]).values.tolist(), schema.encode_value(0, None))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[[2.5, 1.0]] nan\n"
