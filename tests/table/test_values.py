"""Single values: numbers, categories, missing entries and the rest."""

import decimal
import enum
import fractions
import math

import numpy as np
import pandas as pd
import pytest

from farthing.errors import TableError
from farthing.table import Column
from farthing.table.values import ODD, plain

NUMBER = Column("age", "numeric")
CATEGORY = Column("sex", "categorical", ("female", "male"))


class Colour(str, enum.Enum):  # noqa: UP042
    RED = "red"


@pytest.mark.parametrize(
    "missing",
    [
        None,
        math.nan,
        np.float32("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT", "s"),
        np.ma.masked,
        decimal.Decimal("sNaN"),
    ],
)
def test_marks_of_missing(missing):
    assert math.isnan(NUMBER.encode_value(missing))
    assert math.isnan(CATEGORY.encode_value(missing))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (True, 1.0),
        (np.False_, 0.0),
        (-0.0, -0.0),
        (math.inf, math.inf),
        (2**53 + 1, 2.0**53),
        (10**400, math.inf),
        (-(10**400), -math.inf),
        (np.uint64(2**64 - 1), 2.0**64),
        (np.float32(0.1), 0.10000000149011612),
        (np.array(2.5), 2.5),
        (decimal.Decimal("0.1"), 0.1),
        (fractions.Fraction(1, 3), 1 / 3),
    ],
)
def test_numbers(value, expected):
    assert NUMBER.encode_value(value) == expected
    assert math.isnan(CATEGORY.encode_value(value))  # an unseen category


@pytest.mark.parametrize(
    "odd", [1j, b"a", [1], {}, np.ones(1), pd.Series([1.0]), pd.Timestamp(0), np.timedelta64(1, "s")]
)
def test_odd_values_are_refused(odd):
    assert plain(odd) is ODD
    with pytest.raises(
        TableError, match=r"column 'age': got .* of type \w+, expected a number, or None or NaN"
    ):
        NUMBER.encode_value(odd)
    with pytest.raises(TableError, match=r"column 'sex': got .*, expected a category"):
        CATEGORY.encode_value(odd)


@pytest.mark.parametrize("text", ["63", "", "nan", np.str_("1e3")])
def test_strings_are_not_numbers(text):
    with pytest.raises(TableError, match=f"column 'age': got the string '{text}', expected a number"):
        NUMBER.encode_value(text)


def test_long_values_are_cut_in_messages():
    with pytest.raises(TableError) as caught:
        NUMBER.encode_value("x" * 10_000)
    assert len(str(caught.value)) < 200


def test_strings_that_are_enumerations():
    assert Column("colour", "categorical", ("red",)).encode_value(Colour.RED) == 0.0


def test_categories():
    assert CATEGORY.encode_value(np.str_("male")) == 1.0
    assert math.isnan(CATEGORY.encode_value("Male"))
    assert Column("n", "categorical", (1, "1", 2.5)).encode_value(True) == 0.0
    assert Column("n", "categorical", (1, "1", 2.5)).encode_value(np.float64(2.5)) == 2.0
