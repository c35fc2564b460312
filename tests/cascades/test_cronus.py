"""Cronus: its gradients, its descent, its convex case, what its stages buy, and how rows are read out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit

from farthing.base import TrainingSet
from farthing.cascades import CronusClassifier, CronusRanker, CSTCRegressor
from farthing.cascades.cronus.calibration import ExitOdds
from farthing.cascades.cronus.objective import CronusObjective, Stage, StageObjective
from farthing.cascades.cronus.training import start, train_cascade
from farthing.costs import CostSheet
from farthing.learning.booster import TreeSettings
from farthing.learning.mixed_norm import MixedNorm
from farthing.learning.tree_terms import TreeTerms
from farthing.metrics import ndcg


def problem(seed: int, n_stages: int, **changes: object) -> tuple[CronusObjective, list[Stage]]:
    """A small objective over boosted trees, with groups and prices of evaluation, and random stages."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * random.normal(size=60) > 0.7, 1.0, -1.0)
    costs = CostSheet({"a": 1.0, "b": 2.0, "c": 0.5}, groups={"lab": {"cost": 1.5, "members": ["a", "c"]}})
    settings = TreeSettings(n_estimators=6, learning_rate=0.3, max_depth=2)
    terms = TreeTerms.boosted(TrainingSet.of(X, y), y[:, np.newaxis], settings)
    omega = np.where(y > 0, 3.5, 1.0)
    shares = random.uniform(0.5, 1.5, size=60)
    objective = CronusObjective(
        learners=terms.terms(X),
        target=y,
        omega=omega / omega.sum(),
        shares=shares / shares.sum(),
        norm=MixedNorm.of(terms.reads, costs, np.full(6, 0.3), eps=1e-3),
        tradeoff=0.02,
        sparsity=np.append(np.full(n_stages - 1, 0.01), 0.02),
        steepness=5.0,
    )
    stages = [
        Stage(0.5 * random.normal(size=6), float(random.normal()), float(random.normal()))
        for _ in range(n_stages)
    ]
    return replace(objective, **changes), stages


@pytest.mark.parametrize("number", [0, 1, 2])
def test_gradients_are_those_of_finite_differences(number: int) -> None:
    """Stages 1, 2 and one before the last of four; the last one has a closed form."""
    objective, stages = problem(0, 4)
    bound, here = StageObjective(objective, stages, number), stages[number].vector()

    def whole(vector: np.ndarray) -> float:
        return objective.value([*stages[:number], stages[number].moved(vector), *stages[number + 1 :]])

    np.testing.assert_allclose(bound(here)[1], approx_fprime(here, whole, 1e-7), atol=2e-6)


def test_the_bound_is_above_the_objective_and_touches_it() -> None:
    objective, stages = problem(1, 3)
    random = np.random.default_rng(2)
    for number in (0, 1):
        bound, here = StageObjective(objective, stages, number), stages[number].vector()
        constant = objective.value(stages) - bound(here)[0]
        for _ in range(20):
            vector = here + random.normal(size=len(here))
            moved = [*stages[:number], stages[number].moved(vector), *stages[number + 1 :]]
            assert bound(vector)[0] + constant >= objective.value(moved) - 1e-10


def test_the_last_stage_is_the_best_of_its_kind() -> None:
    """After the cycles the gradient by the last stage, for which there is a closed form, is zero."""
    objective, _ = problem(3, 3)
    stages = train_cascade(objective, reject_fraction=0.2, inflation=1.3, max_cycles=40, tol=1e-10).cascades[
        -1
    ]

    def whole(vector: np.ndarray) -> float:
        return objective.value([*stages[:-1], stages[-1].moved(np.append(vector, 0.0))])

    slope = approx_fprime(stages[-1].vector()[:-1], whole, 1e-7)
    assert np.abs(slope).max() < 1e-4


def test_the_objective_never_rises() -> None:
    objective, _ = problem(4, 4)
    trace = train_cascade(objective, reject_fraction=0.15, inflation=1.3, max_cycles=8, tol=1e-12)
    assert len(trace.values) > 2
    assert trace.values[-1] < trace.values[0] - 1e-3
    assert np.all(np.diff(trace.values) <= 0)


def test_one_stage_is_the_convex_problem() -> None:
    """Algorithm 2 with K = 1 against a generic solver on equation 7."""
    objective, _ = problem(5, 1)
    trace = train_cascade(objective, reject_fraction=0.15, inflation=1.3, max_cycles=5, tol=1e-9)
    stages = trace.cascades[-1]
    generic = minimize(
        lambda v: objective.value([stages[0].moved(np.append(v, 0.0))]), np.zeros(7), method="BFGS",
        options={"gtol": 1e-9},
    )  # fmt: skip
    assert trace.values[-1] == pytest.approx(generic.fun, rel=1e-6)


def test_without_prices_one_stage_is_least_squares_on_the_trees() -> None:
    objective, _ = problem(6, 1, tradeoff=0.0, sparsity=np.zeros(1))
    trace = train_cascade(objective, reject_fraction=0.15, inflation=1.3, max_cycles=5, tol=1e-9)
    stages = trace.cascades[-1]
    root = np.sqrt(objective.omega)
    design = np.column_stack([objective.learners, np.ones(60)])
    fitted = design @ np.linalg.lstsq(design * root[:, np.newaxis], objective.target * root, rcond=None)[0]
    np.testing.assert_allclose(objective.scores(stages[0]), fitted, atol=1e-6)


def test_the_start_rejects_the_same_share_at_each_stage() -> None:
    objective, _ = problem(7, 4, steepness=50.0)
    stages = start(objective, 0.15, 1.3)
    mass = objective.reach(stages) @ objective.shares
    np.testing.assert_allclose(mass, 0.85 ** np.arange(4), rtol=1e-9)


def rare_positives(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """One row in five is positive: where a sum of two columns is high. Two more are noise."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, 4))
    return X, (2 * X[:, 0] + X[:, 1] + 0.3 * random.normal(size=n_rows) > 1.9).astype(int)


CASCADE = {"n_stages": 3, "reject_fraction": 0.3, "validation_fraction": None, "max_cycles": 3}
TREES = {**CASCADE, "n_estimators": 20, "max_depth": 1, "learning_rate": 0.3}


def over_columns(price: float, seed: int) -> CronusClassifier:
    """A cascade whose second column has some price, the others 1."""
    X, y = rare_positives(800, seed)
    model = CronusClassifier([1.0, price, 1.0, 1.0], tradeoff=0.04, learners="columns", **CASCADE)
    return model.fit(X, y)


def test_expensive_features_move_to_later_stages() -> None:
    trees = [over_columns(price, seed=0).trees_[0] for price in (1.0, 6.0, 10.0)]
    first = [min(stage for stage in range(3) if 1 in tree.columns(stage)) for tree in trees]
    assert first == [0, 1, 2]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_expected_price_is_what_rows_pay(seed: int) -> None:
    """Soft exits, as in training, against the hard ones of predictions: equal within two per cent."""
    model, (X, _) = over_columns(6.0, seed), rare_positives(800, seed)
    tree, sheet = model.trees_[0], model.costs_
    reached, before, expected = np.ones(len(X)), 0.0, 0.0
    for stage in range(3):
        price = sheet.total([sheet.features[column] for column in tree.columns(stage)])
        expected += reached.mean() * (price - before)
        reached, before = reached * expit(50 * (tree.scores(stage, X)[:, 0] - tree.threshold[stage])), price
    spend = model.spend(X)
    assert spend.min() < 0.5 * spend.max()
    assert expected == pytest.approx(spend.mean(), rel=0.02)


def test_trees_are_paid_once_for_each_stage_that_adds_some() -> None:
    X, y = rare_positives(400, seed=2)
    model = CronusClassifier([1.0, 6.0, 2.0, 2.0], tradeoff=0.005, tree_cost=0.25, **TREES).fit(X, y)
    tree = model.trees_[0]
    active = (tree.coef != 0).any(axis=2)
    added = [np.count_nonzero(active[s] & ~active[:s].any(axis=0)) for s in range(3)]
    assert list(model.costs_.call_prices().values()) == [0.25 * n for n in added if n]
    assert model.costs_.calls[0] == "trees of node 1"
    np.testing.assert_array_equal(model.spend(X), model.costs_.total_rows(model.acquired(X)))


def test_class_weights_count_in_the_loss_and_not_in_the_price() -> None:
    X, y = rare_positives(400, seed=3)
    plain = CronusClassifier(tradeoff=0.02, **TREES).fit(X, y)
    weighed = CronusClassifier(tradeoff=0.02, class_weight={0: 1, 1: 3.5}, **TREES).fit(X, y)
    assert (weighed.predict(X) == 1).sum() >= (plain.predict(X) == 1).sum()
    # With classes of equal weight nothing changes, so the price is that of the rows alone.
    same = CronusClassifier(
        tradeoff=0.02, class_weight={0: 2, 1: 2}, max_cycles=0, n_estimators=8, max_depth=2
    )
    base = CronusClassifier(tradeoff=0.02, max_cycles=0, n_estimators=8, max_depth=2)
    trees = [m.set_params(validation_fraction=None).fit(X, y).trees_[0] for m in (same, base)]
    np.testing.assert_allclose(trees[0].coef, trees[1].coef, atol=1e-6)


def test_rejected_rows_are_of_the_first_class_and_probabilities_are_calibrated() -> None:
    X, y = rare_positives(1500, seed=4)
    settings = {**TREES, "validation_fraction": 0.3}
    model = CronusClassifier(tradeoff=0.01, random_state=0, **settings).fit(X, y)
    new, truth = rare_positives(2000, seed=5)
    _, stages = model.trees_[0].ends(new)
    rejected = stages < 2
    assert 0.2 < rejected.mean() < 0.9
    assert not model.predict(new)[rejected].any()
    assert model.predict_proba(new)[:, 1].mean() == pytest.approx(truth.mean(), abs=0.03)


def test_log_odds_of_exits_are_those_of_logistic_regression() -> None:
    """With many rows a stage the shrinkage is nothing: offsets are the log-odds of constant scores."""
    stages = np.repeat([0, 1], 5000)
    positive = np.concatenate([np.arange(5000) < 500, np.arange(5000) < 4000])
    odds = ExitOdds.of(np.zeros(10000), stages, positive, np.ones(10000), 2)
    np.testing.assert_allclose(odds.offsets, np.log([500 / 4500, 4000 / 1000]), atol=0.01)


def test_one_stage_is_cstc_with_one_node() -> None:
    """Both are equation 7 then; the target of the regressor has the variance 1."""
    random = np.random.default_rng(8)
    X = random.normal(size=(200, 4))
    y = X @ [1.0, 0.5, 0.0, 0.2] + random.normal(size=200)
    y = (y - y.mean()) / y.std()
    settings = {"learners": "columns", "tradeoff": 0.05, "sparsity": 0.0, "tol": 1e-9}
    cascade = CronusRanker(n_stages=1, **settings).fit(X, y)
    tree = CSTCRegressor(depth=1, max_cycles=60, **settings).fit(X, y)
    used = cascade.trees_[0].coef[0, :, 0] != 0
    assert 0 < used.sum() < 4
    np.testing.assert_array_equal(used, tree.trees_[0].coef[0, :, 0] != 0)


def documents(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X, qid = random.normal(size=(600, 4)), np.repeat(np.arange(40), 15)
    return X, np.digitize(X[:, 0] + 0.7 * X[:, 1] + 0.5 * random.normal(size=600), [0.3, 1.0, 1.8]), qid


def test_a_weight_of_positives_needs_a_grade_from_which_they_are() -> None:
    X, grades, qid = documents(8)
    with pytest.raises(ValueError, match="relevant_grade"):
        CronusRanker(positive_weight=2.0).fit(X, grades, qid)


@pytest.mark.parametrize(("relevant", "weight"), [(None, 1.0), (2, 3.5)])
def test_the_ranker_puts_rejected_documents_last(relevant: float | None, weight: float) -> None:
    X, grades, qid = documents(9)
    model = CronusRanker(
        [1.0, 3.0, 1.0, 1.0], relevant_grade=relevant, positive_weight=weight, tradeoff=0.01, n_estimators=12,
        max_depth=2, n_stages=3, max_cycles=2, reject_fraction=0.3,
    ).fit(X, grades, qid)  # fmt: skip
    new, truth, queries = documents(10)
    scores, stages = model.trees_[0].ends(new)
    predicted = model.predict(new)
    assert len(np.unique(stages)) > 1
    order = np.lexsort((scores[:, 0], stages))
    assert np.all(np.diff(predicted[order]) >= 0)
    assert model.score(new, truth, queries) == ndcg(truth, predicted, qid=queries, k=5)
    assert model.score(new, truth, queries) > ndcg(truth, new[:, 2], qid=queries, k=5) + 0.2
