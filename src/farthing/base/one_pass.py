"""Estimators whose variants share trees or stages, so that rows pass these once for all variants."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base.estimator import BudgetedEstimator
from farthing.base.inputs import check_caps
from farthing.table import Encoded, encode
from farthing.typing import Floats
from farthing.walks import Decisions


class OnePassMixin(BudgetedEstimator):
    """Decide by all variants at once, through `FittedModel.outputs_of_variants`."""

    def decide_variants(
        self, X: Any, *, budget: Any = None, **options: Any
    ) -> Iterator[tuple[dict[str, Any], Self, Decisions]]:
        """Yield `variants` with their decisions about the same rows, see `BudgetedEstimator`."""
        if options or isinstance(budget, Mapping):  # caps of further resources are kept in walks
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
        for (params, variant), (outputs, acquired) in zip(variants, found, strict=True):
            yield params, variant, _decisions(variant, encoded, outputs, acquired)

    def decider(self, X: Any, *, budget: Any = None, **options: Any) -> Callable[[Self], Decisions]:
        """Return a function that decides by any model of this fit, see `BudgetedEstimator.decider`."""
        self.check_ready()
        encoded = encode(self.fitted_.schema, X, type(self).__name__, min_rows=0)
        n_rows = len(encoded.values)
        shared = None
        if n_rows and not options and not isinstance(budget, Mapping):
            shared = self.fitted_.shared_outputs(encoded.values, n_threads=self.n_threads())
        if shared is None:
            return super().decider(X, budget=budget, **options)

        def decide(model: Self) -> Decisions:
            caps = check_caps(model.fitted_.budget if budget is None else budget, n_rows)
            return _decisions(model, encoded, *shared(model.fitted_, caps))

        return decide


def _decisions(
    estimator: BudgetedEstimator, encoded: Encoded, outputs: Floats, acquired: NDArray[np.bool_]
) -> Decisions:
    """Return the decisions of a model, as `BudgetedEstimator.decide` does, from its raw outputs."""
    model = estimator.fitted_
    encoded.check(acquired[:, : model.costs.n_columns])
    prediction, probabilities = model.results(model.settle(outputs, acquired))
    return Decisions(prediction, probabilities, model.costs.total_rows(acquired), acquired)
