"""Logs as lines of JSON, with no feature value in them.

What a client sent is never part of a line: not the body, not the query, not the text of an error, which may
quote a value. Of an unexpected error a line holds its type and the places it came through.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

LOGGER: Final = logging.getLogger("farthing.service")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, event, and the fields that the call gave in ``extra``.

    Examples
    --------
    >>> record = logging.makeLogRecord({"levelname": "INFO", "msg": "request", "fields": {"status": 200}})
    >>> json.loads(JsonFormatter().format(record))["status"]
    200
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": f"{_second(int(record.created))}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= trace(record.exc_info[1])
        return _encode(line)


# Made once: a line is written for each request.
_encode = json.JSONEncoder(default=str).encode


@lru_cache(maxsize=2)
def _second(since: int) -> str:
    return datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def trace(error: BaseException) -> dict[str, Any]:
    """Return the type of an error and where it came through, without its text.

    Examples
    --------
    >>> try:
    ...     float("a secret")
    ... except ValueError as error:
    ...     trace(error)["error"]
    'ValueError'
    """
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "trace": [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames],
    }


# What all our records have in common.
_COMMON: Final = vars(logging.LogRecord(LOGGER.name, logging.INFO, "", 0, "", (), None))


def log(level: int, event: str, now: float | None = None, /, **fields: Any) -> None:
    """Write one line; ``now`` is when it happened, in seconds since the epoch, if that is not now."""
    if LOGGER.isEnabledFor(level):
        # Neither LOGGER.log, which looks for the line of the call, nor LogRecord(), which asks for process,
        # thread and more: each takes longer than the line itself.
        record = logging.LogRecord.__new__(logging.LogRecord)
        created = time.time() if now is None else now
        record.__dict__.update(
            _COMMON,
            msg=event,
            levelno=level,
            levelname=logging.getLevelName(level),
            created=created,
            msecs=created % 1 * 1000,
            fields=fields,
        )
        LOGGER.handle(record)


def configuration(level: str) -> dict[str, Any]:
    """Return the settings of ``logging`` for a process that serves: everything as JSON to standard error."""
    handled = {"handlers": ["lines"], "level": level.upper(), "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "farthing.service.logs.JsonFormatter"}},
        "handlers": {
            "lines": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}
        },
        "loggers": {"farthing.service": handled, "uvicorn": handled, "uvicorn.error": handled},
    }
