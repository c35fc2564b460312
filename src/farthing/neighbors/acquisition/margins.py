"""An additive model by feature: the margin that each value adds to the vote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.learning.voting import LinearVotes, TreeVotes
from farthing.neighbors.acquisition.column_functions import ColumnFunctions
from farthing.store import register_codec
from farthing.table import Schema
from farthing.typing import Floats

Unmeasured: TypeAlias = Literal["zero", "missing"]

_ARRAYS: Final = {
    "slope": np.float64,
    "missing": np.float64,
    "begin": np.int64,
    "edges": np.float64,
    "level": np.float64,
}


@dataclass(frozen=True, eq=False)
class Margins(ColumnFunctions):
    """An additive model f(x) = intercept + sum over the features of m_j(x_j).

    m_j(x) is ``slope[j] * x`` plus a step function: the level of the first edge that is not below x. A linear
    model has only slopes, boosted stumps have only steps. Codes of categories are treated as numbers.

    Parameters
    ----------
    intercept : float
        The constant term.
    slope, missing : ndarray of float64, shape (n_features,)
        Slopes, and the margins of missing values.
    begin : ndarray of int64, shape (n_features + 1,)
        Levels of feature ``j`` are ``begin[j]`` to ``begin[j + 1]``, at least one.
    edges, level : ndarray of float64, shape (n_levels,)
        The last edge of a feature is infinite.
    single : bool
        Whether values are rounded to float32 before they are compared with an edge.

    Examples
    --------
    >>> votes = LinearVotes(np.array([2.0, 1.0]), np.array([0, -1]), np.array([0.5, 1.0]), np.zeros(2), 1)
    >>> margins = Margins.of(votes, Schema.learn(np.zeros((1, 1))))
    >>> margins.intercept, margins.table(np.array([[3.0], [np.nan]])).ravel()
    (1.0, array([3., 0.]))
    """

    intercept: float
    slope: Floats
    missing: Floats
    begin: NDArray[np.int64]
    edges: Floats
    level: Floats
    single: bool = False

    def __post_init__(self) -> None:
        # The fields may come from a file: the compiled core relies on what is checked here.
        for name, dtype in _ARRAYS.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"{name} must be a list of {np.dtype(dtype)}")
            if np.isnan(array).any() or (name != "edges" and not np.isfinite(array).all()):
                raise ValueError(f"{name} must be finite")
        n_features, n_levels = len(self.slope), len(self.level)
        if not isinstance(self.intercept, float) or not np.isfinite(self.intercept):
            raise ValueError(f"intercept must be a finite float; got {self.intercept!r}")
        if not isinstance(self.single, bool):
            raise TypeError(f"single must be True or False; got {self.single!r}")
        if len(self.missing) != n_features or len(self.begin) != n_features + 1 or not n_features:
            raise ValueError("missing and begin must fit the number of slopes")
        if self.begin[0] != 0 or self.begin[-1] != n_levels or len(self.edges) != n_levels:
            raise ValueError("begin must run from the first level to the last")
        if (np.diff(self.begin) < 1).any() or not np.isposinf(self.edges[self.begin[1:] - 1]).all():
            raise ValueError("the last edge of a feature must be infinite")
        inside = np.ones(n_levels, dtype=np.bool_)
        inside[self.begin[:-1]] = False
        if (self.edges[1:] <= self.edges[:-1])[inside[1:]].any():
            raise ValueError("the edges of a feature must ascend")

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return len(self.slope)

    @property
    def used(self) -> NDArray[np.bool_]:
        """Whether a feature can contribute to the vote, shape (n_features,)."""
        steps = np.maximum.reduceat(np.abs(self.level), self.begin[:-1]) > 0
        return np.asarray((self.slope != 0) | (self.missing != 0) | steps)

    def column(self, feature: int, values: NDArray[np.floating]) -> Floats:
        """Return the margins of values of a feature, shape (n_values,)."""
        levels = slice(int(self.begin[feature]), int(self.begin[feature + 1]))
        compared = _single(values) if self.single else values
        absent = np.isnan(values)
        # From the left: an edge belongs to the interval below it, as in x <= threshold. NaN is replaced by
        # any number, as its margin is set at the end.
        place = np.searchsorted(self.edges[levels], np.where(absent, 0.0, compared))
        # A slope of zero must not make NaN of an infinite value.
        linear = self.slope[feature] * values if self.slope[feature] != 0 else 0.0
        return np.where(absent, self.missing[feature], linear + self.level[levels][place])

    def from_missing(self) -> Margins:
        """Return the same model in a form where an unmeasured feature counts as missing.

        The margins of missing values move into the intercept, so that an unmeasured feature adds nothing.
        """
        counts = np.diff(self.begin)
        return replace(
            self,
            intercept=self.intercept + float(self.missing.sum()),
            level=self.level - np.repeat(self.missing, counts),
            missing=np.zeros_like(self.missing),
        )

    @classmethod
    def of(cls, votes: TreeVotes | LinearVotes, schema: Schema) -> Margins:
        """Decompose a weighted vote by features; each learner may use at most one feature."""
        columns = votes.columns()
        for learner, looked in enumerate(columns):
            if len(looked) > 1:
                names = " and ".join(repr(schema.names[column]) for column in looked[:3])
                raise ValueError(
                    f"a margin must belong to one feature; learner {learner} of the estimator looks at "
                    f"{names}. Use a linear model, or boosted stumps (max_depth=1)"
                )
        owner = np.array([looked[0] if looked else -1 for looked in columns], dtype=np.int64)
        return _of_linear(votes) if isinstance(votes, LinearVotes) else _of_trees(votes, owner, schema)


def _of_linear(votes: LinearVotes) -> Margins:
    n_features = votes.n_features
    slope, missing = np.zeros(n_features), np.zeros(n_features)
    on = votes.column >= 0
    np.add.at(slope, votes.column[on], (votes.alphas * votes.factor)[on])
    np.add.at(missing, votes.column[on], (votes.alphas * votes.missing)[on])
    return Margins(
        intercept=float((votes.alphas * votes.factor)[~on].sum()),
        slope=slope,
        missing=missing,
        begin=np.arange(n_features + 1),
        edges=np.full(n_features, np.inf),
        level=np.zeros(n_features),
    )


def _of_trees(votes: TreeVotes, owner: NDArray[np.int64], schema: Schema) -> Margins:
    """Evaluate the trees of each feature once per interval between thresholds, and for a missing value."""
    forest = votes.forest
    n_features = forest.n_features
    edges, levels = [], []
    missing = np.zeros(n_features)
    missing_votes = votes.table(np.full((1, n_features), np.nan))[0]
    for feature in range(n_features):
        own = np.flatnonzero(owner == feature)
        # The vote of a feature is constant between two thresholds, so one probe at the right end of each
        # interval is enough. The trees of this feature look at no other column.
        bounds = _edges(votes, feature, schema)
        probes = np.full((len(bounds), n_features), np.nan)
        probes[:, feature] = bounds
        probed = votes.table(probes)[:, own] if len(own) else np.zeros((len(bounds), 0))
        # The last interval has no upper end, though the probe in it may be a category's code.
        edges.append(np.append(bounds[:-1], np.inf))
        levels.append(_weighted(probed, votes.alphas[own]))
        missing[feature] = _weighted(missing_votes[np.newaxis, own], votes.alphas[own])[0]
    constant = np.flatnonzero(owner < 0)
    return Margins(
        intercept=float(_weighted(missing_votes[np.newaxis, constant], votes.alphas[constant])[0]),
        slope=np.zeros(n_features),
        missing=missing,
        begin=np.cumsum([0, *map(len, edges)]),
        edges=np.concatenate(edges),
        level=np.concatenate(levels),
        single=forest.dtype == "float32",
    )


def _weighted(votes: Floats, alphas: Floats) -> Floats:
    """Return the weighted sum of votes, shape (n_rows, n_learners), over the learners."""
    # In their order, as the trees are added: a dot product may round differently.
    total = np.zeros(len(votes))
    for learner, alpha in enumerate(alphas):
        total += alpha * votes[:, learner]
    return total


def _edges(votes: TreeVotes, feature: int, schema: Schema) -> Floats:
    """Return the last value of each interval on which the vote of the feature is constant."""
    column, forest = schema.columns[feature], votes.forest
    if column.is_categorical:
        return np.append(np.arange(float(len(column.categories))), np.inf)[: max(len(column.categories), 1)]
    bounds = np.unique(forest.threshold[forest.feature == feature])
    strict = forest.comparator == "<"
    if forest.dtype == "float32":
        # Values are rounded to float32 before they are compared. So an edge is the largest float32 number
        # that passes the test, for < as for <=.
        near = _single(bounds)
        beyond = near >= bounds if strict else near > bounds
        below = np.nextafter(near.astype(np.float32), np.float32(-np.inf)).astype(np.float64)
        bounds = np.unique(np.where(beyond, below, near))
    elif strict:
        # x < t is x <= the largest float below t.
        bounds = np.nextafter(bounds, -np.inf)
    return np.append(bounds[np.isfinite(bounds)], np.inf)


def _single(values: NDArray[np.floating]) -> Floats:
    """Round to float32; values that are too large become infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


def _encode(margins: Margins) -> dict[str, object]:
    return {"intercept": margins.intercept, "single": margins.single} | {
        name: getattr(margins, name) for name in _ARRAYS
    }


def _decode(fields: dict[str, Any]) -> Margins:
    return Margins(**fields)


register_codec("Margins", Margins, _encode, _decode)
