import contextlib
import csv
import json
import os
from decimal import Context, Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.costs import CostSheet, Group
from farthing.costs.readers import parse_csv, parse_json, parse_toml
from farthing.errors import CostError

DATA = Path(os.environ.get("FARTHING_DATA", "nowhere"))
SHEETS = st.from_type(CostSheet)

TOML = """
unit = "USD"

[costs]
age = 1
chol = 5.17
"fasting sugar" = 3.10

[groups.blood]
cost = 2.10
members = ["chol", "fasting sugar"]
"""
EXPECTED = CostSheet(
    {"age": 1, "chol": 5.17, "fasting sugar": 3.10}, {"blood": Group(2.10, ["chol", "fasting sugar"])}, "USD"
)


@pytest.fixture
def write(tmp_path):
    def write_file(name, content):
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write_file


def sheet_of(prices):
    return CostSheet(*prices[:3])


# --- the real price lists -----------------------------------------------------------------------------------


@pytest.fixture
def price_list():
    folder = DATA / "costs"
    if not folder.is_dir():
        pytest.skip(f"no price lists in {folder}; set FARTHING_DATA")
    return lambda name: folder / f"{name}.csv"


def test_heart_has_the_published_prices(price_list):
    sheet = CostSheet.read(price_list("heart_cleveland"), unit="CAD")
    names = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal"
    assert sheet.features == tuple(names.split())
    # Exact, by decimal subtraction: 102.90 - 101.90 is 1, not 1.0000000000000142.
    assert sheet.own.tolist() == [1, 1, 1, 1, 5.17, 3.10, 15.50, 1, 1, 1, 1, 100.90, 1]
    assert sheet.groups == {
        "A": Group(2.10, ["chol", "fbs"]),
        "B": Group(101.90, ["thalach", "thal"]),
        "C": Group(86.30, ["exang", "oldpeak", "slope"]),
    }
    assert sheet.unit == "CAD"
    assert sheet.price("chol") == pytest.approx(7.27, abs=1e-12)
    assert sheet.price("thal", owned=["thalach"]) == 1.0
    # 4 questions, and each exam once with its tests: 4 + 10.37 + 15.50 + 103.90 + 89.30 + 100.90
    assert sheet.total(sheet.features) == pytest.approx(323.97, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "n_features", "groups", "alone"),
    [
        ("pima_diabetes", 8, {"A": 2.10}, {"glucose": 17.61, "insulin": 22.78, "age": 1.0}),
        ("hepatitis", 19, {"A": 2.10}, {"protime": 8.30, "bilirubin": 7.27, "histology": 1.0}),
        ("bupa_liver", 5, {"A": 2.10}, {"mcv": 7.27, "gammagt": 9.86}),
        ("yahoo_ltr_519", 519, {}, {"f1": 100.0, "f8": 150.0, "f9": 1.0}),
    ],
)
def test_the_other_price_lists(price_list, name, n_features, groups, alone):
    sheet = CostSheet.read(price_list(name))
    assert len(sheet.features) == n_features
    assert {group: entry.cost for group, entry in sheet.groups.items()} == groups
    assert {feature: sheet.price(feature) for feature in alone} == pytest.approx(alone, abs=1e-12)


def test_thyroid_has_a_feature_without_a_price(price_list, write):
    file = price_list("thyroid_ann")
    with pytest.raises(CostError, match=r"thyroid_ann.csv: the cost of 'FTI' is missing; give it a number"):
        CostSheet.read(file)
    priced = [line for line in file.read_text().splitlines() if not line.startswith("FTI,")]
    sheet = CostSheet.read(write("thyroid.csv", "\n".join(priced)))
    assert len(sheet.features) == 20
    assert sheet.groups == {"A": Group(2.10, ["TSH", "T3", "TT4", "T4U"])}
    assert sheet.price("TT4", owned=["TSH"]) == 12.41


# --- round trips --------------------------------------------------------------------------------------------


def as_toml(sheet):
    def key(name):
        return json.dumps(name, ensure_ascii=False)

    lines = [f"unit = {key(sheet.unit)}", "[costs]"]
    lines += [
        f"{key(name)} = {cost!r}" for name, cost in zip(sheet.features, sheet.own.tolist(), strict=True)
    ]
    for name, group in sheet.groups.items():
        members = ", ".join(map(key, group.members))
        lines += [f"[groups.{key(name)}]", f"cost = {group.cost!r}", f"members = [{members}]"]
    return "\n".join(lines)


def as_json(sheet):
    return json.dumps(
        {
            "costs": dict(zip(sheet.features, sheet.own.tolist(), strict=True)),
            "groups": {name: {"cost": g.cost, "members": g.members} for name, g in sheet.groups.items()},
            "unit": sheet.unit,
        }
    )


