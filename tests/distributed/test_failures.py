"""Workers that are killed during a fit or a prediction, and clients that are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client
from sklearn.base import clone
from tests.distributed.tables import assert_same_bits, cut_array, numbers

from farthing.boosting import GreedyMiserRegressor
from farthing.cascades import MiserCascadeRegressor
from farthing.errors import ClusterError
from farthing.forests import BudgetForestClassifier
from farthing.learning.losses import SQUARED, Loss

CUTS = [100, 200, 300, 400, 500]
N_PARTITIONS = len(CUTS) + 1


def make_dying(base: type[Any], calls: Path, *, at: int, where: str) -> type[Any]:
    """Return an estimator class of which one worker is killed at some call, counted over all workers.

    A class of a function is pickled by value, so that workers need not import this file.
    """
    path, pid = str(calls), os.getpid()

    def die_at_last() -> None:
        if os.getpid() == pid:
            return
        with open(path, "ab", buffering=0) as file:
            file.write(b".")
            if file.tell() == at:
                os.kill(os.getpid(), signal.SIGKILL)

    class Dying(base):  # type: ignore[misc]
        def encode_target(self, y: Any) -> Any:
            if where == "binning":
                die_at_last()
            return super().encode_target(y)

        def _loss(self, rows: Any) -> Loss:
            if where != "growth":
                return super()._loss(rows)  # type: ignore[no-any-return]

            def steps(target: Any, scores: Any) -> Any:
                die_at_last()
                return SQUARED.steps(target, scores)

            return Loss(SQUARED.start, steps, SQUARED.values)

        def raw_outputs(self, X: Any, **options: Any) -> Any:
            if where == "prediction":
                die_at_last()
            return super().raw_outputs(X, **options)

    Dying.__name__ = base.__name__
    return Dying


@pytest.mark.parametrize(
    ("where", "at", "charge"), [("binning", N_PARTITIONS + 2, "model"), ("growth", 8, "row")]
)
def test_killed_during_fit(on_cluster: Client, tmp_path: Path, where: str, at: int, charge: str) -> None:
    X, y, weights = numbers(600)
    params: dict[str, Any] = {"n_estimators": 5, "max_depth": 2, "tradeoff": 0.001, "charge": charge}
    if charge == "row":
        params |= {"budget": 3.0, "validation_fraction": 0.2, "random_state": 0}
    alone = GreedyMiserRegressor(**params).fit(X, y, weights)
    dying = make_dying(GreedyMiserRegressor, tmp_path / "calls", at=at, where=where)(**params)
    dying.fit(*(cut_array(part, CUTS) for part in (X, y, weights)))
    assert_same_bits(alone, dying)
    assert (tmp_path / "calls").stat().st_size >= at
    if where == "growth":
        assert dying.cluster_report_.n_losses == 1
        assert dying.validation_losses_.tolist() == alone.validation_losses_.tolist()
        # Three ranks made two rounds and a bit, or three; the others only had to be made once more.
        assert (tmp_path / "calls").stat().st_size < 2 * 3 * params["n_estimators"]


@pytest.mark.parametrize(
    "estimator",
    [
        BudgetForestClassifier(n_estimators=3, max_depth=2, random_state=0),
        MiserCascadeRegressor(n_stages=1, n_estimators=1, max_depth=1, n_folds=1, random_state=0),
    ],
    ids=["forest", "cascade"],
)
def test_killed_during_a_later_step(on_cluster: Client, tmp_path: Path, estimator: Any) -> None:
    """A forest has grown a tree, and a cascade has chosen its features, when one of three workers dies."""
    X, y, _ = numbers(120)
    X, y = X[:, :2], np.digitize(y, [0.0, 2.0]) if isinstance(estimator, BudgetForestClassifier) else y
    path, pid = str(tmp_path / "calls"), os.getpid()

    class Dying(type(estimator)):  # type: ignore[misc]
        def fit_rows(self, rows: Any, **options: Any) -> Any:
            from farthing import collective  # noqa: PLC0415 - in the worker

            found = collective.peers()

            class Dead:
                size, n_rows, row_numbers = found.size, found.n_rows, found.row_numbers

                def largest(self, numbers: Any) -> Any:
                    return found.largest(numbers)

                def sum(self, numbers: Any) -> Any:
                    first = found.row_numbers[0] == 0 and os.getpid() != pid
                    if first and collective.saved() and not os.path.exists(path):
                        with open(path, "xb"):
                            os.kill(os.getpid(), signal.SIGKILL)
                    return found.sum(numbers)

            kept = collective._saved.get()
            with collective.among(Dead(), kept):
                return super().fit_rows(rows, **options)

    Dying.__name__ = type(estimator).__name__
    alone = clone(estimator).fit(X, y)
    dying = Dying(**estimator.get_params()).fit(*(cut_array(part, [40, 80]) for part in (X, y)))
    assert_same_bits(alone, dying)
    assert dying.cluster_report_.n_losses == 1


def test_killed_during_prediction(on_cluster: Client, tmp_path: Path) -> None:
    X, y, _ = numbers(600)
    dying = make_dying(GreedyMiserRegressor, tmp_path / "calls", at=3, where="prediction")
    model = dying(n_estimators=2, max_depth=2).fit(X, y)
    lazy = model.predict(cut_array(X, CUTS))
    np.testing.assert_array_equal(on_cluster.compute(lazy).result(), model.predict(X))
    assert (tmp_path / "calls").stat().st_size > N_PARTITIONS


def test_a_partition_that_kills_its_workers(on_cluster: Client) -> None:
    """It is not tried for ever; the error names it and the last worker that it cost."""
    X, y, _ = numbers(30)
    pid = os.getpid()

    def read(block: Any) -> Any:
        if block[0, 0] == X[20, 0] and os.getpid() != pid:
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    def allow(dask_scheduler: Any, n_failures: int) -> int:
        before, dask_scheduler.allowed_failures = dask_scheduler.allowed_failures, n_failures
        return int(before)

    usual = on_cluster.run_on_scheduler(allow, n_failures=1)
    table = cut_array(X, [10, 20]).map_blocks(read, meta=X[:0])
    try:
        # Dask may blame another one that waited on the same workers.
        with pytest.raises(ClusterError, match=r"^partition \d cost 2 workers, the last of them tcp://"):
            GreedyMiserRegressor(n_estimators=1).fit(table, cut_array(y, [10, 20]))
    finally:
        on_cluster.run_on_scheduler(allow, n_failures=usual)


def test_a_fit_that_fails_leaves_nothing(on_cluster: Client) -> None:
    """Not even while somebody keeps the error, and with it the frames of the fit."""
    X, y, _ = numbers(30)
    y[25] = np.nan
    before = set(leftovers(on_cluster))
    with pytest.raises(ValueError, match="partition 2, read by worker") as kept:
        GreedyMiserRegressor(n_estimators=1).fit(cut_array(X, [10, 20]), cut_array(y, [10, 20]))
    assert until(lambda: before.issuperset(leftovers(on_cluster)), seconds=10), (leftovers(on_cluster), kept)


CLIENT = """
import sys
import time
import numpy as np, dask.array as da
from distributed import Client
from farthing.boosting import GreedyMiserRegressor

