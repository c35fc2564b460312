"""The rows of a sweep with all that belongs to them, and how they are split."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    ShuffleSplit,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import _safe_indexing

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.base.class_weights import class_factors
from farthing.base.inputs import check_weights, target_column
from farthing.distributed.detect import is_collection
from farthing.table import PreparedTable
from farthing.walks import Decisions

# Below this many rows a single split is too noisy to choose by, and folds are cheap.
_FEW_ROWS: Final = 3000
_FOLDS: Final = 5
# A race on a large table begins on so many rows, or on this part of them if it is more.
_TRIAL_ROWS: Final = 2000
_TRIAL_PART: Final = 10
# A trial on a larger part than this takes the method that leads more time than it saves of the others, which
# are fast: on 4,800 rows a third of the whole.
_LEAST_PARTS: Final = 4


def default_folds(n_rows: int) -> int | None:
    """Return the number of folds to choose a model by; None is one split.

    Examples
    --------
    >>> default_folds(300), default_folds(30_000)
    (5, None)
    """
    return _FOLDS if n_rows < _FEW_ROWS else None


@dataclass(frozen=True, eq=False)
class SweepRows:
    """Some rows of a table, prepared once, with their targets, weights and queries.

    Parameters
    ----------
    table : PreparedTable
        The rows.
    y : ndarray, shape (n_rows,)
        Labels or numbers.
    weights : ndarray of float64, shape (n_rows,), optional
        Weight of each row.
    qid : ndarray, shape (n_rows,), optional
        The query of each row.
    numbers : ndarray of int64, shape (n_rows,), optional
        Which rows of the user's table these are; None means all of them.
    factors : ndarray of float64, shape (n_rows,), optional
        The weight of the class of each row: it counts in fits and scores, not in spends.
    """

    table: PreparedTable
    y: NDArray[Any]
    weights: NDArray[np.float64] | None = None
    qid: NDArray[Any] | None = None
    numbers: NDArray[np.int64] | None = None
    factors: NDArray[np.float64] | None = None
    #: Whether fits are those of a cluster, one after another, on methods that learn from collections.
    is_collection: ClassVar[bool] = False

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None, qid: Any = None, name: str = "sweep") -> SweepRows:
        """Prepare what a user gives, and check the weights."""
        if is_collection(X):
            from farthing.frontier.collection_rows import CollectionRows  # noqa: PLC0415 - Dask is an extra

            return CollectionRows.of(X, y, sample_weight, qid, name)
        target = target_column(y)
        weights = None if sample_weight is None else check_weights(sample_weight, len(target))
        return cls(PreparedTable.of(X, name), target, weights, None if qid is None else np.asarray(qid))

    @property
    def X(self) -> Any:  # noqa: N802 - scikit-learn's name for it
        """The rows as the user gave them, for models that do not keep the contract."""
        raw = self.table.values if self.table.raw is None else self.table.raw
        return raw if self.numbers is None or raw is self.table.values else _safe_indexing(raw, self.numbers)

    @property
    def all_weights(self) -> NDArray[np.float64] | None:
        """The weight of each row in fits and scores, that of its class included."""
        if self.factors is None or self.weights is None:
            return self.weights if self.factors is None else self.factors
        return self.weights * self.factors

    def fit_options(self, model: Any) -> dict[str, Any]:
        """Return the weights and queries as far as the ``fit`` of a model takes them."""
        taken = inspect.signature(model.fit).parameters
        given = {"sample_weight": self.all_weights, "qid": self.qid}
        return {name: value for name, value in given.items() if value is not None and name in taken}

    # What models do with the rows; those of a collection do it on a cluster.

    def fit(self, model: Any) -> Any:
        """Fit a model, which takes the rows prepared, or as the user gave them; return it."""
        X = self.table if isinstance(model, BudgetedEstimator) else self.X
        return model.fit(X, self.y, **self.fit_options(model))

    def decide(self, model: BudgetedEstimator, cap: float | None) -> Decisions:
        """Return what a fitted model decides about the rows, within a hard budget."""
        return model.decide(self.table, budget=cap, **self._queries(model))

    def decide_variants(
        self, model: BudgetedEstimator, cap: float | None
    ) -> Iterator[tuple[Mapping[str, Any], BudgetedEstimator, Decisions]]:
        """Yield the variants of a fitted model, with what they decide."""
        yield from model.decide_variants(self.table, budget=cap, **self._queries(model))

    def decider(self, model: BudgetedEstimator, cap: float | None) -> Callable[[Any], Decisions]:
        """Return what gives the decisions of a model of the same fit, see `BudgetedEstimator.decider`."""
        return model.decider(self.table, budget=cap)

    def spend(self, model: BudgetedEstimator, cap: float | None = None) -> NDArray[np.float64]:
        """Return what a fitted model spends on each row, within a hard budget."""
        return model.spend(self.table, budget=cap)

    def _queries(self, model: BudgetedEstimator) -> dict[str, Any]:
        ranks = self.qid is not None and "qid" in inspect.signature(model.decide).parameters
        return {"qid": self.qid} if ranks else {}

    def content(self) -> Any:
        """Return the columns and the values, by which results are named in a cache."""
        schema = self.table.schema
        return schema.names, [list(map(str, c.categories)) for c in schema.columns], self.table.values

    @property
    def n_bytes(self) -> int:
        """The memory that the values take here."""
        return int(self.table.values.nbytes)

    def by_class(self, class_weight: Any) -> SweepRows:
        """Return the rows with the factors of their classes, from scikit-learn's ``class_weight``."""
        if class_weight is None:
            return self
        labels, codes = np.unique(self.y, return_inverse=True)
        # No value of the table counts here.
        rows = TrainingSet.of(np.zeros((len(codes), 1)), codes, self.weights, classes=labels)
        factors = class_factors(class_weight, rows)
        return self if factors is None else replace(self, factors=factors[codes])

    def of_positive_weight(self) -> SweepRows:
        """Leave out rows of weight zero."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def take(self, rows: NDArray[np.int64]) -> SweepRows:
        """Return some of the rows, as if the table had been prepared from them alone."""
        part = self.table.take(rows)
        return SweepRows(
            # The raw table is not copied: `X` takes its rows only if a model needs them.
            PreparedTable(part.schema, part.encoded, self.table.raw),
            self.y[rows],
            None if self.weights is None else self.weights[rows],
            None if self.qid is None else self.qid[rows],
            rows if self.numbers is None else self.numbers[rows],
            None if self.factors is None else self.factors[rows],
        )

    def weight(self) -> float:
        """Return the total weight of the rows."""
        return float(len(self.y) if self.weights is None else self.weights.sum())

    def has_classes(self) -> bool:
        """Return whether the targets look like classes: anything but floats."""
        return bool(self.y.dtype.kind != "f")


def split_rows(
    rows: SweepRows, cv: Any, test_size: float, random_state: int, *, classifies: bool
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Return the rows to learn from and to evaluate on, pair by pair; queries stay whole.

    Parameters
    ----------
    rows : SweepRows
        The rows.
    cv : int, splitter, iterable or None
        As in scikit-learn; None means one random split.
    test_size : float
        Share of the rows to evaluate on in that split.
    random_state : int
        Seed of that split.
    classifies : bool
        Whether targets are classes, which every side should have.
    """
    numbers: NDArray[np.int64] = np.arange(len(rows.y))
    splitter: Any
    if cv is None and rows.qid is not None:
        splitter = GroupShuffleSplit(1, test_size=test_size, random_state=random_state)
    elif cv is None:
        # scikit-learn refuses to stratify a class of one row.
        kind = StratifiedShuffleSplit if classifies and _enough(rows.y) else ShuffleSplit
        splitter = kind(1, test_size=test_size, random_state=random_state)
    elif isinstance(cv, int) and rows.qid is not None:
        splitter = GroupKFold(cv)
    else:
        splitter = check_cv(cv, rows.y, classifier=classifies)
    return list(splitter.split(numbers[:, np.newaxis], rows.y, rows.qid))


def trial_rows(
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], random_state: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return a part of the rows of a single fold, to begin a race on; None if it is not worth it.

    Parameters
    ----------
    folds : sequence of pairs of row numbers
        To learn from and to evaluate on.
    random_state : int
        Seed of the sample.
    """
    if len(folds) != 1 or len(folds[0][0]) < _LEAST_PARTS * _TRIAL_ROWS:
        return None
    learn, evaluate = folds[0]
    n_rows = max(_TRIAL_ROWS, len(learn) // _TRIAL_PART)
    drawn = np.random.default_rng(random_state).choice(len(learn), n_rows, replace=False)
    return learn[np.sort(drawn)], evaluate


def _enough(y: NDArray[Any]) -> bool:
    """Return whether every class has two rows, so that both sides of a split can have one."""
    return bool(np.unique(y, return_counts=True)[1].min() > 1)
