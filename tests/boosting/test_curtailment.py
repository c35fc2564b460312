"""Curtailed votes: the same labels for less, and bounds that are exact."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier
from farthing.costs import CostSheet, Group, RowLedger
from farthing.learning.voting.curtailment import CurtailedPolicy, Curtailment, ask_order, check_order
from farthing.trees import Forest, Predictor


def problem(seed: int, n_rows: int = 200) -> tuple[NDArray[np.object_], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 1).astype(object)
    X[:, 2] = rng.choice(["ash", "beech", "cedar", None], size=n_rows)
    X[:, 3] = rng.integers(0, 2, n_rows)
    score = X[:, 0].astype(float) - X[:, 1].astype(float) + (X[:, 2] == "ash") + 0.5 * rng.normal(size=n_rows)
    X[rng.random(n_rows) < 0.1, 0] = np.nan
    return X, (score > 0.2).astype(np.int64)


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(1, 40), st.booleans())
def test_the_same_labels_for_less(seed: int, max_depth: int, n_estimators: int, intercept: bool) -> None:
    X, y = problem(seed, 60)
    fresh, _ = problem(seed + 1, 60)
    options = {"n_estimators": n_estimators, "max_depth": max_depth, "intercept": intercept}
    plain = AdaBoostClassifier(**options).fit(X, y)
    short = AdaBoostClassifier(**options, curtail=True).fit(X, y)
    assert short.forest_ == plain.forest_
    for rows in (X, fresh):
        labels = short.predict(rows)
        assert np.array_equal(labels, plain.predict(rows))
        assert np.array_equal(short.classes_[np.argmax(short.predict_proba(rows), axis=1)], labels)
        assert (short.acquired(rows) <= plain.acquired(rows)).all()


def test_it_saves_on_easy_rows() -> None:
    X, y = problem(0, 400)
    plain = AdaBoostBTClassifier(n_estimators=60, budget=6.0).fit(X, y)
    short = AdaBoostBTClassifier(n_estimators=60, budget=6.0, curtail=True).fit(X, y)
    assert short.spend(X).mean() < 0.9 * plain.spend(X).mean()
    assert np.array_equal(short.predict(X), plain.predict(X))


@given(st.integers(0, 10_000), st.integers(1, 2))
def test_no_feature_is_asked_for_in_vain(seed: int, max_depth: int) -> None:
    """Whenever a question is put, some answers to the features still out would change the label."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(50, 4)).astype(float)
    y = (X.sum(axis=1) + rng.normal(size=50) > 4).astype(np.int64)
    model = AdaBoostClassifier(n_estimators=12, curtail=True).fit(X, y)
    vote = model.fitted_.predictor
    values = (0.0, 1.0, 2.0, np.nan)
    for row in X[:10]:
        walk, known = model.walk(), {}
        while (ask := walk.ask) is not None:
            rest = [j for j in range(4) if j not in known]
            worlds = np.array(
                [
                    [known.get(j, dict(zip(rest, world, strict=True)).get(j)) for j in range(4)]
                    for world in itertools.product(values, repeat=len(rest))
                ]
            )
            positive = vote.predict(worlds)[0][:, 0] > 0
            assert positive.any()
            assert not positive.all()
            column = int(ask.feature[1:])
            known[column] = row[column]
            walk.tell(row[column])


def test_a_tie_is_a_vote_against() -> None:
    def stump(column: int) -> Forest:
        return Forest.from_arrays(
            n_features=2,
            feature=[column, -1, -1],
            threshold=[0.5, 0, 0],
            left=[1, -1, -1],
            right=[2, -1, -1],
            value=[[0.0], [-1.0], [1.0]],
        )

    forest = Forest.concat([stump(0), stump(1)])
    curtailment = Curtailment(Predictor(forest), np.array([0, 1]))
    ledger = RowLedger(CostSheet([1.0, 1.0]))
    for first, questions in ((0.0, 1), (1.0, 2)):
        policy, asked = CurtailedPolicy(curtailment), 0
        while (column := policy.wants(ledger)) is not None:
            policy.hear(column, first)
            asked += 1
        # After a vote against, the best that can come is a tie, which is against too.
        assert asked == questions


def test_stumps_of_one_feature_are_bounded_together() -> None:
    # x <= 1 votes +1, x <= 2 votes -1, with weights 1 and 2: no x brings 3 votes for or against.
    forest = Forest.concat(
        [
            Forest.from_arrays(
                n_features=1,
                feature=[0, -1, -1],
                threshold=[threshold, 0, 0],
                left=[1, -1, -1],
                right=[2, -1, -1],
                missing=[1, 2, 2],
                value=[[0.0], [vote], [-vote]],
            )
            for threshold, vote in ((1.0, 1.0), (2.0, -2.0))
        ]
    )
    curtailment = Curtailment(Predictor(forest), np.array([0]))
    # Up to 1: 1 - 2. Between: -1 - 2. Above, or missing: -1 + 2.
    assert curtailment.start == (-3.0, 1.0)


