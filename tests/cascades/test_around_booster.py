"""Cascades around boosters that exist already."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from numpy.typing import NDArray
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier

import farthing
from farthing import CostSheet, ErrorCosts, Group
from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier
from farthing.cascades import MiserCascadeClassifier
from farthing.forests import from_model

NAMES = [f"f{k}" for k in range(6)]
# The last column says nearly everything, and costs more than all others together.
SHEET = CostSheet(
    dict(zip(NAMES, [0.0, 1.0, 1.0, 2.0, 2.0, 20.0], strict=True)), groups={"lab": Group(1.5, ["f3", "f4"])}
)


def table(seed: int, n_rows: int, n_classes: int = 2) -> tuple[pd.DataFrame, NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 6))
    score = X[:, 0] + X[:, 1] + X[:, 3] * (X[:, 2] > 0)
    X[:, 5] = score + 0.3 * rng.normal(size=n_rows)
    names = np.array(["no", "sure"] if n_classes == 2 else ["no", "so", "yes"])
    y = names[np.searchsorted([0.0, 1.5][: n_classes - 1], score + 0.3 * rng.logistic(size=n_rows))]
    return pd.DataFrame(X, columns=NAMES), y


def lightgbm_model(n_classes: int = 2) -> Any:
    X, y = table(0, 900, n_classes)
    return lightgbm.LGBMClassifier(n_estimators=40, num_leaves=8, verbose=-1, n_jobs=1).fit(X, y)


@pytest.fixture(scope="module")
def booster() -> Any:
    return from_model(lightgbm_model(), SHEET)


@pytest.fixture(scope="module")
def cascade(booster: Any) -> MiserCascadeClassifier:
    return MiserCascadeClassifier.around(booster, *table(1, 600))


def test_a_lightgbm_model_answers_for_a_tenth_of_its_price(booster: Any, cascade: Any) -> None:
    X, y = table(2, 2000)
    whole, spend = booster.score(X, y), booster.spend(X).mean()
    assert spend > 20
    scores = [cascade.at(budget).score(X, y) for budget in (0, 2, 4, 30)]
    assert scores == sorted(scores)
    assert scores[0] > 0.6  # a column is free
    assert scores[-1] > whole - 0.015
    cheap = cascade.at(0.1 * spend)
    assert cheap.spend(X).mean() <= 0.1 * spend * 1.1
    # Only rows that are hard to decide buy the expensive column.
    assert cheap.score(X, y) > 0.7
    assert 0 < cheap.acquired(X)[:, 5].mean() < 0.15


def test_a_mean_budget_holds_on_the_rows_that_set_it(cascade: Any) -> None:
    X, _ = table(1, 600)
    for budget in (0.0, 0.5, 1.7, 5.0, 12.0):
        assert cascade.at(budget).spend(X).mean() <= budget * (1 + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_last_stage_is_the_booster(n_classes: int) -> None:
    X, y = table(1, 400, n_classes)
    model = from_model(lightgbm_model(n_classes), SHEET)
    cascade = MiserCascadeClassifier.around(model, X, y, n_stages=3)
    fitted = cascade.fitted_
    last = int(fitted.chain[-1])
    temper = fitted.temperatures[last]
    # Without thresholds every row goes to the end; the temperature alone is new.
    ends = cascade.variant({}, fitted.at(None, "hard"))
    log_odds = model.raw_outputs(X)[0]
    np.testing.assert_allclose(ends.raw_outputs(X)[0] * temper, log_odds, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ends.predict(X), model.predict(X))


def test_walks_and_files_agree(cascade: Any, tmp_path: Any) -> None:
    model = cascade.at(4)
    X, _ = table(3, 30)
    answers = model.decide(X)
    for place in range(len(X)):
        walk = model.walk()
        while (ask := walk.ask) is not None:
            walk.tell(X.iloc[place][ask.feature])
        assert walk.decision.prediction == answers.prediction[place]
        assert walk.decision.spent == answers.spent[place]
    model.save(tmp_path / "cascade.farthing")
    again = farthing.load(tmp_path / "cascade.farthing")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.at(1).spend(X), cascade.at(1).spend(X))


def test_other_libraries_and_own_boosters() -> None:
    X, y = table(0, 700)
    rows, labels = table(1, 400)
    codes = (y == "sure").astype(int)
    miser = GreedyMiserClassifier(n_estimators=15, costs=SHEET).fit(X, y)
    theirs = from_model(
        xgboost.XGBClassifier(n_estimators=15, max_depth=3, n_jobs=1).fit(X, codes), SHEET,
        classes=["no", "sure"],
    )  # fmt: skip
    old = from_model(GradientBoostingClassifier(n_estimators=15).fit(X, y), SHEET)
    for model in (miser, theirs, old):
        cascade = MiserCascadeClassifier.around(model, rows, labels, budget=3)
        assert cascade.classes_.tolist() == ["no", "sure"]
        assert cascade.spend(rows).mean() <= 3
        # Half of the labels are of either class.
        assert cascade.score(rows, labels) > 0.6
        hard = MiserCascadeClassifier.around(model, rows, labels, budget=4, budget_kind="hard")
        assert hard.spend(rows).max() <= 4


def test_prices_of_errors_move_the_labels(booster: Any) -> None:
    X, y = table(1, 600)
    prices = ErrorCosts([[0.0, 1.0], [9.0, 0.0]])
    model = MiserCascadeClassifier.around(booster, X, y, error_costs=prices)
    plain = MiserCascadeClassifier.around(booster, X, y)
    assert (model.predict(X) == "sure").mean() > (plain.predict(X) == "sure").mean() + 0.05


def test_other_prices_and_weights(booster: Any) -> None:
    X, y = table(1, 600)
    dear_first = MiserCascadeClassifier.around(booster, X, y, costs=dict.fromkeys(NAMES, 1.0), budget=1)
    # At equal prices the column that says nearly everything comes first.
    assert dear_first.acquired(X)[:, 5].mean() > 0.9
    weights = np.repeat([1.0, 0.0], 300)
    half = MiserCascadeClassifier.around(booster, X, y, sample_weight=weights)
    alone = MiserCascadeClassifier.around(booster, X[:300], y[:300])
    np.testing.assert_array_equal(half.path_spend_, alone.path_spend_)


def test_what_cannot_be_cut_is_refused(booster: Any) -> None:
    X, y = table(0, 200)
    forest = from_model(RandomForestClassifier(3, max_depth=3).fit(X, y))
    with pytest.raises(TypeError, match="prune_path"):
        MiserCascadeClassifier.around(forest, X, y)
    regressor = GradientBoostingRegressor(n_estimators=2).fit(X, np.arange(200.0))
    with pytest.raises(TypeError, match="only a boosted classifier"):
        MiserCascadeClassifier.around(regressor, X, y)
    with pytest.raises(TypeError, match="from_model"):
        MiserCascadeClassifier().wrap(lightgbm_model(), X, y)
    paid = GreedyMiserClassifier(n_estimators=2, tree_cost=1.0).fit(X, y)
    with pytest.raises(TypeError, match="do not add up"):
        MiserCascadeClassifier.around(paid, X, y)
    with pytest.raises(ValueError, match="'perhaps', which the model does not know"):
        MiserCascadeClassifier.around(booster, X, np.full(200, "perhaps"))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        MiserCascadeClassifier.around(booster, X, y[:-1])
    with pytest.raises(ValueError, match="learned"):
        MiserCascadeClassifier.around(booster, X, y, exit="learned")
