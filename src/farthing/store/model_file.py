"""Save and load the state of a model as one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import IO

from farthing.errors import FileError
from farthing.store import strict_json, value_codecs  # noqa: F401  (value_codecs registers its types)
from farthing.store.archive import read_archive, write_archive
from farthing.store.codec import decode, encode


def write(path: str | os.PathLike[str], kind: str, state: Mapping[str, object]) -> None:
    """Save a state. The same state always gives the same bytes; a failure leaves the old file unchanged.

    Parameters
    ----------
    path : path-like
        The file; an existing one is replaced.
    kind : str
        The name of the registered class of the model.
    state : dict
        Values by name. Anything with a codec: numbers, strings, lists, tuples, dicts, NumPy arrays and
        scalars, CostSheet, Schema, Forest, and what `register_codec` added.

    Raises
    ------
    TypeError
        If a value cannot be stored; the message names it.

    Examples
    --------
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "model.farthing")
    >>> write(path, "Prior", {"params": {"budget": None}, "fitted": {"prior_": [0.25, 0.75]}})
    >>> read(path)
    ('Prior', {'params': {'budget': None}, 'fitted': {'prior_': [0.25, 0.75]}})
    """
    plain, arrays = encode(state)
    write_archive(path, kind, strict_json.dumps(plain), arrays)


def read(path: str | os.PathLike[str], stream: IO[bytes] | None = None) -> tuple[str, dict[str, object]]:
    """Load what `write` saved, without running any code from the file.

    Parameters
    ----------
    path : path-like
        The file.
    stream : binary file, optional
        The same file, if the caller has opened it by `open_regular`.

    Returns
    -------
    kind : str
        As it was given to `write`; the caller looks it up among the classes it knows.
    state : dict
        Equal to what was given to `write`, bit for bit. Each value is valid in itself; the caller checks that
        together they make a valid model.

    Raises
    ------
    FileError
        If the file is not one that `write` could have made.
    FileNotFoundError
        If there is no such file.
    """
    kind, plain, arrays = read_archive(path, stream)
    if not isinstance(plain, dict) or "$" in plain:
        raise FileError(f"{os.fspath(path)}: model.json must hold an object of named values")
    try:
        return kind, decode(plain, arrays)
    except FileError as error:  # the decoder knows the place in the file, but not the path
        raise FileError(f"{os.fspath(path)}: {error}") from error.__cause__
