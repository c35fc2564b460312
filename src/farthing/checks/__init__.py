"""The contract as checks: what every estimator of Farthing keeps, for any estimator that wants to keep it.

With pytest::

    @pytest.mark.parametrize(("name", "check"), yield_checks(MyClassifier()))
    def test_contract(name, check):
        check()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

# Each enters its checks, in the order of the design.
from farthing.checks import blindness, one_truth, account, free, keeping, scikit_learn  # isort: skip  # noqa: F401
from farthing.checks.entry import CHECKS, ROWS_ALONE, Models, rate_of

__all__ = ["yield_checks"]

Check: TypeAlias = Callable[[], None]


def yield_checks(estimator: Any, *, plain: Any = None) -> Iterator[tuple[str, Check]]:
    """Yield the checks of the contract for an estimator, each with its name.

    Parameters
    ----------
    estimator : estimator
        An instance; it is cloned, never changed. The checks set ``costs``, ``budget``, ``tradeoff``,
        ``random_state`` and ``n_jobs`` where it has them and leave its other parameters alone. A class that
        has another name for its trade-off gives it as ``_tradeoff``. A class whose ``budget`` caps every row
        says so by ``_hard_budget = True``; one whose rows are not predicted one by
        one, since its unit is a query, by ``_rows_alone = False``: it is exempt from the checks of row
        independence. One whose ``budget`` is a share of what everything costs says
        ``_budget_is_share = True``. One that asks devices, not columns, says ``_asks_columns = False``, and
        has ``messages``: its walks are told what devices say, and it may look at the messages of those that
        speak alone.
    plain : estimator, optional
        A model that knows no costs; if given, the estimator must predict what it predicts once all costs are
        zero.

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
    if rate_of(estimator) is not None:
        has.add("tradeoff")
    models = Models(estimator)
    for name, holds, needed in CHECKS:
        if name in ROWS_ALONE and not getattr(estimator, "_rows_alone", True):
            continue
        if has.issuperset(needed):
            yield name, partial(holds, models)
    if plain is not None:
        yield (
            "free is free: with zero costs it is the plain model",
            partial(free.check_plain, estimator, plain),
        )
