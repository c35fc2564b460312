"""Chapter 2 of Nan's thesis: FMCC, VoC and a random order; figure 2.2 and table 2.1 beside ours.

Run `python -m experiments.papers.nan2018_neighbors [--sets NAME ...] [--draws N]`; FARTHING_DATA names the folder of the
larger tables. Each method on each draw leaves its curve in build/nan_neighbors and is not run again while it
is there, so that a run may be stopped and taken up, and sets may be run one by one (none with an empty
--sets); then the page docs/results/nan_neighbors.md and its figures are made of all that are there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from experiments.lib.forest_runs import Part
from farthing.boosting import AdaBoostClassifier
from farthing.datasets import load_table
from farthing.neighbors import MarginNeighborsClassifier, RandomOrderClassifier, ValueOfClassifier
from farthing.neighbors.acquiring import begin

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator

ROOT = Path(__file__).parent.parent
PAGE = Path(__file__).with_name("nan_neighbors_page.md")
RESULTS, CACHE = ROOT / "docs" / "results", ROOT / "build" / "nan_neighbors"
SIZES = (65, 125, 185)
# The size of figure 2.2, which the thesis does not give.
FIGURE_SIZE = 125
VOC_DRAWS, VOC_ROWS = 5, 200
# Landsat's first three classes, as its documentation numbers them.
FIRST_SOILS = ("red soil", "cotton crop", "grey soil")
# Table 2.1: actual and estimated accuracy on MiniBooNE by size of the neighbourhood and features measured.
KEYS = ("actual", "estimated")
AT = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
PUBLISHED = {
    65: (
        (0.503, 0.663, 0.746, 0.847, 0.881, 0.888, 0.895, 0.895, 0.895, 0.890, 0.895),
        (0.513, 0.657, 0.763, 0.868, 0.908, 0.914, 0.918, 0.920, 0.917, 0.905, 0.910),
    ),
    125: (
        (0.503, 0.672, 0.769, 0.870, 0.883, 0.887, 0.888, 0.891, 0.891, 0.882, 0.895),
        (0.514, 0.653, 0.778, 0.884, 0.902, 0.907, 0.910, 0.910, 0.907, 0.895, 0.909),
    ),
    185: (
        (0.503, 0.676, 0.779, 0.875, 0.879, 0.883, 0.884, 0.889, 0.892, 0.879, 0.895),
        (0.513, 0.647, 0.783, 0.887, 0.897, 0.901, 0.904, 0.904, 0.901, 0.888, 0.909),
    ),
}
# What the text says of figure 2.2: from how many features on FMCC is above VoC.
CLAIMS = {"letters": 7, "landsat": 5, "miniboone": 3}

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Draw:
    """A training and a test part; labels 0 and 1."""

    train: Part
    test: Part


# ---- tables ------------------------------------------------------------------------------------------------


def letters(draw: int) -> Draw:
    """Return 200 training and 100 test rows of each letter, those before N against the rest."""
    table = load_table("letter")
    X, names = np.asarray(table.X, dtype=np.float64), np.asarray(table.y).astype(str)
    rng = np.random.default_rng(draw)
    picked = [rng.permutation(np.flatnonzero(names == name))[:300] for name in np.unique(names)]
    train, test = (np.concatenate([rows[part] for rows in picked]) for part in (slice(200), slice(200, 300)))
    late = (names >= "N").astype(np.int64)
    return Draw(Part(X[train], late[train]), Part(X[test], late[test]))


def landsat(draw: int) -> Draw:  # noqa: ARG001 - draws differ in the rows of VoC and in random orders
    """Return the official split, the first three soils against the others."""
    table = load_table("satellite")
    X, y = np.asarray(table.X, dtype=np.float64), 1 - np.isin(table.y, FIRST_SOILS).astype(np.int64)
    test = table.split == "test"
    return Draw(Part(X[~test], y[~test]), Part(X[test], y[test]))


def miniboone(draw: int) -> Draw:
    """Return 500 training and 300 test rows of each class, standardised by the training rows.

    Rows whose detector gave no values, marked by -999, are left out.
    """
    table = load_table("miniboone_tiny")
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y).astype(np.int64)
    good = (X > -999).all(axis=1)
    X, y = X[good], y[good]
    rng = np.random.default_rng(draw)
    picked = [rng.permutation(np.flatnonzero(y == label))[:800] for label in (0, 1)]
    train, test = (np.concatenate([rows[part] for rows in picked]) for part in (slice(500), slice(500, 800)))
    Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    return Draw(Part(Z[train], y[train]), Part(Z[test], y[test]))


SETS: dict[str, tuple[str, Callable[[int], Draw], int]] = {
    "letters": ("Letters", letters, 50),
    "landsat": ("Landsat", landsat, 5),
    "miniboone": ("MiniBooNE (sample)", miniboone, 50),
}


# ---- methods -----------------------------------------------------------------------------------------------


def boosted() -> AdaBoostClassifier:
    """Return the booster of 1,000 stumps."""
    return AdaBoostClassifier(n_rounds=1000)


def estimator_of(name: str) -> Any:
    """Return the linear model of a set: stumps for the first two, a linear support vector machine."""
    return LinearSVC(random_state=0) if name == "miniboone" else boosted()


def models(name: str) -> dict[str, Any]:
    """Return the methods, which never stop before the last feature, on features as they are."""
    linear = estimator_of(name)
    shared = {"confidence": 1.0, "standardize": False}
    sizes = SIZES if name == "miniboone" else (FIGURE_SIZE,)
    return {
        **{f"fmcc{k}": MarginNeighborsClassifier(linear, n_neighbors=k, **shared) for k in sizes},
        "random": RandomOrderClassifier(linear, n_neighbors=FIGURE_SIZE, random_state=0, **shared),
        "voc": ValueOfClassifier(confidence=1.0),
    }


def stages(model: Any, X: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return the vote and its estimated accuracy after each feature, both (n_rows, n_features).

    The walks of all rows, without the account: every feature costs the same.
    """
    rows = model._ready()
    read, adds = model._inputs(X)
    prices, all_ = np.ones(X.shape[1]), np.ones(X.shape[1], dtype=np.uint8)
    votes, estimated = np.full(X.shape, np.nan), np.full(X.shape, np.nan)
    for row in range(len(X)):
        walk, step = begin(rows, seed + row), 0
        while (feature := walk.next(prices, all_)) >= 0:
            walk.hear(feature, read[row, feature], adds[row, feature])
            votes[row, step], estimated[row, step] = walk.output()
            step += 1
        # A model may give a feature no vote; the row has ended, and its last vote stays.
        votes[row, step:], estimated[row, step:] = votes[row, step - 1], estimated[row, step - 1]
    return votes, estimated


