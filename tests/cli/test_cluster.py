"""``fit`` and ``predict`` of Parquet files by worker processes."""

import json
import re

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import LocalCluster
from distributed.utils import get_mp_context
from tests.distributed.tables import assert_same_bits

import farthing
from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor

FIT = ("--set", "n_estimators=5", "--set", "tradeoff=0.001", "--set", "relative=True")


@pytest.fixture(scope="module")
def quick_workers():
    """Workers are copies of a process that has imported everything."""
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(["distributed", "pandas", "farthing.boosting"])
        yield


@pytest.fixture(scope="module")
def address(quick_workers):
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


@pytest.mark.usefixtures("quick_workers")
def test_workers_of_its_own(run, shop, parts, tmp_path):
    """From Parquet to Parquet by two processes that the command starts, with the bits of one process."""
    model, out, prices = tmp_path / "m.farthing", tmp_path / "out", tmp_path / "prices.toml"
    prices.write_text("[costs]\nage = 1\ncity = 2\n")
    code, told, err = run(
        "fit", parts / "*.parquet", "score", "--workers", "2", "--worker-memory", "1GiB",
        "--costs", prices, "--drop", "bought", "-o", model, *FIT,
    )  # fmt: skip
    assert code == 0, err
    assert re.search(r"^5 rounds of trees, [1-9]\d*\.\d kB moved, \d+\.\d s, 2 workers$", err, re.MULTILINE)
    assert re.match(r"GreedyMiserRegressor: 5 trees on 2 workers in .* moved [1-9]\d*\.\d kB\.\n", told)
    frame = pd.read_parquet(shop / "visitors.parquet")
    X, y = frame[["age", "city"]], frame["score"]
    fitted = farthing.load(model)
    alone = GreedyMiserRegressor(
        n_estimators=5, tradeoff=0.001, relative=True, random_state=0, costs=fitted.costs_
    ).fit(X, y)
    assert_same_bits(alone, fitted)

    code, told, err = run("predict", model, parts / "*.parquet", "--workers", "2", "-o", out)
    assert code == 0, err
    assert re.search(r"^3 of 3 partitions predicted, \d+\.\d s$", err, re.MULTILINE)
    assert told.startswith(f"{len(frame)} rows, mean spend ")
    written = pd.read_parquet(out)
    np.testing.assert_array_equal(written["prediction"].to_numpy(), alone.predict(X))
    np.testing.assert_array_equal(written["spend"].to_numpy(), alone.spend(X))
    assert [set(bought) for bought in written["acquired"]] == [
        set(X.columns[row]) for row in alone.acquired(X)
    ]


def test_a_broken_file(run, shop, parts, address, tmp_path):
    """The error names its partition and the worker; a partition is predicted as a whole or not at all."""
    files, model, out = tmp_path / "files", tmp_path / "m.farthing", tmp_path / "out"
    files.mkdir()
    for path in parts.iterdir():
        (files / path.name).write_bytes(path.read_bytes())
    code, _, err = run("fit", files / "*.parquet", "bought", "--cluster", address, "-o", model, *FIT)
    assert code == 0, err
    whole = (files / "2.parquet").read_bytes()
    # The footer, with the columns, is there, and their values are not.
    (files / "2.parquet").write_bytes(whole[:4] + bytes(len(whole) // 2) + whole[4 + len(whole) // 2 :])
    code, _, err = run("predict", model, files / "*.parquet", "--cluster", address, "-o", out)
    assert code == 1
    assert re.search(r"partition 2, read by worker tcp://\S+: \w+: ", err)
    assert not list(out.glob("*.tmp"))
    for path in out.iterdir():
        pd.read_parquet(path)
    code, _, err = run("fit", files / "*.parquet", "bought", "--cluster", address, "-o", model, *FIT)
    assert code == 1
    assert re.search(r"partition 2, read by worker tcp://\S+: \w+: ", err)


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
