"""Fits on Dask collections have the bits of fits in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.distributed.tables import assert_same_bits, cut_array, cut_frame, frame, numbers

from farthing.base import Guarantee
from farthing.boosting import (
    GradientBoostingRegressor,
    GreedyMiserClassifier,
    GreedyMiserRanker,
    GreedyMiserRegressor,
)
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.distributed.fit import column_blocks
from farthing.errors import ClusterError, TableError
from farthing.forests import BudgetForestClassifier, BudgetForestRanker, BudgetTreeClassifier
from farthing.frontier import sweep
from farthing.table import PartFacts, merged_schema

CUTS = [200, 201, 700]
MISER: dict[str, Any] = {"n_estimators": 2, "max_depth": 2, "tradeoff": 0.001, "relative": True}

# Every ledger, leaf and way of several outputs.
ESTIMATORS = {
    "model ledger": (GreedyMiserRegressor(**MISER), "numbers"),
    "model budget": (
        GreedyMiserRegressor(**{**MISER, "tradeoff": 0.0}, budget=3.0, tree_cost=0.2),
        "numbers",
    ),
    "row ledger": (GreedyMiserRegressor(**MISER, charge="row"), "numbers"),
    "row budget": (GreedyMiserRegressor(**MISER, charge="row", budget=2.5), "numbers"),
    "subsample": (GreedyMiserRegressor(**MISER, subsample=0.5, random_state=3), "numbers"),
    "weights": (GreedyMiserRegressor(**MISER), "numbers"),
    "gradient boosting": (GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=6), "numbers"),
    "two classes": (GreedyMiserClassifier(**MISER, class_weight="balanced"), "two"),
    "three trees": (GreedyMiserClassifier(**{**MISER, "n_estimators": 2}, leaf="gradient"), "three"),
    "one tree": (GreedyMiserClassifier(**MISER, multi_strategy="multi_output_tree"), "three"),
    "one tree, rows pay": (
        GreedyMiserClassifier(**MISER, multi_strategy="multi_output_tree", charge="row", budget=3.0),
        "three",
    ),
    "held out": (
        GreedyMiserRegressor(**{**MISER, "n_estimators": 8}, validation_fraction=0.3, random_state=4),
        "numbers",
    ),
    "held out, rows pay": (
        GreedyMiserClassifier(
            **{**MISER, "n_estimators": 12, "learning_rate": 0.9},
            charge="row",
            budget=3.0,
            subsample=0.6,
            validation_fraction=0.25,
            n_iter_no_change=2,
            class_weight={1: 3.0},
            random_state=5,
        ),
        "three",
    ),
    "held out, balanced": (
        GreedyMiserClassifier(
            **{**MISER, "n_estimators": 6},
            validation_fraction=0.3,
            class_weight="balanced",
            random_state=2,
        ),
        "three",
    ),
    "error prices": (GreedyMiserClassifier(**MISER, error_costs=5.0), "two"),
    "monotonic": (
        GreedyMiserClassifier(**MISER, monotonic_cst=[1, -1, 0, 0, 0], subsample=0.7, random_state=3),
        "two",
    ),
    "monotonic, rows pay": (
        GreedyMiserRegressor(
            **MISER, charge="row", monotonic_cst=[1, -1, 0, 0, 0], subsample=0.7, random_state=3
        ),
        "numbers",
    ),
    "monotonic boosting": (
        GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=6, monotonic_cst=[1, 0, -1, 0, 0]),
        "numbers",
    ),
    "monotonic forest": (
        BudgetForestClassifier(
            n_estimators=2, max_depth=3, monotonic_cst=[1, 0, 0, -1, 0], budget=4.0, random_state=0
        ),
        "two",
    ),
    "monotonic tree": (BudgetTreeClassifier(max_depth=4, monotonic_cst=[1, 0, 0, -1, 0]), "two"),
    "tree": (BudgetTreeClassifier(max_depth=4), "three"),
    "tree, error prices": (
        BudgetTreeClassifier(max_depth=3, impurity="gini", error_costs=[[0, 9, 1], [1, 0, 1], [4, 2, 0]]),
        "three",
    ),
    "tree by penalty": (
        BudgetTreeClassifier(
            max_leaf_nodes=9, cost_rule="penalty", tradeoff=0.001, budget=3.0, impurity="gini"
        ),
        "two",
    ),
}


# Weights take another path through the core than none.
WEIGHTED = {"weights", "held out, balanced", "row budget", "two classes", "one tree", "tree by penalty"}


def targets(y: np.ndarray, kind: str) -> np.ndarray:
    if kind == "numbers":
        return y
    if kind == "two":
        return np.where(y > 0.5, "yes", "no")
    return np.digitize(y, [0.0, 2.0])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_same_bits(on_cluster: Client, name: str) -> None:
    estimator, kind = ESTIMATORS[name]
    weighted = name in WEIGHTED
    X, y, weights = numbers()
    y = targets(y, kind)
    alone = clone(estimator).fit(X, y, weights if weighted else None)
    together = clone(estimator).fit(
        cut_array(X, CUTS), cut_array(y, CUTS), cut_array(weights, CUTS) if weighted else None
    )
    assert_same_bits(alone, together)
    assert together.cluster_report_.n_bytes > 0


@pytest.mark.parametrize("n_workers", [1, 2, 3])
def test_any_number_of_workers(on_cluster: Client, n_workers: int) -> None:
    X, y, _ = numbers()
    alone = GreedyMiserRegressor(**MISER, n_jobs=2).fit(X, y)
    addresses = sorted(on_cluster.scheduler_info(n_workers=-1)["workers"])[:n_workers]
    with dask.annotate(workers=addresses, allow_other_workers=False):
        together = GreedyMiserRegressor(**MISER).fit(
            cut_array(X, [300, 600, 900]), cut_array(y, [300, 600, 900])
        )
    assert together.cluster_report_.n_workers == n_workers
    assert_same_bits(alone, together)


@given(
    cuts=st.lists(st.integers(0, 400), max_size=5).map(sorted),
    charge=st.sampled_from(["model", "row"]),
    is_frame=st.booleans(),
)
@settings(max_examples=3, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_partitions(on_cluster: Client, cuts: list[int], charge: str, is_frame: bool) -> None:
    X, y, weights = numbers(400, seed=2)
    estimator = GreedyMiserRegressor(n_estimators=2, max_depth=2, charge=charge, tradeoff=0.01, relative=True)
    names = list("abcde")
    if is_frame:
        table, target, weight = pd.DataFrame(X, columns=names), pd.Series(y), pd.Series(weights)
        alone = clone(estimator).fit(table, target, weight)
        together = clone(estimator).fit(*(cut_frame(part, cuts) for part in (table, target, weight)))
    else:
        alone = clone(estimator).fit(X, y, weights)
        together = clone(estimator).fit(*(cut_array(part, cuts) for part in (X, y, weights)))
    assert_same_bits(alone, together)


@pytest.mark.parametrize("charge", ["model", "row"])
def test_early_stopping_on_a_distributed_validation_part(on_cluster: Client, charge: str) -> None:
    """The held-out rows are in all partitions; their loss ends the fit at the round of one process."""
    X, y, _ = numbers()
    y = y + 3 * np.random.default_rng(0).normal(size=len(y))  # noise that many trees learn by heart
    estimator = GreedyMiserRegressor(
        **{**MISER, "n_estimators": 40, "learning_rate": 0.5},
        charge=charge,
        validation_fraction=0.3,
        n_iter_no_change=3,
        random_state=1,
    )
    alone = clone(estimator).fit(X, y)
    together = clone(estimator).fit(cut_array(X, CUTS), cut_array(y, CUTS))
    assert together.cluster_report_.n_workers > 1
    assert_same_bits(alone, together)
    patient = clone(estimator).set_params(n_iter_no_change=None).fit(cut_array(X, CUTS), cut_array(y, CUTS))
    assert together.cluster_report_.n_exchanges < patient.cluster_report_.n_exchanges / 2


@pytest.mark.parametrize("charge", ["model", "row"])
def test_frames_with_categories(on_cluster: Client, charge: str) -> None:
    X, y = frame()
    estimator = GreedyMiserRegressor(
        **MISER, charge=charge, costs={"age": 1, "colour": 2, "size": 3, "dose": 4}
    )
    alone = clone(estimator).fit(X, y)
    together = clone(estimator).fit(cut_frame(X, CUTS), cut_frame(pd.Series(y), CUTS))
    assert_same_bits(alone, together)
    assert together.schema_.columns[2].categories == ("S", "M", "L")
    assert together.feature_names_in_.tolist() == list(X.columns)


def test_bins_of_a_sample(on_cluster: Client) -> None:
    """More rows than set the bins, and a column of many distinct values."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(70_000, 2))
    y = X[:, 0] + rng.normal(size=len(X))
    estimator = GradientBoostingRegressor(n_estimators=1, max_leaf_nodes=8)
    assert_same_bits(
        clone(estimator).fit(X, y), clone(estimator).fit(cut_array(X, [1, 66_000]), cut_array(y, [1, 66_000]))
    )


