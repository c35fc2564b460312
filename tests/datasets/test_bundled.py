"""The bundled tables hold what their sources hold: counts, classes, missing values, prices."""

import builtins
import csv
import os
from importlib.resources import files
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from farthing.costs import CostSheet
from farthing.datasets import (
    Dataset,
    bundled,
    load_bupa_liver,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_thyroid,
)

HERE = Path(os.environ.get("FARTHING_DATA", "nowhere"))
LOADERS = {
    "heart_disease": load_heart_disease,
    "pima_diabetes": load_pima_diabetes,
    "hepatitis": load_hepatitis,
    "bupa_liver": load_bupa_liver,
    "thyroid": load_thyroid,
}
# Rows, features, missing values and class counts, as the sources publish them.
FACTS = {
    "heart_disease": (303, 13, 6, {0: 164, 1: 139}),
    "pima_diabetes": (768, 8, 652, {"neg": 500, "pos": 268}),
    "hepatitis": (155, 19, 167, {"DIE": 32, "LIVE": 123}),
    "bupa_liver": (345, 5, 0, {0: 169, 1: 176}),
    "thyroid": (7200, 20, 0, {1: 166, 2: 368, 3: 6666}),
}
# The price of everything: each test alone, less the shared part for all but the first of a group.
FULL_PRICE = {
    "heart_disease": 4 * 1 + 7.27 + 3.10 + 15.50 + (102.90 + 1.00) + (87.30 + 2 * 1.00) + 100.90,
    "pima_diabetes": 6 * 1 + 17.61 + 20.68,
    "hepatitis": 14 * 1 + 7.27 + 3 * 5.17 + 6.20,
    "bupa_liver": 7.27 + 3 * 5.17 + 7.76,
    "thyroid": 16 * 1 + 22.78 + 9.31 + 12.41 + 9.31,
}


