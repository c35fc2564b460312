"""The report: charts and tables in one HTML file that needs no network."""

from __future__ import annotations

import base64
from importlib.resources import files
from pathlib import Path
from typing import Any

from farthing.base.files import PathLike
from farthing.frontier.budgeted_base import BudgetedBase
from farthing.report.summary import Summary, summarize


def render(summary: Summary) -> str:
    """Return the report as HTML.

    Needs matplotlib and jinja2: ``pip install 'farthing[report]'``.

    Parameters
    ----------
    summary : Summary
        The content of the report.
    """
    try:
        import jinja2  # noqa: PLC0415 - optional

        from farthing.report import plots  # noqa: PLC0415 - needs matplotlib
    except ImportError as error:
        raise ImportError(
            f"the report needs matplotlib and jinja2 ({error}): pip install 'farthing[report]'"
        ) from error
    # Names of columns and labels come from the user's data: they are escaped.
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["data_uri"] = _data_uri
    template = environment.from_string(
        files("farthing.report").joinpath("page.html").read_text(encoding="utf-8")
    )
    charts = {
        "frontier": plots.frontier_chart(summary),
        "money": plots.money_chart(summary),
        "bought": plots.bought_chart(summary),
    }
    if summary.calibration is not None:
        charts["calibration"] = plots.calibration_chart(summary)
    if summary.scatter is not None:
        charts["scatter"] = plots.scatter_chart(summary)
    return template.render(s=summary, charts=charts)


def write_report(
    path: PathLike,
    model: BudgetedBase,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    qid: Any = None,
    title: str = "",
    target: str = "target",
) -> None:
    """Write the report of a fitted model to a file; parameters as in `summarize`."""
    page = render(summarize(model, X, y, sample_weight=sample_weight, qid=qid, title=title, target=target))
    Path(path).write_text(page, encoding="utf-8")


def _data_uri(svg: str) -> str:
    # As an image, an SVG runs no script and its style rules do not leak into the page.
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