def curve(name: str, method: str, draw: int) -> dict[str, Any]:
    """Return accuracies by the number of features, on the test rows and on those that VoC is run on."""
    parts = SETS[name][1](draw)
    model = models(name)[method].fit(parts.train.X, parts.train.y)
    X, y = parts.test.X, parts.test.y
    some = np.random.default_rng(draw).permutation(len(y))[:VOC_ROWS]
    rows = some if method == "voc" else np.arange(len(y))
    votes, estimated = stages(model, X[rows], seed=1_000_000 * draw)
    right = (votes > 0) == (y[rows, np.newaxis] == 1)
    _check(model, X[rows[:20]], votes[:20], seed=1_000_000 * draw)
    return {
        "actual": right.mean(axis=0).tolist(),
        "estimated": estimated.mean(axis=0).tolist(),
        "some": (right if method == "voc" else right[some]).mean(axis=0).tolist(),
    }


def _check(model: Any, X: Floats, votes: Floats, seed: int) -> None:
    """Compare with the array calls under a budget."""
    for budget in (1, X.shape[1] // 2):
        outputs = model.decision_function(X, budget=budget, seeds=seed + np.arange(len(X)))
        assert np.array_equal(outputs, votes[:, budget - 1])


def found(name: str, method: str, draws: int, run: bool = True) -> list[dict[str, Any]]:
    """Return the curves of a method, from the cache where they are; without ``run`` only these."""
    curves = []
    for draw in range(min(draws, VOC_DRAWS if method == "voc" else SETS[name][2])):
        path = CACHE / f"{name}-{method}-{draw}.json"
        if not run and not path.exists():
            break
        if not path.exists():
            CACHE.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(curve(name, method, draw)))
            print(path.name, flush=True)
        curves.append(json.loads(path.read_text()))
    return curves


