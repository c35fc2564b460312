"""Greedy purchases by conditional mutual information, on a discrete table where counting gives it exactly.

A context says which of the columns 1 to 3 the label is a noisy copy of; the first of them is also a weak
hint by itself. Whatever is known, the best next column follows from the joint distribution.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from farthing._core import GreedyRow
from farthing.deep import GreedySelectionClassifier, InformationGainClassifier
from farthing.typing import Floats

pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install 'torch>=2.2'")

N_COLUMNS = 4
# The context leans to 1, so that column 1 tells more than the others before it is known.
CONTEXTS = {1: 0.5, 2: 0.25, 3: 0.25}
NOISE = 0.05
SETTINGS: dict[str, Any] = {
    "hidden_units": (32,),
    "dropout": 0.0,
    "learning_rate": 0.01,
    "batch_size": 200,
    "max_questions": 3,
    "random_state": 0,
}


def joint() -> tuple[Floats, Floats, Floats]:
    """Return all rows, the probability of each, and that of the label 1 for each."""
    rows, shares, labels = [], [], []
    for context, share in CONTEXTS.items():
        for bits in product((0.0, 1.0), repeat=3):
            rows.append([float(context), *bits])
            shares.append(share / 8)
            labels.append(1 - NOISE if bits[context - 1] else NOISE)
    return np.array(rows), np.array(shares), np.array(labels)


ROWS, SHARES, LABELS = joint()


def entropy(shares: Floats, labels: Floats) -> float:
    p = float(shares @ labels / shares.sum())
    return float(-(p * np.log(p) + (1 - p) * np.log(1 - p)))


def gain(known: dict[int, float], column: int) -> float:
    """Return I(y; x_column | known) by counting."""
    here = np.all([ROWS[:, j] == value for j, value in known.items()], axis=0) & np.ones(len(ROWS), bool)
    after = 0.0
    for value in np.unique(ROWS[here, column]):
        part = here & (ROWS[:, column] == value)
        after += SHARES[part].sum() / SHARES[here].sum() * entropy(SHARES[part], LABELS[part])
    return entropy(SHARES[here], LABELS[here]) - after


def drawn(n_rows: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(ROWS), n_rows, p=SHARES)
    return named(ROWS[rows]), (rng.random(n_rows) < LABELS[rows]).astype(np.int64)


def named(rows: Floats) -> Any:
    """Return rows with names of the contexts, which are a category each."""
    table = rows.astype(object)
    table[:, 0] = [f"column {int(context)}" for context in rows[:, 0]]
    return table


def bought_by(model: Any) -> list[list[int]]:
    """Return the columns that a walk of each row buys, in order."""
    orders = []
    for row in named(ROWS):
        walk, order = model.walk(), []
        while (ask := walk.ask) is not None:
            order.append(int(ask.feature[1:]))
            walk.tell(row[order[-1]])
        orders.append(order)
    return orders


@pytest.mark.parametrize("method", [GreedySelectionClassifier, InformationGainClassifier])
def test_each_purchase_has_the_largest_conditional_mutual_information(method):
    X, y = drawn(1500, 0)
    model = method(budget=3.0, n_epochs=24, **SETTINGS).fit(X, y)
    for row, order in zip(ROWS, bought_by(model), strict=True):
        known: dict[int, float] = {}
        for column in order:
            gains = {j: gain(known, j) for j in range(N_COLUMNS) if j not in known}
            if max(gains.values()) < 0.01:
                break  # nothing is left to know but noise
            assert gains[column] > max(gains.values()) - 0.01, (row, order, gains)
            known[column] = float(row[column])


def test_the_value_network_approximates_it_within_a_tenth_of_a_nat():
    X, y = drawn(8000, 1)
    model = InformationGainClassifier(budget=3.0, n_epochs=12, exploration=1.0, **SETTINGS).fit(X, y)
    # What rows know before each of their questions: nothing, column 1, and then the context.
    states: list[dict[int, float]] = [{}, {1: 0.0}, {1: 1.0}]
    states += [{1: bit, 0: float(context)} for bit in (0.0, 1.0) for context in CONTEXTS]
    wrong = {
        (str(known), column): abs(estimate - gain(known, column))
        for known in states
        for column, estimate in estimated_gains(model, known).items()
    }
    assert max(gain(known, column) for known in states for column in (2, 3)) > 0.49
    assert max(wrong.values()) < 0.1, wrong


def estimated_gains(model: Any, known: dict[int, float]) -> dict[int, float]:
    """Return what the value network says of each column that is not known."""
    row = GreedyRow(model.fitted_.compiled)
    for column, value in known.items():
        row.hear(column, value if column else value - 1)  # the code of the context
    return {j: value for j, value in enumerate(row.scores().tolist()) if j not in known}
