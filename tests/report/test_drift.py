"""Drift: real ones are found and named, none raises an alarm seldom, and files keep counts alone."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import chi2_contingency

import farthing
from farthing import store
from farthing.base.files import kind_of, state_of
from farthing.boosting import GradientBoostingRegressor
from farthing.costs import CostSheet
from farthing.errors import FileError
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.report import audit
from farthing.report.drift import FALSE_ALARMS, compare, homogeneity


def draw(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 4, n)])
    X[rng.random(X.shape) < 0.05] = np.nan
    p = 1 / (1 + np.exp(-1.5 * np.nan_to_num(X[:, 0]) - np.nan_to_num(X[:, 3]) + 1))
    return X, (rng.random(n) < p).astype(int)


@pytest.fixture(scope="module")
def model() -> BudgetTreeClassifier:
    X, y = draw(0, 1500)
    tree = BudgetTreeClassifier(costs=CostSheet([1.0, 2.0, 3.0, 4.0]), max_depth=4, min_samples_leaf=20)
    return tree.fit(X, y).with_reference(*draw(1, 1500))


def test_rows_like_those_at_fit_raise_an_alarm_as_seldom_as_stated(model):
    alarms = 0
    for seed in range(100):
        # The counts alone; `with_reference` also walks rows for the reasons of questions.
        counts = model.behaviour(*draw(1000 + seed, 600)).reference()
        alarms += compare(model, model.behaviour(*draw(5000 + seed, 400)), counts).found
    # The 0.999 quantile of the binomial of 100 draws at the stated rate.
    assert alarms <= 13
    assert FALSE_ALARMS == 0.05


def _later(X, y):
    return X + np.array([0.5, 0, 0, 0]), y


def _recoded(X, y):
    return np.column_stack([X[:, :3], np.where(X[:, 3] == 3, 0, X[:, 3])]), y


def _lost(X, y):
    X = X.copy()
    X[::3, 0] = np.nan
    return X, y


def _other_labels(X, y):
    return X, np.where(np.arange(len(y)) % 4 == 0, 1 - y, y)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (_later, "answers of x0"),
        (_recoded, "answers of x3"),
        (_lost, "answers of x0"),
        (_other_labels, "calibration"),
    ],
)
def test_a_drift_is_found_and_named(model, change, named):
    X, y = change(*draw(2, 1500))
    found = audit(model, X, y=y).drift
    assert found.found
    assert named in [one.what for one in found.alarms]
    assert "Drift" in str(found)
    assert named in str(found)
    assert json.loads(json.dumps(found.to_dict()))["found"] is True


def test_without_labels_the_calibration_is_left_out_and_that_is_said(model):
    X, y = draw(3, 500)
    found = audit(model, X).drift
    assert found.without_labels
    assert "Calibration is not compared" in str(found)
    assert "calibration" not in [one.what for one in found.comparisons]
    assert "No drift" in str(audit(model, X, y=y))


def test_a_file_holds_the_counts_and_no_row(model, tmp_path):
    model.save(tmp_path / "m.farthing")
    read = farthing.load(tmp_path / "m.farthing")
    X, y = _later(*draw(4, 800))
    assert str(audit(read, X, y=y).drift) == str(audit(model, X, y=y).drift)
    reference = read.reference_
    assert max(reference.answers.size, reference.answer_edges.size) < 60
    assert reference.bought.sum() == model.acquired(draw(1, 1500)[0]).sum()


def test_a_new_fit_and_a_variant_forget_the_counts(model):
    X, y = draw(0, 300)
    assert model.with_reference(X).fit(X, y).reference_ is None
    assert BudgetTreeClassifier().fit(X, y).reference_ is None
    assert audit(BudgetTreeClassifier().fit(X, y), X).drift is None


def test_counts_of_another_model_are_refused(model):
    X, y = draw(0, 300)
    other = BudgetTreeClassifier().fit(X[:, :2], y).with_reference(X[:, :2])
    with pytest.raises(ValueError, match="reference"):
        model.remembering(other.reference_)


def test_regressors_and_categories(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400), "c": rng.choice(["u", "v", "w"], 400)})
    number = GradientBoostingRegressor(n_estimators=3).fit(frame, frame["a"].to_numpy())
    number = number.with_reference(frame)
    assert not audit(number, frame).drift.found
    assert not audit(number, frame).drift.without_labels
    label = (frame["c"] == "u").to_numpy()
    forest = BudgetForestClassifier(n_estimators=2, random_state=0).fit(frame, label).with_reference(frame)
    moved = frame.assign(c=np.where(frame["c"] == "v", "w", frame["c"]))
    assert "answers of c" in [one.what for one in audit(forest, moved).drift.alarms]


def test_the_test_of_homogeneity_is_pearsons():
    before, after = np.array([40, 30, 30, 20]), np.array([25, 35, 20, 60])
    known = chi2_contingency(np.array([before, after]), correction=False).pvalue
    assert homogeneity(before, after) == pytest.approx(known)
    # Cells with few expected rows are merged; nothing is left to compare here.
    assert homogeneity(np.array([100, 1]), np.array([100, 1])) is None
    assert homogeneity(np.array([100, 100]), np.array([0, 0])) is None


def test_a_hostile_reference_is_refused(model, tmp_path):
    store.write(tmp_path / "m.farthing", kind_of(model), state_of(model) | {"reference": "none"})
    with pytest.raises(FileError, match="Reference"):
        farthing.load(tmp_path / "m.farthing")
