"""A full temporary folder: predictions go on without metrics, and no worker dies."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import DIRECT, await_address, lines

from farthing.service import metrics, server
from farthing.service.metrics import AllocatedDict, Metrics, MetricsOffError

NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    done = subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not can_mount(), reason="a small disk needs the command unshare and user namespaces")
def test_workers_on_a_full_disk(models: Path, tmp_path: Path) -> None:
    disk, log = tmp_path / "disk", tmp_path / "log"
    disk.mkdir()
    serve = [sys.executable, "-m", "farthing.cli", "serve", str(models / "heart.farthing"), "--workers", "2"]
    # 100 KiB: less than the counts of one worker. The library's files have holes, so they seem to fit.
    script = f'mount -t tmpfs -o size=100k tmpfs "{disk}" && exec "$@"'
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*NAMESPACE, "sh", "-c", script, "sh", *serve, "--port", "0"],
            stderr=stream,
            env={**os.environ, "TMPDIR": str(disk), "PYTHONFAULTHANDLER": "1"},
        )
        try:
            url = await_address(log, process)
            for _ in range(30):
                answer = httpx.post(f"{url}/v1/models/heart/next", json={"known": {"cp": 4}}, **DIRECT)
                assert answer.json()["ask"]["feature"] == "ca"
            assert httpx.get(f"{url}/metrics", **DIRECT).status_code in (200, 503)
        finally:
            process.terminate()
            process.wait(timeout=60)
    assert "Bus error" not in log.read_text()
    assert any(line["event"] == "metrics are off" for line in lines(log))


def test_blocks_are_allocated_before_they_are_mapped(tmp_path: Path) -> None:
    counts = AllocatedDict(str(tmp_path / "counts.db"))
    for number in range(3000):
        counts.write_value(f"key {number} {'x' * 60}", float(number), 0.0)
    found = os.stat(tmp_path / "counts.db")
    assert found.st_size > 2**17
    assert 512 * found.st_blocks >= found.st_size  # no holes
    assert counts.read_value(f"key 7 {'x' * 60}")[0] == 7.0
    counts.close()


def test_metrics_go_off_when_the_disk_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = Metrics()
    counted.ask("heart", "cp")

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(counted._spend, "labels", full)
    counted.spend("heart", 1.0)
    counted.ask("heart", "cp")
    counted.request("GET", "/", 200, 0.1)
    counted.models(3)
    with pytest.raises(MetricsOffError):
        counted.text()
    monkeypatch.setattr(metrics, "Gauge", full)
    with pytest.raises(MetricsOffError):
        Metrics().text()


def test_folders_of_services_that_were_killed_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server.tempfile, "gettempdir", lambda: str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for process in (gone.pid, os.getpid()):
        (tmp_path / f"farthing-metrics-{process}-abc").mkdir()
    (tmp_path / "farthing-metrics-notes").mkdir()
    server.remove_stale_folders()
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {f"farthing-metrics-{os.getpid()}-abc", "farthing-metrics-notes"}
