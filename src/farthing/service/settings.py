"""The settings of a service; its workers receive them through the environment."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

VARIABLE: Final = "FARTHING_SERVICE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The models, address and limits of a service.

    Parameters
    ----------
    sources : tuple of str
        Model files, folders of ``*.farthing`` files, or ``name=file``. By default the name of a model is that
        of its file without the suffix.
    host : str
        Address to bind to; the default can be reached from this machine only.
    port : int
        Port to bind to; 0 picks any free port.
    workers : int
        Number of processes.
    token : str, optional
        Bearer token that clients must send; None needs no token.
    tokens_file : str, optional
        File with a bearer token in each line; it is read again when it changes.
    hosts : tuple of str
        Names by which the service may be addressed; none means any.
    origins : tuple of str
        Web origins other than its own from which a browser may call (CORS); none by default.
    max_body : int
        Maximum size of a request body, in bytes.
    max_rows : int
        Maximum number of rows in a bulk prediction.
    max_seconds : float
        Time limit of one request in seconds, including its body.
    max_waiting : int
        Requests per worker that may wait for a thread; one more is answered 503 at once.
    max_connections : int
        Connections per worker.
    drain_seconds : float
        Time between SIGTERM and the shutdown, in which ``/readyz`` says that the worker is not ready.
    trusted : tuple of str
        Types that nested scikit-learn models may be made of; see `farthing.load`.
    tls_cert, tls_key, tls_key_password, tls_ca : str, optional
        Files of the certificate and its key, and of the authorities that clients must have a certificate of.
    otel : bool
        Whether OpenTelemetry spans are sent; needs the extra ``otel``.
    metrics : bool
        Whether anything is counted.
    reload_seconds : float
        Seconds between checks for changed files; 0 means never.
    strict_categories : bool
        Whether a category unseen during fitting is an error. By default it counts as missing, as in a local
        walk, and the answer names it.
    log_level : str
        "debug", "info", "warning" or "error"; requests are logged at "info".

    Examples
    --------
    >>> Settings(sources=("heart.farthing",), port=8080).port
    8080
    """

    sources: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token: str | None = None
    tokens_file: str | None = None
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_body: int = 4 * 2**20
    max_rows: int = 10_000
    max_seconds: float = 10.0
    max_waiting: int = 64
    max_connections: int = 1000
    drain_seconds: float = 0.0
    trusted: tuple[str, ...] = ()
    tls_cert: str | None = None
    tls_key: str | None = None
    tls_key_password: str | None = None
    tls_ca: str | None = None
    otel: bool = False
    metrics: bool = True
    reload_seconds: float = 1.0
    strict_categories: bool = False
    log_level: str = "info"

    def __post_init__(self) -> None:
        for name in ("workers", "max_body", "max_rows", "max_seconds", "max_waiting", "max_connections"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be more than zero; got {getattr(self, name)!r}")
        for name in ("reload_seconds", "drain_seconds"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be zero or more; got {getattr(self, name)!r}")
        if not 0 <= self.port < 2**16:
            raise ValueError(f"port must lie between 0 and 65535; got {self.port!r}")
        if self.token is not None and not (self.token.isascii() and self.token.strip()):
            raise ValueError("token must be ASCII text and not empty; leave it out to require none")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise ValueError(f"log_level must be debug, info, warning or error; got {self.log_level!r}")
        for name in ("sources", "origins", "hosts", "trusted"):  # JSON has no tuples
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def to_environment(self) -> None:
        """Write the settings to the environment of this process and its children."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> Self:
        """Read the settings that `to_environment` wrote.

        Raises
        ------
        ValueError
            If there are none, or they are not valid.
        """
        text = os.environ.get(VARIABLE)
        if text is None:
            raise ValueError(
                f'the variable {VARIABLE} is not set; set it to JSON such as {{"sources": [...]}}'
            )
        given: Any = json.loads(text)
        known = {field.name for field in fields(cls)}
        if not isinstance(given, dict) or not set(given) <= known:
            raise ValueError(f"{VARIABLE} must hold a JSON object of {sorted(known)}")
        return cls(**given)
