"""Descriptions of the columns of the bundled tables, from ``tables/columns.csv``."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

from farthing.datasets.dataset import Code


@dataclass(frozen=True)
class ColumnNote:
    """One line of ``columns.csv``: a column of a bundled table, as its source describes it."""

    name: str
    nominal: bool
    meaning: str
    codes: Mapping[Code, str]


def read_rows(file_name: str) -> list[dict[str, str]]:
    """Read a bundled CSV file as one mapping from column to text per line."""
    text = (files("farthing.datasets") / "tables" / file_name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def read_notes(table: str) -> dict[str, ColumnNote]:
    """Read the notes on the columns of one bundled table, including its target.

    Examples
    --------
    >>> read_notes("bupa_liver")["gammagt"].meaning
    'gamma-glutamyl transpeptidase, U/l'
    """
    return {note.name: note for note in _notes(table)}


def _notes(table: str) -> Iterator[ColumnNote]:
    for row in read_rows("columns.csv"):
        if row["table"] == table:
            yield ColumnNote(row["column"], row["kind"] == "nominal", row["meaning"], _codes(row["codes"]))


def _codes(text: str) -> Mapping[Code, str]:
    """Read ``1=rising;2=flat`` as ``{1: "rising", 2: "flat"}``."""
    pairs = (pair.split("=", 1) for pair in text.split(";") if pair)
    return MappingProxyType({read_code(code): meaning for code, meaning in pairs})


def read_code(text: str) -> Code:
    """Return a code as an integer if it is one, else as text."""
    return int(text) if text.isdecimal() else text
