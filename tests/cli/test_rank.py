"""Rankings from the command line: ``--task rank --query COLUMN``."""

import json

import numpy as np
import pandas as pd
import pytest

import farthing
from farthing.boosting import GreedyMiserRanker
from farthing.cli import fit, frontier
from farthing.metrics import ndcg

QUICK = [GreedyMiserRanker(n_estimators=6, learning_rate=0.5, max_depth=2)]


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(fit, "method_list", lambda _: QUICK)
    monkeypatch.setattr(frontier, "method_list", lambda _: QUICK)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(160, 3)).round(3), columns=["words", "links", "age"])
    table["grade"] = np.digitize(table["words"] + 0.5 * table["links"], [-0.5, 0.7])
    table["query"] = [f"q{row % 20}" for row in range(160)]
    path = tmp_path_factory.mktemp("rank") / "documents.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
def test_from_a_table_to_scores(run, documents, tmp_path):
    model, scores = tmp_path / "m.farthing", tmp_path / "scores.csv"
    command = ("fit", documents, "grade", "--task", "rank", "--query", "query", "--budget", "2", "-o", model)
    code, out, err = run(*command, "--jobs", "1")
    assert code == 0, err
    assert "NDCG@5 0." in out
    fitted, table = farthing.load(model), pd.read_csv(documents)
    assert type(fitted).__name__ == "BudgetedRanker"
    assert fitted.schema_.names == ("words", "links", "age")
    assert run("predict", model, documents, "-o", scores)[0] == 0
    said = pd.read_csv(scores)["prediction"]
    nothing = ndcg(table["grade"], np.zeros(160), qid=table["query"])
    assert ndcg(table["grade"], said, qid=table["query"]) > nothing + 0.1


def test_the_frontier_is_judged_by_ndcg(run, documents):
    command = ("frontier", documents, "grade", "--task", "rank", "--query", "query", "--folds", "2", "--json")
    code, out, err = run(*command, "--jobs", "1")
    assert code == 0, err
    assert json.loads(out)["score_name"] == "ndcg@5"


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("grade", ("--task", "rank"), "which rows belong together: add --query COLUMN"),
        ("grade", ("--query", "query"), "--query is for rankings; add --task rank"),
        ("grade", ("--task", "rank", "--query", "quary"), "did you mean 'query'"),
        (
            "grade",
            ("--task", "rank", "--query", "grade"),
            "it cannot be dropped, nor be the weight or the query",
        ),
        ("age", ("--task", "rank", "--query", "query"), "grades of zero or more, but 'age' has -"),
        ("query", ("--task", "rank", "--query", "grade"), "--task rank needs numbers, but 'query' is text"),
        ("grade", ("--task", "rank", "--query", "query", "--calibrate"), "--calibrate is for labels"),
        ("grade", ("--task", "rank", "--query", "query", "--positive", "1"), "--positive is for labels"),
    ],
)
def test_mistakes(run, documents, tmp_path, target, options, message):
    code, _, err = run("fit", documents, target, *options, "-o", tmp_path / "m")
    assert code == 1
    assert message in err
