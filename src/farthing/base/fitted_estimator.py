"""An estimator and the model that it fitted: whether it is there, and its fields as attributes."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from farthing.base.changed_parameters import Snapshot, advice
from farthing.base.fitted import FittedModel
from farthing.base.inputs import check_cap, n_threads
from farthing.base.reference import Reference
from farthing.labels import Labels

BudgetKind: TypeAlias = Literal["hard", "mean"]
"""Whether a budget holds for every row or on average."""


class FittedEstimator(BaseEstimator):  # type: ignore[misc]
    """What estimators hold: the fitted model, and what the class says of it."""

    model_type: ClassVar[type[FittedModel]]
    #: Constraints of the parameters, see `farthing.base.parameters`.
    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    #: What ``budget`` limits: the spend of every row, or the mean spend; a parameter where both are possible.
    budget_kind: BudgetKind = "mean"
    #: What walks ask for and the ledger lists: columns of the table, or devices that measure several columns.
    asks: ClassVar[Literal["columns", "devices"]] = "columns"
    #: Parameters that are prices beside ``costs``, such as that of evaluating a tree.
    price_parameters: tuple[str, ...] = ()
    #: Whether the prediction of a row depends on this row alone; False where the rows of a query are ranked.
    rows_are_independent: ClassVar[bool] = True
    #: Whether fits draw rows by a hash of their values, so that the order of the rows does not matter.
    draws_by_content: ClassVar[bool] = False

    fitted_: FittedModel
    # That of the class, for a model without labels.
    _labels: Labels = Labels()
    # What the model did on rows at fit, see `with_reference`.
    _reference: Reference | None = None
    # What the parameters were at the fit; that of the class, for a model from an older pickle, has none.
    _fit_parameters: Snapshot = Snapshot()

    def hard_cap(self) -> float | None:
        """Return the hard budget per row as a number; None if there is none."""
        cap = check_cap(getattr(self, "budget", None))
        return cap if self.budget_kind == "hard" else None

    def check_ready(self) -> None:
        """Raise NotFittedError before `fit`; warn if a parameter was changed since, which has no effect."""
        if not self.__sklearn_is_fitted__():  # check_is_fitted takes as long as a short walk
            check_is_fitted(self)
        if names := self._fit_parameters.changes(self):
            warnings.warn(advice(self, names), UserWarning, stacklevel=3)

    def n_threads(self) -> int:
        """Return the number of threads that the ``n_jobs`` parameter means; 1 for methods without one."""
        return n_threads(getattr(self, "n_jobs", None))

    def __getattr__(self, name: str) -> Any:
        # Called only when normal lookup fails. `__dict__` and not `self.fitted_`, which would recurse when
        # copy or pickle look for attributes of an object that is not initialised yet.
        model, field = self.__dict__.get("fitted_"), name[:-1]
        if model is not None and name.endswith("_") and _is_value(type(model), field):
            return getattr(model, field)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "fitted_" in self.__dict__


def _is_value(model_type: type, name: str) -> bool:
    """Return whether a name is that of a field or a property, rather than of a method."""
    fields = getattr(model_type, "__dataclass_fields__", {})
    return name in fields or isinstance(getattr(model_type, name, None), property | cached_property)
