"""The variants of a fitted model that a guarantee is tested on, from the most careful to the boldest.

Their order must not depend on the rows of the test. It is that of nominal budgets, thresholds or shares of
rows, which are known without any row, or that of what other rows spend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from farthing.base import AnyBudgetMixin, BudgetedEstimator, Guarantee

# Nominal budgets that are tested, as parts of the budget of the guarantee, and of the cost of all features.
_OF_BUDGET: Final = np.linspace(0.05, 1.5, 59)
_OF_WHOLE: Final = np.geomspace(1.0, 0.005, 40)
# Rows by whose mean spend variants are put in order.
_ORDERING: Final = 4000


@dataclass(frozen=True)
class Ladder:
    """Variants by what they are told apart by: a nominal budget, a threshold, a share of rows.

    Attributes
    ----------
    rungs : tuple
        From the variant that spends least to the one that spends most.
    whole : object
        The rung of the model that pays the full price.
    make : callable
        From a rung to the variant.
    is_ordered : bool
        Whether the order cannot be wrong, as that of the thresholds of one gate: no rows are asked for it.
    """

    rungs: tuple[Any, ...]
    whole: Any
    make: Callable[[Any], BudgetedEstimator]
    is_ordered: bool = False


@runtime_checkable
class HasLadder(Protocol):
    """An estimator whose variants are not those of nominal budgets, or not only."""

    def guarantee_ladder(self, guarantee: Guarantee) -> Ladder:
        """Return the variants that a guarantee is tested on."""
        ...


def ladder_of(model: Any, guarantee: Guarantee) -> Ladder:
    """Return the variants of a fitted model, or raise TypeError if it has none."""
    if isinstance(model, HasLadder):
        return model.guarantee_ladder(guarantee)
    if not isinstance(model, AnyBudgetMixin):
        name = type(model).__name__
        raise TypeError(f"{name} cannot be moved to another budget, so there are no variants to choose from")
    refuse_hard(model)
    return Ladder(tuple(nominal_budgets(model, guarantee)), None, model.at)


def by_spend(ladder: Ladder, X: Any) -> Ladder:
    """Return the ladder in the order of the mean spend of some rows; of equal ones, as it was.

    Parameters
    ----------
    ladder : Ladder
    X : array or frame, shape (n_rows, n_features)
        Rows that are not in the test.
    """
    if ladder.is_ordered:
        return ladder
    made = {rung: ladder.make(rung) for rung in ladder.rungs}
    spends = {rung: float(np.mean(model.spend(X))) for rung, model in made.items()}
    return replace(ladder, rungs=tuple(sorted(ladder.rungs, key=spends.__getitem__)))


def ordering_rows(n_rows: int) -> NDArray[np.int64]:
    """Return which of the learned rows order a ladder: at most 4,000, evenly spaced.

    Examples
    --------
    >>> ordering_rows(3)
    array([0, 1, 2])
    """
    return np.linspace(0, n_rows - 1, min(n_rows, _ORDERING)).astype(np.int64)


def refuse_hard(model: Any) -> None:
    """Raise ValueError if a model has a hard budget, which no row exceeds."""
    if getattr(model, "budget_kind", "mean") == "hard":
        name = type(model).__name__
        raise ValueError(f"a hard budget holds on every row already; fit {name} with budget_kind='mean'")


def nominal_budgets(model: BudgetedEstimator, guarantee: Guarantee) -> Sequence[float]:
    """Return the nominal budgets to test, ascending."""
    if guarantee.budget is not None:
        return [float(part) for part in guarantee.budget * _OF_BUDGET]
    costs = model.fitted_.costs
    return [float(part) for part in (costs.total(costs.features) * _OF_WHOLE)[::-1]]
