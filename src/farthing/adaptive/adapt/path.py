"""The sweep of the appendix: tradeoffs, shares and learning rates, with the efficient frontier by validation."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from farthing.adaptive.adapt.base import AdaptClassifier
from farthing.adaptive.adapt.expensive_model import ExpensiveModelTrainer, Prepared, Rows
from farthing.base.inputs import check_weights
from farthing.costs import CostSheet
from farthing.table import Schema

# Whether to report to stderr, or a function of (settings done, settings in all).
Progress: TypeAlias = bool | Callable[[int, int], None]


@dataclass(frozen=True, slots=True, eq=False)
class AdaptPoint:
    """One system of a path.

    Attributes
    ----------
    params : mapping
        The settings that the path goes over.
    threshold : float
        The gate's.
    validation_spend, spend : float
        What a row pays, in the mean over the validation and over the test rows.
    validation_score, score : float
        Accuracy on them.
    sent : float
        Share of the test rows that go to the expensive model.
    model : AdaptClassifier or None
        The model, at the threshold; None for the expensive model alone.
    """

    params: Mapping[str, Any]
    threshold: float
    validation_spend: float
    validation_score: float
    spend: float
    score: float
    sent: float
    model: AdaptClassifier | None


@dataclass(frozen=True, slots=True, eq=False)
class AdaptPath:
    """All systems of a sweep, and the expensive model that they approximate.

    Attributes
    ----------
    points : tuple of AdaptPoint
        In the order of the settings.
    full : AdaptPoint
        The system that sends every row on: accuracy and spend of the expensive model, alone.
    n_validation : int
        How many validation rows there are.
    """

    points: tuple[AdaptPoint, ...]
    full: AdaptPoint
    n_validation: int

    def __iter__(self) -> Iterator[AdaptPoint]:
        """Go over all points."""
        return iter(self.points)

    @property
    def frontier(self) -> tuple[AdaptPoint, ...]:
        """The points that no other beats on the validation rows, by ascending spend."""
        ordered = sorted(self.points, key=lambda point: (point.validation_spend, -point.validation_score))
        best: list[AdaptPoint] = []
        for point in ordered:
            if not best or point.validation_score > best[-1].validation_score:
                best.append(point)
        return tuple(best)

    def within(self, spend: float) -> AdaptPoint | None:
        """Return the point of the highest validation score whose validation rows pay at most that, if any."""
        fits = [point for point in self.frontier if point.validation_spend <= spend * (1 + 1e-12)]
        return fits[-1] if fits else None

    @property
    def validation_error(self) -> float:
        """The standard error of the expensive model's accuracy on the validation rows."""
        share = self.full.validation_score
        return math.sqrt(share * (1 - share) / self.n_validation)

    def near(self, loss: float, errors: float = 0.0) -> AdaptPoint | None:
        """Return the cheapest point whose validation accuracy is within ``loss`` of the expensive model's.

        Parameters
        ----------
        loss : float
            How much accuracy may be lost.
        errors : float
            Standard errors by which the point has to be better than that. Of many points the cheapest that
            seems to be within the loss is among the luckiest; with few validation rows, 1 is wise.
        """
        least = self.full.validation_score - loss + errors * self.validation_error
        return next((point for point in self.frontier if point.validation_score >= least), None)


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
) -> AdaptPath:
    """Fit an Adapt model at each setting, and judge each on validation rows.

    The expensive model is fitted once, and asked out of fold once; the Greedy Miser that trees start from is
    grown once for all ``p_fulls``. Settings are fitted in parallel threads,
    one thread each; any number gives the same models.

    Parameters
    ----------
    estimator : AdaptLinClassifier, AdaptGbrtClassifier, AdaptLstsqClassifier or L1GateClassifier
        All other parameters. It is cloned, never changed.
    X, y : array or frame, array
        The training rows.
    validation, test : tuple (X, y)
        Rows that the frontier is chosen on, and rows that are reported; without ``test`` those of
        ``validation``.
    tradeoffs, p_fulls, learning_rates : iterable of float, optional
        Settings, all combinations of them; None leaves that of the estimator.
    grid : mapping of str to iterable, optional
        More parameters to go over, by name.
    shares : iterable of float
        Further thresholds for each model: those that send such shares of the validation rows on.
    sample_weight : array, shape (n_rows,), optional
        Weights of the training rows.
    n_jobs : int, optional
        Settings fitted at a time, as in joblib.
    progress : bool or callable
        Whether to report to stderr, or a function of (settings done, settings in all).

    Returns
    -------
    AdaptPath

    Examples
    --------
    >>> from farthing.adaptive import AdaptLinClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3))
    >>> y = X[:, 0] + (X[:, 0] > 0) * X[:, 1] > 0
    >>> model = AdaptLinClassifier(n_alternations=5, random_state=0)
    >>> held = (X[200:], y[200:])
    >>> path = adapt_path(model, X[:200], y[:200], validation=held, tradeoffs=[0.001, 0.1], p_fulls=[0.3])
    >>> [len(point.model.pair_.used) for point in path]
    [3, 1]
    """
    if not isinstance(estimator, AdaptClassifier):
        raise TypeError(f"a path is one of an Adapt model; got {type(estimator).__name__}")
    if estimator.budget is not None:
        raise ValueError("a path has no budget; choose within one by path.within(budget)")
    given = {"tradeoff": tradeoffs, "p_full": p_fulls, "learning_rate": learning_rates, **(grid or {})}
    lists = {name: list(values) for name, values in given.items() if values is not None}
    if unknown := set(lists) - set(estimator.get_params(deep=False)):
        raise ValueError(f"{type(estimator).__name__} has no {', '.join(sorted(unknown))} to go over")
    settings = [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
    ground = Ground(estimator, X, y, sample_weight, validation, test, list(shares))
    report = _print if progress is True else progress
    found: list[list[AdaptPoint]] = []
    jobs = (delayed(ground.fit)(params) for params in settings)
    for points in Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(jobs):
        found.append(points)
        if callable(report):
            report(len(found), len(settings))
    return AdaptPath(tuple(itertools.chain.from_iterable(found)), ground.full(), ground.n_validation)


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """Rows that systems are judged on, and what the expensive model says and looks at, asked once."""

    values: NDArray[np.floating]
    labels: NDArray[Any]
    right: NDArray[np.bool_]
    acquired: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class _Account:
    """What rows pay and whether they are right, if they stay and if they are sent on."""

    gate: NDArray[np.float64]
    spend: tuple[NDArray[np.float64], NDArray[np.float64]]
    right: tuple[NDArray[np.bool_], NDArray[np.bool_]]

    def at(self, threshold: float) -> tuple[float, float, float]:
        """Return mean spend, accuracy and the share of rows that are sent on."""
        sent = self.gate > threshold
        spend, right = np.where(sent, *self.spend[::-1]), np.where(sent, *self.right[::-1])
        return float(spend.mean()), float(right.mean()), float(sent.mean())


class Ground:
    """What all settings share: the tables, and the expensive model with its words.

    Parameters
    ----------
    estimator, X, y, sample_weight, validation, test, shares
        As in `adapt_path`.
    """

    def __init__(  # noqa: PLR0917 - the arguments of the public call, one by one
        self,
        estimator: AdaptClassifier,
        X: Any,
        y: Any,
        sample_weight: Any,
        validation: tuple[Any, Any],
        test: tuple[Any, Any] | None,
        shares: list[float],
    ) -> None:
        self._estimator = estimator
        self._training = (X, y, sample_weight)
        self._shares = shares
        self._template = clone(estimator)
        self._prepared = self._prepare()
        self._validation = self._judged(*validation)
        self._test = self._validation if test is None else self._judged(*test)

    def _prepare(self) -> Prepared:
        X, y, sample_weight = self._training
        model, name = self._template, type(self._template).__name__
        model._adopt(Schema.learn(X, name))
        values = model.schema_.encode(X, name).values
        target = model._learn_target(y)
        weights = check_weights(sample_weight, len(values))
        rows = Rows(values, target, weights).take(weights > 0)
        model.costs_ = CostSheet.of(model.costs, model.schema_.names)
        shop = ExpensiveModelTrainer(model.schema_, model.costs_, model.classes_, model.expensive_features)
        n_folds = model.n_folds if model._needs_words else None
        # The user's own model, which clone would have made an unfitted one of.
        prepared = shop.prepare(
            self._estimator.expensive, rows, n_folds, check_random_state(model.random_state)
        )
        model.expensive_ = prepared.model
        return prepared

    def _judged(self, X: Any, y: Any) -> _Judged:
        encoded = self._template.schema_.encode(X, type(self._template).__name__)
        encoded.check()
        labels = np.asarray(y)
        said, acquired = self._template._alone(encoded.values)
        right = self._template.classes_[said.argmax(axis=1)] == labels
        return _Judged(encoded.values, labels, right, acquired)

    @property
    def n_validation(self) -> int:
        """How many validation rows there are."""
        return len(self._validation.labels)

    @property
    def expensive(self) -> Any:
        """The expensive model as it was given."""
        return self._estimator.expensive

    def fit(self, params: dict[str, Any], estimator: AdaptClassifier | None = None) -> list[AdaptPoint]:
        """Fit one setting, of another estimator with the same expensive model and folds if one is given.

        Returns
        -------
        list of AdaptPoint
            One for each threshold: 0, and those of the shares.
        """
        X, y, sample_weight = self._training
        model = clone(self._estimator if estimator is None else estimator).set_params(**params)
        if "n_jobs" in model.get_params(deep=False):
            model.set_params(n_jobs=1)
        model._learn(X, y, sample_weight, prepared=self._prepared)
        watched = self._account(model, self._validation)
        reported = watched if self._test is self._validation else self._account(model, self._test)
        thresholds = [0.0]
        if self._shares:
            levels = [1 - share for share in self._shares]
            thresholds += np.quantile(watched.gate, levels, method="higher").tolist()
        return [
            AdaptPoint(params, at, *watched.at(at)[:2], *reported.at(at), model._at(at)) for at in thresholds
        ]

    def full(self) -> AdaptPoint:
        """Return the expensive model, as a system that buys nothing before it."""
        total = self._template.costs_.total_rows
        said = [
            (float(total(part.acquired).mean()), float(part.right.mean()))
            for part in (self._validation, self._test)
        ]
        return AdaptPoint({}, -np.inf, *said[0], *said[1], 1.0, None)

    def _account(self, model: AdaptClassifier, part: _Judged) -> _Account:
        scores, acquired = model.pair_.answers(part.values)
        stays = model._conclude(model._settle(model._stay(scores), acquired))
        right = model.classes_[stays.argmax(axis=1)] == part.labels
        total = model.costs_.total_rows
        spend = total(acquired), total(acquired | part.acquired)
        return _Account(np.ascontiguousarray(scores[:, 0]), spend, (right, part.right))


def _print(done: int, total: int) -> None:
    print(f"\radapt_path: {done} of {total} settings", end="\n" if done == total else "", file=sys.stderr)
