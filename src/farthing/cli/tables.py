"""Tables from files, with errors that say what to do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from farthing.errors import TableError
from farthing.spelling import close_names

INPUTS: Final = (".csv", ".csv.gz", ".tsv", ".parquet", ".feather")
_SEPARATORS: Final = {"\\t": "\t", "tab": "\t"}
_DATE: Final = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}([ T].*)?")


def read_table(path: Path, separator: str | None = None, *, missing: str | None = None) -> Any:
    r"""Read a table as a pandas frame, text as categories.

    Parameters
    ----------
    path : Path
        A file with one of the extensions in `INPUTS`.
    separator : str, optional
        What separates the cells of a CSV file; None means a comma, or a tab in a .tsv file.
    missing : str, optional
        A text that stands for a missing value, besides the usual ones.
    """
    frame = _read(path, separator, na_values=missing)
    pd = _pandas()
    for name in frame.columns:
        dtype = frame[name].dtype
        if not (
            pd.api.types.is_numeric_dtype(dtype) or isinstance(dtype, pd.CategoricalDtype) or _is_date(dtype)
        ):
            # In a CSV file the mark is missing already, and numbers around it are numbers.
            column = frame[name] if missing is None else frame[name].where(frame[name] != missing)
            frame[name] = column.astype("category")
    return frame


def refused_cells(path: Path, separator: str | None, mark: str) -> Any:
    """Return which cells of a table hold a text, as a frame of booleans."""
    frame = _read(path, separator, dtype=str, keep_default_na=False)
    return frame.apply(lambda column: column.map(lambda cell: str(cell).strip() == mark)).astype(bool)


def _pandas() -> Any:
    try:
        import pandas as pd  # noqa: PLC0415 - slow to import, and only the command line needs it
    except ImportError as error:
        raise TableError("reading tables needs pandas: pip install 'farthing[cli]'") from error
    return pd


def _read(path: Path, separator: str | None, **of_csv: Any) -> Any:
    """Read a table as pandas does; ``of_csv`` are options of `pandas.read_csv`."""
    pd = _pandas()
    if not path.exists():
        raise TableError(f"there is no file {str(path)!r}")
    kind = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    if kind not in INPUTS:
        raise TableError(f"{path.name} has the extension {kind!r}; expected {', '.join(INPUTS)}")
    if separator is not None and kind in (".parquet", ".feather"):
        raise TableError(f"--sep is for CSV files; {path.name} has no separators")
    try:
        if kind == ".parquet":
            frame = pd.read_parquet(path)
        elif kind == ".feather":
            frame = pd.read_feather(path)
        else:
            cut = _SEPARATORS.get(separator or "", separator) or ("\t" if kind == ".tsv" else ",")
            frame = pd.read_csv(path, sep=cut, **of_csv)
    except (ValueError, OSError, ImportError) as error:
        raise TableError(f"{path.name} cannot be read as a table: {error}") from error
    # Parquet files may have column names that are not text.
    frame.columns = [str(name) for name in frame.columns]
    _check_separator(path, list(frame.columns))
    return frame


def check_columns(names: Sequence[str], frame: Any) -> None:
    """Raise an error with the nearest name unless every name is a column."""
    for name in names:
        if name not in frame.columns:
            near = close_names(name, frame.columns)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(frame.columns[:12])}"
            raise TableError(f"the table has no column {name!r}{hint}")


def refuse_dates(frame: Any) -> None:
    """Raise an error if a column holds dates, as such or as text.

    As text, each date would be a category of its own, and no new row would have one of them.
    """
    for name in frame.columns:
        column = frame[name]
        if _is_date(column.dtype):
            example = column.dropna().iloc[:1].astype(str).tolist()
        elif column.dtype.name == "category":
            example = [str(value) for value in column.cat.categories]
            example = example if example and all(_DATE.fullmatch(text.strip()) for text in example) else []
        else:
            continue
        if example:
            raise TableError(
                f"the column {name!r} holds dates, such as {example[0]}, which models cannot learn from; "
                "turn them into numbers, such as the days since an event or the month, or leave them out: "
                f"--drop {name}"
            )


def numbers_of(frame: Any, name: str) -> Any:
    """Return a column of row weights as floats."""
    import numpy as np  # noqa: PLC0415 - slow to import

    column = frame[name]
    if column.dtype.name == "category" or _is_date(column.dtype):
        raise TableError(f"the weights in {name!r} must be numbers; the column holds {column.iloc[0]!s}")
    weights = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if not (np.isfinite(weights) & (weights >= 0)).all():
        row = int(np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))[0])
        raise TableError(
            f"the weights in {name!r} must be numbers of zero or more; row {row + 1} of the data has "
            f"{column.iloc[row]!s}"
        )
    return weights


def queries_of(frame: Any, name: str) -> Any:
    """Return a column of queries as numbers, one for each query."""
    import numpy as np  # noqa: PLC0415 - slow to import

    column = frame[name]
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise TableError(f"the query {name!r} is missing in row {row + 1} of the data; fill it in")
    return np.unique(column.astype(str).to_numpy(dtype=object), return_inverse=True)[1]


def target_of(frame: Any, target: str) -> Any:
    """Return the target as an array: text, booleans or numbers."""
    import numpy as np  # noqa: PLC0415 - slow to import

    y = frame[target]
    if missing := int(y.isna().sum()):
        row = int(np.flatnonzero(y.isna())[0])
        raise TableError(
            f"the target {target!r} is missing in {missing} rows (the first: row {row + 1} of the data); "
            "fill it in or remove these rows"
        )
    if _is_date(y.dtype):
        raise TableError(f"the target {target!r} holds dates; turn them into numbers or labels")
    # `read_table` made text categorical; labels become plain text again.
    return (y.astype(str) if y.dtype.name == "category" else y).to_numpy()


def for_model(frame: Any, model: Any) -> Any:
    """Drop the columns that a model does not know, such as the target; its error names what is missing."""
    known = [name for name in model.schema_.names if name in frame.columns]
    if not known:
        raise TableError(
            f"the table has no column of the model, which knows {', '.join(model.schema_.names[:12])}; "
            f"it has {', '.join(frame.columns[:12])}"
        )
    return frame[known]


def _is_date(dtype: Any) -> bool:
    return getattr(dtype, "kind", "") in ("M", "m")


def _check_separator(path: Path, columns: Sequence[str]) -> None:
    """Raise an error if the cells of a table seem to be separated by something else."""
    if len(columns) != 1:
        return
    for separator, shown in ((";", "';'"), ("\t", "'\\t'"), ("|", "'|'"), (",", "','")):
        if separator in columns[0]:
            raise TableError(f"{path.name} has one column, {columns[0]!r}; try --sep {shown}")
