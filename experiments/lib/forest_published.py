"""The published curves of figure 3.3 of Nan's thesis, beside ours at the same costs."""

from __future__ import annotations

from typing import Final

import numpy as np

from experiments.lib.forest_cases import Curves
from experiments.lib.forest_runs import chosen
from experiments.lib.pages import markdown

# Read off figure 3 of Nan, Wang and Saligrama (2015), which is figure 3.3 of the thesis: mean number of
# features and test error, within 1 and 0.002.
PUBLISHED_POINTS: Final[dict[str, dict[str, tuple[tuple[float, float], ...]]]] = {
    "miniboone_tiny": {
        "BudgetRF": ((5.5, 0.116), (10, 0.097), (14, 0.088), (22, 0.079), (30, 0.075), (43, 0.069)),
        "Greedy Miser": (
            *((7, 0.110), (12, 0.100), (18, 0.094), (22, 0.085), (30, 0.079), (40, 0.072), (43, 0.064)),
        ),
        "ASTC": (*((3, 0.187), (6, 0.188), (9, 0.147), (12, 0.139), (15, 0.110), (30, 0.106), (45, 0.103)),),
        "CSTC": (*((4, 0.220), (5, 0.190), (12, 0.180), (14, 0.191), (18, 0.185), (29, 0.167), (45, 0.160)),),
    },
    "covtype": {
        "BudgetRF": ((4.5, 0.228), (6, 0.213), (8.5, 0.200), (10.5, 0.170), (13, 0.128), (15.7, 0.115)),
        "Greedy Miser": (
            *((14.5, 0.207), (16.5, 0.185), (17.5, 0.171), (18, 0.162), (26, 0.151), (42, 0.145)),
        ),
        "ASTC": ((3, 0.249), (6, 0.246), (9, 0.241), (15, 0.243), (24, 0.238), (45, 0.236)),
        "CSTC": ((3, 0.265), (5, 0.262), (7, 0.257), (13, 0.252), (24, 0.249), (49, 0.250)),
    },
}


def beside_published(table: str, curves: Curves) -> str:
    """Return the published points of a table with our errors at the same costs, in Markdown.

    Parameters
    ----------
    table : str
        A key of `PUBLISHED_POINTS`.
    curves : dict of str to list of curves
        Ours, by method.
    """
    lines = []
    for method, points in PUBLISHED_POINTS[table].items():
        costs = np.array([cost for cost, _ in points], dtype=np.float64)
        ours = chosen(curves[method], costs).mean(axis=0)
        cells = [
            f"{cost:g}: {error:.3f} ({'none' if np.isnan(own) else f'{own:.3f}'})"
            for (cost, error), own in zip(points, ours, strict=True)
        ]
        lines.append([method, f"{np.nanmean(ours - [error for _, error in points]):+.3f}", *cells])
    width = max(map(len, lines))
    rows = [[*line, *[""] * (width - len(line))] for line in lines]
    return markdown([table, "mean difference", *["cost: published (ours)"] * (width - 2)], rows)
