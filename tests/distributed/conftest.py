"""One cluster of three worker processes for the tests of this folder, with which it ends."""

from __future__ import annotations

from collections.abc import Iterator

import dask
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context


@pytest.fixture(scope="package")
def client() -> Iterator[Client]:
    # Workers, also those started again after a kill, are copies of a process that has imported everything.
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        get_mp_context().set_forkserver_preload(["distributed", "pandas", "farthing.boosting"])
        with (
            LocalCluster(
                n_workers=3, threads_per_worker=1, dashboard_address=":0", memory_limit=0
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client


@pytest.fixture
def on_cluster(client: Client) -> Iterator[Client]:
    """Let the cluster be the active one."""
    client.wait_for_workers(3)
    with client.as_current():
        yield client
