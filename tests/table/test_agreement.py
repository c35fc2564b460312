"""A whole table and its values one by one become the same floats, over tables of every kind."""

import decimal
import fractions
import functools
import json
import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.errors import TableError, UnseenCategoryWarning
from farthing.table import Schema
from farthing.table.values import ODD, plain

TEXTS = st.sampled_from(
    ["a", "b", "ab", "", "1", " 1", "1.0", "01", "0.1", "-3", "True", "nan", "é", "z" * 80]
)
# Beyond 2**53 they are rounded, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::farthing.errors.PrecisionWarning")
INTEGERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1))
FLOATS = st.one_of(st.sampled_from([0.0, -0.0, 1.0, 0.1]), st.floats(allow_nan=True, allow_infinity=True))
MISSING = st.sampled_from([None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT", "s")])

NUMBERS = st.one_of(
    INTEGERS,
    FLOATS,
    st.booleans(),
    st.sampled_from(
        [10**400, -(10**400), decimal.Decimal("0.1"), fractions.Fraction(1, 3), np.longdouble("0.1")]
    ),
    st.sampled_from(
        [np.int8(-1), np.uint64(2**64 - 1), np.float16(0.1), np.float32(0.1), np.True_, np.array(2)]
    ),
)
ODDITIES = st.sampled_from([1j, b"a", (1,), frozenset(), np.timedelta64(3, "s"), pd.Timestamp("2020-01-01")])
ANYTHING = st.one_of(NUMBERS, MISSING, TEXTS, ODDITIES)


# Strategies are made once: to make one takes longer than to draw from it.
@functools.cache
def _lists(elements, n_rows):
    return st.lists(elements, min_size=n_rows, max_size=n_rows)


def _constant(elements, n_rows):
    return elements.map(lambda value: [value] * n_rows)


def _or_none(elements):
    return st.one_of(st.none(), elements)


def _objects(values):
    array = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        array[row] = value
    return array


def object_array(rows):
    """Return a list of columns as an object array of shape (n_rows, n_features)."""
    return np.column_stack([_objects(column) for column in rows])


@functools.cache
def learnable_objects(n_rows):
    """Values that a column of objects may hold in a fit: numbers only, or strings only."""
    return st.one_of(
        _lists(st.one_of(NUMBERS, MISSING), n_rows),
        _lists(st.one_of(TEXTS, MISSING), n_rows),
        _constant(st.one_of(NUMBERS, TEXTS, MISSING), n_rows),
    )


@functools.cache
def pandas_columns(n_rows, objects=None):
    """Return a strategy of pandas Series of every dtype; those of objects hold what ``objects`` draws."""

    def series(elements, dtype):
        return _lists(elements, n_rows).map(lambda values: pd.Series(values, dtype=dtype))

    small = st.integers(-100, 100)
    categories = st.sampled_from([("b", "a", "unused"), (2, 1, 3), (0.5, -0.5), (True, False), (1, "1")])
    return st.one_of(
        (learnable_objects(n_rows) if objects is None else objects).map(
            lambda values: pd.Series(_objects(values), dtype=object)
        ),
        series(FLOATS, "float64"),
        series(st.floats(width=32), "float32"),
        series(INTEGERS, "int64"),
        series(st.booleans(), "bool"),
        series(_or_none(INTEGERS), "Int64"),
        series(_or_none(INTEGERS), "int64[pyarrow]"),
        series(_or_none(small), "Int8"),
        series(_or_none(st.floats(allow_nan=False)), "Float64"),
        series(_or_none(st.floats(allow_nan=False)), "float64[pyarrow]"),
        series(_or_none(st.booleans()), "boolean"),
        series(_or_none(st.booleans()), "bool[pyarrow]"),
        series(_or_none(st.decimals(-9, 9, places=3)), pd.ArrowDtype(pa.decimal128(10, 3))),
        series(st.sampled_from([0.0, 1.5, float("nan")]), pd.SparseDtype("float64", 0.0)),
        series(_or_none(TEXTS), "str"),
        series(_or_none(TEXTS), "string"),
        series(_or_none(TEXTS), pd.ArrowDtype(pa.string())),
        series(_or_none(TEXTS), pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
        categories.flatmap(
            lambda kinds: _lists(_or_none(st.sampled_from(kinds)), n_rows).map(
                lambda values: pd.Series(pd.Categorical(values, categories=list(kinds)))
            )
        ),
    )


@functools.cache
def polars_columns(n_rows):
    """Return a strategy of polars Series of every supported dtype."""

    def series(elements, dtype):
        return _lists(_or_none(elements), n_rows).map(lambda values: pl.Series(values, dtype=dtype))

    return st.one_of(
        series(FLOATS, pl.Float64),
        series(st.floats(width=32), pl.Float32),
        series(INTEGERS, pl.Int64),
        series(st.integers(0, 2**64 - 1), pl.UInt64),
        series(st.integers(-(2**100), 2**100), pl.Int128),
        series(st.booleans(), pl.Boolean),
        series(st.nothing() | st.none(), pl.Null),
        series(st.decimals(-999, 999, places=3), pl.Decimal(10, 3)),
        series(TEXTS, pl.String),
        series(TEXTS, pl.Categorical),
        series(st.sampled_from(["b", "a"]), pl.Enum(["b", "unused", "a"])),
        learnable_objects(n_rows).map(lambda values: pl.Series(values, dtype=pl.Object)),
    )


@st.composite
def pandas_frames(draw, max_rows=6):
    n_rows, n_features = draw(st.integers(1, max_rows)), draw(st.integers(1, 4))
    return pd.DataFrame({f"c{j}": draw(pandas_columns(n_rows)) for j in range(n_features)})


@st.composite
def polars_frames(draw, max_rows=6):
    n_rows, n_features = draw(st.integers(1, max_rows)), draw(st.integers(1, 4))
    return pl.DataFrame({f"c{j}": draw(polars_columns(n_rows)) for j in range(n_features)})


@st.composite
def arrays(draw, max_rows=6):
    n_rows, n_features = draw(st.integers(1, max_rows)), draw(st.integers(1, 4))
    if draw(st.booleans()):
        return object_array([draw(learnable_objects(n_rows)) for _ in range(n_features)])
    elements, dtypes = draw(
        st.sampled_from(
            [
                (FLOATS, ["f8", ">f8", "longdouble"]),
                (st.floats(width=32), ["f4", ">f4"]),
                (st.floats(width=16), ["f2"]),
                (INTEGERS, ["i8"]),
                (st.booleans(), ["bool"]),
                (TEXTS, ["U80", np.dtypes.StringDType()]),
            ]
        )
    )
    rows = draw(st.lists(_lists(elements, n_features), min_size=n_rows, max_size=n_rows))
    return np.array(rows, dtype=draw(st.sampled_from(dtypes)), order=draw(st.sampled_from("CF")))


TABLES = st.one_of(pandas_frames(), polars_frames(), arrays())


@st.composite
def other_tables(draw, n_features):
    """Tables of the same width whose values need not fit the first: what may come at predict."""
    n_rows = draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["pandas", "polars", "array"]))
    if kind == "pandas":
        columns = pandas_columns(n_rows, _lists(ANYTHING, n_rows))
        return pd.DataFrame({f"c{j}": draw(columns) for j in range(n_features)})
    if kind == "polars":
        return pl.DataFrame({f"c{j}": draw(polars_columns(n_rows)) for j in range(n_features)})
    return object_array([draw(_lists(ANYTHING, n_rows)) for _ in range(n_features)])


def cell(X, row, j):
    """Return an entry as its library hands it out."""
    if isinstance(X, pd.DataFrame):
        return X.iloc[row, j]
    return X[row, j]


def same(first, second):
    """Tell whether two floats are the same, the sign of zero included."""
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second and math.copysign(1, first) == math.copysign(1, second)


def warned(call, *arguments):
    """Tell whether a call warns of unseen categories."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        call(*arguments)
    assert {warning.category for warning in issued} <= {UnseenCategoryWarning}
    return bool(issued)


def assert_agreement(schema, X):
    """Compare `encode` with `encode_value`, entry by entry, errors included."""
    encoded = schema.encode(X)
    assert encoded.values.dtype in (np.float32, np.float64)
    invalid = set(zip(encoded.invalid_rows.tolist(), encoded.invalid_columns.tolist(), strict=True))
    assert len(invalid) == len(encoded.invalid_rows) == len(encoded.invalid_values)
    for row in range(encoded.values.shape[0]):
        for j in range(encoded.values.shape[1]):
            acquired = np.zeros(encoded.values.shape, dtype=bool)
            acquired[row, j] = True
            if (row, j) in invalid:
                assert np.isnan(encoded.values[row, j])
                with pytest.raises(TableError, match=f"column '{schema.names[j]}'"):
                    schema.encode_value(j, cell(X, row, j))
                with pytest.raises(TableError, match=f"column '{schema.names[j]}'"):
                    encoded.check(acquired)
            else:
                value = cell(X, row, j)
                assert warned(encoded.check, acquired) == warned(schema.warn_if_unseen, j, value), value
                alone = schema.encode_value(j, cell(X, row, j))
                assert type(alone) is float
                assert same(alone, float(encoded.values[row, j])), (cell(X, row, j), alone)


@given(TABLES)
def test_the_table_of_the_fit(X):
    schema = Schema.learn(X)
    encoded = schema.encode(X)
    encoded.check()
    assert len(encoded.invalid_rows) == 0
    assert encoded.values.shape == X.shape
    assert_agreement(schema, X)


@given(TABLES, st.data())
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
def test_another_table(X, data):
    schema = Schema.learn(X)
    assert_agreement(schema, data.draw(other_tables(X.shape[1])))


@given(TABLES)
def test_codes_are_those_of_the_categories(X):
    schema = Schema.learn(X)
    values = schema.encode(X).values
    for j, column in enumerate(schema.columns):
        seen = set()
        for row in range(X.shape[0]):
            value = plain(cell(X, row, j))
            assert value is not ODD
            if column.is_categorical and value is not None:
                assert column.categories[int(values[row, j])] == value
                seen.add(value)
            assert np.isnan(values[row, j]) == (value is None)
        if column.is_categorical:
            assert seen == set(column.categories)


@given(TABLES)
def test_json_changes_no_value(X):
    """The service gets its values as JSON: numbers, strings, booleans and null."""
    schema = Schema.learn(X)
    for j in range(X.shape[1]):
        for row in range(X.shape[0]):
            value = plain(cell(X, row, j))
            received = json.loads(json.dumps(value))
            assert same(schema.encode_value(j, received), schema.encode_value(j, cell(X, row, j)))


@given(TABLES)
def test_a_stored_schema_is_the_same(X):
    schema = Schema.learn(X)
    stored = Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert stored == schema
    assert [list(map(type, c.categories)) for c in stored.columns] == [
        list(map(type, c.categories)) for c in schema.columns
    ]


@given(TABLES, st.randoms(use_true_random=False))
def test_one_row_is_as_in_many(X, random):
    schema = Schema.learn(X)
    row = random.randrange(X.shape[0])
    whole = schema.encode(X).values[[row]]
    alone = schema.encode(X[row : row + 1]).values
    assert np.array_equal(whole, alone, equal_nan=True)


@given(pandas_frames(), st.randoms(use_true_random=False))
def test_the_order_of_columns_is_free(X, random):
    schema = Schema.learn(X)
    names = list(X.columns)
    random.shuffle(names)
    assert np.array_equal(schema.encode(X).values, schema.encode(X[names]).values, equal_nan=True)


@given(st.lists(ANYTHING, min_size=1, max_size=6))
def test_mixed_columns_are_learned_or_named(values):
    """A column of numbers only, or of strings only, is learned; any other is an error with its name."""
    kinds = {
        "text" if isinstance(p, str) else "odd" if p is ODD else "number"
        for p in map(plain, values)
        if p is not None
    }
    X = object_array([values])
    if kinds <= {"number"} or kinds == {"text"}:
        assert Schema.learn(X).columns[0].is_categorical == (kinds == {"text"})
    else:
        with pytest.raises(TableError, match="column 'x0'"):
            Schema.learn(X)
