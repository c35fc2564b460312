"""Lazy pipelines: the predictions of the whole table, with only the blocks that rows need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier, is_regressor
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler

import farthing
from farthing import CostSheet, LazyPipeline, consult
from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.cascades import MiserCascadeClassifier
from farthing.errors import CostError, FileError, TableError, TrustWarning
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.sources.lazy_choice import score_of_choice

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(400, 6)), columns=list("abcdef"))
Y = np.where(X["a"] > 0.7, "high", np.where(X["c"] * X["d"] + X["f"] > 0, "mid", "low"))


class Counted(BaseEstimator, TransformerMixin):  # type: ignore[misc]
    """Passes columns through, and counts the rows and the calls of `transform`."""

    calls: list[int] = []  # noqa: RUF012 - one list, which clones share

    def fit(self, X: Any, y: Any = None) -> Counted:
        self.n_features_in_ = np.asarray(X).shape[1]
        return self

    def transform(self, X: Any) -> Any:
        self.calls.append(len(X))
        return np.asarray(X)


def blocks() -> list[Any]:
    return [
        ("cheap", StandardScaler(), ["a", "b"]),
        ("products", PolynomialFeatures(include_bias=False), ["c", "d"]),
        ("dear", Counted(), ["e", "f"]),
    ]


PRICES = {"cheap": 1.0, "products": 5.0, "dear": 20.0}
MODELS = {
    "forest": BudgetForestClassifier(n_estimators=5, max_depth=4, random_state=0),
    "tree": BudgetTreeClassifier(max_depth=5),
    "miser": GreedyMiserClassifier(n_estimators=12, tradeoff=0.001, charge="row"),
    "cascade": MiserCascadeClassifier(budget=9, n_estimators=8, n_stages=4, random_state=0),
}


@pytest.fixture(scope="module", params=list(MODELS))
def fitted(request: Any) -> LazyPipeline:
    return LazyPipeline(blocks(), MODELS[request.param], costs=PRICES).fit(X, Y)


def test_predictions_are_those_of_the_whole_table(fitted: LazyPipeline) -> None:
    whole = fitted.model_.decide(pd.DataFrame(fitted.features(X), columns=fitted.costs_.features))
    for size in (10_000, 37):
        lazy = clone(fitted).set_params(batch_size=size).adopt(fitted.blocks_, fitted.model_).decide(X)
        np.testing.assert_array_equal(lazy.prediction, whole.prediction)
        np.testing.assert_array_equal(lazy.probabilities, whole.probabilities)
        np.testing.assert_array_equal(lazy.acquired, whole.acquired)
        np.testing.assert_array_equal(lazy.spent, whole.spent)


@pytest.mark.parametrize("budget", [0.0, 1.0, 6.5, 21.0])
def test_budgets_hold_and_give_what_the_whole_table_gives(fitted: LazyPipeline, budget: float) -> None:
    whole = fitted.model_.decide(
        pd.DataFrame(fitted.features(X), columns=fitted.costs_.features), budget=budget
    )
    lazy = fitted.decide(X, budget=budget)
    assert (lazy.spent <= budget).all()
    np.testing.assert_array_equal(lazy.probabilities, whole.probabilities)
    np.testing.assert_array_equal(lazy.acquired, whole.acquired)
    mixed = fitted.decide(X, budget=np.where(np.arange(len(X)) % 2, budget, 100.0))
    np.testing.assert_array_equal(mixed.probabilities[1::2], lazy.probabilities[1::2])


def test_a_block_is_computed_for_the_rows_that_bought_of_it_and_no_others(fitted: LazyPipeline) -> None:
    computed = fitted.computed(X)
    features = fitted.costs_.features
    for number, block in enumerate(fitted.blocks_):
        mine = [features.index(name) for name in block.features]
        np.testing.assert_array_equal(computed[:, number], fitted.acquired(X)[:, mine].any(axis=1))
    Counted.calls.clear()
    fitted.predict(X)
    assert sum(Counted.calls) == computed[:, 2].sum()
    assert len(Counted.calls) <= 2  # in rounds: a call for each round in which some rows want it


def test_some_rows_are_decided_without_the_dear_block() -> None:
    computed = LazyPipeline(blocks(), MODELS["cascade"], costs=PRICES).fit(X, Y).computed(X)
    assert 0 < computed[:, 2].mean() < 0.6


def test_a_consultation_of_one_row_gives_what_the_array_gives(fitted: LazyPipeline) -> None:
    lazy = fitted.decide(X)
    for row in range(0, 40, 4):
        decision = consult(fitted, fitted.sources(), row=X.iloc[[row]])
        assert decision.prediction == lazy.prediction[row]
        assert decision.spent == lazy.spent[row]


def test_text_works_and_survives_its_file(tmp_path: Path) -> None:
    texts = [f"{'good' if k % 2 else 'bad'} film number {k % 7}" for k in range(60)]
    labels = ["yes" if k % 2 else "no" for k in range(60)]
    parts = [
        ("words", CountVectorizer(vocabulary=["good", "number"])),
        ("topics", make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0))),
    ]
    pipeline = LazyPipeline(parts, BudgetTreeClassifier(), costs={"words": 1, "topics": 50}).fit(
        texts, labels
    )
    assert pipeline.score(texts, labels) == 1.0
    assert set(pipeline.spend(texts)) == {1.0}
    assert pipeline.costs_.features[0] == "words__good"
    with pytest.warns(TrustWarning, match=r"CountVectorizer|TfidfVectorizer"):
        pipeline.save(tmp_path / "text.farthing")
    with pytest.raises(FileError, match="does not trust"):
        farthing.load(tmp_path / "text.farthing")
    trusted = [
        f"sklearn.feature_extraction.text.{name}"
        for name in ("CountVectorizer", "TfidfVectorizer", "TfidfTransformer")
    ]
    loaded = farthing.load(tmp_path / "text.farthing", trusted=trusted)
    np.testing.assert_array_equal(loaded.predict_proba(texts), pipeline.predict_proba(texts))


def test_a_vocabulary_may_hold_the_words_that_files_use(tmp_path: Path) -> None:
    texts = ["__class__ __module__ file", "__loader__ __id__ content", "__class__ content", "file"] * 20
    words = CountVectorizer(token_pattern=r"\S+")
    pipeline = LazyPipeline([("words", words)], BudgetTreeClassifier(), costs={"words": 1.0})
    pipeline.fit(texts, ["a", "b", "a", "b"] * 20)
    with pytest.warns(TrustWarning, match="CountVectorizer"):
        pipeline.save(tmp_path / "code.farthing")
    trusted = ["sklearn.feature_extraction.text.CountVectorizer"]
    loaded = farthing.load(tmp_path / "code.farthing", trusted=trusted)
    np.testing.assert_array_equal(loaded.predict_proba(texts), pipeline.predict_proba(texts))


def test_files_keep_every_bit_and_are_checked(fitted: LazyPipeline, tmp_path: Path) -> None:
    parts = blocks()[:2]
    pipeline = LazyPipeline(parts, fitted.model, costs={"cheap": 1, "products": 5}, batch_size=50).fit(X, Y)
    pipeline.save(tmp_path / "p.farthing")
    loaded = farthing.load(tmp_path / "p.farthing")
    np.testing.assert_array_equal(loaded.predict_proba(X), pipeline.predict_proba(X))
    np.testing.assert_array_equal(loaded.spend(X), pipeline.spend(X))
    assert loaded.batch_size == 50
    assert loaded.costs_ == pipeline.costs_
    with pytest.raises(ValueError, match="the features of the blocks must be the columns of the model"):
        clone(loaded).adopt(pipeline.blocks_[:1], pipeline.model_)


def test_it_is_an_estimator_of_scikit_learn() -> None:
    pipeline = LazyPipeline(blocks(), MODELS["tree"], costs=PRICES)
    assert is_classifier(pipeline)
    assert cross_val_score(pipeline, X, Y, cv=3).mean() > 0.6
    assert set(pipeline.fit(X, Y).classes_) == {"high", "mid", "low"}
    regressor = LazyPipeline(blocks(), GreedyMiserRegressor(n_estimators=20), costs=PRICES)
    assert is_regressor(regressor)
    assert not hasattr(regressor, "predict_proba")
    assert regressor.fit(X, X["a"] * 3).score(X, X["a"] * 3) > 0.8
    weights = np.where(Y == "low", 0.0, 1.0)
    assert "low" not in pipeline.fit(X, Y, sample_weight=weights).predict(X)


def test_prices_are_measured_if_none_are_given() -> None:
    pipeline = LazyPipeline(blocks(), MODELS["tree"]).fit(X, Y)
    assert set(pipeline.costs_.groups) == {"cheap", "products", "dear"}
    assert pipeline.costs_.unit == "us"
    assert (pipeline.costs_.shared > 0).all()


def test_prices_of_features_may_be_given() -> None:
    names = LazyPipeline(blocks(), MODELS["tree"], costs=PRICES).fit(X, Y).costs_.features
    sheet = CostSheet(dict.fromkeys(names, 2.0))
    assert LazyPipeline(blocks(), MODELS["tree"], costs=sheet).fit(X, Y).costs_ == sheet


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"blocks": []}, ValueError, "blocks must be a list"),
        ({"blocks": [("a",)]}, ValueError, r"a block is \(name, transformer\)"),
        ({"blocks": [("a", 3)]}, TypeError, "block 'a': int has no fit_transform"),
        ({"blocks": [("a", StandardScaler(), slice(2))]}, TypeError, "columns is a slice"),
        ({"blocks": [("a", StandardScaler()), ("a", StandardScaler())]}, CostError, "block 'a'"),
        ({"model": StandardScaler()}, TypeError, "model must be a classifier or regressor of this library"),
        ({"batch_size": 0}, ValueError, "batch_size must be a whole number"),
        (
            {"costs": {"cheap": 1}},
            CostError,
            "Give a price for each of the blocks 'cheap', 'products', 'dear'",
        ),
        (
            {"blocks": [("a", FunctionTransformer(lambda X: np.full(X.shape, "x")))]},
            TableError,
            "block 'a' gives features that are not numbers",
        ),
    ],
)
def test_bad_parameters_are_named(given: Any, error: Any, message: str) -> None:
    parameters = {"blocks": blocks(), "model": MODELS["tree"], "costs": PRICES, **given}
    with pytest.raises(error, match=message):
        LazyPipeline(**parameters).fit(X, Y)


def test_no_rows_and_a_block_that_changes_its_width_are_named() -> None:
    pipeline = LazyPipeline(blocks(), MODELS["tree"], costs=PRICES).fit(X, Y)
    with pytest.raises(TableError, match="there are no rows to predict"):
        pipeline.predict(X.iloc[:0])
    pipeline.blocks_[0].transformer.transform = lambda X: np.zeros((len(X), 3))
    with pytest.raises(TableError, match="block 'cheap' gave 3 columns; expected its 2 features"):
        pipeline.features(X)


@pytest.mark.parametrize("n_given", [1, 7])
def test_a_block_that_gives_other_rows_than_it_was_given_is_named(n_given: int) -> None:
    pipeline = LazyPipeline(blocks(), MODELS["tree"], costs=PRICES).fit(X, Y)
    pipeline.blocks_[0].transformer.transform = lambda X: np.zeros((n_given, 2))
    for call in (pipeline.predict, pipeline.features):
        with pytest.raises(TableError, match=f"block 'cheap' gave {n_given} rows for {len(X)}"):
            call(X)


def test_images_and_joins() -> None:
    images = RNG.random(size=(120, 8, 8))
    labels = np.where(
        images.mean(axis=(1, 2)) > 0.5, "bright", np.where(images[:, 0, 0] > 0.5, "dot", "dark")
    )
    blocks = [("mean", FunctionTransformer(_mean)), ("gradients", FunctionTransformer(_gradients))]
    pipeline = LazyPipeline(blocks, BudgetTreeClassifier(max_depth=4), costs={"mean": 1, "gradients": 30})
    pipeline.fit(images, labels)
    whole = pipeline.model_.decide(pd.DataFrame(pipeline.features(images), columns=pipeline.costs_.features))
    np.testing.assert_array_equal(pipeline.decide(images).probabilities, whole.probabilities)
    assert pipeline.computed(images)[:, 1].mean() < 1
    assert pipeline.score(images, labels) > 0.6

    orders = pd.DataFrame({"customer": RNG.integers(0, 30, 200), "amount": RNG.normal(size=200)})
    risk = orders["amount"] + ACCOUNTS.loc[orders["customer"], "debt"].to_numpy() > 1
    joined = LazyPipeline(
        [("order", StandardScaler(), ["amount"]), ("account", FunctionTransformer(_account), ["customer"])],
        BudgetTreeClassifier(max_depth=4, cost_rule="penalty", tradeoff=0.005),
        costs={"order": 1, "account": 8},
    ).fit(orders, risk)
    assert joined.score(orders, risk) > 0.9
    assert 0 < joined.computed(orders)[:, 1].mean() < 1


def test_caps_of_several_resources_hold(fitted: LazyPipeline) -> None:
    features = fitted.costs_.features
    minutes = {name: 3.0 if name.startswith("products") else 1.0 for name in features}
    sheet = CostSheet(
        dict(zip(features, fitted.costs_.own.tolist(), strict=True)),
        fitted.costs_.groups,
        "USD",
        resources={"minutes": minutes},
    )
    timed = LazyPipeline(blocks(), fitted.model, costs=sheet).fit(X, Y)
    frame = pd.DataFrame(timed.features(X), columns=features)
    for budget in ({"minutes": 4.0}, {"USD": 6.5, "minutes": 2.0}):
        lazy, whole = timed.decide(X, budget=budget), timed.model_.decide(frame, budget=budget)
        np.testing.assert_array_equal(lazy.probabilities, whole.probabilities)
        np.testing.assert_array_equal(lazy.acquired, whole.acquired)
        assert sheet.resources["minutes"].total_rows(lazy.acquired).max() <= budget["minutes"]


def test_the_cheapest_model_that_is_nearly_as_good() -> None:
    learn, new = slice(0, 300), slice(300, 400)
    whole = LazyPipeline(blocks(), MODELS["cascade"], costs=PRICES).fit(X[learn], Y[learn])
    table = pd.DataFrame(whole.features(X[new]), columns=whole.costs_.features)
    made = [one for _, _, one in whole.model_.decide_variants(table)]
    made += [point.model.decide(table) for point in whole.model_.path().points]
    points = [(float(np.mean(one.prediction == Y[new])), float(one.spent.mean())) for one in made]
    # Each fifth of the rows is scored by the best on the others.
    right, part = np.array([one.prediction == Y[new] for one in made]), np.arange(100) % 5
    best = np.mean([right[right[:, part != p].mean(axis=1).argmax()][part == p].mean() for p in range(5)])
    best = min(best, max(score for score, _ in points))
    for within in (0.0, 0.05, 1.0):
        found = whole.cheapest(X[new], Y[new], within=within)
        assert found.spend(X[new]).mean() == min(spend for score, spend in points if score >= best - within)
        assert found.score(X[new], Y[new]) >= best - within
    by_itself = LazyPipeline(blocks(), MODELS["cascade"], costs=PRICES, within=1.0).fit(X, Y)
    assert by_itself.spend(X).mean() < whole.spend(X).mean()
    with pytest.raises(ValueError, match="within must be zero or more"):
        whole.cheapest(X[new], Y[new], within=float("nan"))


def test_the_score_of_a_choice_is_not_the_luck_of_the_best() -> None:
    rng = np.random.default_rng(0)
    y = np.zeros(200, dtype=np.int64)
    # All are right three times in four; the best of a hundred is so more often, by luck.
    predictions = [(rng.random(200) < 0.25).astype(np.int64) for _ in range(100)]
    assert max(accuracy_score(y, one) for one in predictions) > 0.8
    assert score_of_choice(predictions, y, accuracy_score) < 0.78
    # Rows without weight do not count, and few rows are scored as they are.
    weights = (np.arange(200) < 100).astype(float)
    half = [one[:100] for one in predictions]
    weighted = score_of_choice(predictions, y, accuracy_score, weights)
    assert weighted == pytest.approx(score_of_choice(half, y[:100], accuracy_score))
    few = [one[:10] for one in predictions]
    assert score_of_choice(few, y[:10], accuracy_score) == 1.0


ACCOUNTS = pd.DataFrame({"debt": np.random.default_rng(1).normal(size=30) * 0.4})


def _mean(images: Any) -> Any:
    return np.asarray(images).mean(axis=(1, 2))[:, np.newaxis]


def _gradients(images: Any) -> Any:
    table = np.asarray(images)
    return np.concatenate([np.abs(np.diff(table, axis=1)).mean(axis=1), table[:, 0]], axis=1)


def _account(rows: pd.DataFrame) -> Any:
    return ACCOUNTS.loc[rows["customer"]].to_numpy()
