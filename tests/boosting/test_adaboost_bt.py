"""AdaBoostBT: its rules, its account, and the models of all smaller budgets within one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import farthing
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier
from farthing.boosting.adaboost_bt.purchases import HybridPurchases, Purchases
from farthing.boosting.adaboost_bt.selection_rules import RULES, best, smoothed
from farthing.costs import CostSheet, Group
from farthing.frontier import BudgetedClassifier

BUILT_IN = [*RULES, "hybrid"]
NAMES = [f"x{j}" for j in range(6)]
SHEET = CostSheet(
    dict(zip(NAMES, (1.0, 0.3, 0.7, 0.0, 2.1, 0.1), strict=True)),
    groups={"lab": Group(1.3, ["x1", "x4"]), "scan": Group(0.6, ["x2", "x5"])},
)
EDGES = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=6).map(np.array)


def problem(seed: int = 0, n_rows: int = 150) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 1)
    X[:, 3] = rng.integers(0, 2, n_rows)
    noise = rng.normal(size=n_rows)
    y = (X @ [1.0, 0.5, -0.8, 0.4, 1.5, 0.2] + noise > 0.3).astype(np.int64)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def in_turn(scores: NDArray[np.float64], edge: NDArray[np.float64], cost: NDArray[np.float64]) -> list[int]:
    """The best candidate, then the best of the others, and so on."""
    edge, order = edge.copy(), []
    while (place := best(scores, edge, cost)) is not None:
        order.append(place)
        edge[place] = 0.0
    return order


def weighed(feature: str, owned: Collection[str]) -> float:
    """What a feature costs in a rule: its own price, bought or not, and the shared cost if that is unpaid."""
    groups = [group for group in SHEET.groups.values() if feature in group.members]
    unpaid = [group.cost for group in groups if not set(group.members) & set(owned)]
    return SHEET.own[NAMES.index(feature)] + sum(unpaid)


def bt(**settings: Any) -> AdaBoostBTClassifier:
    return AdaBoostBTClassifier(**{"costs": SHEET, "n_estimators": 40, **settings})


# The rules.


@given(EDGES, st.data())
def test_the_rules_are_the_equations(edge: NDArray[np.float64], data: st.DataObject) -> None:
    costs = st.lists(st.floats(0.01, 50.0), min_size=len(edge), max_size=len(edge))
    cost = np.array(data.draw(costs))
    spent = data.draw(st.floats(0.0, 100.0))
    shrink = 1 - edge**2
    # The papers minimise (1 - edge^2)^(1 / c) and maximise (1 - sqrt(1 - edge^2)) / c.
    assert RULES["basic"](edge, cost, spent) is edge
    assert np.exp(-RULES["greedy"](edge, cost, spent)) == pytest.approx(shrink ** (1 / cost), rel=1e-9)
    assert np.exp(-RULES["smoothed"](edge, cost, spent)) == pytest.approx(
        shrink ** (1 / (spent + cost)), rel=1e-9
    )
    assert smoothed(edge, cost, spent, tau=0.25) == pytest.approx(RULES["smoothed"](edge, cost, spent / 4))
    assert RULES["speedboost"](edge, cost, spent) == pytest.approx((1 - np.sqrt(shrink)) / cost, rel=1e-6)


def test_what_is_free_wins_only_with_an_edge_as_large() -> None:
    cost = np.array([0.0, 0.0, 1.0, 5.0])
    for free, order in ((0.5, [1, 3, 2]), (0.4, [1, 3, 2]), (0.3, [3, 1, 2])):
        edge = np.array([0.0, free, 0.1, 0.4])
        for name in ("greedy", "speedboost", "smoothed"):
            scores = RULES[name](edge, cost, 0.0)
            assert scores[0] == 0
            assert scores[1] == np.inf
            assert in_turn(scores, edge, cost) == order
    # What has no error is infinitely good at any price.
    edge = np.array([0.0, 0.5, 0.1, 1.0])
    assert in_turn(RULES["greedy"](edge, cost, 0.0), edge, cost) == [3, 1, 2]


def test_equal_scores_go_to_the_larger_edge_then_the_lower_cost_then_the_earlier() -> None:
    edge, cost = np.array([0.1, 0.3, 0.3, 0.3]), np.array([1.0, 2.0, 1.0, 1.0])
    assert in_turn(np.zeros(4), edge, cost) == [2, 3, 1, 0]


# The model.


@pytest.mark.parametrize("rule", BUILT_IN)
@pytest.mark.parametrize("exhaust", [False, True])
def test_the_path_obeys_the_rule_and_the_budget(rule: str, exhaust: bool) -> None:
    X, y = problem()
    model = bt(rule=rule, budget=4.0, exhaust=exhaust, n_estimators=25).fit(X, y)
    path = model.path_
    owned: list[str] = []
    for feature, cost, spent, left in zip(
        path["feature"], path["cost"], path["spent"], path["left"], strict=True
    ):
        assert cost == (weighed(feature, owned) if feature else 0.0)
        owned += [feature] if feature else []
        assert spent == SHEET.total(set(owned))
        assert left == 4.0 - spent
    assert 0 < path["spent"][-1] <= 4.0
    assert path["round"].tolist() == list(range(1, len(owned) + (path["feature"] == "").sum() + 1))
    roots = model.forest_.feature[model.forest_.offsets[:-1]]
    assert [NAMES[f] if f >= 0 else "" for f in roots] == path["feature"].tolist()


@pytest.mark.parametrize("rule", list(RULES))
def test_each_round_takes_the_best_score(rule: str) -> None:
    """Replay the rounds: among all columns' best stumps, the one taken has the largest score."""
    X, y = problem(1)
    model = bt(rule=rule, n_estimators=12, intercept=False).fit(X, y)
    weights = np.full(len(y), 1 / len(y))
    signs = np.where(y == 1, 1.0, -1.0)
    votes, _ = model.fitted_.votes_by_tree(model.schema_.encode(X).values)
    spent = 0.0
    for number in range(12):
        owned = model.path_["feature"][:number].tolist()
        costs = np.array([weighed(name, owned) for name in NAMES])
        edges = np.array(
            [
                AdaBoostClassifier(n_estimators=1, intercept=False)
                .fit(X[:, [j]], y, sample_weight=weights)
                .edges_[0]
                for j in range(6)
            ]
        )
        place = best(RULES[rule](edges, costs, spent), edges, costs)
        assert model.path_["feature"][number] == NAMES[place]
        assert model.path_["edge"][number] == pytest.approx(edges[place], abs=1e-9)
        weights = weights * np.exp(-model.estimator_weights_[number] * signs * votes[:, number])
        weights /= weights.sum()
        spent = float(model.path_["spent"][number])