@pytest.mark.parametrize(
    ("most_sampled", "most_pieces", "n_blocks"), [(8 * 1200, 2**11, 4), (3 * 8 * 1200, 2**11, 2), (1, 11, 2)]
)
def test_bins_of_blocks_of_columns(
    on_cluster: Client, monkeypatch: pytest.MonkeyPatch, most_sampled: int, most_pieces: int, n_blocks: int
) -> None:
    """No worker holds the sample of all columns, and partitions are not cut too small."""
    monkeypatch.setattr("farthing.distributed.fit._MOST_SAMPLED", most_sampled)
    monkeypatch.setattr("farthing.distributed.fit._MOST_PIECES", most_pieces)
    assert len(column_blocks(4, 1200, 4)) - 1 == n_blocks
    X, y = frame()
    alone = GreedyMiserRegressor(**MISER).fit(X, y)
    together = GreedyMiserRegressor(**MISER).fit(cut_frame(X, CUTS), cut_frame(pd.Series(y), CUTS))
    assert_same_bits(alone, together)


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"charge": "row", "budget": 3.0},
        {"charge": "row", "subsample": 0.7, "monotonic_cst": [1, -1, 0, 0, 0]},
        {"validation_fraction": 0.3, "n_iter_no_change": 1, "n_estimators": 12, "learning_rate": 0.9},
        {"validation_fraction": 0.3, "loss": "lambdamart"},
        {"validation_fraction": 0.04, "charge": "row", "k": 3},  # a single query: two workers have none
    ],
)
def test_rankings(on_cluster: Client, others: dict[str, Any]) -> None:
    X, y, _ = numbers(600, seed=4)
    grades = np.clip(np.round(y), 0, 3)
    qid = np.arange(600) // 20
    weights = 0.5 + np.arange(600) % 3
    weights[::11] = 0
    estimator = GreedyMiserRanker(**{**MISER, **others}, random_state=0)
    alone = clone(estimator).fit(X, grades, qid, sample_weight=weights)
    parts = [cut_array(part, [200, 440]) for part in (X, grades, qid, weights)]
    together = clone(estimator).fit(*parts[:3], sample_weight=parts[3])
    assert_same_bits(alone, together)
    assert together.validation_losses_.tolist() == alone.validation_losses_.tolist()
    assert len(alone.validation_losses_) > 0 or "validation_fraction" not in others


