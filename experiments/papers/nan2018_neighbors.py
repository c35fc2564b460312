"""Nan's thesis (2018), chapter 2: FMCC, VoC and a random order; figure 2.2 and table 2.1 beside ours.

``farthing reproduce nan2018_neighbors [--sets NAME ...] [--draws N]`` writes
docs/results/nan2018_neighbors.md and its figures. The curve of each method on each draw is kept when it is
done, so a run can be stopped and goes on where it stopped, and sets can be run one by one (none with an empty
``--sets``). ``--restate`` runs nothing and writes the text anew from the page that is there. FARTHING_DATA
must name the folder of the tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

from experiments.lib.claims import failing_first
from experiments.lib.forest_runs import Part
from experiments.lib.neighbor_claims import claims_21, claims_22
from experiments.lib.pages import RESULTS, command, options, parse, write_page
from experiments.lib.stored_pages import StoredPage, add_restate, restate
from farthing.boosting import AdaBoostClassifier
from farthing.datasets import load_table
from farthing.neighbors import MarginNeighborsClassifier, RandomOrderClassifier, ValueOfClassifier

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.ticker import MaxNLocator

NAME = "nan2018_neighbors"
PAGE = Path(__file__).with_suffix(".md")
SIZES = (65, 125, 185)
# The size of figure 2.2, which the thesis does not give.
FIGURE_SIZE = 125
VOC_DRAWS = 5
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


@dataclass(frozen=True)
class Size:
    """How large a run is: stumps of the booster, rows that VoC is run on, and one row in so many is used."""

    n_stumps: int = 1000
    voc_rows: int = 200
    shrink: int = 1

    def of(self, draw: Draw) -> Draw:
        """Return a draw in this size."""
        parts = (Part(part.X[:: self.shrink], part.y[:: self.shrink]) for part in (draw.train, draw.test))
        return Draw(*parts)


TINY = Size(n_stumps=5, voc_rows=2, shrink=40)


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


def boosted(n_stumps: int = 1000) -> AdaBoostClassifier:
    """Return the booster of stumps."""
    return AdaBoostClassifier(n_estimators=n_stumps)


def models(name: str, size: Size) -> dict[str, Any]:
    """Return the methods, which never stop before the last feature, on features as they are.

    The linear model is a linear support vector machine on MiniBooNE, and boosted stumps on the other two.
    """
    linear = LinearSVC(random_state=0) if name == "miniboone" else boosted(size.n_stumps)
    shared: dict[str, Any] = {"confidence": 1.0, "standardize": False}
    neighbours = SIZES if name == "miniboone" else (FIGURE_SIZE,)
    return {
        **{f"fmcc{k}": MarginNeighborsClassifier(linear, n_neighbors=k, **shared) for k in neighbours},
        "random": RandomOrderClassifier(linear, n_neighbors=FIGURE_SIZE, random_state=0, **shared),
        "voc": ValueOfClassifier(confidence=1.0),
    }


def stages(model: Any, X: Floats, seed: int) -> tuple[Floats, Floats]:
    """Return the vote and its estimated accuracy after each feature, both (n_rows, n_features).

    Every feature costs 1, so a budget is a number of features.
    """
    seeds, budgets = seed + np.arange(len(X)), range(1, X.shape[1] + 1)
    votes = [model.decision_function(X, budget=budget, seeds=seeds) for budget in budgets]
    estimated = [model.estimated_accuracy(X, budget=budget, seeds=seeds) for budget in budgets]
    return np.column_stack(votes), np.column_stack(estimated)


def curve(name: str, method: str, draw: int, size: Size) -> dict[str, Any]:
    """Return accuracies by the number of features, on the test rows and on those that VoC is run on."""
    parts = size.of(SETS[name][1](draw))
    model = models(name, size)[method].fit(parts.train.X, parts.train.y)
    X, y = parts.test.X, parts.test.y
    some = np.random.default_rng(draw).permutation(len(y))[: size.voc_rows]
    rows = some if method == "voc" else np.arange(len(y))
    votes, estimated = stages(model, X[rows], seed=1_000_000 * draw)
    right = (votes > 0) == (y[rows, np.newaxis] == 1)
    return {
        "actual": right.mean(axis=0).tolist(),
        "estimated": estimated.mean(axis=0).tolist(),
        "some": (right if method == "voc" else right[some]).mean(axis=0).tolist(),
    }


@dataclass(frozen=True)
class Curves:
    """The curves that are done, each in a file of a folder."""

    folder: Path
    size: Size = field(default_factory=Size)

    def found(self, name: str, method: str, draws: int, run: bool = True) -> list[dict[str, Any]]:
        """Return the curves of a method, from the folder where they are; without ``run`` only these."""
        curves = []
        for draw in range(min(draws, VOC_DRAWS if method == "voc" else SETS[name][2])):
            path = self.folder / f"{name}-{method}-{draw}.json"
            if not run and not path.exists():
                break
            if not path.exists():
                path.write_text(json.dumps(curve(name, method, draw, self.size)))
                print(path.name, flush=True)
            curves.append(json.loads(path.read_text()))
        return curves

    def all_found(self) -> dict[str, dict[str, list[dict[str, Any]]]]:
        """Return what is in the folder, by set and method, as many curves of FMCC as of the random order."""
        curves = {}
        for name in SETS:
            methods = models(name, self.size)
            by_method = {method: self.found(name, method, 50, run=False) for method in methods}
            n_draws = min(len(of) for method, of in by_method.items() if method != "voc")
            curves[name] = {method: of[:n_draws] for method, of in by_method.items()}
        return curves


def mean(curves: list[dict[str, Any]], key: str) -> Floats:
    """Return the mean over the draws, shape (n_features,)."""
    return np.asarray(np.mean([curve[key] for curve in curves], axis=0))


# ---- the page ----------------------------------------------------------------------------------------------


def figure_22(curves: dict[str, dict[str, list[dict[str, Any]]]], folder: Path) -> None:
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
    figure.savefig(folder / "nan2018_neighbors_figure22.png", dpi=110)
    plt.close(figure)


def figure_21(curves: dict[str, list[dict[str, Any]]], folder: Path) -> None:
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
    figure.savefig(folder / "nan2018_neighbors_table21.png", dpi=110)
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


def page(curves: dict[str, dict[str, list[dict[str, Any]]]], size: Size) -> str:
    """Fill the page of results."""
    filled: dict[str, str] = {
        "voc_draws": ", ".join(str(len(by_method["voc"])) for by_method in curves.values()),
        "voc_rows": str(size.voc_rows),
        "table21": table_21(curves["miniboone"]),
        "table21_says": findings_21(curves["miniboone"]),
    }
    for name, by_method in curves.items():
        filled[name] = str(len(by_method["random"]))
        filled[f"{name}_table"] = table_22(by_method)
        filled[f"{name}_says"] = findings(name, by_method)
    return fill(filled)


def fill(filled: dict[str, str]) -> str:
    """Return the page with its figures, and what they say of the thesis's claims."""
    found = [
        line
        for name, first in CLAIMS.items()
        for line in claims_22(SETS[name][0], first, filled[f"{name}_says"])
    ]
    claims = failing_first([*found, *claims_21(filled["table21"])])
    return PAGE.read_text().format(size=FIGURE_SIZE, claims=claims, **filled)