# Of this process: workers have other arguments.
WHEN = sys.argv[2]

def slowly(block):
    if WHEN == "reading" and block.shape[0] and block[0, 0] == X[2000, 0]:
        time.sleep(4)
    return block

X = np.random.default_rng(0).normal(size=(3000, 4))
with Client(sys.argv[1]):
    table = da.from_array(X, chunks=(1000, 4)).map_blocks(slowly, meta=X[:0])
    model = GreedyMiserRegressor(n_estimators=100_000 if WHEN == "growth" else 5)
    model.fit(table, da.from_array(X[:, 0] * X[:, 1], chunks=1000))
    if WHEN == "reading":
        time.sleep(600)
"""


def leftovers(client: Client) -> list[str]:
    """Return all that workers hold or run for fits, and all that the scheduler knows of them."""

    def left(dask_worker: Any) -> list[str]:
        from farthing.distributed import post, progress  # noqa: PLC0415 - on the worker

        held = {*dask_worker.state.tasks, *dask_worker.data, *dask_worker.active_threads.values()}
        kept = [str(key) for key in held if "farthing" in str(key) or "slowly" in str(key)]
        return kept + ["post"] * post.open_posts() + ["progress"] * len(progress._running)

    def known(dask_scheduler: Any) -> list[str]:
        return [str(key) for key in dask_scheduler.tasks if "farthing" in str(key) or "slowly" in str(key)]

    return [*client.run_on_scheduler(known), *(key for keys in client.run(left).values() for key in keys)]


def until(done: Any, seconds: float = 120) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize(("when", "begun"), [("reading", "farthing-bin"), ("growth", "farthing-rank")])
def test_client_dies(on_cluster: Client, when: str, begun: str) -> None:
    """Nothing of the fit is left on the workers: no rank, no message, no bins, and no task."""
    address, before = on_cluster.scheduler.address, set(leftovers(on_cluster))
    other = subprocess.Popen([sys.executable, "-c", CLIENT, address, when])
    try:
        assert until(lambda: any(key.startswith(begun) for key in set(leftovers(on_cluster)) - before))
    finally:
        other.kill()
        other.wait()
    # Much sooner than its 100,000 rounds would end by themselves.
    assert until(lambda: before.issuperset(leftovers(on_cluster)), seconds=30), leftovers(on_cluster)
