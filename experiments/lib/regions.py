"""What a system of gate, cheap model and expensive model does where: figure 5.2 of Nan's thesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

# Rows and columns of the raster.
_FINE = 200


def plot_regions(model: Any, X: Any, y: Any, ax: Axes) -> Axes:
    """Draw the classes over two features, the border of f1, and the region that the gate sends on.

    Parameters
    ----------
    model : AdaptLinClassifier, AdaptGbrtClassifier, AdaptLstsqClassifier or L1GateClassifier
        Fitted on two features.
    X : array, shape (n_rows, 2)
        Rows to draw.
    y : array, shape (n_rows,)
        Their labels.
    ax : matplotlib Axes
        Where to draw.

    Returns
    -------
    Axes
        The gate's region is beige, f1 is drawn by a solid line and the gate's border by a dashed one.
    """
    names = model.schema_.names
    if len(names) != 2:
        raise ValueError(f"plot_regions draws models of two features; this one has {len(names)}")
    points, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    low, high = points.min(axis=0), points.max(axis=0)
    pad = 0.05 * (high - low)
    sides = [np.linspace(low[k] - pad[k], high[k] + pad[k], _FINE) for k in (0, 1)]
    across, up = np.meshgrid(*sides)
    raster = np.column_stack([across.ravel(), up.ravel()])
    # The gate's score, then those of f1: one column for two classes, above zero for the second.
    scores, _ = model.pair_.outputs(raster)
    sent = (scores[:, 0] > model.threshold_).reshape(across.shape)
    cheap = scores[:, 1:]
    stays = (cheap[:, 0] > 0).astype(np.int64) if cheap.shape[1] == 1 else cheap.argmax(axis=1)
    stays = stays.reshape(across.shape)
    ax.contourf(across, up, sent, levels=[0.5, 1.5], colors=["#f5e6c8"])
    if sent.any() and not sent.all():
        ax.contour(across, up, sent, levels=[0.5], colors="0.4", linestyles="dashed", linewidths=1)
    levels = np.arange(len(model.classes_) - 1) + 0.5
    if len(np.unique(stays)) > 1:
        ax.contour(across, up, stays, levels=levels, colors="k", linewidths=1)
    for code, label in enumerate(model.classes_):
        mine = points[labels == label]
        marker = "o^sD"[code % 4]
        ax.scatter(mine[:, 0], mine[:, 1], s=8, color=f"C{code}", marker=marker, label=str(label))
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax
