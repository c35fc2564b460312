"""Figure 3 of Xu, Weinberger, Chapelle (2012), the four spectral bands of satellite as descriptors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from experiments.lib.curves import best, curves
from farthing.base import Point
from farthing.boosting import GreedyMiserClassifier, l1_path, miser_path
from farthing.cascades import EarlyExitClassifier
from farthing.costs import CostSheet, Group
from farthing.datasets import load_table


def figure_3(n_estimators: int, n_jobs: int, file: Path, say: Callable[[str], None]) -> None:
    """Draw accuracy against cost on satellite, whose four spectral bands share a cost each."""
    data = load_table("satellite")
    names = [f"x{column}" for column in range(len(data.feature_names))]
    bands = {
        f"band {b}": Group(
            10.0, [x for x, n in zip(names, data.feature_names, strict=True) if n.endswith(f"band{b}")]
        )
        for b in (1, 2, 3, 4)
    }
    costs = CostSheet(dict.fromkeys(names, 1.0), bands)
    X, y, test = data.X.to_numpy(dtype=np.float64), np.asarray(data.y), np.asarray(data.split) == "test"
    held_out = ~test & (np.random.default_rng(0).random(len(y)) < 0.25)
    train = ~test & ~held_out
    booster = GreedyMiserClassifier(
        n_estimators=n_estimators, max_depth=3, relative=True, costs=costs, min_samples_leaf=10
    )
    given: dict[str, Any] = {"validation": (X[held_out], y[held_out]), "test": (X[test], y[test])}
    path = miser_path(
        booster,
        X[train],
        y[train],
        tradeoffs=(0.0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
        **given,
        n_jobs=n_jobs,
    )
    by_tradeoff = curves(path)
    circles = [best(curve) for curve in by_tradeoff]
    rounds = by_tradeoff[0].points[1:]
    plain = by_tradeoff[0][-1].model
    with_exits = [
        EarlyExitClassifier.around(plain, threshold=s, rounds_per_exit=10) for s in (0.4, 0.6, 0.8, 0.9, 0.99)
    ]
    early = [(e.spend(X[test]).mean(), accuracy_score(y[test], e.predict(X[test]))) for e in with_exits]
    svm = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[train], y[train]).score(X[test], y[test])
    lasso = l1_path(booster, X[train], y[train], **given, n_alphas=15)

    fig, axis = plt.subplots(figsize=(6.5, 4))
    axis.plot(*on_test(circles), "o-", color="C3", label="Greedy Miser")
    axis.plot(*on_test(rounds), "k--", lw=1, label="stage-wise boosting, its rounds")
    axis.plot(*zip(*early, strict=True), "s-", color="C0", label="stage-wise boosting with early exit")
    axis.plot(*on_test(lasso), "^:", color="C4", label="L1 linear")
    axis.plot([costs.total(names)], [svm], "*", ms=12, color="C1", label="SVM on everything")
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

    say("\n### satellite, four spectral bands as descriptors\n")
    say(f"A band costs 10, a pixel of it 1 more; everything costs {costs.total(names):g}.")
    say(f"{train.sum()} training rows, {held_out.sum()} validation, {test.sum()} test.\n")
    say("| method | setting | mean spend | accuracy |\n|---|---|---|---|")
    for p in circles:
        say(
            f"| miser | trade-off {p.params['tradeoff']:g}, {p.details['n_rounds']} rounds "
            f"| {p.test_spend:.1f} | {p.test_score:.4f} |"
        )
    for e, (spend, score) in zip(with_exits, early, strict=True):
        say(f"| early exit | s = {e.threshold:g} | {spend:.1f} | {score:.4f} |")
    say(f"| SVM, everything | C = 10 | {costs.total(names):g} | {svm:.4f} |")
    top = best(lasso)
    say(f"| L1 linear | best on validation | {top.test_spend:.1f} | {top.test_score:.4f} |")


def on_test(points: Iterable[Point]) -> tuple[list[float], list[float]]:
    """Return what points spend and score on test rows."""
    every = list(points)
    return [p.test_spend for p in every], [p.test_score for p in every]
