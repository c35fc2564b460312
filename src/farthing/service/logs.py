"""Logs as lines of JSON, without the values of features.

Nothing that a client sent goes into a line: not the body, not the query, not the message of an error, which
may quote a value. An unexpected error is logged with its type and its traceback, without its message.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from farthing.service.fast_json import encoded

LOGGER: Final = logging.getLogger("farthing.service")


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, event, and the fields of the record.

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
        try:
            return encoded(line).decode()
        except (TypeError, ValueError):
            return json.dumps(line, default=str)


# Formatting a date is slow, and requests come in the same second or the next.
@lru_cache(maxsize=2)
def _second(since: int) -> str:
    return datetime.fromtimestamp(since, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def trace(error: BaseException) -> dict[str, Any]:
    """Return the type of an error and its traceback, without its message.

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


# The attributes that all records have in common.
_COMMON: Final = vars(logging.LogRecord(LOGGER.name, logging.INFO, "", 0, "", (), None))


def log(level: int, event: str, now: float | None = None, /, **fields: Any) -> None:
    """Write one line; ``now`` is the time of the event in seconds since the epoch, by default the present."""
    if LOGGER.isEnabledFor(level):
        # Not LOGGER.log, which looks up the line of the call, nor LogRecord(), which looks up process, thread
        # and more: each takes longer than writing the line.
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
    """Return the ``logging`` configuration of a serving process: everything as JSON to standard error."""
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