def test_query_in_two_partitions(on_cluster: Client) -> None:
    X, y, _ = numbers(40)
    qid = np.repeat([1, 2], 20)
    with pytest.raises(TableError, match="query 1 has rows in partition 0 and in partition 1"):
        GreedyMiserRanker(n_estimators=1).fit(*(cut_array(part, [10]) for part in (X, np.abs(y), qid)))


def test_no_client() -> None:
    X, y, _ = numbers(10)
    with pytest.raises(ClusterError, match="no client is active"):
        GreedyMiserRegressor().fit(cut_array(X, [5]), cut_array(y, [5]))


def test_unsupported_method() -> None:
    from farthing.boosting import AdaBoostClassifier  # noqa: PLC0415

    X, y, _ = numbers(10)
    with pytest.raises(TableError, match="AdaBoostClassifier does not learn from Dask collections"):
        AdaBoostClassifier().fit(cut_array(X, []), cut_array(y, []))


def test_what_stays_on_the_workers() -> None:
    X, y, _ = numbers(10)
    columns = cut_array(X, []), cut_array(y > 0, [])
    with pytest.raises(TableError, match="oob_score of BudgetForestClassifier needs all rows"):
        BudgetForestClassifier(oob_score=True).fit(*columns)
    with pytest.raises(TableError, match="guarantee of MiserCascadeClassifier needs all rows"):
        MiserCascadeClassifier(guarantee=Guarantee(budget=2.0)).fit(*columns)
    with pytest.raises(TableError, match="BudgetForestRanker got a Dask collection without qid"):
        BudgetForestRanker().fit(*columns)


