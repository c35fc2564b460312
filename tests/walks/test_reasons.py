"""Reasons of questions and of ends: exact for single trees, calibrated for others."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from farthing import load
from farthing.boosting import GradientBoostingRegressor, GreedyMiserClassifier
from farthing.cascades import CSTCClassifier, EarlyExitClassifier, MiserCascadeClassifier
from farthing.costs import CostSheet, RowLedger
from farthing.datasets import load_heart_disease, load_thyroid
from farthing.errors import WalkError
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.walks.realised import factor_of, row_falls
from farthing.walks.reason import Outcome, Reason
from farthing.walks.reasoning import Reasoning, expected_fall, split_of
from farthing.walks.row_walk import RowWalk


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


@pytest.fixture(scope="module")
def table():
    data = load_thyroid()
    # Names x0, x1, ... as an array has them.
    X, y = np.asarray(data.X, dtype=float)[:1500], np.asarray(data.y)[:1500]
    return X, y, CostSheet(data.costs.own)


@pytest.fixture(scope="module")
def tree(table):
    X, y, costs = table
    return BudgetTreeClassifier(costs=costs, max_depth=3, min_samples_leaf=5).fit(X, y)


def gini(y):
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return 1 - shares @ shares


def test_a_tree_has_the_fall_of_the_gini_impurity_of_its_training_rows(table, tree):
    ask = tree.walk().ask
    reason = ask.reason
    X, y, costs = table
    values = X[:, costs.column(ask.feature)]
    sides = {outcome.answer: outcome for outcome in reason.outcomes}
    (low,) = [answer for answer in sides if answer.startswith("<=")]
    left = values <= float(low.removeprefix("<= "))
    fall = gini(y) - left.mean() * gini(y[left]) - (~left).mean() * gini(y[~left])
    assert not reason.estimated
    assert reason.risk == pytest.approx(gini(y))
    assert reason.fall == pytest.approx(fall)
    assert reason.per_price == pytest.approx(fall / ask.price)
    assert sides[low].probability == pytest.approx(left.mean())
    shares = np.array([np.mean(y[left] == label) for label in tree.classes_])
    assert list(sides[low].probabilities.values()) == pytest.approx(shares.tolist())


def test_outcomes_are_what_the_walk_then_does(table, tree):
    X, _, costs = table
    for row in range(0, 1500, 50):
        walk = tree.walk()
        record = dict(zip(costs.features, X[row], strict=True))
        while (ask := walk.ask) is not None:
            outcomes = ask.reason.outcomes
            assert sum(outcome.probability for outcome in outcomes) == pytest.approx(1)
            walk.tell(record[ask.feature])
            then = None if walk.ask is None else walk.ask.feature
            decision = walk.decision

            assert (then, decision.probabilities) in [(one.asks, one.probabilities) for one in outcomes]


def test_a_reason_leaves_the_walk_as_it_is_and_is_of_one_question(table, tree):
    walk = tree.walk()
    first, before = walk.ask, walk.decision
    assert first.reason == first.reason
    assert (walk.ask, walk.decision, walk.answers) == (first, before, {})
    walk.tell(0.5)
    with pytest.raises(WalkError, match="has gone on"):
        first.reason  # noqa: B018 - a property


def test_an_answer_that_decides_several_tests_has_all_their_ways():
    """Below a test of a column there may be others of it, which cost nothing more."""
    X = np.arange(100.0)[:, np.newaxis]
    y = np.repeat(["a", "b", "a", "c"], [50, 30, 15, 5])
    model = BudgetTreeClassifier(max_depth=3).fit(X, y)
    reason = model.walk().ask.reason
    found = {outcome.answer: (outcome.probability, outcome.prediction) for outcome in reason.outcomes}
    assert found == {
        "<= 49.5": (0.5, "a"),
        "> 49.5, <= 79.5": (0.3, "b"),
        "> 79.5, <= 94.5": (0.15, "a"),
        "> 94.5": (0.05, "c"),
    }
    assert reason.fall == pytest.approx(gini(y)), "the answer tells all"


def test_ways_of_categories_and_of_missing_values():
    pd = pytest.importorskip("pandas")
    city = np.repeat(["bonn", "oslo", "rome", None], [40, 30, 20, 10])
    X = pd.DataFrame({"city": pd.Categorical(city)})
    y = np.repeat([0, 1, 2, 2], [40, 30, 20, 10])
    reason = BudgetTreeClassifier(max_depth=3).fit(X, y).walk().ask.reason
    assert sum(outcome.probability for outcome in reason.outcomes) == pytest.approx(1)
    answers = {outcome.answer: outcome.prediction for outcome in reason.outcomes}
    assert answers["bonn"] == 0
    assert answers["oslo"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_falls_of_a_tree_are_those_of_its_training_rows(seed):
    """At each node, also where paths test a column more than once; the others say that they are estimates.

    These are of nodes below which a column is tested whose answer is known, which narrows the rows there.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 5))
    y = (X[:, 0] > 0).astype(int) + (np.abs(X[:, 1]) < 0.6) + (X[:, 0] * X[:, 2] > 0.5)
    model = BudgetTreeClassifier(max_depth=5, min_samples_leaf=5).fit(X, y).fitted_
    at_nodes, estimates = {}, 0
    for row, label in zip(X, y.tolist(), strict=True):
        walk = RowWalk(model.policy(), RowLedger(model.costs))
        while walk.column is not None:
            reason = Reasoning(model, None, model.conclude_row, ()).of_question(walk)
            node, before = split_of(walk.policy).node, belief_loss(model, walk, label)
            walk.buy(row[walk.column])
            fell = before - belief_loss(model, walk, label)
            estimates += reason.estimated
            if not reason.estimated:
                at_nodes.setdefault(node, []).append((reason.fall, fell))
    assert estimates > 0
    assert len(at_nodes) > 2
    for pairs in at_nodes.values():
        predicted, realised = np.array(pairs).T
        assert predicted == pytest.approx(realised.mean())


