"""EXP3.G as algorithm 6 is written: a feedback graph, chances of being observed, one weight at a time."""

from __future__ import annotations

import numpy as np


def exp3g(losses, asks, uniform, eta, gamma):
    """Play the rounds of a table of losses; return the experts drawn, and q after each round.

    Parameters
    ----------
    losses : array, shape (n_rounds, n_experts)
    asks : array of bool, shape (n_rounds, n_experts)
        Who asks for the label, and so sees the losses of all.
    uniform : array, shape (n_rounds,)
        Uniform numbers; those below gamma explore.
    eta, gamma : float
    """
    n_rounds, n_experts = losses.shape
    q = np.full(n_experts, 1 / n_experts)
    drawn, all_q, estimates = [], [], np.zeros(n_experts)
    for t in range(n_rounds):
        u = np.zeros(n_experts)
        u[-1] = 1  # the exploration set is the expert that always asks
        p = (1 - gamma) * q + gamma * u
        if uniform[t] < gamma:
            expert = n_experts - 1
        else:
            left = uniform[t] - gamma
            for expert in range(n_experts):
                left -= (1 - gamma) * q[expert]
                if left < 0:
                    break
        out = [set(range(n_experts)) if asks[t, i] else set() for i in range(n_experts)]
        estimate = np.zeros(n_experts)
        for i in range(n_experts):
            seen = sum(p[j] for j in range(n_experts) if i in out[j])
            if i in out[expert]:
                estimate[i] = losses[t, i] / seen
        q = np.array([q[i] * np.exp(-eta * estimate[i]) for i in range(n_experts)])
        q /= q.sum()
        estimates += estimate
        drawn.append(expert)
        all_q.append(q)
    return np.array(drawn), np.array(all_q), estimates