def test_without_costs_all_rules_are_adaboost() -> None:
    X, y = problem()
    plain = AdaBoostClassifier(n_estimators=20, costs=SHEET.scaled(0.0)).fit(X, y)
    for rule in BUILT_IN:
        model = bt(rule=rule, costs=SHEET.scaled(0.0), budget=0.0, n_estimators=20).fit(X, y)
        assert np.array_equal(model.decision_function(X), plain.decision_function(X))


def test_basic_is_adaboost_that_ends() -> None:
    X, y = problem()
    plain = AdaBoostClassifier(n_estimators=40, costs=SHEET).fit(X, y)
    model = bt(rule="basic", budget=4.5, exhaust=False).fit(X, y)
    n_rounds = len(model.estimator_weights_)
    assert 0 < n_rounds < 40
    assert np.array_equal(model.estimator_weights_, plain.estimator_weights_[:n_rounds])
    assert bt(rule="basic").fit(X, y).forest_ == plain.forest_
    # The learner after the last could not be afforded.
    stopper = NAMES[plain.forest_.feature[plain.forest_.offsets[n_rounds]]]
    assert SHEET.total({*model.path_["feature"], stopper} - {""}) > 4.5


@pytest.mark.parametrize("rule", BUILT_IN)
@pytest.mark.parametrize(("curtail", "exhaust"), [(False, False), (True, False), (False, True)])
def test_one_fit_holds_the_models_of_all_smaller_budgets(rule: str, curtail: bool, exhaust: bool) -> None:
    X, y = problem(2)
    settings = {"rule": rule, "tau": 0.7, "curtail": curtail}
    whole = bt(budget=5.0, exhaust=exhaust, **settings).fit(X, y)
    exact = whole.path_["spent"][len(whole.path_["spent"]) // 2]  # to the last bit
    for budget in (0.0, 1.0, float(exact), 2.9, 5.0):
        part, fresh = whole.at(budget), bt(budget=budget, exhaust=False, **settings).fit(X, y)
        assert part.get_params()["exhaust"] is False
        assert part.forest_ == fresh.forest_
        assert np.array_equal(part.estimator_weights_, fresh.estimator_weights_)
        assert part.budget_ == fresh.budget_
        assert part.get_params()["budget"] == budget
        for name, column in fresh.path_.items():
            assert np.array_equal(part.path_[name], column), name
        assert np.array_equal(part.order_, fresh.order_) if curtail else part.order_ is None
        for call in ("predict", "predict_proba", "spend", "acquired"):
            assert np.array_equal(getattr(part, call)(X), getattr(fresh, call)(X)), call


def test_smaller_budgets_survive_the_file(tmp_path: Any) -> None:
    X, y = problem(2)
    model = bt(rule="greedy", budget=4.0, curtail=True).fit(X, y)
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    assert loaded.path_["feature"].tolist() == model.path_["feature"].tolist()
    assert np.array_equal(loaded.at(1.5).predict_proba(X), model.at(1.5).predict_proba(X))


def test_at_refuses_what_it_cannot_know() -> None:
    X, y = problem()
    with pytest.raises(ValueError, match="budget=2; got the larger 3"):
        bt(budget=2.0).fit(X, y).at(3.0)
    with pytest.raises(ValueError, match="built-in rule"):
        bt(budget=2.0, rule=lambda edge, cost, spent: edge).fit(X, y).at(1.0)


def test_a_rule_of_ones_own() -> None:
    X, y = problem()
    seen: list[float] = []

    def cheapest(edge: NDArray[np.float64], cost: NDArray[np.float64], spent: float) -> NDArray[np.float64]:
        seen.append(spent)
        return -cost

    model = bt(rule=cheapest, intercept=False, n_estimators=5).fit(X, y)
    assert set(model.path_["feature"]) == {"x3"}  # it is free
    assert seen == [0.0] * 5
    greedy = bt(rule=RULES["greedy"], budget=3.0).fit(X, y)
    assert greedy.forest_ == bt(rule="greedy", budget=3.0).fit(X, y).forest_
    with pytest.raises(ValueError, match="a score for each of 7 candidates"):
        bt(rule=lambda edge, cost, spent: np.full(len(edge), np.nan)).fit(X, y)


def test_exhaust_spends_what_is_left() -> None:
    X, y = problem()
    ends = bt(rule="basic", budget=4.2, exhaust=False).fit(X, y)
    goes_on = bt(rule="basic", budget=4.2).fit(X, y)
    n_rounds = len(ends.estimator_weights_)
    assert np.array_equal(goes_on.estimator_weights_[:n_rounds], ends.estimator_weights_)
    assert goes_on.path_["spent"][-1] > ends.path_["spent"][-1]
    assert len(goes_on.estimator_weights_) == 40


@pytest.mark.parametrize("rule", ["greedy", "speedboost", "hybrid"])
def test_a_shared_cost_that_is_paid_deters_nobody(rule: str) -> None:
    """Once the scan is paid for, its other feature costs 1: an edge of 0.3 for 1, not for 61."""
    sheet = CostSheet([1.0, 1.0, 12.0], groups={"scan": Group(60.0, ["x0", "x1"])})
    later = {"later": RULES["smoothed"], "threshold": 0.0}
    purchases: Purchases = (
        HybridPurchases(sheet, 200.0, RULES["greedy"], **later)
        if rule == "hybrid"
        else Purchases(sheet, 200.0, RULES[rule])
    )
    assert purchases.choose(np.array([0.0, 0.9, 0.0, 0.15])) == 1
    assert purchases.choose(np.array([0.0, 0.05, 0.3, 0.15])) == 2
    assert purchases.path([0.9, 0.3])["cost"].tolist() == [61.0, 1.0]
    assert purchases.path([0.9, 0.3])["spent"].tolist() == [61.0, 62.0]
    # What is owned keeps its own price: at zero it would win with any edge.
    assert purchases.choose(np.array([0.0, 0.1, 0.1, 0.5])) == 3


def perfect_but_expensive() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The first of four columns says it all; each of the others is right on three rows in four."""
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.45).astype(np.int64)
    noisy = np.where(rng.random((200, 3)) < 0.25, 1 - y[:, np.newaxis], y[:, np.newaxis])
    return np.column_stack([y, noisy]).astype(float), y


@pytest.mark.parametrize("rule", BUILT_IN)
def test_a_perfect_learner_that_is_too_expensive_is_passed_over(rule: str) -> None:
    X, y = perfect_but_expensive()
    settings = {"rule": rule, "costs": [100.0, 1.0, 1.0, 1.0], "n_estimators": 30}
    model = AdaBoostBTClassifier(budget=5.0, **settings).fit(X, y)
    majority_of_three = (X[:, 1:].sum(axis=1) > 1.5) != y
    assert np.mean(model.predict(X) != y) == majority_of_three.mean() < 0.2
    assert model.spend(X).max() == 3.0
    assert AdaBoostBTClassifier(budget=103.0, **settings).fit(X, y).score(X, y) == 1.0
    # Algorithm 1 to the letter ends there; SpeedBoost never chose it.
    letter = AdaBoostBTClassifier(budget=5.0, exhaust=False, **settings).fit(X, y)
    assert np.mean(letter.predict(X) != y) == (majority_of_three.mean() if rule == "speedboost" else y.mean())


@pytest.mark.parametrize("budget_kind", ["mean", "hard"])
def test_the_front_door_passes_over_what_is_too_expensive(budget_kind: Any) -> None:
    X, y = perfect_but_expensive()
    door = BudgetedClassifier(
        [100.0, 1.0, 1.0, 1.0], 5.0, budget_kind=budget_kind, methods=["AdaBoostBTClassifier"], cv=2
    ).fit(X, y)
    assert door.spend(X).max() <= 5.0
    assert door.score(X, y) == np.mean((X[:, 1:].sum(axis=1) > 1.5) == y)


@pytest.mark.parametrize("rule", BUILT_IN)
def test_subnormal_prices_choose_as_any_others(rule: str) -> None:
    """Prices of a few units in the last place of the smallest double; a warning would be an error here."""
    X, y = problem()
    small = bt(rule=rule, costs=[k * 5e-324 for k in (8, 3, 7, 0, 20, 1)], n_estimators=25).fit(X, y)
    usual = bt(rule=rule, costs=[8.0, 3.0, 7.0, 0.0, 20.0, 1.0], n_estimators=25).fit(X, y)
    assert small.path_["feature"].tolist() == usual.path_["feature"].tolist()
    assert bt(rule=rule, costs=[5e-324, 1.0, 1e-310, 0.0, 1e300, 1.0]).fit(X, y).forest_.n_trees == 40


def test_hybrid_is_greedy_first_and_smoothed_later() -> None:
    X, y = problem(4)
    greedy = bt(rule="greedy").fit(X, y).path_["feature"].tolist()
    smooth = bt(rule="smoothed").fit(X, y).path_["feature"].tolist()
    assert bt(rule="hybrid", threshold=0.0).fit(X, y).path_["feature"].tolist() == greedy
    hybrid = bt(rule="hybrid", threshold=0.2).fit(X, y).path_["feature"].tolist()
    assert hybrid not in (greedy, smooth)
    assert hybrid[:4] == greedy[:4] != smooth[:4]


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"rule": "thrifty"}, "The 'rule' parameter of AdaBoostBTClassifier must be"),
        ({"tau": 1.5}, r"'tau' .* must be a float in the range \[0.0, 1.0\]. Got 1.5"),
        ({"threshold": -0.1}, r"'threshold' .* must be a float in the range \[0.0, 1.0\]"),
        ({"n_estimators": 0}, r"'n_estimators' .* must be an int in the range \[1, inf\)"),
    ],
)
def test_bad_settings(settings: dict[str, Any], match: str) -> None:
    X, y = problem()
    with pytest.raises(ValueError, match=match):
        bt(**settings).fit(X, y)


@given(st.integers(0, 10_000), st.sampled_from(BUILT_IN), st.floats(0.0, 7.0), st.booleans())
def test_no_row_pays_more_than_the_budget(seed: int, rule: str, budget: float, exhaust: bool) -> None:
    X, y = problem(seed, 40)
    model = bt(rule=rule, budget=budget, exhaust=exhaust, n_estimators=10).fit(X, y)
    assert model.spend(problem(seed + 1, 40)[0]).max() <= budget * (1 + 1e-12)
