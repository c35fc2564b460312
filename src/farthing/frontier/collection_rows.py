"""The rows of a sweep that stay on the workers of a cluster; fits are distributed, one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator
from farthing.base.inputs import check_weights, target_column
from farthing.distributed.table import CollectionTable
from farthing.errors import TableError
from farthing.frontier.data_split import SweepRows
from farthing.walks import Decisions


@dataclass(frozen=True, eq=False)
class CollectionRows(SweepRows):
    """Some rows of a Dask collection, by number, with their targets, weights and queries.

    Targets, weights and queries are here; of the table itself only the lengths of its partitions. What comes
    back from the workers is what models decide about rows: a prediction, probabilities, a spend.
    """

    table: CollectionTable  # type: ignore[assignment]
    is_collection: ClassVar[bool] = True

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any = None, qid: Any = None, name: str = "sweep") -> SweepRows:
        """Look at a collection, and bring what belongs to its rows here."""
        table, (target, weights, queries) = CollectionTable.of(X, [y, sample_weight, qid], name)
        if target is None:
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        checked = None if weights is None else check_weights(weights, len(target))
        return cls(table, target_column(target), checked, queries)

    @property
    def X(self) -> NoReturn:  # noqa: N802 - as in `SweepRows`
        """Raise TableError: a model that does not keep the contract needs all rows in one process."""
        raise TableError(
            "an estimator that does not keep the contract, and calibration, need all rows in one process; "
            "call compute() on the collections"
        )

    @property
    def n_bytes(self) -> int:
        """The memory that the values take here."""
        return 0

    def content(self) -> Any:
        """Return what names the rows, see `CollectionTable.content`."""
        return self.table.content()

    def take(self, rows: NDArray[np.int64]) -> SweepRows:
        """Return some of the rows, by ascending index."""
        return replace(
            self,
            table=self.table.take(rows),
            y=self.y[rows],
            weights=None if self.weights is None else self.weights[rows],
            qid=None if self.qid is None else self.qid[rows],
            numbers=rows if self.numbers is None else self.numbers[rows],
            factors=None if self.factors is None else self.factors[rows],
        )

    def fit(self, model: Any) -> Any:
        """Fit a model on the workers; return it."""
        if not isinstance(model, BudgetedEstimator):
            return model.fit(self.X)
        beside = self.table.beside
        options = {name: beside(value) for name, value in self.fit_options(model).items()}
        return model.fit(self.table.collection(), beside(self.y), **options)

    def decide(self, model: BudgetedEstimator, cap: float | None) -> Decisions:
        """Return what a fitted model decides about the rows, without what it acquired."""
        return _joined(self.table.map(_decide, model, cap))

    def decide_variants(
        self, model: BudgetedEstimator, cap: float | None
    ) -> Iterator[tuple[Mapping[str, Any], BudgetedEstimator, Decisions]]:
        """Yield the variants of a fitted model, with what they decide, from one pass over the rows."""
        parts = self.table.map(_decide_variants, model, cap)
        for (params, variant), decided in zip(model.variants(), zip(*parts, strict=True), strict=True):
            yield params, variant, _joined(list(decided))

    def decider(self, model: BudgetedEstimator, cap: float | None) -> Callable[[Any], Decisions]:
        """Return what gives the decisions of a model of the same fit."""
        return lambda moved: self.decide(moved, cap)

    def spend(self, model: BudgetedEstimator, cap: float | None = None) -> NDArray[np.float64]:
        """Return what a fitted model spends on each row, within a hard budget."""
        return np.concatenate(self.table.map(_spend, model, cap))


def _decide(X: Any, model: BudgetedEstimator, cap: float | None) -> Decisions:
    return _figures(model.decide(X, budget=cap))


def _decide_variants(X: Any, model: BudgetedEstimator, cap: float | None) -> list[Decisions]:
    return [_figures(decided) for _, _, decided in model.decide_variants(X, budget=cap)]


def _spend(X: Any, model: BudgetedEstimator, cap: float | None) -> NDArray[np.float64]:
    return model.spend(X, budget=cap)


def _figures(decided: Decisions) -> Decisions:
    # What was acquired is as wide as the table.
    return Decisions(decided.prediction, decided.probabilities, decided.spent, np.empty((0, 0), bool))


def _joined(parts: list[Decisions]) -> Decisions:
    shares = [part.probabilities for part in parts if part.probabilities is not None]
    return Decisions(
        np.concatenate([part.prediction for part in parts]),
        np.concatenate(shares) if shares else None,
        np.concatenate([part.spent for part in parts]),
        np.empty((0, 0), bool),
    )