def mean(curves: list[dict[str, Any]], key: str) -> Floats:
    """Return the mean over the draws, shape (n_features,)."""
    return np.mean([curve[key] for curve in curves], axis=0)


# ---- the page ----------------------------------------------------------------------------------------------


def all_found() -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Return the curves that are in the cache, by set and method, as many of FMCC as of the random order."""
    curves = {}
    for name in SETS:
        by_method = {method: found(name, method, 50, run=False) for method in models(name)}
        n_draws = min(len(of) for method, of in by_method.items() if method != "voc")
        curves[name] = {method: of[:n_draws] for method, of in by_method.items()}
    return curves


def figure_22(curves: dict[str, dict[str, list[dict[str, Any]]]]) -> None:
    """Draw accuracy against the number of features."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), constrained_layout=True)
    styles = {
        f"fmcc{FIGURE_SIZE}": ("FMCC", "-", "C0"),
        "voc": ("VoC", "--", "C1"),
        "random": ("random order", ":", "C2"),
    }
    for axis, (name, by_method) in zip(axes, curves.items(), strict=True):
        for method, (label, line, colour) in styles.items():
            accuracy = mean(by_method[method], "actual")
            axis.plot(np.arange(1, len(accuracy) + 1), accuracy, line, color=colour, label=label)
        axis.set(title=SETS[name][0], xlabel="features measured", ylabel="accuracy")
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        axis.grid(alpha=0.3)
    axes[0].legend()
    figure.savefig(RESULTS / "nan_neighbors_figure22.png", dpi=110)
    plt.close(figure)


def figure_21(curves: dict[str, list[dict[str, Any]]]) -> None:
    """Draw table 2.1: actual and estimated accuracy, published and ours."""
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), constrained_layout=True, sharey=True)
    for axis, size in zip(axes, SIZES, strict=True):
        for label, colour, published in zip(KEYS, ("C0", "C3"), PUBLISHED[size], strict=True):
            own = mean(curves[f"fmcc{size}"], label)
            axis.plot(np.arange(1, len(own) + 1), own, color=colour, label=f"{label}, ours")
            axis.plot(AT, published, "o", mfc="none", color=colour, label=f"{label}, thesis")
        axis.set(title=f"{size} neighbours", xlabel="features measured")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("accuracy")
    axes[0].legend()
    figure.savefig(RESULTS / "nan_neighbors_table21.png", dpi=110)
    plt.close(figure)


def table_21(curves: dict[str, list[dict[str, Any]]]) -> str:
    """Return table 2.1 with our rows below the published ones."""
    lines = ["| neighbours | | " + " | ".join(map(str, AT)) + " |", "|---" * (len(AT) + 2) + "|"]
    for size in SIZES:
        for place, key in enumerate(KEYS):
            own = mean(curves[f"fmcc{size}"], key)
            for who, row in (("thesis", PUBLISHED[size][place]), ("ours", [own[at - 1] for at in AT])):
                lines.append(f"| {size} | {key}, {who} | {_cells(row)} |")
    return "\n".join(lines)


def steps_of(n_features: int) -> list[int]:
    """Return the numbers of features that the page shows."""
    return [at for at in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 25, 30, 36, 50) if at <= n_features]


