"""How checks are entered, and the models that they share."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

from farthing.checks.trial import (
    Problem,
    fit,
    problems,
)

OnModels: TypeAlias = Callable[["Models"], None]
OnProblem: TypeAlias = Callable[[Any, Problem], None]

# Name, what is checked, and the parameters without which an estimator has no part in it; all in the order of
# the design.
CHECKS: list[tuple[str, OnModels, tuple[str, ...]]] = []
# Names of the checks that predict a row without its neighbours, or with others; they are for estimators whose
# rows are predicted one by one, as those of a class that says ``_rows_alone = False`` are not.
ROWS_ALONE: set[str] = set()


class Models:
    """The estimator, and what it gives when it is fitted on every small table: once, for many checks."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @cached_property
    def fitted(self) -> list[tuple[Any, Problem]]:
        """The models, each with its table; a check must not change them."""
        return [(fit(self.estimator, problem), problem) for problem in problems(self.estimator)]


def rate_name(estimator: Any) -> str:
    """Return what the estimator calls its trade-off."""
    return str(getattr(estimator, "_tradeoff", "tradeoff"))


def rate_of(estimator: Any) -> float | None:
    """Return the trade-off of an estimator; None is one that it does not make."""
    return estimator.get_params().get(rate_name(estimator))  # type: ignore[no-any-return]


def check(name: str, *needed: str) -> Callable[[OnProblem], OnProblem]:
    """Enter a check of an estimator, to be run on every small table."""

    def enter(hold: OnProblem) -> OnProblem:
        def run(models: Models) -> None:
            for problem in problems(models.estimator):
                hold(models.estimator, problem)

        CHECKS.append((name, run, needed))
        return hold

    return enter


def model_check(name: str, *, rows_alone: bool = False) -> Callable[[OnProblem], OnProblem]:
    """Enter a check of a model, to be run on one fitted on every small table."""

    def enter(hold: OnProblem) -> OnProblem:
        def run(models: Models) -> None:
            for model, problem in models.fitted:
                hold(model, problem)

        if rows_alone:
            ROWS_ALONE.add(name)
        CHECKS.append((name, run, ()))
        return hold

    return enter