def write_csv(sheet, path):
    """Write the price alone as an exact decimal, as the reader takes it apart."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["note", "group", "feature", "group_cost", "cost"])
        for name, own, place in zip(sheet.features, sheet.own.tolist(), sheet.group_of, strict=True):
            group = sheet.group_names[place] if place >= 0 else ""
            part = Decimal(sheet.groups[group].cost) if group else Decimal(0)
            # Amounts within 2**-20 and 2**20 have no more than 73 decimals.
            alone = int(Decimal(own).scaleb(80, WIDE)) + int(part.scaleb(80, WIDE))
            writer.writerow(["a, b", group, name, format(part, "f"), f"{alone}e-80"])


WIDE = Context(prec=200)


@given(SHEETS)
def test_toml_and_json_round_trip(sheet):
    assert sheet_of(parse_toml(as_toml(sheet))) == sheet
    assert sheet_of(parse_json(as_json(sheet))) == sheet


@given(SHEETS)
def test_csv_round_trip(tmp_path_factory, sheet):
    file = tmp_path_factory.getbasetemp() / "round_trip.csv"
    write_csv(sheet, file)
    # The file lists the groups by their first member.
    order = sorted(sheet.groups, key=lambda name: sheet.column(sheet.groups[name].members[0]))
    own = dict(zip(sheet.features, sheet.own, strict=True))
    expected = CostSheet(own, {name: sheet.groups[name] for name in order}, sheet.unit)
    assert CostSheet.read(file, unit=sheet.unit) == expected


def test_the_three_formats_agree(write):
    as_csv = 'cost,feature,group_cost,group\n1,age,,\n7.27,chol,2.1,blood\n5.20,"fasting sugar",2.10,blood\n'
    assert CostSheet.read(write("a.toml", TOML)) == EXPECTED
    assert CostSheet.read(write("a.JSON", as_json(EXPECTED))) == EXPECTED
    assert CostSheet.read(str(write("a.csv", as_csv)), unit="USD") == EXPECTED
    assert CostSheet.read(write("a.toml", TOML), unit="CAD").unit == "CAD"
    assert CostSheet.read(write("a.csv", as_csv)).unit == ""


def test_csv_as_spreadsheets_write_it(write):
    content = "\ufefffeature, cost ,evidence\r\nage, 1.50 ,seen\r\n\r\n,,\r\n sex,2e-1\r\n"
    # The name keeps its blank: the table's column may have it too.
    assert CostSheet.read(write("a.csv", content)) == CostSheet({"age": 1.5, " sex": 0.2})


def test_groups_of_csv_may_share_nothing_or_all(write):
    content = "feature,cost,group,group_cost\na,3,g,3\nb,4,g, 3.0\nc,1,h,0\nd,2,,0.00\n"
    expected = CostSheet({"a": 0, "b": 1, "c": 1, "d": 2}, {"g": Group(3, ["a", "b"]), "h": Group(0, ["c"])})
    assert CostSheet.read(write("a.csv", content)) == expected


def test_csv_subtracts_decimals_whatever_their_length():
    # The difference lies just below the middle of 1 and the next double, 1 + 2**-52. Rounded to 28 digits
    # first, as decimals usually are, it would come to lie above the middle.
    cost = "2.00000000000000011102230246251565404236316680908203124"
    assert parse_csv(f"feature,cost,group,group_cost\na,{cost},g,1\n").costs == {"a": 1.0}


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("age,-1", "the cost of 'age' is negative"),
        ("age,nan", "the cost of 'age' is NaN"),
        ("age,sNaN", "the cost of 'age' is NaN"),
        ("age,inf", "the cost of 'age' is infinite"),
        ("age,1e400", "the cost of 'age' is infinite"),
        ("age,", "the cost of 'age' is missing"),
        ("age", "the cost of 'age' is missing"),
        ("age,  ,,", "the cost of 'age' is missing"),
        ("age,$1", r"the cost of 'age' is '\$1'; expected a plain number such as 7.27"),
        ('age,"1,50"', "the cost of 'age' is '1,50'; expected a plain number"),
        ("age,1\nsex,1\nage,2", "feature 'age' is given twice; keep one row"),
        (",1", "line 2 names no feature"),
        ("age,1,,,extra", "the row of 'age' has 5 cells under a header of 4; put quotes"),
        ("chol,7,g,", "the group_cost of 'chol' is missing"),
        ("chol,7,g,-2", "the group_cost of 'chol' is negative"),
        ("chol,7,g,nan", "the group_cost of 'chol' is NaN"),
        ("chol,7,g,two", "the group_cost of 'chol' is 'two'; expected a plain number"),
        ("chol,7,g,7.01", r"the group_cost of 'chol' \(7.01\) is more than its cost \(7\)"),
        ("chol,7,,2", "the group_cost of 'chol' is 2, but the feature has no group; name its group or set 0"),
        ("chol,7,,x", "the group_cost of 'chol' is 'x'"),
        (
            "chol,7,g,2\nfbs,5,g,3",
            "group_cost of 'fbs' is 3, but that of 'chol', in the same group 'g', is 2",
        ),
        ('"age,1', "not valid CSV: unexpected end of data"),
        ("", "the price list is empty"),
    ],
)
def test_bad_csv_rows(write, content, words):
    with pytest.raises(CostError, match=f"bad.csv: .*{words}"):
        CostSheet.read(write("bad.csv", f"feature,cost,group,group_cost\n{content}\n"))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "there is no column 'feature', only an empty file; the first line must be feature,cost,"),
        ("name,cost\nage,1", "no column 'feature', only 'name', 'cost'"),
        ("feature;cost\nage;1", "no column 'feature', only 'feature;cost'"),
        ("feature,price\nage,1", "no column 'cost'"),
        ("feature,cost,cost\nage,1,2", "column 'cost' is given twice"),
        (b"feature,cost\n\xff\xfe,1", "not UTF-8 text .* save it as UTF-8"),
    ],
)
def test_bad_csv_files(write, content, words):
    with pytest.raises(CostError, match=f"bad.csv: .*{words}"):
        CostSheet.read(write("bad.csv", content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("age = 1", "there is no entry 'costs'; put the features"),
        ("chol = 1\n[costs]\nage = 1", "unknown entry 'chol'; expected 'costs', 'groups', 'unit'"),
        ("[costs]\nage = 1\nage = 2", "given twice: .*line 3.*'age = 2'"),
        ("[costs]\nage 1", "not valid TOML.*'age 1'"),
        ("[costs", "not valid TOML"),
        ("[costs]\nage = nan", "'age' is NaN"),
        ("[costs]\nage = -inf", "'age' is negative"),
        ("[costs]\nage = inf", "'age' is infinite"),
        ("[costs]\nage = '1'", "'age' is the string '1'; write it as a number, without quotes"),
        ("[costs]\nage = true", "'age' is True, of type bool"),
        ("[costs]\nage = 1979-05-27", "'age' is .*of type date"),
        ("[costs]\nlab.chol = 1", "'lab' is .*of type dict"),
        (f"[costs]\nage = {'9' * 5000}", "not valid TOML"),
        (f"[costs]\nage = 0x{'f' * 9000}", "'age' is infinite"),
        ("costs = 3", "costs is of type int"),
        ("[costs]", "the price list is empty"),
        ("groups = 3\n[costs]\nage = 1", "groups is of type int"),
        ("unit = 3\n[costs]\nage = 1", "the unit is 3"),
        (
            "[costs]\nage = 1\n[groups.g]\ncost = 1\nmembers = ['ag']",
            r"group 'g' has the unknown member 'ag'",
        ),
        ("[costs]\nage = 1\n[groups.g]\nmembers = ['age']", "group 'g' lacks 'cost'"),
        (
            "[costs]\nage = 1\n[groups.g]\ncost = 1\nmembers = ['age']\nx = 1",
            "group 'g' has the unknown entry 'x'",
        ),
        (f"costs = {'[' * 100_000}", "nested too deeply|not valid TOML"),
    ],
    ids=lambda value: value[:40],
)
def test_bad_toml(write, content, words):
    with pytest.raises(CostError, match=f"bad.toml: .*{words}"):
        CostSheet.read(write("bad.toml", content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
        ("[1, 2]", "there is no entry 'costs'"),
        ('{"age": 1}', "there is no entry 'costs'"),
        ('{"costs": {"age": 1}, "cots": 1}', "unknown entry 'cots'"),
        ('{"costs": {"age": 1, "age": 2}}', "'age' is given twice"),
        ('{"costs": {"age": NaN}}', "'age' is NaN"),
        ('{"costs": {"age": 1e999}}', "'age' is infinite"),
        ('{"costs": {"age": null}}', "'age' is missing"),
        ('{"costs": {"age": "1"}}', "'age' is the string '1'"),
        ('{"costs": {"age": %s}}' % ("9" * 5000), "not valid JSON"),
        (
            '{"costs": {"age": 1}, "groups": {"g": {"cost": 1, "members": "age"}}}',
            r"group 'g': .*write \['age'\]",
        ),
        ('{"costs": {"age": 1}, "groups": {"g": {"cost": -1, "members": ["age"]}}}', "group 'g': .*negative"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=lambda value: value[:40],
)
def test_bad_json(write, content, words):
    with pytest.raises(CostError, match=f"bad.json: .*{words}"):
        CostSheet.read(write("bad.json", content))


def test_json_and_toml_take_costs_by_place_as_the_constructor_does(write):
    assert CostSheet.read(write("a.json", '{"costs": [1, 2]}')) == CostSheet([1, 2])
    assert CostSheet.read(write("a.toml", "costs = [1, 2]")) == CostSheet([1, 2])


def test_unknown_endings_and_missing_files(write):
    with pytest.raises(
        CostError, match=r"a.yaml: the extension '.yaml' is unknown; expected .toml, .json, .csv"
    ):
        CostSheet.read(write("a.yaml", "costs: {}"))
    with pytest.raises(FileNotFoundError):
        CostSheet.read("nowhere.toml")


@given(
    st.binary(max_size=60)
    | st.text(max_size=60).map(lambda text: f"feature,cost,group,group_cost\n{text}".encode())
)
def test_any_bytes_are_a_sheet_or_a_cost_error(tmp_path_factory, content):
    for ending in ("csv", "json", "toml"):
        file = tmp_path_factory.getbasetemp() / f"fuzz.{ending}"
        file.write_bytes(content)
        with contextlib.suppress(CostError):
            assert len(CostSheet.read(file).features) >= 1
