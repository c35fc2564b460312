"""What the commands make of a table: task, columns, weights, separators, dates."""

import json

import numpy as np
import pandas as pd
import pytest

import farthing
from farthing.cli.task import Task, guess_task

TREE = ("--methods", "BudgetTreeClassifier", "--jobs", "1")
MISER = ("--methods", "GreedyMiserRegressor", "--time-limit", "0", "--jobs", "1")


@pytest.fixture(scope="session")
def visits(tmp_path_factory):
    """A table whose target is one of 25 whole numbers."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 150), "score": rng.normal(size=150)})
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    frame.assign(visits=frame["age"] * 25 // 80).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (np.array(["a", "b"]), Task.CLASSIFY),
        (np.array([True, False]), Task.CLASSIFY),
        (np.array([0.5, 1.0]), Task.REGRESS),
        (np.array([0, 1, 1]), Task.CLASSIFY),
        (np.repeat(np.arange(20), 11), Task.CLASSIFY),
        (np.repeat(np.arange(20), 10), Task.REGRESS),
        (np.repeat(np.arange(21), 50), Task.REGRESS),
        (np.repeat([1.0, 2.0, 3.0], 20), Task.CLASSIFY),
    ],
)
def test_the_rule_for_the_task(y, task):
    assert guess_task(y)[0] is task


def test_many_whole_numbers_get_a_regressor_that_predicts(run, visits, tmp_path):
    model = tmp_path / "m.farthing"
    code, out, err = run("fit", visits, "visits", "-o", model, "--json", *MISER)
    assert code == 0, err
    assert json.loads(out)["task"] == "regress"
    assert "note: --task regress, since 'visits' has" in err
    assert "change it with --task" in err
    assert type(farthing.load(model)).__name__ == "BudgetedRegressor"
    code, out, err = run("predict", model, visits, "--json")
    assert code == 0, err
    assert json.loads(out)["rows"] == 150


def test_a_task_that_is_given_is_taken(run, visits, tmp_path):
    code, out, err = run("fit", visits, "visits", "--task", "classify", "-o", tmp_path / "m", "--json", *TREE)
    assert code == 0, err
    assert json.loads(out)["task"] == "classify"
    assert "note:" not in err
    assert type(farthing.load(tmp_path / "m")).__name__ == "BudgetedClassifier"


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("bought", ("--task", "regress"), "--task regress needs numbers, but 'bought' is text"),
        ("score", ("--task", "classify"), "has fractions"),
        ("score", ("--calibrate",), "--calibrate is for labels"),
        ("score", ("--positive", "yes"), "--positive is for labels"),
        ("bought", ("--kind", "hard"), "--kind hard has no effect without a budget"),
        ("bought", ("--drop", "ctiy"), "no column 'ctiy'; did you mean 'city'?"),
        ("bought", ("--drop", "bought"), "'bought' is the target"),
        ("bought", ("--drop", "age,score,city"), "no features are left"),
        ("bought", ("--weight", "wieght"), "the table has no column 'wieght'"),
        ("bought", ("--weight", "city"), "must be numbers"),
        ("bought", ("--weight", "score"), "zero or more; row"),
        ("bought", ("--sep", ";"), "has one column, 'age,score,city,bought'; try --sep ','"),
    ],
)
def test_settings_that_do_not_fit(run, shop, tmp_path, target, options, message):
    code, _, err = run(
        "fit", shop / "visitors.csv", target, "-o", tmp_path / "m.farthing", "--jobs", "1", *options
    )
    assert code == 1
    assert message in err
    assert not (tmp_path / "m.farthing").exists()


def test_columns_that_are_dropped_may_be_in_the_price_list(run, shop, tmp_path):
    for drop in (("--drop", "score", "--drop", "age"), ("--drop", "score, age")):
        code, _, err = run(
            "fit", shop / "visitors.csv", "bought", "--costs", shop / "prices.toml", *drop,
            "-o", tmp_path / "m", *TREE,
        )  # fmt: skip
        assert code == 0, err
        assert farthing.load(tmp_path / "m").costs_.features == ("city",)


def test_weights_decide_and_are_no_feature(run, shop, tmp_path):
    table = pd.read_csv(shop / "visitors.csv")
    table["weight"] = np.where(table["bought"] == "yes", 1.0, 0.001)
    table.to_csv(tmp_path / "t.csv", index=False)
    code, _, err = run(
        "fit", tmp_path / "t.csv", "bought", "--weight", "weight", "--budget", "0",
        "-o", tmp_path / "m", *TREE,
    )  # fmt: skip
    assert code == 0, err
    model = farthing.load(tmp_path / "m")
    assert model.costs_.features == ("age", "score", "city")
    assert set(model.predict(table[["age", "score", "city"]])) == {"yes"}


@pytest.mark.parametrize(
    ("name", "separator", "options"), [("t.csv", ";", ("--sep", ";")), ("t.tsv", "\t", ())]
)
def test_other_separators(run, shop, tmp_path, name, separator, options):
    pd.read_csv(shop / "visitors.csv").to_csv(tmp_path / name, sep=separator, index=False)
    code, _, err = run("fit", tmp_path / name, "bought", *options, "-o", tmp_path / "m", *TREE)
    assert code == 0, err
    code, _, err = run("predict", tmp_path / "m", tmp_path / name, *options)
    assert code == 0, err


def test_a_wrong_separator_names_the_right_one(run, shop, tmp_path):
    pd.read_csv(shop / "visitors.csv").to_csv(tmp_path / "t.csv", sep=";", index=False)
    code, _, err = run("fit", tmp_path / "t.csv", "bought", "-o", tmp_path / "m")
    assert code == 1
    assert "try --sep ';'" in err


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_dates_are_refused_by_name_and_the_remedy_works(run, shop, tmp_path, extension):
    table = pd.read_csv(shop / "visitors.csv")
    table["since"] = pd.date_range("2024-01-01", periods=len(table))
    path = tmp_path / f"t.{extension}"
    getattr(table, f"to_{extension}")(path, index=False)
    command = ("fit", path, "bought", "-o", tmp_path / "m", *TREE)
    code, _, err = run(*command)
    assert code == 1
    assert "the column 'since' holds dates, such as 2024-01-01" in err
    assert "--drop since" in err
    assert run(*command, "--drop", "since")[0] == 0


def test_the_seed_is_that_of_the_estimator(run, shop, tmp_path):
    code, _, _ = run("fit", shop / "visitors.csv", "bought", "--seed", "7", "-o", tmp_path / "m", *TREE)
    assert code == 0
    assert farthing.load(tmp_path / "m").random_state == 7


class TestPositive:
    def test_text_labels_with_f1(self, run, shop, tmp_path):
        command = ("fit", shop / "visitors.csv", "bought", "--scoring", "f1", "-o", tmp_path / "m", *TREE)
        code, out, err = run(*command, "--positive", "yes")
        assert code == 0, err
        assert "F1 score of 'yes' 0." in out
        code, _, err = run(*command)
        assert code == 1
        assert "which label is positive, no or yes: pos_label='yes', or --positive yes" in err

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (("--scoring", "f1", "--positive", "maybe"), "no label 'maybe'; the labels are no, yes"),
            (("--positive", "yes"), "makes no difference to the accuracy"),
            (("--scoring", "neg_log_loss", "--positive", "yes"), "makes no difference to neg_log_loss"),
        ],
    )
    def test_mistakes(self, run, shop, tmp_path, options, message):
        code, _, err = run("fit", shop / "visitors.csv", "bought", *options, "-o", tmp_path / "m", *TREE)
        assert code == 1
        assert message in err

    def test_three_labels_get_the_macro_average(self, run, shop, tmp_path):
        code, _, err = run(
            "fit", shop / "visitors.csv", "city", "--scoring", "f1", "-o", tmp_path / "m", *TREE
        )
        assert code == 1
        assert "f1_macro" in err


def test_a_default_price_and_spare_features(run, shop, tmp_path):
    (tmp_path / "p.toml").write_text("default = 3\nstrict = false\n[costs]\nage = 1\nheight = 9\n")
    command = (
        "fit",
        shop / "visitors.csv",
        "bought",
        "--costs",
        tmp_path / "p.toml",
        "-o",
        tmp_path / "m",
        *TREE,
    )
    code, _, err = run(*command)
    assert code == 0, err
    assert farthing.load(tmp_path / "m").costs_.own.tolist() == [1, 3, 3]


class TestForModel:
    @pytest.fixture(scope="class")
    @classmethod
    def fitted(cls, run, shop):
        path = shop / "tables.farthing"
        prices = shop / "prices.toml"
        command = (
            "fit",
            shop / "visitors.csv",
            "bought",
            "--costs",
            prices,
            "--budget",
            "3",
            "--kind",
            "hard",
            "-o",
            path,
        )
        assert run(*command, *TREE)[0] == 0
        return path

    def test_other_columns_are_not_blamed_for_one_that_is_missing(self, run, fitted, shop, tmp_path):
        pd.read_csv(shop / "visitors.csv").rename(columns={"age": "years"}).to_csv(
            tmp_path / "t.csv", index=False
        )
        code, _, err = run("predict", fitted, tmp_path / "t.csv")
        assert code == 1
        assert "age" in err
        assert "bought" not in err

    def test_another_table(self, run, fitted, tmp_path):
        pd.DataFrame({"a": [1.0], "b": [2.0]}).to_csv(tmp_path / "t.csv", index=False)
        code, _, err = run("predict", fitted, tmp_path / "t.csv")
        assert code == 1
        assert "the table has no column of the model, which knows age, score, city; it has a, b" in err

    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    def test_columns_that_are_never_bought_may_be_missing(self, run, fitted, shop, tmp_path, extension):
        model, table = farthing.load(fitted), pd.read_csv(shop / "visitors.csv")
        bought = np.array(model.schema_.names)[model.fitted_.may_buy()]
        assert 0 < len(bought) < 3
        path = tmp_path / f"narrow.{extension}"
        getattr(table[bought], f"to_{extension}")(path, index=False)
        code, out, err = run("predict", fitted, path, "--json")
        assert code == 0, err
        narrow = json.loads(out)["predictions"]
        assert narrow == json.loads(run("predict", fitted, shop / "visitors.csv", "--json")[1])["predictions"]
        code, out, err = run("audit", fitted, path)
        assert code == 0, err
        assert out == run("audit", fitted, shop / "visitors.csv")[1]

    def test_a_table_without_rows_gives_a_table_without_rows(self, run, fitted, shop, tmp_path):
        (tmp_path / "empty.csv").write_text((shop / "visitors.csv").read_text().splitlines()[0] + "\n")
        code, out, err = run("predict", fitted, tmp_path / "empty.csv", "-o", tmp_path / "said.csv")
        assert code == 0, err
        assert out.strip() == "0 rows"
        assert (tmp_path / "said.csv").read_text().startswith("prediction,probability of no")
        assert json.loads(run("predict", fitted, tmp_path / "empty.csv", "--json")[1])["mean_spend"] is None

    @pytest.mark.parametrize("extension", ["csv", "parquet"])
    def test_cells_are_refused_by_a_mark(self, run, fitted, shop, tmp_path, extension):
        table, path = pd.read_csv(shop / "visitors.csv").drop(columns="bought"), tmp_path / f"t.{extension}"
        flags = pd.DataFrame(np.random.default_rng(0).random(table.shape) < 0.3, columns=table.columns)
        marked = table.astype(object).mask(flags, "refused")
        # Only text can hold a mark in a Parquet file.
        flags["score"] = flags["score"] & (extension == "csv")
        flags["age"] = flags["age"] & (extension == "csv")
        marked = marked if extension == "csv" else table.assign(city=marked["city"])
        getattr(marked, f"to_{extension}")(path, index=False)
        code, out, err = run("predict", fitted, path, "--refused", "refused", "--json")
        assert code == 0, err
        said, expected = json.loads(out)["predictions"], farthing.load(fitted).decide(table, refused=flags)
        assert flags["city"].sum() > 30
        assert [row["spend"] for row in said] == expected.spent.tolist()
        assert [row["prediction"] for row in said] == expected.prediction.tolist()

    def test_columns_are_refused_by_name(self, run, fitted, shop, tmp_path):
        pd.read_csv(shop / "visitors.csv").drop(columns=["bought", "city"]).to_csv(
            tmp_path / "t.csv", index=False
        )
        code, _, err = run("predict", fitted, tmp_path / "t.csv")
        assert code == 1
        assert "city" in err
        code, out, err = run("predict", fitted, tmp_path / "t.csv", "--refuse", "city", "--json")
        assert code == 0, err
        assert all("city" not in row["acquired"] for row in json.loads(out)["predictions"])
        both = ("--refuse", "city", "--refused", "nobody has this")
        assert run("predict", fitted, tmp_path / "t.csv", *both, "--json")[1] == out
        code, _, err = run("predict", fitted, tmp_path / "t.csv", "--refuse", "town")
        assert code == 1
        assert "no column 'town'" in err
