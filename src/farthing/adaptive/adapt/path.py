"""The sweep of the appendix: trade-offs, shares and learning rates, and the frontier on validation rows."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from joblib import Parallel, delayed

from farthing.adaptive.adapt.base import AdaptClassifier
from farthing.adaptive.adapt.sweep import AdaptSweep
from farthing.base import Frontier, Point

# Whether to report to stderr, or a function of (settings done, settings in all).
Progress: TypeAlias = bool | Callable[[int, int], None]


def adapt_path(
    estimator: AdaptClassifier,
    X: Any,
    y: Any,
    *,
    validation: tuple[Any, Any],
    test: tuple[Any, Any] | None = None,
    tradeoffs: Iterable[float] | None = None,
    p_fulls: Iterable[float] | None = None,
    learning_rates: Iterable[float] | None = None,
    grid: Mapping[str, Iterable[Any]] | None = None,
    shares: Iterable[float] = (),
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: Progress = False,
) -> Frontier:
    """Fit an Adapt model at each setting, and evaluate each on validation rows.

    The expensive model is fitted once, and predicts out of fold once; the Greedy Miser that trees start from
    is grown once for all ``p_fulls``. Settings are fitted in parallel, one thread each; any number of threads
    gives the same models.

    Parameters
    ----------
    estimator : AdaptLinClassifier, AdaptGbrtClassifier, AdaptLstsqClassifier or L1GateClassifier
        All other parameters. It is cloned, never changed.
    X, y : array or frame, array
        The training rows.
    validation, test : tuple (X, y)
        Rows that select the models, and rows that are only reported; None reports those of ``validation``.
    tradeoffs, p_fulls, learning_rates : iterable of float, optional
        Settings, all combinations of them; None keeps that of the estimator.
    grid : mapping of str to iterable, optional
        Values of further parameters, by name.
    shares : iterable of float
        Further thresholds for each model, given as shares of the validation rows to send on.
    sample_weight : array, shape (n_rows,), optional
        Weights of the training rows.
    n_jobs : int, optional
        Number of settings fitted in parallel, as in joblib.
    progress : bool or callable
        Whether to report to stderr, or a function of (settings done, settings in all).

    Returns
    -------
    Frontier
        In the order of the settings. The score is the accuracy; ``details`` hold the gate's ``threshold`` and
        the share of test rows ``sent`` to the expensive model; ``reference`` is the expensive model alone.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.adaptive import AdaptLinClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = X[:, 0] + (X[:, 0] > 0) * X[:, 1] > 0
    >>> model = AdaptLinClassifier(n_alternations=5, random_state=0)
    >>> held_out = (X[200:], y[200:])
    >>> path = adapt_path(model, X[:200], y[:200], validation=held_out, tradeoffs=[0.001, 0.1], p_fulls=[0.3])
    >>> [len(point.model.pair_.used) for point in path]
    [2, 1]
    """
    if not isinstance(estimator, AdaptClassifier):
        raise TypeError(f"adapt_path takes an Adapt model; got {type(estimator).__name__}")
    if estimator.budget is not None:
        raise ValueError("a path takes no budget; choose within one by path.within(budget)")
    given = {"tradeoff": tradeoffs, "p_full": p_fulls, "learning_rate": learning_rates, **(grid or {})}
    lists = {name: list(values) for name, values in given.items() if values is not None}
    if unknown := set(lists) - set(estimator.get_params(deep=False)):
        raise ValueError(f"{type(estimator).__name__} has no parameter {', '.join(sorted(unknown))}")
    settings = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    sweep = AdaptSweep(
        estimator, (X, y, sample_weight), validation=validation, test=test, shares=tuple(shares)
    )
    report = _print if progress is True else progress
    found: list[list[Point]] = []
    # Threads, not processes: all settings share the tables, the expensive model and the cache.
    jobs = (delayed(sweep.fit)(params) for params in settings)
    for points in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
        found.append(points)
        if callable(report):
            report(len(found), len(settings))
    return Frontier(
        tuple(itertools.chain.from_iterable(found)),
        score_name="accuracy",
        unit=sweep.costs.unit,
        full_cost=sweep.costs.total(sweep.costs.features),
        reference=sweep.reference(),
    )


def _print(done: int, total: int) -> None:
    print(f"\radapt_path: {done} of {total} settings", end="\n" if done == total else "", file=sys.stderr)
