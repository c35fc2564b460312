"""What a boosted model tells beside its predictions: its rounds one by one, and what it has bought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import TreesMixin, n_threads
from farthing.base.inputs import check_caps
from farthing.learning.booster import Floats
from farthing.trees import Progress


@dataclass(frozen=True, slots=True)
class PriceLevel:
    """How many of the features of one price a model uses; figure 2 of the paper draws their share.

    Attributes
    ----------
    price : float
        The price alone, shared cost included.
    n_features, n_bought : int
        Features of this price, and those of them that some tree tests.
    """

    price: float
    n_features: int
    n_bought: int


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

    def bought_by_price(self, n_rounds: int | None = None) -> list[PriceLevel]:
        """Count the features that the trees test, by their price; figure 2 of the paper.

        Parameters
        ----------
        n_rounds : int, optional
            Look at the first so many rounds only.

        Returns
        -------
        list of PriceLevel
            By ascending price.
        """
        n_outputs = len(self.prior_)
        rounds = self.n_rounds_ if n_rounds is None else min(n_rounds, self.n_rounds_)
        tested = self.forest_.feature[: self.forest_.offsets[(rounds + 1) * n_outputs]]
        bought = np.zeros(self.forest_.n_features, dtype=np.bool_)
        bought[tested[tested >= 0]] = True
        prices = np.array([self.costs_.price(name) for name in self.costs_.features])
        levels = np.unique(prices)
        return [
            PriceLevel(float(p), int((prices == p).sum()), int((bought & (prices == p)).sum()))
            for p in levels
        ]

    def _check_stored(self) -> None:
        super()._check_stored()
        n_outputs = len(self.prior_)
        if self.forest_.width != 1 or self.forest_.n_trees % n_outputs:
            raise ValueError("the trees are not rounds of one tree for each output")
