"""DAG and the weighted gate: optimality on small graphs, the subsets, the account and the files."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier
from tests.lookup import LookupClassifier, LookupRegressor, ThresholdClassifier

import farthing
from farthing.base import TrainingSet
from farthing.cascades import DAGClassifier, WeightedGateClassifier
from farthing.cascades.dag.sensors import Sensors
from farthing.cascades.dag.subsets import complementary_subsets
from farthing.cascades.dag.tournament import RULES
from farthing.costs import CostSheet, Group
from farthing.learning.linear_design import LinearDesign
from farthing.learning.polynomial_scores import expand
from farthing.table import Schema

PRICES = np.array([1.0, 1.5, 2.5])
FAST = {"n_estimators": 5, "policy_estimators": 5, "n_folds": 2, "n_tradeoffs": 2, "random_state": 0}


def cells(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of three binary sensors, all eight of them several times, and labels that depend on all three."""
    random = np.random.default_rng(seed)
    X = np.array(list(product([0.0, 1.0], repeat=3)))[random.permutation(np.arange(64) % 8)]
    chances = random.random(8)[(X @ [4, 2, 1]).astype(int)]
    return X, (random.random(64) < chances).astype(int)


def memorising(policy: str, tradeoff: float, **settings) -> DAGClassifier:
    learner = LookupClassifier() if policy == "filter_tree" else LookupRegressor()
    return DAGClassifier(
        PRICES,
        tradeoff=tradeoff,
        n_tradeoffs=0,
        loss="error",
        policy=policy,
        state_classifier=LookupClassifier(),
        policy_learner=learner,
        n_folds=None,
        **settings,
    )


def behaviours(
    X: np.ndarray,
    y: np.ndarray,
    rows: np.ndarray,
    owned: frozenset[int],
    tradeoff: float,
    evaluation: float = 0.0,
):
    """Yield the total cost of some rows, which share what they own, under every policy from there on."""
    # A policy that reads anything has to be evaluated.
    here = tradeoff * evaluation * len(rows) if owned else 0.0
    # The classifier of the state is fitted on all rows; those of one cell get the label of its majority.
    same = (X[:, sorted(owned)] == X[rows[0], sorted(owned)]).all(axis=1)
    yield here + float((y[rows] != (y[same].mean() > 0.5)).sum())
    for sensor in sorted(set(range(3)) - owned):
        sides = [rows[X[rows, sensor] == value] for value in (0.0, 1.0)]
        after = [
            list(behaviours(X, y, side, owned | {sensor}, tradeoff, evaluation))
            for side in sides
            if len(side)
        ]
        for costs in product(*after):
            yield here + sum(costs) + tradeoff * PRICES[sensor] * len(rows)


@pytest.mark.parametrize("policy", ["filter_tree", "regression"])
@pytest.mark.parametrize("seed", range(3))
def test_the_value_is_that_of_the_best_of_all_policies(policy: str, seed: int) -> None:
    X, y = cells(seed)
    for tradeoff in (1e-9, 0.01, 0.03, 0.07):
        found = list(behaviours(X, y, np.arange(64), frozenset(), tradeoff))
        assert len(found) == 244
        model = memorising(policy, tradeoff).fit(X, y)
        value = model.path_risk_[0] + tradeoff * model.path_spend_[0]
        assert value == pytest.approx(min(found) / 64, abs=1e-12)
        # The cost to go at the root is what predictions lose and spend.
        measured = (model.predict(X) != y).mean() + tradeoff * model.spend(X).mean()
        assert measured == pytest.approx(value, abs=1e-12)