def table_22(by_method: dict[str, list[dict[str, Any]]]) -> str:
    """Return accuracies of the three methods by the number of features."""
    rows = {
        "FMCC": mean(by_method[f"fmcc{FIGURE_SIZE}"], "actual"),
        "FMCC, rows of VoC": mean(by_method[f"fmcc{FIGURE_SIZE}"][: len(by_method["voc"])], "some"),
        "VoC": mean(by_method["voc"], "some"),
        "random order": mean(by_method["random"], "actual"),
    }
    at = steps_of(len(rows["VoC"]))
    lines = ["| | " + " | ".join(map(str, at)) + " |", "|---" * (len(at) + 1) + "|"]
    lines += [f"| {label} | {_cells(row[n - 1] for n in at)} |" for label, row in rows.items()]
    return "\n".join(lines)


def _cells(row: Iterable[float]) -> str:
    return " | ".join(f"{value:.3f}" for value in row)


def findings(name: str, by_method: dict[str, list[dict[str, Any]]]) -> str:
    """Say where the claims of the text hold."""
    fmcc, random = (mean(by_method[method], "actual") for method in (f"fmcc{FIGURE_SIZE}", "random"))
    fewer = len(fmcc) - 1
    above = int((fmcc > random)[:fewer].sum())
    ours = mean(by_method[f"fmcc{FIGURE_SIZE}"][: len(by_method["voc"])], "some")
    lead = ours - mean(by_method["voc"], "some")
    claim = CLAIMS[name]
    ahead = int((lead[claim - 1 :] > 0).sum())
    return (
        f"FMCC is above the random order at {above} of the {fewer} numbers of features below all (thesis: at "
        f"all of them). The thesis has it above VoC from {claim} features on: ours is so at {ahead} of these "
        f"{len(lead) - claim + 1} numbers of features, by {lead[claim - 1 :].mean():+.3f} on average; with "
        f"fewer features, by {lead[: claim - 1].mean():+.3f}."
    )


def findings_21(curves: dict[str, list[dict[str, Any]]]) -> str:
    """Say how far estimates are from what they estimate, and ours from the published."""
    lines = []
    for size in SIZES:
        actual, estimated = (mean(curves[f"fmcc{size}"], key) for key in KEYS)
        places = np.array(AT) - 1
        off, theirs = np.abs(estimated - actual)[places].mean(), np.abs(np.subtract(*PUBLISHED[size])).mean()
        apart = actual[places] - PUBLISHED[size][0]
        lines.append(
            f"- {size} neighbours: the estimate is off by {off:.3f} on average (thesis: {theirs:.3f}). Our "
            f"accuracy less the published one is {apart[:4].mean():+.3f} on average up to 15 features, "
            f"{apart[4:].mean():+.3f} from 20 on."
        )
    return "\n".join(lines)


def page(curves: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Fill the page of results."""
    filled = {
        "size": FIGURE_SIZE,
        "voc_draws": ", ".join(str(len(by_method["voc"])) for by_method in curves.values()),
        "voc_rows": VOC_ROWS,
        "table21": table_21(curves["miniboone"]),
        "table21_says": findings_21(curves["miniboone"]),
    }
    for name, by_method in curves.items():
        filled[name] = len(by_method["random"])
        filled[f"{name}_table"] = table_22(by_method)
        filled[f"{name}_says"] = findings(name, by_method)
    return PAGE.read_text().format(**filled)


def main() -> None:
    """Run what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=None, help="run these only")
    parser.add_argument("--draws", type=int, default=50, help="draws of each set (50)")
    given = parser.parse_args()
    steps = {min(given.draws, few) for few in (5, 10, 20, given.draws)}
    for draws in sorted(steps):  # so that a run that was stopped has as many of each method
        for name in SETS if given.sets is None else given.sets:
            for method in models(name):
                found(name, method, draws)
    curves = all_found()
    if all(curves[name]["voc"] for name in SETS):
        figure_22(curves)
        figure_21(curves["miniboone"])
        (RESULTS / "nan_neighbors.md").write_text(page(curves))


if __name__ == "__main__":
    main()
