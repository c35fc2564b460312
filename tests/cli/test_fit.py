"""A user's path: fit, look, predict, and every mistake on the way."""

import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import farthing
from farthing.forests import BudgetForestClassifier

QUICK = ("--methods", "BudgetTreeClassifier", "--jobs", "1")


@pytest.fixture(scope="module")
def model(shop):
    from typer.testing import CliRunner  # noqa: PLC0415

    from farthing.cli.commands import app  # noqa: PLC0415

    path, report = shop / "model.farthing", shop / "report.html"
    arguments = ["fit", shop / "visitors.csv", "bought", "--costs", shop / "prices.toml", "--budget", "3"]
    done = CliRunner().invoke(app, [*map(str, [*arguments, "-o", path, "--report", report]), *QUICK])
    assert done.exit_code == 0, done.output
    return path


def test_the_model_keeps_the_budget_and_is_good(model, shop):
    fitted, table = farthing.load(model), pd.read_csv(shop / "visitors.csv")
    X, y = table.drop(columns="bought"), table["bought"]
    assert fitted.spend(X).mean() <= 3.3
    assert np.mean(fitted.predict(X) == y) > 0.8
    assert fitted.costs_.unit == "EUR"


def test_the_report_is_there_and_whole(model, shop):
    page = (shop / "report.html").read_text()
    assert "bought on a budget" in page
    assert page.rstrip().endswith("</html>")


def test_fit_as_json(run, shop, tmp_path):
    code, out, _ = run(
        "fit", shop / "visitors.parquet", "bought", "--costs", shop / "prices.toml", "--budget", "50%",
        "--kind", "hard", "-o", tmp_path / "m.farthing", "--json", *QUICK,
    )  # fmt: skip
    told = json.loads(out)
    assert code == 0
    assert told["chosen"]["max_spend"] <= 4.0
    assert told["unit"] == "EUR"


def test_without_prices_everything_costs_one(run, shop, tmp_path):
    code, _, err = run("fit", shop / "visitors.csv", "bought", "-o", tmp_path / "m.farthing", *QUICK)
    assert code == 0
    assert "every feature costs 1" in err
    assert farthing.load(tmp_path / "m.farthing").costs_.own.tolist() == [1, 1, 1]


def test_numbers_get_a_regressor(run, shop, tmp_path):
    code, _, err = run(
        "fit", shop / "visitors.csv", "score", "-o", tmp_path / "m.farthing", "--methods",
        "GreedyMiserRegressor", "--time-limit", "0", "--jobs", "1",
    )  # fmt: skip
    assert code == 0
    assert type(farthing.load(tmp_path / "m.farthing")).__name__ == "BudgetedRegressor"
    assert "the time limit left out" in err


def test_a_budget_that_buys_nothing_warns(run, shop, tmp_path):
    code, _, err = run(
        "fit", shop / "visitors.csv", "bought", "--budget", "0.1", "-o", tmp_path / "m.farthing", *QUICK
    )
    assert code == 0
    assert "buys no feature" in err


PRICES = 'unit = "EUR"\n[costs]\nage = 1\nscore = 5\ncity = 2\n'


@pytest.mark.parametrize(
    ("prices", "message", "remedy"),
    [
        (PRICES.replace("score", "scoer"), r"(?s)'score'.*'scoer'", PRICES),
        (PRICES.replace("city = 2\n", ""), r"no cost is given for the column 'city'", PRICES),
        (PRICES.replace("= 5", "= -5"), r"score.*-5", PRICES),
        (PRICES.replace("= 5", '= "five"'), r"score", PRICES),
        (PRICES + "shoe = 3\n", r"'shoe', which is not a column", PRICES),
        ("[costs\n", r"prices.toml", PRICES),
    ],
)
def test_a_faulty_price_list_is_one_clear_line_and_the_remedy_works(
    run, shop, tmp_path, prices, message, remedy
):
    path = tmp_path / "prices.toml"
    command = ("fit", shop / "visitors.csv", "bought", "--costs", path, "-o", tmp_path / "m.farthing", *QUICK)
    path.write_text(prices)
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert re.search(message, err)
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "m.farthing").exists()
    path.write_text(remedy)
    assert run(*command)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nowhere.csv", "bought"), "there is no file"),
        (("{shop}/visitors.csv", "bougth"), "did you mean 'bought'"),
        (("{shop}/visitors.csv", "nothing like it"), "there are age, score, city, bought"),
        (("{shop}/prices.toml", "bought"), "expected .csv"),
        (("{shop}/visitors.csv", "age"), "missing in"),
        (("{shop}/visitors.csv", "bought", "--budget", "much"), "a number or a share"),
        (("{shop}/visitors.csv", "bought", "--budget-kind", "soft"), "'budget_kind' parameter"),
        (("{shop}/visitors.csv", "bought", "--methods", "Oracle"), "Oracle"),
        (("{shop}/visitors.csv", "bought", "--scoring", "wit"), "wit"),
    ],
)
def test_mistakes(run, shop, tmp_path, arguments, message):
    given = [argument.format(shop=shop) for argument in arguments]
    code, _, err = run("fit", *given, "-o", tmp_path / "m.farthing", "--jobs", "1")
    assert code == 1
    assert message in err
    assert "Traceback" not in err


