"""A scikit-learn classifier as the expensive model: which columns it reads, and its probabilities."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier
from sklearn.utils import get_tags

from farthing.adaptive.adapt.projection import Floats
from farthing.base import normalise
from farthing.costs import RowLedger
from farthing.errors import FileError
from farthing.store import register_codec, trusted_names

# These treat each row on its own, so a table of rows has the bits of its rows alone. Others may multiply
# matrices, where the last bits depend on the number of rows; they are given one row at a time.
_ROW_BY_ROW: Final = (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    SVC,
    StandardScaler,
    MinMaxScaler,
)
_SCHEMA: Final = "schema.json"


@dataclass(frozen=True, eq=False)
class SklearnModel:
    """A fitted classifier of scikit-learn, or of its kind.

    It needs all of its columns at once. A row that cannot afford them all stays with the cheap model.

    Parameters
    ----------
    model : classifier
        With ``predict_proba`` or ``decision_function``.
    columns : ndarray of int64, shape (n_columns,)
        The columns of the table that it reads, in its own order.
    fill : ndarray of float64, shape (n_columns,)
        What stands for a missing value; NaN if the model knows how to stratified_folds with one.
    platt : ndarray of float64, shape (2, n_scores), or None
        Slopes and offsets that turn decisions into log-odds, if the model gives no probabilities.
    """

    model: Any
    columns: NDArray[np.int64]
    fill: Floats
    platt: Floats | None = None

    @classmethod
    def around(cls, model: Any, columns: NDArray[np.int64], values: NDArray[np.floating]) -> SklearnModel:
        """Stand for a fitted model; ``values`` say what is put in for missing values."""
        fill = np.full(len(columns), np.nan)
        if not get_tags(model).input_tags.allow_nan:
            for place, column in enumerate(columns):
                seen = values[np.isfinite(values[:, column]), column]
                fill[place] = np.median(seen) if len(seen) else 0.0
        if getattr(model, "n_jobs", None) not in (None, 1):
            # Threads add up the trees of a forest in any order, so the last bits would be left to chance.
            model = copy.copy(model)
            model.n_jobs = None
        return cls(model, columns, fill)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels that the model knows."""
        return np.asarray(self.model.classes_)

    def calibrated(self, scores: Floats, codes: NDArray[np.int64], weights: Floats) -> SklearnModel:
        """Return the model with Platt's scaling, if it gives no probabilities itself.

        ``scores`` are decisions about rows that the model has not learned from, ``codes`` their classes.
        """
        if hasattr(self.model, "predict_proba"):
            return self
        hits = [codes == c for c in range(len(self.classes))] if scores.shape[1] > 1 else [codes == 1]
        fits = [_platt(scores[:, k], hit, weights) for k, hit in enumerate(hits)]
        return replace(self, platt=np.array(fits).T)

    def scores(self, values: NDArray[np.floating]) -> Floats:
        """Return probabilities, or decisions if there are none, of an encoded table, (n_rows, n_scores)."""
        X = np.ascontiguousarray(values[:, self.columns], dtype=np.float64)
        X = np.where(np.isfinite(X) | np.isnan(self.fill), X, self.fill)
        if not len(X):
            return np.zeros((0, len(self.classes)))
        word = getattr(self.model, "predict_proba", None) or self.model.decision_function
        if treats_rows_alone(self.model):
            said = np.asarray(word(self._table(X)), dtype=np.float64)
        else:
            said = np.concatenate([np.asarray(word(self._table(row)), dtype=np.float64) for row in _rows(X)])
        return said.reshape(len(X), -1)

    def probabilities(self, values: NDArray[np.floating]) -> Floats:
        """Return probabilities of the model's classes for an encoded table, (n_rows, n_classes)."""
        return self.to_probabilities(self.scores(values))

    def to_probabilities(self, scores: Floats) -> Floats:
        """Turn what `scores` gave into probabilities."""
        if self.platt is None or not len(scores):
            return scores
        p = expit(np.ascontiguousarray(scores * self.platt[0] + self.platt[1]))
        return normalise(p) if p.shape[1] > 1 else np.column_stack([1 - p, p])

    def _table(self, X: Floats) -> Any:
        """Return rows as the model was given them, with names if it had any."""
        names = getattr(self.model, "feature_names_in_", None)
        return X if names is None else import_module("pandas").DataFrame(X, columns=names)


class SklearnPolicy:
    """Want all columns of the model, if the row can pay for them all."""

    def __init__(self, outside: SklearnModel, n_features: int) -> None:
        self._outside = outside
        self._left: list[int] | None = None
        self._heard = np.full(n_features, np.nan)
        self._done = False

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column needed next; None at the end, or if the row cannot pay for what is missing."""
        if self._left is None:
            columns = self._outside.columns.tolist()
            self._left = sorted(columns) if ledger.affords_all(columns) else []
            self._done = not self._left and bool(columns)
        return self._left[0] if self._left else None

    def hear(self, column: int, value: float) -> None:
        """Take a value."""
        assert self._left is not None
        self._left.pop(0)
        self._heard[column] = value

    def output(self) -> Floats | None:
        """Return the probabilities of the model's classes; None if it was not asked, or not yet."""
        if self._left is None or self._left or self._done:
            return None
        return np.asarray(self._outside.probabilities(self._heard[np.newaxis])[0])


