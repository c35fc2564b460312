"""Run a service with uvicorn: one process, or several workers that share a socket."""

from __future__ import annotations

import contextlib
import logging
import logging.config
import math
import os
import re
import shutil
import ssl
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import uvicorn

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

from farthing.errors import FileError
from farthing.service.access import LOOPBACK, Tokens, is_loopback
from farthing.service.http_protocol import BoundedProtocol
from farthing.service.logs import configuration, log
from farthing.service.metrics import FOLDER
from farthing.service.model_store import ModelStore
from farthing.service.settings import Settings
from farthing.service.supervisor import HANG_SECONDS, START_SECONDS, STARTUP_FAILURE, Supervisor

_PREFIX: Final = "farthing-metrics-"
# Descriptors beside those of connections that are established: handshakes of TLS, models, counts.
_OTHER_FILES: Final = 5000


def check(settings: Settings) -> ModelStore:
    """Load the models once, to find errors before the service starts.

    Raises
    ------
    FileError
        If a file that was listed by itself is not an intact model.
    ValueError, OSError
        If a source or another file is not valid or does not exist.
    """
    Tokens(settings.token, settings.tokens_file)
    for file in (settings.tls_cert, settings.tls_key, settings.tls_ca):
        if file is not None and not os.path.isfile(file):
            raise FileNotFoundError(f"there is no file {file}")
    store = ModelStore(settings.sources, trusted=settings.trusted)
    for name in sorted(store.single_files & set(store.faults)):
        raise FileError(f"{name}: {store.faults[name]}")
    return store


def warning(settings: Settings) -> str | None:
    """Return what is dangerous about the settings, or None.

    Examples
    --------
    >>> warning(Settings(host="0.0.0.0"))[:56]
    'the service is open to everybody who can reach this mach'
    >>> warning(Settings(host="127.0.0.1"))
    """
    if is_loopback(settings.host) or settings.token is not None or settings.tokens_file is not None:
        return None
    return (
        "the service is open to everybody who can reach this machine: anyone may read its models and prices. "
        "Set --token or --tokens-file, or bind to 127.0.0.1"
    )


def serve(settings: Settings, store: ModelStore | None = None) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    settings : Settings
    store : ModelStore, optional
        The models, if `check` has loaded them; a single process serves these, and loads none twice.

    Raises
    ------
    FileError
        If a file that was listed by itself is not an intact model.
    """
    if store is None:
        store = check(settings)
    if not settings.hosts and is_loopback(settings.host):
        settings = replace(settings, hosts=(*LOOPBACK, settings.host))
    logging.config.dictConfig(configuration(settings.log_level))
    if danger := warning(settings):
        log(logging.WARNING, "no token", advice=danger)
    allow_open_files(settings.max_connections + _OTHER_FILES)
    with _shared_metrics(settings) as told:
        # Workers are new processes that build their own application, so settings travel in the environment.
        told.to_environment()
        app: object = "farthing.service.app:app_from_environment"
        if told.workers == 1:
            from farthing.service.app import create_app  # noqa: PLC0415 - imports this package's metrics

            app = create_app(told, store)
        del store  # the workers have their own
        config = uvicorn.Config(
            app,  # type: ignore[arg-type]
            factory=told.workers > 1,
            loop="farthing.service.event_loop:ServingLoop",
            http=BoundedProtocol,
            ws="none",
            host=told.host,
            port=told.port,
            workers=told.workers,
            access_log=False,  # the application logs without paths and queries
            server_header=False,
            log_config=configuration(told.log_level),
            limit_concurrency=told.max_connections,  # of connections; see BoundedProtocol
            timeout_keep_alive=30,
            timeout_graceful_shutdown=math.ceil(told.max_seconds) + 1,
            timeout_worker_healthcheck=int(START_SECONDS),  # of the new workers after SIGHUP
            ssl_certfile=told.tls_cert,
            ssl_keyfile=told.tls_key,
            ssl_keyfile_password=told.tls_key_password,
            ssl_ca_certs=told.tls_ca,
            ssl_cert_reqs=ssl.CERT_NONE if told.tls_ca is None else ssl.CERT_REQUIRED,
        )
        run(config, told.drain_seconds)


def run(config: uvicorn.Config, drain_seconds: float) -> None:
    """Run a server, or several workers, until a signal ends them."""
    if config.workers > 1:
        end_seconds = drain_seconds + (config.timeout_graceful_shutdown or 0) + HANG_SECONDS
        Supervisor(config, [config.bind_socket()], end_seconds).run()
        return
    server = uvicorn.Server(config)
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise SystemExit(STARTUP_FAILURE)


def allow_open_files(number: int) -> None:
    """Raise the number of files that this process and its workers may open, as far as the system allows."""
    if resource is None:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    allowed = number if hard == unlimited else min(number, hard)
    if soft != unlimited and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))


@contextlib.contextmanager
def _shared_metrics(settings: Settings) -> Iterator[Settings]:
    """Give several workers a folder to share their counts in; without one they go on without metrics."""
    if settings.workers == 1:
        yield settings
        return
    remove_stale_folders()
    try:
        folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
    except OSError as error:
        log(logging.WARNING, "metrics are off", reason=error.strerror or type(error).__name__)
        yield replace(settings, metrics=False)
        return
    os.environ[FOLDER] = folder  # before a worker starts: the metrics read it on import
    try:
        yield settings
    finally:
        os.environ.pop(FOLDER, None)
        shutil.rmtree(folder, ignore_errors=True)


def remove_stale_folders() -> None:
    """Remove the folders of metrics whose service was killed, so that nobody else could."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        found = re.fullmatch(rf"{_PREFIX}(\d+)-.*", folder.name)
        if found and not _is_running(int(found[1])):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True
