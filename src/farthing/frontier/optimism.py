"""How much of the score of a chosen model is luck: a bootstrap of the choice.

The best of many scores is too high, since it is best partly by chance. The correction is that of Tsamardinos,
Greasidou and Borboudakis (2018), who bootstrap the rows of the held-out predictions, not the fits: the choice
is made again on a sample of the rows, by the least loss, and the model chosen there is scored on the rows
that the sample left out. What it scores less there than on the sample is the optimism of the choice, on
average over samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from farthing.frontier.row_values import Standing
from farthing.typing import Floats

N_SAMPLES: Final = 200
"""Bootstrap samples of the rows."""

# Numbers of a block of the samples' means, so that a table of many rows takes little memory.
_BLOCK: Final = 2**22


def optimism(standings: Sequence[Standing], *, seed: int = 0) -> float:
    """Return by how much the score of the best of some models exceeds its score on new rows, on average.

    Parameters
    ----------
    standings : sequence of Standing
        The models that were chosen from, all on the same rows.
    seed : int
        Of the samples.

    Returns
    -------
    float
        At least 0: with one model, or with models that never differ, there was no choice.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows, ones = np.arange(100), np.ones(100)
    >>> coins = [rng.integers(0, 2, 100).astype(np.float32) for _ in range(20)]
    >>> bias = optimism([Standing(coin, 1 - coin, ones, rows) for coin in coins])
    >>> 0.05 < bias < 0.2
    True
    """
    if len(standings) < 2:
        return 0.0
    scores = np.array([one.scores for one in standings], dtype=np.float64)
    losses = np.array([one.losses for one in standings], dtype=np.float64)
    weights = np.asarray(standings[0].weights, dtype=np.float64)
    n_rows = len(weights)
    rng = np.random.default_rng(seed)
    gaps = []
    size = max(1, _BLOCK // n_rows)
    for begin in range(0, N_SAMPLES, size):
        n_samples = min(size, N_SAMPLES - begin)
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_samples)
        inside, outside = counts * weights, (counts == 0) * weights
        some = outside.sum(axis=1) > 0
        inside, outside = inside[some], outside[some]
        chosen = _means(losses, inside).argmin(axis=0)
        picked = np.arange(len(chosen))
        gaps.append((_means(scores, inside) - _means(scores, outside))[chosen, picked])
    found = np.concatenate(gaps)
    return max(0.0, float(found.mean())) if len(found) else 0.0


def _means(values: Floats, weights: Floats) -> Floats:
    """Return the mean of each model on each sample, shape (n_models, n_samples)."""
    return np.asarray(values @ weights.T / weights.sum(axis=1))
