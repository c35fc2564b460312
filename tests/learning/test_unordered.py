"""Records with tests that nobody ordered: the estimates against the truth, and learning."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.costs import CostSheet
from farthing.errors import TableError, UnrecordedWarning
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import sweep
from farthing.learning.unordered import complete, judge_records
from farthing.learning.unordered.estimates import estimates
from farthing.learning.unordered.sequential import Nuisances, Sequence
from farthing.report import audit
from farthing.table import PreparedTable
from farthing.walks import recorded_paths

N = 1000


def world(seed: int, mechanism: str, n: int = N) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Complete rows, labels and records; the test x1 matters most where x0 is high."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (np.where(X[:, 0] > 0, X[:, 1], 0.6 * X[:, 2]) + 0.3 * rng.normal(size=n) > 0).astype(int)
    drive = {"random": 0 * X[:, 0], "known": X[:, 0], "value": X[:, 1]}[mechanism]
    chance = 1 / (1 + np.exp(-0.3 - 1.5 * drive))
    records = X.copy()
    records[rng.random(n) > chance, 1] = np.nan
    return X, y, records


@pytest.fixture(scope="module")
def policy() -> BudgetTreeClassifier:
    X, y, _ = world(99, "random")
    return BudgetTreeClassifier(costs=CostSheet([1.0, 5.0, 2.0]), max_depth=3).fit(X, y)


def test_a_complete_table_gives_the_plain_means(policy):
    X, y, _ = world(0, "random", 400)
    found = judge_records(policy, X, y)
    assert found.n_complete == 400
    assert found.effective_rows == pytest.approx(400)
    for kind in ("inverse_propensity", "doubly_robust"):
        assert getattr(found.score, kind).value == pytest.approx(policy.score(X, y))
        assert getattr(found.spend, kind).value == pytest.approx(policy.spend(X).mean())


@pytest.mark.parametrize("mechanism", ["random", "known"])
def test_estimates_are_close_to_the_truth_where_the_naive_one_is_not(policy, mechanism):
    errors: dict[str, list[float]] = {
        "naive": [],
        "direct": [],
        "inverse_propensity": [],
        "doubly_robust": [],
    }
    covered = []
    for seed in range(4):
        X, y, records = world(seed, mechanism)
        truth = policy.score(X, y)
        found = judge_records(policy, records, y)
        errors["naive"].append(policy.score(records, y) - truth)
        for kind in ("direct", "inverse_propensity", "doubly_robust"):
            errors[kind].append(getattr(found.score, kind).value - truth)
        low, high = found.score.doubly_robust.interval
        covered.append(low <= truth <= high)
    bias = {kind: abs(float(np.mean(of))) for kind, of in errors.items()}
    assert bias["doubly_robust"] < 0.012
    assert bias["inverse_propensity"] < 0.02
    assert bias["naive"] > 3 * bias["doubly_robust"]
    assert sum(covered) >= 3


def test_a_test_ordered_by_its_own_value_biases_every_estimate():
    X, _, _ = world(99, "random")
    stump = BudgetTreeClassifier(costs=[1.0, 0.0, 9.0], max_depth=1).fit(
        X[:, [0, 1, 2]], (X[:, 1] > 1).astype(int)
    )
    X, _, records = world(1, "value", 4000)
    found = judge_records(stump, records, (X[:, 1] > 1).astype(int) * 0)
    truth = float((stump.predict(X) == 0).mean())
    low, high = found.score.doubly_robust.interval
    assert not low <= truth <= high


def test_the_paths_stop_at_the_first_entry_that_is_not_recorded(policy):
    X, _, records = world(2, "known", 200)
    recorded, model = ~np.isnan(records), policy.fitted_
    paths = recorded_paths(model.policy, model.costs, records, recorded, n_outputs=2)
    acquired = policy.acquired(X)
    for row in range(200):
        asked = paths.asked[row][paths.asked[row] >= 0]
        walk = policy.walk()
        seen = []
        while (ask := walk.ask) is not None:
            column = int(ask.feature[1:])
            seen.append(column)
            if not recorded[row, column]:
                break
            walk.tell(X[row, column])
        assert asked.tolist() == seen
        assert paths.complete[row] == (ask is None) == recorded[row, acquired[row]].all()
        assert paths.n_told[row] == len(seen) - (ask is not None)


def test_weights_and_doubly_robust_terms_match_their_definition(policy):
    """The arrays against a loop over rows, with the definitions of the module."""
    _, _, records = world(3, "known", 300)
    recorded, model = ~np.isnan(records), policy.fitted_
    paths = recorded_paths(model.policy, model.costs, records, recorded, n_outputs=2)
    sequence = Sequence(records, recorded.all(axis=0), paths, model.schema)
    propensities = np.random.default_rng(0).uniform(0.01, 1, paths.asked.shape)
    nuisances = sequence.nuisances(propensities, floor=0.1)
    outcomes = np.arange(300.0) % 7
    models = sequence.outcome_models(outcomes)
    terms, top, bottom = [], 0.0, 0.0
    for row in range(300):
        weight, term = 1.0, models[row, 0]
        length = int((paths.asked[row] >= 0).sum())
        for step in range(length):
            weight *= (step < paths.n_told[row]) / max(propensities[row, step], 0.1)
            term += weight * (models[row, step + 1] - models[row, step])
        terms.append(term)
        if paths.complete[row]:
            assert models[row, length] == outcomes[row]
            top, bottom = top + weight * outcomes[row], bottom + weight
    found = estimates(outcomes, nuisances, models)
    assert found.doubly_robust.value == pytest.approx(np.mean(terms))
    assert found.inverse_propensity.value == pytest.approx(top / bottom)
    assert isinstance(nuisances, Nuisances)


def test_a_test_that_no_record_holds_is_named(policy):
    _, y, records = world(4, "random", 300)
    records[:, 1] = np.nan
    with pytest.warns(UnrecordedWarning, match="x1"):
        found = judge_records(policy, records, y)
    assert found.unsupported == ("x1",)
    assert "x1" in str(found)


def test_audit_shows_the_estimates(policy):
    _, y, records = world(5, "known", 400)
    found = audit(policy, records, y=y, missing="unordered")
    assert "doubly robust" in str(found)
    assert found.records.to_dict()["score"]["doubly_robust"]["value"] > 0.5
    assert audit(policy, records).records is None
    with pytest.raises(ValueError, match="'measured' or 'unordered'"):
        audit(policy, records, missing="none")


def test_learning_does_not_take_the_decision_to_order_for_an_answer():
    """Tests are ordered where the label is 1, so a plain fit learns the gaps; complete rows have none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = (X[:, 1] + rng.normal(size=2000) > 0).astype(int)
    records = X.copy()
    records[rng.random(2000) > np.where(y == 1, 0.95, 0.3), 1] = np.nan
    make = lambda: BudgetTreeClassifier(max_depth=3, min_samples_leaf=20)  # noqa: E731
    plain = make().fit(records[:1000], y[:1000])
    told = make().fit(records[:1000], y[:1000], missing="unordered")
    assert told.score(X[1000:], y[1000:]) > plain.score(X[1000:], y[1000:]) + 0.02
    assert told.recorded_[0] == 1
    assert 0.5 < told.recorded_[1] < 0.75


