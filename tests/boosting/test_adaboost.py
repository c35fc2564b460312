"""AdaBoost: against its definition, at its ends, and what it tells about itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from farthing import store
from farthing.base import load
from farthing.boosting import AdaBoostClassifier
from farthing.errors import FileError
from farthing.multiclass import OneVsRestClassifier

BLOCKS = np.arange(8.0).reshape(-1, 1)


def noisy(n_rows: int = 120, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 5)), 1)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows) > 0).astype(np.int64)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def test_an_example_by_hand() -> None:
    # Class 1 is 2..4. First "up to 4.5" with rows 0 and 1 of eight wrong, then the vote against everything,
    # which is wrong on rows of weight 1/4, then "above 1.5".
    model = AdaBoostClassifier(n_estimators=3).fit(BLOCKS, [0, 0, 1, 1, 1, 0, 0, 0])
    assert model.edges_ == pytest.approx([1 / 2, 1 / 2, 2 / 3])
    assert model.estimator_weights_ == pytest.approx(np.arctanh([1 / 2, 1 / 2, 2 / 3]))
    assert model.forest_.feature.tolist() == [0, -1, -1, -1, 0, -1, -1]
    assert model.forest_.threshold[[0, 4]].tolist() == [4.5, 1.5]
    assert model.predict(BLOCKS).tolist() == [0, 0, 1, 1, 1, 0, 0, 0]


def test_without_an_intercept_no_learner_is_constant() -> None:
    model = AdaBoostClassifier(n_estimators=30, intercept=False).fit(BLOCKS, [0, 0, 1, 1, 1, 0, 0, 0])
    assert (model.forest_.feature[model.forest_.offsets[:-1]] == 0).all()


def test_a_perfect_learner_ends_the_training() -> None:
    model = AdaBoostClassifier(n_estimators=50).fit(BLOCKS, np.arange(8) > 2)
    assert model.edges_.tolist() == [1.0]
    assert model.estimator_weights_ == pytest.approx([np.log(2 * 8)])
    assert model.predict(BLOCKS).tolist() == (np.arange(8) > 2).tolist()


def test_a_late_perfect_learner_sets_every_row_right() -> None:
    # A tree of depth 2 finds the middle only when the weights have moved; until then rows are wrong.
    rng = np.random.default_rng(3)
    X = rng.integers(0, 4, size=(60, 3)).astype(float)
    y = (X[:, 0] > 1) ^ (X[:, 1] > 1)
    model = AdaBoostClassifier(n_estimators=500, max_depth=2).fit(X, y)
    assert model.edges_[-1] == 1.0
    assert len(model.edges_) > 1
    assert (model.predict(X) == y).all()


@pytest.mark.parametrize("y", [[0, 1, 0, 1], [1, 1, 1, 0]])
def test_a_table_that_tells_nothing_gives_the_prior(y: list[int]) -> None:
    model = AdaBoostClassifier().fit(np.ones((4, 2)), y)
    assert model.predict_proba(np.ones((1, 2)))[0] == pytest.approx([1 - np.mean(y), np.mean(y)])
    assert not model.acquired(np.ones((3, 2))).any()
    assert model.forest_.n_trees == 1


@pytest.mark.filterwarnings("ignore:y has a single class")
def test_one_class_is_predicted_for_nothing() -> None:
    model = AdaBoostClassifier().fit(BLOCKS, np.full(8, "only"))
    assert model.predict(BLOCKS).tolist() == ["only"] * 8
    assert model.spend(BLOCKS).tolist() == [0.0] * 8
    assert (model.margins(BLOCKS, np.full(8, "only")) == 1).all()


@pytest.mark.parametrize("max_depth", [1, 2])
def test_stages_lead_to_the_vote(max_depth: int) -> None:
    X, y = noisy()
    model = AdaBoostClassifier(n_estimators=20, max_depth=max_depth).fit(X, y)
    votes = list(model.staged_decision_function(X))
    labels = list(model.staged_predict(X))
    shares = list(model.staged_predict_proba(X))
    assert len(votes) == len(labels) == len(shares) == 20
    assert np.array_equal(votes[-1], model.decision_function(X))
    assert np.array_equal(labels[-1], model.predict(X))
    assert np.array_equal(shares[-1], model.predict_proba(X))
    short = AdaBoostClassifier(n_estimators=7, max_depth=max_depth).fit(X, y)
    assert np.array_equal(labels[6], short.predict(X))
    assert np.array_equal(votes[6], short.decision_function(X))


def test_margins_are_normalised_votes_for_the_truth() -> None:
    X, y = noisy()
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    margins = model.margins(X, y)
    signs = np.where(y == 1, 1, -1)
    assert margins == pytest.approx(signs * model.decision_function(X) / model.estimator_weights_.sum())
    assert ((margins > 0) == (model.predict(X) == y)).all()
    with pytest.raises(ValueError, match="label 7"):
        model.margins(X, np.where(y == 1, 7, y))
    with pytest.raises(ValueError, match="120 rows, y has 60"):
        model.margins(X, y[:60])


def test_the_probability_is_half_the_log_odds() -> None:
    X, y = noisy()
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    share = model.predict_proba(X)[:, 1]
    assert np.log(share / (1 - share)) / 2 == pytest.approx(model.decision_function(X))


def test_whole_weights_are_repeated_rows() -> None:
    X, y = noisy(60)
    times = np.random.default_rng(1).integers(1, 4, size=60)
    weighted = AdaBoostClassifier(n_estimators=15).fit(X, y, sample_weight=times)
    repeated = AdaBoostClassifier(n_estimators=15).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert weighted.edges_ == pytest.approx(repeated.edges_)
    assert np.array_equal(weighted.predict(X), repeated.predict(X))


def test_deeper_trees_have_larger_edges() -> None:
    X, y = noisy(300)
    first = [AdaBoostClassifier(n_estimators=1, max_depth=d).fit(X, y).edges_[0] for d in (1, 2, 3)]
    assert first[0] < first[1] < first[2]


def test_the_wrapper_still_takes_it() -> None:
    X, _ = noisy(90)
    y = np.arange(90) % 3
    X[:, 0] = y + 0.1 * np.nan_to_num(X[:, 0])
    model = OneVsRestClassifier(AdaBoostClassifier(n_estimators=20)).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"n_estimators": 0}, r"'n_estimators' .* must be an int in the range \[1, inf\). Got 0"),
        ({"n_estimators": 2.5}, r"'n_estimators' .* must be an int in the range \[1, inf\). Got 2.5"),
        ({"max_depth": 4}, r"'max_depth' .* must be an int in the range \[1, 3\]. Got 4"),
    ],
)
def test_bad_settings(settings: dict[str, object], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        AdaBoostClassifier(**settings).fit(BLOCKS, np.arange(8) > 2)


def test_a_loaded_model_knows_its_edges(tmp_path: Path) -> None:
    model = AdaBoostClassifier(n_estimators=5).fit(BLOCKS, np.arange(8) > 2)
    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.edges_, model.edges_)
    assert [params for params, _ in loaded.variants()] == [params for params, _ in model.variants()]
    state = {"params": {}, "fitted": {**model.fitted_.state(), "edges_": np.ones(9)}}
    store.write(tmp_path / "bad", "AdaBoostClassifier", state)
    with pytest.raises(FileError, match="edges must be"):
        load(tmp_path / "bad")


def test_a_row_of_hardly_any_weight_is_learned_too() -> None:
    """The first stump misses only the last row, whose weight is far below the grid of the integer sums."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.5]])
    y = np.array([0, 1, 0, 1, 1])
    model = AdaBoostClassifier(n_estimators=300).fit(X, y, sample_weight=[1, 1, 1, 1, 1e-30])
    assert model.edges_[0] == 1.0
    assert model.estimator_weights_[0] == pytest.approx(0.5 * np.log(4e30))
    assert np.array_equal(model.predict(X), y)
