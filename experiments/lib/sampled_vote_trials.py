"""The trials of Reyzin (2011): sampled votes within budgets, and along a growing number of draws."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.lib.drawn_votes import Drawn, draw_along
from experiments.lib.indicators import Table
from experiments.lib.kept_trials import Figures, kept_trial
from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier
from farthing.walks import Decisions

BUDGETS = (11.0, 21.0)
CHECKED = 20  # draws after which each curve is compared with the classifier
SAMPLINGS: Final[tuple[Literal["cost", "weight", "top"], ...]] = ("cost", "weight", "top")


@dataclass(frozen=True)
class Size:
    """How large a run is: rounds of AdaBoost, the longest curve in draws, and trials."""

    n_rounds: int = 500
    most_samples: int = 4000
    n_trials: int = 50
    n_curve: int = 50


@dataclass
class Curve:
    """Errors and features used against the number of draws, means over the trials."""

    samples: NDArray[np.int64]
    error: NDArray[np.float64]  # percent
    used: NDArray[np.float64]  # percent of the features
    full: float  # percent, AdaBoost on the same rows

    def needed(self, above: float) -> float:
        """Return the draws after which the error is at most so much above AdaBoost's, NaN if never."""
        within = self.error <= (1 + above) * self.full
        return float(self.samples[int(np.argmax(within))]) if within.any() else np.nan

    def at(self, samples: float, what: NDArray[np.float64]) -> float:
        """Return a value of the curve, between its points if need be."""
        return float(np.interp(samples, self.samples, what))


@dataclass
class Trials:
    """What each trial of one set gave, (n_trials, budgets, samplings): by cost, by weight, from the top."""

    features: float
    full: NDArray[np.float64]
    error: NDArray[np.float64]
    as_labelled: NDArray[np.float64]  # the error with tied votes for the first class
    taken: NDArray[np.float64]
    bought: NDArray[np.float64]

    def mean(self, what: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over the trials, shape (budgets, samplings)."""
        return np.asarray(what.mean(axis=0))

    def gap(self, what: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return by cost less by weight: mean and standard error over the trials, for each budget."""
        gaps = what[:, :, 0] - what[:, :, 1]
        return gaps.mean(axis=0), gaps.std(axis=0, ddof=1) / np.sqrt(len(gaps))


def grid(most: int) -> NDArray[np.int64]:
    """Return numbers of draws: each up to 20, then 10 percent more each time."""
    steps = [*range(1, 21)]
    while steps[-1] < most:
        steps.append(min(max(steps[-1] + 1, round(steps[-1] * 1.1)), most))
    return np.array(steps)


def boosted(X: NDArray[np.float64], y: NDArray[np.float64], n_rounds: int) -> AdaBoostClassifier:
    """Return the paper's ensemble: stumps that each look at one feature."""
    return AdaBoostClassifier(n_estimators=n_rounds, intercept=False).fit(X, y)


def percent_wrong(decided: Decisions, y: NDArray[np.float64], tied: float | None = 0.5) -> float:
    """Return the error in percent, where a tied vote counts as ``tied``; None: as the label it was given."""
    assert decided.probabilities is not None
    wrong = (decided.prediction != y).astype(np.float64)
    if tied is not None:
        wrong[decided.probabilities[:, 1] == 0.5] = tied
    return 100 * float(wrong.mean())


def measure_curve(table: Table, size: Size, kept: Path) -> Curve:
    """Draw by weight, without prices, and stop at each number of draws of the grid."""
    runs = [
        kept_trial(kept, f"{table.name} curve {trial}", partial(curve_trial, table, size, trial))
        for trial in range(size.n_curve)
    ]
    error, used, full = (np.mean([run[key] for run in runs], axis=0) for key in ("error", "used", "full"))
    return Curve(grid(size.most_samples), error, used, float(full))


def curve_trial(table: Table, size: Size, trial: int) -> Figures:
    """Return error and features used after each number of draws, and AdaBoost's error, all in percent."""
    X, y, fresh, truth = table.split(trial)
    ensemble = boosted(X, y, size.n_rounds)
    seeds = np.arange(len(fresh)) + trial * 1_000_000
    model = AdaBoostRSClassifier(n_samples=CHECKED, estimator=ensemble, random_state=0).fit(X, y)
    error, used = [], []
    for drawn in draw_along(model, fresh, seeds, grid(size.most_samples)):
        error.append(100 * drawn.wrong(truth).mean())
        used.append(100 * drawn.used.mean())
        if drawn.n_draws == CHECKED:
            check_drawn(drawn, model.decide(fresh, seeds=seeds), truth)
    full = percent_wrong(ensemble.decide(fresh), truth)
    return {"error": np.array(error), "used": np.array(used), "full": np.array(full)}


def check_drawn(drawn: Drawn, decided: Decisions, y: NDArray[np.float64]) -> None:
    """Hold the curve to the classifier: the same features looked at, the same rows right, wrong and tied."""
    assert np.array_equal(drawn.used, decided.acquired)
    assert 100 * drawn.wrong(y).mean() == percent_wrong(decided, y)


def measure_trials(table: Table, size: Size, threads: int, kept: Path) -> Trials:
    """Predict within both budgets, by each way of sampling, with new rows, costs and seeds in each trial."""
    runs = [
        kept_trial(kept, f"{table.name} {trial}", partial(budget_trial, table, size, threads, trial))
        for trial in range(size.n_trials)
    ]
    stacked: dict[str, Any] = {key: np.array([run[key] for run in runs]) for key in runs[0]}
    return Trials(**stacked | {"features": stacked["features"].mean()})


def budget_trial(table: Table, size: Size, threads: int, trial: int) -> Figures:
    """Return the fields of `Trials` for one trial."""
    X, y, fresh, truth = table.split(trial)
    ensemble = boosted(X, y, size.n_rounds)
    shape = (len(BUDGETS), len(SAMPLINGS))
    found = {name: np.zeros(shape) for name in ("error", "as_labelled", "taken", "bought")}
    costs = np.random.default_rng([7, trial]).random(X.shape[1])
    seeds = np.arange(len(fresh)) + trial * 1_000_000
    for place, sampling in enumerate(SAMPLINGS):
        model = AdaBoostRSClassifier(
            sampling=sampling, estimator=ensemble, costs=costs, n_jobs=threads, random_state=0
        ).fit(X, y)
        for at, budget in enumerate(BUDGETS):
            decided = model.decide(fresh, budget=budget, seeds=seeds)
            taken = model.samples_taken(fresh, budget=budget, seeds=seeds)
            found["error"][at, place] = percent_wrong(decided, truth)
            found["as_labelled"][at, place] = percent_wrong(decided, truth, tied=None)
            found["taken"][at, place] = taken.mean()
            found["bought"][at, place] = decided.acquired.sum(axis=1).mean()
    full = percent_wrong(ensemble.decide(fresh), truth)
    return {**found, "full": np.array(full), "features": np.array(float(X.shape[1]))}
