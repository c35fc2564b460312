"""Price lists that do not name exactly the columns of a table."""

import copy
import pickle

import pytest

from farthing.costs import CostSheet, Group
from farthing.errors import CostError

LISTED = "[costs]\nage = 1\nchol = 5\nfbs = 3\n[groups.blood]\ncost = 2\nmembers = ['chol', 'fbs']\n"


@pytest.fixture
def price_list(tmp_path):
    def write(head):
        path = tmp_path / "prices.toml"
        path.write_text(head + LISTED)
        return path

    return write


def test_a_default_price_is_that_of_the_columns_that_are_not_listed(price_list):
    sheet = CostSheet.of(price_list("default = 4\n"), ["sex", "age", "chol", "fbs"])
    assert sheet.features == ("sex", "age", "chol", "fbs")
    assert sheet.own.tolist() == [4, 1, 5, 3]
    assert sheet.price("fbs", owned=["chol"]) == 3


def test_spare_features_are_left_out_of_their_groups_too(price_list):
    sheet = CostSheet.of(price_list("strict = false\n"), ["fbs", "age"])
    assert sheet == CostSheet({"fbs": 3, "age": 1}, {"blood": Group(2, ["fbs"])})
    assert CostSheet.of(price_list("strict = false\n"), ["age"]) == CostSheet({"age": 1})


def test_json_has_both(tmp_path):
    path = tmp_path / "prices.json"
    path.write_text('{"default": 2, "strict": false, "costs": {"age": 1, "shoe": 7}}')
    assert CostSheet.of(path, ["sex", "age"]).own.tolist() == [2, 1]


def test_each_alone_leaves_the_other_check_in_place(price_list):
    with pytest.raises(CostError, match=r"'fbs', which is not a column.*strict = false"):
        CostSheet.of(price_list("default = 4\n"), ["age", "chol", "sex"])
    with pytest.raises(CostError, match="no cost is given for the column 'sex'"):
        CostSheet.of(price_list("strict = false\n"), ["age", "chol", "sex"])


def test_a_name_that_looks_misspelt_is_a_warning(price_list):
    with pytest.warns(UserWarning, match=r"'chol'.*did you mean 'chole'.*default price, 4"):
        CostSheet.of(price_list("default = 4\nstrict = false\n"), ["age", "chole", "fbs"])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("default = -1\n[costs]\nage = 1", "the default price is negative"),
        ("default = '1'\n[costs]\nage = 1", "the default price is the string"),
        ("strict = 0\n[costs]\nage = 1", "strict is 0, of type int; expected true or false"),
        ("[costs]\nage = 1\nstrict = false", r"'strict' is under 'costs'.*above the line \[costs\]"),
        ("[costs]\nage = 1\ndefault = 1", r"'default', which is not a column.*above \[costs\]"),
    ],
)
def test_mistakes(tmp_path, content, words):
    path = tmp_path / "prices.toml"
    path.write_text(content)
    with pytest.raises(CostError, match=words):
        CostSheet.of(path, ["age"])


def test_a_sheet_with_both_is_a_value():
    sheet = CostSheet({"age": 1}, unit="USD", default=4, strict=False)
    assert sheet != CostSheet({"age": 1}, unit="USD")
    assert pickle.loads(pickle.dumps(sheet)) == copy.deepcopy(sheet) == CostSheet.from_dict(sheet.to_dict())
    assert sheet.scaled(0.5) == CostSheet({"age": 0.5}, unit="USD", default=2, strict=False)
    assert "any other column costs 4" in repr(sheet)


def test_an_aligned_sheet_is_that_of_its_table():
    aligned = CostSheet({"age": 1}, default=4, strict=False).align(["age"])
    assert aligned == CostSheet({"age": 1})
    assert aligned.to_dict().keys() == {"features", "costs", "groups", "unit"}
