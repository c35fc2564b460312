"""Dates are refused by name, with what to do about them."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from farthing.errors import TableError
from farthing.forests import BudgetTreeClassifier

DAY = datetime.date(2024, 2, 29)
REMEDY = "column 'day'.*make it a number, such as the days since a fixed date.*or drop the column"


@pytest.mark.parametrize(
    "dates",
    [
        pd.DataFrame({"day": pd.to_datetime([DAY] * 4)}),
        pd.DataFrame({"day": pd.to_datetime([DAY] * 4).tz_localize("UTC")}),
        pd.DataFrame({"day": [DAY] * 4}),
        pd.DataFrame({"day": [pd.Timestamp(DAY)] * 3 + [None]}, dtype=object),
        pd.DataFrame({"day": pd.Series([DAY] * 4, dtype=pd.ArrowDtype(pa.date32()))}),
        pd.DataFrame({"day": pd.Series([DAY] * 4, dtype=pd.ArrowDtype(pa.timestamp("s")))}),
        pl.DataFrame({"day": [DAY] * 4}),
        pl.DataFrame({"day": [datetime.datetime(2024, 2, 29)] * 4}),
    ],
)
def test_dates_are_refused(dates):
    with pytest.raises(TableError, match=REMEDY):
        BudgetTreeClassifier().fit(dates, [0, 1, 0, 1])
    model = BudgetTreeClassifier().fit(pd.DataFrame({"day": [1.0, 2.0, 3.0, 4.0]}), [0, 0, 1, 1])
    with pytest.raises(TableError, match=REMEDY):
        model.predict(dates)


def test_dates_of_an_array_and_of_a_walk():
    model = BudgetTreeClassifier().fit(np.arange(4.0)[:, np.newaxis], [0, 0, 1, 1])
    with pytest.raises(TableError, match=r"column 'x0'.*days since a fixed date"):
        model.predict(np.array([[DAY]], dtype="M8[D]"))
    with pytest.raises(TableError, match=r"column 'x0'.*days since a fixed date"):
        model.walk().tell(DAY)
