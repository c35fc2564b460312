"""Every method that learns from collections gives the same bits for any threads, workers and partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.distributed.tables import assert_same_bits, cut_frame, frame

from farthing.boosting import (
    GradientBoostingRegressor,
    GreedyMiserClassifier,
    GreedyMiserRanker,
    GreedyMiserRegressor,
)
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.forests import BudgetForestClassifier, BudgetForestRanker, BudgetTreeClassifier

MISER: dict[str, Any] = {"n_estimators": 2, "max_depth": 2, "tradeoff": 0.001, "relative": True}
CASCADE: dict[str, Any] = {
    "n_stages": 1,
    "n_estimators": 1,
    "max_depth": 1,
    "learning_rate": 0.5,
    "n_folds": 1,
    "random_state": 0,
}

# The estimator, its target, and whether the model depends on the order of the rows.
ESTIMATORS: dict[str, tuple[Any, str, bool]] = {
    "miser": (GreedyMiserRegressor(**MISER), "numbers", False),
    "miser, rows pay": (GreedyMiserRegressor(**MISER, charge="row", budget=2.5), "numbers", False),
    "miser, sampled": (GreedyMiserRegressor(**MISER, subsample=0.6, random_state=1), "numbers", True),
    "miser, classes": (GreedyMiserClassifier(**MISER, charge="row"), "classes", False),
    "miser, classes, one owner": (GreedyMiserClassifier(**MISER), "classes", False),
    "miser, ranks": (GreedyMiserRanker(**MISER), "grades", False),
    "miser, ranks, rows pay": (GreedyMiserRanker(**MISER, charge="row"), "grades", False),
    "boosting": (GradientBoostingRegressor(n_estimators=2, max_leaf_nodes=4), "numbers", False),
    "tree": (BudgetTreeClassifier(max_depth=3), "classes", False),
    "forest": (
        BudgetForestClassifier(
            n_estimators=2, max_depth=3, max_features=2, budget=4.0, validation_fraction=0.3, random_state=0
        ),
        "classes",
        False,
    ),
    "forest, ranks": (
        BudgetForestRanker(n_estimators=2, max_depth=3, alpha=[0.0, 2.0], random_state=0),
        "grades",
        False,
    ),
    "cascade": (MiserCascadeClassifier(**CASCADE), "classes", True),
    "cascade, numbers": (MiserCascadeRegressor(**CASCADE), "numbers", True),
}

QUERY = 10
WEIGHTS = {
    "none": lambda n_rows: None,
    "some zero": lambda n_rows: np.where(np.arange(n_rows) % 5 == 0, 0.0, 0.5 + np.arange(n_rows) % 3 / 4),
    "whole": lambda n_rows: 1.0 + np.arange(n_rows) % 3,
}


@dataclass(frozen=True)
class Case:
    """How a table is cut and who has its parts."""

    seed: int
    cuts: list[int]
    order: list[int]
    weights: str
    n_workers: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    # At the ends of queries, which are in one partition each; empty partitions are among them.
    cuts = sorted(QUERY * cut for cut in draw(st.lists(st.integers(0, 12), max_size=4)))
    order = draw(st.permutations(range(len(cuts) + 1)))
    return Case(
        draw(st.integers(0, 99)),
        cuts,
        order,
        draw(st.sampled_from(sorted(WEIGHTS))),
        draw(st.integers(1, 3)),
    )


def columns_of(kind: str, y: np.ndarray) -> np.ndarray:
    if kind == "numbers":
        return y
    codes = np.digitize(y, [3.0, 4.5])
    return np.array(["low", "mid", "top"])[codes] if kind == "classes" else codes.astype(np.float64)


# Dask dataframes do not look at annotations; fits do.
@pytest.mark.filterwarnings("ignore:Dask annotations")
@pytest.mark.parametrize("name", ESTIMATORS)
@given(case=cases())
@settings(
    max_examples=max(2, settings().max_examples // 20),
    # Without shrinking: an example takes a second or more.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_same_bits(on_cluster: Client, name: str, case: Case) -> None:
    estimator, kind, is_ordered = ESTIMATORS[name]
    X, y = frame(120, case.seed)
    columns = {"y": pd.Series(columns_of(kind, y))}
    if kind == "grades":
        columns["qid"] = pd.Series(np.arange(len(X)) // QUERY)
    if (weights := WEIGHTS[case.weights](len(X))) is not None:
        columns["sample_weight"] = pd.Series(weights)
    # The partitions in another order: the rows of a fit in one process, where that matters.
    ends = [0, *case.cuts, len(X)]
    moved = np.concatenate([np.arange(ends[place], ends[place + 1]) for place in case.order])
    lengths = [ends[place + 1] - ends[place] for place in case.order]
    rows = moved if is_ordered else np.arange(len(X))
    models = [
        clone(estimator)
        .set_params(n_jobs=n_jobs)
        .fit(X.iloc[rows], **{key: column.iloc[rows].to_numpy() for key, column in columns.items()})
        for n_jobs in (1, 2)
    ]
    cuts = np.cumsum(lengths)[:-1].tolist()
    addresses = sorted(on_cluster.nthreads())[: case.n_workers]
    table = cut_frame(X.iloc[moved], cuts)
    beside = {key: cut_frame(column.iloc[moved], cuts) for key, column in columns.items()}
    with dask.annotate(workers=addresses, allow_other_workers=False):
        together = clone(estimator).fit(table, **beside)
    for alone in models:
        assert_same_bits(alone, together)
    assert together.cluster_report_.n_workers <= case.n_workers
