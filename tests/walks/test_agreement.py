"""The compiled predictor and the walk give the same bits on random forests, tables, prices and budgets."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farthing.costs import CostSheet, Group
from farthing.trees import Forest, Predictor
from farthing.walks import ForestPolicy, walk_rows

N_FEATURES, N_OUTPUTS, WIDTH = 7, 3, 2
CATEGORIES = 70  # more than one word of codes, for the last two features


def random_forest(rng: np.random.Generator, comparator: str, dtype: str) -> Forest:
    """Grow trees by splitting a random leaf again and again."""
    arrays: dict[str, list[Any]] = {name: [] for name in ("feature", "left", "right")}
    offsets = [0]
    for _ in range(rng.integers(1, 6)):
        feature, left, right = [-1], [-1], [-1]
        for _ in range(rng.integers(0, 8)):
            leaf = int(rng.choice(np.flatnonzero(np.array(feature) < 0)))
            feature[leaf], left[leaf], right[leaf] = (
                int(rng.integers(N_FEATURES)),
                len(feature),
                len(feature) + 1,
            )
            for side in (feature, left, right):
                side.extend([-1, -1])
        for name, side in zip(arrays, (feature, left, right), strict=True):
            arrays[name].extend(side)
        offsets.append(len(arrays["feature"]))
    n_nodes = offsets[-1]
    tested = np.array(arrays["feature"])
    categorical = tested >= N_FEATURES - 2
    width = 2 * 2
    words = rng.integers(0, 2**63, size=width * int(categorical.sum()), dtype=np.uint64)
    # Codes that neither set holds go the way of missing values; the two sets must not overlap.
    words = words.reshape(-1, 2, 2)
    words[:, 1] &= ~words[:, 0]
    last = np.uint64((1 << (CATEGORIES - 64)) - 1)
    words[:, :, 1] &= last
    category = np.full(n_nodes, -1)
    category[categorical] = np.arange(int(categorical.sum())) * width
    return Forest.from_arrays(
        n_features=N_FEATURES,
        n_outputs=N_OUTPUTS,
        offsets=offsets,
        target=rng.integers(0, N_OUTPUTS - WIDTH + 1, size=len(offsets) - 1),
        threshold=np.where((tested >= 0) & ~categorical, rng.integers(-2, 3, size=n_nodes) / 3, 0.0),
        missing=np.where(tested >= 0, rng.integers(0, 3, size=n_nodes), 2),
        category=category,
        category_words=words.ravel(),
        category_widths=[0] * (N_FEATURES - 2) + [2, 2],
        value=rng.normal(size=(n_nodes, WIDTH)) * 10.0 ** rng.integers(-6, 6, size=(n_nodes, WIDTH)),
        comparator=comparator,
        dtype=dtype,
        **arrays,
    ).validate()


def random_table(rng: np.random.Generator, dtype: str) -> Any:
    values = rng.integers(-2, 3, size=(12, N_FEATURES)) / 3
    values[:, -2:] = rng.integers(0, CATEGORIES, size=(12, 2))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[rng.random(values.shape) < 0.05] = np.inf
    return values.astype(dtype)


def random_sheet(rng: np.random.Generator) -> CostSheet:
    members = rng.permutation([f"x{column}" for column in range(N_FEATURES)]).tolist()
    groups = {"lab": Group(float(rng.choice([0.0, 0.7, 1.3])), members[:2]), "scan": Group(0.1, members[2:5])}
    return CostSheet(rng.choice([0.0, 0.1, 0.2, 0.3, 1.1, 2.7], size=N_FEATURES), groups)


@pytest.mark.parametrize("comparator", ["<=", "<"])
@pytest.mark.parametrize("rounded", ["float64", "float32"])
@pytest.mark.parametrize("table", ["float64", "float32"])
@settings(deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_predictor_is_the_walk(comparator: str, rounded: str, table: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest, sheet, values = (
        random_forest(rng, comparator, rounded),
        random_sheet(rng),
        random_table(rng, table),
    )
    scores = rng.normal(size=forest.value.shape)
    exact = sheet.total(rng.random(N_FEATURES) < 0.4)
    for budget in (None, np.zeros(12), np.full(12, exact), rng.random(12) * sheet.total(sheet.features)):
        outputs, acquired = walk_rows(
            lambda _: ForestPolicy(forest, scores), sheet, values, N_OUTPUTS, budget=budget
        )
        predict = partial(Predictor(forest, scores).predict, sheet=sheet, budget=budget)
        for layout in (values, np.asfortranarray(values)):
            fast, touched = predict(layout, n_threads=1 + seed % 2)
            assert fast.tobytes() == outputs.tobytes()
            np.testing.assert_array_equal(touched, acquired)
