"""The compiled walks by networks against their naive twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.naive.deep import Layers, Networks, Walker

from farthing._core import GreedyNetworks, MaskedNetwork
from farthing.costs import CostSheet, Group, RowLedger


def random_layers(rng: np.random.Generator, widths: list[int]) -> Layers:
    return [
        (rng.normal(size=shape).astype(np.float32), rng.normal(size=shape[1]).astype(np.float32))
        for shape in pairwise(widths)
    ]


def random_networks(rng: np.random.Generator) -> Networks:
    """Return small networks, with a group whose columns are bought together, and prices in halves."""
    n = int(rng.integers(2, 8))
    categories = [int(rng.integers(2, 4)) if rng.random() < 0.3 else 0 for _ in range(n)]
    names = [f"x{j}" for j in range(n)]
    own = rng.integers(0, 4, n) / 2
    units = np.arange(n)
    groups = {}
    if rng.random() < 0.5:
        groups["square"] = Group(1.5, names[-2:])
        own[-2:] = 0
        units[-1] = n - 2
    elif rng.random() < 0.5:
        groups["lab"] = Group(0.5, names[:2])
    rows = sum(count + 1 if count else 3 for count in categories)
    n_classes = int(rng.integers(1, 4))
    hidden = rng.integers(1, 11, rng.integers(1, 3)).tolist()
    return Networks(
        n_categories=categories,
        mean=rng.normal(size=n),
        scale=rng.choice([0.01, 1.0, 2.5], n),
        units=units,
        predictor=random_layers(rng, [rows, *hidden, 1 if n_classes == 2 else n_classes]),
        selector=random_layers(rng, [rows, *hidden, int(units.max()) + 1]),
        by_value=bool(rng.random() < 0.5),
        n_classes=n_classes,
        tradeoff=float(rng.choice([0.0, 0.1, 0.4])),
        is_blind=bool(rng.random() < 0.2),
        sheet=CostSheet(dict(zip(names, own.tolist(), strict=True)), groups=groups),
    )


def flat(layers: Layers) -> MaskedNetwork:
    widths = np.array([layers[0][0].shape[0], *(len(shift) for _, shift in layers)], dtype=np.int64)
    return MaskedNetwork(widths, np.concatenate([part.ravel() for layer in layers for part in layer]))


def compiled(networks: Networks) -> GreedyNetworks:
    return GreedyNetworks(
        first=networks.first,
        categorical=np.array([bool(n) for n in networks.n_categories], dtype=np.uint8),
        mean=networks.mean,
        scale=networks.scale,
        units=networks.units,
        predictor=flat(networks.predictor),
        selector=flat(networks.selector),
        by_value=networks.by_value,
        n_classes=networks.n_classes,
        tradeoff=networks.tradeoff,
        is_blind=networks.is_blind,
        own=networks.sheet.own,
        shared=networks.sheet.shared,
        group_of=networks.sheet.group_of,
    )


def random_rows(rng: np.random.Generator, networks: Networks, n_rows: int) -> np.ndarray:
    numbers = rng.normal(scale=3, size=(n_rows, len(networks.n_categories)))
    for column, count in enumerate(networks.n_categories):
        if count:
            numbers[:, column] = rng.integers(0, count, n_rows)
    numbers[rng.random(numbers.shape) < 0.2] = np.nan
    return numbers


@given(st.integers(0, 2**32 - 1))
def test_walks_are_those_of_the_twin(seed):
    rng = np.random.default_rng(seed)
    networks = random_networks(rng)
    values = random_rows(rng, networks, 4)
    budgets = np.array([np.inf, 0.0, 1.0, float(rng.integers(0, 8)) / 2])
    outputs, acquired = compiled(networks).outputs(values, budgets, n_threads=1)
    for row, budget in enumerate(budgets.tolist()):
        ledger = RowLedger(networks.sheet, None if np.isinf(budget) else budget)
        expected, bought = Walker(networks, ledger).walk(values[row])
        np.testing.assert_array_equal(acquired[row], bought)
        np.testing.assert_array_equal(outputs[row], expected.astype(np.float64))


def test_any_number_of_threads_and_any_batch_give_the_same_bits():
    rng = np.random.default_rng(0)
    networks = random_networks(np.random.default_rng(3))
    values = random_rows(rng, networks, 50)
    whole = compiled(networks).outputs(values, None, n_threads=1)
    threads = compiled(networks).outputs(values, None, n_threads=3)
    alone = [compiled(networks).outputs(values[row : row + 1], None, n_threads=1) for row in range(50)]
    for part in range(2):
        np.testing.assert_array_equal(whole[part], threads[part])
        np.testing.assert_array_equal(whole[part], np.concatenate([each[part] for each in alone]))


@pytest.mark.parametrize(
    ("widths", "n_weights"),
    [([2, 3], 9), ([2, 0, 1], 1), ([2, 2, 1], 8), ([2, 2, 1], 10), ([2**40, 2**40, 1], 4)],
)
def test_networks_whose_weights_do_not_fit_are_refused(widths, n_weights):
    with pytest.raises(ValueError, match="width"):
        MaskedNetwork(np.array(widths, dtype=np.int64), np.zeros(n_weights, dtype=np.float32))