def test_predict_writes_what_the_model_says(run, model, shop, tmp_path):
    code, out, _ = run("predict", model, shop / "visitors.csv", "-o", tmp_path / "said.csv")
    said = pd.read_csv(tmp_path / "said.csv", keep_default_na=False)
    X = pd.read_csv(shop / "visitors.csv").drop(columns="bought")
    fitted = farthing.load(model)
    assert code == 0
    assert "240 rows" in out
    assert said["prediction"].tolist() == fitted.predict(X).tolist()
    assert said["spend"].tolist() == fitted.spend(X).tolist()


def test_predict_prints_within_a_budget(run, model, shop):
    code, out, _ = run("predict", model, shop / "visitors.csv", "--budget", "1", "--json")
    told = json.loads(out)
    assert code == 0
    assert told["max_spend"] <= 1
    assert set(told["predictions"][0]) == {
        "prediction", "probability of no", "probability of yes", "spend", "acquired",
    }  # fmt: skip


def test_audit(run, model, shop):
    code, out, _ = run("audit", model, shop / "visitors.csv")
    assert code == 0
    assert "mean cost" in out


def test_audit_compares_the_calibration_on_rows_that_the_fit_held_out(run, shop, tmp_path):
    table, path = pd.read_csv(shop / "visitors.csv"), tmp_path / "half.farthing"
    table[::2].to_csv(tmp_path / "first.csv", index=False)
    table[1::2].to_csv(tmp_path / "second.csv", index=False)
    assert run("fit", tmp_path / "first.csv", "bought", "-o", path, *QUICK)[0] == 0
    code, out, _ = run("audit", path, tmp_path / "second.csv", "--target", "bought")
    assert code == 0
    assert out.startswith("No drift found")
    assert "Calibration is not compared" not in out
    reference = farthing.load(path).reference_
    assert reference.confident.sum() == reference.n_rows


def test_flow(run, model, shop, tmp_path):
    code, out, _ = run("flow", model, shop / "visitors.csv")
    assert code == 0
    assert out.startswith("flowchart LR")
    code, out, _ = run("flow", model, shop / "visitors.csv", "-o", tmp_path / "flow.svg")
    assert code == 0
    assert (tmp_path / "flow.svg").read_text().startswith("<svg")
    code, _, err = run("flow", model, shop / "visitors.csv", "-o", tmp_path / "flow.png")
    assert code == 1
    assert "expected .svg or .md" in err


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_audit_of_another_librarys_model(run, shop, tmp_path, library):
    table = pd.read_csv(shop / "visitors.csv")
    X, y = table[["age", "score"]], (table["bought"] == "yes").to_numpy()
    if library == "lightgbm":
        import lightgbm  # noqa: PLC0415

        path = tmp_path / "model.txt"
        lightgbm.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, y).booster_.save_model(path)
    else:
        import xgboost  # noqa: PLC0415

        path = tmp_path / "model.json"
        xgboost.XGBClassifier(n_estimators=3).fit(X, y).save_model(path)
    (tmp_path / "prices.toml").write_text("[costs]\nage = 1\nscore = 5\n")
    code, out, err = run("audit", path, shop / "visitors.csv", "--costs", tmp_path / "prices.toml", "--json")
    assert code == 0, err
    assert 1 <= json.loads(out)["mean"] <= 6


