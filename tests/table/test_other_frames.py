"""Frames of other libraries give the same model as the same rows in pandas, through narwhals."""

import datetime
import sys

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from farthing.errors import PrecisionWarning, TableError
from farthing.forests import BudgetTreeClassifier
from farthing.table import Schema

duckdb = pytest.importorskip("duckdb", reason="pip install duckdb")

ROWS = {
    "age": [63, 41, None, 55, 70, 38, 44, 61],
    "height": [1.7, float("nan"), 1.5, 1.9, 1.6, 1.8, 1.7, 1.75],
    "smokes": [True, False, True, None, True, False, False, True],
    "ward": ["a", "b", None, "a", "c", "b", "b", "c"],
}
Y = [1, 0, 1, 0, 1, 0, 0, 1]
ARROW = pa.table(ROWS)
PANDAS = ARROW.to_pandas()


def frames():
    relation = duckdb.from_arrow(ARROW)
    dictionary = ARROW.set_column(3, "ward", ARROW["ward"].dictionary_encode())
    chunked = pa.concat_tables([ARROW[:3], ARROW[3:]])
    return {
        "pyarrow": ARROW,
        "dictionary": dictionary,
        "chunked": chunked,
        "duckdb": relation,
        "narwhals": nw.from_native(ARROW),
    }


@pytest.mark.parametrize("kind", list(frames()))
def test_encodes_as_pandas_does(kind):
    schema, expected = Schema.learn(PANDAS), Schema.learn(PANDAS).encode(PANDAS).values
    frame = frames()[kind]
    assert Schema.learn(frame).names == schema.names
    np.testing.assert_array_equal(Schema.learn(frame).encode(frame).values, expected)
    np.testing.assert_array_equal(schema.encode(frame).values, expected)


@pytest.mark.parametrize("kind", list(frames()))
def test_fits_and_predicts_as_with_pandas(kind):
    costs = {"age": 1, "height": 2, "smokes": 1, "ward": 3}
    expected = BudgetTreeClassifier(costs=costs, max_depth=3).fit(PANDAS, Y)
    frame = frames()[kind]
    model = BudgetTreeClassifier(costs=costs, max_depth=3).fit(frame, Y)
    np.testing.assert_array_equal(model.predict_proba(frame), expected.predict_proba(PANDAS))
    np.testing.assert_array_equal(model.acquired(frame), expected.acquired(PANDAS))


def test_a_column_of_nothing_but_nulls_is_missing():
    table = pa.table({"a": [None, None]})
    assert np.isnan(Schema.learn(table).encode(table).values).all()


def test_dates_are_named():
    with pytest.raises(TableError, match="'when'"):
        Schema.learn(pa.table({"when": [datetime.date(2026, 1, 1), datetime.date(2026, 1, 2)]}))


def test_large_integers_are_warned_of():
    with pytest.warns(PrecisionWarning, match="'key'"):
        Schema.learn(pa.table({"key": [2**60, 1, 2]})).encode(pa.table({"key": [2**60, 1, 2]}))


def test_an_empty_table_is_refused():
    with pytest.raises(TableError, match=r"0 sample\(s\)"):
        Schema.learn(ARROW[:0])


def test_a_lazy_frame_is_not_pulled():
    frame = nw.from_native(pd.DataFrame(ROWS)).lazy(backend="polars")
    with pytest.raises(TableError, match="collect it first"):
        Schema.learn(frame)


def test_without_narwhals_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "farthing.table.other_frames", raising=False)
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(TableError, match="pip install narwhals"):
        Schema.learn(ARROW)
