"""Trials kept in a folder, one file each, so that a run goes on where another ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Figures: TypeAlias = dict[str, NDArray[np.float64]]
"""What a trial measured, by name."""


def kept_trial(folder: Path, name: str, make: Callable[[], Mapping[str, NDArray[np.float64]]]) -> Figures:
    """Return the figures of a trial from the folder, or make and keep them.

    Parameters
    ----------
    folder : Path
        Delete it when the code has changed what a trial measures.
    name : str
        Of the trial: the set, the seed, and whatever else its figures depend on.
    make : callable
        Runs the trial.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for error in (0.25, 0.5):
    ...     print(kept_trial(folder, "sonar 7", lambda: {"error": np.array([error])})["error"])
    [0.25]
    [0.25]
    """
    file = folder / f"{name.replace(' ', '_')}.npz"
    if not file.exists():
        part = file.with_suffix(".part.npz")
        figures: dict[str, Any] = dict(make())
        np.savez(part, **figures)
        part.rename(file)  # a run that is cut off leaves no half file
    with np.load(file) as stored:
        return {key: np.asarray(stored[key]) for key in stored.files}