def test_frontier(run, shop, tmp_path):
    code, out, _ = run(
        "frontier", shop / "visitors.csv", "bought", "--costs", shop / "prices.toml", "--plot",
        tmp_path / "f.png", "--points", tmp_path / "f.csv", "--folds", "3", *QUICK,
    )  # fmt: skip
    assert code == 0
    assert "accuracy" in out
    assert (tmp_path / "f.png").read_bytes()[:4] == b"\x89PNG"
    assert len(pd.read_csv(tmp_path / "f.csv")) > 3


def test_frontier_as_json(run, shop):
    code, out, _ = run("frontier", shop / "visitors.csv", "bought", "--json", *QUICK)
    assert code == 0
    assert json.loads(out)["efficient"][-1]["score"] > 0.7


class TestAsk:
    def test_a_consultation(self, run, model):
        code, out, _ = run("ask", model, given="30\nBonn\n0.2\n30\n30\n")
        assert code == 0
        assert "Decision:" in out
        assert re.search(r"spent 0.00 EUR; prediction: (yes|no) \d+%", out)

    def test_a_refused_test_costs_nothing(self, run, model):
        code, out, _ = run("ask", model, "--json", given="?\n?\n?\n?\n")
        told = json.loads(out.splitlines()[-1])
        assert code == 0
        assert (told["spent"], told["acquired"]) == (0.0, [])

    def test_what_is_no_answer_is_asked_again(self, run, model):
        code, _, err = run("ask", model, given="a lot\nParis\n50\nBonn\n?\n?\n?\n")
        assert code == 0
        assert "is a number" in err or "is one of Bonn, Graz, Oslo" in err

    def test_panels(self, run, shop):
        path = shop / "panels.farthing"
        X = pd.read_csv(shop / "visitors.csv")
        tree = BudgetForestClassifier(n_estimators=5, random_state=0).fit(
            X.drop(columns="bought"), X["bought"]
        )
        tree.save(path)
        code, out, err = run("ask", path, "--panel", "3", "--json", given="30\n30\n")
        told = json.loads(out.splitlines()[-1])
        assert code == 0, err
        assert (told["rounds"], sorted(told["acquired"])) == (1, ["age", "score"])
        assert "order together: " in err

    def test_stop(self, run, model):
        code, out, _ = run("ask", model, "--json", given="stop\n")
        assert code == 0
        assert json.loads(out.splitlines()[-1])["finished"] is False

    def test_known_is_free(self, run, model):
        known = ("--known", "age=30", "--known", "city=Bonn", "--known", "score=0")
        code, out, _ = run("ask", model, *known, "--json")
        assert code == 0
        assert json.loads(out)["spent"] == 0

    def test_known_must_be_a_feature(self, run, model):
        code, _, err = run("ask", model, "--known", "shoe=30")
        assert code == 1
        assert "shoe" in err


