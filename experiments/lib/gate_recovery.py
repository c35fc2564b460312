"""Figure 7.2 of Nan's thesis: gradient descent on gates and local models, from a start near the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

import matplotlib as mpl
import numpy as np
from scipy.special import expit

from experiments.lib.pages import markdown
from farthing.typing import Floats

mpl.use("Agg")
from matplotlib import pyplot as plt

N_ROWS: Final = 2000
N_DEVICES: Final = 2
# Gradient steps for V, and then for W and b, in one turn.
STEPS: Final = 50
# A curve is near its goal at this.
NEAR: Final = 1e-10

# Of each turn that is kept: the turns, the loss, and 1 - cosine of V and of W with b.
Curves: TypeAlias = dict[str, list[float]]


@dataclass(frozen=True)
class Panel:
    """A panel of the figure: activation, noise of the start, step size, columns of a device, what it shows.

    A steepness is the factor inside the sigmoid; 0 means ReLU.
    """

    steepness: float
    noise: float
    step: float = 1e-2
    n_columns: int = 2
    shows: str = "loss"

    @property
    def activation(self) -> str:
        """The activation, as the thesis names it."""
        return f"sigmoid {self.steepness:g}" if self.steepness else "ReLU"

    def value(self, z: Floats) -> Floats:
        """Return how open a gate of a score is."""
        return np.asarray(expit(self.steepness * z) if self.steepness else np.maximum(z, 0.0))

    def slope(self, z: Floats, opened: Floats) -> Floats:
        """Return the derivative of `value` at a score, given the value."""
        if not self.steepness:
            return (z > 0).astype(np.float64)
        return np.asarray(self.steepness * opened * (1 - opened))


NOISES: Final = (1.0, 0.1, 0.01)
PANELS: Final = {
    **{letter: Panel(1, noise) for letter, noise in zip("abc", NOISES, strict=True)},
    **{letter: Panel(10, noise) for letter, noise in zip("def", NOISES, strict=True)},
    **{letter: Panel(0, noise) for letter, noise in zip("ghi", NOISES, strict=True)},
    "j": Panel(0, 1.0, 1e-4, 100, "cosine"),
    "k": Panel(0, 1.0, 5e-3, 10, "cosine"),
    "l": Panel(1, 1.0, 1e-4, 100, "cosine"),
    "m": Panel(1, 1.0, 1e-3, 100, "cosine"),
}


@dataclass
class Descent:
    """Parameters on their way, and the rows: V is (devices, columns), W has b as its last column."""

    panel: Panel
    readings: list[Floats]
    y: Floats
    local: Floats
    gates: Floats

    @classmethod
    def start(cls, panel: Panel, rng: np.random.Generator) -> tuple[Descent, Floats, Floats]:
        """Draw rows, the truth and a start near it; return the start and the true V and W."""
        shape = (N_DEVICES, panel.n_columns)
        readings = [rng.normal(size=(N_ROWS, panel.n_columns)) for _ in range(N_DEVICES)]
        local, gates = rng.normal(size=shape), rng.normal(size=(N_DEVICES, panel.n_columns + 1))
        descent = cls(panel, readings, np.zeros(N_ROWS), local, gates)
        descent.y = descent.predicted()
        descent.local = local + panel.noise * rng.normal(size=local.shape)
        descent.gates = gates + panel.noise * rng.normal(size=gates.shape)
        return descent, local, gates

    def scores(self) -> Floats:
        """Return the scores of the gates, (devices, rows)."""
        return np.stack([x @ w[:-1] + w[-1] for x, w in zip(self.readings, self.gates, strict=True)])

    def messages(self) -> Floats:
        """Return what the local models say, (devices, rows)."""
        return np.stack([x @ v for x, v in zip(self.readings, self.local, strict=True)])

    def predicted(self) -> Floats:
        """Return the sum of the messages by how open their gates are."""
        return np.asarray((self.panel.value(self.scores()) * self.messages()).sum(axis=0))

    def loss(self) -> float:
        """Return the mean squared error."""
        off = self.predicted() - self.y
        return float(off @ off) / N_ROWS

    def slopes(self) -> tuple[Floats, Floats]:
        """Return the gradients of the loss by V and by W with b."""
        z, sent = self.scores(), self.messages()
        opened = self.panel.value(z)
        off = 2 / N_ROWS * ((opened * sent).sum(axis=0) - self.y)
        of_gates = off * sent * self.panel.slope(z, opened)
        local = np.stack([(off * o) @ x for x, o in zip(self.readings, opened, strict=True)])
        gates = np.stack([np.append(s @ x, s.sum()) for x, s in zip(self.readings, of_gates, strict=True)])
        return local, gates

    def step_local(self) -> None:
        """Take the steps of a turn for V; the loss is a square in it, so its moments are enough."""
        opened = self.panel.value(self.scores())
        terms = np.hstack([o[:, np.newaxis] * x for x, o in zip(self.readings, opened, strict=True)])
        moments, goal = terms.T @ terms / N_ROWS, terms.T @ self.y / N_ROWS
        flat = self.local.ravel()
        for _ in range(STEPS):
            flat = flat - 2 * self.panel.step * (moments @ flat - goal)
        self.local = flat.reshape(self.local.shape)

    def step_gates(self) -> None:
        """Take the steps of a turn for W and b."""
        sent = self.messages()
        for _ in range(STEPS):
            z = self.scores()
            opened = self.panel.value(z)
            off = 2 * self.panel.step / N_ROWS * ((opened * sent).sum(axis=0) - self.y)
            slope = off * sent * self.panel.slope(z, opened)
            for device, x in enumerate(self.readings):
                self.gates[device, :-1] -= slope[device] @ x
                self.gates[device, -1] -= slope[device].sum()


def recovery(panel: Panel, *, seed: int, n_turns: int) -> Curves:
    """Descend from parameters near the truth, as section 7.1.6 does; return losses and distances by turn.

    Distances are 1 - cosine, the mean of the devices, since a ReLU gate and its local model may trade a
    factor.
    """
    descent, *truth = Descent.start(panel, np.random.default_rng(seed))
    marks = {int(turn) for turn in np.geomspace(1, n_turns, 60)}
    found: Curves = {"turns": [], "loss": [], "V": [], "W, b": []}
    for turn in range(n_turns + 1):
        if turn:
            descent.step_local()
            descent.step_gates()
        if turn in marks or not turn:
            found["turns"].append(turn)
            found["loss"].append(descent.loss())
            for name, ours, true in zip(("V", "W, b"), (descent.local, descent.gates), truth, strict=True):
                norms = np.linalg.norm(ours, axis=1) * np.linalg.norm(true, axis=1)
                found[name].append(float((1 - (ours * true).sum(axis=1) / norms).mean()))
    return found


# The page.


def draw(runs: dict[str, Curves], file: Path) -> None:
    """Draw the 13 panels of figure 7.2."""
    figure, axes = plt.subplots(5, 3, figsize=(12, 15))
    places = {letter: number for number, letter in enumerate("abcdefghijklm")}
    for letter, axis in zip("abcdefghijklm", axes.ravel(), strict=False):
        panel, run = PANELS[letter], runs[letter]
        for what in ("loss",) if panel.shows == "loss" else ("V", "W, b"):
            axis.semilogy(run["turns"], np.maximum(run[what], 1e-17), label=what)
        title = f"({letter}) {panel.activation}, noise {panel.noise:g}, step {panel.step:g}"
        if panel.shows == "cosine":
            title += f", {panel.n_columns} columns"
            axis.legend(fontsize=8)
        axis.set_title(title, fontsize=9)
        axis.set_ylabel("mean squared error" if panel.shows == "loss" else "1 - cosine", fontsize=8)
    for axis in axes.ravel()[len(places) :]:
        axis.set_axis_off()
    for axis in axes[-1]:
        axis.set_xlabel("turns")
    figure.tight_layout()
    figure.savefig(file, dpi=90)
    plt.close(figure)


def table(runs: dict[str, Curves]) -> str:
    """Return the table of the panels, at the start and at the end."""
    rows = []
    for letter, panel in PANELS.items():
        run = runs[letter]
        near = np.flatnonzero(np.array(run["loss"]) <= NEAR)
        rows.append(
            [
                letter,
                panel.activation,
                f"{panel.noise:g}",
                f"{panel.step:g}",
                panel.n_columns,
                run["turns"][-1],
            ]
            + [f"{run['loss'][place]:.1e}" for place in (0, -1)]
            + [f"{run['turns'][near[0]]:g}" if len(near) else "never"]
            + [f"{run[what][place]:.1e}" for what in ("V", "W, b") for place in (0, -1)]
        )
    header = ["panel", "activation", "noise", "step", "columns", "turns", "loss at the start", "at the end"]
    header += [f"turns to {NEAR:g}", "1 - cosine of V at the start", "at the end"]
    return markdown([*header, "1 - cosine of W, b at the start", "at the end"], rows)


def observations(runs: dict[str, Curves]) -> list[tuple[str, bool]]:
    """Return the three observations of the thesis, with figures, and whether they hold here."""

    def middle(letter: str) -> float:
        return runs[letter]["loss"][len(runs[letter]["loss"]) // 2]

    losses = {steepness: [middle(letter) for letter in of] for steepness, of in ((1, "abc"), (10, "def"))}
    down = all((np.diff(of) < 0).all() for of in losses.values())
    ends = [runs[letter]["loss"][-1] for letter in "ghi"]

    def left(letter: str) -> float:
        run = runs[letter]
        return float(np.mean([run[what][-1] / run[what][0] for what in ("V", "W, b")]))

    shares = {letter: left(letter) for letter in "jklm"}
    turn = runs["a"]["turns"][len(runs["a"]["turns"]) // 2]
    texts = [
        f"less noise at the start shifts the sigmoid's loss curve down; after {turn} turns the loss is "
        + ", and ".join(
            f"{', '.join(f'{loss:.1e}' for loss in of)} with sigmoid {steepness}"
            for steepness, of in losses.items()
        )
        + " (a to f)",
        "the noise does not matter to the convergence of ReLU's loss, which ends at "
        + f"{', '.join(f'{end:.1e}' for end in ends)} (g to i)",
        "by cosine ReLU comes to the truth much faster than the sigmoid: of 1 - cosine at the start, "
        + ", ".join(f"{100 * share:.0f} % is left in ({letter})" for letter, share in shares.items()),
    ]
    held = [down, max(ends) <= NEAR, shares["j"] < min(shares["l"], shares["m"]) / 2]
    return list(zip(texts, held, strict=True))
