"""How a ratio is taken and written down."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One comparison: ours over the rival's, to be at most the goal.

    For `higher` it is to be at least the goal; for `two_sided` between the goal and one over it.
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
        """Return the goal as text."""
        if self.goal is None:
            return ""
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
) -> Line:
    """Let both run in alternation and take the median of the ratios of neighbouring turns.

    What runs in one process may be timed by ``time.process_time``, which other programs disturb less.
    """
    if warm_up:
        ours()
        theirs()
    pairs = [(seconds(ours, clock), seconds(theirs, clock)) for _ in range(turns)]
    return Line(
        what,
        rival,
        statistics.median(a for a, _ in pairs),
        statistics.median(b for _, b in pairs),
        statistics.median(a / b for a, b in pairs),
        goal,
    )


def missed(lines: list[Line]) -> str:
    """Return a sentence on the goals that are missed."""
    aimed = [line for line in lines if line.goal is not None]
    which = [f"{line.what} ({line.ratio:.2f})" for line in aimed if line.verdict == "missed"]
    if not which:
        return f"All {len(aimed)} goals are met."
    return f"{len(which)} of {len(aimed)} goals are missed: {'; '.join(which)}."


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
