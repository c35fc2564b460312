"""What both methods are told about training, and the check that PyTorch is there."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from numbers import Real
from typing import Any, Final

from farthing.base import SweepContext
from farthing.base.parameters import FRACTION, JOBS, NON_NEGATIVE, POSITIVE, Interval, at_least
from farthing.costs import per_price

#: Constraints of the parameters that both methods have.
CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE, None],
    "hidden_units": ["array-like"],
    "dropout": [Interval(Real, 0, 1, closed="left")],
    "max_questions": [at_least(1)],
    "n_epochs": [at_least(1)],
    "batch_size": [at_least(1)],
    "learning_rate": [POSITIVE],
    "validation_fraction": [FRACTION],
    "n_iter_no_change": [at_least(1)],
    "random_state": ["random_state"],
    "n_jobs": JOBS,
}


@dataclass(frozen=True)
class TrainingSettings:
    """Settings of the training, as the parameters of the estimators.

    Attributes
    ----------
    is_blind : bool
        Whether prices do not count in what is bought first; budgets do.
    budget : float or None
        What a row may spend.
    """

    hidden_units: tuple[int, ...]
    dropout: float
    max_questions: int
    n_epochs: int
    batch_size: int
    learning_rate: float
    validation_fraction: float
    n_iter_no_change: int
    is_blind: bool
    budget: float | None
    seed: int


def tradeoffs(context: SweepContext) -> dict[str, list[Any]]:
    """Return what a sweep tries: no trade-off, and a few nats for the mean price of a feature."""
    costs = context.costs
    mean = costs.total(costs.features) / len(costs.features) or 1.0
    return {"tradeoff": [None, *(float(per_price(nats, mean)) for nats in (0.01, 0.03, 0.1))]}


def require_torch() -> None:
    """Raise ImportError, with the command that installs it, unless PyTorch is there.

    Raises
    ------
    ImportError
        Its name is that of the module that is missing.
    """
    try:
        import_module("torch")
    except ImportError as error:
        raise ImportError(
            "farthing.deep trains with PyTorch, which its fitted models do without: "
            "pip install 'farthing[deep]'",
            name="torch",
        ) from error
