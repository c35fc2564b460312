"""The frontier: points of spend and score, with Pareto filters, choices, tables and plots."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from farthing.base.choice import choose as choose_point
from farthing.base.fit_time import FitTime
from farthing.base.frontier_plot import plot_frontier
from farthing.base.pareto import pareto
from farthing.base.point import Point
from farthing.base.score_words import ScoreWords
from farthing.costs import within_budget
from farthing.notebook import html_table
from farthing.store import register_codec


@dataclass(frozen=True, slots=True)
class Failure:
    """A setting that could not be fitted or scored.

    Parameters
    ----------
    method : str
        Name of the method.
    params : mapping
        The parameters that were set.
    reason : str
        The error message.
    """

    method: str
    params: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, eq=False)
class Frontier:
    """Points of spend and score: of a sweep over methods, or along the path of one.

    `farthing.sweep`, `miser_path`, `adapt_path`, the prunings and the cascades all return it.

    Parameters
    ----------
    points : tuple of Point
        In the order in which they were requested.
    failures : tuple of Failure
        The settings that gave no point.
    score_name, unit : str
        What the score is, and the unit of the spend.
    full_cost : float
        What all features cost together.
    n_skipped : int
        Fits that a time limit left out.
    reference : Point, optional
        What the points are compared with, such as the expensive model behind a gate.
    fit_times : tuple of FitTime
        How long the fits of a sweep took, except those read from a cache.

    Examples
    --------
    >>> frontier = Frontier((Point("Tree", {}, 3.0, 3.0, 0.8), Point("Tree", {}, 2.0, 4.0, 0.9)))
    >>> [point.spend for point in frontier.pareto()]
    [2.0]
    >>> frontier.within(1.0) is None
    True
    """

    points: tuple[Point, ...]
    failures: tuple[Failure, ...] = ()
    score_name: str = "score"
    unit: str = ""
    full_cost: float = math.nan
    n_skipped: int = 0
    reference: Point | None = None
    fit_times: tuple[FitTime, ...] = ()

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __getitem__(self, place: int) -> Point:
        return self.points[place]

    # Parts of a frontier.

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have a point, in the order of their first one."""
        return tuple(dict.fromkeys(point.method for point in self.points))

    def of(self, *methods: str) -> Self:
        """Return a frontier with only the points of some methods."""
        if unknown := set(methods) - set(self.methods):
            raise LookupError(f"there are no points of {sorted(unknown)}; there are {list(self.methods)}")
        return replace(self, points=tuple(point for point in self.points if point.method in methods))

    def by(self, name: str) -> dict[Any, Self]:
        """Return one frontier per value of a parameter, such as the curve of each trade-off.

        Examples
        --------
        >>> settings = ((0.0, 1.0), (0.0, 2.0), (1.0, 0.5))
        >>> points = [Point("Miser", {"tradeoff": t}, s, s, s) for t, s in settings]
        >>> {value: len(curve) for value, curve in Frontier(tuple(points)).by("tradeoff").items()}
        {0.0: 2, 1.0: 1}
        """
        groups: dict[Any, list[Point]] = {}
        for point in self.points:
            groups.setdefault(point.params[name], []).append(point)
        return {value: replace(self, points=tuple(points)) for value, points in groups.items()}

    # Choices.

    def pareto(self, *, hard: bool = False) -> tuple[Point, ...]:
        """Return the points that no other point beats in both spend and score, by ascending spend.

        Parameters
        ----------
        hard : bool
            Compare by the largest spend of a row, rather than by the mean.
        """
        spend = np.array([point.spend_of(hard=hard) for point in self.points], dtype=np.float64)
        score = np.array([point.score for point in self.points], dtype=np.float64)
        return tuple(self.points[place] for place in pareto(spend, score))

    @property
    def best(self) -> Point | None:
        """The point with the best score, whatever it spends; None if there is no point."""
        return self.pareto()[-1] if self.pareto() else None

    def within(self, budget: float, *, hard: bool = False) -> Point | None:
        """Return the point with the best score within a budget, the cheapest of equals; None if none fits.

        Parameters
        ----------
        budget : float
            Limit on the mean spend per row.
        hard : bool
            Whether the budget applies to every row instead of the mean.
        """
        # Scores rise strictly along the Pareto set, so the last point that fits is the best one.
        fitting = [p for p in self.pareto(hard=hard) if within_budget(p.spend_of(hard=hard), budget)]
        return fitting[-1] if fitting else None

    def at(self, tradeoff: float) -> Point:
        """Return the point at a trade-off: that of the largest trade-off of the path up to this one.

        Parameters
        ----------
        tradeoff : float
            What a unit of cost is worth in units of error or loss.

        Returns
        -------
        Point
            The one with the best score, if several points share the trade-off.
        """
        rate = float(tradeoff)
        if not rate >= 0:
            raise ValueError(f"the trade-off must be zero or more; got {tradeoff!r}")
        held = [point for point in self.points if point.params["tradeoff"] <= rate]
        if not held:
            raise ValueError(f"the path has no point at a trade-off of {tradeoff!r} or less")
        last = max(point.params["tradeoff"] for point in held)
        return max((p for p in held if p.params["tradeoff"] == last), key=lambda point: point.score)

    def near(self, loss: float, errors: float = 0.0) -> Point | None:
        """Return the cheapest point whose score is within ``loss`` of that of the reference; None if none is.

        Parameters
        ----------
        loss : float
            How much of the score may be lost.
        errors : float
            Safety margin, in standard errors of the reference's score. The cheapest of many points that seem
            to be within the loss benefits from noise; with few validation rows, use 1.
        """
        if self.reference is None:
            raise ValueError("the frontier has no reference to compare with")
        # Without a margin the error, which may be NaN, must not enter the sum.
        least = self.reference.score - loss + (errors * self.reference.error if errors else 0.0)
        return next((point for point in self.pareto() if point.score >= least), None)

    def choose(self, budget: float | None = None, *, hard: bool = False) -> Point | None:
        """Return the point to choose within a budget, see `farthing.base.choice`; None if none fits.

        It need not be the one with the best score, since differences below the noise are ignored.

        Parameters
        ----------
        budget : float or None
            Limit on the mean spend per row; None means no limit.
        hard : bool
            Whether the budget applies to every row instead of the mean.
        """
        return choose_point(p for p in self.points if within_budget(p.spend_of(hard=hard), budget))

    # Views.

    def table(
        self,
        budgets: Iterable[float] | None = None,
        choose: Callable[[float], Point | None] | None = None,
    ) -> str:
        """Return a text table of the point to choose within each budget.

        Parameters
        ----------
        budgets : iterable of float, optional
            None means 2, 5, 10, 20, 50 and 100 % of the full cost.
        choose : callable, optional
            From a budget to the point; None means `choose`.
        """
        if budgets is None:
            budgets = [share * self.full_cost for share in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)]
        found = [(f"{budget:.4g}", (choose or self.choose)(budget)) for budget in budgets]
        return self._text_table(found, "budget")

    def efficient_table(self, most: int = 20) -> str:
        """Return a text table of the Pareto-efficient points, by ascending spend.

        Parameters
        ----------
        most : int
            Of more points than this, some are left out: those whose scores differ least from the one before.
        """
        points = self.pareto()
        kept = set(range(len(points)))
        if len(points) > most:
            rises = [points[k + 1].score - points[k].score for k in range(len(points) - 1)]
            # The cheapest and the best point always stay.
            ranked = sorted(range(1, len(points) - 1), key=lambda k: -rises[k - 1])
            kept = {0, len(points) - 1, *ranked[: most - 2]}
        full = self.full_cost or math.inf
        shown = [(f"{points[k].spend / full:.1%}", points[k]) for k in sorted(kept)]
        return self._text_table(shown, "of full cost")

    def _table_lines(self, rows: Iterable[tuple[str, Point | None]], first: str) -> list[tuple[str, ...]]:
        """Return the titles, and the cells of one line for each point."""
        words = ScoreWords.of(self.score_name)
        lines: list[tuple[str, ...]] = [(first, "mean spend", words.title, "95 % interval", "model")]
        for label, point in rows:
            if point is None:
                lines.append((label, "", "", "", "nothing fits"))
                continue
            low, high = point.interval
            interval = "" if math.isnan(low) else words.interval(low, high)
            lines.append((label, f"{point.spend:.4g}", words.text(point.score), interval, str(point)))
        return lines

    def _repr_html_(self) -> str:
        points = self.pareto()
        full = self.full_cost or math.inf
        header, *lines = self._table_lines(((f"{p.spend / full:.1%}", p) for p in points), "of full cost")
        title = f"{len(points)} efficient of {len(self)} points" + (
            f", spend in {self.unit}" if self.unit else ""
        )
        return html_table(title, header, lines)

    def _text_table(self, rows: Iterable[tuple[str, Point | None]], first: str) -> str:
        lines = self._table_lines(rows, first)
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        return "\n".join(
            "  ".join([*(cell.rjust(w) for cell, w in zip(line, widths, strict=False)), line[4]])
            for line in lines
        )

    def to_frame(self) -> Any:
        """Return all points as a pandas DataFrame, one row per point; needs pandas."""
        import pandas as pd  # noqa: PLC0415 - optional

        columns = ["method", "params", "spend", "max_spend", "score", "low", "high", "efficient"]
        best = {id(point) for point in self.pareto()}  # by identity: two points may be equal
        words = ScoreWords.of(self.score_name)
        rows = [
            {
                **{name: getattr(point, name) for name in columns[:5]},
                **dict(zip(("low", "high"), words.clip(*point.interval), strict=True)),
                "efficient": id(point) in best,
            }
            for point in self.points
        ]
        return pd.DataFrame(rows, columns=columns)

    def plot(self, axes: Any = None, *, label: str | None = None) -> Any:
        """Plot the points of each method and the line of the efficient ones; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; None makes a new figure. Pass the same axes to compare frontiers.
        label : str, optional
            Name of the line in the legend.

        Returns
        -------
        matplotlib Axes
        """
        return plot_frontier(self, axes, label)

    @classmethod
    def union(cls, frontiers: Mapping[str, Frontier]) -> Frontier:
        """Join several frontiers, each under a name of its own, to compare them.

        Examples
        --------
        >>> a, b = Frontier((Point("Tree", {}, 1, 1, 0.8),)), Frontier((Point("Tree", {}, 2, 2, 0.7),))
        >>> Frontier.union({"ours": a, "theirs": b}).methods
        ('ours: Tree', 'theirs: Tree')
        """
        names = {frontier.score_name for frontier in frontiers.values()}
        if len(names) > 1:
            raise ValueError(f"frontiers of different scores cannot be compared: {sorted(names)}")
        points, failures = [], []
        for name, frontier in frontiers.items():
            for point in frontier.points:
                points.append(replace(point, method=f"{name}: {point.method}"))
            failures += [Failure(f"{name}: {f.method}", f.params, f.reason) for f in frontier.failures]
        first = next(iter(frontiers.values()))
        return cls(tuple(points), tuple(failures), first.score_name, first.unit, first.full_cost)


def _encode(frontier: Frontier) -> dict[str, object]:
    """Return the state for a file."""
    return {
        "points": list(frontier.points),
        "failures": [[failure.method, failure.reason] for failure in frontier.failures],
        "names": [frontier.score_name, frontier.unit],
        "full_cost": float(frontier.full_cost),
        "n_skipped": int(frontier.n_skipped),
    }


def _decode(fields: dict[str, Any]) -> Frontier:
    """Build a frontier from the state of a file, which may be hostile."""
    if set(fields) != {"points", "failures", "names", "full_cost", "n_skipped"}:
        raise ValueError(f"a frontier has points, failures and names; got {sorted(fields)}")
    points, names, failures = fields["points"], fields["names"], fields["failures"]
    if not isinstance(points, list) or not all(isinstance(point, Point) for point in points):
        raise TypeError("the points of a frontier must be a list of points")
    for pair in (names, *failures):
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(one, str) for one in pair):
            raise TypeError("the names and failures of a frontier must be pairs of strings")
    if type(fields["full_cost"]) is not float or type(fields["n_skipped"]) is not int:
        raise TypeError("full_cost and n_skipped of a frontier must be numbers")
    failed = tuple(Failure(method, {}, reason) for method, reason in failures)
    score_name, unit = names
    return Frontier(
        tuple(points), failed, score_name, unit, full_cost=fields["full_cost"], n_skipped=fields["n_skipped"]
    )


register_codec("Frontier", Frontier, _encode, _decode)
