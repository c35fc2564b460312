"""Figure 3 of Xu, Weinberger, Chapelle (2012), the four spectral bands of satellite as descriptors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.lib.curves import best, curves
from experiments.lib.pages import commit
from farthing.base import Frontier, Point
from farthing.boosting import GreedyMiserClassifier, l1_path, miser_path
from farthing.cascades import EarlyExitClassifier
from farthing.costs import CostSheet, Group
from farthing.datasets import load_table

MISER, EARLY, LINEAR, SVM = "miser", "early exit", "L1 linear", "SVM, everything"
SHARE, PAPER = 0.99, 0.5  # the paper: similar accuracy as the SVM with half its cost


@dataclass(frozen=True)
class Setting:
    """One setting of a method, on validation rows and on test rows.

    Attributes
    ----------
    method, setting : str
    validation_spend, validation_score, spend, score : float
        Mean spends and accuracies.
    """

    method: str
    setting: str
    validation_spend: float
    validation_score: float
    spend: float
    score: float


@dataclass(frozen=True)
class SatelliteResults:
    """What the methods reached, as many settings of each.

    Attributes
    ----------
    sizes : str
    full_cost : float
        Of all features.
    settings : sequence of Setting
    commit : str
        The code that fitted the models.
    """

    sizes: str
    full_cost: float
    settings: Sequence[Setting]
    commit: str

    def save(self, file: Path) -> None:
        """Write the results as JSON."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read what `save` wrote."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        return cls(**{**fields, "settings": [Setting(**each) for each in fields["settings"]]})

    def of(self, method: str) -> list[Setting]:
        """Return the settings of one method."""
        return [s for s in self.settings if s.method == method]

    @property
    def svm(self) -> Setting:
        """The SVM that is best on validation rows."""
        return max(self.of(SVM), key=lambda s: s.validation_score)

    def pick(self, method: str) -> Setting | None:
        """Return the cheapest setting with 99 % of the SVM's accuracy, both on validation rows."""
        able = [s for s in self.of(method) if s.validation_score >= SHARE * self.svm.validation_score]
        return min(able, key=lambda s: s.validation_spend, default=None)

    def holds(self, method: str = MISER) -> bool:
        """Return whether a method has the SVM's accuracy on test rows, too, for half its cost."""
        chosen = self.pick(method)
        if chosen is None:
            return False
        return chosen.spend <= PAPER * self.full_cost and chosen.score >= SHARE * self.svm.score


@dataclass(frozen=True)
class _Parts:
    """Rows to learn from, to choose by and to report on."""

    X: NDArray[np.float64]
    y: NDArray[Any]
    train: NDArray[np.bool_]
    held_out: NDArray[np.bool_]
    test: NDArray[np.bool_]

    def setting(self, method: str, name: str, model: Any, cost: float | None = None) -> Setting:
        """Evaluate a fitted model; ``cost`` is what a row pays if the model has no account of it."""
        figures: list[float] = []
        for rows in (self.held_out, self.test):
            X, y = self.X[rows], self.y[rows]
            figures += [float(model.spend(X).mean()) if cost is None else cost, float(model.score(X, y))]
        return Setting(method, name, *figures)


def satellite(n_estimators: int, n_tries: int, n_jobs: int, file: Path) -> SatelliteResults:
    """Fit the methods on satellite, whose four spectral bands share a cost each, and draw the figure."""
    data = load_table("satellite")
    names = [f"x{column}" for column in range(len(data.feature_names))]
    bands = {
        f"band {b}": Group(
            10.0, [x for x, n in zip(names, data.feature_names, strict=True) if n.endswith(f"band{b}")]
        )
        for b in (1, 2, 3, 4)
    }
    costs = CostSheet(dict.fromkeys(names, 1.0), bands)
    full_cost = float(costs.total(names))
    y, test = np.asarray(data.y), np.asarray(data.split) == "test"
    held_out = ~test & (np.random.default_rng(0).random(len(y)) < 0.25)
    parts = _Parts(data.X.to_numpy(dtype=np.float64), y, ~test & ~held_out, held_out, test)
    booster = GreedyMiserClassifier(
        n_estimators=n_estimators,
        max_depth=3,
        relative=True,
        costs=costs,
        min_samples_leaf=10,
        multi_strategy="one_output_per_tree",
    )
    learn = (parts.X[parts.train], parts.y[parts.train])
    given: dict[str, Any] = {
        "validation": (parts.X[held_out], y[held_out]),
        "test": (parts.X[test], y[test]),
    }
    path = miser_path(booster, *learn, tradeoffs=n_tries, **given, n_jobs=n_jobs)
    lasso = l1_path(booster, *learn, **given, n_alphas=n_tries)
    machines = [
        make_pipeline(StandardScaler(), SVC(C=c)).fit(*learn) for c in np.geomspace(0.1, 1000, n_tries)
    ]
    plain = best(curves(path)[0]).model
    exits = [
        EarlyExitClassifier.around(plain, threshold=1 - doubt, rounds_per_exit=10)
        for doubt in np.geomspace(0.6, 0.001, n_tries)
    ]
    settings = [
        *(
            _of_point(MISER, f"trade-off {_value(p):.2g}, {p.details['n_rounds']} rounds", p)
            for p in circles(path)
        ),
        *(parts.setting(EARLY, f"s = {e.threshold:.3g}", e) for e in exits),
        *(_of_point(LINEAR, f"penalty {_value(p):.2g}", p) for p in lasso),
        *(parts.setting(SVM, f"C = {m[-1].C:.3g}", m, full_cost) for m in machines),
    ]
    sizes = f"{parts.train.sum()} training rows, {held_out.sum()} validation, {test.sum()} test"
    results = SatelliteResults(sizes, full_cost, settings, commit())
    figure_3(results, curves(path)[0].points[1:], file)
    return results


def circles(path: Frontier) -> list[Point]:
    """Return the best round of each trade-off."""
    return [best(curve) for curve in curves(path)]


def _value(point: Point) -> float:
    (value,) = point.params.values()
    return float(value)


def _of_point(method: str, setting: str, point: Point) -> Setting:
    return Setting(
        method, setting, point.spend, point.score, float(point.test_spend), float(point.test_score)
    )


def figure_3(results: SatelliteResults, rounds: Iterable[Point], file: Path) -> None:
    """Draw accuracy against cost on test rows."""
    styles = {MISER: ("o-", "C3"), EARLY: ("s-", "C0"), LINEAR: ("^:", "C4")}
    fig, axis = plt.subplots(figsize=(6.5, 4))
    every = list(rounds)
    axis.plot(
        [p.test_spend for p in every], [p.test_score for p in every], "k--", lw=1, label="plain, its rounds"
    )
    for method, (style, colour) in styles.items():
        at = sorted((s.spend, s.score) for s in results.of(method))
        axis.plot(*zip(*at, strict=True), style, color=colour, ms=4, label=method)
    axis.plot([results.full_cost], [results.svm.score], "*", ms=12, color="C1", label=SVM)
    axis.set(
        title="satellite, four spectral bands",
        xlabel="mean test-time cost",
        ylabel="accuracy",
        ylim=(0.6, 0.95),
    )
    axis.legend(fontsize=8, loc="lower right")
    fig.tight_layout()
    fig.savefig(file, dpi=110)
    plt.close(fig)