def stored(found: StoredPage) -> str:
    """Return the page anew, from the figures of the stored one."""
    filled = {}
    for name, heading in (
        ("letters", "### Letters"),
        ("landsat", "### Landsat"),
        ("miniboone", "### MiniBooNE"),
    ):
        text = found.under(heading)
        filled[f"{name}_table"], filled[f"{name}_says"] = text.split("\n\n")
        draws = re.search(rf"- {heading.split()[1]}: (\d+) draws", found.text)
        filled[name] = draws[1] if draws else str(VOC_DRAWS)
    filled["table21"], _, filled["table21_says"] = found.under("## Table 2.1").split("\n\n")[1:4]
    draws = re.search(r"- VoC: ([\d, ]+) draws .*? and (\d+) test rows", found.text)
    if draws is None:
        raise ValueError("The stored page does not say on how many rows VoC was run: run it anew.")
    filled["voc_draws"], filled["voc_rows"] = draws[1], draws[2]
    return fill(filled)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing and write the page."""
    parser = options(__doc__)
    parser.add_argument("--sets", nargs="*", choices=list(SETS), default=None, help="run these only")
    parser.add_argument("--draws", type=int, default=50, help="draws of each set (50)")
    add_restate(parser)
    given = parse(parser, NAME, arguments)
    if given.restate:
        found = StoredPage.read(RESULTS / f"{NAME}.md")
        restate(given.out / f"{NAME}.md", found, stored(found), command(NAME, "--restate"))
        return
    size, n_draws = (TINY, 1) if given.tiny else (Size(), given.draws)
    kept = Curves(given.kept, size)
    steps = {min(n_draws, few) for few in (5, 10, 20, n_draws)}
    for draws in sorted(steps):  # so that a run that was stopped has as many of each method
        for name in SETS if given.sets is None else given.sets:
            for method in models(name, size):
                kept.found(name, method, draws)
    curves = kept.all_found()
    if all(curves[name]["voc"] for name in SETS):
        figure_22(curves, given.out)
        figure_21(curves["miniboone"], given.out)
        write_page(given.out, NAME, page(curves, size), command(NAME))


if __name__ == "__main__":
    main()
