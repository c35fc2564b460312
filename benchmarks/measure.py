"""How a ratio is taken and written down."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from experiments.lib.stored_pages import tables

MORE: Final = "more is better"
"""In the column of goals, where there is none and a ratio above 1 is in our favour."""


@dataclass(frozen=True)
class Line:
    """One comparison: ours over the rival's, to be at most the goal.

    For `higher` it is to be at least the goal; for `two_sided` between the goal and one over it. Without a
    goal, below 1 is in our favour, for `higher` above 1.
    """

    what: str
    rival: str
    ours: float
    theirs: float
    ratio: float
    goal: float | None
    unit: str = "s"
    higher: bool = False
    two_sided: bool = False

    @property
    def verdict(self) -> str:
        """Say whether the goal is met."""
        if self.goal is None:
            return ""
        met = self.ratio >= self.goal if self.higher else self.ratio <= self.goal
        if self.two_sided:
            met = 1 / self.goal <= self.ratio <= self.goal
        return "met" if met else "missed"

    @property
    def aim(self) -> str:
        """Return the goal as text, or which side of 1 is ours if that is not the usual one."""
        if self.goal is None:
            return MORE if self.higher else ""
        if self.two_sided:
            return f"{1 / self.goal:g} to {self.goal:g}"
        return f"{'>=' if self.higher else '<='} {self.goal:g}"


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Time one call."""
    begin = clock()
    work()
    return clock() - begin


def race(
    what: str,
    rival: str,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    *,
    goal: float | None = None,
    turns: int = 3,
    warm_up: bool = True,
    clock: Callable[[], float] = time.perf_counter,
    rest: float = 0.0,
) -> Line:
    """Let both run in alternation and take the median of the ratios of neighbouring turns.

    What runs in one process may be timed by ``time.process_time``, which other programs disturb less. Threads
    of the one that still wait for work would count for the other one then, unless they ``rest`` for seconds.
    """
    if warm_up:
        ours()
        theirs()

    def timed(work: Callable[[], object]) -> float:
        time.sleep(rest)
        return seconds(work, clock)

    pairs = [(timed(ours), timed(theirs)) for _ in range(turns)]
    return Line(
        what,
        rival,
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
        goal,
    )


def table(lines: list[Line]) -> str:
    """Return the comparisons as a Markdown table."""
    rows = [("what", "ours", "rival's", "rival", "ratio", "goal", "")]
    for line in lines:
        rows.append(
            (
                line.what,
                f"{line.ours:.3g} {line.unit}",
                f"{line.theirs:.3g} {line.unit}",
                line.rival,
                f"{line.ratio:.2f}",
                line.aim,
                line.verdict,
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = [
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows
    ]
    text.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(text)


def standing(lines: str) -> str:
    """Say which goals are missed, and where the ratio is not in our favour.

    Parameters
    ----------
    lines : str
        A table as `table` returns it. Ratios are to be below 1, or above 1 where the goal is a least ratio
        or says that more is better.

    Examples
    --------
    >>> print(standing(table([Line("grow", "LightGBM", 2.0, 1.0, 2.0, 3.0)])))
    Goals met: 1 of 1. The ratio is not in our favour at: grow (2.00, LightGBM).
    """
    missed, behind, n_goals = [], [], 0
    for what, _, _, rival, ratio, goal, verdict in tables(lines)[0].rows:
        shown = f"{what} ({ratio}, {rival})"
        n_goals += bool(verdict)
        missed += [shown] if verdict == "missed" else []
        # A goal with two ends has no side that is ours.
        if " to " not in goal:
            more = goal == MORE or goal.startswith(">=")
            behind += [shown] if (float(ratio) < 1 if more else float(ratio) > 1) else []
    text = f"Goals met: {n_goals - len(missed)} of {n_goals}."
    if missed:
        text += f" Missed: {'; '.join(missed)}."
    if behind:
        text += f" The ratio is not in our favour at: {'; '.join(behind)}."
    return text
