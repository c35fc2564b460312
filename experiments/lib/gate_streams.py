"""Streams for `OnlineGate`, and many runs of it side by side.

Each stream has 16 experts, and `OnlineGate` adds the one that always asks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.adaptive import OnlineGate, Panel
from farthing.adaptive.online_gate.exp3 import Rates
from farthing.learning.random_numbers import random_bits
from farthing.typing import Floats

N_EXPERTS: Final = 16  # and the one that always asks
N_CHECKED: Final = 2  # runs that are played by `OnlineGate` itself as well, to see that they are the same
CHUNK: Final = 250  # rounds that are drawn at a time

# Of some rounds: the gates' scores and what the local models lose, (n_rounds, n_runs or 1, N_EXPERTS) each.
Part: TypeAlias = tuple[Floats, NDArray[np.bool_]]


def thresholds(n_rounds: int, chunk: int, n_runs: int) -> Iterator[Part]:
    """Stochastic: a local model that is wrong within 0.5 of zero, and gates that send on what is near zero.

    One sends on nothing, the others what is within 0.5, 1.5, 2.5, ... of zero; the best loses 0.15 less than
    the next. With gates that are closer, the shorter streams end before they are told apart. Each run draws
    its own contexts.
    """
    rng = np.random.default_rng([n_rounds, 0])
    for begin in range(0, n_rounds, chunk):
        x = np.abs(rng.normal(size=(min(chunk, n_rounds - begin), n_runs, 1)))
        yield (
            np.asarray(np.arange(N_EXPERTS) - 0.5 - x, dtype=np.float64),
            np.broadcast_to(x < 0.5, (*x.shape[:2], N_EXPERTS)),
        )


def one_better(n_rounds: int, chunk: int, n_runs: int) -> Iterator[Part]:
    """Stochastic: each expert asks one round in ten, and is wrong nearly every other round, the best seldom.

    Gates and losses are drawn for each run.
    """
    rng = np.random.default_rng([n_rounds, 2])
    of_256 = np.where(np.arange(N_EXPERTS) == 5, 5, 115)
    for begin in range(0, n_rounds, chunk):
        shape = (min(chunk, n_rounds - begin), n_runs, N_EXPERTS)
        asks, wrong = rng.integers(256, size=(2, *shape), dtype=np.uint8)
        yield np.where(asks < 26, 1.0, -1.0), wrong < of_256


def lower_bound(n_rounds: int, chunk: int, n_runs: int) -> Iterator[Part]:
    """Stochastic, the instance of section 6.3: no gate asks, and asking costs 1/2 more than an expert loses.

    An expert is wrong every other round on average; one of them loses epsilon = (ln(K - 1) / 16 T)^(1/3)
    less, so that it is harder to find in a longer stream. The best expert, and all losses, are drawn for
    each run.
    """
    rng = np.random.default_rng([n_rounds, 1])
    means = np.full((n_runs, N_EXPERTS), 0.5)
    means[np.arange(n_runs), rng.integers(N_EXPERTS, size=n_runs)] -= epsilon(n_rounds)
    for begin in range(0, n_rounds, chunk):
        wrong = rng.random((min(chunk, n_rounds - begin), n_runs, N_EXPERTS), dtype=np.float32) < means
        yield np.full((len(wrong), 1, N_EXPERTS), -1.0), wrong


def epsilon(n_rounds: int) -> float:
    """Return by how much the best expert of `lower_bound` is better than the others."""
    return float((np.log(N_EXPERTS) / (16 * n_rounds)) ** (1 / 3))


def least_regret(n_rounds: int) -> float:
    """Return what section 6.3 proves that every player loses on `lower_bound`: an expected regret.

    It is (6.22), the mean over the experts that may be the best, at the number M of asks that is best for the
    player: epsilon (T - M) max(0, 1 - (8 epsilon^2 M + 1) / ln(K - 1)) + M / 2.

    Examples
    --------
    >>> round(least_regret(1_000_000) / 1_000_000 ** (2 / 3), 2)
    0.36
    """
    better, asks = epsilon(n_rounds), np.arange(n_rounds + 1)
    missed = np.maximum(0.0, 1 - (8 * better**2 * asks + 1) / np.log(N_EXPERTS))
    return float((better * (n_rounds - asks) * missed + asks / 2).min())


LEADER_COST: Final = 0.6


def leader(n_rounds: int, chunk: int, n_runs: int) -> Iterator[Part]:  # noqa: ARG001 - the same for all runs
    """Adversarial: the two experts that have lost least so far lose now, the next two ask.

    The others are right. It is fixed before the first round, so oblivious; whoever follows the leaders is
    always wrong.
    """
    total = np.zeros(N_EXPERTS)
    for begin in range(0, n_rounds, chunk):
        length = min(chunk, n_rounds - begin)
        scores, wrong = (
            np.full((length, 1, N_EXPERTS), -1.0),
            np.zeros((length, 1, N_EXPERTS), dtype=np.bool_),
        )
        for t in range(length):
            order = np.argsort(total, kind="stable")
            wrong[t, 0, order[:2]] = True
            scores[t, 0, order[2:4]] = 1.0
            total[order[:2]] += 1
            total[order[2:4]] += LEADER_COST
        yield scores, wrong


@dataclass(frozen=True)
class Stream:
    """How a stream is made, and what asking costs in it."""

    make: Callable[[int, int, int], Iterator[Part]]
    cost: float


STREAMS: Final = {
    "thresholds": Stream(thresholds, 0.6),
    "one better": Stream(one_better, 0.6),
    "lower bound": Stream(lower_bound, 1.0),
    "leader": Stream(leader, LEADER_COST),
}


def regrets(
    stream: Stream, n_rounds: int, horizon: int | None, *, n_runs: int, checked_rounds: int
) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Play all runs of a stream side by side: what `OnlineGate` does, for many gates at once.

    Returns
    -------
    regrets : ndarray of float64, shape (n_runs,)
        What each run loses, less what the best expert loses.
    best : ndarray of float64, shape (n_runs,)
        What the best expert loses.
    drawn : ndarray of int64, shape (up to checked_rounds, N_CHECKED)
        The experts that the first runs drew.
    """
    cost = stream.cost
    keys = np.array([key_of(run) for run in range(n_runs)], dtype=np.uint64)
    own, total = np.zeros(n_runs), np.zeros((n_runs, N_EXPERTS + 1))
    logs, q = np.zeros_like(total), np.ones_like(total)
    sums, first = q.cumsum(axis=1), np.arange(n_runs) * (N_EXPERTS + 1)
    rates, number, drawn = Rates.of(horizon or 1, N_EXPERTS + 1, cost), 0, []
    for scores, wrong in stream.make(n_rounds, CHUNK, n_runs):
        asks = np.ones((len(scores), *total.shape))
        asks[..., :-1] = scores > 0
        losses = np.full(asks.shape, cost)
        np.copyto(losses[..., :-1], wrong, where=asks[..., :-1] == 0)
        total += losses.sum(axis=0)
        counters = np.arange(number, number + len(scores), dtype=np.uint64)
        bits = random_bits(np.repeat(keys, len(scores)), np.tile(counters, n_runs))
        uniform = ((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(n_runs, -1).T.copy()
        logs -= logs.max(axis=1, keepdims=True)
        q = np.exp(logs)
        sums = q.cumsum(axis=1)
        for t in range(len(scores)):
            number += 1
            if horizon is None and number & (number - 1) == 0:
                rates = Rates.of(number, N_EXPERTS + 1, cost)
                logs[:], q[:] = 0, 1
                sums = q.cumsum(axis=1)
            gamma, draw = rates.gamma, uniform[t]
            place = (draw - gamma) / max(1 - gamma, 1e-300) * sums[:, -1]
            below = sums > place[:, np.newaxis]
            below[:, -1] = True
            expert = below.argmax(axis=1)
            expert[draw < gamma] = N_EXPERTS
            own += losses[t].take(first + expert)
            if number <= checked_rounds:
                drawn.append(expert[:N_CHECKED])
            # Who sees the losses learns; the weights of all others stay as they are.
            seen = asks[t].take(first + expert).nonzero()[0]
            observed = np.einsum("ij,ij->i", q.take(seen, axis=0), asks[t].take(seen, axis=0))
            chance = gamma + (1 - gamma) * observed / sums[seen, -1]
            logs[seen] = new = logs[seen] - losses[t].take(seen, axis=0) * (rates.eta / chance)[:, np.newaxis]
            q[seen] = weights = np.exp(new)
            sums[seen] = weights.cumsum(axis=1)
    best = total.min(axis=1)
    return own - best, best, np.array(drawn)


def key_of(run: int) -> int:
    """Return the key of the random numbers of `OnlineGate` with this seed, derived as it does."""
    return int(check_random_state(run).randint(2**63 - 1, dtype=np.int64))


def check(
    stream: Stream, n_rounds: int, horizon: int | None, drawn: NDArray[np.int64], *, n_runs: int
) -> None:
    """Play the first rounds of some runs by `OnlineGate`, and see that the same experts are drawn."""
    chunks = [*itertools.islice(stream.make(n_rounds, CHUNK, n_runs), len(drawn) // CHUNK)]
    scores = np.concatenate([chunk[0] for chunk in chunks])
    wrong = np.concatenate([chunk[1] for chunk in chunks])
    for run in range(N_CHECKED):
        # A stream without chance has one run for all.
        own = scores[:, run if scores.shape[1] > 1 else 0], wrong[:, run if wrong.shape[1] > 1 else 0]
        panel = Panel(partial(_round, *own), N_EXPERTS)
        gate = OnlineGate(panel, stream.cost, horizon=horizon, random_state=run)
        gate.play(range(len(scores)), [False] * len(scores))
        same = gate.history_["expert"] == drawn[: len(scores), run]
        if not same.all():
            raise AssertionError(f"run {run} differs from OnlineGate at round {np.argmin(same)}")


def _round(scores: Floats, wrong: NDArray[np.bool_], t: int) -> tuple[Floats, NDArray[np.bool_]]:
    return scores[t], wrong[t]
