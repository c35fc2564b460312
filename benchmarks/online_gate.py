"""OnlineGate: 100,000 rounds with 200 experts, beside a plain NumPy loop of algorithm 6.

Experts are thresholds on how far a number is from zero; labels near zero are hard. Rounds are decided one by
one, with feedback where the remote model is asked. The plain loop does at each round what the algorithm says:
a vector of probabilities, a draw, the chance of being observed, and an update of every weight when the label
is seen. The gate draws first, asks the drawn expert alone, and updates weights only after a label. The second
line is the time itself, against a goal of 10 seconds; the third takes 200 thresholds of a fitted ADAPT-LIN,
and all rows in one call. These two are seconds of the processor, of one thread, so that they do not depend on
what else runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from benchmarks.measure import Line, race
from farthing.adaptive import AdaptExperts, AdaptLinClassifier, OnlineGate, Panel

N_ROUNDS, N_EXPERTS, COST, GOAL = 100_000, 200, 0.3, 10.0
BARS = np.linspace(0, 2, N_EXPERTS)


def advise(x: float) -> tuple[Any, Any]:
    """Return the gates' scores and what the local models predict."""
    return BARS - abs(x), np.full(N_EXPERTS, x > 0)


def ours(x: list[float], y: list[bool]) -> None:
    """Play all rounds with `OnlineGate`."""
    gate = OnlineGate(Panel(advise, N_EXPERTS), COST, horizon=N_ROUNDS, random_state=0)
    for context, label in zip(x, y, strict=True):
        if gate.decide(context).remote:
            gate.feedback(label)


def plain(x: list[float], y: list[bool]) -> None:
    """Play all rounds with EXP3.G in plain NumPy."""
    rng = np.random.default_rng(0)
    share = np.log(N_EXPERTS + 1) / N_ROUNDS
    eta, gamma = COST ** (-1 / 3) * share ** (2 / 3), COST ** (-2 / 3) * share ** (1 / 3)
    q = np.full(N_EXPERTS + 1, 1 / (N_EXPERTS + 1))
    explore = np.zeros(N_EXPERTS + 1)
    explore[-1] = 1
    for context, label in zip(x, y, strict=True):
        scores, predicted = advise(context)
        asks = np.append(scores > 0, True)
        p = (1 - gamma) * q + gamma * explore
        drawn = rng.choice(N_EXPERTS + 1, p=p)
        if asks[drawn]:
            losses = np.where(asks, COST, np.append(predicted != label, True))
            q = q * np.exp(-eta * losses / p[asks].sum())
            q /= q.sum()


def of_processor(work: Callable[[], object]) -> float:
    """Return the seconds of the processor that a call takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


def run(threads: int) -> list[Line]:  # noqa: ARG001 - one round after another
    """Measure everything."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=N_ROUNDS)
    x, y = numbers.tolist(), np.where(np.abs(numbers) > 0.7, numbers > 0, numbers <= 0).tolist()
    what = f"{N_ROUNDS:,} rounds, {N_EXPERTS} experts"
    against = race(what, "plain NumPy loop", lambda: ours(x, y), lambda: plain(x, y), warm_up=False)

    table = rng.normal(size=(N_ROUNDS, 6))
    labels = (table[:, 0] + (np.abs(table[:, 1]) > 1) > 0.5).astype(int)
    model = AdaptLinClassifier(GaussianNB(), random_state=0).fit(table[:2000], labels[:2000])
    experts = AdaptExperts(model, N_EXPERTS)

    def bulk() -> None:
        OnlineGate(experts, COST, horizon=N_ROUNDS, random_state=0).play(table, labels.tolist())

    rival = f"the goal, {GOAL:g} s"
    alone, together = of_processor(lambda: ours(x, y)), of_processor(bulk)
    return [
        against,
        Line(what, rival, alone, GOAL, alone / GOAL, 1.0),
        Line(f"{what}: thresholds of ADAPT-LIN, one call", rival, together, GOAL, together / GOAL, 1.0),
    ]