@pytest.mark.parametrize("estimator", [BudgetForestClassifier(), MiserCascadeRegressor()])
def test_errors_of_forests_and_cascades(on_cluster: Client, estimator: Any) -> None:
    X, y, _ = numbers(30)
    bad = X.astype(object)
    bad[25, 1] = "text"
    with pytest.raises(TableError, match=r"partition 2, read by worker tcp:.*column 'x1'"):
        estimator.fit(*(cut_array(part, [10, 20]) for part in (bad, np.round(y))))


def test_partitions_of_held_out_rows(on_cluster: Client) -> None:
    """Some partitions have no row that is held out, and some no other."""
    X, y, _ = numbers(12, seed=6)
    estimator = GreedyMiserRegressor(n_estimators=3, max_depth=2, validation_fraction=0.4, random_state=0)
    cuts = list(range(1, 12))
    together = clone(estimator).fit(cut_array(X, cuts), cut_array(y, cuts))
    assert_same_bits(clone(estimator).fit(X, y), together)
    assert len(together.validation_losses_)


def test_errors_name_partition_and_worker(on_cluster: Client) -> None:
    X, y, _ = numbers(30)
    y[25] = np.nan
    with pytest.raises(ValueError, match=r"partition 2, read by worker tcp://.*NaN"):
        GreedyMiserRegressor(n_estimators=1).fit(cut_array(X, [10, 20]), cut_array(y, [10, 20]))


READERS: dict[str, Any] = {
    "fit": GreedyMiserRegressor(n_estimators=1).fit,
    "fit of classes": BudgetTreeClassifier(max_depth=1).fit,
    "sweep": lambda X, y: sweep([BudgetTreeClassifier(max_depth=1)], X.astype(object), y),
}


@pytest.mark.parametrize("how", READERS)
def test_errors_of_the_source_name_partition_and_worker(on_cluster: Client, how: str) -> None:
    """What reads a partition is not ours, such as a file that is broken."""
    X, y, _ = numbers(30)

    def read(block: Any) -> Any:
        if block[0, 0] == X[20, 0]:
            raise RuntimeError("the disk is broken")
        return block

    table = cut_array(X, [10, 20]).map_blocks(read, meta=X[:0])
    target = cut_array(y if how == "fit" else y > 0, [10, 20])
    expected = r"^partition 2, read by worker tcp://\S+: RuntimeError: the disk is broken$"
    with pytest.raises(ClusterError, match=expected):
        READERS[how](table, target)


@pytest.mark.parametrize("how", ["fit of classes", "sweep"])
def test_labels_of_two_kinds(on_cluster: Client, how: str) -> None:
    """NumPy would make strings of the numbers."""
    X, y, _ = numbers(30)
    parts = [np.where(y[:10] > 0, "yes", "no"), np.repeat("no", 10), (y[20:] > 0).astype(int)]
    labels = da.concatenate([da.from_delayed(dask.delayed(part), (10,), dtype=object) for part in parts])
    expected = "got numbers in partition 2 and strings in partition 0; make all of them numbers"
    with pytest.raises(TableError, match=expected):
        READERS[how](cut_array(X, [10, 20]), labels)


