"""The regret of `OnlineGate` (EXP3.G, chapter 6 of Nan's thesis) on adversarial and stochastic streams.

Run `python -m experiments.online_gate [--streams NAME ...]`. Each stream leaves its regrets in
build/online_gate and is not run again while they are there; then the page docs/results/online_gate.md and its
figure are made of all that are there.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from farthing.adaptive import OnlineGate, Panel
from farthing.adaptive.exp3 import DOUBLING, bound

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parent.parent
RESULTS, CACHE = ROOT / "docs" / "results", ROOT / "build" / "online_gate"

N_RUNS: Final = 200
ROUNDS: Final = (500, 1000, 2000, 4000, 8000)
N_EXPERTS: Final = 16  # and the one that always asks
COST: Final = 0.3

# Gates' scores and what the local models lose, (n_rounds, N_EXPERTS) each.
Stream: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]


def thresholds(n_rounds: int, run: int) -> Stream:
    """Stochastic: a local model that is unsure near zero, and gates that send on what is nearer than theirs.

    Each run draws its own contexts and labels.
    """
    rng = np.random.default_rng([run, n_rounds])
    x = rng.normal(size=n_rounds)
    wrong = rng.random(n_rounds) < 0.5 * np.exp(-2 * np.abs(x))
    scores = np.linspace(0, 2, N_EXPERTS) - np.abs(x)[:, np.newaxis]
    return scores, np.repeat(wrong.astype(np.int64)[:, np.newaxis], N_EXPERTS, axis=1)


def lower_bound(n_rounds: int, run: int) -> Stream:
    """Stochastic, section 6.3: no gate asks, and one expert of all is better than a coin by epsilon.

    epsilon is (ln K / 16 T)^(1/3), so that the longer the stream, the harder it is to tell it.
    """
    rng = np.random.default_rng([run, n_rounds, 1])
    epsilon = (np.log(N_EXPERTS) / (16 * n_rounds)) ** (1 / 3)
    # The expert that always asks loses COST, so the others must be below it to matter.
    means = np.full(N_EXPERTS, COST - epsilon / 2)
    means[rng.integers(N_EXPERTS)] -= epsilon
    wrong = rng.random((n_rounds, N_EXPERTS)) < means
    return np.full((n_rounds, N_EXPERTS), -1.0), wrong.astype(np.int64)


def leader(n_rounds: int, run: int) -> Stream:  # noqa: ARG001 - the same for every run
    """Adversarial: the two experts that have lost least so far lose now, the next two ask.

    The others are right. It is fixed before the first round, so oblivious; whoever follows the leaders is
    always wrong.
    """
    scores = np.full((n_rounds, N_EXPERTS), -1.0)
    wrong = np.zeros((n_rounds, N_EXPERTS), dtype=np.int64)
    total = np.zeros(N_EXPERTS)
    for t in range(n_rounds):
        order = np.argsort(total, kind="stable")
        wrong[t, order[:2]] = 1
        scores[t, order[2:4]] = 1.0
        total += np.where(scores[t] > 0, COST, wrong[t])
    return scores, wrong


STREAMS: Final[dict[str, Callable[[int, int], Stream]]] = {
    "thresholds": thresholds,
    "lower bound": lower_bound,
    "leader": leader,
}


def regret(stream: Stream, seed: int, horizon: int | None) -> float:
    """Return what one run of the gate loses, less what the best expert loses."""
    scores, wrong = stream
    n_rounds = len(scores)
    panel = Panel(lambda t: (scores[t], wrong[t]), N_EXPERTS)
    gate = OnlineGate(panel, COST, horizon=horizon, random_state=seed)
    gate.play(range(n_rounds), [0] * n_rounds)
    losses = np.where(scores > 0, COST, wrong)
    losses = np.column_stack([losses, np.full(n_rounds, COST)])
    own = losses[np.arange(n_rounds), gate.history_["expert"]].sum()
    return float(own - losses.sum(axis=0).min())


def study(name: str) -> None:
    """Run a stream, a number of rounds at a time, and keep each result."""
    make = STREAMS[name]
    for n_rounds in ROUNDS:
        for mode in ("known", "doubling"):
            file = CACHE / f"{name.replace(' ', '_')}-{n_rounds}-{mode}.json"
            if file.exists():
                continue
            horizon = n_rounds if mode == "known" else None
            fixed = make(n_rounds, 0)
            alike = name == "leader"
            regrets = [regret(fixed if alike else make(n_rounds, run), run, horizon) for run in range(N_RUNS)]
            file.write_text(json.dumps(regrets))
            print(f"{name}, {n_rounds} rounds, {mode}: {np.mean(regrets):.1f}", flush=True)


def fit_line(rounds: NDArray[np.float64], regrets: NDArray[np.float64]) -> tuple[float, float]:
    """Return the slope of log regret over log rounds, and its standard error from runs drawn again."""
    logs = np.log(rounds)

    def slope(means: NDArray[np.float64]) -> float:
        return float(np.polyfit(logs, np.log(np.maximum(means, 1e-9)), 1)[0])

    rng = np.random.default_rng(0)
    drawn = [slope(np.array([rng.choice(row, len(row)).mean() for row in regrets])) for _ in range(200)]
    return slope(regrets.mean(axis=1)), float(np.std(drawn, ddof=1))


def page() -> str:
    """Return the page, and draw its figure."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), sharey=True)
    lines = [
        "# EXP3.G on line: regret against the number of rounds",
        "",
        "Made by `python -m experiments.online_gate`. "
        f"{N_RUNS} runs of `OnlineGate` for each number of rounds T, {N_EXPERTS} experts and the one that "
        f"always asks, so K = {N_EXPERTS + 1}; asking costs c = {COST}; T >= ln K / c^2 = "
        f"{np.log(N_EXPERTS + 1) / COST**2:.0f}. The regret is what the gate lost less what the best expert "
        "in hindsight lost, by the true losses. The bound is 3 c^(1/3) (ln K)^(1/3) T^(2/3) with known T, "
        f"and {DOUBLING:.2f} times that with doubling.",
        "",
    ]
    for name, make in STREAMS.items():
        lines.append(f"- **{name}**: {' '.join(make.__doc__.split())}")
    lines += ["", "| stream | T known | T | mean regret | standard error | largest run | bound | under it |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    slopes = ["| stream | T known | slope of log regret over log T | standard error | at most 2/3 |"]
    slopes.append("|---|---|---|---|---|")
    all_under = True
    for axis, mode in zip(axes, ("known", "doubling"), strict=True):
        factor = 1.0 if mode == "known" else DOUBLING
        limits = [factor * bound(n_rounds, N_EXPERTS + 1, COST) for n_rounds in ROUNDS]
        for name in STREAMS:
            found: list[Any] = []
            for n_rounds, limit in zip(ROUNDS, limits, strict=True):
                file = CACHE / f"{name.replace(' ', '_')}-{n_rounds}-{mode}.json"
                if not file.exists():
                    continue
                runs = np.array(json.loads(file.read_text()))
                found.append(runs)
                error = runs.std(ddof=1) / np.sqrt(len(runs))
                under = runs.mean() + 3 * error < limit
                all_under &= bool(under)
                lines.append(
                    f"| {name} | {'yes' if mode == 'known' else 'no'} | {n_rounds} | {runs.mean():.1f} | "
                    f"{error:.1f} | {runs.max():.1f} | {limit:.1f} | {'yes' if under else 'no'} |"
                )
            if len(found) < len(ROUNDS):
                continue
            slope, spread = fit_line(np.array(ROUNDS, dtype=float), np.array(found))
            slopes.append(
                f"| {name} | {'yes' if mode == 'known' else 'no'} | {slope:.3f} | {spread:.3f} | "
                f"{'yes' if slope <= 2 / 3 + 2 * spread else 'no'} |"
            )
            means = np.array(found).mean(axis=1)
            axis.loglog(ROUNDS, means, "o-", label=f"{name}: slope {slope:.2f}")
        axis.loglog(ROUNDS, limits, "k--", label="bound, slope 2/3")
        axis.set(title=f"T {'known' if mode == 'known' else 'unknown: doubling'}", xlabel="rounds T")
        axis.legend(fontsize=8)
    axes[0].set_ylabel(f"mean regret of {N_RUNS} runs")
    figure.tight_layout()
    figure.savefig(RESULTS / "online_gate.png", dpi=110)
    plt.close(figure)
    said = "At every T the mean regret, and three standard errors more, is under the bound."
    if not all_under:
        said = "Not every mean regret is under the bound: see the last column."
    lines += ["", said, "", *slopes, "", "![Mean regret against rounds, log-log](online_gate.png)"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is not there yet and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", nargs="*", choices=list(STREAMS), default=list(STREAMS))
    given = parser.parse_args()
    CACHE.mkdir(parents=True, exist_ok=True)
    for name in given.streams:
        study(name)
    text = page()
    (RESULTS / "online_gate.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