def test_draws_are_recorded_values_of_similar_rows_and_repeatable():
    X, y, records = world(6, "known", 500)
    table = PreparedTable.of(records)
    first, second = (complete(table, y.astype(float), seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.table.values, second.table.values)
    gaps = np.isnan(records)
    np.testing.assert_array_equal(first.table.values[~gaps], X[~gaps])
    assert np.isin(first.table.values[gaps], X[~gaps[:, 1], 1]).all()


def test_a_column_without_records_is_left_and_named():
    records = np.column_stack([np.arange(60.0) % 7, np.full(60, np.nan)])
    with pytest.warns(UnrecordedWarning, match="x1"):
        model = BudgetTreeClassifier(max_depth=2).fit(records, np.arange(60) % 2, missing="unordered")
    assert not model.acquired(records)[:, 1].any()


@pytest.mark.parametrize("method", [GreedyMiserClassifier, GreedyMiserRegressor])
def test_the_option_is_one_of_fit_and_its_word_is_checked(method):
    X, y, records = world(7, "random", 200)
    model = method(n_estimators=3).fit(records, y, missing="unordered")
    assert model.predict(X).shape == (200,)
    with pytest.raises(ValueError, match="missing must be"):
        method().fit(records, y, missing="nan")
    with pytest.raises(ValueError, match="validation"):
        method().fit(records, y, missing="unordered", validation=(X, y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TableError):
            method().fit([["a"], [object()]], [0, 1], missing="unordered")


def test_a_sweep_has_the_estimates_of_its_pareto_points():
    _, y, records = world(8, "known", 600)
    grid = [("BudgetTreeClassifier", {"max_depth": [1, 3]})]
    frontier = sweep(grid, records, y, [1.0, 5.0, 2.0], missing="unordered")
    best = frontier.pareto()
    assert len(best) >= 1
    for point in best:
        low, high = (point.details[f"doubly_robust_score_{end}"] for end in ("low", "high"))
        assert low < point.details["doubly_robust_score"] < high
        assert 0 < point.details["effective_rows"] <= 150
        assert abs(point.details["doubly_robust_score"] - point.score) < 0.15
    with pytest.raises(ValueError, match="cv"):
        sweep(grid, records, y, missing="unordered", cv=3)
    given = sweep(grid, records[:400], y[:400], missing="unordered", validation=(records[400:], y[400:]))
    assert given.pareto()[0].details["complete_rows"] <= 200