@pytest.fixture(params=LOADERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_counts(name: str) -> None:
    data = LOADERS[name]()
    n_rows, n_features, n_missing, classes = FACTS[name]
    assert isinstance(data, Dataset)
    assert data.name == name
    assert data.X.shape == (n_rows, n_features)
    assert int(data.X.isna().to_numpy().sum()) == n_missing
    assert (
        dict(zip(*(part.tolist() for part in np.unique(data.y, return_counts=True)), strict=True)) == classes
    )


def test_prices_fit_the_table(name: str) -> None:
    data = LOADERS[name]()
    assert data.costs.features == tuple(data.X.columns) == data.feature_names
    assert data.costs.unit == "CAD"
    assert data.costs.total(data.feature_names) == pytest.approx(FULL_PRICE[name], rel=1e-12)


def test_array_form_has_the_same_values_and_prices(name: str) -> None:
    frame, array = LOADERS[name](frame=True), LOADERS[name](frame=False)
    assert array.X.dtype == np.float64
    np.testing.assert_array_equal(array.X, frame.X.astype(np.float64).to_numpy())
    assert array.feature_names == frame.feature_names
    assert array.costs.features == tuple(f"x{j}" for j in range(array.X.shape[1]))
    np.testing.assert_array_equal(array.costs.own, frame.costs.own)
    np.testing.assert_array_equal(array.costs.shared, frame.costs.shared)
    np.testing.assert_array_equal(array.costs.group_of, frame.costs.group_of)
    np.testing.assert_array_equal(array.y, frame.y)


def test_every_column_and_code_is_explained(name: str) -> None:
    data = LOADERS[name]()
    assert set(data.meanings) == {*data.feature_names, "target"}
    assert all(data.meanings.values())
    assert set(np.unique(data.y).tolist()) == set(data.codes["target"])
    for feature in set(data.codes) - {"target"}:
        assert set(data.X[feature].dropna()) <= set(data.codes[feature]), feature


def test_source_is_named(name: str) -> None:
    data = LOADERS[name]()
    assert "UCI Machine Learning Repository" in data.source
    assert data.licence == ("CC0 1.0" if name == "pima_diabetes" else "CC BY 4.0")
    assert "Turney (1995)" in data.citation
    assert "http" not in data.citation
    assert data.description


def test_heart_disease_nominal_codes_are_categories() -> None:
    X = load_heart_disease().X
    nominal = {column for column in X if isinstance(X[column].dtype, pd.CategoricalDtype)}
    assert nominal == {"cp", "restecg", "slope", "thal"}
    assert list(X["thal"].cat.categories) == [3, 6, 7]
    assert X["thal"].isna().sum() == 2
    assert X["ca"].isna().sum() == 4
    assert X["age"].dtype == np.int64


def test_heart_disease_prices_are_the_published_ones() -> None:
    costs = load_heart_disease().costs
    assert costs.price("thal") == pytest.approx(102.90)
    assert costs.price("thal", owned=["thalach"]) == 1.0
    assert costs.price("slope", owned=["exang"]) == 1.0
    assert costs.price("fbs", owned=["chol"]) == 3.10
    assert set(costs.group_names) == {"blood", "thallium", "exercise_ecg"}


def test_pima_zeros_can_be_kept() -> None:
    data = load_pima_diabetes(zeros_missing=False)
    assert not data.X.isna().to_numpy().any()
    zeros = (data.X == 0).sum()
    for feature, count in {"glucose": 5, "pressure": 35, "triceps": 227, "insulin": 374, "mass": 11}.items():
        assert zeros[feature] == count, feature
    # A count of zero pregnancies is a measurement, in both forms.
    assert (load_pima_diabetes().X["pregnant"] == 0).sum() == (data.X["pregnant"] == 0).sum() == 111


def test_thyroid_has_its_official_split_and_no_fti() -> None:
    data = load_thyroid()
    assert "FTI" not in data.feature_names
    assert int(data.mask("train").sum()) == 3772
    assert int(data.mask("test").sum()) == 3428
    assert not data.mask("validation").any()
    train = data.part("train")
    assert train.X.shape == (3772, 20)
    np.testing.assert_array_equal(train.y, data.y[:3772])


@pytest.mark.skipif(not HERE.is_dir(), reason="FARTHING_DATA names no folder of source tables")
def test_bundled_files_equal_their_sources(name: str) -> None:
    source = {"heart_disease": "heart_cleveland", "thyroid": "thyroid_ann"}.get(name, name)
    table = pd.read_parquet(HERE / f"{source}.parquet")
    data = load_pima_diabetes(zeros_missing=False) if name == "pima_diabetes" else LOADERS[name]()
    columns = list(data.feature_names)
    np.testing.assert_array_equal(
        data.X.astype(np.float64).to_numpy(), table[columns].astype(np.float64).to_numpy()
    )
    target = table["target"] > 0 if name == "heart_disease" else table["target"]
    np.testing.assert_array_equal(data.y, np.asarray(target))
    with (HERE / "costs" / f"{source}.csv").open(newline="") as file:
        prices = {row["feature"]: row["cost"] for row in csv.DictReader(file)}
    for feature in columns:
        assert data.costs.price(feature) == pytest.approx(float(prices[feature]), abs=1e-12)


def test_prices_are_readable_as_any_price_list(tmp_path: Path) -> None:
    text = (files("farthing.datasets") / "tables" / "bupa_liver_costs.csv").read_text()
    (tmp_path / "prices.csv").write_text(text)
    assert CostSheet.read(tmp_path / "prices.csv", unit="CAD") == load_bupa_liver().costs


def test_without_pandas_an_array_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_pandas(name: str, *args: object, **kwargs: object) -> object:
        if name.split(".", maxsplit=1)[0] == "pandas":
            raise ModuleNotFoundError(name)
        return real_import(name, *args, **kwargs)  # type: ignore[arg-type]

    real_import = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", no_pandas)
    monkeypatch.setattr(bundled, "find_spec", lambda name: None)
    assert isinstance(load_heart_disease().X, np.ndarray)
    with pytest.raises(ImportError, match="pip install pandas"):
        load_heart_disease(frame=True)


def test_loading_twice_gives_separate_tables() -> None:
    first, second = load_bupa_liver(), load_bupa_liver()
    first.X.iloc[0, 0] = -1
    assert second.X.iloc[0, 0] == 85


def test_repr() -> None:
    assert repr(load_heart_disease()) == "Dataset(heart_disease: 303 rows, 13 features)"
    assert repr(load_thyroid()) == "Dataset(thyroid: 7200 rows, 20 features, train 3772, test 3428)"


def test_mask_errors() -> None:
    with pytest.raises(ValueError, match="'heart_disease' has no published split"):
        load_heart_disease().mask("train")
    with pytest.raises(ValueError, match="one of train, validation, test; got 'dev'"):
        load_thyroid().mask("dev")