def treats_rows_alone(model: Any) -> bool:
    """Tell whether a model is known to give a row the same bits alone and among others.

    Examples
    --------
    >>> treats_rows_alone(RandomForestClassifier()), treats_rows_alone(LogisticRegression())
    (True, False)
    """
    if isinstance(model, Pipeline):
        return all(treats_rows_alone(part) for _, part in model.steps)
    return type(model) in _ROW_BY_ROW


def _rows(X: Floats) -> Iterator[Floats]:
    return (X[row : row + 1] for row in range(len(X)))


def _platt(scores: Floats, hit: NDArray[np.bool_], weights: Floats) -> tuple[float, float]:
    """Fit log-odds to a decision; targets are drawn in a little from 0 and 1, as Platt (1999) has it."""
    up, down = weights[hit].sum(), weights[~hit].sum()
    goal = np.where(hit, (up + 1) / (up + 2), 1 / (down + 2))
    both = np.concatenate([scores, scores])[:, np.newaxis]
    spread = float(np.abs(scores).max()) or 1.0
    fit = LogisticRegression(C=1e9, tol=1e-8, max_iter=1000).fit(
        both / spread,
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([weights * goal, weights * (1 - goal)]),
    )
    return float(fit.coef_[0, 0]) / spread, float(fit.intercept_[0])


# Files. The archive that skops writes names its parts by addresses in memory; they are numbered anew, so that
# the same model gives the same file.


def _encode(outside: SklearnModel) -> dict[str, object]:
    with ZipFile(BytesIO(_skops().dumps(outside.model))) as archive:
        plain = json.loads(archive.read(_SCHEMA))
        names = _number(plain)
        parts = [np.frombuffer(archive.read(name), dtype=np.uint8) for name in names]
    return {
        "schema": json.dumps(plain),
        "parts": parts,
        "columns": outside.columns,
        "fill": outside.fill,
        "platt": outside.platt,
    }


def _decode(fields: dict[str, Any]) -> SklearnModel:
    columns, fill, platt = fields["columns"], fields["fill"], fields["platt"]
    if not isinstance(columns, np.ndarray) or columns.dtype != np.int64 or columns.ndim != 1:
        raise TypeError("columns must be a list of integers")
    if not isinstance(fill, np.ndarray) or fill.dtype != np.float64 or fill.shape != columns.shape:
        raise TypeError("fill must be one float a column")
    if platt is not None and not (
        isinstance(platt, np.ndarray) and platt.dtype == np.float64 and platt.ndim == 2 and len(platt) == 2
    ):
        raise TypeError("platt must be slopes and offsets")
    model = _unpack(fields["schema"], fields["parts"])
    for name in ("classes_", "predict" if platt is None else "decision_function"):
        if not hasattr(model, name):
            raise TypeError(f"a {type(model).__name__} is no classifier: it has no {name}")
    return SklearnModel(model, columns, fill, platt)


def _unpack(schema: Any, parts: Any) -> Any:
    """Make the model of an archive; nothing is built of types that are not trusted."""
    skops = _skops()
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        archive.writestr(_SCHEMA, schema)
        for number, part in enumerate(parts):
            if not isinstance(part, np.ndarray) or part.dtype != np.uint8:
                raise TypeError("the parts of a model must be bytes")
            archive.writestr(ZipInfo(_part_name(number)), part.tobytes())
    data = buffer.getvalue()
    try:
        needed = set(skops.get_untrusted_types(data=data)) - set(trusted_names())
        if not needed:
            return skops.loads(data, trusted=sorted(trusted_names()))
    except Exception as error:  # whatever skops makes of a hostile archive
        raise FileError(f"the expensive model cannot be read: {error}") from error
    names = ", ".join(repr(name) for name in sorted(needed))
    raise FileError(
        f"the expensive model is made of types that Farthing does not trust by itself: {names}. If you trust "
        f"whoever made the file, call farthing.load(path, trusted=[{names}])"
    )


def _number(plain: Any) -> list[str]:
    """Give parts and objects of a schema numbers in the order they are met; return the parts' old names."""
    ids: dict[int, int] = {}
    parts: dict[str, int] = {}

    def visit(node: Any) -> None:
        if isinstance(node, list):
            for item in node:
                visit(item)
        elif isinstance(node, dict):
            if isinstance(node.get("__id__"), int):
                node["__id__"] = ids.setdefault(node["__id__"], len(ids))
            if "__loader__" in node and isinstance(node.get("file"), str):
                node["file"] = _part_name(parts.setdefault(node["file"], len(parts)))
            for item in node.values():
                visit(item)

    visit(plain)
    return list(parts)


def _part_name(number: int) -> str:
    return f"{number}.npy"


def _skops() -> Any:
    try:
        return import_module("skops.io")
    except ImportError as error:
        raise ImportError(
            "a scikit-learn model within another is stored through skops: pip install 'farthing[adaptive]'"
        ) from error


register_codec("Outside", SklearnModel, _encode, _decode)
