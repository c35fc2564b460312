"""Predictions and spends after each round of boosting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetedEstimator
from farthing.base.inputs import check_caps
from farthing.boosting.greedy_miser.model import GreedyMiserModel
from farthing.table import encode
from farthing.typing import Floats


class StagedMixin(BudgetedEstimator):
    """The ``staged_`` methods of an estimator that learns a `GreedyMiserModel`."""

    fitted_: GreedyMiserModel

    def staged_predict(self, X: Any, *, budget: Any = None) -> Iterator[NDArray[Any]]:
        """Yield the predictions after each round; parameters as in `predict`.

        Yields
        ------
        ndarray, shape (n_rows,)
        """
        for outputs, acquired in self._staged(X, budget):
            yield self.fitted_.results(self.fitted_.settle(outputs, acquired))[0]

    def staged_spend(self, X: Any, *, budget: Any = None) -> Iterator[Floats]:
        """Yield what each row has paid after each round, by the cost sheet; parameters as in `predict`.

        Yields
        ------
        ndarray of float64, shape (n_rows,)
        """
        for number, (_, acquired) in enumerate(self._staged(X, budget), start=1):
            yield self.fitted_.spends_after(number, acquired)

    def _staged(self, X: Any, budget: Any) -> Iterator[tuple[Floats, NDArray[np.bool_]]]:
        """Yield raw outputs and acquired after each round."""
        check_is_fitted(self)
        model, threads = self.fitted_, self.n_threads()
        encoded = encode(model.schema, X, type(self).__name__, needed=model.may_buy())
        caps = check_caps(model.budget if budget is None else budget, len(encoded.values))
        progress = model.start(encoded.values, caps, threads)
        # The constants before the first round.
        model.predictor.advance(progress, 0, model.n_trees_after(0))
        for number in range(1, model.n_rounds + 1):
            begin, end = model.n_trees_after(number - 1), model.n_trees_after(number)
            model.predictor.advance(progress, begin, end)
            acquired = model.acquired_by(progress)
            # Only entries that were acquired are validated (blindness); one warning, at the end, is enough.
            encoded.check_invalid(acquired[:, : model.costs.n_columns])
            if number == model.n_rounds:
                encoded.warn_unseen(acquired[:, : model.costs.n_columns])
            # The next round changes the outputs in place.
            yield progress.outputs.copy(), acquired
