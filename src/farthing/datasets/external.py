"""Tables that are not bundled: read from a folder, or fetched from OpenML."""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.datasets.catalogue import BUNDLED, CATALOGUE, Entry
from farthing.datasets.dataset import Dataset
from farthing.typing import Integers

FOLDER = "FARTHING_DATA"
# The columns of a stored table that are not features.
ROLES = ("query_id", "split", "target")


def load_table(name: str, *, data_home: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a larger table from the folder that FARTHING_DATA names, or else from OpenML.

    In the folder a table is the file ``<name>.parquet``: feature columns, then, where they apply,
    ``query_id`` and ``split`` (``"train"``, ``"validation"``, ``"test"``), and ``target``. Its price list, if
    it has one, is ``costs/<name>.csv``; without one each feature costs 1. Any such file can be loaded,
    whether or not the name is one that Farthing knows.

    A known table that is not in the folder is downloaded from OpenML, once: scikit-learn keeps it. Its
    columns and classes are named as OpenML names them.

    Parameters
    ----------
    name : str
        The name of the table; the error for an unknown one lists the known ones.
    data_home : path, optional
        Where scikit-learn stores its downloads, if not in the default folder.

    Returns
    -------
    Dataset
        With `X` a pandas frame, `split` and `queries` where the table has them.

    Raises
    ------
    ValueError
        If the name is unknown, or is that of a bundled table, which has a loader of its own.
    ImportError
        If pandas or pyarrow is missing.
    OSError
        If the table is neither in the folder nor available from OpenML.

    Examples
    --------
    >>> load_table("letter")  # doctest: +SKIP
    Dataset(letter: 20000 rows, 16 features, train 16000, test 4000)
    """
    if name in BUNDLED:
        raise ValueError(
            f"The table {name!r} comes with the package, with its prices: call "
            f"farthing.datasets.{BUNDLED[name]}()."
        )
    path = _path(name)
    if path is None and name not in CATALOGUE:
        raise ValueError(f"Unknown table {name!r}. Known tables: {', '.join(_known())}. {_how_to_add()}")
    if find_spec("pandas") is None:
        raise ImportError("load_table needs pandas: pip install pandas pyarrow")
    if path is not None:
        return _read(name, path)
    return _fetch(name, CATALOGUE[name], data_home)


def _folder() -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder) if folder else None


def _path(name: str) -> Path | None:
    """Return the file of a table, or None, also for a name that leads out of the folder."""
    folder = _folder()
    # The second test keeps names such as "../secret" inside the folder.
    if folder is None or Path(name).name != name:
        return None
    path = folder / f"{name}.parquet"
    return path if path.is_file() else None


def _known() -> list[str]:
    folder = _folder()
    stored = [path.stem for path in folder.glob("*.parquet")] if folder is not None else []
    return sorted({*CATALOGUE, *stored} - set(BUNDLED))


def _how_to_add() -> str:
    return (
        f"To load a table of your own, put it as <name>.parquet into a folder and set {FOLDER} to the folder."
    )


def _read(name: str, path: Path) -> Dataset:
    import pandas as pd  # noqa: PLC0415  pandas is optional

    if find_spec("pyarrow") is None:
        raise ImportError(f"Reading {path.name} needs pyarrow: pip install pandas pyarrow")
    table = pd.read_parquet(path)
    if "target" not in table:
        raise ValueError(f"The table {path} has no column 'target'. {_how_to_add()}")
    X = table.drop(columns=[role for role in ROLES if role in table])
    prices = path.parent / "costs" / f"{name}.csv"
    names = tuple(str(column) for column in X.columns)
    return _dataset(
        name,
        X,
        _labels(table["target"]),
        CostSheet.read(prices).align(names) if prices.is_file() else CostSheet.uniform(names),
        split=np.asarray(table["split"], dtype=np.str_) if "split" in table else None,
        queries=np.asarray(table["query_id"], dtype=np.int64) if "query_id" in table else None,
    )


def _fetch(name: str, entry: Entry, data_home: str | os.PathLike[str] | None) -> Dataset:
    if entry.openml is None:
        raise FileNotFoundError(f"The table {name!r} is not on OpenML. {_where_to_put(name)}")
    from sklearn.datasets import fetch_openml  # noqa: PLC0415 - only downloads need scikit-learn

    number, title = entry.openml
    try:
        found = fetch_openml(data_id=number, as_frame=True, parser="auto", data_home=data_home)
    except (OSError, ValueError) as error:  # no network, or a malformed answer of OpenML
        raise OSError(
            f"The table {name!r} could not be downloaded from OpenML (data set {number}): {error}. "
            f"Either try again with a network, or read a local copy. {_where_to_put(name)}"
        ) from error
    # Ids are stable, but a wrong one would silently give another table.
    if found.details["name"] != title:
        raise OSError(
            f"OpenML's data set {number} is {found.details['name']!r}, not {title!r}. {_where_to_put(name)}"
        )
    y = _labels(found.target)
    names = [str(column) for column in found.data.columns]
    return _dataset(name, found.data, y, CostSheet.uniform(names), split=_published_split(name, entry, y))


def _where_to_put(name: str) -> str:
    folder = _folder()
    now = f"it is {str(folder)!r}, which has none" if folder is not None else "it is not set"
    return (
        f"To read a local copy, put {name}.parquet (features, then split if there is one, then target) into "
        f"a folder and set the environment variable {FOLDER} to that folder; now {now}."
    )


def _dataset(
    name: str,
    X: Any,
    y: NDArray[Any],
    costs: CostSheet,
    *,
    split: NDArray[np.str_] | None = None,
    queries: Integers | None = None,
) -> Dataset:
    unknown = "not recorded"
    entry = CATALOGUE.get(name, Entry(f"The table {name}.", unknown, unknown, unknown))
    return Dataset(
        X=X,
        y=y,
        costs=costs,
        name=name,
        feature_names=tuple(str(column) for column in X.columns),
        description=entry.description,
        source=entry.source,
        licence=entry.licence,
        citation=entry.citation,
        split=split,
        queries=queries,
    )


def _labels(column: Any) -> NDArray[Any]:
    """Return a target column as numbers, or as text if it is not numeric."""
    values = np.asarray(column)
    return values.astype(np.str_) if values.dtype.kind not in "iufb" else values


def _published_split(name: str, entry: Entry, y: NDArray[Any]) -> NDArray[np.str_] | None:
    """Return the published split of a downloaded table, if its rows are in the published order."""
    if not entry.parts:
        return None
    # OpenML does not store the split, only the order of the rows; the class counts detect a reordered copy.
    labels, sizes = zip(*entry.parts, strict=True)
    if sum(sizes) == len(y):
        split = np.repeat(np.array(labels), sizes)
        counts = np.unique(y[split == "train"], return_counts=True)[1]
        if tuple(sorted(counts.tolist())) == entry.train_counts:
            return split
    warnings.warn(
        f"OpenML's copy of {name!r} does not hold the rows of the published split in order; split is None.",
        stacklevel=4,
    )
    return None
