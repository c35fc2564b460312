"""``fit`` and ``predict`` of Parquet files by worker processes."""

import json

import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster

import farthing
from farthing.boosting import GreedyMiserClassifier

FIT = ("--set", "n_estimators=5", "--set", "tradeoff=0.001", "--set", "relative=True")


@pytest.fixture(scope="module")
def address():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def parts(shop, tmp_path_factory):
    """The table of the shop in three Parquet files."""
    folder = tmp_path_factory.mktemp("parts")
    frame = pd.read_parquet(shop / "visitors.parquet")
    for number, begin in enumerate((0, 100, 130)):
        frame.iloc[begin : (100, 130, 240)[number]].to_parquet(folder / f"{number}.parquet")
    return folder


def test_fit_and_predict(run, shop, parts, address, tmp_path):
    model, out = tmp_path / "m.farthing", tmp_path / "out"
    code, _, err = run(
        "fit", parts / "*.parquet", "bought", "--costs", shop / "prices.toml", "--cluster", address,
        "-o", model, *FIT,
    )  # fmt: skip
    assert code == 0, err
    assert "--task classify, since 'bought' is text" in err
    frame = pd.read_parquet(shop / "visitors.parquet")
    X, y = frame.drop(columns="bought"), frame["bought"]
    fitted = farthing.load(model)
    alone = GreedyMiserClassifier(
        n_estimators=5, tradeoff=0.001, relative=True, random_state=0, costs=fitted.costs_
    ).fit(X, y)
    assert fitted.forest_ == alone.forest_

    code, told, err = run("predict", model, parts / "*.parquet", "--cluster", address, "-o", out, "--json")
    assert code == 0, err
    assert json.loads(told)["rows"] == 240
    written = pd.read_parquet(out)
    np.testing.assert_array_equal(written["prediction"].to_numpy(), alone.predict(X))
    np.testing.assert_array_equal(written["probability of yes"].to_numpy(), alone.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(written["spend"].to_numpy(), alone.spend(X))
    assert [len(bought) for bought in written["acquired"]] == alone.acquired(X).sum(axis=1).tolist()


def test_workers_of_its_own(run, parts, tmp_path):
    code, told, err = run(
        "fit", parts / "*.parquet", "score", "--workers", "1", "--worker-memory", "1GiB",
        "-o", tmp_path / "m.farthing", "--json", *FIT,
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(told)["method"] == "GreedyMiserRegressor"
    assert json.loads(told)["workers"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--report", "r.html"), "--report does not go with --cluster"),
        (("--budget", "3"), "add --kind hard"),
        (("--set", "trees=3"), "GreedyMiserClassifier has no parameter 'trees'"),
        (("--set", "trees"), "--set takes NAME=VALUE"),
        (("--methods", "AdaBoostClassifier"), "AdaBoostClassifier does not learn from Dask collections"),
        (("--methods", "a,b"), "--methods names 2"),
        (("--workers", "2"), "--cluster names workers that run already"),
    ],
)
def test_mistakes(run, parts, address, tmp_path, options, message):
    options = ("--report", tmp_path / "r.html") if options[0] == "--report" else options
    code, _, err = run(
        "fit", parts / "*.parquet", "bought", "--cluster", address, "-o", tmp_path / "m.farthing", *options
    )
    assert code == 1
    assert message in err


def test_other_files(run, shop, address, tmp_path):
    code, _, err = run(
        "fit", shop / "visitors.csv", "bought", "--cluster", address, "-o", tmp_path / "m.farthing"
    )
    assert code == 1
    assert "a cluster reads Parquet files" in err


def test_set_needs_a_cluster(run, shop, tmp_path):
    code, _, err = run("fit", shop / "visitors.csv", "bought", "-o", tmp_path / "m.farthing", *FIT)
    assert code == 1
    assert "--set is for a fit on a cluster" in err
