"""Read TOML and JSON that people write by hand, with errors that say where."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path
from typing import Any

from farthing.errors import FarthingError


def read_text(path: str | os.PathLike[str], error: type[FarthingError]) -> str:
    """Read a file as UTF-8 text, with or without a byte order mark.

    Parameters
    ----------
    path : str or path-like
        The file.
    error : type
        What to raise if it is not UTF-8.
    """
    try:
        return Path(path).read_bytes().decode("utf-8-sig")  # spreadsheets write a byte order mark
    except UnicodeDecodeError as fault:
        raise error(
            f"the file is not UTF-8 text ({fault.reason} at byte {fault.start}); save it as UTF-8"
        ) from None


def toml_document(content: str, what: str, error: type[FarthingError]) -> dict[str, Any]:
    """Parse TOML.

    Parameters
    ----------
    content : str
        The text.
    what : str
        What it should be, for messages.
    error : type
        What to raise if it is not TOML.

    Examples
    --------
    >>> toml_document("costs = {age = 1}", "a price list", ValueError)
    {'costs': {'age': 1}}
    """
    try:
        # With a final line break, an error on the last line is reported with its number too.
        return tomllib.loads(content + "\n")
    except RecursionError:
        raise error(f"the TOML is nested too deeply to be {what}") from None
    except tomllib.TOMLDecodeError as fault:
        # A duplicate key is reported by its position only; the line shows the name of the feature.
        place = re.search(r"at line (\d+)", str(fault))
        lines = content.splitlines()
        line = lines[int(place[1]) - 1].strip() if place and int(place[1]) <= len(lines) else ""
        shown = f", at {line!r}" if line else ""
        raise error(f"not valid TOML, or an entry given twice: {fault}{shown}") from None
    except ValueError as fault:  # an integer of thousands of digits
        raise error(f"not valid TOML: {fault}") from None


def json_document(content: str, what: str, error: type[FarthingError]) -> Any:
    """Parse JSON, refusing a key that occurs twice; parameters as in `toml_document`.

    Examples
    --------
    >>> json_document('{"unit": "USD"}', "a price list", ValueError)
    {'unit': 'USD'}
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                raise error(f"{key!r} is given twice; keep one entry")
            found[key] = value
        return found

    try:
        return json.loads(content, object_pairs_hook=unique)
    except RecursionError:
        raise error(f"the JSON is nested too deeply to be {what}") from None
    except error:
        raise
    except ValueError as fault:
        raise error(f"not valid JSON: {fault}") from None
