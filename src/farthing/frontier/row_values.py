"""Scores and losses of single held-out rows, by which models are compared row by row."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base.choice import AS_GOOD
from farthing.frontier.evaluation import Evaluation
from farthing.frontier.scorer import Figures
from farthing.typing import Floats

# Rows of a fold that are compared; more would add little, and every model of every fit keeps them.
MOST_ROWS: Final = 4000

# Groups of rows, each judged by the models that the others choose.
N_GROUPS: Final = 5

# Halved memory: the values are only compared.
Values: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class RowValues:
    """Score and loss of each held-out row, for each model of one fit.

    Parameters
    ----------
    scores, losses : ndarray of float32, shape (n_models, n_rows)
        The mean of a model's scores is its score; losses are smoother, and smaller is better.
    spends : ndarray of float32, shape (n_models, n_rows)
        What each row paid.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    rows : ndarray of int64, shape (n_rows,)
        Numbers of the rows, the same for every fit of the fold.
    """

    scores: Values
    losses: Values
    spends: Values
    weights: Floats
    rows: NDArray[np.int64]

    def of_models(self, places: Sequence[int]) -> RowValues:
        """Return the values of some models, in a given order."""
        some = list(places)
        return RowValues(self.scores[some], self.losses[some], self.spends[some], self.weights, self.rows)

    def state(self) -> dict[str, str]:
        """Return the values as text, for a cache."""
        return {
            field.name: base64.b64encode(getattr(self, field.name).tobytes()).decode("ascii")
            for field in fields(self)
        }

    @classmethod
    def from_state(cls, state: dict[str, str]) -> RowValues:
        """Build the values from the state."""
        found = {name: base64.b64decode(text) for name, text in state.items()}
        rows = np.frombuffer(found.pop("rows"), dtype=np.int64)
        weights = np.frombuffer(found.pop("weights"), dtype=np.float64)
        shape = (-1, len(rows))
        values = {
            name: np.frombuffer(given, dtype=np.float32).reshape(shape) for name, given in found.items()
        }
        return cls(**values, weights=weights, rows=rows)


def some_rows(n_rows: int) -> NDArray[np.int64]:
    """Return which of a fold's rows are compared: all, or a sample that depends on their number alone.

    Examples
    --------
    >>> some_rows(3)
    array([0, 1, 2])
    >>> len(some_rows(10**5))
    4000
    """
    if n_rows <= MOST_ROWS:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(0).choice(n_rows, MOST_ROWS, replace=False))


class RowValuesOf:
    """Collects the rows of one fit's models.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_rows,)
        Numbers of the held-out rows in the whole table.
    """

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self._some = some_rows(len(rows))
        self._rows = rows[self._some]
        self._found: list[tuple[Values, Values, Values]] | None = []
        self._weights: Floats | None = None

    def add(self, evaluation: Evaluation, figures: Figures) -> None:
        """Add a model, with what the scorer says of it; one without values of rows ends the collection."""
        if self._found is None:
            return
        found = figures.of_rows
        # Targets may be numbers of dtype object.
        scores = None if found is None else np.asarray(found, dtype=np.float64)
        if scores is None or not np.isfinite(scores).all():
            self._found = None
            return
        losses = figures.losses_of_rows
        picked = (scores, -scores if losses is None else losses, evaluation.spend)
        self._found.append(tuple(values[self._some].astype(np.float32) for values in picked))  # type: ignore[arg-type]
        weights = np.ones(len(evaluation.y)) if evaluation.weights is None else evaluation.weights
        self._weights = weights[self._some]

    def result(self) -> RowValues | None:
        """Return the values; None if there are none."""
        if not self._found or self._weights is None:
            return None
        scores, losses, spends = (np.array(values) for values in zip(*self._found, strict=True))
        return RowValues(scores, losses, spends, self._weights, self._rows)


@dataclass(frozen=True, eq=False)
class Standing:
    """How one setting stands at the budget: the values of its rows, over all folds.

    Parameters
    ----------
    scores, losses : ndarray of float32, shape (n_rows,)
        Of one model per fold.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    rows : ndarray of int64, shape (n_rows,)
        Their numbers.
    """

    scores: Values
    losses: Values
    weights: Floats
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[tuple[RowValues, int]]) -> Standing:
        """Join the rows of one model of each fold, given by its place among the fold's models."""
        return cls(
            np.concatenate([values.scores[place] for values, place in parts]),
            np.concatenate([values.losses[place] for values, place in parts]),
            np.concatenate([values.weights for values, _ in parts]),
            np.concatenate([values.rows for values, _ in parts]),
        )

    def on(self, rows: NDArray[np.int64]) -> Standing:
        """Return the standing on some rows, which must be among its own; of repeats the first."""
        places = np.argsort(self.rows, kind="stable")
        found = places[np.searchsorted(self.rows, rows, sorter=places)]
        return Standing(self.scores[found], self.losses[found], self.weights[found], self.rows[found])


