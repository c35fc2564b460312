"""GDFS and DIME: what they buy where the best is known, prices, groups, missing values and hostile files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import farthing
from farthing.costs import CostSheet, Group, superpixels
from farthing.deep import GreedySelectionClassifier, InformationGainClassifier
from farthing.deep.networks.network import Network
from farthing.walks import REFUSED

pytest.importorskip("torch", reason="needs PyTorch: .venv/bin/pip install 'torch>=2.2'")

BOTH = (GreedySelectionClassifier, InformationGainClassifier)
QUICK: dict[str, Any] = {
    "hidden_units": (16,),
    "dropout": 0.0,
    "learning_rate": 0.02,
    "batch_size": 32,
    "random_state": 0,
}


def copies(n_rows: int = 200, seed: int = 0) -> tuple[Any, Any]:
    """Return noise, of which the columns 1 and 2 are both the label."""
    X = np.random.default_rng(seed).integers(0, 2, size=(n_rows, 4)).astype(np.float64)
    X[:, 2] = X[:, 1]
    return X, X[:, 1].astype(np.int64)


def fit(method: Any, X: Any, y: Any, **settings: Any) -> Any:
    few = {"n_temperatures": 2} if method is GreedySelectionClassifier else {}
    return method(**{**QUICK, "n_epochs": 16, **few, **settings}).fit(X, y)


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("cheap", [1, 2])
def test_of_two_copies_it_buys_the_cheaper_one(method, cheap):
    X, y = copies()
    prices = np.where(np.arange(4) == cheap, 1.0, 4.0)
    model = fit(method, X, y, costs=prices, budget=4.0, max_questions=1)
    assert model.walk().ask.feature == f"x{cheap}"
    assert model.score(X, y) == 1.0


@pytest.mark.parametrize("method", BOTH)
def test_what_is_free_is_bought_first(method):
    X, y = copies()
    model = fit(method, X, y, costs=[0.0, 1.0, 1.0, 0.0], budget=1.0)
    bought = model.acquired(X)
    assert bought[:, [0, 3]].all()
    assert (bought[:, 1] ^ bought[:, 2]).all()


@pytest.mark.parametrize("method", BOTH)
def test_it_stops_when_nothing_is_worth_its_price(method):
    X, y = copies()
    model = fit(method, X, y, tradeoff=0.05)
    np.testing.assert_array_equal(model.acquired(X).sum(axis=1), 1)
    assert fit(method, X, y, tradeoff=1.0).acquired(X).sum() == 0


@pytest.mark.parametrize("method", BOTH)
def test_a_square_of_pixels_is_bought_as_a_whole(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 16))
    y = (X[:, [10, 11, 14, 15]].sum(axis=1) > 0).astype(np.int64)  # the last square
    model = fit(method, X, y, costs=superpixels(4, 4, 2), budget=1.0, n_epochs=30)
    expected = np.isin(np.arange(16), [10, 11, 14, 15])
    np.testing.assert_array_equal(model.acquired(X), np.tile(expected, (300, 1)))
    assert model.score(X, y) > 0.9
    walk = model.walk()
    walk.tell(X[0, 10])
    walk.tell(REFUSED)  # the others are still there
    assert walk.ask.feature == "x14"
    assert walk.decision.spent == 1.0


def test_a_shared_price_counts_once_in_training():
    # Columns 0 and 1 tell the label together, as do 2 and 3, whose shared price is paid once.
    X = np.random.default_rng(0).integers(0, 2, size=(400, 4)).astype(np.float64)
    X[:, 2:] = X[:, :2]
    y = (2 * X[:, 0] + X[:, 1]).astype(np.int64)
    costs = CostSheet([1.6, 1.6, 0.1, 0.1], groups={"lab": Group(1.0, ["x2", "x3"])})
    for method in BOTH:
        model = fit(method, X, y, costs=costs, budget=1.7)
        assert model.score(X, y) == 1.0
        np.testing.assert_array_equal(model.acquired(X), np.tile([False, False, True, True], (400, 1)))


@pytest.mark.parametrize("method", BOTH)
def test_a_measured_gap_is_not_the_same_as_what_was_not_bought(method):
    X, y = copies()
    X[:, 1:3] = np.where(y[:, np.newaxis] == 1, np.nan, 0.5)
    model = fit(method, X, y, budget=1.0, n_epochs=30)
    assert model.score(X, y) == 1.0
    gone = model.predict_proba(X[:1], refused=["x0", "x1", "x2", "x3"])
    assert abs(gone[0, 1] - y.mean()) < 1e-6  # refused everything: the prior


def test_frames_with_text_missing_values_and_string_labels():
    X, y = copies()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["b"] = np.where(X[:, 1] == 1, "yes", "no")
    frame.loc[::7, "b"] = None
    frame, labels = frame.drop(columns="c"), np.array(["down", "up"])[y]
    model = fit(InformationGainClassifier, frame, labels, tradeoff=0.01)
    known = frame["b"].notna().to_numpy()
    assert (model.predict(frame)[known] == labels[known]).all()
    assert model.walk().ask.feature == "b"


@pytest.mark.parametrize("method", BOTH)
def test_weights_are_repetitions_and_a_file_answers_alike(method, tmp_path):
    X, y = copies(60)
    twice = fit(method, np.vstack([X, X[:20]]), np.append(y, y[:20]), n_epochs=3)
    weighted = fit(method, X, y, n_epochs=3)
    weighted.fit(X, y, sample_weight=np.where(np.arange(60) < 20, 2.0, 1.0))
    np.testing.assert_array_equal(weighted.predict_proba(X), twice.predict_proba(X))
    weighted.save(tmp_path / "model.farthing")
    again = farthing.load(tmp_path / "model.farthing")
    np.testing.assert_array_equal(again.predict_proba(X), weighted.predict_proba(X))
    assert "torch" not in type(again.fitted_.predictor.weights).__module__


def test_training_leaves_the_random_numbers_and_threads_of_torch_alone():
    import torch  # noqa: PLC0415

    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    fit(GreedySelectionClassifier, *copies(60), n_epochs=2)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.get_num_threads() == threads


def test_numbers_that_are_infinite_or_huge_are_bounded():
    X, y = copies()
    X[0, 0], X[1, 0], X[2, 3] = np.inf, -1e300, 1e300
    model = fit(InformationGainClassifier, X, y, n_epochs=2)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("hidden", [(), (0,), (2.5,)])
def test_hidden_units_are_whole_numbers(hidden):
    with pytest.raises(ValueError, match="hidden_units"):
        fit(GreedySelectionClassifier, *copies(60), hidden_units=hidden)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("mean", np.full(4, np.nan)),
        ("scale", np.zeros(4)),
        ("scale", np.ones(3)),
        ("units", np.array([0, 0, 2, 3])),
        ("units", np.array([0, 1, 2, 9])),
        ("units", np.array([0.0, 1.0, 2.0, 3.0])),
        ("tradeoff", -1.0),
        ("tradeoff", np.nan),
        ("prior", np.zeros(3)),
        ("selector", None),
    ],
)
def test_fields_that_do_not_fit_are_refused(field, value):
    model = fit(InformationGainClassifier, *copies(60), n_epochs=1).fitted_
    model.check()
    with pytest.raises(ValueError):  # noqa: PT011 - each field has a message of its own
        replace(model, **{field: model.predictor if value is None else value}).check()


@pytest.mark.parametrize(
    ("widths", "weights"),
    [
        (np.array([3, 2, 1]), np.full(11, np.nan, dtype=np.float32)),
        (np.array([3, 2, 1]), np.zeros(11)),
        (np.array([3, 2, 1]), np.zeros(10, dtype=np.float32)),
        (np.array([3.0, 2.0, 1.0]), np.zeros(11, dtype=np.float32)),
        (np.array([3, 1]), np.zeros(4, dtype=np.float32)),
    ],
)
def test_networks_that_no_kernel_can_evaluate_are_refused(widths, weights):
    with pytest.raises(ValueError, match=r"widths|weights"):
        Network(widths, weights)