def test_the_order_goes_by_votes_for_money() -> None:
    X, y = problem(0)
    order = AdaBoostClassifier(n_estimators=30, curtail=True).fit(X, y).order_
    assert order is not None
    dear = [1.0] * 6
    dear[int(order[0])] = 100.0
    other = AdaBoostClassifier(n_estimators=30, curtail=True, costs=dear).fit(X, y).order_
    assert other is not None
    assert other[-1] == order[0]
    assert sorted(other) == sorted(order)


def test_a_group_once_paid_makes_its_members_cheap() -> None:
    forest = Forest.concat(
        [
            Forest.from_arrays(
                n_features=3,
                feature=[column, -1, -1],
                threshold=[0, 0, 0],
                left=[1, -1, -1],
                right=[2, -1, -1],
                value=[[0.0], [1.0], [-1.0]],
                cover=[2.0, 1.0, 1.0],
            )
            for column in range(3)
        ]
    )
    names = ["x0", "x1", "x2"]
    sheet = CostSheet(dict.fromkeys(names, 1.0), groups={"lab": Group(2.0, ["x0", "x2"])})
    # x0 with the shared cost gives 9 / 3, x1 2 / 1; then x2 gives 1.5 / 1 for its own cost alone.
    assert ask_order(forest, np.array([9.0, 2.0, 1.5]), sheet).tolist() == [0, 1, 2]
    assert ask_order(forest, np.array([9.0, 1.0, 1.5]), sheet).tolist() == [0, 2, 1]


def test_an_order_that_does_not_fit_is_refused() -> None:
    X, y = problem(0)
    model = AdaBoostClassifier(n_estimators=10, curtail=True).fit(X, y)
    order = model.order_
    assert order is not None
    check_order(order, model.forest_)
    for wrong in (order[:-1], np.append(order, order[0]), order.astype(np.int32), order + 100):
        with pytest.raises(ValueError, match="each column that the trees test once"):
            check_order(wrong, model.forest_)


def test_subnormal_prices_give_the_order_of_any_others() -> None:
    """A quotient by a price of 5e-324 overflows, which is a warning and so an error here."""
    X, y = problem(0)
    model = AdaBoostClassifier(n_estimators=20).fit(X, y)
    forest, alphas = model.forest_, model.estimator_weights_
    prices = (9.0, 3.0, 2.0, 7.0, 0.0, 5.0)
    usual = ask_order(forest, alphas, CostSheet(prices))
    assert len(usual) > 3
    assert np.array_equal(ask_order(forest, alphas, CostSheet([5e-324 * price for price in prices])), usual)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_stumps_are_the_extremes_over_all_values(seed: int) -> None:
    X, y = problem(seed)
    model = AdaBoostClassifier(n_estimators=40, curtail=True).fit(X, y).fitted_
    forest, plan = model.forest, model.curtailment
    scores = model.predictor.dense_scores[:, 0]
    roots = forest.offsets[:-1]
    for place, column in enumerate(plan.order.tolist()):
        own = [root for root in roots.tolist() if forest.feature[root] == column]
        numbers = [forest.threshold[root] for root in own if forest.category[root] < 0]
        n_codes = 64 * int(forest.category_widths[column])
        sums = []
        for value in [*numbers, np.inf, *range(n_codes), np.nan]:
            turns = [forest.route(root, float(value)) for root in own]
            sums.append(
                sum(scores[root if turn is None else turn] for root, turn in zip(own, turns, strict=True))
            )
        assert plan.shared_low[place] == min(sums)
        assert plan.shared_high[place] == max(sums)


def test_columns_without_groups_are_ordered_as_with_groups_that_cost_nothing() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(2, size=80)
    prices = {f"x{j}": price for j, price in enumerate([0.0, 3.0, 0.0, 1e-310, 3.0])}
    model = AdaBoostClassifier(n_estimators=30).fit(X, y).fitted_
    alone, grouped = CostSheet(prices), CostSheet(prices, groups={"all": Group(0.0, list(prices))})
    orders = [ask_order(model.forest, model.estimator_weights, sheet).tolist() for sheet in (alone, grouped)]
    assert orders[0] == orders[1]


def test_a_vote_of_two_classes_says_why_it_ended() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X @ [3.0, 1.0, 0.5, 0.2] > 0).astype(int)
    certain = AdaBoostClassifier(n_estimators=30, curtail=True).fit(X, y)
    likely = AdaBoostClassifier(n_estimators=30, curtail=True, curtailment_error=0.2).fit(X, y)
    told = set()
    for model in (certain, likely):
        for row in X[:40]:
            walk = model.walk()
            while walk.ask is not None:
                walk.tell(row[int(walk.ask.feature[1:])])
            told.add(str(walk.stop_reason))
    assert any("no vote that is left can change the label" in reason for reason in told)
    assert any("far enough from zero" in reason for reason in told)
