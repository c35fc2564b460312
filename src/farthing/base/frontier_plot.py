"""The plot of a frontier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from farthing.base.score_words import ScoreWords

if TYPE_CHECKING:
    from farthing.base.frontier import Frontier

_MARKS: Final = ("o", "^", "s", "D")


def plot_frontier(frontier: Frontier, axes: Any, label: str | None) -> Any:
    """Plot a frontier; see `Frontier.plot`."""
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("plot needs matplotlib: pip install farthing[report]") from error
    if axes is None:
        axes = Figure(figsize=(9.0, 4.5), layout="constrained").subplots()
    for number, method in enumerate(frontier.methods):
        mine = frontier.of(method).points
        # The default colour cycle has ten colours; after them the markers change.
        axes.scatter(
            [p.spend for p in mine], [p.score for p in mine], s=14, alpha=0.6, label=method,
            marker=_MARKS[number // 10 % len(_MARKS)], color=f"C{number % 10}",
        )  # fmt: skip
    best = frontier.pareto()
    axes.step(
        [p.spend for p in best], [p.score for p in best], where="post", color="0.2", linewidth=1.2,
        label="efficient" if label is None else label,
    )  # fmt: skip
    unit = f" ({frontier.unit})" if frontier.unit else ""
    axes.set(xlabel=f"mean spend of a row{unit}", ylabel=ScoreWords.of(frontier.score_name).axis)
    axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return axes
