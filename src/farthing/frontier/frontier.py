"""Points of spend and score, and what can be read from many of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any, Final

import numpy as np

from farthing.frontier.choice import choose
from farthing.store import register_codec

# What all comparisons with a budget allow for rounding, as in `CostSheet`.
SLACK: Final = 1 + 1e-12
# Half the width of a 95 % interval, in standard errors.
_WIDTH: Final = 1.96
_NUMBERS: Final = ("spend", "max_spend", "score", "error", "loss")

_MARKS: Final = ("o", "^", "s", "D")


@dataclass(frozen=True, slots=True)
class Point:
    """What one setting of one method pays and scores, on rows that it did not learn from.

    Attributes
    ----------
    method : str
        Name of the method.
    params : mapping
        The parameters that were set, beside the costs.
    spend, max_spend : float
        What a row pays: the mean, and the most.
    score : float
        Larger is better.
    error : float
        Standard error of the score; NaN if there is none.
    loss : float
        What tells scores apart that are as good: the Brier score of the probabilities if the score is the
        accuracy, else NaN.
    estimator : estimator
        What to fit to get such a model: all parameters are set, and nothing is learned.
    """

    method: str
    params: Mapping[str, Any]
    spend: float
    max_spend: float
    score: float
    error: float = math.nan
    loss: float = math.nan
    estimator: Any = field(default=None, repr=False, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the score.

        Examples
        --------
        >>> low, high = Point("Tree", {}, 1.0, 1.0, 0.9, 0.01).interval
        >>> round(low, 4), round(high, 4)
        (0.8804, 0.9196)
        """
        return self.score - _WIDTH * self.error, self.score + _WIDTH * self.error

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={_brief(value)}" for name, value in self.params.items())
        return f"{self.method}({settings})"


def _encode(point: Point) -> dict[str, object]:
    """Return what a file holds of a point: all but its estimator, and of the parameters what text can say."""
    numbers = {name: float(getattr(point, name)) for name in _NUMBERS}
    return {
        "method": point.method,
        "params": {name: _kept(value) for name, value in point.params.items()},
        **numbers,
    }


def _kept(value: Any) -> str | int | float | bool | None:
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or type(value) in (str, int, float, bool) else _brief(value)


def _decode(fields: dict[str, Any]) -> Point:
    """Make a point of what may be a hostile file."""
    if set(fields) != {"method", "params", *_NUMBERS}:
        raise ValueError(f"a point has a method, params and {', '.join(_NUMBERS)}; got {sorted(fields)}")
    if not isinstance(fields["method"], str) or not isinstance(fields["params"], dict):
        raise TypeError("a point has a method with a name, and its parameters by name")
    for name, value in fields["params"].items():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool | NoneType):
            raise TypeError(f"a point's parameter {name!r} must be a number, a text or nothing")
    if not all(type(fields[name]) is float for name in _NUMBERS):
        raise TypeError(f"{', '.join(_NUMBERS)} of a point must be floats")
    return Point(**fields)


register_codec("Point", Point, _encode, _decode)


@dataclass(frozen=True, slots=True)
class Failure:
    """A setting that could not be fitted or scored.

    Attributes
    ----------
    method : str
        Name of the method.
    params : mapping
        The parameters that were set.
    reason : str
        What the error said.
    """

    method: str
    params: Mapping[str, Any]
    reason: str


