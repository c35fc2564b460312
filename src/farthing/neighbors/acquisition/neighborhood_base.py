"""What methods share that vote by a linear model and judge it by the nearest training rows."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing._core import KeptRows
from farthing.base.parameters import check_whole
from farthing.boosting import AdaBoostClassifier
from farthing.costs import CostSheet
from farthing.learning.random_numbers import draw_rows
from farthing.learning.voting.ensembles import learn_votes
from farthing.neighbors.acquisition.base import TEXTS, AcquiringClassifier
from farthing.neighbors.acquisition.by_column import Floats
from farthing.neighbors.acquisition.margins import Margins, Unmeasured
from farthing.neighbors.acquisition.training_rows import Kept

NEIGHBORS = TEXTS | {
    "estimator": """estimator : classifier, TreeVotes, LinearVotes or None
        The model whose vote is taken: a linear classifier (``coef_`` and ``intercept_``; numbers without
        missing values only), boosted stumps, or any vote of `farthing.boosting` whose learners look at one
        feature each. If it is fitted it is used as it is, else a clone is fitted; scikit-learn's
        ``FrozenEstimator`` keeps it through a clone of this model. None is AdaBoost with 300 stumps.
    n_neighbors : int or "exact"
        Rows in a neighbourhood; those as near as the last of them are in it, too, whatever their order. A row
        of weight 2 counts as two. "exact" takes the rows with the very values that were measured, the last
        such set that is not empty.""",
    "rows": """standardize : bool
        Whether numbers are divided by their standard deviation before they are compared, so that units do
        not matter; the thesis compares them as they are.
    unmeasured : {"zero", "missing"}
        What a feature adds to the vote before it is measured: nothing, as in the thesis, or what a missing
        value adds. For a linear model that is what the mean adds; take it if zero means something else there.
    max_rows : int, optional
        Keep no more training rows than this, drawn by lot, to look for neighbours among; the work per feature
        bought is linear in their number. The model learns from all rows.""",
    "attributes": """margins_ : Margins
        The model, taken apart by features.
    kept_ : Kept
        The training rows, their labels, and the distance of rows.""",
}


class NeighborhoodClassifier(AcquiringClassifier):
    """The parts of `MarginNeighborsClassifier` that `RandomOrderClassifier` has, too."""

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "margins_": Margins,
        "kept_": Kept,
        "n_neighbors_": int | NoneType,
    }
    _by_lot: ClassVar[bool] = False

    estimator: Any
    n_neighbors: int | Literal["exact"]
    standardize: bool
    unmeasured: Unmeasured
    max_rows: int | None
    random_state: Any
    n_jobs: int | None
    margins_: Margins
    kept_: Kept
    n_neighbors_: int | None  # None: exact

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: Floats,
        sheet: CostSheet,  # noqa: ARG002 - prices matter at prediction only
    ) -> None:
        self._check_params()
        self._set_terms()
        self.n_neighbors_ = None if self.n_neighbors == "exact" else int(self.n_neighbors)
        seed = int(check_random_state(self.random_state).randint(2**31))
        self.seed_ = seed if self._by_lot else None
        given = AdaBoostClassifier(n_estimators=300, n_jobs=self.n_jobs)
        given = given if self.estimator is None else self.estimator
        margins = Margins.of(learn_votes(given, self, values, target, weights), self.schema_)
        self.margins_ = margins.from_missing() if self.unmeasured == "missing" else margins
        signs = np.where(target == 1, 1.0, -1.0)
        if self.max_rows is not None and self.max_rows < len(values):
            rows = draw_rows(seed, len(values), self.max_rows)
            values, signs, weights = values[rows], signs[rows], weights[rows]
        self.kept_ = Kept.learn(values, signs, weights, self.schema_, self.standardize)

    def _check_params(self) -> None:
        if self.n_neighbors != "exact":
            check_whole("n_neighbors", self.n_neighbors, 1)
        if self.unmeasured not in ("zero", "missing"):
            raise ValueError(f"unmeasured must be 'zero' or 'missing'; got {self.unmeasured!r}")
        if self.max_rows is not None:
            check_whole("max_rows", self.max_rows, 1)

    def _learned(self) -> tuple[Any, ...]:
        return self.kept_, self.margins_, self.n_neighbors_

    def _compile(self) -> KeptRows:
        return self.kept_.compile(
            self.margins_,
            self.schema_,
            n_neighbors=self.n_neighbors_,
            by_lot=self._by_lot,
            tradeoff=self.tradeoff_,
            confidence=self.confidence_,
        )

    def _inputs(self, values: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats]:
        return values, self.margins_.table(values)

    def _input(self, column: int, value: float) -> tuple[float, float]:
        return value, self.margins_.value(column, value)

    def _file_params(self) -> dict[str, Any]:
        # The margins as fitted stand for the model that they came from, which may be of any library.
        return {**super()._file_params(), "estimator": None}

    def _check_stored(self) -> None:
        n_features = len(self.schema_.names)
        if self.margins_.n_features != n_features or self.kept_.values.shape[1] != n_features:
            raise ValueError(f"margins and kept rows must have the {n_features} features of the table")
        if self.n_neighbors_ is not None and self.n_neighbors_ < 1:
            raise ValueError(f"n_neighbors_ must be at least 1; got {self.n_neighbors_}")
        super()._check_stored()