def test_evaluations_are_part_of_the_value_and_of_the_account() -> None:
    X, y = cells(1)
    for tradeoff in (0.01, 0.03):
        model = memorising("filter_tree", tradeoff, evaluation_cost=0.4).fit(X, y)
        best = min(behaviours(X, y, np.arange(64), frozenset(), tradeoff, 0.4)) / 64
        measured = (model.predict(X) != y).mean() + tradeoff * model.spend(X).mean()
        assert measured == pytest.approx(best, abs=1e-12)
        assert model.path_risk_[0] + tradeoff * model.path_spend_[0] == pytest.approx(best, abs=1e-12)
    acquired = model.acquired(X)
    n_states = acquired[:, 3:].sum(axis=1)
    # One call for each state on the way but the root, which owns nothing.
    np.testing.assert_array_equal(n_states, acquired[:, :3].sum(axis=1))
    np.testing.assert_allclose(model.spend(X), acquired[:, :3] @ PRICES + 0.4 * n_states)
    assert model.costs_.calls[:4] == tuple(f"classifier of {name}" for name in ("x0", "x1", "x2", "x0, x1"))
    assert model.spend(X, budget=2.0).max() <= 2.0
    assert max(point.max_spend for point in model.path()) == pytest.approx(PRICES.sum() + 3 * 0.4)


def test_the_best_policy_of_some_trade_off_differs_from_row_to_row() -> None:
    X, y = cells(2)
    spends = [len(np.unique(memorising("filter_tree", t).fit(X, y).spend(X))) for t in (0.01, 0.03, 0.07)]
    assert max(spends) > 1


@pytest.mark.parametrize("policy", ["filter_tree", "regression"])
def test_extreme_trade_offs(policy: str) -> None:
    X, y = cells(0)
    full = LookupClassifier().fit(X, y)
    model = memorising(policy, 0.0).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), full.predict_proba(X))
    assert model.acquired(X).all()
    almost = memorising(policy, 1e-9).fit(X, y)
    assert (almost.predict(X) != y).mean() <= (full.predict(X) != y).mean()
    nothing = memorising(policy, 1e9).fit(X, y)
    assert not nothing.acquired(X).any()
    np.testing.assert_allclose(nothing.predict_proba(X), [[1 - y.mean(), y.mean()]] * 64)


def mixed(n_rows: int = 150) -> tuple[pd.DataFrame, np.ndarray]:
    """A frame of numbers and categories with missing values, and three classes."""
    random = np.random.default_rng(5)
    X = pd.DataFrame(random.normal(size=(n_rows, 4)).round(2), columns=list("abcd"))
    X["e"] = pd.Categorical(random.choice(["ash", "beech", "cedar"], size=n_rows))
    y = np.searchsorted([-0.7, 0.7], X["a"] + X["b"] + (X["e"] == "ash"))
    X.loc[random.random(n_rows) < 0.1, "b"] = np.nan
    return X, np.array(["low", "mid", "top"])[y]


SHEET = CostSheet({"a": 1.0, "b": 1.0, "c": 0.0, "d": 0.5, "e": 2.0}, groups={"lab": Group(1.0, ["b", "d"])})


@pytest.mark.parametrize("policy_learner", [None, "linear", DecisionTreeClassifier(max_depth=2)])
def test_a_policy_reads_only_what_its_state_owns(policy_learner) -> None:
    X, y = mixed()
    given = {"policy": "filter_tree", "policy_learner": policy_learner}
    model = DAGClassifier(SHEET, tradeoff=0.01, **given, **FAST).fit(X, y)
    fitted, random = model.fitted_, np.random.default_rng(0)
    values = fitted.schema.encode(X).values
    n_learned = 0
    for state, owned in enumerate(fitted.states):
        n_actions = 1 + len(fitted.graph.next_states(state))
        allowed = np.ones((len(X), n_actions), dtype=bool)
        garbage = np.where(owned, values, random.normal(size=values.shape) * 100)
        for point in range(len(fitted.path_spend)):
            at = fitted.at_point(point)
            n_learned += at.policy_places[at.level, state] >= 0
            np.testing.assert_array_equal(
                at.act(state, values, allowed)[0], at.act(state, garbage, allowed)[0]
            )
    assert n_learned


def by_cell(cell: np.ndarray, *, regress: bool):
    """Return a learner of binary problems or regressions that knows the cell of a row and nothing else."""

    def learn(target: np.ndarray, weights: np.ndarray) -> np.ndarray:
        sign = target if regress else 2 * target - 1
        totals = np.bincount(cell, weights=weights * sign)
        counts = np.bincount(cell, weights=weights)
        return (totals / np.where(counts > 0, counts, 1))[cell]

    return learn


@pytest.mark.parametrize("name", ["filter_tree", "regression"])
@pytest.mark.parametrize("n_actions", [2, 3, 4, 6, 7])
def test_rules_find_the_least_cost(name: str, n_actions: int) -> None:
    random, rule = np.random.default_rng(n_actions), RULES[name]
    cell = random.integers(0, 9, size=200)
    everywhere = np.ones((200, n_actions), dtype=bool)
    # Costs that are a function of the cell: the least of each row.
    costs = random.random((9, n_actions))[cell]
    scores = rule.learn(costs, np.ones(200), by_cell(cell, regress=rule.regresses))
    assert scores.shape[1] == rule.n_scores(n_actions)
    np.testing.assert_array_equal(rule.decide(scores, everywhere, 0.0), costs.argmin(axis=1))
    # Noisy ones, and weights: the least weighted mean of each cell.
    noisy, weights = costs + random.normal(size=costs.shape), random.uniform(0.5, 2, size=200)
    scores = rule.learn(noisy, weights, by_cell(cell, regress=rule.regresses))
    best = [np.average(noisy[cell == c], axis=0, weights=weights[cell == c]).argmin() for c in range(9)]
    np.testing.assert_array_equal(rule.decide(scores, everywhere, 0.0), np.array(best)[cell])


@pytest.mark.parametrize("name", ["filter_tree", "regression"])
def test_an_action_that_is_not_allowed_is_not_taken(name: str) -> None:
    random, rule = np.random.default_rng(0), RULES[name]
    scores = random.normal(size=(500, 6))
    allowed = random.random((500, 6)) < 0.4
    allowed[:, 0] = True
    actions = rule.decide(scores, allowed, 0.0)
    assert allowed[np.arange(500), actions].all()
    assert (rule.decide(scores, allowed, 1e9) == 0).all()
    assert (rule.decide(scores, allowed, -1e9) > 0).sum() == allowed[:, 1:].any(axis=1).sum()


@pytest.mark.parametrize("eta", [0.02, 0.1, 0.3])
def test_a_chain_of_two_states_is_the_exact_threshold_search(eta: float) -> None:
    random = np.random.default_rng(3)
    X = random.normal(size=(120, 2))
    y = (np.where(np.abs(X[:, 0]) > 1, X[:, 0], X[:, 1]) > 0).astype(int)
    model = WeightedGateClassifier(
        [1.0, 2.0],
        cheap=[0],
        tradeoff=eta,
        n_tradeoffs=0,
        loss="error",
        state_classifier=DecisionTreeClassifier(max_depth=3),
        policy_learner=ThresholdClassifier(),
        scores_in_policy=False,
        n_folds=None,
    ).fit(X, y)
    wrong = [DecisionTreeClassifier(max_depth=3).fit(X[:, :k], y).predict(X[:, :k]) != y for k in (1, 2)]
    systems = [
        np.where(side * X[:, 0] > side * threshold, wrong[1] + 2.0 * eta, wrong[0]).mean()
        for threshold in [-np.inf, *X[:, 0].tolist()]
        for side in (-1, 1)
    ]
    value = (model.predict(X) != y).mean() + eta * (model.spend(X).mean() - 1.0)
    assert value == pytest.approx(min(systems), abs=1e-12)
    assert model.sent(X).mean() == pytest.approx((model.spend(X).mean() - 1.0) / 2.0)


def test_the_gate_is_weighted_by_the_excess_loss_less_the_price_saved() -> None:
    """Section 5.2 of the thesis: the label is the oracle's side, the weight the difference of the sides."""
    random = np.random.default_rng(0)
    excess, eta, saved = random.normal(size=50), 0.3, 2.0
    seen = []

    def learn(target: np.ndarray, weights: np.ndarray) -> np.ndarray:
        seen.append((target, weights))
        return 2 * target - 1

    cheap = random.random(50)
    costs = np.column_stack([cheap, cheap - excess + eta * saved])
    scores = RULES["filter_tree"].learn(costs, np.ones(50), learn)
    ((target, weights),) = seen
    np.testing.assert_array_equal(target, excess > eta * saved)
    np.testing.assert_allclose(weights, np.abs(excess - eta * saved))
    actions = RULES["filter_tree"].decide(scores, np.ones((50, 2), dtype=bool), 0.0)
    np.testing.assert_array_equal(actions, excess > eta * saved)


# Subsets.


def coverage(X: np.ndarray, y: np.ndarray, subsets: list[list[int]]) -> tuple[float, float]:
    """The naive twin: G, and its smooth version, by full least-squares fits."""
    right, own = [], []
    for columns in subsets:
        A = np.column_stack([np.ones(len(X)), X[:, columns]])
        fitted = A @ np.linalg.lstsq(A, np.eye(y.max() + 1)[y], rcond=None)[0]
        right.append(fitted.argmax(axis=1) == y)
        own.append(fitted[np.arange(len(y)), y].clip(0, 1))
    return float(np.max(right, axis=0).mean()), float(np.max(own, axis=0).mean())


def naive_greedy(X: np.ndarray, y: np.ndarray, prices: np.ndarray, n_subsets: int, bound: float):
    chosen: list[list[int]] = [[] for _ in range(n_subsets)]
    spent = 0.0
    while True:
        now, best = coverage(X, y, chosen), None
        for j, k in product(range(n_subsets), range(X.shape[1])):
            if k not in chosen[j] and spent + prices[k] <= bound * (1 + 1e-12):
                then = coverage(X, y, [[*c, k] if i == j else c for i, c in enumerate(chosen)])
                rise = tuple(round(max(0.0, b - a), 10) / prices[k] for a, b in zip(now, then, strict=True))
                if best is None or rise > best[0]:
                    best = rise, j, k
        if best is None:
            return chosen
        chosen[best[1]].append(best[2])
        spent += prices[best[2]]


def clouds(seed: int, n_columns: int, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    y = random.integers(0, n_classes, size=80)
    return random.normal(size=(n_classes, n_columns))[y] + 1.3 * random.normal(size=(80, n_columns)), y


def found_subsets(X, y, prices, n_subsets, share) -> list[list[int]]:
    rows = TrainingSet.of(X, y, costs=CostSheet(prices), classes=np.arange(y.max() + 1))
    sensors = complementary_subsets(rows, Sensors.of(None, rows.schema, rows.costs), n_subsets, share)
    *subsets, rest = sensors.columns
    assert sensors.names[-1] == "rest"
    assert not set(rest.tolist()) & {int(c) for s in subsets for c in s}
    return [subset.tolist() for subset in subsets]


@pytest.mark.parametrize("seed", range(3))
def test_subsets_are_those_of_the_naive_search(seed: int) -> None:
    X, y = clouds(seed, 6)
    prices = np.random.default_rng(seed).uniform(0.5, 2.0, size=6)
    naive = naive_greedy(X, y, prices, 2, 0.6 * prices.sum())
    assert found_subsets(X, y, prices, 2, 0.6) == [sorted(subset) for subset in naive if subset]


@pytest.mark.parametrize("seed", range(5))
def test_greedy_subsets_beside_the_best_of_all_pairs(seed: int) -> None:
    X, y = clouds(seed, 6)
    subsets = found_subsets(X, y, np.ones(6), 2, 2 / 6)
    pairs = [([a], [b]) for a, b in product(range(6), repeat=2)]
    together = [([a, b], []) for a, b in product(range(6), repeat=2) if a != b]
    best = max(coverage(X, y, list(pair))[0] for pair in [*pairs, *together])
    reached = coverage(X, y, [*subsets, []][:2])[0]
    assert best * (1 - 1 / np.e) <= reached <= best


def test_the_rest_is_one_more_sensor_and_groups_stay_whole() -> None:
    X, y = clouds(0, 12)
    costs = CostSheet(np.ones(12), groups={"lab": Group(3.0, ["x0", "x5", "x9"])})
    model = DAGClassifier(costs, n_subsets=3, subset_share=0.4, **FAST).fit(X, y)
    assert model.states_[-1].all()
    assert len(model.states_) == 2**4
    owned = model.states_[:, [0, 5, 9]]
    assert (owned.all(axis=1) | ~owned.any(axis=1)).all()


# Sensors, budgets, files.


def test_sensors_are_groups_by_default_and_free_ones_are_owned() -> None:
    X, y = mixed()
    model = DAGClassifier(SHEET, **FAST).fit(X, y)
    # a, lab and e; c is free.
    assert len(model.states_) == 8
    assert model.states_[0].tolist() == [False, False, True, False, False]
    given = DAGClassifier(SHEET, sensors={"one": ["a", "b"], "two": [4]}, **FAST).fit(X, y)
    assert len(given.states_) == 4
    assert given.fitted_.may_buy().tolist() == [True, True, False, False, True]
    assert given.states_[-1].tolist() == [True, True, False, False, True]


def test_too_many_sensors_are_an_error_that_names_the_remedy() -> None:
    X, y = clouds(0, 9)
    with pytest.raises(ValueError, match=r"9 sensors have 2\^9 sets.*n_subsets=4"):
        DAGClassifier(n_subsets=None, **FAST).fit(X, y)
    by_default = DAGClassifier(**FAST).fit(X, y)
    assert len(by_default.states_) <= 2**5
    assert by_default.states_[-1].all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sensors": {"lab": ["nowhere"]}}, "nowhere"),
        ({"sensors": {"lab": [9]}}, "sensor 'lab' must have columns"),
        ({"sensors": {"lab": "a"}}, "single string"),
        ({"sensors": {}}, "at least one"),
        ({"state_classifier": "trees"}, "state_classifier must be 'linear', 'quadratic'"),
        ({"state_classifier": 3}, "state_classifier must be a classifier"),
        ({"policy_learner": "quadratic"}, "policy_learner must be 'linear'"),
        ({"policy": "regression", "policy_learner": GaussianNB()}, "needs a regressor"),
    ],
)
def test_bad_parameters_are_named(settings: dict, message: str) -> None:
    X, y = mixed(40)
    with pytest.raises((ValueError, TypeError), match=message):
        DAGClassifier(SHEET, **{**FAST, **settings}).fit(X, y)


FITS = {
    "trees": {"policy": "filter_tree", "policy_learner": None},
    "linear": {"policy": "filter_tree", "state_classifier": "linear"},
    "quadratic": {"state_classifier": "quadratic"},
    "scikit-learn": {
        "policy": "filter_tree",
        "state_classifier": GaussianNB(),
        "policy_learner": LogisticRegression(),
    },
}


@pytest.mark.parametrize("name", FITS)
def test_budgets_refusals_and_files(name: str, tmp_path) -> None:
    X, y = mixed()
    model = DAGClassifier(SHEET, 1.5, **{**FAST, **FITS[name]}).fit(X, y)
    assert model.path_spend_[model.point_] <= 1.5
    assert model.at(None).acquired(X).all()
    for cap in (0.0, 1.0, 2.5, 3.5):
        assert model.at(None).spend(X, budget=cap).max() <= cap
    refusing = model.at(None).decide(X.iloc[:20], refused=["b"])
    assert not refusing.acquired[:, 1].any()
    assert refusing.acquired[:, [0, 2, 3, 4]].all()
    file = tmp_path / "model.farthing"
    model.save(file)
    loaded = farthing.load(file)
    few = X.iloc[:20]
    for budget in (None, 0.5, 1.5, 2.5):
        before, after = model.at(budget).decide(few), loaded.at(budget).decide(few)
        np.testing.assert_array_equal(before.probabilities, after.probabilities)
        np.testing.assert_array_equal(before.acquired, after.acquired)
    decision, among = farthing.consult(model, X.iloc[7].to_dict()), model.decide(few)
    assert decision.spent == among.spent[7]
    assert decision.prediction == among.prediction[7]


def test_validation_rows_have_the_spends_of_the_path() -> None:
    X, y = mixed()
    rows = X.iloc[:50], y[:50]
    model = DAGClassifier(SHEET, 2.0, loss="error", **FAST).fit(X.iloc[50:], y[50:], validation=rows)
    for point, (spend, risk) in enumerate(zip(model.path_spend_, model.path_risk_, strict=True)):
        at = model.variant({}, model.fitted_.at_point(point))
        assert at.spend(rows[0]).mean() == pytest.approx(spend)
        assert (at.predict(rows[0]) != rows[1]).mean() == pytest.approx(risk)
    assert model.spend(rows[0]).mean() <= 2.0
    spends = [point.spend for point in model.path()]
    assert spends == sorted(spends)
    assert spends[0] == 0


def test_the_loss_of_the_path_is_out_of_fold() -> None:
    """Labels that are noise: a fit that judged itself would buy features that bring nothing."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.integers(0, 2, size=200)
    settings = {"tradeoff": 0.15, "n_tradeoffs": 0, "n_estimators": 20, "loss": "error"}
    honest = DAGClassifier(np.ones(3), random_state=0, **settings).fit(X, y)
    naive = DAGClassifier(np.ones(3), n_folds=None, **settings).fit(X, y)
    assert honest.spend(X).mean() < 0.3 < naive.spend(X).mean()
    assert naive.path_risk_[0] < 0.3 < honest.path_risk_[0]


def test_the_gate_of_given_sets() -> None:
    X, y = mixed()
    model = WeightedGateClassifier(SHEET, cheap=["a"], full=["b", "d"], tradeoff=0.05, **FAST).fit(X, y)
    assert model.states_[1:].tolist() == [
        [True, False, False, False, False],
        [True, True, False, True, False],
    ]
    assert set(model.spend(X).tolist()) == {1.0, 3.5}
    np.testing.assert_array_equal(model.sent(X), model.spend(X) == 3.5)
    assert not model.at(0.5).acquired(X).any()
    assert not model.acquired(X, budget=0.9).any()


def test_terms_squares_and_products_are_those_of_scikit_learn() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    terms = LinearDesign.of(X, Schema.learn(X), np.full(20, 0.05), 1).zeros
    expected = PolynomialFeatures(2, include_bias=False).fit_transform(terms.terms(X))
    np.testing.assert_allclose(expand(terms, X), expected)


@pytest.mark.parametrize("policy_learner", ["linear", None])
def test_gates_by_confidence_are_one_threshold_of_the_probability_of_an_error(policy_learner) -> None:
    random = np.random.default_rng(4)
    X = random.normal(size=(600, 3))
    y = (X @ [1.0, 1.0, 1.0] + 0.3 * random.normal(size=600) > 0).astype(int)
    settings = {**FAST, "n_estimators": 15, "policy_estimators": 40, "policy_learner": policy_learner}
    model = DAGClassifier([1.0, 4.0, 4.0], sensors={"cheap": [0], "dear": [1, 2]}, **settings)
    plain = model.fit(X[:400], y[:400]).fitted_
    gated = model.set_params(confidence_gates=True).fit(X[:400], y[:400]).fitted_
    # The learned policies are the same; the gates are one more level, before that which buys nothing.
    assert len(gated.tradeoffs) == len(plain.tradeoffs) + 1
    level, new = len(gated.tradeoffs) - 2, X[400:]
    points = np.flatnonzero(gated.path_levels == level)
    np.testing.assert_array_equal(np.delete(gated.path_risk, points), plain.path_risk)
    # Of the sets the cheap one comes first, and its classifier is the one that is asked.
    cheap = int(np.flatnonzero((gated.states == [True, False, False]).all(axis=1))[0])
    errors = 1 - gated.probabilities(cheap, new).max(axis=1)
    for point in points.tolist():
        bought = gated.at_point(point).outputs(new)[1]
        assert bought[:, 0].all()
        sent, limit = bought[:, 1], gated.path_offsets[point]
        # Trees give the probability in steps, linear scores give it but for a small penalty.
        near = np.abs(errors - limit) < (0.002 if policy_learner else 0.05)
        np.testing.assert_array_equal(sent[~near], errors[~near] > limit)
    assert 0 < np.mean([gated.at_point(point).outputs(new)[1][:, 1].mean() for point in points.tolist()]) < 1
    with pytest.raises(ValueError, match="confidence_gates needs"):
        model.set_params(scores_in_policy=False).fit(X, y)
