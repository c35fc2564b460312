"""The shared part of methods that evaluate an additive model on the nearest training rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing._core import KeptRows
from farthing.base import TrainingSet
from farthing.base.parameters import POSITIVE, at_least, one_of
from farthing.boosting import AdaBoostClassifier
from farthing.learning.random_numbers import draw_rows
from farthing.learning.voting import learn_votes, vote_prior
from farthing.neighbors.acquisition.base import CONSTRAINTS, TEXTS, AcquiringClassifier
from farthing.neighbors.acquisition.margins import Margins, Unmeasured
from farthing.neighbors.acquisition.model import AcquisitionModel, positive_share, signs_of
from farthing.neighbors.acquisition.neighbor_rows import NeighborRows
from farthing.typing import Floats

NEIGHBORS: Final = TEXTS | {
    "estimator": """estimator : classifier, TreeVotes, LinearVotes or None
        The model that votes: a linear classifier (``coef_`` and ``intercept_``; numbers without missing
        values only), boosted stumps, or any vote of `farthing.boosting` whose learners use one feature each.
        A fitted one is used as it is, otherwise a clone is fitted; scikit-learn's ``FrozenEstimator`` keeps
        it through a clone of this model. None means AdaBoost with 300 stumps.
    n_neighbors : int or "exact"
        Number of rows in a neighbourhood, plus any that are as near as the last of them. A row of weight 2
        counts as two. "exact" takes the rows with exactly the measured values, the last such set that is not
        empty.
    radius : float, optional
        All rows within this distance are neighbours as well, however many there are (the thresholded distance
        of footnote 2 of the thesis's chapter 2); where fewer than ``n_neighbors`` are, the nearest make up
        the number. With ``n_neighbors=1`` the radius alone decides, unless it holds no row. Distances grow
        with each measured feature, so a neighbourhood shrinks to ``n_neighbors`` rows. None: no radius.""",
    "rows": """standardize : bool
        Whether numbers are divided by their standard deviation before they are compared, so that units do
        not matter; the thesis compares them as they are.
    unmeasured : {"zero", "missing"}
        What a feature adds to the vote before it is measured: nothing, as in the thesis, or what a missing
        value adds. For a linear model that is what the mean adds; use it where zero is not a neutral value.
    max_rows : int, optional
        Search neighbours among at most this many training rows, drawn at random; the time per purchase is
        linear in their number. The model learns from all rows.""",
    "attributes": """margins_ : Margins
        The model, decomposed by features.
    kept_ : NeighborRows
        The training rows, their labels, and the distance of rows.""",
}


@dataclass(frozen=True, eq=False, kw_only=True)
class NeighborhoodModel(AcquisitionModel):
    """An additive model, and the training rows on which its vote is evaluated.

    Parameters
    ----------
    margins : Margins
        The model, decomposed by features.
    kept : NeighborRows
        The training rows, their labels, and the distance of rows.
    n_neighbors : int or None
        Number of rows in a neighbourhood; None means the rows with exactly the measured values.
    radius : float
        All rows within this distance are in the neighbourhood, too.
    """

    margins: Margins
    kept: NeighborRows
    n_neighbors: int | None
    radius: float

    #: Whether features are bought in a random order, rather than by their gain.
    random_order: ClassVar[bool] = False

    def compile(self) -> KeptRows:
        """Lay out the training rows for the compiled core."""
        return self.kept.compile(
            self.margins,
            self.schema,
            n_neighbors=self.n_neighbors,
            radius=self.radius,
            random_order=self.random_order,
            tradeoff=self.tradeoff,
            confidence=self.confidence,
        )

    def inputs(self, values: NDArray[np.floating]) -> tuple[NDArray[np.floating], Floats]:
        """Return the table, and the margins of its entries."""
        return values, self.margins.table(values)

    def input(self, column: int, value: float) -> tuple[float, float]:
        """Return the value, and its margin."""
        return value, self.margins.value(column, value)

    def refused_input(self, column: int) -> tuple[float, float]:
        """Return NaN, and the mean margin of the feature: a refusal says nothing about the row."""
        return np.nan, float(self._mean_margins[column])

    @cached_property
    def _mean_margins(self) -> Floats:
        """The mean margin of each feature over the training rows, shape (n_features,)."""
        return np.asarray(np.average(self.margins.table(self.kept.values), axis=0, weights=self.kept.weights))

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        n_features = len(self.schema.names)
        if self.margins.n_features != n_features or self.kept.values.shape[1] != n_features:
            raise ValueError(f"margins and kept rows must have the {n_features} features of the table")
        if self.n_neighbors is not None and self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be at least 1; got {self.n_neighbors}")
        if not 0 <= self.radius < np.inf or (self.n_neighbors is None and self.radius > 0):
            raise ValueError(f"radius is {self.radius}, n_neighbors is {self.n_neighbors}")
        super().check()


class NeighborhoodClassifier(AcquiringClassifier):
    """The base class of `MarginNeighborsClassifier` and `RandomOrderClassifier`."""

    model_type: ClassVar[type[NeighborhoodModel]] = NeighborhoodModel
    fits_every_row = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "n_neighbors": [at_least(1), one_of("exact")],
        "radius": [POSITIVE, None],
        "standardize": ["boolean"],
        "unmeasured": [one_of("zero", "missing")],
        "max_rows": [at_least(1), None],
        "random_state": ["random_state"],
    }

    estimator: Any
    n_neighbors: int | Literal["exact"]
    radius: float | None
    standardize: bool
    unmeasured: Unmeasured
    max_rows: int | None
    random_state: Any
    n_jobs: int | None
    fitted_: NeighborhoodModel

    def file_params(self) -> dict[str, Any]:
        """Return the parameters to save: without the estimator, as its margins are saved."""
        return {**super().file_params(), "estimator": None}

    def _learn(self, rows: TrainingSet) -> NeighborhoodModel:
        if self.n_neighbors == "exact" and self.radius is not None:
            raise ValueError(
                f"radius={self.radius!r} has no meaning with n_neighbors='exact'; leave it out, or set "
                "n_neighbors to the least number of neighbours"
            )
        seed = int(check_random_state(self.random_state).randint(2**31))
        estimator = self.estimator
        if estimator is None:
            estimator = AdaBoostClassifier(n_estimators=300, n_jobs=self.n_jobs)
        margins = Margins.of(learn_votes(estimator, rows), rows.schema)
        kept = rows
        if self.max_rows is not None and self.max_rows < len(rows):
            kept = rows.take(draw_rows(seed, len(rows), self.max_rows))
        share = positive_share(rows)
        return self.model_type(
            # The two outputs before any purchase: the prior vote, and the share of the more frequent class.
            **rows.header(prior=np.append(vote_prior(rows), max(share, 1 - share)), budget=self.hard_cap()),
            # A random order has no trade-off.
            tradeoff=float(getattr(self, "tradeoff", 0.0)),
            confidence=float(self.confidence),
            # Predictions draw only for a random order; `max_rows` used the seed above.
            seed=seed if self.model_type.random_order else None,
            margins=margins.from_missing() if self.unmeasured == "missing" else margins,
            kept=NeighborRows.learn(
                kept.values, signs_of(kept), kept.weights, rows.schema, standardize=self.standardize
            ),
            n_neighbors=None if self.n_neighbors == "exact" else int(self.n_neighbors),
            radius=0.0 if self.radius is None else float(self.radius),
        )
