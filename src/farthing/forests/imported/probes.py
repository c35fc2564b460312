"""Compare an import with its source on rows made from the tests of the model."""

from __future__ import annotations

import warnings
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import ClassifierModel, FittedModel
from farthing.errors import ModelImportError
from farthing.forests.imported.source import Answer, Source
from farthing.table import Schema
from farthing.trees import Forest, Imported

_FEWEST, _MOST = 256, 4096
_MISSING_SHARE: Final = 0.1


def check_same(kind: str, source: Source, model: FittedModel) -> None:
    """Raise ModelImportError if the import predicts other than its source.

    Parameters
    ----------
    kind : str
        Name of the source's class, for the message.
    source : Source
        The model that was read.
    model : FittedModel
        The import.
    """
    rows = probe_rows(source)
    table = _as_table(rows, source, model.schema)
    # Without `settle`, whose prior is that of the training rows, for trees that test nothing.
    predictions, shares = model.results(model.outputs(rows)[0])
    theirs = _ask(kind, source.predict, table)
    if shares is None:
        _compare(kind, "predict", predictions, np.ravel(theirs), source.tolerance)
        return
    if source.predict_proba is not None:
        _compare(kind, "predict_proba", shares, _ask(kind, source.predict_proba, table), source.tolerance)
    _compare_labels(kind, model, shares, np.ravel(theirs), source)


def _ask(kind: str, call: Answer, table: Any) -> NDArray[Any]:
    """Return the answer of the source; raise ModelImportError if it has none."""
    # The sources warn of names, dtypes and the like, which say nothing about the import.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(call(table))
        except Exception as error:  # of any library
            raise ModelImportError(
                f"a {kind} cannot be imported, since it does not predict the rows to compare with: {error}"
            ) from error


def _compare(kind: str, call: str, ours: NDArray[Any], theirs: NDArray[Any], tolerance: float) -> None:
    if ours.shape != theirs.shape:
        raise ModelImportError(
            f"a {kind} with these settings cannot be imported: {call} has the shape {theirs.shape} there "
            f"and {ours.shape} here"
        )
    difference = np.abs(ours - theirs.astype(np.float64))
    largest = np.abs(theirs).max(initial=0.0)
    wrong = ~(difference <= tolerance * largest)  # written so that NaN fails, too
    if wrong.any():
        n_rows = int(wrong.reshape(len(wrong), -1).any(axis=1).sum())
        raise ModelImportError(
            f"a {kind} with these settings cannot be imported: {call} differs from the source in {n_rows} of "
            f"{len(ours)} probe rows, by up to {np.nanmax(difference):.3g}; train it with an objective and "
            "settings that from_model lists"
        )


def _compare_labels(
    kind: str, model: FittedModel, shares: NDArray[np.float64], theirs: NDArray[Any], source: Source
) -> None:
    assert isinstance(model, ClassifierModel)
    labels = np.arange(shares.shape[1]) if source.labels is None else source.labels
    ours = labels[model.decide(shares)]
    top = np.sort(np.column_stack([np.zeros(len(shares)), shares]), axis=1)
    # Rounding decides between classes that are equally likely.
    clear = top[:, -1] - top[:, -2] > source.tolerance
    wrong = int((clear & (ours != theirs)).sum())
    if wrong:
        raise ModelImportError(
            f"a {kind} with these settings cannot be imported: predict gives other labels than the source in "
            f"{wrong} of {len(ours)} probe rows; a prediction here is the most likely class"
        )


def probe_rows(source: Source) -> NDArray[np.float64]:
    """Return encoded rows whose values lie below, at and above the thresholds of a model.

    Zeros, missing values and all categories are among them, wherever the source takes them.

    Parameters
    ----------
    source : Source
        The model that was read.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_features)
    """
    parts = source.parts
    if isinstance(parts, Imported):
        pools = [_tested(parts.forest, column) for column in range(parts.forest.n_features)]
    else:
        scores = parts.scores
        steps = np.array([-3.0, -1.0, -0.25, 0.0, 0.5, 1.0, 2.0])
        pools = [
            np.append(mean + scale * steps, 0.0)
            for mean, scale in zip(scores.mean, scores.scale, strict=True)
        ]
    for column, categories in source.categories.items():
        pools[column] = np.arange(max(1, len(categories)), dtype=np.float64)
    rng = np.random.default_rng(0)
    n_rows = int(np.clip(max(map(len, pools)), _FEWEST, _MOST))
    # Each value once if there is room, in random company.
    rows = np.column_stack([np.resize(rng.permutation(pool), n_rows) for pool in pools])
    rows = rng.permuted(rows, axis=0)
    takes = np.full(len(pools), source.missing)
    takes[list(source.categories)] = source.missing_categories
    rows[(rng.random(rows.shape) < _MISSING_SHARE) & takes] = np.nan
    return rows


def _tested(forest: Forest, column: int) -> NDArray[np.float64]:
    """Return values below, at and above the thresholds of a column, and zero."""
    tests = (forest.feature == column) & (forest.category < 0) & np.isfinite(forest.threshold)
    at = np.unique(forest.threshold[tests])
    near = [np.nextafter(at, side) for side in (-np.inf, np.inf)]
    if forest.dtype == "float32":
        # The neighbours in float64 round to the threshold, those in float32 do not.
        single = at.astype(np.float32)
        with np.errstate(over="ignore"):
            near += [np.nextafter(single, np.float32(side)).astype(np.float64) for side in (-np.inf, np.inf)]
    ends = [at[:1] - 1.0, at[-1:] + 1.0]
    found: NDArray[np.float64] = np.unique(np.concatenate([np.zeros(1), at, *near, *ends]))
    return found[np.isfinite(found)]


def _as_table(rows: NDArray[np.float64], source: Source, schema: Schema) -> Any:
    """Return encoded rows in the form that the source takes."""
    columns: list[Any] = [rows[:, column] for column in range(rows.shape[1])]
    if source.layout == "array":
        for column, categories in source.categories.items():
            numbers = np.append(np.asarray(categories, dtype=np.float64), np.nan)
            columns[column] = numbers[_codes(rows[:, column])]
        return np.column_stack(columns)
    import pandas as pd  # noqa: PLC0415 - a source that was trained on a frame

    for column, categories in source.categories.items():
        codes = _codes(rows[:, column])
        if source.layout == "category":
            known: Any = list(categories)
            columns[column] = pd.Categorical.from_codes(codes, known)
        else:
            columns[column] = [categories[code] for code in codes]
    names = source.names or list(schema.names)
    return pd.DataFrame(dict(enumerate(columns))).set_axis(names, axis=1)


def _codes(column: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return codes as integers, -1 where missing."""
    return np.where(np.isnan(column), -1, column).astype(np.int64)