def test_parameters_are_checked_before_anything_is_read() -> None:
    X, y, _ = numbers(10)
    with pytest.raises(ValueError, match="'n_estimators' parameter of GreedyMiserRegressor must be an int"):
        GreedyMiserRegressor(n_estimators=-1).fit(cut_array(X, [5]), cut_array(y, [5]))


def test_lengths_that_differ_are_told_before_anything_else(on_cluster: Client) -> None:
    X, y, _ = numbers(30)
    table = cut_frame(pd.DataFrame(X, columns=list("abcde")), [10])
    with pytest.raises(
        TableError, match=r"partition [01], read by \S+ \S+: X has [12]0 rows, but y has 1[28]$"
    ):
        GreedyMiserRegressor(n_estimators=1).fit(table, cut_array(y, [12]))


def test_arrays_of_known_lengths(on_cluster: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not read to be counted, unless rows of weight zero or classes have to be found."""
    X, y, weights = numbers(40)
    alone = GreedyMiserRegressor(n_estimators=1).fit(X, y)

    def table(length: int) -> tuple[Any, Any, Any]:
        everything = dask.delayed(np.column_stack)([X, y, weights])
        blocks = [
            da.from_delayed(everything[first : first + 10], (length, X.shape[1] + 2), dtype=np.float64)
            for first in range(0, 40, 10)
        ]
        rows = da.concatenate(blocks)
        return rows[:, :-2], rows[:, -2], rows[:, -1]

    def look(*_: Any) -> Any:
        raise AssertionError("read")

    monkeypatch.setattr("farthing.distributed.fit._Fit.look", look)
    assert_same_bits(alone, GreedyMiserRegressor(n_estimators=1).fit(*table(10)[:2]))
    with pytest.raises(AssertionError, match="read"):
        GreedyMiserRegressor(n_estimators=1).fit(*table(10))
    with pytest.raises(AssertionError, match="read"):
        GreedyMiserClassifier(n_estimators=1).fit(*table(10)[:2])
    with pytest.raises(TableError, match=r"partition \d, read by worker tcp:.* 10 rows .* 11 are known"):
        GreedyMiserRegressor(n_estimators=1).fit(*table(11)[:2])


def test_columns_of_two_kinds() -> None:
    pieces = [pd.DataFrame({"a": [value, None]}, dtype=object) for value in (1.0, "x", None)]
    facts = [PartFacts.of(piece) for piece in pieces]
    with pytest.raises(TableError, match="column 'a': got numbers in partition 0 and strings in partition 1"):
        merged_schema(facts)
    # A part of missing values goes with either.
    assert merged_schema(facts[1:]).columns[0].categories == ("x",)
    assert not merged_schema(facts[::2]).columns[0].is_categorical


def test_other_partitions(on_cluster: Client) -> None:
    X, _ = frame(30)
    with pytest.raises(TableError, match="y has 3 partitions, but X has 2"):
        GreedyMiserRegressor().fit(cut_frame(X, [10]), cut_frame(pd.Series(np.zeros(30)), [10, 20]))


def test_nothing_is_computed_silently() -> None:
    X, y, _ = numbers(10)
    model = GreedyMiserRegressor(n_estimators=1).fit(X, y)
    with pytest.raises(TypeError, match="got a Dask collection"):
        model.fitted_.schema.encode(cut_array(X, []))


def test_parquet_files(on_cluster: Client, tmp_path: Path) -> None:
    """Dask reads the target alone with fewer, larger partitions than the table."""
    X, y = frame(300)
    for number, begin in enumerate((0, 100, 200)):
        X.assign(size=X["size"].astype(str), y=y).iloc[begin : begin + 100].to_parquet(
            tmp_path / f"{number}.parquet"
        )
    table = dd.read_parquet(tmp_path / "*.parquet")
    together = GreedyMiserRegressor(**MISER).fit(table.drop(columns="y"), table["y"])
    assert_same_bits(GreedyMiserRegressor(**MISER).fit(X.assign(size=X["size"].astype(str)), y), together)