class TestReproduce:
    def test_lists_the_experiments(self, run, monkeypatch, pytestconfig):
        monkeypatch.chdir(pytestconfig.rootpath)
        code, out, _ = run("reproduce", "--json")
        assert code == 0
        assert {"reyzin2011", "huang2015"} <= set(json.loads(out))
        assert {"nan2018_edge", "front_door", "fuzz"} <= set(json.loads(out))
        assert not {"mutations", "fuzz_models", "pages"} & set(json.loads(out))

    def test_lists_them_by_folder(self, run, monkeypatch, pytestconfig):
        monkeypatch.chdir(pytestconfig.rootpath)
        code, out, _ = run("reproduce")
        assert code == 0
        lines = out.splitlines()
        assert lines.index("papers:") < lines.index("boards:") < lines.index("fuzz:")
        assert any(line.startswith("  reyzin2011: Reyzin (2011)") for line in lines)

    def test_passes_on_what_follows_the_name(self, run, monkeypatch, pytestconfig):
        called = []
        monkeypatch.chdir(pytestconfig.rootpath)
        monkeypatch.setattr(
            "farthing.cli.reproduce.subprocess.run",
            lambda words, check: called.append(words) or SimpleNamespace(returncode=3),
        )
        code, _, _ = run("reproduce", "cascade", "--tables", "dna", "--tiny")
        assert code == 3
        assert called[0][1:] == ["-m", "experiments.boards.cascade", "--tables", "dna", "--tiny"]

    def test_no_such_experiment(self, run, monkeypatch, pytestconfig):
        monkeypatch.chdir(pytestconfig.rootpath)
        code, _, err = run("reproduce", "newton1687")
        assert code == 1
        assert "reyzin2011" in err

    def test_needs_the_source_tree(self, run, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        code, _, err = run("reproduce", "reyzin2011")
        assert code == 1
        assert "source tree" in err


def test_the_demonstration(run, tmp_path, monkeypatch):
    from farthing.cli import demo, fit  # noqa: PLC0415

    monkeypatch.setattr(fit, "method_list", lambda _: ["BudgetTreeClassifier"])
    code, out, err = run("demo", tmp_path / "demo", "--jobs", "1")
    assert code == 0, err
    assert f"--budget {demo.BUDGET}" in out
    prices = re.findall(r"= \S+ +(\d+\.\d\d)   spent +(\d+\.\d\d)", out)
    assert prices
    assert sum(float(price) for price, _ in prices) == pytest.approx(float(prices[-1][1]))
    assert (tmp_path / "demo" / "report.html").exists()


def test_the_demonstration_without_the_packages_of_a_report(run, tmp_path, monkeypatch):
    from farthing.cli import demo, fit  # noqa: PLC0415

    monkeypatch.setattr(fit, "method_list", lambda _: ["BudgetTreeClassifier"])
    monkeypatch.setattr(demo, "lacking_for_report", lambda: ["jinja2", "matplotlib"])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = run("demo", tmp_path / "demo", "--jobs", "1")
    assert code == 0, err
    assert "--report" not in out
    assert "A report needs jinja2 and matplotlib: pip install 'farthing[report]'" in out
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert written == {"heart.csv", "prices.json", "model.farthing"}


def test_the_time_limit_covers_the_report(run, shop, tmp_path):
    report = tmp_path / "r.html"
    code, _, err = run(
        "fit", shop / "visitors.csv", "bought", "-o", tmp_path / "m.farthing", "--report", report,
        "--time-limit", "0", *QUICK,
    )  # fmt: skip
    assert code == 0
    assert "the time limit shortened the report" in err
    assert "The time limit shortened this report" in report.read_text()


@pytest.mark.parametrize("kind", ["mean", "hard"])
def test_several_budgets(run, shop, tmp_path, kind):
    prices, model, out = tmp_path / "prices.toml", tmp_path / "m.farthing", tmp_path / "out.csv"
    prices.write_text(
        (shop / "prices.toml").read_text() + "[resources.minutes.costs]\nage = 1\nscore = 30\ncity = 2\n"
    )
    fit = ("fit", shop / "visitors.csv", "bought", "--costs", prices, *QUICK)
    code, _, err = run(*fit, "--budget", "EUR=4", "--budget", "minutes=6", "--kind", kind, "-o", model)
    assert code == 0, err
    fitted, table = farthing.load(model), pd.read_csv(shop / "visitors.csv").drop(columns="bought")
    spent, minutes = fitted.spend(table), fitted.spend(table, resource="minutes")
    assert spent.mean() <= 4.4
    assert minutes.mean() <= 6.6
    if kind == "hard":
        assert spent.max() <= 4
        assert minutes.max() <= 6
    code, _, _ = run(
        "predict", model, shop / "visitors.csv", "--budget", "EUR=4", "--budget", "minutes=2", "-o", out
    )
    assert code == 0
    decided = fitted.decide(table, budget={"EUR": 4, "minutes": 2})
    assert pd.read_csv(out)["spend"].tolist() == decided.spent.tolist()
    code, told, _ = run("ask", model, "--budget", "minutes=0.5", "--json")
    assert json.loads(told)["acquired"] == []
    code, _, err = run(*fit, "--budget", "EUR=4", "--budget", "6", "-o", model)
    assert code != 0
    assert "each has a name, such as minutes=30" in err
    code, _, err = run(*fit, "--budget", "EUR=4", "--budget", "hours=6", "-o", model)
    assert "'hours', which the cost sheet lacks" in err
