"""Figure 3 of Xu, Weinberger, Chapelle (2012), the four spectral bands of satellite as descriptors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

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
    watched = ~test & (np.random.default_rng(0).random(len(y)) < 0.25)
    train = ~test & ~watched
    booster = GreedyMiserClassifier(
        n_estimators=n_estimators, max_depth=3, relative=True, costs=costs, min_samples_leaf=10
    )
    given: dict[str, Any] = {"validation": (X[watched], y[watched]), "test": (X[test], y[test])}
    path = miser_path(
        booster,
        X[train],
        y[train],
        tradeoffs=(0.0, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2),
        **given,
        n_jobs=n_jobs,
    )
    plain = path.curves[0].model
    exits_ = [EarlyExitClassifier.around(plain, threshold=s, every=10) for s in (0.4, 0.6, 0.8, 0.9, 0.99)]
    early = [(e.spend(X[test]).mean(), accuracy_score(y[test], e.predict(X[test]))) for e in exits_]
    svm = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[train], y[train]).score(X[test], y[test])
    lasso = l1_path(booster, X[train], y[train], **given, n_alphas=15)

    fig, axis = plt.subplots(figsize=(6.5, 4))
    axis.plot(
        [p.spend for p in path.best], [p.score for p in path.best], "o-", color="C3", label="Greedy Miser"
    )
    axis.plot(
        [p.spend for p in path.curves[0].points[1:]],
        [p.score for p in path.curves[0].points[1:]],
        "k--",
        lw=1,
        label="stage-wise boosting, its rounds",
    )
    axis.plot(*zip(*early, strict=True), "s-", color="C0", label="stage-wise boosting with early exit")
    axis.plot(
        [p.spend for p in lasso.best], [p.score for p in lasso.best], "^:", color="C4", label="L1 linear"
    )
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
    say(f"{train.sum()} training rows, {watched.sum()} validation, {test.sum()} test.\n")
    say("| method | setting | mean spend | accuracy |\n|---|---|---|---|")
    for p in path.best:
        say(f"| miser | trade-off {p.setting:g}, {p.n_rounds} rounds | {p.spend:.1f} | {p.score:.4f} |")
    for e, (spend, score) in zip(exits_, early, strict=True):
        say(f"| early exit | s = {e.threshold:g} | {spend:.1f} | {score:.4f} |")
    say(f"| SVM, everything | C = 10 | {costs.total(names):g} | {svm:.4f} |")
    top = max(lasso.best, key=lambda p: p.validation_score)
    say(f"| L1 linear | best on validation | {top.spend:.1f} | {top.score:.4f} |")
