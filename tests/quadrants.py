"""The example of the CSTC paper, for the trees of scores."""

from __future__ import annotations

import numpy as np


def quadrants(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The example of the CSTC paper: two cheap signs, four expensive columns, one for each quadrant."""
    random = np.random.default_rng(seed)
    signs = np.where(random.uniform(-1, 1, size=(n_rows, 2)) > 0, 1.0, -1.0)
    quadrant = ((signs[:, 0] > 0) + 2 * (signs[:, 1] > 0)).astype(int)
    y = np.array([-6.0, -2.0, 2.0, 6.0])[quadrant] + random.normal(size=n_rows)
    expensive = random.normal(size=(n_rows, 4)) + np.array([-6.0, -2.0, 2.0, 6.0])
    expensive[np.arange(n_rows), quadrant] = y
    return np.column_stack([signs, expensive]), y