@dataclass(frozen=True, eq=False)
class Frontier:
    """Points of spend and score of any number of methods.

    Attributes
    ----------
    points : tuple of Point
        In the order in which they were asked for.
    failures : tuple of Failure
        The settings that gave no point.
    score_name, unit : str
        What the score is, and the unit of the spend.
    full_cost : float
        What all features cost together.
    n_skipped : int
        Fits that a time limit left out.

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

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that have a point, in the order of their first one."""
        return tuple(dict.fromkeys(point.method for point in self.points))

    def of(self, *methods: str) -> Frontier:
        """Return the points of some methods alone."""
        if unknown := set(methods) - set(self.methods):
            raise LookupError(f"there are no points of {sorted(unknown)}; there are {list(self.methods)}")
        return self._with(tuple(point for point in self.points if point.method in methods))

    def pareto(self, *, hard: bool = False) -> tuple[Point, ...]:
        """Return the points that no other one beats in both spend and score, by rising spend.

        Parameters
        ----------
        hard : bool
            Compare by the most that a row pays, rather than by the mean.
        """
        chosen: list[Point] = []
        for point in sorted(self.points, key=lambda p: (_spend(p, hard=hard), -p.score)):
            if not math.isnan(point.score) and (not chosen or point.score > chosen[-1].score):
                chosen.append(point)
        return tuple(chosen)

    @property
    def best(self) -> Point | None:
        """The point of the best score, whatever it spends; None if there is no point."""
        return self.pareto()[-1] if self.pareto() else None

    def within(self, budget: float, *, hard: bool = False) -> Point | None:
        """Return the point of the best score within a budget, the cheapest of equals; None if none fits.

        Parameters
        ----------
        budget : float
            What a row may pay in the mean.
        hard : bool
            Whether every row must keep it.
        """
        fitting = [p for p in self.pareto(hard=hard) if _spend(p, hard=hard) <= budget * SLACK]
        return fitting[-1] if fitting else None

    def choose(self, budget: float | None = None, *, hard: bool = False) -> Point | None:
        """Return the point to take within a budget, see `farthing.frontier.choice`; None if none fits.

        It need not be the one of the best score: among scores that are as good as equal, luck decides.

        Parameters
        ----------
        budget : float or None
            What a row may pay in the mean; None is no limit.
        hard : bool
            Whether every row must keep it.
        """
        limit = math.inf if budget is None else budget * SLACK
        return choose(point for point in self.points if _spend(point, hard=hard) <= limit)

    def table(self, budgets: Iterable[float] | None = None) -> str:
        """Return a table as text: the point to take within each budget.

        Parameters
        ----------
        budgets : iterable of float, optional
            None is 2, 5, 10, 20, 50 and 100 % of the full cost.
        """
        if budgets is None:
            budgets = [share * self.full_cost for share in (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)]
        lines = [("budget", "spend", self.score_name, "95 % interval", "model")]
        for budget in budgets:
            point = self.choose(budget)
            if point is None:
                lines.append((f"{budget:.4g}", "", "", "", "nothing fits"))
                continue
            low, high = point.interval
            interval = "" if math.isnan(low) else f"{low:.4f} to {high:.4f}"
            lines.append((f"{budget:.4g}", f"{point.spend:.4g}", f"{point.score:.4f}", interval, str(point)))
        widths = [max(len(line[i]) for line in lines) for i in range(4)]
        return "\n".join(
            "  ".join([*(cell.rjust(w) for cell, w in zip(line, widths, strict=False)), line[4]])
            for line in lines
        )

    def to_frame(self) -> Any:
        """Return all points as a pandas DataFrame, a row each; needs pandas."""
        import pandas as pd  # noqa: PLC0415 - optional

        columns = ["method", "params", "spend", "max_spend", "score", "low", "high", "efficient"]
        best = {id(point) for point in self.pareto()}
        rows = [
            {
                **{name: getattr(point, name) for name in columns[:5]},
                "low": point.interval[0],
                "high": point.interval[1],
                "efficient": id(point) in best,
            }
            for point in self.points
        ]
        return pd.DataFrame(rows, columns=columns)

    def plot(self, axes: Any = None, *, label: str | None = None) -> Any:
        """Draw the points of each method and the line of the efficient ones; needs matplotlib.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; None makes a new figure. Frontiers drawn into one are compared.
        label : str, optional
            Name of the line in the legend.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib import pyplot as plt  # noqa: PLC0415 - optional

        if axes is None:
            _, axes = plt.subplots(figsize=(9.0, 4.5), layout="constrained")
        for number, method in enumerate(self.methods):
            mine = self.of(method).points
            # Colours come again after ten; then the marks differ.
            axes.scatter(
                [p.spend for p in mine], [p.score for p in mine], s=14, alpha=0.6, label=method,
                marker=_MARKS[number // 10 % len(_MARKS)], color=f"C{number % 10}",
            )  # fmt: skip
        best = self.pareto()
        axes.step(
            [p.spend for p in best], [p.score for p in best], where="post", color="0.2", linewidth=1.2,
            label="efficient" if label is None else label,
        )  # fmt: skip
        axes.set(
            xlabel=f"mean spend of a row{f' ({self.unit})' if self.unit else ''}", ylabel=self.score_name
        )
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        return axes

    @classmethod
    def union(cls, frontiers: Mapping[str, Frontier]) -> Frontier:
        """Put several frontiers into one, each under a name of its own, to compare them.

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

    def _with(self, points: tuple[Point, ...]) -> Frontier:
        return Frontier(points, self.failures, self.score_name, self.unit, self.full_cost, self.n_skipped)


def _brief(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else " ".join(repr(value).split())


def _spend(point: Point, *, hard: bool) -> float:
    return point.max_spend if hard else point.spend
