"""What a model did on rows at fit, as counts: later rows are compared with it. No row is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.store import register_codec
from farthing.typing import Flags, Floats, Integers

#: Bins of spends, answers and confidences.
N_BINS: Final = 10


@dataclass(frozen=True, eq=False)
class Reference:
    """Counts of what a model spends, buys, hears and says on some rows.

    Attributes
    ----------
    n_rows : int
        The rows.
    mean_spend : float
        Their mean spend.
    spend_edges : ndarray of float64, shape (N_BINS - 1,)
        Upper ends of the bins of spends but the last; infinite where there are fewer bins.
    spends : ndarray of int64, shape (N_BINS,)
        Rows by spend.
    bought : ndarray of int64, shape (n_features,)
        Rows that bought each feature.
    answer_edges : ndarray of float64, shape (n_columns, N_BINS - 1)
        Upper ends of the bins of the answers; codes of categories are numbers.
    answers : ndarray of int64, shape (n_columns, N_BINS + 1)
        Answers by bin, of the rows that bought the column; the last is missing ones. No column for models
        that ask devices.
    said : ndarray of int64, shape (n_classes,)
        Rows by predicted label; empty for a regressor.
    confident : ndarray of int64, shape (N_BINS,)
        Rows with a known label by the probability of their prediction, in tenths.
    right : ndarray of int64, shape (N_BINS,)
        Those of them that were right.
    fall_factor : float
        By which the falls of risk that reasons predict are multiplied, see `farthing.walks.realised`.
    n_questions : int
        Questions of held-out rows that it comes from; 0 if there were none.
    """

    n_rows: int
    mean_spend: float
    spend_edges: Floats
    spends: Integers
    bought: Integers
    answer_edges: Floats
    answers: Integers
    said: Integers
    confident: Integers
    right: Integers
    fall_factor: float = 1.0
    n_questions: int = 0

    @property
    def has_labels(self) -> bool:
        """Whether the labels of the rows were known."""
        return bool(self.confident.sum())


@dataclass(frozen=True, eq=False)
class Behaviour:
    """What a model did, row by row; what a `Reference` counts.

    Attributes
    ----------
    spend : ndarray of float64, shape (n_rows,)
    acquired : ndarray of bool, shape (n_rows, n_features)
    values : ndarray, shape (n_rows, n_columns)
        The encoded answers; only those acquired are read.
    said : ndarray of int64, shape (n_rows,), or None
        The place of the predicted label among the classes.
    n_classes : int
    confidence : ndarray of float64, shape (n_rows,), or None
        The probability of the predicted label.
    right : ndarray of bool, shape (n_rows,), or None
        Whether it was right; None if the labels are not known.
    """

    spend: Floats
    acquired: Flags
    values: NDArray[np.floating]
    said: Integers | None = None
    n_classes: int = 0
    confidence: Floats | None = None
    right: Flags | None = None

    def reference(self) -> Reference:
        """Return the counts, with bins by the quantiles of these rows."""
        n_columns = self.values.shape[1]
        edges = np.full((n_columns, N_BINS - 1), np.inf)
        for column in range(n_columns):
            told = self.values[self.acquired[:, column], column]
            edges[column] = quantile_edges(told[~np.isnan(told)])
        return self.counted(quantile_edges(self.spend), edges)

    def counted(self, spend_edges: Floats, answer_edges: Floats) -> Reference:
        """Return the counts in given bins."""
        confident = right = np.zeros(N_BINS, dtype=np.int64)
        if self.right is not None and self.confidence is not None:
            tenth = np.minimum((self.confidence * N_BINS).astype(np.int64), N_BINS - 1)
            confident = np.bincount(tenth, minlength=N_BINS)
            right = np.bincount(tenth[self.right], minlength=N_BINS)
        said = np.empty(0, dtype=np.int64)
        if self.said is not None:
            said = np.bincount(self.said, minlength=self.n_classes)
        answers = [
            _binned(self.values[self.acquired[:, column], column], answer_edges[column])
            for column in range(len(answer_edges))
        ]
        return Reference(
            len(self.spend),
            float(self.spend.mean()),
            spend_edges,
            _binned(self.spend, spend_edges)[:N_BINS],
            self.acquired.sum(axis=0, dtype=np.int64),
            answer_edges,
            np.array(answers, dtype=np.int64).reshape(-1, N_BINS + 1),
            said,
            confident,
            right,
        )


def quantile_edges(values: Floats) -> Floats:
    """Return the upper ends of bins of about equally many values, but the last; infinite if there are fewer.

    Examples
    --------
    >>> quantile_edges(np.array([0.0, 0.0, 1.0]))[:3]
    array([ 0., inf, inf])
    """
    edges = np.full(N_BINS - 1, np.inf)
    if len(values):
        levels = np.arange(1, N_BINS) / N_BINS
        found = np.unique(np.quantile(values, levels, method="inverted_cdf"))
        found = found[found < values.max()]
        edges[: len(found)] = found
    return edges


def _binned(values: NDArray[np.floating], edges: Floats) -> Integers:
    """Return the number of values in each bin, and last that of missing ones, shape (N_BINS + 1,)."""
    missing = np.isnan(values)
    places = np.searchsorted(edges, values[~missing], side="left")
    return np.append(np.bincount(places, minlength=N_BINS), missing.sum()).astype(np.int64)


def _encode(reference: Reference) -> dict[str, object]:
    return {field.name: getattr(reference, field.name) for field in fields(Reference)}


def _decode(stored: Mapping[str, Any]) -> Reference:
    """Build a reference from a file, which may be hostile."""
    if set(stored) != {field.name for field in fields(Reference)}:
        raise ValueError(f"a reference does not have the fields {sorted(stored)}")
    numbers = {"n_rows": int, "n_questions": int, "mean_spend": float, "fall_factor": float}
    for name, kind in numbers.items():
        if type(stored[name]) is not kind or not 0 <= stored[name] < np.inf:
            raise TypeError(f"{name} of a reference must be {kind.__name__}, zero or more")
    n_columns = len(stored["answers"])
    shapes = {
        "spend_edges": (N_BINS - 1,),
        "spends": (N_BINS,),
        "answer_edges": (n_columns, N_BINS - 1),
        "answers": (n_columns, N_BINS + 1),
        "confident": (N_BINS,),
        "right": (N_BINS,),
        "bought": None,
        "said": None,
    }
    for name, shape in shapes.items():
        array, letter = stored[name], "f" if name.endswith("edges") else "i"
        if not isinstance(array, np.ndarray) or array.dtype.kind != letter:
            raise TypeError(
                f"{name} of a reference must be an array of {'floats' if letter == 'f' else 'integers'}"
            )
        if array.ndim != 1 if shape is None else array.shape != shape:
            raise ValueError(f"{name} of a reference has the shape {array.shape}")
        if letter == "i" and (array < 0).any():
            raise ValueError(f"{name} of a reference must be counts")
    return Reference(**stored)


register_codec("Reference", Reference, _encode, _decode)
