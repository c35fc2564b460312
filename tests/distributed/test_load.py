"""Clusters that are slow, stopped for a while, or out of touch, and have lost nobody."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, LocalCluster, get_worker
from tests.distributed.tables import assert_same_bits, cut_array, numbers

from farthing.boosting import GreedyMiserRegressor
from farthing.distributed.progress import FitProgress, RankProgress, ReadProgress, StallWatch, showing
from farthing.errors import ClusterError
from farthing.learning.losses import SQUARED, Loss

CUTS = [100, 200, 300, 400, 500]
PARAMS: dict[str, Any] = {"n_estimators": 5, "max_depth": 2, "tradeoff": 0.001}


def make_disturbed(disturb: Any, folder: Path) -> type[Any]:
    """Return an estimator class that calls ``disturb`` once, in the second round, on one worker.

    A class of a function is pickled by value, so that workers need not import this file.
    """
    path, pid = str(folder), os.getpid()

    class Disturbed(GreedyMiserRegressor):
        def _loss(self, rows: Any) -> Loss:
            n_calls = 0

            def steps(target: Any, scores: Any) -> Any:
                nonlocal n_calls
                n_calls += 1
                if n_calls == 2 and os.getpid() != pid:
                    try:
                        os.mkdir(os.path.join(path, "disturbed"))
                    except FileExistsError:
                        pass
                    else:
                        disturb()
                return SQUARED.steps(target, scores)

            return Loss(SQUARED.start, steps, SQUARED.values)

    Disturbed.__name__ = "GreedyMiserRegressor"
    return Disturbed


def fit_disturbed(disturb: Any, folder: Path, cuts: list[int]) -> None:
    X, y, weights = numbers(600)
    alone = GreedyMiserRegressor(**PARAMS).fit(X, y, weights)
    together = make_disturbed(disturb, folder)(**PARAMS)
    together.fit(*(cut_array(part, cuts) for part in (X, y, weights)))
    assert (folder / "disturbed").exists()
    assert_same_bits(alone, together)
    assert together.cluster_report_.n_losses == 0


def test_refresh_in_the_background(on_cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client's own record has no workers if a refresh in its background comes in between."""
    monkeypatch.setattr(Client, "scheduler_info", lambda *_, **__: {"workers": {}})
    X, y, _ = numbers(600)
    model = GreedyMiserRegressor(**PARAMS).fit(cut_array(X, CUTS), cut_array(y, CUTS))
    assert model.cluster_report_.n_losses == 0


def test_stopped_for_a_while(on_cluster: Client, tmp_path: Path) -> None:
    def stop() -> None:
        pid = os.getpid()
        if os.fork() == 0:  # stopped processes cannot wake themselves
            time.sleep(2)
            os.kill(pid, signal.SIGCONT)
            os._exit(0)
        os.kill(pid, signal.SIGSTOP)

    fit_disturbed(stop, tmp_path, CUTS)


def test_broken_connections(on_cluster: Client, tmp_path: Path) -> None:
    """All connections to a worker break while others wait for it."""

    def cut_off() -> None:
        worker = get_worker()
        time.sleep(0.3)
        worker.loop.add_callback(lambda: [comm.abort() for comm in list(worker._comms)])
        time.sleep(0.3)

    fit_disturbed(cut_off, tmp_path, CUTS)


def test_two_fits_at_once(on_cluster: Client) -> None:
    """Their ranks do not take each other's places: workers have one thread."""
    X, y, _ = numbers(600)
    alone = GreedyMiserRegressor(**PARAMS).fit(X, y)

    def fit(_: int) -> GreedyMiserRegressor:
        with on_cluster.as_current():
            return GreedyMiserRegressor(**PARAMS).fit(cut_array(X, CUTS), cut_array(y, CUTS))

    with ThreadPoolExecutor(4) as pool:
        for together in pool.map(fit, range(4)):
            assert_same_bits(alone, together)


def test_workers_in_this_process() -> None:
    """They hand over memory as it is, and a peer adds into what it gets."""
    X, y, _ = numbers(600)
    alone = GreedyMiserRegressor(**PARAMS).fit(X, y)
    with (
        LocalCluster(n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0") as threads,
        Client(threads, set_as_default=False) as client,
        client.as_current(),
    ):
        together = GreedyMiserRegressor(**PARAMS).fit(cut_array(X, CUTS), cut_array(y, CUTS))
    assert together.cluster_report_.n_workers == 3
    assert_same_bits(alone, together)


def test_stall_names_worker_and_partition(on_cluster: Client, tmp_path: Path) -> None:
    def sleep() -> None:
        time.sleep(12)

    X, y, _ = numbers(600)
    disturbed = make_disturbed(sleep, tmp_path)(**PARAMS)
    with (
        dask.config.set({"farthing.stall-timeout": "3s"}),
        pytest.raises(
            ClusterError,
            match=r"no progress for 3 s, at exchange \d+: waited for worker tcp://.* with partitions \d, \d;",
        ),
    ):
        disturbed.fit(cut_array(X, CUTS), cut_array(y, CUTS))


def test_progress_is_shown(on_cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthing.distributed.ranks._LOOK_CLOSELY_EVERY", 0.1)
    X, y, _ = numbers(600)
    shown: list[Any] = []
    with showing(shown.append):
        GreedyMiserRegressor(n_estimators=80, max_depth=3).fit(cut_array(X, CUTS), cut_array(y, CUTS))
    shown = [progress for progress in shown if isinstance(progress, FitProgress)]
    last = shown[-1]
    assert last.n_workers == 3
    assert last.n_rounds == 80
    assert last.n_bytes > 0
    assert [progress.n_rounds for progress in shown] == sorted(progress.n_rounds for progress in shown)


def test_reading_is_shown(on_cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthing.distributed.waiting._TELL_EVERY", 0.05)
    X, y, _ = numbers(600)

    def slow(block: Any) -> Any:
        time.sleep(0.3)
        return block

    shown: list[Any] = []
    with showing(shown.append):
        GreedyMiserRegressor(n_estimators=1).fit(cut_array(X, [300]).map_blocks(slow), cut_array(y, [300]))
    read = [progress for progress in shown if isinstance(progress, ReadProgress)]
    assert read
    assert all(progress.n_parts == 2 and progress.seconds > 0 for progress in read)


@pytest.mark.parametrize(
    ("later", "stalled"),
    [
        ({"a": RankProgress(8), "b": RankProgress(7)}, ["b"]),  # nothing moved
        ({"a": RankProgress(8, cpu=100.0), "b": RankProgress(7)}, ["b"]),  # who waits may do other things
        ({"a": RankProgress(8), "b": RankProgress(8)}, []),  # an exchange
        ({"a": RankProgress(8), "b": RankProgress(7, cpu=50.0)}, []),  # it works
        ({"a": RankProgress(8), "b": RankProgress()}, []),  # not the ranks of before
    ],
)
def test_what_is_progress(later: dict[str, RankProgress], stalled: list[str]) -> None:
    watch = StallWatch(longest=10)
    assert watch.stalled({"a": RankProgress(8), "b": RankProgress(7)}, now=0) == []
    assert watch.stalled(later, now=11) == stalled


def test_no_workers() -> None:
    X, y, _ = numbers(60)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        Client(empty, set_as_default=False) as client,
        client.as_current(),
        dask.config.set({"farthing.stall-timeout": "1s"}),
        pytest.raises(ClusterError, match="the cluster has no workers; waited for partitions 0, 1"),
    ):
        GreedyMiserRegressor().fit(cut_array(X, [30]), cut_array(y, [30]))
