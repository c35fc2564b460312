"""The five medical tables that come with the package, with the prices of their tests.

The prices are in Canadian dollars, from the fee schedule of the Ontario Health Insurance Program. Peter
Turney compiled them for the UCI repository in 1995. Tests that share a procedure (a blood sample, a run on
the treadmill) are groups: the first one bought pays for the procedure, the others only their own cost.
The names of the groups are ours; the price lists call them A, B and C.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np

from farthing.costs import CostSheet
from farthing.datasets.columns import ColumnNote, read_code, read_notes, read_rows
from farthing.datasets.dataset import Dataset
from farthing.labels import Labels
from farthing.typing import Floats

UNIT = "CAD"
UCI = "UCI Machine Learning Repository"
CC_BY = "CC BY 4.0"
PRICES = (
    "Prices: P. D. Turney (1995), Cost-sensitive classification: empirical evaluation of a hybrid genetic "
    "decision tree induction algorithm, Journal of Artificial Intelligence Research 2, 369-409."
)


@dataclass(frozen=True)
class _Source:
    """Description and source of a table."""

    name: str
    description: str
    citation: str
    source: str = UCI
    licence: str = CC_BY


def load_heart_disease(*, frame: bool | None = None) -> Dataset:
    """Load the Cleveland heart disease table: 303 patients, 13 tests from 1 to 102.90 dollars.

    The target is 1 if the patient has heart disease (the source's ``num > 0``), else 0. Four tests are
    nominal (``cp``, ``restecg``, ``slope``, ``thal``); six values are missing.

    Parameters
    ----------
    frame : bool, optional
        True: `X` is a pandas frame. False: a float64 array, with a price list for ``x0``, ``x1``, ...
        By default a frame if pandas is installed.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = load_heart_disease(frame=False)
    >>> data.X.shape, int(data.y.sum())
    ((303, 13), 139)
    """
    source = _Source(
        name="heart_disease",
        description=(
            "Patients of the Cleveland Clinic who were sent for an angiogram: do they have heart disease? "
            "The shared prices are those of drawing blood (chol, fbs), of a thallium scan (thalach, thal) "
            "and of an electrocardiogram under exercise (exang, oldpeak, slope)."
        ),
        citation=(
            f"A. Janosi, W. Steinbrunn, M. Pfisterer, R. Detrano (1989), Heart Disease, {UCI}. {PRICES}"
        ),
    )
    return _load(source, frame)


def load_pima_diabetes(*, zeros_missing: bool = True, frame: bool | None = None) -> Dataset:
    """Load the Pima diabetes table: 768 women, 8 tests from 1 to 22.78 dollars.

    The target is ``"pos"`` for diabetes within five years, else ``"neg"``. The source writes 0 for a glucose,
    pressure, triceps, insulin or mass that was not measured.

    Parameters
    ----------
    zeros_missing : bool, default=True
        Whether to read these 652 impossible zeros as missing; older papers keep them.
    frame : bool, optional
        As in `load_heart_disease`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = load_pima_diabetes(frame=False)
    >>> data.X.shape, int(np.isnan(data.X).sum())
    ((768, 8), 652)
    """
    source = _Source(
        name="pima_diabetes",
        description=(
            "Women of Pima heritage near Phoenix, Arizona: diabetes within five years? Glucose and insulin "
            "share the price of drawing blood."
        ),
        source=f"National Institute of Diabetes and Digestive and Kidney Diseases, through the {UCI}",
        licence="CC0 1.0",
        citation=(
            "J. W. Smith, J. E. Everhart, W. C. Dickson, W. C. Knowler, R. S. Johannes (1988), Using the "
            "ADAP learning algorithm to forecast the onset of diabetes mellitus, Proceedings of the "
            "Symposium on Computer Applications in Medical Care, 261-265. "
            f"{PRICES}"
        ),
    )
    unmeasured = ("glucose", "pressure", "triceps", "insulin", "mass") if zeros_missing else ()
    return _load(source, frame, unmeasured)


def load_hepatitis(*, frame: bool | None = None) -> Dataset:
    """Load the hepatitis table: 155 patients, 19 tests from 1 to 8.30 dollars.

    The target is ``"DIE"`` or ``"LIVE"``. 167 values are missing.

    Parameters
    ----------
    frame : bool, optional
        As in `load_heart_disease`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = load_hepatitis(frame=False)
    >>> data.X.shape, int((data.y == "LIVE").sum())
    ((155, 19), 123)
    """
    source = _Source(
        name="hepatitis",
        description=(
            "Patients with hepatitis: do they live? The five assays share the price of drawing blood; that "
            "alk_phosphate and sgot belong to that group is inferred, not printed in the price list."
        ),
        citation=f"Hepatitis (1983), donated by G. Gong, {UCI}. {PRICES}",
    )
    return _load(source, frame)


def load_bupa_liver(*, frame: bool | None = None) -> Dataset:
    """Load the BUPA liver table: 345 men, 5 blood tests of 7.27 or 9.86 dollars.

    The target is 1 for three or more half-pints of alcohol a day, else 0, as in Forsyth and Turney.
    The column ``selector`` of the source, often mistaken for a target, is only a split and is left out.

    Parameters
    ----------
    frame : bool, optional
        As in `load_heart_disease`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> data = load_bupa_liver(frame=False)
    >>> data.X.shape, int(data.y.sum())
    ((345, 5), 176)
    """
    source = _Source(
        name="bupa_liver",
        description=(
            "Men screened by BUPA: does the blood tell who drinks? All five tests share the price of drawing "
            "blood; that group is inferred from the text of the paper."
        ),
        citation=(
            f"Liver Disorders (1990), BUPA Medical Research Ltd., donated by R. S. Forsyth, {UCI}. {PRICES}"
        ),
    )
    return _load(source, frame)


def load_thyroid(*, frame: bool | None = None) -> Dataset:
    """Load the thyroid table: 7200 patients, 20 tests from 1 to 22.78 dollars, with its official split.

    The target is 1 (hyperfunction), 2 (subnormal function) or 3 (normal). The source's 21st feature, FTI, is
    computed from two others and has no published price; it is left out.

    Parameters
    ----------
    frame : bool, optional
        As in `load_heart_disease`.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_thyroid(frame=False)
    Dataset(thyroid: 7200 rows, 20 features, train 3772, test 3428)
    """
    source = _Source(
        name="thyroid",
        description=(
            "Patients screened for thyroid disease (the version called ann-thyroid, with scaled values): how "
            "does the thyroid work? The four assays share the price of drawing blood."
        ),
        citation=f"R. Quinlan (1986), Thyroid Disease, {UCI}. {PRICES}",
    )
    return _load(source, frame)


def _load(source: _Source, frame: bool | None, zeros_missing: tuple[str, ...] = ()) -> Dataset:
    rows = read_rows(f"{source.name}.csv")
    notes = read_notes(source.name)
    sheet = _read_costs(source.name)
    names = sheet.features
    values = np.column_stack([_numbers(rows, name, name in zeros_missing) for name in names])
    as_frame = _wants_frame(frame)
    return Dataset(
        X=_frame(values, names, notes) if as_frame else values,
        y=np.array([read_code(row["target"]) for row in rows]),
        costs=sheet if as_frame else _by_position(sheet),
        name=source.name,
        feature_names=names,
        description=source.description,
        source=source.source,
        licence=source.licence,
        citation=source.citation,
        meanings=MappingProxyType({name: note.meaning for name, note in notes.items()}),
        codes=MappingProxyType({name: note.codes for name, note in notes.items() if note.codes}),
        split=np.array([row["split"] for row in rows]) if "split" in rows[0] else None,
        labels=_read_labels(source.name, {} if as_frame else _positions(names)),
    )


def _wants_frame(frame: bool | None) -> bool:
    installed = find_spec("pandas") is not None
    if frame and not installed:
        raise ImportError("frame=True needs pandas: pip install pandas. frame=False gives an array.")
    return installed if frame is None else frame


def _read_costs(name: str) -> CostSheet:
    # as_file, since the package may be imported from a zip, where the table has no path of its own.
    with as_file(files("farthing.datasets") / "tables" / f"{name}_costs.csv") as path:
        return CostSheet.read(path, unit=UNIT)


def _read_labels(name: str, names: dict[str, str]) -> Labels:
    with as_file(files("farthing.datasets") / "tables" / f"{name}_labels.toml") as path:
        return Labels.read(path).renamed(names)


def _positions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the name of each column in an array: ``x0``, ``x1``, ..."""
    return {name: f"x{j}" for j, name in enumerate(names)}


def _by_position(sheet: CostSheet) -> CostSheet:
    """Rename the features of a sheet to ``x0``, ``x1``, ..., the names of the columns of an array."""
    position = _positions(sheet.features)
    own = {position[name]: float(cost) for name, cost in zip(sheet.features, sheet.own, strict=True)}
    groups = {
        name: (group.cost, [position[member] for member in group.members])
        for name, group in sheet.groups.items()
    }
    return CostSheet(own, groups, unit=sheet.unit)


def _numbers(rows: list[dict[str, str]], name: str, zero_missing: bool) -> Floats:
    # An empty cell is missing.
    column = np.array([float(row[name]) if row[name] else np.nan for row in rows])
    if zero_missing:
        column[column == 0] = np.nan
    return column


def _frame(values: Floats, names: tuple[str, ...], notes: dict[str, ColumnNote]) -> Any:
    import pandas as pd  # noqa: PLC0415  pandas is optional

    columns: dict[str, Any] = {}
    for j, name in enumerate(names):
        column = values[:, j]
        if notes[name].nominal:
            # Integer codes in the order of the notes, NaN for missing.
            columns[name] = pd.Categorical(column, categories=list(notes[name].codes))
        # NaN is unequal to itself, so a column with missing values stays float.
        elif np.all(column == np.floor(column)):
            columns[name] = column.astype(np.int64)
        else:
            columns[name] = column
    return pd.DataFrame(columns)