def cross_fitted(parts: Sequence[RowValues]) -> Standing:
    """Return the values of rows, each by the model that the rows of other groups choose.

    Every row belongs to one of `N_GROUPS` groups, by its place. For each group the model to take is chosen by
    the rows of the others: of the models whose score is within half a standard error of the best, the one of
    the least loss, as in `farthing.base.choice.choose`.

    Parameters
    ----------
    parts : sequence of RowValues
        One for each fold, with the same models in the same order.

    Examples
    --------
    >>> losses = np.array([[0.1, 0.1, 0.1, 0.1, 0.9], [0.2, 0.2, 0.2, 0.2, 0.0]], dtype=np.float32)
    >>> values = RowValues(-losses, losses, np.zeros((2, 5)), np.ones(5), np.arange(5))
    >>> cross_fitted([values]).losses
    array([0.2, 0.2, 0.2, 0.2, 0.9], dtype=float32)
    """
    scores = np.concatenate([part.scores for part in parts], axis=1)
    losses = np.concatenate([part.losses for part in parts], axis=1)
    weights = np.concatenate([part.weights for part in parts])
    groups = np.concatenate([np.arange(len(part.rows)) for part in parts]) % N_GROUPS
    models = np.zeros(len(weights), dtype=np.int64)
    for group in range(N_GROUPS):
        others = groups != group
        if others.any():
            models[~others] = _best_model(scores[:, others], losses[:, others], weights[others])
    every = np.arange(len(weights))
    rows = np.concatenate([part.rows for part in parts])
    return Standing(scores[models, every], losses[models, every], weights, rows)


def _best_model(scores: Values, losses: Values, weights: Floats) -> int:
    """Return the model to take by the scores and losses of rows, shape (n_models, n_rows) each."""
    shares = weights / weights.sum()
    mean_scores, mean_losses = scores @ shares, losses @ shares
    best = int(np.lexsort([mean_losses, -mean_scores])[0])
    error = float(np.sqrt(np.sum((shares * (scores[best] - mean_scores[best])) ** 2)))
    fits = np.flatnonzero(mean_scores >= mean_scores[best] - AS_GOOD * error)
    return int(fits[np.argmin(mean_losses[fits])])


@dataclass(frozen=True)
class Difference:
    """A mean difference over the same rows, and its standard error."""

    mean: float
    error: float


def difference(one: Any, other: Any, weights: Floats) -> Difference:
    """Return the weighted mean of ``one - other`` and its standard error, both from the same rows.

    Examples
    --------
    >>> difference(np.array([1.0, 0.0]), np.array([0.0, 0.0]), np.ones(2))
    Difference(mean=0.5, error=0.5)
    """
    values = np.asarray(one, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    shares = weights / weights.sum()
    mean = float(shares @ values)
    n = len(values)
    if n < 2:
        return Difference(mean, np.inf)
    return Difference(mean, float(np.sqrt(n / (n - 1) * np.sum((shares * (values - mean)) ** 2))))
