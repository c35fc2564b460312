"""The list of checks, and the decorators that add to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from farthing.checks.fitting import CheckedEstimator
from farthing.checks.problems import Problem

OnEstimator: TypeAlias = Callable[[CheckedEstimator, Problem], None]
OnModel: TypeAlias = Callable[[Any, Problem], None]


@dataclass(frozen=True)
class Check:
    """One check of the contract.

    Attributes
    ----------
    name : str
        The invariant, a colon, and the case.
    run : callable
        Takes the estimator under check; raises AssertionError if the invariant does not hold.
    needed : tuple of str
        Parameters without which the check does not apply to an estimator.
    row_independence : bool
        Whether it compares rows predicted alone with rows predicted together. Estimators with
        ``rows_are_independent = False``, whose unit is a query, are exempt.
    refits : bool
        Whether it fits several models.
    """

    name: str
    run: Callable[[CheckedEstimator], None]
    needed: tuple[str, ...] = ()
    row_independence: bool = False
    refits: bool = False


# In the order of the invariants: the order in which the modules are imported.
CHECKS: list[Check] = []


def estimator_check(name: str, *needed: str, wide: bool = False) -> Callable[[OnEstimator], OnEstimator]:
    """Add a check that fits the estimator itself, several times.

    Parameters
    ----------
    name : str
        The invariant, a colon, and the case.
    *needed : str
        Parameters that the estimator must have.
    wide : bool
        Whether to run on tables of many columns as well.
    """

    def add(holds: OnEstimator) -> OnEstimator:
        def run(checked: CheckedEstimator) -> None:
            for problem in checked.problems:
                if wide or not problem.is_wide:
                    holds(checked, problem)

        CHECKS.append(Check(name, run, needed, refits=True))
        return holds

    return add


def model_check(name: str, *, row_independence: bool = False) -> Callable[[OnModel], OnModel]:
    """Add a check of the model that the estimator gives on each problem.

    Parameters
    ----------
    name : str
        The invariant, a colon, and the case.
    row_independence : bool
        Whether the check is only for estimators that predict each row independently.
    """

    def add(holds: OnModel) -> OnModel:
        def run(checked: CheckedEstimator) -> None:
            for problem in checked.problems:
                holds(checked.fit(problem), problem)

        CHECKS.append(Check(name, run, row_independence=row_independence))
        return holds

    return add
