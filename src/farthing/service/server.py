"""Run a service with uvicorn: one process, or several workers that share a socket."""

from __future__ import annotations

import os
import tempfile

import uvicorn

from farthing.errors import FileError
from farthing.service.logs import configuration
from farthing.service.metrics import FOLDER
from farthing.service.settings import Settings
from farthing.service.shelf import Shelf
from farthing.service.wire import JoinedProtocol


def check(settings: Settings) -> Shelf:
    """Load the models once, to say before the start what would go wrong.

    Raises
    ------
    FileError
        If a file that was named one by one is not an intact model.
    ValueError, FileNotFoundError
        If a source is none.
    """
    shelf = Shelf(settings.sources)
    for name in sorted(shelf.single & set(shelf.faults)):
        raise FileError(f"{name}: {shelf.faults[name]}")
    return shelf


def serve(settings: Settings) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings

    Raises
    ------
    FileError
        If a file that was named one by one is not an intact model.
    """
    check(settings)
    settings.to_environment()
    with tempfile.TemporaryDirectory(prefix="farthing-metrics-") as folder:
        if settings.workers > 1:
            os.environ[FOLDER] = folder  # before a worker starts: the counts are set up on import
        try:
            uvicorn.run(
                "farthing.service.app:app_from_environment",
                factory=True,
                http=JoinedProtocol,
                host=settings.host,
                port=settings.port,
                workers=settings.workers,
                access_log=False,  # the application writes its own lines, without paths and queries
                server_header=False,
                log_config=configuration(settings.log_level),
                timeout_keep_alive=30,
                # A worker that is slow to start on a busy machine is not a dead one.
                timeout_worker_healthcheck=30,
            )
        finally:
            os.environ.pop(FOLDER, None)
