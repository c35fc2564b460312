"""ASTC, CSTC and Cronus beside the Greedy Miser, and ASTC beside CSTC: processor time of fits.

ASTC and CSTC are at their defaults, three nodes on a path; a fit of ASTC holds ten budgets, one of CSTC a
single trade-off. The miser has 100 rounds of depth 4. Where the goal is a least ratio, the ratio is the
rival's time over that of ASTC: for one fit each, and for the ten points of a curve, which are one fit of ASTC
and ten of CSTC. The paper of ASTC claims to be up to 100 times faster than CSTC. Two tables: 20,000 x 50
floats with two classes and random prices, and 10,000 x 40 with five classes. CSTC over trees has 40 boosted
trees of each class; so has Cronus, for two classes only, with four stages.

What limits a single fit of ASTC with two classes: 15 % are scattered reads of rows that moved, 14 % products
of matrices, 9 % standardising the table, 8 % scores, 7 % temperatures; most of the rest is Python and NumPy
around the calls of the core, for ten trees of seven nodes each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from benchmarks.cascade import table
from benchmarks.measure import Line, race
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import ASTCClassifier, CronusClassifier, CSTCClassifier

HOW: Final = (
    "One turn each in alternation, five for single fits of ASTC, by processor time; only ratios carry over "
    "to other machines."
)

N_ROUNDS: Final = 100
TRADEOFFS: Final = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5)
GOAL: Final = 30.0
TURNS: Final = 1
CSTC: Final[dict[str, dict[str, Any]]] = {
    "CSTC": {"random_state": 0},
    "CSTC over trees": {"random_state": 0, "learners": "trees", "n_estimators": 40},
}

ASTC_TURNS = 5
measure = partial(race, turns=TURNS, warm_up=False, clock=time.process_time)


def compare(what: str, data: tuple[Any, Any, Any], threads: int) -> list[Line]:
    """Time one table."""
    X, y, prices = data

    def fit(model: Any) -> Callable[[], object]:
        return lambda: model.fit(X, y)

    def curve(settings: dict[str, Any]) -> Callable[[], object]:
        return lambda: [CSTCClassifier(prices, tradeoff=lam, **settings).fit(X, y) for lam in TRADEOFFS]

    miser = fit(
        GreedyMiserClassifier(
            tradeoff=1e-5, relative=True, n_estimators=N_ROUNDS, costs=prices, n_jobs=threads
        )
    )
    astc = fit(ASTCClassifier(prices))
    astc()  # what is compiled or loaded at first use
    lines = [measure(f"{what}: ASTC", f"Greedy Miser, {N_ROUNDS} rounds", astc, miser)]
    for name, settings in CSTC.items():
        cstc = fit(CSTCClassifier(prices, tradeoff=TRADEOFFS[3], **settings))
        lines += [
            measure(f"{what}: {name}", f"Greedy Miser, {N_ROUNDS} rounds", cstc, miser),
            # A fit of ASTC takes a tenth of a second, which one turn measures badly.
            faster(measure(f"{what}: ASTC, one fit", f"{name}, one fit", astc, cstc, turns=ASTC_TURNS)),
        ]
    lines.append(
        faster(measure(f"{what}: ASTC, ten budgets", "CSTC, ten trade-offs", astc, curve(CSTC["CSTC"])))
    )
    if len(set(y)) == 2:
        cronus = fit(CronusClassifier(prices, tradeoff=TRADEOFFS[3], n_estimators=40, random_state=0))
        lines.append(measure(f"{what}: Cronus", f"Greedy Miser, {N_ROUNDS} rounds", cronus, miser))
    return lines


def faster(line: Line) -> Line:
    """Return a comparison as the rival's time over ours, to be at least the goal."""
    return replace(line, ratio=1 / line.ratio, goal=GOAL, higher=True)


def run(threads: int) -> list[Line]:
    """Measure everything."""
    return [
        *compare("20,000 x 50, 2 classes", table(20_000, 50, 2), threads),
        *compare("10,000 x 40, 5 classes", table(10_000, 40, 5), threads),
    ]
