"""A prepared table is the table: for every subset of rows, and under the schema of any fit."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.errors import TableError
from farthing.forests import BudgetTreeClassifier
from farthing.table import PreparedTable, Schema, encode


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, 60),
            "pain": rng.choice(["none", "mild", "strong", None], 60),
            "site": pd.Categorical(
                rng.choice(["a", "b", "c", "d"], 60), categories=["d", "c", "b", "a", "e"]
            ),
            "chol": np.where(rng.random(60) < 0.2, np.nan, rng.normal(200, 30, 60)),
        }
    )


rows_of_60 = st.lists(st.integers(0, 59), min_size=1, max_size=30).map(np.array)


@given(learn=rows_of_60, judged=rows_of_60)
def test_taking_rows_is_preparing_them_alone(frame: pd.DataFrame, learn, judged) -> None:
    whole = PreparedTable.of(frame)
    part, alone = whole.take(learn), PreparedTable.of(frame.iloc[learn])
    assert part.schema.names == alone.schema.names
    for taken, prepared in zip(part.schema.columns, alone.schema.columns, strict=True):
        # A column of objects that are all missing has no type of its own.
        assert taken.categories == prepared.categories
    np.testing.assert_array_equal(part.values, alone.values)
    expected = alone.schema.encode(frame.iloc[judged]).values
    np.testing.assert_array_equal(whole.take(judged).under(alone.schema, "the model").values, expected)


def test_a_mask_takes_rows_as_well(frame: pd.DataFrame) -> None:
    whole, mask = PreparedTable.of(frame), frame["age"].to_numpy() > 50
    np.testing.assert_array_equal(whole.take(mask).values, whole.take(np.flatnonzero(mask)).values)


def test_it_stands_in_for_the_table_in_fit_and_predict(frame: pd.DataFrame) -> None:
    y = (frame["age"] > 50).to_numpy()
    table = PreparedTable.of(frame)
    prepared, plain = BudgetTreeClassifier().fit(table, y), BudgetTreeClassifier().fit(frame, y)
    assert prepared.forest_ == plain.forest_
    assert prepared.schema_ == plain.schema_
    for given_table in (table, pl.from_pandas(frame)):
        np.testing.assert_array_equal(prepared.predict(given_table), plain.predict(frame))
        np.testing.assert_array_equal(prepared.acquired(given_table), plain.acquired(frame))


def test_bins_are_made_once_for_each_number(frame: pd.DataFrame) -> None:
    table = PreparedTable.of(frame)
    assert table.bins(16) is table.bins(16, n_threads=2)
    assert table.bins(16) is not table.bins(32)
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.bins(16).codes(), table.bins(16).codes())


def test_preparing_twice_changes_nothing(frame: pd.DataFrame) -> None:
    table = PreparedTable.of(frame)
    assert PreparedTable.of(table) is table
    assert encode(table.schema, table) is table.encoded


def test_other_columns_are_refused_by_name(frame: pd.DataFrame) -> None:
    schema = Schema.learn(frame[["age", "chol"]])
    with pytest.raises(TableError, match=r"other columns than the model .* differ in pain, site"):
        encode(schema, PreparedTable.of(frame))


def test_invalid_entries_go_with_their_rows() -> None:
    schema = Schema.learn(np.array([[1.0, 2.0], [3.0, 4.0]]))
    dirty = np.array([[1.0, "two"], [3.0, 4.0], [5.0, "six"]], dtype=object)
    table = PreparedTable(schema, schema.encode(dirty))
    part = table.take(np.array([1, 2, 2])).encoded
    part.check(np.array([[True, True], [True, False], [True, False]]))
    with pytest.raises(TableError, match="'six' in row 2"):
        part.check(np.array([[True, True], [True, False], [True, True]]))


def test_values_under_one_schema_are_read_once_and_those_of_another_again():
    letters = PreparedTable.of(np.array([["a"], ["b"], ["c"]], dtype=object))
    some, other = letters.take(np.array([0, 2])), letters.take(np.array([1, 2]))
    first = letters.under(some.schema)
    assert letters.under(some.schema) is first
    assert np.isnan(first.values[:, 0]).tolist() == [False, True, False]
    second = letters.under(other.schema)
    assert np.isnan(second.values[:, 0]).tolist() == [True, False, False]
    assert np.array_equal(letters.under(some.schema).values, first.values, equal_nan=True)
