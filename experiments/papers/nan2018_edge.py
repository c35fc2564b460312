"""Nan's thesis (2018), chapter 7: edge devices, accuracy for fewer messages, and the recovery of parameters.

``farthing reproduce nan2018_edge [--parts NAME ...]`` writes docs/results/nan2018_edge.md and its figures.
The numbers of each fit are kept when they are done and not run again. FARTHING_DATA must name the folder of
the tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier

from experiments.lib import gate_recovery
from experiments.lib.gate_recovery import PANELS, recovery
from experiments.lib.pages import command, options, parse, write_page
from farthing.adaptive import EdgeClassifier
from farthing.datasets import load_table

mpl.use("Agg")
from matplotlib import pyplot as plt

NAME: Final = "nan2018_edge"
METHODS: Final[dict[str, dict[str, Any]]] = {
    "direct, sigmoid": {"training": "direct"},
    "direct, ReLU": {"training": "direct", "activation": "relu"},
    "relaxed": {"training": "relaxed", "max_steps": 40},
}


@dataclass(frozen=True)
class Size:
    """How large a study is: budgets and trade-offs, rows kept, and turns of the recovery."""

    budgets: tuple[float, ...] = (0.25, 0.5, 0.75)
    tradeoffs: tuple[float, ...] = (0.03, 0.1, 0.3)
    shrink: int = 1  # one row in so many is left
    n_turns: int = 1000  # of the recovery, and of its panels with 100 columns
    n_wide_turns: int = 200
    seed: int = 0

    def fits(self) -> list[tuple[str, float, float]]:
        """Return method, budget and trade-off of every fit of a problem."""
        grid = [*itertools.product(METHODS, self.budgets, self.tradeoffs)]
        # The thesis trains the relaxed form without a trade-off, too.
        return grid + [("relaxed", budget, 0.0) for budget in self.budgets]


TINY: Final = Size(budgets=(0.5,), tradeoffs=(0.1,), shrink=60, n_turns=1, n_wide_turns=1)


@dataclass(frozen=True)
class Part:
    """Training, validation and test rows of a problem, and its devices."""

    devices: dict[str, list[int]]
    train: tuple[NDArray[np.float64], NDArray[Any]]
    validation: tuple[NDArray[np.float64], NDArray[Any]]
    test: tuple[NDArray[np.float64], NDArray[Any]]

    def shrunk(self, shrink: int) -> Part:
        """Return one row in so many of each part."""
        parts = ((X[::shrink], y[::shrink]) for X, y in (self.train, self.validation, self.test))
        return Part(self.devices, *parts)


def wearable(seed: int = 0) -> Part:
    """Make 5 devices and 13 classes: a device confuses some classes, each device others.

    A device has 8 readings; it sees the classes as eight kinds, and a little of what sets the classes of one
    kind apart. One row in twelve looks like another class to all devices. Spreads are such that
    1-nearest-neighbour on one device is about as good as on one sensor of WARD.
    """
    rng = np.random.default_rng(seed)
    n_rows, n_devices, n_classes, n_kinds, width = 6000, 5, 13, 8, 8
    y = rng.integers(0, n_classes, n_rows)
    shown = np.where(rng.random(n_rows) < 1 / 12, rng.integers(0, n_classes, n_rows), y)
    parts = []
    for _ in range(n_devices):
        kind = rng.permutation(n_classes) % n_kinds
        centre = 1.1 * rng.normal(size=(n_kinds, width))[kind] + 0.8 * rng.normal(size=(n_classes, width))
        parts.append(centre[shown] + rng.normal(size=(n_rows, width)))
    X = np.hstack(parts)
    devices = {f"device {k}": list(range(k * width, (k + 1) * width)) for k in range(n_devices)}
    cuts = (slice(0, 2500), slice(2500, 3500), slice(3500, None))
    return Part(devices, *((X[cut], y[cut]) for cut in cuts))


def satellite() -> Part:
    """Take the four spectral bands of satellite as devices, nine pixels each."""
    data = load_table("satellite")
    X, y, test = data.X.to_numpy(dtype=np.float64), np.asarray(data.y), np.asarray(data.split) == "test"
    validation = ~test & (np.random.default_rng(0).random(len(y)) < 0.25)
    devices = {
        f"band {b}": [c for c, name in enumerate(data.feature_names) if name.endswith(f"band{b}")]
        for b in (1, 2, 3, 4)
    }
    return Part(devices, *((X[rows], y[rows]) for rows in (~test & ~validation, validation, test)))


PARTS: Final[dict[str, Callable[[], Part]]] = {"wearable": wearable, "satellite": satellite}


@dataclass(frozen=True)
class Study:
    """A study in some size, whose results are kept in a folder."""

    size: Size
    folder: Path

    def file(self, name: str) -> Path:
        """Return where a result is kept."""
        return self.folder / f"{name}.json"

    def kept(self, name: str) -> Any:
        """Return a result that is there."""
        return json.loads(self.file(name).read_text())

    def keep(self, name: str, work: Callable[[], Any]) -> None:
        """Compute a result and keep it, unless it is there."""
        if not self.file(name).exists():
            self.file(name).write_text(json.dumps(work()))
            print(name, flush=True)

    def chosen(self, name: str, method: str, budget: float) -> dict[str, Any]:
        """Return the fit of the trade-off that is best on the validation rows."""
        rates = (0.0, *self.size.tradeoffs) if method == "relaxed" else self.size.tradeoffs
        fits = [self.kept(f"{name}-{method}-{budget}-{rate}") | {"tradeoff": rate} for rate in rates]
        return max(fits, key=lambda found: float(found["validation"]))

    def recovered(self) -> dict[str, dict[str, list[float]]]:
        """Return the runs of the recovery, by the letter of their panel."""
        return {letter: self.kept(f"recovery-{letter}") for letter in PANELS}


def evaluated(model: EdgeClassifier, part: Part) -> dict[str, Any]:
    """Return accuracy and the share of devices that sent a message, on validation and on test rows."""
    shares = {"validation": part.validation, "test": part.test}
    made: dict[str, Any] = {name: model.score(*rows) for name, rows in shares.items()}
    for name, (X, _) in shares.items():
        made[f"{name}_share"] = float(model.acquired(X).mean())
    made["by_device"] = model.acquired(part.test[0]).mean(axis=0).tolist()
    return made


def fit(part: Part, **params: Any) -> dict[str, Any]:
    """Fit on the training rows, with the threshold set on the validation rows."""
    model = EdgeClassifier(part.devices, random_state=0, **params)
    return evaluated(model.fit(*part.train, validation=part.validation), part)


def baselines(part: Part) -> dict[str, Any]:
    """Return the accuracy of 1-nearest-neighbour on each device, of their vote, and of fixed devices."""
    (X, y), (Xw, yw), (Xt, yt) = part.train, part.validation, part.test
    classes, codes = np.unique(y, return_inverse=True)
    votes = np.zeros((len(yt), len(classes)))
    nearest = {}
    for name, columns in part.devices.items():
        model = KNeighborsClassifier(1).fit(X[:, columns], codes)
        predicted = model.predict(Xt[:, columns])
        votes[np.arange(len(yt)), predicted] += 1
        nearest[name] = float((classes[predicted] == yt).mean())
    fixed = {}
    for n_devices in range(1, len(part.devices)):
        best = (-1.0, 0.0, "")
        for names in itertools.combinations(part.devices, n_devices):
            some = {name: part.devices[name] for name in names}
            model = EdgeClassifier(some, tradeoff=0.0).fit(X, y)
            best = max(best, (model.score(Xw, yw), model.score(Xt, yt), ", ".join(names)))
        fixed[str(n_devices / len(part.devices))] = best[1:]
    vote = float((classes[votes.argmax(axis=1)] == yt).mean())
    return {"nearest": nearest, "vote": vote, "fixed": fixed}


def run_part(study: Study, name: str) -> None:
    """Fit every method of a problem at every budget."""
    part = PARTS[name]().shrunk(study.size.shrink)
    study.keep(f"{name}-all", lambda: fit(part, tradeoff=0.0))
    study.keep(f"{name}-baselines", lambda: baselines(part))
    for method, budget, tradeoff in study.size.fits():
        params = METHODS[method] | {"tradeoff": tradeoff, "budget_share": budget}
        study.keep(f"{name}-{method}-{budget}-{tradeoff}", partial(fit, part, **params))


def recover(study: Study) -> None:
    """Run the recovery of every panel of figure 7.2."""
    for letter, panel in PANELS.items():
        n_turns = study.size.n_wide_turns if panel.n_columns >= 100 else study.size.n_turns
        work = partial(recovery, panel, seed=study.size.seed, n_turns=n_turns)
        study.keep(f"recovery-{letter}", work)


def draw_budgets(study: Study, names: list[str], folder: Path) -> None:
    """Draw accuracy against the share of messages."""
    figure, axes = plt.subplots(1, len(names), figsize=(5.5 * len(names), 4.2), squeeze=False)
    for axis, name in zip(axes[0], names, strict=True):
        whole, base = study.kept(f"{name}-all"), study.kept(f"{name}-baselines")
        for method, mark in zip(METHODS, "os^", strict=True):
            fits = [study.chosen(name, method, budget) for budget in study.size.budgets]
            axis.plot([f["test_share"] for f in fits], [f["test"] for f in fits], f"{mark}-", label=method)
        shares = sorted(base["fixed"], key=float)
        axis.plot(
            [float(s) for s in shares], [base["fixed"][s][0] for s in shares], "k:", label="fixed devices"
        )
        axis.plot([1], [whole["test"]], "kD", label="all devices speak")
        axis.plot([1], [base["vote"]], "k*", ms=10, label="vote of 1-NN")
        axis.axhline(0.95 * whole["test"], color="grey", lw=0.8, ls="--", label="95 % of all devices")
        axis.set(title=name, xlabel="share of messages sent", ylabel="test accuracy")
        axis.legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(folder / "nan2018_edge.png", dpi=110)
    plt.close(figure)


def page(study: Study, names: list[str], recovered: bool) -> str:
    """Return the page."""
    seen = gate_recovery.observations(study.recovered()) if recovered else []
    lines = [
        *first_lines(study, names, [text for text, holds in seen if not holds]),
        "Each device has a gate and a local linear model; a message "
        "costs 1 whoever sends it. The trade-off of each method is chosen among "
        f"{', '.join(f'{rate:g}' for rate in study.size.tradeoffs)} (and 0 for the relaxed training, as in "
        "the thesis) by the accuracy on validation rows; the threshold of the gates is set on them to the "
        "budget; what is shown is of test rows. *wearable*: "
        + " ".join((wearable.__doc__ or "").split("\n\n")[1].split())
        + " *satellite* has its official split, a quarter of the training rows for validation, and its four "
        "spectral bands as devices. *Fixed devices* are the best set of that many devices by validation, all "
        "of which speak always.",
        "",
    ]
    for name in names:
        lines += part_section(study, name)
    if names:
        lines += ["![Accuracy against messages](nan2018_edge.png)", ""]
    lines += [
        "The thesis reports for WARD: direct, sigmoid: 0.80 at a budget of 0.254; relaxed: about 0.72 at "
        "0.26; direct with ReLU: 0.822 at 0.90, 0.825 at 0.75, 0.796 at 0.61, 0.761 at 0.48; 1-NN 0.662 to "
        "0.806 on single sensors and 0.8865 by their vote.",
        "",
    ]
    if recovered:
        lines += recovery_section(study, seen)
    return "\n".join(lines).rstrip() + "\n"


def first_lines(study: Study, names: list[str], missed: list[str]) -> list[str]:
    """Return what does not hold, what is missing, and what differs from the thesis."""
    failures = [f"{name}: {lead}" for name in names if (lead := relaxed_leads(study, name))]
    direct = f"Not here: {'; '.join(failures)}." if failures else "That holds here at every budget."
    lines = [
        "# Edge devices, section 7.1 of Nan's thesis",
        "",
        "- **What does not hold.** Direct training is better than relaxed at the same budget, says the "
        f"thesis. {direct}",
    ]
    lines += [f"  On {name}: {behind(study, name)}" for name in names]
    lines += [f"  Figure 7.2, not here: {text}." for text in missed]
    return [
        *lines,
        "- **What is not there.** WARD, the data of the thesis, is not available; *wearable*, a seeded "
        "synthetic of 5 devices and 13 classes, is in its place. Projected training (7.5) is for regression, "
        "on which the thesis has no figures.",
        "- **What differs.** L-BFGS on all rows, not Adam on batches of 100. Relaxed training takes proximal "
        "steps to convergence, not 20 Frank-Wolfe steps of 0.01 in each of 30 alternations. Local "
        "intercepts are penalised. A threshold for all gates is set to the budget on validation rows.",
        "",
    ]


def relaxed_leads(study: Study, name: str) -> str:
    """Return at which budgets the relaxed training is more accurate on test rows than both direct ones."""
    found = []
    for budget in study.size.budgets:
        relaxed, *direct = (
            study.chosen(name, method, budget)["test"]
            for method in ("relaxed", "direct, sigmoid", "direct, ReLU")
        )
        if relaxed > max(direct):
            found.append(f"{relaxed:.3f} against {max(direct):.3f} at {budget:g}")
    return ", ".join(found)


def recovery_section(study: Study, seen: list[tuple[str, bool]]) -> list[str]:
    """Return the lines on the recovery of the parameters."""
    size = study.size
    said = " ".join(
        f"({number}) {text}: {'so here' if holds else 'not here'}."
        for number, (text, holds) in enumerate(seen, start=1)
    )
    return [
        "## Recovery of the parameters, section 7.1.6 (figure 7.2)",
        "",
        f"Adaptive sparse regression (7.1) without a budget: {gate_recovery.N_ROWS} rows, 2 devices, "
        "parameters drawn from N(0, 1); the start is the truth plus noise. "
        f"{gate_recovery.STEPS} gradient steps for V, then as many for W and b, {size.n_turns} times; panels "
        f"with 100 columns {size.n_wide_turns} times, where the thesis has 1000. Panels, noises and step "
        "sizes are those of the thesis, one draw each. Steps are on the mean squared error: on the sum over "
        "the rows, as the thesis writes it, they would diverge.",
        "",
        gate_recovery.table(study.recovered()),
        "",
        "![Losses and distances against turns](nan2018_edge_recovery.png)",
        "",
        f"The thesis observes: {said}",
    ]


def part_section(study: Study, name: str) -> list[str]:
    """Return the lines on one problem."""
    whole, base = study.kept(f"{name}-all"), study.kept(f"{name}-baselines")

    def row(label: str, share: float, accuracy: float, budget: str = "", tradeoff: str = "") -> str:
        of_all = f"{100 * accuracy / whole['test']:.1f} %"
        return f"| {label} | {budget} | {tradeoff} | {share:.3f} | {accuracy:.4f} | {of_all} |"

    lines = [
        f"## {name}",
        "",
        f"All devices speak: test accuracy {whole['test']:.4f}; 95 % of it is {0.95 * whole['test']:.4f}.",
        "",
        "| method | budget | trade-off | share sent | accuracy | of all devices' |",
        "|---|---|---|---|---|---|",
    ]
    for method, budget in itertools.product(METHODS, study.size.budgets):
        found = study.chosen(name, method, budget)
        terms = f"{budget:g}", f"{found['tradeoff']:g}"
        lines.append(row(method, found["test_share"], found["test"], *terms))
    for share in sorted(base["fixed"], key=float):
        accuracy, which = base["fixed"][share]
        lines.append(row(f"fixed: {which}", float(share), accuracy))
    for device, accuracy in base["nearest"].items():
        lines.append(row(f"1-NN, {device}", 1 / len(base["nearest"]), accuracy))
    lines.append(row("1-NN, majority vote", 1.0, base["vote"]))
    half = {method: study.chosen(name, method, 0.5) for method in METHODS}
    met = [method for method, found in half.items() if found["test"] >= 0.95 * whole["test"]]
    return [
        *lines,
        "",
        f"At half of the messages, 95 % is kept by: {', '.join(met) or 'none'}.",
        "",
    ]


def behind(study: Study, name: str) -> str:
    """Return where gates are behind fixed sets of devices, on the straight line between these sets."""
    whole, base = study.kept(f"{name}-all"), study.kept(f"{name}-baselines")
    shares = sorted(base["fixed"], key=float)
    x = [*(float(share) for share in shares), 1.0]
    y = [*(base["fixed"][share][0] for share in shares), whole["test"]]
    found = []
    for method, budget in itertools.product(METHODS, study.size.budgets):
        fit = study.chosen(name, method, budget)
        lack = float(np.interp(fit["test_share"], x, y)) - fit["test"]
        if lack > 0:
            found.append(f"{method} at {budget:g} (by {lack:.3f})")
    return f"behind fixed devices, on the straight line between their numbers: {', '.join(found) or 'none'}."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is not there yet and write the page."""
    parser = options(__doc__)
    every = [*PARTS, "recovery"]
    parser.add_argument("--parts", nargs="*", choices=every, default=every)
    given = parse(parser, NAME, arguments)
    if given.tiny:
        given.parts = ["satellite", "recovery"]
    study = Study(TINY if given.tiny else Size(), given.kept)
    for name in given.parts:
        recover(study) if name == "recovery" else run_part(study, name)
    n_fits = 2 + len(study.size.fits())
    names = [name for name in PARTS if len(list(given.kept.glob(f"{name}-*"))) == n_fits]
    recovered = all(study.file(f"recovery-{letter}").exists() for letter in PANELS)
    if names:
        draw_budgets(study, names, given.out)
    if recovered:
        gate_recovery.draw(study.recovered(), given.out / f"{NAME}_recovery.png")
    text = page(study, names, recovered)
    print(text)
    write_page(given.out, NAME, text, command(NAME))


if __name__ == "__main__":
    main()
