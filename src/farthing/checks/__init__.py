"""The contract as checks: the invariants that every estimator of Farthing keeps, for any estimator.

With pytest::

    @pytest.mark.parametrize(("name", "check"), yield_checks(MyClassifier()))
    def test_contract(name, check):
        check()

One module per invariant: blindness, walk_agreement, account, budgets, free_is_free, round_trip, repeatable,
scikit_learn_checks. The problems they run on are in problems.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

# Each module adds its checks when it is imported; the order is that of the invariants.
from farthing.checks import blindness  # isort: skip  # noqa: F401
from farthing.checks import walk_agreement  # isort: skip  # noqa: F401
from farthing.checks import account  # isort: skip  # noqa: F401
from farthing.checks import budgets  # isort: skip  # noqa: F401
from farthing.checks import free_is_free  # isort: skip
from farthing.checks import round_trip  # isort: skip  # noqa: F401
from farthing.checks import repeatable  # isort: skip  # noqa: F401
from farthing.checks import scikit_learn_checks  # isort: skip  # noqa: F401
from farthing.checks.fitting import CheckedEstimator, tradeoff_of
from farthing.checks.problems import Tables, problems
from farthing.checks.suite import CHECKS

__all__ = ["yield_checks"]


def yield_checks(
    estimator: Any, *, plain: Any = None, tables: Tables = "all", refits: bool = True
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the checks of the contract for an estimator, each with its name.

    Parameters
    ----------
    estimator : estimator
        An instance; it is cloned, never changed. The checks set ``costs``, ``budget``, ``tradeoff``,
        ``random_state`` and ``n_jobs`` where it has them and leave its other parameters alone. A class
        describes itself by class attributes:

        - ``budget_kind = "hard"`` if its ``budget`` caps every row;
        - ``rows_are_independent = False`` if its unit is a query of many rows. It is exempt from the
          checks of row independence;
        - ``fits_every_row = True`` if it learns until every row is right, so that a class of next to no
          weight is predicted all the same, which scikit-learn's checks of ``class_weight`` do not expect;
        - ``asks = "devices"`` if its walks ask devices and not columns. It has ``messages``, and a
          prediction may depend on the messages of devices that send and on no others.
    plain : estimator, optional
        A cost-blind model; if given, the estimator must make the same predictions once all costs are zero.
    tables : {"all", "narrow", "mixed", "small"}
        What to check on. "all": floats, text and numbers, and a table with more columns than a machine word
        has bits. "narrow": the first two. "mixed": text and numbers. "small": one of few rows, for an
        estimator that is slow to fit.
    refits : bool
        Whether to include the checks that refit the estimator, some twenty times in all, in addition to those
        of one model per table.

    Yields
    ------
    name : str
        What must hold: the invariant, a colon, and the case.
    check : callable
        Takes nothing; raises AssertionError if it does not hold.

    Examples
    --------
    >>> from farthing.checks import yield_checks
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> name, check = next(yield_checks(DecisionTreeClassifier()))
    >>> name
    'blindness: entries not acquired may be anything'
    >>> check()
    Traceback (most recent call last):
    ...
    AssertionError: DecisionTreeClassifier has no acquired(): it does not keep the contract
    """
    has = {name for name, value in estimator.get_params().items() if name != "tradeoff" or value is not None}
    if tradeoff_of(estimator) is not None:
        has.add("tradeoff")
    checked = CheckedEstimator(estimator, problems(estimator, tables))
    for check in CHECKS:
        if check.row_independence and not getattr(estimator, "rows_are_independent", True):
            continue
        if has.issuperset(check.needed) and (refits or not check.refits):
            yield check.name, partial(check.run, checked)
    if plain is not None:
        yield (
            "free is free: with zero costs it is the plain model",
            partial(free_is_free.check_plain, checked, plain),
        )
