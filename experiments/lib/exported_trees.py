"""Trees of LightGBM on a made table, as our model, and the compiler of exported C."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Final

import lightgbm
import numpy as np
from numpy.typing import NDArray

from farthing.export import FLAGS
from farthing.forests import from_model

_N_FEATURES: Final = 20


def make_model(n_trees: int = 50, n_leaves: int = 16) -> tuple[Any, Any]:
    """Return trees of LightGBM, and the same as our model."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, _N_FEATURES))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2] * 3) + X[:, 3:8].sum(axis=1)
    rival = lightgbm.LGBMRegressor(n_estimators=n_trees, num_leaves=n_leaves, n_jobs=1, verbose=-1).fit(X, y)
    return rival, from_model(rival)


def made_rows(n_rows: int) -> NDArray[np.float64]:
    """Return rows that the trees were not fitted on."""
    return np.random.default_rng(1).normal(size=(n_rows, _N_FEATURES))


def compile_c(sources: list[Path], output: Path, *options: str) -> None:
    """Compile exported C."""
    files = [str(source) for source in sources]
    subprocess.run(["gcc", *FLAGS.split(), *options, *files, "-lm", "-o", str(output)], check=True)
