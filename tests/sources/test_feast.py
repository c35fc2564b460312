"""Features from Feast's online store: a repository with the local provider and SQLite, made by the test."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farthing import REFUSED, consult
from farthing.errors import SourceError
from farthing.forests import BudgetTreeClassifier
from farthing.sources import feast_sources

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its dependencies
    feast = pytest.importorskip(
        "feast",
        reason="Feast 0.67 wants a pandas below 3: pip install '.[feast]' 'pandas<3' in another environment",
    )

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    import pandas as pd  # noqa: PLC0415 - Feast brings it along
    from feast.types import Float64, Int64  # noqa: PLC0415

    root: Path = tmp_path_factory.mktemp("feast")
    now = pd.Timestamp.now(tz="UTC")
    tables = {
        "visit": pd.DataFrame({"patient": [1, 2, 3], "age": [54, 61, 40], "ts": now}),
        "lab": pd.DataFrame({"patient": [1, 2], "chol": [233.0, None], "fbs": [1, 0], "ts": now}),
    }
    made = feast.FeatureStore(
        config=feast.RepoConfig(
            project="clinic",
            provider="local",
            registry=str(root / "registry.db"),
            online_store={"type": "sqlite", "path": str(root / "online.db")},
            entity_key_serialization_version=3,
        )
    )
    patient = feast.Entity(name="patient", join_keys=["patient"], value_type=feast.ValueType.INT64)
    fields = {
        "visit": [feast.Field(name="age", dtype=Int64)],
        "lab": [feast.Field(name="chol", dtype=Float64), feast.Field(name="fbs", dtype=Int64)],
    }
    objects: list[Any] = [patient]
    for name, table in tables.items():
        table.to_parquet(root / f"{name}.parquet")
        file = feast.FileSource(name=f"{name}_file", path=str(root / f"{name}.parquet"), timestamp_field="ts")
        view = feast.FeatureView(name=name, entities=[patient], schema=fields[name], source=file)
        objects += [file, view]
    made.apply(objects)
    for name, table in tables.items():
        made.write_to_online_store(name, table)
    return made


class Reads:
    """A store that notes which features are read."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.asked: list[list[str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def get_online_features(self, features: list[str], **options: Any) -> Any:
        self.asked.append(features)
        return self._store.get_online_features(features=features, **options)


FEATURES = ["visit:age", "lab:chol", "lab:fbs"]


def test_a_view_is_a_source_and_a_group(store: Any) -> None:
    sources = feast_sources(store, FEATURES, entity="patient", prices={"lab": 7.5, "visit": 1})
    sheet = sources.costs()
    assert sheet.features == ("age", "chol", "fbs")
    assert sheet.groups["lab"].cost == 7.5
    assert sheet.price("age") == 1


def test_values_null_and_rows_that_are_not_there(store: Any) -> None:
    _, lab = feast_sources(store, FEATURES, entity="patient")
    assert lab.read({"patient": 1, "name": "A"}) == {"chol": 233.0, "fbs": 1}
    assert lab.read(2) == {"chol": None, "fbs": 0}
    assert lab.read({"patient": 3}) == {"chol": REFUSED, "fbs": REFUSED}


def test_only_the_views_that_the_walk_needs_are_read(store: Any) -> None:
    import pandas as pd  # noqa: PLC0415

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.integers(30, 80, 200), "chol": rng.normal(230, 40, 200), "fbs": 0})
    y = np.where(X["age"] > 50, X["chol"] > 200, False)
    reads = Reads(store)
    sources = feast_sources(reads, FEATURES, entity="patient", prices={"lab": 7.5, "visit": 1})
    tree = BudgetTreeClassifier(costs=sources.costs(), cost_rule="penalty", tradeoff=0.001).fit(X, y)
    young = consult(tree, sources, row={"patient": 3})
    assert reads.asked == [["visit:age"]]
    assert (young.prediction, young.spent) == (False, 1.0)
    reads.asked.clear()
    old = consult(tree, sources, row={"patient": 1})
    assert reads.asked == [["visit:age"], ["lab:chol", "lab:fbs"]]
    assert (old.prediction, old.spent) == (True, 8.5)


def test_a_walk_goes_on_without_a_view_that_fails(store: Any) -> None:
    import pandas as pd  # noqa: PLC0415

    class Broken(Reads):
        def get_online_features(self, features: list[str], **options: Any) -> Any:
            raise ConnectionError("the store is away")

    X = pd.DataFrame({"age": [30, 60, 40, 70] * 5, "chol": [150, 300, 160, 310] * 5, "fbs": 0})
    sources = feast_sources(Broken(store), FEATURES, entity="patient", prices={"lab": 7.5, "visit": 1})
    tree = BudgetTreeClassifier(costs=sources.costs()).fit(X, ["well", "ill"] * 10)
    decision = consult(tree, sources, row=1)
    assert decision.spent == 0


def test_full_names(store: Any) -> None:
    visit, _ = feast_sources(store, FEATURES, entity="patient", full_names=True)
    assert visit.read(1) == {"visit__age": 54}


def test_errors_say_what_to_do(store: Any) -> None:
    with pytest.raises(ValueError, match="no view 'labs'; it has"):
        feast_sources(store, ["labs:chol"])
    with pytest.raises(ValueError, match="named view:feature; got 'chol'"):
        feast_sources(store, ["chol"])
    with pytest.raises(ValueError, match="prices has 'xray'"):
        feast_sources(store, FEATURES, prices={"xray": 1})
    visit, _ = feast_sources(store, FEATURES, entity="patient")
    with pytest.raises(SourceError, match="the row has no 'patient'"):
        visit.read({"id": 1})
    visit, _ = feast_sources(store, FEATURES)
    with pytest.raises(SourceError, match="name its join key as entity"):
        visit.read(1)
