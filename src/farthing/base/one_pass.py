"""Estimators whose variants share trees or stages, so that rows pass these once for all variants."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from farthing.base.estimator import BudgetedEstimator
from farthing.base.inputs import check_caps
from farthing.table import encode
from farthing.walks import Decisions


class OnePassMixin(BudgetedEstimator):
    """Decide by all variants at once, through `FittedModel.outputs_of_variants`."""

    def decide_variants(
        self, X: Any, *, budget: Any = None, **options: Any
    ) -> Iterator[tuple[dict[str, Any], Self, Decisions]]:
        """Yield `variants` with their decisions about the same rows, see `BudgetedEstimator`."""
        if options:
            yield from super().decide_variants(X, budget=budget, **options)
            return
        self.check_ready()
        variants = list(self.variants())
        models = [variant.fitted_ for _, variant in variants]
        needed = np.logical_or.reduce([model.may_buy() for model in models])
        encoded = encode(self.fitted_.schema, X, type(self).__name__, needed=needed, min_rows=0)
        n_rows = len(encoded.values)
        if not n_rows:
            yield from super().decide_variants(X, budget=budget)
            return
        caps = [check_caps(model.budget if budget is None else budget, n_rows) for model in models]
        found = self.fitted_.outputs_of_variants(
            models, encoded.values, budgets=caps, n_threads=self.n_threads()
        )
        for (params, variant), model, (outputs, acquired) in zip(variants, models, found, strict=True):
            encoded.check(acquired[:, : model.costs.n_columns])
            prediction, probabilities = model.results(model.settle(outputs, acquired))
            spent = model.costs.total_rows(acquired)
            yield params, variant, Decisions(prediction, probabilities, spent, acquired)
