"""The loader of larger tables: the folder, OpenML, and what it says when neither has the table."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from farthing.costs import CostSheet
from farthing.datasets import external, load_table
from farthing.datasets.catalogue import CATALOGUE, Entry
from farthing.errors import CostError

HERE = Path(os.environ.get("FARTHING_DATA", "nowhere"))
needs_data = pytest.mark.skipif(not HERE.is_dir(), reason="FARTHING_DATA names no folder of larger tables")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FARTHING_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def ranking(folder: Path) -> pd.DataFrame:
    table = pd.DataFrame(
        {
            "fast": [1.0, 2.0, 3.0, 4.0],
            "slow": pd.Categorical(["a", None, "b", "a"]),
            "query_id": [7, 7, 8, 8],
            "split": ["train", "train", "test", "test"],
            "target": [0, 1, 2, 0],
        }
    )
    table.to_parquet(folder / "mine.parquet")
    return table


def offline(**kwargs: object) -> object:
    raise URLError("no network")


def answer(name: str, X: pd.DataFrame, y: Any) -> Any:
    """Stand in for OpenML's answer."""
    return lambda **kwargs: SimpleNamespace(data=X, target=y, details={"name": name})


# The folder


def test_folder_table_has_features_split_and_queries(ranking: pd.DataFrame) -> None:
    data = load_table("mine")
    assert data.feature_names == tuple(data.X.columns) == ("fast", "slow")
    assert data.X["slow"].isna().sum() == 1
    np.testing.assert_array_equal(data.y, [0, 1, 2, 0])
    np.testing.assert_array_equal(data.queries, [7, 7, 8, 8])
    np.testing.assert_array_equal(data.mask("test"), [False, False, True, True])
    np.testing.assert_array_equal(data.part("test").queries, [8, 8])
    assert data.costs == CostSheet.uniform(["fast", "slow"])
    assert data.licence == "not recorded"
    assert repr(data) == "Dataset(mine: 4 rows, 2 features, train 2, test 2, 2 queries)"


def test_folder_price_list_is_read_in_the_order_of_the_columns(ranking: pd.DataFrame, folder: Path) -> None:
    (folder / "costs").mkdir()
    (folder / "costs" / "mine.csv").write_text("feature,cost\nslow,9\nfast,1\n")
    assert load_table("mine").costs == CostSheet({"fast": 1, "slow": 9})


def test_folder_price_list_must_fit(ranking: pd.DataFrame, folder: Path) -> None:
    (folder / "costs").mkdir()
    (folder / "costs" / "mine.csv").write_text("feature,cost\nfast,1\n")
    with pytest.raises(CostError, match="slow"):
        load_table("mine")


def test_table_without_target(folder: Path) -> None:
    pd.DataFrame({"a": [1]}).to_parquet(folder / "aimless.parquet")
    with pytest.raises(ValueError, match=r"aimless\.parquet has no column 'target'"):
        load_table("aimless")


def test_text_targets_become_plain_text(folder: Path) -> None:
    table = pd.DataFrame({"a": [1, 2], "target": pd.Categorical(["yes", "no"])})
    table.to_parquet(folder / "text.parquet")
    y = load_table("text").y
    assert y.dtype.kind == "U"
    assert y.tolist() == ["yes", "no"]


# Names


def test_unknown_name_lists_the_known_ones(ranking: pd.DataFrame) -> None:
    with pytest.raises(
        ValueError, match=r"Unknown table 'leter'.*covtype.*letter.*mine.*mnist.*FARTHING_DATA"
    ):
        load_table("leter")


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a/b"])
def test_name_cannot_leave_the_folder(name: str, folder: Path) -> None:
    pd.DataFrame({"target": [1]}).to_parquet(folder.parent / "secret.parquet")
    with pytest.raises(ValueError, match="Unknown table"):
        load_table(name)


@pytest.mark.parametrize(
    ("name", "loader"), [("heart_disease", "load_heart_disease"), ("thyroid_ann", "load_thyroid")]
)
def test_bundled_tables_have_their_own_loaders(name: str, loader: str) -> None:
    with pytest.raises(ValueError, match=rf"farthing\.datasets\.{loader}\(\)"):
        load_table(name)


# What is missing


