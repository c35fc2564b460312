"""Run a service with uvicorn: one process, or several workers that share a socket."""

from __future__ import annotations

import os
import tempfile

import uvicorn

from farthing.errors import FileError
from farthing.service.coalesced_writes import CoalescingProtocol
from farthing.service.logs import configuration
from farthing.service.metrics import FOLDER
from farthing.service.model_store import ModelStore
from farthing.service.settings import Settings


def check(settings: Settings) -> ModelStore:
    """Load the models once, to find errors before the service starts.

    Raises
    ------
    FileError
        If a file that was listed by itself is not an intact model.
    ValueError, FileNotFoundError
        If a source is not valid or does not exist.
    """
    store = ModelStore(settings.sources)
    for name in sorted(store.single_files & set(store.faults)):
        raise FileError(f"{name}: {store.faults[name]}")
    return store


def serve(settings: Settings) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    FileError
        If a file that was listed by itself is not an intact model.
    """
    check(settings)
    # Workers are new processes that build their own application, so settings travel in the environment.
    settings.to_environment()
    with tempfile.TemporaryDirectory(prefix="farthing-metrics-") as folder:
        if settings.workers > 1:
            os.environ[FOLDER] = folder  # before a worker starts: the metrics read it on import
        try:
            uvicorn.run(
                "farthing.service.app:app_from_environment",
                factory=True,
                http=CoalescingProtocol,
                host=settings.host,
                port=settings.port,
                workers=settings.workers,
                access_log=False,  # the application logs without paths and queries
                server_header=False,
                log_config=configuration(settings.log_level),
                timeout_keep_alive=30,
                # A worker may be slow to start on a busy machine without being dead.
                timeout_worker_healthcheck=30,
            )
        finally:
            os.environ.pop(FOLDER, None)
