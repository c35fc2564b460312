"""Fitted models whose raw output is a sum over trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from farthing.base.fitted import FittedModel
from farthing.trees import Forest, Predictor
from farthing.walks import ForestPolicy, Policy


def ladder(n_rounds: int) -> list[int]:
    """Return numbers of rounds from 1 to ``n_rounds``, each about a quarter larger than the one before.

    Examples
    --------
    >>> ladder(20)
    [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20]
    """
    # A factor of 10 ** 0.1, ten steps per decade.
    steps = [1]
    while (step := max(steps[-1] + 1, round(steps[-1] * 1.26))) < n_rounds:
        steps.append(step)
    return steps if n_rounds <= 1 else [*steps, n_rounds]


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeModel(FittedModel):
    """A sum over trees: walks visit them in order; array calls use the compiled predictor.

    Parameters
    ----------
    forest : Forest
        The trees.
    """

    forest: Forest

    #: Whether every row passes all trees; False if they form several models, of which a row uses only some.
    is_one_sum: ClassVar[bool] = True

    @property
    def single_sums(self) -> bool:
        """Whether the sum over the trees is rounded to float32 after each tree."""
        return False

    def node_scores(self) -> NDArray[np.float64]:
        """Return what each node adds to the raw output, shape (n_nodes, width); by default its value."""
        return self.forest.value

    @cached_property
    def predictor(self) -> Predictor:
        """The compiled predictor of the trees."""
        return Predictor(self.forest, self.node_scores(), single_sums=self.single_sums)

    def policy(self, seed: int | None = None) -> Policy:  # noqa: ARG002 - trees are not stochastic
        """Return a policy that walks the trees one after another."""
        return ForestPolicy.of(self.predictor)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,  # noqa: ARG002
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows in the compiled core; see `FittedModel.outputs`."""
        return self.predictor.predict(values, sheet=self.costs, budget=budget, n_threads=n_threads)

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the trees test, shape (n_features,)."""
        return self.forest.tested

    def check(self) -> None:
        """Raise ValueError if the trees do not fit the table and the outputs."""
        super().check()
        if self.forest.n_features != len(self.schema.names):
            raise ValueError(
                f"the trees have {self.forest.n_features} features, the table has {len(self.schema.names)}"
            )
        if self.forest.n_outputs != len(self.prior):
            raise ValueError(
                f"the trees have {self.forest.n_outputs} outputs, the model has {len(self.prior)}"
            )
