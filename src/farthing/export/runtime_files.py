"""What a writer returns, and the parts of the written code that are the same for all models."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Written:
    """An export: the files by name, and its sizes.

    Parameters
    ----------
    files : dict of str to str or bytes
        What is in each file.
    table_bytes : int
        Bytes of the constant tables, as C stores them.
    state_bytes : int or None
        Bytes of the state of one walk in C, with 8-byte doubles and the usual alignment.
    stack_bytes : int or None
        The most that C needs of the stack.
    """

    files: dict[str, str] | dict[str, bytes]
    table_bytes: int
    state_bytes: int | None = None
    stack_bytes: int | None = None


def runtime(name: str) -> str:
    """Return the text of a file of the runtime."""
    return (files("farthing.export") / "runtime" / name).read_text(encoding="utf-8")
