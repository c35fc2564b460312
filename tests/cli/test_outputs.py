"""What the commands write: formats, folders, words, and how soon they are ready."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import farthing
from farthing import Guarantee
from farthing.cascades import MiserCascadeClassifier

TREE = ("--methods", "BudgetTreeClassifier", "--jobs", "1")


@pytest.fixture(scope="module")
def model(run, shop):
    path = shop / "outputs.farthing"
    code, _, err = run(
        "fit", shop / "visitors.csv", "bought", "--costs", shop / "prices.toml", "-o", path, *TREE
    )
    assert code == 0, err
    return path


def in_order(model, X):
    """Return the purchases of each row by walking it."""
    found = []
    for record in X.to_dict(orient="records"):
        walk, bought = model.walk(), []
        while (ask := walk.ask) is not None:
            bought.append(ask.feature)
            walk.tell(record[ask.feature])
        found.append(bought)
    return found


@pytest.mark.parametrize("extension", ["csv", "json", "parquet", "feather"])
def test_predictions_by_extension_list_purchases_in_their_order(run, model, shop, tmp_path, extension):
    path = tmp_path / f"said.{extension}"
    code, out, err = run("predict", model, shop / "visitors.csv", "-o", path)
    assert code == 0, err
    assert "240 rows" in out
    reader = {
        "csv": lambda: pd.read_csv(path, keep_default_na=False).to_dict(orient="records"),
        "json": lambda: json.loads(path.read_text()),
        "parquet": lambda: pd.read_parquet(path).to_dict(orient="records"),
        "feather": lambda: pd.read_feather(path).to_dict(orient="records"),
    }[extension]
    rows = reader()
    acquired = [json.loads(row["acquired"]) if extension == "csv" else list(row["acquired"]) for row in rows]
    fitted, X = farthing.load(model), pd.read_csv(shop / "visitors.csv").drop(columns="bought")
    assert acquired == in_order(fitted, X)
    # The test can fail: in the order of the price list, they would differ.
    assert any(bought != sorted(bought, key=fitted.costs_.column) for bought in acquired)
    np.testing.assert_array_equal([row["spend"] for row in rows], fitted.spend(X))


def test_purchases_in_the_order_of_the_price_list(run, model, shop, tmp_path):
    code, _, err = run(
        "predict", model, shop / "visitors.csv", "-o", tmp_path / "said.json", "--no-ordered", "--budget", "6"
    )
    assert code == 0, err
    rows = json.loads((tmp_path / "said.json").read_text())
    column = farthing.load(model).costs_.column
    assert all(row["acquired"] == sorted(row["acquired"], key=column) for row in rows)


def test_predict_within_a_share(run, model, shop):
    code, out, err = run("predict", model, shop / "visitors.csv", "--budget", "25%", "--json")
    assert code == 0, err
    assert json.loads(out)["max_spend"] <= 0.25 * 8


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (("fit", "{t}", "bought", "-o", "{none}/m.farthing"), "there is no folder"),
        (("fit", "{t}", "bought", "-o", "{here}"), "is a folder"),
        (("fit", "{t}", "bought", "-o", "{here}/m", "--report", "{none}/r.html"), "--report"),
        (("frontier", "{t}", "bought", "--plot", "{none}/f.png"), "--plot"),
        (("frontier", "{t}", "bought", "--plot", "{here}/f.xyz"), "expected .png, .svg, .pdf"),
        (("frontier", "{t}", "bought", "--points", "{here}/f"), "no extension; expected .csv"),
        (("predict", "nowhere.farthing", "{t}", "-o", "{none}/p.csv"), "there is no folder"),
        (("predict", "nowhere.farthing", "{t}", "-o", "{here}/p.xls"), "expected .csv, .json"),
    ],
)
def test_destinations_are_checked_before_the_work(run, shop, tmp_path, monkeypatch, command, message):
    def too_late(*args, **options):
        raise AssertionError("the table was read before the destination was checked")

    monkeypatch.setattr("farthing.cli.problem.read_table", too_late)
    places = {"t": shop / "visitors.csv", "none": tmp_path / "none", "here": tmp_path}
    code, _, err = run(*[part.format(**places) for part in command])
    assert code == 1
    assert message in err


def test_the_version(run):
    code, out, _ = run("--version")
    assert (code, out) == (0, f"farthing {farthing.__version__}\n")


@pytest.fixture(scope="module")
def told(run, shop, tmp_path_factory):
    points = tmp_path_factory.mktemp("frontier") / "f.json"
    command = ("frontier", shop / "visitors.csv", "bought", "--costs", shop / "prices.toml", *TREE)
    code, out, err = run(*command, "--points", points)
    assert code == 0, err
    return out, json.loads(points.read_text())


class TestFrontier:
    def test_what_it_shows_is_beaten_by_nothing(self, told):
        out, points = told
        rows = re.findall(r"^ *[\d.]+%  +([\d.]+)  +([\d.]+)  ", out, flags=re.MULTILINE)
        assert len(rows) >= 2
        for spend, score in rows:
            assert not any(
                point["spend"] < float(spend) - 1e-3 and point["score"] > float(score) + 1e-3
                for point in points
            )

    def test_it_judges_by_the_split_of_fit(self, told, shop):
        _, points = told
        table = pd.read_csv(shop / "visitors.csv").astype({"city": "category"})
        estimator = farthing.BudgetedClassifier(shop / "prices.toml", methods=["BudgetTreeClassifier"])
        model = estimator.fit(table.drop(columns="bought"), table["bought"])
        judged = {(round(p.spend, 12), round(p.score, 12)) for p in model.frontier_}
        assert len(points) > 5
        # A fit evaluates on all folds only those settings that may win.
        same = {(round(p["spend"], 12), round(p["score"], 12)) for p in points} & judged
        assert same


def test_errors_are_shown_without_their_sign(run, shop, tmp_path):
    code, out, err = run(
        "fit", shop / "visitors.csv", "score", "-o", tmp_path / "m", "--methods", "GreedyMiserRegressor",
        "--time-limit", "0", "--jobs", "1",
    )  # fmt: skip
    assert code == 0, err
    assert "neg_" not in out
    assert re.search(r"mean squared error \d", out)


def test_a_mean_budget_is_explained(run, shop, tmp_path):
    def said(budget, *options):
        return run(
            "fit", shop / "visitors.csv", "bought", "--budget", budget, "-o", tmp_path / "m", *TREE, *options
        )[1]

    assert "The budget, 2.5, is a mean: some rows spend more" in said("2.5")
    # Where no row spends more, there is nothing to explain.
    assert "is a mean" not in said("3")
    assert "is a mean" not in said("2.5", "--kind", "hard")


def test_an_audit_is_in_words(run, model, shop):
    code, out, _ = run("audit", model, shop / "visitors.csv")
    assert code == 0
    assert "used_" not in out
    assert "1 to 7 times" in out


@pytest.fixture(scope="module")
def members(run, tmp_path_factory):
    """A model that asks for a boolean first."""
    folder = tmp_path_factory.mktemp("members")
    rng = np.random.default_rng(2)
    member = rng.random(200) < 0.5
    city = rng.choice(["?", "Oslo"], 200)
    bought = np.where(member & (city == "?"), "yes", "no")
    pd.DataFrame({"member": member, "city": city, "bought": bought}).to_csv(folder / "t.csv", index=False)
    code, _, err = run("fit", folder / "t.csv", "bought", "-o", folder / "m", *TREE)
    assert code == 0, err
    return folder / "m"


class TestAsk:
    @pytest.mark.parametrize("answer", ["true", "True", "yes", "1"])
    def test_booleans_and_a_category_that_is_a_question_mark(self, run, members, answer):
        first = farthing.load(members).walk().ask.feature
        given = f"{answer}\n'?'\n" if first == "member" else f"'?'\n{answer}\n"
        code, out, err = run("ask", members, "--json", given=given)
        told = json.loads(out.splitlines()[-1])
        assert code == 0
        assert told["prediction"] == "yes", err
        assert told["acquired"][0] == first

    def test_reasons_are_told_on_request(self, run, members):
        code, out, err = run("ask", members, "--why", "--json", given="?\n?\n")
        assert code == 0, err
        assert "why " in err
        assert "%): " in err  # an outcome with its probability
        assert json.loads(out[out.index("{") :])["stop_reason"]["kind"] == "finished"

    def test_what_is_known_to_be_unavailable_is_not_asked_for(self, run, members):
        code, out, _ = run("ask", members, "--known", "member=?", "--known", "city=?", "--json")
        told = json.loads(out.splitlines()[-1])
        assert code == 0
        assert (told["spent"], told["acquired"], told["finished"]) == (0, [], True)

    def test_a_share_as_budget(self, run, members):
        code, out, _ = run("ask", members, "--budget", "0%", "--json")
        assert code == 0
        assert json.loads(out)["spent"] == 0


def test_help_loads_no_numerical_library():
    # A package of the same name in place of farthing itself, whose own imports are not those of the command.
    program = (
        "import sys, types\n"
        "package = types.ModuleType('farthing')\n"
        f"package.__path__ = [{str(Path(farthing.__file__).parent)!r}]\n"
        "sys.modules['farthing'] = package\n"
        "from farthing.cli.commands import app\n"
        "print(sorted({'numpy', 'pandas', 'sklearn', 'joblib', 'scipy'} & set(sys.modules)))\n"
        "assert len(app.registered_commands) == 12\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr


def test_audit_prints_the_certificate(run, shop):
    table = pd.read_csv(shop / "visitors.csv")
    X, y = table[["age", "score", "city"]].astype({"city": "category"}), table["bought"]
    settings = {"n_estimators": 8, "n_stages": 3, "random_state": 0}
    sure = MiserCascadeClassifier([1, 5, 2], guarantee=Guarantee(budget=6.0), **settings).fit(X, y)
    sure.save(path := shop / "sure.farthing")
    code, out, err = run("audit", path, shop / "visitors.csv")
    assert code == 0, err
    assert f"Guaranteed: {sure.certificate_}" in out
    code, out, _ = run("audit", path, shop / "visitors.csv", "--json")
    told = json.loads(out)["guarantee"]
    assert (told["budget"], told["n_rows"], told["bound"]) == (6.0, 60, "betting")


class TestReprice:
    def test_needs_prices_and_a_target(self, run, model, shop):
        code, _, err = run("audit", model, shop / "visitors.csv", "--reprice")
        assert code != 0
        assert "--costs" in err
        code, _, err = run(
            "audit", model, shop / "visitors.csv", "--costs", shop / "prices.toml", "--reprice",
            "--refit-on", shop / "visitors.csv",
        )  # fmt: skip
        assert code != 0
        assert "--target" in err

    def test_what_was_chosen_may_not_be_repriced(self, run, model, shop):
        code, _, err = run(
            "audit", model, shop / "visitors.csv", "--costs", shop / "prices.toml", "--reprice"
        )
        assert code != 0
        assert "BudgetTreeClassifier" in err

    def test_the_loss_against_a_new_fit(self, run, shop):
        table, prices, path = shop / "visitors.csv", shop / "prices.toml", shop / "cascade.farthing"
        code, _, err = run(
            "fit", table, "bought", "--costs", prices, "--budget", "20%", "-o", path,
            "--methods", "MiserCascadeClassifier", "--jobs", "1",
        )  # fmt: skip
        assert code == 0, err
        if type(farthing.load(path).model_).__name__ != "MiserCascadeClassifier":
            pytest.skip("the door took the model that buys nothing")
        code, out, err = run(
            "audit",
            path,
            table,
            "--costs",
            prices,
            "--reprice",
            "--refit-on",
            table,
            "--target",
            "bought",
            "--json",
        )
        assert code == 0, err
        lost = json.loads(out)["reprice"]
        assert lost["loss"] == pytest.approx(lost["refit_score"] - lost["score"])
