"""Lazy pipelines behind the service: raw rows in, decisions out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from tests.serving import running

from farthing import LazyPipeline
from farthing.errors import TrustWarning
from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings

VECTORIZER = "sklearn.feature_extraction.text.CountVectorizer"
TEXTS = ["good film", "bad film", "good plot, bad end", "very good"] * 5
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(60, 3)), columns=list("abc"))


def of_texts() -> LazyPipeline:
    blocks = [
        ("words", CountVectorizer(vocabulary=["good", "bad"])),
        ("pairs", CountVectorizer(ngram_range=(2, 2))),
    ]
    return LazyPipeline(blocks, BudgetTreeClassifier(), costs={"words": 1, "pairs": 20}).fit(
        TEXTS, ["yes", "no", "no", "yes"] * 5
    )


def of_frames() -> LazyPipeline:
    blocks = [("plain", StandardScaler(), ["a"]), ("products", PolynomialFeatures(), ["b", "c"])]
    target = np.where(FRAME["a"] > 0, "high", np.where(FRAME["b"] * FRAME["c"] > 0, "mid", "low"))
    return LazyPipeline(blocks, BudgetTreeClassifier(), costs={"plain": 1, "products": 5}).fit(FRAME, target)


def of_text_columns() -> LazyPipeline:
    frame = pd.DataFrame({"said": TEXTS})
    blocks = [("words", CountVectorizer(vocabulary=["good", "bad"]), "said")]
    return LazyPipeline(blocks, BudgetTreeClassifier()).fit(frame, ["yes", "no", "no", "yes"] * 5)


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder: Path = tmp_path_factory.mktemp("pipelines")
    with pytest.warns(TrustWarning):
        of_texts().save(folder / "texts.farthing")
    with pytest.warns(TrustWarning):
        of_text_columns().save(folder / "columns.farthing")
    of_frames().save(folder / "frames.farthing")
    BudgetTreeClassifier().fit(np.eye(2), [0, 1]).save(folder / "plain.farthing")
    settings = Settings(sources=(str(folder),), trusted=(VECTORIZER,), max_rows=50, max_body=200_000)
    with running(settings) as url, httpx.Client(base_url=url, trust_env=False) as client:
        yield client


def raw(http: httpx.Client, name: str, rows: Any, **more: Any) -> httpx.Response:
    return http.post(f"/v1/models/{name}/predict_raw", json={"rows": rows, **more})


def test_texts_and_frames_are_decided_as_by_the_pipeline(http: httpx.Client) -> None:
    made = of_texts().decide(TEXTS[:4])
    answer = raw(http, "texts", TEXTS[:4]).json()
    assert [each["prediction"] for each in answer["decisions"]] == made.prediction.tolist()
    assert [each["spent"] for each in answer["decisions"]] == made.spent.tolist()
    assert answer["spent"] == made.spent.sum()
    made = of_frames().decide(FRAME[:10])
    answer = raw(http, "frames", FRAME[:10].to_dict(orient="records")).json()
    assert [each["probabilities"] for each in answer["decisions"]] == made.probabilities.tolist()
    capped = raw(http, "frames", FRAME[:10].to_dict(orient="records"), budget=1).json()
    assert max(each["spent"] for each in capped["decisions"]) <= 1


def test_the_model_of_a_pipeline_is_walked_like_others(http: httpx.Client) -> None:
    assert http.get("/v1/models/texts").json()["n_features"] > 2
    step = http.post("/v1/models/texts/next", json={}).json()
    assert step["ask"]["feature"].startswith("words__")


def test_bad_rows_are_named_and_the_service_goes_on(http: httpx.Client) -> None:
    assert raw(http, "plain", ["a"]).status_code == 409
    assert raw(http, "nothing", ["a"]).status_code == 404
    for name, rows in [
        ("texts", ["good", 3]),
        ("texts", [{"a": 1.0}]),
        ("frames", ["good"]),
        ("frames", [{"a": -1.0}]),  # needs the other columns; a row with a high "a" does not
        ("frames", [{"a": 1.0, "b": 1.0, "c": 1.0}, {"a": 1.0}]),
        ("frames", [{"a": "x", "b": [1], "c": {}}]),
        ("columns", [{"said": [1]}]),  # a list has no lower case
        ("columns", [{"said": None}]),
        ("frames", [[1.0], [1.0, 2.0]]),
        ("frames", []),
        ("frames", 3),
    ]:
        answer = raw(http, name, rows)
        assert answer.status_code == 422, (name, rows, answer.text)
        assert answer.json()["detail"][0]["loc"][-1] in ("rows", 1)
    assert "at most 50" in raw(http, "texts", ["good"] * 51).text
    assert raw(http, "texts", ["good"]).status_code == 200
