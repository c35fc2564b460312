"""How much of the score of a chosen model is luck: a bootstrap of the choice.

The best of many scores is too high, since it is best partly by chance. The correction is that of Tsamardinos,
Greasidou and Borboudakis (2018), who bootstrap the rows of the held-out predictions, not the fits: the choice
is made again on a sample of the rows, and the model chosen there is scored on the rows that the sample left
out. What these score less there, on average over samples, than the model chosen by all rows does on all rows
is the optimism of the choice. (The score on the sample itself would be too high a mark to compare with: among
equal models the difference would be 1.4 times the optimism.)

The choice is the one of `farthing.frontier.paired_choice`: a model that is preferred is taken unless another
is clearly ahead of it, which leaves far less to luck than the least loss does. Of that rule only the small
weight of the other budgets is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.frontier.paired_choice import AHEAD
from farthing.frontier.row_values import Standing, difference
from farthing.typing import Floats

N_SAMPLES: Final = 200
"""Bootstrap samples of the rows."""

# Numbers of a block of the samples' means, so that a table of many rows takes little memory.
_BLOCK: Final = 2**22


def optimism(standings: Sequence[Standing], preferred: Sequence[bool] = (), *, seed: int = 0) -> float:
    """Return by how much the score of the chosen of some models exceeds its score on new rows, on average.

    Parameters
    ----------
    standings : sequence of Standing
        The models that were chosen from, all on the same rows.
    preferred : sequence of bool
        Which of them others must clearly beat; none by default.
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
    >>> optimism([Standing(coin, 1 - coin, ones, rows) for coin in coins], [True] + 19 * [False]) < bias / 2
    True
    """
    if len(standings) < 2:
        return 0.0
    scores = np.array([one.scores for one in standings], dtype=np.float64)
    losses = np.array([one.losses for one in standings], dtype=np.float64)
    weights = np.asarray(standings[0].weights, dtype=np.float64)
    favoured = np.flatnonzero(np.asarray(preferred, dtype=bool))
    margins = _margins(standings, favoured)
    n_rows = len(weights)
    rng = np.random.default_rng(seed)
    left_out = []
    size = max(1, _BLOCK // n_rows)
    for begin in range(0, N_SAMPLES, size):
        n_samples = min(size, N_SAMPLES - begin)
        counts = rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), size=n_samples)
        inside, outside = counts * weights, (counts == 0) * weights
        some = outside.sum(axis=1) > 0
        inside, outside = inside[some], outside[some]
        chosen = _choices(_means(losses, inside), favoured, margins)
        picked = np.arange(len(chosen))
        left_out.append(_means(scores, outside)[chosen, picked])
    found = np.concatenate(left_out)
    if len(found) == 0:
        return 0.0
    every = weights[np.newaxis]
    best = _choices(_means(losses, every), favoured, margins)[0]
    return max(0.0, float(_means(scores, every)[best, 0] - found.mean()))


def _margins(standings: Sequence[Standing], favoured: NDArray[np.intp]) -> Floats:
    """Return how far each model must be ahead of each preferred one, shape (n_preferred, n_models)."""
    found = [
        [
            AHEAD * difference(other.losses, standings[one].losses, standings[one].weights).error
            for other in standings
        ]
        for one in favoured
    ]
    return np.array(found, dtype=np.float64).reshape(len(favoured), len(standings))


def _choices(losses: Floats, favoured: NDArray[np.intp], margins: Floats) -> NDArray[np.intp]:
    """Return the model to choose on each sample.

    Parameters
    ----------
    losses : ndarray of float64, shape (n_models, n_samples)
        Mean losses.
    favoured : ndarray of int
        The models that others must clearly beat.
    margins : ndarray of float64, shape (n_preferred, n_models)
        How clearly.

    Returns
    -------
    ndarray of int, shape (n_samples,)
    """
    if len(favoured) == 0:
        return np.asarray(losses.argmin(axis=0))
    best = losses[favoured].argmin(axis=0)
    limit = losses[favoured[best], np.arange(losses.shape[1])] - margins[best].T
    clear = np.where(losses < limit, losses, np.inf)
    return np.asarray(np.where(np.isfinite(clear).any(axis=0), clear.argmin(axis=0), favoured[best]))


def _means(values: Floats, weights: Floats) -> Floats:
    """Return the mean of each model on each sample, shape (n_models, n_samples)."""
    return np.asarray(values @ weights.T / weights.sum(axis=1))
