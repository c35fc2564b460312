"""Figures 1 and 2 of Xu, Weinberger, Chapelle (ICML 2012)."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from experiments.lib.curves import best, curves, setting
from experiments.lib.price_levels import bought_by_price
from experiments.lib.ranking_methods import CRONUS, EARLY, MISER, PLAIN, SUBSETS, K, Model
from farthing.base import Frontier

COLOURS = {MISER: "C3", EARLY: "C0", CRONUS: "C1", SUBSETS: "C2", PLAIN: "k"}


def figure_1(name: str, path: Frontier, methods: dict[str, list[Model]], file: Path) -> None:
    """Draw the rounds of each trade-off, and the methods' best of each setting side by side."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), sharey=True)
    by_tradeoff = curves(path)
    colours = plt.colormaps["viridis"](np.linspace(0, 0.9, len(by_tradeoff)))
    for curve, colour in zip(by_tradeoff, colours, strict=True):
        label = "stage-wise (0)" if setting(curve) == 0 else f"{setting(curve):.1g}"
        points = curve.points[1:]
        spends, scores = [p.test_spend for p in points], [p.test_score for p in points]
        left.plot(spends, scores, "--", color=colour, lw=1, label=label)
    circles = sorted((best(curve) for curve in by_tradeoff), key=lambda p: p.test_spend)
    spends, scores = [p.test_spend for p in circles], [p.test_score for p in circles]
    left.plot(spends, scores, "o-", color="C3", mfc="none", label="best")
    left.legend(title="trade-off", fontsize=7)
    left.set(title=f"{name}: test NDCG under more rounds", xlabel="mean test-time cost", ylabel=f"NDCG@{K}")
    for method, models in methods.items():
        at = sorted((m.spend, m.scores.mean()) for m in models if m.best)
        right.plot(*zip(*at, strict=True), "o-", ms=4, color=COLOURS[method], label=method)
    right.set(title="best rounds on validation, by setting", xlabel="mean test-time cost", xscale="symlog")
    right.legend(fontsize=8)
    low = min(m.scores.mean() for models in methods.values() for m in models if m.best)
    left.set_ylim(bottom=low - 0.02)
    fig.tight_layout()
    fig.savefig(file, dpi=110)
    plt.close(fig)


def figure_2(path: Frontier, file: Path) -> None:
    """Draw the share of features bought, by price, over the trade-offs."""
    fig, axis = plt.subplots(figsize=(6.5, 4))
    by_tradeoff = curves(path)
    levels = [bought_by_price(best(curve).model) for curve in by_tradeoff]
    places = np.arange(len(levels))
    for i, level in enumerate(levels[0]):
        shares = [at[i].n_bought / at[i].n_features for at in levels]
        axis.plot(places, shares, "o-", ms=3, label=f"c = {level.price:g} ({level.n_features})")
    axis.set_xticks(places, [f"{setting(curve):.2g}" for curve in by_tradeoff], fontsize=8, rotation=45)
    axis.set(
        title="features bought at the best round", xlabel="trade-off", ylabel="fraction of used features"
    )
    axis.legend(title="feature cost", fontsize=8)
    fig.tight_layout()
    fig.savefig(file, dpi=110)
    plt.close(fig)
