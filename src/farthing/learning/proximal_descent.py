"""The M step of linear pairs: gate and f1 together, by accelerated proximal gradient steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.gate_pairs import LinearPair
from farthing.adaptive.adapt.projection import Floats
from farthing.learning.blas_threads import one_thread
from farthing.table import Schema

# From scores, shape (n_outputs, n_rows), to what is minimised and its gradient, of the same shape.
Smooth: TypeAlias = Callable[[Floats], tuple[float, Floats]]


class Penalty(Protocol):
    """A convex function of the coefficients, (n_terms, n_outputs), that may have edges."""

    def value(self, coef: Floats) -> float:
        """Return the penalty."""
        ...

    def prox(self, coef: Floats, step: float) -> Floats:
        """Minimise |w - coef|^2 / 2 + step * value(w)."""
        ...


@dataclass(frozen=True, eq=False)
class Design:
    """The standardised terms of the training rows, and a pair of zeros over them.

    Attributes
    ----------
    blank : LinearPair
        The terms, with coefficients of zero.
    terms : ndarray of float64, shape (n_rows, n_terms)
        Of mean 0 and variance 1 over the rows that have a value.
    curvature : float
        The largest eigenvalue of the weighted second moments, the intercept's among them: it bounds the
        steps.
    """

    blank: LinearPair
    terms: Floats
    curvature: float

    @classmethod
    def of(cls, values: NDArray[np.floating], schema: Schema, shares: Floats, n_outputs: int) -> Design:
        """Standardise a table; ``shares`` are the rows' weights, which add up to 1."""
        columns, category = [], []
        for number, column in enumerate(schema.columns):
            codes = [float(code) for code in range(len(column.categories))]
            category += codes if column.is_categorical else [np.nan]
            columns += [number] * (len(codes) if column.is_categorical else 1)
        n_terms = len(columns)
        raw = LinearPair(
            np.array(columns, dtype=np.int64),
            np.array(category, dtype=np.float64),
            np.zeros(n_terms),
            np.ones(n_terms),
            np.zeros((n_terms, n_outputs)),
            np.zeros(n_outputs),
            len(schema.columns),
        )
        mean, scale = np.zeros(n_terms), np.ones(n_terms)
        for number, column in enumerate(raw.columns):
            seen = np.isfinite(values[:, column])
            if seen.any():
                term, weights = raw.term(number, values[seen, column]), shares[seen]
                mean[number] = np.average(term, weights=weights)
                spread = float(np.sqrt(np.average((term - mean[number]) ** 2, weights=weights)))
                # A column of one value has the spread of its rounding, and tells nothing.
                scale[number] = spread if spread > 1e-12 * max(1.0, abs(mean[number])) else 1.0
        blank = replace(raw, mean=mean, scale=scale)
        terms = blank.matrix(values) if n_terms else np.zeros((len(values), 0))
        whole = np.column_stack([np.ones(len(values)), terms])
        moments = (whole * shares[:, np.newaxis]).T @ whole
        return cls(blank, terms, float(np.linalg.eigvalsh(moments)[-1]))

    def scores(self, pair: LinearPair) -> Floats:
        """Return the scores of the rows, shape (n_outputs, n_rows)."""
        return np.asarray((self.terms @ pair.coef + pair.intercept).T)


def descend(
    design: Design,
    start: LinearPair,
    smooth: Smooth,
    bend: float,
    penalty: Penalty,
    *,
    max_steps: int = 50,
    tolerance: float = 1e-7,
) -> LinearPair:
    """Minimise smooth(scores) + penalty(coef) from a start; the objective never rises.

    Nesterov's steps with a restart whenever the objective would rise; intercepts are free of the penalty.

    Parameters
    ----------
    design : Design
        The rows.
    start : LinearPair
        Where to begin.
    smooth : callable
        From scores to the smooth part and its gradient.
    bend : float
        Largest second derivative of the loss of one row of weight 1, in any direction of its scores.
    penalty : Penalty
        The rest.
    max_steps : int
        Most steps.
    tolerance : float
        Stop when a step lowers the objective by less than this share of it.

    Returns
    -------
    LinearPair
    """
    with one_thread():
        return _descend(design, start, smooth, bend, penalty, max_steps, tolerance)


def _descend(  # noqa: PLR0917 - the arguments of `descend`
    design: Design,
    start: LinearPair,
    smooth: Smooth,
    bend: float,
    penalty: Penalty,
    max_steps: int,
    tolerance: float,
) -> LinearPair:
    step = 1 / (bend * design.curvature)
    coef, intercept = start.coef, start.intercept
    scores = design.scores(start)
    best = smooth(scores)[0] + penalty.value(coef)
    ahead = (coef, intercept, scores)
    pace, plain = 1.0, True
    for _ in range(max_steps):
        _, slope = smooth(ahead[2])
        new_coef = penalty.prox(ahead[0] - step * (design.terms.T @ slope.T), step)
        new_intercept = ahead[1] - step * slope.sum(axis=1)
        new_scores = (design.terms @ new_coef + new_intercept).T
        reached = smooth(new_scores)[0] + penalty.value(new_coef)
        if reached > best:
            if plain:
                break  # a plain step from the best point can rise by rounding only
            ahead, pace, plain = (coef, intercept, scores), 1.0, True
            continue
        new_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        push = (pace - 1) / new_pace
        ahead = (
            new_coef + push * (new_coef - coef),
            new_intercept + push * (new_intercept - intercept),
            new_scores + push * (new_scores - scores),
        )
        done = best - reached <= tolerance * abs(best)
        coef, intercept, scores, best = new_coef, new_intercept, new_scores, reached
        if done and plain:
            break
        # A small gain with momentum may only mean that it points the wrong way.
        if done:
            ahead, new_pace = (coef, intercept, scores), 1.0
        pace, plain = new_pace, done
    return replace(start, coef=coef, intercept=intercept)
