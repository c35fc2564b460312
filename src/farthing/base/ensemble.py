"""What all models made of trees share."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from farthing.base.estimator import BudgetedEstimator
from farthing.base.inputs import n_threads
from farthing.table import Encoded
from farthing.trees import Forest, Predictor
from farthing.walks import ForestPolicy, Policy

# Predictors by model. They stand beside the models, not in them, so that predicting changes no attribute.
_READY: WeakKeyDictionary[TreesMixin, Predictor] = WeakKeyDictionary()


def ladder(n_rounds: int) -> list[int]:
    """Return numbers of rounds from 1 up, each about a quarter more than the one before, the last included.

    Examples
    --------
    >>> ladder(20)
    [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20]
    """
    steps = [1]
    while (step := max(steps[-1] + 1, round(steps[-1] * 1.26))) < n_rounds:
        steps.append(step)
    return steps if n_rounds <= 1 else [*steps, n_rounds]


class TreesMixin(BudgetedEstimator):
    """Walks and array calls of a model whose raw output is a sum over trees.

    A method sets ``forest_`` in its ``_fit``, and may say in ``_node_scores`` what a node adds to the output.

    Attributes
    ----------
    forest_ : Forest
        The trees.
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {"forest_": Forest}
    _one_sum: ClassVar[bool] = True  # False if the trees are several models, of which a row hears some
    _single_sums = False  # whether the sum over the trees is rounded to float32 after each

    def _node_scores(self, forest: Forest) -> NDArray[np.float64]:
        """Return what each node adds to the raw output, shape (n_nodes, width); by default its value."""
        return forest.value

    def _policy(self, seed: int | None) -> Policy:  # noqa: ARG002 - trees draw no lots
        return ForestPolicy.of(self._ready())

    def _answers(
        self,
        encoded: Encoded,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,  # noqa: ARG002
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        threads = n_threads(getattr(self, "n_jobs", None))
        return self._ready().predict(encoded.values, sheet=self.costs_, budget=budget, n_threads=threads)

    def _ready(self) -> Predictor:
        """Return the compiled predictor of today's ``forest_``."""
        ready = _READY.get(self)
        if ready is None or ready.forest is not self.forest_:
            scores = self._node_scores(self.forest_)
            ready = _READY[self] = Predictor(self.forest_, scores, single_sums=self._single_sums)
        return ready

    def _check_stored(self) -> None:
        super()._check_stored()
        n_threads(getattr(self, "n_jobs", None))
        if self.forest_.n_features != len(self.schema_.names):
            raise ValueError(
                f"the trees have {self.forest_.n_features} features, the table has {len(self.schema_.names)}"
            )
        if self.forest_.n_outputs != len(self.prior_):
            raise ValueError(
                f"the trees have {self.forest_.n_outputs} outputs, the model has {len(self.prior_)}"
            )
