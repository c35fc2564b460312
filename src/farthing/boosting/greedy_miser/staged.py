"""A boosted model round by round: predictions and spend after each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import TreesMixin, n_threads
from farthing.base.inputs import check_caps
from farthing.learning.booster import Floats
from farthing.trees import Progress


class StagedTrees(TreesMixin):
    """A forest of rounds: one tree of one node for each output, then one tree for each output and round."""

    @property
    def n_rounds_(self) -> int:
        """Rounds of boosting that the model is made of."""
        check_is_fitted(self)
        n_outputs = len(self.prior_)
        return int(self.forest_.n_trees // n_outputs - 1)

    def staged_predict(self, X: Any, *, budget: Any = None) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round; parameters as in `predict`.

        Yields
        ------
        ndarray, shape (n_rows,)
        """
        for outputs, acquired in self._staged(X, budget):
            yield self._results(self._settle(outputs, acquired))[0]

    def staged_spend(self, X: Any, *, budget: Any = None) -> Iterator[Floats]:
        """Yield what each row has paid after each round, by the cost sheet; parameters as in `predict`.

        Yields
        ------
        ndarray of float64, shape (n_rows,)
        """
        for _, acquired in self._staged(X, budget):
            yield self.costs_.total_rows(acquired)

    def _staged(self, X: Any, budget: Any) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Yield raw outputs and acquired after each round."""
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        caps = check_caps(self.budget_ if budget is None else budget, len(encoded.values))
        n_outputs = len(self.prior_)
        progress = Progress(
            encoded.values, n_outputs, self.costs_, budget=caps, n_threads=n_threads(self.n_jobs)
        )
        ready = self._ready()
        ready.advance(progress, 0, n_outputs)
        for tree in range(n_outputs, self.forest_.n_trees, n_outputs):
            ready.advance(progress, tree, tree + n_outputs)
            acquired = progress.acquired
            encoded.check(acquired)
            yield progress.outputs.copy(), acquired

    def _check_stored(self) -> None:
        super()._check_stored()
        n_outputs = len(self.prior_)
        if self.forest_.width != 1 or self.forest_.n_trees % n_outputs:
            raise ValueError("the trees are not rounds of one tree for each output")
