"""What early exits share: a boosted model learned as ever, and exits between its rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetedEstimator, TreesMixin, n_threads
from farthing.costs import CostSheet
from farthing.table import Encoded, Schema
from farthing.trees import Forest, Progress

# (number of the exit from 1, number of all, raw outputs of the rows left, their numbers) to who goes on.
Stays: TypeAlias = Callable[[int, int, NDArray[np.float64], NDArray[np.int64]], NDArray[np.bool_]]


def exit_trees(forest: Forest, rounds_per_exit: int) -> tuple[int, ...]:
    """Return after how many trees rows may leave: every so many rounds, and at the end.

    A round is as many trees as it takes to add to every output once; trees of one node before the first
    round, which hold what is predicted without looking, are no round.

    Examples
    --------
    >>> base = Forest.constant([0.5], n_features=1)
    >>> stump = Forest.from_arrays(
    ...     n_features=1, feature=[0, -1, -1], threshold=[0, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> exit_trees(Forest.concat([base, *[stump] * 5]), rounds_per_exit=2)
    (3, 5, 6)
    """
    a_round = forest.n_outputs // forest.width
    sizes = np.diff(forest.offsets)[:a_round]
    first = a_round if (sizes == 1).all() else 0
    step = rounds_per_exit * a_round
    return (*range(first + step, forest.n_trees, step), forest.n_trees)


class Wrapper(BudgetedEstimator):
    """A boosted model with exits between its rounds; it learns through the model's own ``fit``."""

    _stored: ClassVar[Mapping[str, type | UnionType]] = {"model_": TreesMixin, "rounds_per_exit_": int}

    def __init__(self, estimator: Any, rounds_per_exit: int, costs: Any, n_jobs: int | None) -> None:
        self.estimator = estimator
        self.rounds_per_exit = rounds_per_exit
        self.costs = costs
        self.n_jobs = n_jobs

    # What the wrappers differ in.

    @abstractmethod
    def _default_model(self) -> TreesMixin:
        """Return the model that stands for ``estimator=None``."""

    @abstractmethod
    def _check_model(self, model: object) -> TreesMixin:
        """Return the model if it is of the right kind, or raise TypeError."""

    @abstractmethod
    def _learn_exits(self) -> None:
        """Check the wrapper's own parameters and set the fitted attributes they stand for."""

    # Learning.

    @classmethod
    def around(cls, model: Any, **params: Any) -> Self:
        """Put exits into a model that is fitted already; it is shared, not copied.

        Parameters
        ----------
        model : fitted model
            Made of boosted trees.
        **params
            Parameters of the wrapper.
        """
        check_is_fitted(model)
        made = cls(estimator=clone(model), **params)
        made._take(model)
        return made

    def _fit_model(self, fit: Callable[[TreesMixin], Any]) -> Self:
        """Learn the model by a call of its ``fit``."""
        chosen = self._default_model() if self.estimator is None else clone(self.estimator)
        model = self._check_model(chosen)
        given = {"costs": self.costs, "n_jobs": self.n_jobs}
        model.set_params(**{name: value for name, value in given.items() if value is not None})
        fit(model)
        self._take(model)
        return self

    def _check_sum(self, model: TreesMixin) -> TreesMixin:
        """Return the model if rows can leave between its trees."""
        if not model._one_sum:
            raise TypeError(f"a {type(model).__name__} has exits of its own; use it as it is")
        return model

    def _take(self, model: Any) -> None:
        """Adopt a fitted model."""
        self.model_ = self._check_model(model)
        if (
            isinstance(self.rounds_per_exit, bool)
            or not isinstance(self.rounds_per_exit, int | np.integer)
            or self.rounds_per_exit < 1
        ):
            raise ValueError(
                f"rounds_per_exit must be an integer of at least 1; got {self.rounds_per_exit!r}"
            )
        self.rounds_per_exit_ = int(self.rounds_per_exit)
        self._learn_exits()
        self._adopt(model.schema_)
        self.costs_ = model.costs_
        self.prior_ = model.prior_
        self.budget_ = model.budget_

    def _fit_encoded(
        self,
        schema: Schema,
        sheet: CostSheet,
        values: NDArray[np.floating],
        target: NDArray[Any],
        weights: NDArray[np.float64],
        **more: Any,
    ) -> Self:
        def fit(model: TreesMixin) -> None:
            if hasattr(self, "classes_"):
                model.classes_ = self.classes_
            model._fit_encoded(schema, sheet, values, target, weights, **more)

        return self._fit_model(fit)

    def _fit(self, *_: Any) -> None:
        raise TypeError("an early exit learns through the fit of its model")

    # Predicting.

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.model_._conclude(outputs)

    def _exits(self) -> tuple[int, ...]:
        return exit_trees(self.model_.forest_, self.rounds_per_exit_)

    def _descend(
        self, encoded: Encoded, budget: NDArray[np.float64] | None, stays: Stays
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Send rows from exit to exit until they leave; return raw outputs and acquired."""
        ready = self.model_._ready()
        progress = Progress(
            encoded.values,
            len(self.prior_),
            self.costs_,
            budget=budget,
            n_threads=n_threads(self.n_jobs),
        )
        rows = np.arange(len(encoded.values))
        begin, exits = 0, self._exits()
        for number, end in enumerate(exits, start=1):
            ready.advance(progress, begin, end, rows)
            if end < exits[-1]:
                rows = rows[stays(number, len(exits), progress.outputs[rows], rows)]
            begin = end
        return progress.outputs, progress.acquired

    def _check_stored(self) -> None:
        super()._check_stored()
        n_threads(self.n_jobs)
        model = self._check_model(self.model_)
        if self.rounds_per_exit_ < 1:
            raise ValueError(f"rounds_per_exit_ must be at least 1; got {self.rounds_per_exit_}")
        if model.schema_ != self.schema_ or model.costs_ != self.costs_ or model.budget_ != self.budget_:
            raise ValueError("the columns, costs and budget must be those of the model within")
        if not np.array_equal(model.prior_, self.prior_):
            raise ValueError("prior_ must be that of the model within")
