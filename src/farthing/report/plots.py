"""The charts of the report as SVG, in a light and a dark theme."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any, Final

import numpy as np
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from farthing.report.summary import Summary

_MAX_BARS: Final = 15
# Eight colours that colour-blind readers can distinguish on light and dark backgrounds (Okabe and Ito).
_COLOURS: Final = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8c8c00", "#888888")
_MARKS: Final = "os^Dvphd"


@dataclass(frozen=True)
class Theme:
    """Colours of text, lines and highlights."""

    ink: str
    faint: str
    accent: str


LIGHT: Final = Theme("#1b1b1b", "#d5d5d5", "#b3261e")
DARK: Final = Theme("#ececec", "#454545", "#ff8a80")


@dataclass(frozen=True)
class Chart:
    """One chart in both themes, with a description."""

    light: str
    dark: str
    alt: str


def draw_chart(paint: Callable[[Any, Theme], None], alt: str, *, height: float = 3.4) -> Chart:
    """Paint a chart in both themes.

    Parameters
    ----------
    paint : callable
        Gets matplotlib axes and a theme.
    alt : str
        Description of the chart, for screen readers.
    height : float
        In inches; the width is 7.
    """
    light = _svg(paint, LIGHT, height)
    # Nothing but the colours differs, and to lay out a chart takes much longer than to replace them.
    dark = light
    for old, new in zip(astuple(LIGHT), astuple(DARK), strict=True):
        dark = dark.replace(old, new)
    return Chart(light, dark, alt)


def frontier_chart(summary: Summary) -> Chart:
    """Draw all points by method, the Pareto front, the chosen point and the most expensive model."""

    def paint(axes: Any, theme: Theme) -> None:
        for place, method in enumerate(summary.frontier.methods):
            points = summary.frontier.of(method).points
            axes.scatter(
                [p.spend for p in points],
                [p.score for p in points],
                s=14,
                alpha=0.55,
                color=_COLOURS[place % len(_COLOURS)],
                marker=_MARKS[place % len(_MARKS)],
                linewidths=0,
                label=method,
            )
        best = summary.frontier.pareto()
        # The best model stays the best for any larger budget, so its step extends to the price of everything.
        end = [summary.frontier.full_cost], [best[-1].score]
        axes.step(
            [p.spend for p in best] + end[0],
            [p.score for p in best] + end[1],
            where="post",
            color=theme.ink,
            linewidth=1.1,
            label="Pareto front",
        )
        for point, mark, name in (
            (summary.full, "X", "most expensive model"),
            (summary.chosen, "*", "chosen"),
        ):
            axes.scatter(
                [point.spend], [point.score], s=110, marker=mark, color=theme.accent, zorder=5, label=name,
                edgecolors=theme.ink, linewidths=0.6,
            )  # fmt: skip
        if summary.budget is not None:
            axes.axvline(summary.budget, color=theme.accent, linewidth=1, linestyle="--", label="budget")
        scores = [p.score for p in summary.frontier.points if not np.isnan(p.score)]
        # A few very bad points would squeeze all others into a thin line: the lowest 2 % may fall outside.
        low = max(min(scores), float(np.quantile(scores, 0.02)))
        axes.set_ylim(low - 0.02 * (max(scores) - low), max(scores) + 0.08 * (max(scores) - low) + 1e-12)
        axes.set(xlabel=_with_unit("mean spend per row", summary.unit), ylabel=summary.words.axis)
        axes.legend(
            fontsize=7.5, frameon=False, labelcolor=theme.ink, loc="upper left", bbox_to_anchor=(1.0, 1.02)
        )

    chosen, full, words = summary.chosen, summary.full, summary.words
    return draw_chart(
        paint,
        f"Score against mean spend for {len(summary.frontier)} models. The chosen one spends "
        f"{summary.money(chosen.spend)} at {words.title} {words.text(chosen.score)}; the most expensive "
        f"spends {summary.money(full.spend)} at {words.text(full.score)}.",
        height=4.0,
    )


def money_chart(summary: Summary) -> Chart:
    """Draw the mean cost per row of each feature and group."""
    paid = [(p.feature, p.mean_cost) for p in summary.purchases]
    paid += [(f"{name} (shared)", cost) for name, _, cost in summary.group_costs]
    paid = sorted((item for item in paid if item[1] > 0), key=lambda item: -item[1])[:_MAX_BARS]

    def paint(axes: Any, theme: Theme) -> None:
        names = [name for name, _ in reversed(paid)]
        axes.barh(names, [cost for _, cost in reversed(paid)], color=_COLOURS[0])
        axes.set(xlabel=_with_unit("mean cost per row", summary.unit))
        axes.grid(visible=False, axis="y")
        axes.tick_params(axis="y", colors=theme.ink)

    text = ", ".join(f"{name} {summary.money(cost)}" for name, cost in paid[:5]) or "nothing is bought"
    return draw_chart(paint, f"Mean cost per row by feature: {text}.", height=0.8 + 0.26 * len(paid))


def bought_chart(summary: Summary) -> Chart:
    """Draw the share of rows that buy each feature, by budget."""
    shares = np.array([line.shares for line in summary.lines]).T
    used = np.flatnonzero(shares.max(axis=1) > 0)
    used = used[np.argsort(-shares[used].sum(axis=1), kind="stable")][: 2 * _MAX_BARS]
    names = [summary.purchases[k].feature for k in used]

    def paint(axes: Any, theme: Theme) -> None:
        axes.imshow(shares[used], aspect="auto", cmap="Blues", vmin=0, vmax=1)
        axes.set_yticks(range(len(names)), names)
        axes.set_xticks(range(len(summary.lines)), [summary.money(line.budget) for line in summary.lines])
        axes.set(xlabel=_with_unit("budget", summary.unit))
        axes.grid(visible=False)
        for (row, column), share in np.ndenumerate(shares[used]):
            # The colour map is the same in both themes, so the text follows the cell and not the theme.
            colour = "white" if share > 0.55 else "black"
            axes.text(column, row, f"{share:.0%}", ha="center", va="center", fontsize=7, color=colour)
        del theme

    return draw_chart(
        paint,
        "Share of rows that buy each feature, by budget; the table below has the numbers.",
        height=0.9 + 0.25 * max(len(names), 1),
    )


def calibration_chart(summary: Summary) -> Chart:
    """Draw the accuracy of the predicted label by its predicted probability."""
    found = summary.calibration
    assert found is not None

    def paint(axes: Any, theme: Theme) -> None:
        # The most likely of n classes has a probability of at least 1 / n.
        low = 1 / len(summary.classes)
        axes.plot(
            [low, 1], [low, 1], color=theme.ink, linewidth=0.8, linestyle=":", label="perfectly calibrated"
        )
        sizes = 12 + 120 * np.array(found.counts) / max(found.counts)
        axes.plot(found.predicted, found.observed, color=_COLOURS[0], linewidth=1)
        axes.scatter(found.predicted, found.observed, s=sizes, color=_COLOURS[0], label="this model")
        axes.set(xlabel="probability of the predicted label", ylabel="accuracy", ylim=(0, 1.03))
        axes.legend(fontsize=8, frameon=False, labelcolor=theme.ink)

    gaps = np.abs(np.array(found.predicted) - np.array(found.observed))
    mean = float(np.average(gaps, weights=found.counts))
    return draw_chart(paint, f"Calibration on held-out rows; the mean gap is {mean:.3f}.", height=3.2)


def scatter_chart(summary: Summary) -> Chart:
    """Draw predicted against true values."""
    assert summary.scatter is not None
    truth, predicted = summary.scatter

    def paint(axes: Any, theme: Theme) -> None:
        axes.scatter(truth, predicted, s=8, alpha=0.5, color=_COLOURS[0], linewidths=0)
        ends = [min(truth.min(), predicted.min()), max(truth.max(), predicted.max())]
        axes.plot(ends, ends, color=theme.ink, linewidth=0.8, linestyle=":")
        axes.set(xlabel=f"true {summary.target}", ylabel="predicted")

    correlation = float(np.corrcoef(truth, predicted)[0, 1]) if truth.std() and predicted.std() else 0.0
    return draw_chart(
        paint, f"Predicted against true values on held-out rows; correlation {correlation:.3f}."
    )


def _with_unit(text: str, unit: str) -> str:
    return f"{text} ({unit})" if unit else text


def _svg(paint: Callable[[Any, Theme], None], theme: Theme, height: float) -> str:
    figure = Figure(figsize=(7.0, height), layout="constrained")
    # A figure of its own, without pyplot: no global state, and no display is needed.
    FigureCanvasSVG(figure)
    axes = figure.add_subplot()
    # Transparent, so that the page's own background shows through in both themes.
    figure.patch.set_alpha(0.0)
    axes.patch.set_alpha(0.0)
    axes.grid(visible=True, color=theme.faint, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(colors=theme.ink, labelsize=8)
    axes.xaxis.label.set_color(theme.ink)
    axes.yaxis.label.set_color(theme.ink)
    for spine in axes.spines.values():
        spine.set_color(theme.faint)
    paint(axes, theme)
    target = io.StringIO()
    figure.savefig(target, format="svg", metadata={"Date": None}, transparent=True)
    return target.getvalue()
