"""The base class: validation, the prior, budgets, seeds, files."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from tests.random_glance import RandomGlanceClassifier
from tests.stumps import StumpListClassifier, StumpListRegressor

from farthing import store
from farthing.base import ContractClassifier, load, n_threads
from farthing.boosting import GreedyMiserRegressor
from farthing.costs import CostSheet, Group
from farthing.errors import FileError, OneClassWarning, TableError


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 80, 80),
            "chol": np.where(rng.random(80) < 0.2, np.nan, rng.normal(200, 30, 80)),
            "pain": rng.choice(["none", "mild", "strong"], 80),
        }
    )


@pytest.fixture
def label(frame: pd.DataFrame) -> Any:
    sick = (frame["age"] > 50) & (frame["pain"] != "none") | (frame["chol"] > 230)
    return np.where(sick, "sick", "well")


@pytest.fixture
def model(frame: pd.DataFrame, label: Any) -> StumpListClassifier:
    sheet = CostSheet({"age": 1.0, "chol": 5.17, "pain": 0.5}, {"blood": Group(2.1, ["chol"])}, unit="USD")
    return StumpListClassifier(costs=sheet).fit(frame, label)


def test_the_fitted_attributes(model: StumpListClassifier, frame: pd.DataFrame, label: Any) -> None:
    assert model.classes_.tolist() == ["sick", "well"]
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["age", "chol", "pain"]
    assert model.costs_.features == ("age", "chol", "pain")
    np.testing.assert_allclose(model.prior_, [np.mean(label == "sick"), np.mean(label == "well")])
    again = clone(model).set_params(costs=None).fit(frame[["age", "chol"]].to_numpy(), label)
    assert not hasattr(again, "feature_names_in_")
    assert again.costs_ == CostSheet.uniform(["x0", "x1"])


def test_a_refit_on_an_array_forgets_the_names(frame: pd.DataFrame, label: Any) -> None:
    model = StumpListClassifier().fit(frame, label)
    model.fit(frame[["age"]].to_numpy(), label)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 1


def test_pandas_polars_and_walks_agree(model: StumpListClassifier, frame: pd.DataFrame) -> None:
    decided = model.decide(frame)
    np.testing.assert_array_equal(model.predict(pl.from_pandas(frame)), decided.prediction)
    assert decided.probabilities is not None
    for row in range(len(frame)):
        walk = model.walk()
        walk.replay({name: frame[name][row] for name in frame.columns})
        assert walk.decision.prediction == decided.prediction[row]
        assert walk.decision.probabilities == dict(
            zip(("sick", "well"), decided.probabilities[row], strict=True)
        )
        assert walk.decision.spent == decided.spent[row]
    assert type(walk.decision.prediction) is str
    assert walk.decision.acquired == tuple(np.array(model.costs_.features)[decided.acquired[-1]])


def test_a_row_that_looks_at_nothing_gets_the_prior(frame: pd.DataFrame, label: Any) -> None:
    weights = np.where(label == "sick", 3.0, 1.0)
    model = StumpListClassifier().fit(frame, label, sample_weight=weights)
    share = 3 * np.mean(label == "sick") / (3 * np.mean(label == "sick") + np.mean(label == "well"))
    decided = model.decide(frame, budget=0.5)
    assert not decided.acquired.any()
    assert not decided.spent.any()
    np.testing.assert_allclose(model.predict_proba(frame, budget=0.5), np.tile([share, 1 - share], (80, 1)))
    assert model.walk().decision.probabilities == pytest.approx({"sick": share, "well": 1 - share})

    age = frame["age"].to_numpy(float)
    regressor = StumpListRegressor().fit(frame, age, sample_weight=weights)
    np.testing.assert_allclose(regressor.predict(frame, budget=0), np.average(age, weights=weights))


def test_a_known_feature_that_is_used_is_not_nothing(model: StumpListClassifier) -> None:
    first = model.walk().ask
    assert first is not None
    walk = model.walk(
        budget=0, known={first.feature: {"age": 90, "chol": 300.0, "pain": "strong"}[first.feature]}
    )
    assert walk.ask is None
    assert walk.decision.acquired == ()
    assert walk.decision.probabilities != model.walk().decision.probabilities


def test_a_budget_for_each_row(model: StumpListClassifier, frame: pd.DataFrame) -> None:
    budgets = np.linspace(0, 9, 80)
    decided = model.decide(frame, budget=budgets)
    assert (decided.spent <= budgets).all()
    for row in range(0, 80, 7):
        alone = model.decide(frame[row : row + 1], budget=budgets[row])
        assert alone.spent[0] == decided.spent[row]
        assert alone.probabilities is not None
        assert decided.probabilities is not None
        assert alone.probabilities.tobytes() == decided.probabilities[row].tobytes()


def test_the_hard_budget_is_kept_after_the_parameter_is_changed(frame: pd.DataFrame, label: Any) -> None:
    model = StumpListClassifier(costs=[1, 1, 1], budget=1).fit(frame, label)
    assert model.budget_ == 1.0
    model.set_params(budget=None)
    with pytest.warns(UserWarning, match="budget was changed after fit"):
        assert model.spend(frame).max() == 1.0
    with pytest.warns(UserWarning, match="budget was changed after fit"):
        assert model.walk().left == 1.0
    assert RandomGlanceClassifier().fit(frame, label).budget_ is None


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        (-1, "budget must be zero or more; got -1.0"),
        (np.nan, "budget must be zero or more; got nan"),
        ("much", "budget must be a number or one number per row; got 'much'"),
        ([1, 2], r"budget must be a number or have shape \(80,\), one per row; got \(2,\)"),
        ([1.0] * 79 + [-2.0], "budget must be zero or more on every row; row 79 has -2.0"),
    ],
)
def test_bad_budgets(model: StumpListClassifier, frame: pd.DataFrame, budget: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.predict(frame, budget=budget)


@pytest.mark.parametrize("budget", [-1, np.nan, "much", [1, 2]])
def test_bad_budgets_of_walks_and_fits(
    model: StumpListClassifier, frame: pd.DataFrame, label: Any, budget: Any
) -> None:
    with pytest.raises(ValueError, match="budget must be"):
        model.walk(budget=budget)
    with pytest.raises(ValueError, match="budget must be"):
        model.set_params(budget=budget).fit(frame, label)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 79, r"one weight per row, shape \(80,\); got \(79,\)"),
        (np.ones((80, 1)), r"one weight per row, shape \(80,\); got \(80, 1\)"),
        ([1.0] * 79 + [-1.0], "zero or more on every row; row 79 has -1.0"),
        ([np.nan] + [1.0] * 79, "finite on every row; row 0 has nan"),
        (np.zeros(80), "zero on every row"),
    ],
)
def test_bad_weights(frame: pd.DataFrame, label: Any, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StumpListClassifier().fit(frame, label, sample_weight=weights)


def test_one_weight_for_all(frame: pd.DataFrame, label: Any) -> None:
    np.testing.assert_array_equal(
        StumpListClassifier().fit(frame, label, sample_weight=2.0).predict(frame),
        StumpListClassifier().fit(frame, label).predict(frame),
    )


def test_seeds(frame: pd.DataFrame, label: Any) -> None:
    model = RandomGlanceClassifier(n_glances=1, random_state=0).fit(frame, label)
    acquired = model.acquired(frame, seeds=np.arange(80))
    assert acquired.any(axis=0).all(), "each row draws for itself"
    np.testing.assert_array_equal(acquired[5], model.acquired(frame[5:6], seeds=5)[0])
    ask = model.walk(seed=5).ask
    assert ask is not None
    assert ask.feature == model.costs_.features[int(np.argmax(acquired[5]))]
    assert len(np.unique(model.acquired(frame), axis=0)) == 1, "without seeds the model's own"
    for seeds in (0.5, [1, 2], "one", -1, [True] * 80):
        with pytest.raises(ValueError, match="seeds must"):
            model.predict(frame, seeds=seeds)
    wrong: list[Any] = [0.5, True, -1]
    for seed in wrong:
        with pytest.raises(ValueError, match="seed"):
            model.walk(seed=seed)


def test_only_acquired_entries_are_validated(model: StumpListClassifier, frame: pd.DataFrame) -> None:
    acquired = model.acquired(frame)
    strange = frame.astype(object)
    for row, column in np.argwhere(~acquired[:, :2]).tolist():
        strange.iloc[row, column] = "?"
    np.testing.assert_array_equal(model.predict(strange), model.predict(frame))
    strange.iloc[int(np.argmax(acquired[:, 0])), 0] = "?"
    with pytest.raises(TableError, match="age"):
        model.predict(strange)


def test_columns_are_checked(model: StumpListClassifier, frame: pd.DataFrame) -> None:
    with pytest.raises(TableError, match="now missing:\n- pain"):
        model.predict(frame.drop(columns="pain"))
    with pytest.raises(TableError, match="unseen at fit time:\n- weight"):
        model.predict(frame.assign(weight=1))
    with pytest.raises(TableError, match="X has 2 features, but StumpListClassifier is expecting 3 features"):
        model.predict(frame.to_numpy()[:, :2])
    with pytest.warns(UserWarning, match="StumpListClassifier was fitted with feature names"):
        model.predict(frame.to_numpy())


def test_an_unfitted_model_says_so(frame: pd.DataFrame, tmp_path: Path) -> None:
    for call in ("predict", "predict_proba", "acquired", "spend", "decide"):
        with pytest.raises(NotFittedError):
            getattr(StumpListClassifier(), call)(frame)
    with pytest.raises(NotFittedError):
        StumpListClassifier().walk()
    with pytest.raises(NotFittedError):
        StumpListClassifier().save(tmp_path / "model")


@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_labels_are_refused(missing: Any) -> None:
    with pytest.raises(ValueError, match=r"y must hold labels of one type, none of them missing; got .*str"):
        StumpListClassifier().fit(np.arange(3.0)[:, None], np.array(["a", missing, "b"], dtype=object))


def test_a_fit_that_fails_leaves_no_fitted_model(frame: pd.DataFrame, label: Any) -> None:
    model = StumpListClassifier(costs=[1, 2])
    with pytest.raises(ValueError, match="cost"):
        model.fit(frame, label)
    with pytest.raises(NotFittedError):
        model.predict(frame)


class BinaryStumps(StumpListClassifier):
    binary_only: ClassVar[bool] = True


def test_a_binary_method_says_so(frame: pd.DataFrame, label: Any) -> None:
    assert BinaryStumps().fit(frame, label).score(frame, label) > 0.7
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*OneVsRestClassifier"):
        BinaryStumps().fit(frame, frame["pain"])


@pytest.mark.parametrize("y", [[7] * 6, ["only"] * 6, [True] * 6])
def test_one_class_is_predicted(y: list[Any]) -> None:
    with pytest.warns(OneClassWarning):
        model = StumpListClassifier().fit(np.arange(6.0)[:, None], y)
    assert model.predict([[3.0]]).tolist() == y[:1]
    assert model.walk().decision.probabilities == {y[0]: 1.0}


def test_a_class_without_weight_stays_a_class() -> None:
    X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 1, 2, 2])
    model = StumpListClassifier().fit(X, y, sample_weight=[1, 1, 1, 1, 0, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (6, 3)
    assert not model.predict_proba(X)[:, 2].any()


def test_in_pipelines_and_searches(frame: pd.DataFrame, label: Any) -> None:
    search = GridSearchCV(StumpListClassifier(), {"n_rules": [1, 8]}, cv=3).fit(frame, label)
    assert search.best_params_ == {"n_rules": 8}
    assert cross_val_score(make_pipeline(StumpListClassifier()), frame, label, cv=3).mean() > 0.7


def test_pickle_and_clone(model: StumpListClassifier, frame: pd.DataFrame) -> None:
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict_proba(frame), model.predict_proba(frame))
    assert clone(model).get_params() == model.get_params()


# Files.


@pytest.mark.parametrize(
    "costs", [None, {"age": 1, "chol": 2, "pain": 0}, pd.Series({"pain": 1, "age": 2, "chol": 3})]
)
def test_a_file_holds_the_model(frame: pd.DataFrame, label: Any, costs: Any, tmp_path: Path) -> None:
    model = StumpListClassifier(costs=costs, budget=3.0).fit(frame, label)
    model.save(tmp_path / "model.farthing")
    loaded = load(tmp_path / "model.farthing")
    assert type(loaded) is StumpListClassifier
    assert loaded.costs == (None if costs is None else model.costs_)
    assert (loaded.budget_, loaded.n_features_in_) == (3.0, 3)
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert loaded.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    assert loaded.spend(frame).tobytes() == model.spend(frame).tobytes()
    assert clone(loaded).fit(frame, label).predict(frame).tolist() == model.predict(frame).tolist()


class NotRegistered(StumpListClassifier):
    pass


def test_only_registered_methods_are_saved(frame: pd.DataFrame, label: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="NotRegistered is not a registered method"):
        NotRegistered().fit(frame, label).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


def _state(model: StumpListClassifier) -> dict[str, dict[str, Any]]:
    names = ("schema_", "costs_", "prior_", "budget_", "classes_", "rules_", "leaves_")
    return {"params": model.get_params(), "fitted": {name: getattr(model, name) for name in names}}


@pytest.mark.parametrize(
    ("section", "name", "value", "message"),
    [
        ("params", "evil", 1, "no parameter 'evil'"),
        ("fitted", "predict", 1, "stores"),
        ("fitted", "rules_", "text", "rules_ must be"),
        ("fitted", "rules_", np.array([[99.0, 0.0, 0.0]]), "do not match"),
        ("fitted", "leaves_", np.zeros((2, 1, 2)), "do not match"),
        ("fitted", "prior_", np.array([np.nan, 1.0]), "prior must be"),
        ("fitted", "prior_", np.array([0.5, 0.25, 0.25]), "do not match"),
        ("fitted", "prior_", np.array([1, 0]), "prior must be"),
        ("fitted", "classes_", np.array(["b", "a"]), "classes must be"),
        ("fitted", "classes_", np.array(["a", "a"]), "classes must be"),
        ("fitted", "classes_", np.array([["a", "b"]]), "classes must be"),
        ("fitted", "costs_", CostSheet([1, 2, 3]), "the cost sheet and the columns"),
        ("fitted", "budget_", -1.0, "budget must be"),
        ("fitted", "budget_", float("nan"), "budget must be"),
        ("fitted", "budget_", "3", "budget_ must be"),
    ],
)
def test_a_file_that_does_not_fit_together(
    model: StumpListClassifier, tmp_path: Path, section: str, name: str, value: Any, message: str
) -> None:
    state = _state(model)
    state[section][name] = value
    store.write(tmp_path / "model", "StumpListClassifier", state)
    with pytest.raises(FileError, match=message):
        load(tmp_path / "model")


def test_a_file_with_more_outputs_than_classes(model: StumpListClassifier, tmp_path: Path) -> None:
    state = _state(model)
    leaves = np.ones((*model.leaves_.shape[:2], 3))
    state["fitted"].update(prior_=np.array([0.5, 0.25, 0.25]), leaves_=leaves)
    store.write(tmp_path / "model", "StumpListClassifier", state)
    with pytest.raises(FileError, match="2 classes do not fit 3 outputs"):
        load(tmp_path / "model")


def test_a_file_of_an_unknown_kind_or_without_its_parts(model: StumpListClassifier, tmp_path: Path) -> None:
    state = _state(model)
    for kind, parts, message in (
        ("Nobody", state, "no method named 'Nobody'"),
        ("StumpListClassifier", {"params": {}}, "no fitted"),
        ("StumpListClassifier", {**state, "more": {}}, "holds params and fitted"),
        ("StumpListClassifier", {"params": {}, "fitted": {}}, "stores"),
    ):
        store.write(tmp_path / "model", kind, parts)
        with pytest.raises(FileError, match=message):
            load(tmp_path / "model")
    state["params"].pop("n_rules")
    store.write(tmp_path / "model", "StumpListClassifier", state)
    assert load(tmp_path / "model").n_rules == 12, "a parameter added later has its default"


def test_the_contract_has_to_be_filled_in() -> None:
    class Half(ContractClassifier):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Half()


def test_threads() -> None:
    assert n_threads(None) == n_threads(1) == 1
    assert 1 <= n_threads(-1) == n_threads(10**9)
    with pytest.raises(ValueError, match="n_jobs"):
        n_threads(0)


def test_an_array_that_needs_no_encoding_is_predicted_as_any_other() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    model = GreedyMiserRegressor(n_estimators=5).fit(X, rng.normal(size=30))
    for rows in (X, X[:1], X[:, ::-1][:, ::-1], np.asfortranarray(X), X.astype(np.float32)):
        assert model.fitted_.schema.is_encoded(rows)
        fast, slow = model.raw_outputs(rows), model.raw_outputs(rows, budget=np.inf)
        for found, expected in zip(fast, slow, strict=True):
            np.testing.assert_array_equal(found, expected)
    for other in (X[:, :2], X[0], X.astype(">f8"), X.tolist(), np.ma.array(X), X[:0]):
        assert not model.fitted_.schema.is_encoded(other)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(X[:, :2])