def belief_loss(model, walk, label):
    """Return the Brier score of what a walk believes."""
    likely = model.conclude_row(walk.output()[np.newaxis], walk.looked[np.newaxis])[1]
    return sum((p - (one == label)) ** 2 for one, p in likely.items())


@pytest.mark.parametrize("how", ["tell", "refuse", "panel", "replay"])
def test_a_reason_that_is_held_stays_that_of_its_question(table, how):
    """Outcomes and runner-up are found late, but before the walk goes on."""
    X, y, costs = table
    model = BudgetForestClassifier(costs=costs, n_estimators=4, max_depth=3, random_state=0)
    model.fit(X[:300], y[:300])
    record = dict(zip(costs.features, X[300].tolist(), strict=True))
    held, read = model.walk(), model.walk()
    reason, complete = held.ask.reason, read.ask.reason
    assert complete.outcomes
    assert complete.runner_up is not None
    feature = held.ask.feature
    if how == "tell":
        held.tell(record[feature])
    elif how == "refuse":
        held.refuse()
    elif how == "panel":
        held.tell_panel({name: record[name] for name in (feature, complete.runner_up.feature)})
    else:
        held.replay(record)
    assert reason == complete
    assert str(reason) == str(complete)
    assert pickle.loads(pickle.dumps(reason)) == reason


def test_a_label_is_shown_with_its_own_probability():
    """Where errors have prices the label may not be the likeliest one."""
    ill = Outcome("<= 1", 0.5, "ill", {"well": 0.8, "ill": 0.2}, None)
    reason = Reason("x", 1.0, "error", 0.2, 0.1, details=(None, (ill,)), estimated=True, source="here")
    assert "<= 1 (50%): ill 20%, ends" in str(reason)


def test_categories_are_named():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"city": pd.Categorical(["bonn", "bonn", "oslo", "oslo"] * 10)})
    model = BudgetTreeClassifier(max_depth=1).fit(X, np.array([0, 0, 1, 1] * 10))
    answers = {outcome.answer for outcome in model.walk().ask.reason.outcomes}
    assert answers == {"oslo", "bonn"}


def test_ends(table, tree):
    walk = tree.walk(budget=0)
    assert walk.ask is None
    stop = walk.stop_reason
    assert stop.kind == "budget"
    assert stop.too_expensive
    assert stop.risk == pytest.approx(gini(table[1]))
    walk = tree.walk()
    assert walk.stop_reason is None
    while walk.ask is not None:
        walk.refuse()
    assert walk.stop_reason.kind == "finished"
    assert walk.stop_reason.refused == tuple(sorted(walk.answers, key=table[2].features.index))
    assert "trees are finished" in str(walk.stop_reason)


def test_early_exits_and_cascades_say_why_they_end(table):
    X, y, costs = table
    exits = EarlyExitClassifier(
        GreedyMiserClassifier(n_estimators=20), threshold=0.99, rounds_per_exit=2, costs=costs
    )
    for model, words in (
        (exits, ("the top class is likely enough", "all trees are finished")),
        (MiserCascadeClassifier(costs, 10, n_estimators=20, n_stages=4), ("the risk is low",)),
    ):
        model.fit(X, y)
        said = set()
        for row in X[::10]:
            walk = model.walk()
            while (ask := walk.ask) is not None:
                walk.tell(row[costs.column(ask.feature)])
            said |= {word for word in words if word in walk.stop_reason.why}
            assert walk.stop_reason.kind == "finished"
        assert said == set(words)


def test_methods_without_counts_say_what_they_know(table):
    X, y, costs = table
    model = CSTCClassifier(costs=costs, max_depth=2).fit(X[:300], y[:300])
    reason = model.walk().ask.reason
    assert reason.estimated
    assert reason.fall is None
    assert reason.outcomes == ()
    assert reason.risk is not None
    assert "plan of the model" in str(reason)


def test_expected_fall_is_the_mean_over_labels_and_answers():
    rng = np.random.default_rng(0)
    now, after = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=2)
    labels, weights = rng.dirichlet(np.ones(3), size=2), np.array([0.3, 0.7])
    naive = 0.0
    for weight, belief, shares in zip(weights, after, labels, strict=True):
        for label, share in enumerate(shares):
            truth = np.eye(3)[label]
            naive += weight * share * (np.sum((now - truth) ** 2) - np.sum((belief - truth) ** 2))
    assert expected_fall(now, after, labels, weights)[1] == pytest.approx(naive)


def steps(model, X, y, n_rows):
    """Return the predicted and the realised fall of every question of some walks."""
    features, labels = model.costs_.features, getattr(model, "classes_", None)

    def loss(decision, truth):
        if labels is None:
            return (decision.prediction - truth) ** 2
        return np.sum((np.array(list(decision.probabilities.values())) - (labels == truth)) ** 2)

    found = []
    for row, truth in zip(np.asarray(X, dtype=float)[:n_rows], np.asarray(y)[:n_rows], strict=True):
        walk, record = model.walk(), dict(zip(features, row, strict=False))
        while (ask := walk.ask) is not None:
            fall, before = ask.reason.fall, loss(walk.decision, truth)
            walk.tell(record[ask.feature])
            found.append((fall, before - loss(walk.decision, truth)))
    return np.array(found).T


@pytest.mark.parametrize(
    "model",
    [
        BudgetTreeClassifier(max_depth=4, min_samples_leaf=20),
        BudgetForestClassifier(n_estimators=10, min_samples_leaf=20, random_state=0),
        GreedyMiserClassifier(n_estimators=20, max_depth=2),
        EarlyExitClassifier(GreedyMiserClassifier(n_estimators=20, max_depth=2), threshold=0.95),
        GradientBoostingRegressor(n_estimators=20, max_depth=2, max_leaf_nodes=None),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_predicted_fall_is_the_realised_one_on_average(model):
    """A coarse bound: `farthing reproduce reasons` measures it over thousands of walks."""
    data = load_thyroid()
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    if isinstance(model, GradientBoostingRegressor):
        y = (y == y[0]).astype(float)
    model = model.set_params(costs=data.costs.own).fit(X[:2000], y[:2000])
    predicted, realised = steps(model, X[2000:], y[2000:], 250)
    # Four standard errors of the mean difference.
    apart = predicted - realised
    assert abs(apart.mean()) <= 4 * apart.std() / np.sqrt(len(apart))
    assert realised.sum() == pytest.approx(predicted.sum(), rel=0.5)


def test_a_model_without_its_learning_rate_takes_its_belief_at_its_word():
    data = load_thyroid()
    model = GreedyMiserClassifier(n_estimators=10, costs=data.costs).fit(data.X[:500], data.y[:500])
    old = model.variant({}, replace(model.fitted_, learning_rate=None))
    ours, theirs = model.walk().ask.reason, old.walk().ask.reason
    assert ours.outcomes == theirs.outcomes
    assert theirs.fall < ours.fall
    assert "own probabilities" in theirs.source


def test_the_risk_after_the_last_answer_is_the_one_that_its_reason_foresaw(table):
    X, y, costs = table
    model = GreedyMiserClassifier(costs=costs, n_estimators=1, max_depth=1).fit(X, y == y[0])
    reason = model.walk().ask.reason
    column = costs.column(reason.feature)
    ends = []
    for outcome in reason.outcomes:
        sign, threshold = outcome.answer.split()
        side = X[:, column] <= float(threshold) if sign == "<=" else X[:, column] > float(threshold)
        walk = model.walk()
        walk.tell(X[side, column][0])
        ends.append(outcome.probability * walk.stop_reason.risk)
    assert len(ends) == 2
    assert reason.risk - reason.fall == pytest.approx(sum(ends))


def test_held_out_rows_correct_the_predicted_falls(table, tmp_path):
    """The factor against least squares over public walks, with the prior of few rows."""
    X, y, costs = table
    model = GreedyMiserClassifier(costs=costs, n_estimators=5, max_depth=2).fit(X[:1000], y[:1000])
    held, truth = X[1000:1060], y[1000:1060]
    told = model.with_reference(held, truth)
    tops, bottoms = [], []
    for row, label in zip(held, truth, strict=True):
        walk, pairs = model.walk(), []
        while (ask := walk.ask) is not None:
            fall, before = ask.reason.fall, brier(walk.decision, label)
            walk.tell(row[costs.column(ask.feature)])
            pairs.append((fall, before - brier(walk.decision, label)))
        tops.append(sum(f * r for f, r in pairs))
        bottoms.append(sum(f * f for f, _ in pairs))
    slope = sum(tops) / sum(bottoms)
    variance = sum((t - slope * b) ** 2 for t, b in zip(tops, bottoms, strict=True)) / sum(bottoms) ** 2
    factor = 1 + (slope - 1) / (1 + variance / 0.25)
    assert told.reference_.fall_factor == pytest.approx(factor)
    plain, corrected = model.walk().ask.reason, told.walk().ask.reason
    assert corrected.fall == pytest.approx(factor * plain.fall)
    assert corrected.runner_up.fall == pytest.approx(factor * plain.runner_up.fall)
    assert "held-out rows" in corrected.source
    assert corrected.risk == plain.risk
    told.save(tmp_path / "m.farthing")
    assert load(tmp_path / "m.farthing").walk().ask.reason == corrected


def brier(decision, truth):
    return sum((p - (label == truth)) ** 2 for label, p in decision.probabilities.items())


def test_a_stage_of_a_cascade_counts_once(heart):
    cascade = MiserCascadeClassifier(heart.costs, n_estimators=10, n_stages=4, random_state=0)
    model = cascade.fit(heart.X[:200], heart.y[:200]).with_reference(heart.X[200:260], heart.y[200:260])
    n_bought = model.acquired(heart.X[200:260]).sum()
    assert 0 < model.reference_.n_questions < n_bought


@pytest.mark.parametrize("n_estimators", [1, 4])
def test_a_foreseen_answer_is_that_of_a_second_walk(table, n_estimators):
    """With a budget that never binds, answers are foreseen by a walk of their own; without one, by a copy."""
    X, y, costs = table
    model = BudgetForestClassifier(costs=costs, n_estimators=n_estimators, max_depth=4, random_state=0)
    model.fit(X[:300], y[:300])
    for row in X[300:310]:
        free, bound = model.walk(), model.walk(budget=1e9)
        while free.ask is not None:
            assert free.ask.reason == bound.ask.reason
            value = row[costs.column(free.ask.feature)]
            free.tell(value)
            bound.tell(value)
        assert bound.ask is None


def test_cross_fitting_needs_no_further_rows(table):
    """The factor of folds is that of models which did not learn from the rows that they walk."""
    X, y, costs = table
    X, y = X[:300], y[:300]
    model = BudgetTreeClassifier(costs=costs, max_depth=3).fit(X, y)
    told = model.with_reference(X, y, folds=3)
    order, pairs, n_right = np.random.default_rng(0).permutation(300), [], 0
    for part in np.array_split(order, 3):
        others = np.setdiff1d(order, part)
        own = BudgetTreeClassifier(costs=costs, max_depth=3).fit(X[others], y[others])
        pairs += [row_falls(own.fitted_, X[row], y[row]) for row in part]
        n_right += np.sum(own.predict(X[part]) == y[part])
    assert (told.reference_.fall_factor, told.reference_.n_questions) == factor_of(pairs)
    assert told.reference_.fall_factor < model.with_reference(X, y).reference_.fall_factor
    # The calibration, too: the model itself is right more often on rows that it learned from.
    assert (told.reference_.confident.sum(), told.reference_.right.sum()) == (300, n_right)
    assert n_right < np.sum(model.predict(X) == y)


@pytest.mark.parametrize(
    ("folds", "given", "message"),
    [(1, True, "2 or more"), (301, True, "cannot be divided"), (2, False, "give y")],
)
def test_folds_that_cannot_be(table, folds, given, message):
    X, y, costs = table
    model = BudgetTreeClassifier(costs=costs, max_depth=1).fit(X[:300], y[:300])
    with pytest.raises(ValueError, match=message):
        model.with_reference(X[:300], y[:300] if given else None, folds=folds)


def test_what_is_kept_of_nodes_is_what_would_be_found_again(table):
    """Reasons of a model that has given many before are those of one that has given none."""
    X, y, costs = table
    for method in (
        BudgetTreeClassifier(costs=costs, max_depth=5),
        GreedyMiserClassifier(costs=costs, n_estimators=4),
    ):
        used = method.fit(X[:300], y[:300])
        for row in X[300:330]:
            walk = used.walk()
            while (ask := walk.ask) is not None:
                kept = ask.reason
                for outcome in kept.outcomes:
                    outcome.probabilities.clear()  # nobody else's
                fresh = pickle.loads(pickle.dumps(used)).walk()
                fresh.replay(walk.answers)
                assert str(walk.ask.reason) == str(fresh.ask.reason)
                assert walk.ask.reason == fresh.ask.reason
                walk.tell(row[costs.column(ask.feature)])


def test_a_cascade_speaks_of_one_risk(heart):
    """Reasons of questions and of the end have the same measure, from held-out rows of similar risk."""
    cascade = MiserCascadeClassifier(heart.costs, n_estimators=10, n_stages=4, random_state=0)
    model = cascade.fit(heart.X[:200], heart.y[:200])
    fitted, checked = model.fitted_, 0
    for row in range(200, 230):
        walk, spoken = model.walk(), set()
        while (ask := walk.ask) is not None:
            if ask.reason.fall is not None:
                spoken.add(ask.reason.measure)
            walk.tell(heart.X.iloc[row][ask.feature])
        end = walk.stop_reason
        if spoken:
            assert spoken == {end.measure}
            checked += 1
        stage = next(
            s for s in range(len(fitted.chain)) if fitted.owned(fitted.chain)[s].sum() == len(walk.answers)
        )
        place = fitted.chain[stage]
        risk = 1 - max(walk.decision.probabilities.values())
        alike = fitted.similar_rows(place, risk)
        assert end.risk == pytest.approx(fitted.held_errors[place, alike].mean())
    assert checked


def test_errors_of_similar_rows_are_their_weighted_means(heart):
    cascade = MiserCascadeClassifier(heart.costs, n_estimators=10, n_stages=4, random_state=0)
    weights = np.random.default_rng(0).integers(1, 4, size=200).astype(float)
    fitted = cascade.fit(heart.X[:200], heart.y[:200], sample_weight=weights).fitted_
    places = [int(place) for place in fitted.chain[:2]]
    for risk in np.append(fitted.held_risks[places[0]][:20], [-1.0, 2.0]):
        rows = fitted.similar_rows(places[0], float(risk))
        n_rows, errors = fitted.similar_errors(places[0], float(risk), places)
        counted = fitted.held_weights[rows]
        assert n_rows == len(rows)
        naive = [fitted.held_errors[place, rows] @ counted / counted.sum() for place in places]
        assert errors == pytest.approx(naive)
