"""The report: charts and tables in one HTML file that needs no network."""

from __future__ import annotations

import base64
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Any

from farthing.base.files import PathLike
from farthing.frontier.budgeted_base import BudgetedBase
from farthing.report.report_run import CHART, LOADING, ReportRun
from farthing.report.summary import Summary, summarize


def render(summary: Summary, run: ReportRun | None = None) -> str:
    """Return the report as HTML.

    Needs matplotlib and jinja2: ``pip install 'farthing[report]'``.

    Parameters
    ----------
    summary : Summary
        The content of the report.
    run : ReportRun, optional
        The time for it; charts that it does not allow are left out.
    """
    try:
        with nullcontext() if run is None else run.step(LOADING):
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
    wanted = {
        "frontier": plots.frontier_chart,
        "bought": plots.bought_chart,
        "money": plots.money_chart,
    }
    if summary.calibration is not None:
        wanted["calibration"] = plots.calibration_chart
    if summary.scatter is not None:
        wanted["scatter"] = plots.scatter_chart
    charts = {}
    for name, draw in wanted.items():
        if run is None:
            charts[name] = draw(summary)
        elif run.is_over():
            run.skip(CHART)
        else:
            with run.step(CHART):
                charts[name] = draw(summary)
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
    time_limit: float | None = None,
    progress: bool = False,
) -> tuple[str, ...]:
    """Write the report of a fitted model to a file; other parameters as in `summarize`.

    Parameters
    ----------
    path : path
        Where to write it.
    time_limit : float, optional
        Seconds. What takes longer is left out or simplified, and the page says so: fits on folds, charts, and
        the purchases of many rows.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    tuple of str
        Sentences on what was left out.
    """
    with ReportRun(model, time_limit=time_limit, shown=progress) as run:
        summary = summarize(
            model, X, y, sample_weight=sample_weight, qid=qid, title=title, target=target, run=run
        )
        page = render(summary, run)
    Path(path).write_text(page, encoding="utf-8")
    return tuple(run.left_out)


def _data_uri(svg: str) -> str:
    # As an image, an SVG runs no script and its style rules do not leak into the page.
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
