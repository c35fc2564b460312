"""The base of estimators with early exits: they learn a boosted model and add exits to it."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Final, Self

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetedEstimator, TrainingSet
from farthing.base.parameters import at_least
from farthing.cascades.early_exit.model import (
    EarlyExitModel,
    check_one_sum,
    costs_by_exit,
    fitted_trees,
)
from farthing.costs import CostSheet
from farthing.table import Schema

#: Allowed values of the parameters that the wrappers share.
CONSTRAINTS: Final[dict[str, Any]] = {"rounds_per_exit": [at_least(1)]}


class EarlyExitBase(BudgetedEstimator):
    """A boosted model with exits between its rounds; it learns through the model's own ``fit``."""

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    fitted_: EarlyExitModel

    def __init__(self, estimator: Any, rounds_per_exit: int, costs: Any, n_jobs: int | None) -> None:
        self.estimator = estimator
        self.rounds_per_exit = rounds_per_exit
        self.costs = costs
        self.n_jobs = n_jobs

    @property
    def price_parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """Parameters of the estimator that are prices."""
        names = getattr(self.estimator, "price_parameters", ())
        return tuple(f"estimator__{name}" for name in names)

    # What the wrappers differ in.

    @abstractmethod
    def _default_estimator(self) -> BudgetedEstimator:
        """Return the model to use for ``estimator=None``."""

    @abstractmethod
    def _check_estimator(self, model: object) -> BudgetedEstimator:
        """Return the model if it is of the right kind, or raise TypeError."""

    @abstractmethod
    def _make_model(self, fields: dict[str, Any]) -> EarlyExitModel:
        """Return the fitted model, from the fields that both wrappers have."""

    # Learning.

    @classmethod
    def around(cls, model: Any, **params: Any) -> Self:
        """Add exits to a fitted model, which is shared, not copied.

        Parameters
        ----------
        model : fitted model
            Made of boosted trees.
        **params
            Parameters of the wrapper.

        Returns
        -------
        estimator
            Fitted.
        """
        check_is_fitted(model)
        return cls(estimator=clone(model), **params).wrap(model)

    def wrap(self, model: BudgetedEstimator) -> Self:
        """Wrap a fitted model, which is shared, and add exits to it; see `around`."""
        self._validate_params()
        return self.adopt(self._wrapped(model))

    def _wrapped(self, model: BudgetedEstimator) -> EarlyExitModel:
        check_one_sum(self._check_estimator(model))
        inner = fitted_trees(model)
        return self._make_model(
            {
                "schema": inner.schema,
                "costs": costs_by_exit(inner, int(self.rounds_per_exit)),
                "prior": inner.prior,
                "budget": inner.budget,
                "model": model,
                "rounds_per_exit": int(self.rounds_per_exit),
            }
        )

    def _unfitted(self) -> Any:
        """Return the model to fit, with the costs and threads of the wrapper in place of its own."""
        chosen = self._default_estimator() if self.estimator is None else clone(self.estimator)
        model = self._check_estimator(chosen)
        check_one_sum(model)
        given = {"costs": self.costs, "n_jobs": self.n_jobs}
        return model.set_params(**{name: value for name, value in given.items() if value is not None})

    def _learn(self, rows: TrainingSet, **options: Any) -> EarlyExitModel:
        return self._wrapped(self._unfitted().fit_rows(rows, **options))

    def _cost_sheet(self, schema: Schema) -> CostSheet:
        # Without costs of its own, the wrapper uses those of the inner model.
        return CostSheet.of(getattr(self._unfitted(), "costs", None), schema.names)
