"""Prices by the clock: blocks, medians and spreads, and their price lists as TOML."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from farthing import CostSheet, Group
from farthing.costs import Block, measure
from farthing.costs.readers import parse_toml
from farthing.errors import CostError, SourceError
from farthing.sources import Source, Sources

FRAME = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [5.0, 6, 7, 9], "c": list("xyxy"), "d": [1, 2, 3, 4]})


class Clock:
    """Advances only when a block runs."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed:
    """A block whose call takes a fixed time and some more for each row."""

    def __init__(self, clock: Clock, fixed: float, each: float) -> None:
        self.clock, self.fixed, self.each = clock, fixed, each

    def transform(self, X: Any) -> Any:
        self.clock.now += self.fixed + self.each * len(X)
        return np.zeros((len(X), 2))


class Parts:
    def __init__(self, *blocks: Block) -> None:
        self.blocks = blocks

    def blocks_to_measure(self) -> list[Block]:
        return list(self.blocks)


def test_times_are_per_row_alone_and_in_a_batch() -> None:
    clock = Clock()
    parts = Parts(
        Block("quick", Timed(clock, 0.0, 2e-6), None, ("quick__0", "quick__1")),
        Block("slow", Timed(clock, 0.1, 0.01), None, ("slow__0", "slow__1")),
    )
    found = measure(parts, np.zeros((1000, 1)), batch=100, repeats=3, clock=clock)
    assert [block.row.median for block in found.blocks] == pytest.approx([2e-6, 0.11])
    assert [block.batch.median for block in found.blocks] == pytest.approx([2e-6, 0.011])
    assert all(block.batch.spread == pytest.approx(0, abs=1e-9) for block in found.blocks)
    own, groups = found.prices("batch", "ms")
    assert groups["slow"].cost == pytest.approx(11)
    assert set(own.values()) == {0.0}
    assert found.lines("ms")[1].startswith("slow: 110 ms (spread ")
    assert found.lines("ms")[1].endswith("per row of 100")


def test_the_spread_is_the_interquartile_range_and_the_first_call_does_not_count() -> None:
    clock, times = Clock(), iter([100.0, 1, 2, 3, 4, 5])

    class Varying:
        def transform(self, X: Any) -> Any:
            clock.now += next(times, 0.0)
            return np.zeros((len(X), 1))

    found = measure(Parts(Block("b", Varying(), None, ("b__0",))), [[0]], batch=1, repeats=5, clock=clock)
    assert (found.blocks[0].row.median, found.blocks[0].row.spread) == (3.0, 2.0)


def test_the_blocks_of_a_column_transformer_are_groups() -> None:
    transformer = ColumnTransformer(
        [
            ("scaled", StandardScaler(), ["a", "b"]),
            ("codes", OneHotEncoder(), ["c"]),
            ("none", "drop", ["d"]),
            ("empty", StandardScaler(), []),
        ],
        remainder="passthrough",
    ).fit(FRAME)
    sheet = CostSheet.measure(transformer, FRAME, repeats=2)
    assert sheet.features == ("scaled__a", "scaled__b", "codes__c_x", "codes__c_y")
    assert set(sheet.groups) == {"scaled", "codes"}
    assert (sheet.shared > 0).all()
    assert sheet.unit == "us"
    kept = ColumnTransformer([("as_is", "passthrough", ["a", "d"])]).fit(FRAME)
    assert CostSheet.measure(kept, FRAME, repeats=1).features == ("as_is__a", "as_is__d")


def test_a_union_a_pipeline_of_one_step_and_sources_are_measured() -> None:
    numbers = FRAME[["a", "b"]]
    union = FeatureUnion([("scaled", StandardScaler()), ("gone", "drop")]).fit(numbers)
    assert CostSheet.measure(union, numbers, repeats=1).features == ("scaled__a", "scaled__b")
    assert CostSheet.measure(Pipeline([("u", union)]), numbers, repeats=1).group_names == ("scaled",)
    sources = Sources(
        [
            Source(lambda row: time.sleep(0.002) or row, "slow"),
            Source(lambda row: [row, row], ["x", "y"], name="pair"),
        ]
    )
    sheet = CostSheet.measure(sources, [1, 2, 3], repeats=2, per="row", unit="ms")
    assert sheet.price("slow") >= 2.0
    assert sheet.groups["pair"].members == ("x", "y")


def test_a_source_that_fails_while_it_is_measured_is_named() -> None:
    with pytest.raises(SourceError, match="the source 'a' failed: it gave 2 values for 1 features"):
        CostSheet.measure(Sources([Source(lambda row: [1, 2], "a")]), [1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"per": "day"}, "per must be"),
        ({"unit": "h"}, "unit must be one of s, ms, us"),
        ({"repeats": 0}, "repeats"),
    ],
)
def test_bad_options_are_named(options: Any, message: str) -> None:
    parts = Parts(Block("b", FunctionTransformer(), None, ("b__0",)))
    with pytest.raises(CostError, match=message):
        CostSheet.measure(parts, np.zeros((3, 1)), **options)
    with pytest.raises(
        TypeError, match=r"expected a fitted ColumnTransformer or FeatureUnion.*got StandardScaler"
    ):
        CostSheet.measure(StandardScaler(), [[1.0]])


names = st.text(min_size=1, max_size=8).filter(lambda name: name.isprintable() or "\x7f" in name)


@given(st.lists(names, min_size=1, max_size=5, unique=True), st.floats(0, 1e12), names)
def test_a_price_list_survives_its_toml(features: list[str], price: float, unit: str) -> None:
    sheet = CostSheet(dict.fromkeys(features, price), {unit: Group(price, features[:1])}, unit, strict=False)
    read = parse_toml(sheet.to_toml(comments=["made\nby a test"]))
    assert CostSheet(read.costs, read.groups, read.unit, default=read.default, strict=read.strict) == sheet


def test_a_written_price_list_is_read(tmp_path: Path) -> None:
    sheet = CostSheet({"age": 1, "chol": 5.17}, {"blood": Group(2.1, ["chol"])}, "USD", default=3)
    (tmp_path / "prices.toml").write_text(sheet.to_toml(), encoding="utf-8")
    assert CostSheet.read(tmp_path / "prices.toml") == sheet
