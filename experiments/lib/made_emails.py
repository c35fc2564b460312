"""Made e-mails: word frequencies and runs of capitals, two classes, as in tables that filter spam.

A table has 57 columns: how often each of 54 words occurs, per hundred words, and the mean, the longest and
the total run of capitals. A class has several kinds of e-mails, each with words of its own, so which words
say most differs from e-mail to e-mail. Most entries are 0, as most words are in few e-mails. The words and
the kinds are the same for all seeds; a seed draws the rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

N_WORDS: Final = 54
# The shares of the kinds, and which of them are spam.
SHARES: Final = np.array([0.2, 0.14, 0.1, 0.08, 0.05, 0.04, 0.15, 0.12, 0.08, 0.04])
IS_SPAM: Final = np.arange(len(SHARES)) >= 6
WORLD: Final = 1000
MISLABELLED: Final = 0.01


def made_emails(n_rows: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the columns, shape (n_rows, 57), and the labels of e-mails, 1 for spam.

    Examples
    --------
    >>> X, y = made_emails(1000, 0)
    >>> X.shape, bool(0.3 < y.mean() < 0.5), bool((X[:, :54] == 0).mean() > 0.7)
    ((1000, 57), True, True)
    """
    world = np.random.default_rng(WORLD)
    rare = world.beta(0.5, 4, size=N_WORDS)
    n_kinds = len(SHARES)
    # A word belongs to some of the kinds, and leans to one class, more or less.
    of_kind = world.normal(0, 2, size=(n_kinds, N_WORDS)) * (world.random((n_kinds, N_WORDS)) < 0.35)
    of_class = world.normal(0, 1.9, size=N_WORDS) * (world.random(N_WORDS) < 0.6)
    topics = world.normal(size=(3, N_WORDS))
    repeats = world.gamma(1, 0.3, size=N_WORDS)
    rng = np.random.default_rng(seed)
    kind = rng.choice(n_kinds, size=n_rows, p=SHARES / SHARES.sum())
    y = IS_SPAM[kind].astype(np.int64)
    length = np.exp(rng.normal(5, 1.1, size=n_rows))
    scores = np.log(rare / (1 - rare)) + of_kind[kind] + np.outer(y - 0.5, of_class)
    scores += rng.normal(0, 0.6, size=(n_rows, 3)) @ topics + 0.4 * (np.log(length) - 5)[:, np.newaxis]
    occurs = rng.random((n_rows, N_WORDS)) < 1 / (1 + np.exp(-scores))
    count = 1 + rng.poisson(0.25 * np.sqrt(length)[:, np.newaxis] * repeats)
    words = np.where(occurs, np.round(100 * count / length[:, np.newaxis], 2), 0.0)
    run = np.exp(0.35 * np.log(length) - 1 + 0.9 * y + rng.normal(0, 0.5, size=n_rows))
    longest = run * np.exp(np.abs(rng.normal(0.6, 0.8, size=n_rows)))
    whole = length * np.exp(rng.normal(0, 0.3, size=n_rows))
    y = np.where(rng.random(n_rows) < MISLABELLED, 1 - y, y)
    return np.column_stack([words, np.round(run, 3), np.round(longest), np.round(whole)]), y