@pytest.mark.parametrize("package", ["pandas", "pyarrow"])
def test_missing_package_says_what_to_install(
    package: str, ranking: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(ImportError, match="pip install pandas pyarrow"):
        load_table("mine")


def test_no_folder_and_no_network_says_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARTHING_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    with pytest.raises(OSError, match=r"OpenML.*no network.*letter\.parquet.*FARTHING_DATA.*is not set"):
        load_table("letter")


def test_empty_folder_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    with pytest.raises(OSError, match="which has none"):
        load_table("letter")


def test_table_that_openml_lacks(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"not on OpenML.*mslr_fold1_10k\.parquet"):
        load_table("mslr_fold1_10k")


# OpenML


@pytest.fixture
def small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Entry:
    """Add a table of six rows to the catalogue."""
    entry = Entry("d", "c", openml=(99, "Small"), parts=(("train", 4), ("test", 2)), train_counts=(1, 3))
    monkeypatch.setitem(CATALOGUE, "small", entry)
    return entry


def test_openml_table_gets_the_published_split(small: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    X = pd.DataFrame({"a": range(6)})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer("Small", X, pd.Series([*"kkmkmm"])))
    data = load_table("small")
    assert data.split is not None
    assert data.split.tolist() == ["train"] * 4 + ["test"] * 2
    assert data.costs == CostSheet.uniform(["a"])
    assert data.y.tolist() == [*"kkmkmm"]


@pytest.mark.parametrize("target", [[*"kkmmmm"], [*"kkmk"]])
def test_openml_table_in_another_order_gets_no_split(
    small: Entry, target: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    X = pd.DataFrame({"a": range(len(target))})
    monkeypatch.setattr("sklearn.datasets.fetch_openml", answer("Small", X, pd.Series(target)))
    with pytest.warns(UserWarning, match="'small' does not hold the rows of the published split"):
        assert load_table("small").split is None


def test_openml_table_of_another_name_is_refused(small: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    other = answer("Big", pd.DataFrame({"a": [1]}), pd.Series([1]))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", other)
    with pytest.raises(OSError, match="data set 99 is 'Big', not 'Small'"):
        load_table("small")


def test_openml_is_asked_for_the_listed_data_set(small: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, object] = {}

    def record(**kwargs: object) -> object:
        asked.update(kwargs)
        return offline()

    monkeypatch.setattr("sklearn.datasets.fetch_openml", record)
    with pytest.raises(OSError, match="could not be downloaded"):
        load_table("small", data_home="here")
    assert asked == {"data_id": 99, "as_frame": True, "parser": "auto", "data_home": "here"}


# The catalogue against the tables that are here


@needs_data
@pytest.mark.parametrize(
    "name", [name for name in CATALOGUE if name not in ("mnist", "covtype", "miniboone")]
)
def test_stored_tables_load(name: str) -> None:
    data = load_table(name)
    assert data.description == CATALOGUE[name].description
    assert len(data.y) == len(data.X)
    assert data.costs.features == data.feature_names
    assert not {"target", "split", "query_id"} & set(data.feature_names)


@needs_data
@pytest.mark.parametrize(
    ("name", "n_rows", "n_features", "n_missing"),
    [
        ("letter", 20000, 16, 0),
        ("adult", 48842, 14, 6465),
        ("house_votes_84", 435, 16, 392),
        ("dna", 3186, 180, 0),
    ],
)
def test_stored_tables_have_the_published_counts(
    name: str, n_rows: int, n_features: int, n_missing: int
) -> None:
    data = load_table(name)
    assert data.X.shape == (n_rows, n_features)
    assert int(data.X.isna().to_numpy().sum()) == n_missing


@needs_data
@pytest.mark.parametrize("name", [name for name, entry in CATALOGUE.items() if entry.parts])
def test_catalogue_agrees_with_the_published_splits(name: str) -> None:
    stored = pd.read_parquet(HERE / f"{name}.parquet", columns=["split", "target"])
    parts = dict(CATALOGUE[name].parts)
    assert stored["split"].value_counts().to_dict() == parts
    counts = stored.loc[stored["split"] == "train", "target"].value_counts()
    assert tuple(sorted(counts.tolist())) == CATALOGUE[name].train_counts


@needs_data
def test_ranking_table_has_queries() -> None:
    data = load_table("mslr_fold1_10k")
    assert data.queries is not None
    assert len(np.unique(data.queries)) == 86
    assert data.X.shape == (10000, 136)
