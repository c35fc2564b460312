"""Tables and price lists from files, with errors that say what to do."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import numpy as np

from farthing.costs import CostSheet
from farthing.errors import TableError


def read_table(path: Path) -> Any:
    """Read a CSV or Parquet file as a pandas frame, text as categories.

    Parameters
    ----------
    path : Path
        A .csv, .csv.gz or .parquet file.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - only the command line needs it
    except ImportError as error:
        raise TableError("reading tables needs pandas: pip install 'farthing[cli]'") from error
    if not path.exists():
        raise TableError(f"there is no file {str(path)!r}")
    kind = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    try:
        if kind == ".parquet":
            frame = pd.read_parquet(path)
        elif kind in (".csv", ".csv.gz"):
            frame = pd.read_csv(path)
        else:
            raise TableError(f"{path.name} has the extension {kind!r}; expected .csv, .csv.gz or .parquet")
    except (ValueError, OSError, ImportError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"{path.name} cannot be read as a table: {error}") from error
    # Parquet files may have column names that are not text.
    frame.columns = [str(name) for name in frame.columns]
    for name in frame.columns:
        if not (
            pd.api.types.is_numeric_dtype(frame[name]) or isinstance(frame[name].dtype, pd.CategoricalDtype)
        ):
            frame[name] = frame[name].astype("category")
    return frame


def split_target(frame: Any, target: str) -> tuple[Any, Any]:
    """Return the features and the target of a table.

    Labels are text or integers.
    """
    if target not in frame.columns:
        near = difflib.get_close_matches(target, frame.columns, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(frame.columns[:12])}"
        raise TableError(f"the table has no column {target!r}{hint}")
    y = frame[target]
    if missing := int(y.isna().sum()):
        row = int(np.flatnonzero(y.isna())[0])
        raise TableError(
            f"the target {target!r} is missing in {missing} rows (the first: row {row + 1} of the data); "
            "fill it in or remove these rows"
        )
    # `read_table` made text categorical; labels become plain text again.
    if y.dtype.name == "category":
        y = y.astype(str)
    return frame.drop(columns=[target]), y.to_numpy()


def is_label(y: Any) -> bool:
    """Return whether a target is a class label: text, booleans, or at most twenty different integers."""
    if y.dtype.kind in "OUSb":
        return True
    values = np.unique(y)
    return bool(len(values) <= 20 and (values == np.rint(values)).all())


def read_costs(path: Path | None, names: list[str]) -> tuple[CostSheet, str | None]:
    """Return the prices of the columns, and a warning if there are none to read."""
    if path is None:
        return CostSheet.uniform(names), "no price list is given, so every feature costs 1; see --costs"
    return CostSheet.of(path, names), None


def for_model(frame: Any, model: Any) -> Any:
    """Drop the columns that a model does not know, such as the target, if all others are there."""
    # If a column is missing, the whole frame goes on: the model's own error names the column.
    known = list(model.schema_.names)
    return frame[known] if set(known) <= set(frame.columns) else frame
