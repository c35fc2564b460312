"""What the misers promise beside their trees: budgets, stages, early stops, warm starts, samples, classes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss
from tests.kernels import naive

from farthing.boosting import GreedyMiserClassifier, GreedyMiserRanker, GreedyMiserRegressor
from farthing.costs import CostSheet, Group
from farthing.errors import BudgetWarning
from farthing.learning.losses import lambdamart
from farthing.learning.random_numbers import draw_rows, random_bits, subkey
from farthing.metrics import ndcg
from farthing.table import Bins, Schema
from farthing.trees import Forest, Grower, RowLedgers

SHEET = CostSheet(
    [1.0, 0.3, 0.7, 0.0, 2.1, 0.1], groups={"lab": Group(1.3, ["x1", "x4"]), "scan": Group(0.6, ["x2", "x5"])}
)
SEEDS = st.integers(0, 2**32 - 1)


def numbers(seed, n_rows=120, missing=0.1):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 2)
    X[:, 3] = rng.integers(0, 3, n_rows)
    y = X[:, 0] + (X[:, 3] == 1) * X[:, 1] - X[:, 4] * (X[:, 2] > 0) + 0.3 * X[:, 5]
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def classes(seed, n_classes=3, n_rows=150):
    X, y = numbers(seed, n_rows)
    return X, np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))


# Budgets.


@pytest.mark.filterwarnings("ignore::farthing.errors.BudgetWarning")
@given(SEEDS, st.sampled_from(["model", "row"]), st.floats(0, 7), st.sampled_from([0.0, 0.1, 0.5]))
def test_budgets_hold_on_unseen_rows_trees_included(seed, charge, budget, tree_cost):
    X, y = numbers(seed)
    model = GreedyMiserRegressor(
        charge=charge,
        budget=budget,
        tree_cost=tree_cost,
        n_estimators=6,
        max_depth=3,
        costs=SHEET,
        tradeoff=0.01,
    ).fit(X, y)
    fresh, _ = numbers(seed + 1, missing=0.4)
    assert model.evaluation_cost_ == tree_cost * model.n_rounds_
    assert (model.spend(fresh) <= budget * (1 + 1e-12)).all()
    calls = {"trees": model.evaluation_cost_} if model.evaluation_cost_ else {}
    assert (model.spend(fresh) == SHEET.with_calls(calls).total_rows(model.acquired(fresh))).all()


def test_trees_too_dear_leave_the_mean():
    X, y = numbers(0)
    for charge in ("model", "row"):
        model = GreedyMiserRegressor(charge=charge, budget=1.0, tree_cost=2.0, costs=SHEET)
        with pytest.warns(BudgetWarning, match="raise budget"):
            model.fit(X, y)
        assert model.n_rounds_ == 0
        np.testing.assert_allclose(model.predict(X), y.mean())


def test_the_model_ledger_buys_features_while_the_budget_bears_their_trees():
    X, y = numbers(0, missing=0.0)
    model = GreedyMiserRegressor(budget=5.0, tree_cost=0.5, n_estimators=50, costs=SHEET)
    with pytest.warns(BudgetWarning, match="ended boosting"):
        model.fit(X, y)
    bought = SHEET.total_rows((np.bincount(model.forest_.feature + 1, minlength=7)[1:] > 0)[np.newaxis])[0]
    assert bought + model.evaluation_cost_ <= 5.0
    assert bought + model.evaluation_cost_ + 0.5 > 5.0  # one more tree would be too much


@given(SEEDS, st.sampled_from([None, 0.8, 2.5]), st.sampled_from([1.0, 0.6]), st.booleans())
def test_training_walks_as_prediction_will(seed, budget, subsample, weighted):
    """Rows' accounts after training are what the fitted trees make the same rows acquire."""
    X, y = numbers(seed)
    bins = Bins(X, Schema.learn(X))
    weights = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float) if weighted else None
    ledgers = RowLedgers(bins, SHEET, budget=budget, weights=weights)
    grower = Grower(bins, SHEET, max_depth=4, tradeoff=0.5)
    model = GreedyMiserRegressor(n_estimators=0, costs=SHEET).fit(X, y).fitted_
    scores = np.full(len(y), model.prior[0])
    trees = [model.forest]
    for number in range(4):
        rows = None if subsample == 1 else draw_rows(number, len(y), round(subsample * len(y)))
        grown = grower.gradient(y - scores, rows=rows, ledgers=ledgers, send_others=True)
        scores += grown.tree.value[grown.leaf_of_row, 0]
        trees.append(grown.tree)
    grown_model = replace(model, forest=Forest.concat(trees))
    outputs, acquired = grown_model.outputs(X, budget=None if budget is None else np.full(len(y), budget))
    np.testing.assert_array_equal(outputs[:, 0], scores)
    owned = np.unpackbits(ledgers.owned().view(np.uint8), axis=1, count=6, bitorder="little").astype(bool)
    np.testing.assert_array_equal(acquired, owned)
    resumed = RowLedgers(bins, SHEET, budget=budget, weights=weights, owned=ledgers.owned())
    args = (y - scores,)
    assert grower.gradient(*args, ledgers=resumed).tree == grower.gradient(*args, ledgers=ledgers).tree


@pytest.mark.parametrize("n_features", [3, 64, 65, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_split_is_charged_the_mean_price_of_its_rows(n_features, weighted):
    """With a gain that just bears the naive price the root splits, with one that just does not it stays."""
    rng = np.random.default_rng(n_features)
    n_rows = 1000
    X = np.zeros((n_rows, n_features))
    chosen = n_features - 1
    X[:, chosen] = np.arange(n_rows) % 2
    names = [f"x{j}" for j in range(n_features)]
    sheet = CostSheet(rng.integers(1, 9, n_features), groups={"g": Group(5.0, [names[0], names[chosen]])})
    owned = rng.random((n_rows, n_features)) < 0.5
    weights = rng.integers(1, 4, n_rows).astype(float) if weighted else np.ones(n_rows)
    prices = [sheet.price(names[chosen], owned=row) for row in owned]
    mean_price = float(np.average(prices, weights=weights))
    packed = np.packbits(owned, axis=1, bitorder="little")
    words = np.zeros((n_rows, -(-n_features // 64) * 8), dtype=np.uint8)
    words[:, : packed.shape[1]] = packed
    bins = Bins(X, Schema.learn(X))
    gradients = np.where(X[:, chosen] == 1, 1.0, -1.0)
    gain = n_rows / 2  # half the squares, all of which the split explains
    for factor, splits in ((1 - 1e-9, True), (1 + 1e-9, False)):
        ledgers = RowLedgers(
            bins, sheet, weights=weights if weighted else None, owned=words.view(np.uint64), n_threads=2
        )
        grower = Grower(bins, sheet, max_depth=1, tradeoff=gain / mean_price * factor, n_threads=2)
        assert (grower.gradient(gradients, ledgers=ledgers).tree.n_nodes == 3) == splits


# Stages, early stopping, warm starts.


@pytest.mark.parametrize("budget", [None, 1.5])
@pytest.mark.parametrize("charge", ["model", "row"])
def test_stages_are_the_models_of_fewer_trees(charge, budget):
    X, y = classes(0)
    options = {"charge": charge, "tradeoff": 0.3, "costs": SHEET, "max_depth": 3}
    model = GreedyMiserClassifier(n_estimators=4, **options).fit(X, y)
    predicted = list(model.staged_predict(X, budget=budget))
    spent = list(model.staged_spend(X, budget=budget))
    assert len(predicted) == len(spent) == model.n_rounds_ == 4
    for n_trees in range(1, 5):
        fewer = GreedyMiserClassifier(n_estimators=n_trees, **options).fit(X, y)
        np.testing.assert_array_equal(predicted[n_trees - 1], fewer.predict(X, budget=budget))
        np.testing.assert_array_equal(spent[n_trees - 1], fewer.spend(X, budget=budget))


def test_the_iteration_is_chosen_on_validation_rows():
    X, y = classes(1, 2, 300)
    options = {"n_estimators": 60, "learning_rate": 0.5, "costs": SHEET}
    fresh, labels = classes(2, 2, 200)
    model = GreedyMiserClassifier(**options).fit(X, y, validation=(fresh, labels))
    assert len(model.validation_losses_) == 60
    assert model.n_rounds_ == np.argmin(model.validation_losses_) + 1 < 60
    best = log_loss(labels, model.predict_proba(fresh))
    assert model.validation_losses_.min() == pytest.approx(best)
    hasty = GreedyMiserClassifier(n_iter_no_change=3, **options).fit(X, y, validation=(fresh, labels))
    assert len(hasty.validation_losses_) == hasty.n_rounds_ + 3
    full = GreedyMiserClassifier(**options).fit(X, y)
    assert hasty.forest_ == full.forest_.trees(0, hasty.n_rounds_ + 1)


def test_validation_under_a_row_budget_sees_what_the_walk_sees():
    X, y = numbers(3)
    fresh, wanted = numbers(4)
    model = GreedyMiserRegressor(charge="row", budget=1.7, n_estimators=15, costs=SHEET)
    model.fit(X, y, validation=(fresh, wanted, np.ones(len(fresh))))
    error = np.mean((model.raw_outputs(fresh)[0][:, 0] - wanted) ** 2) / 2
    looked = model.acquired(fresh).any(axis=1)
    assert looked.all()
    assert model.validation_losses_.min() == pytest.approx(error)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_a_fraction_of_the_rows_is_held_out(n_outputs):
    X, y = classes(5, max(2, n_outputs), 200)
    options = {"n_estimators": 15, "validation_fraction": 0.25, "random_state": 3, "costs": SHEET}
    model = GreedyMiserClassifier(**options).fit(X, y)
    assert len(model.validation_losses_) == 15
    assert model.forest_.cover[model.forest_.offsets[n_outputs]] < 0.75 * 200
    assert GreedyMiserClassifier(**options).fit(X, y).forest_ == model.forest_
    options["random_state"] = 4
    assert GreedyMiserClassifier(**options).fit(X, y).forest_ != model.forest_


@pytest.mark.parametrize("n_classes", [None, 2, 3])
def test_the_prior_knows_nothing_of_held_out_rows(n_classes):
    """The target of the rows that are held out has no part in any prediction."""
    X, y = numbers(3) if n_classes is None else classes(3, n_classes)
    miser = GreedyMiserRegressor if n_classes is None else GreedyMiserClassifier
    model = miser(n_estimators=2, validation_fraction=0.3, random_state=0, costs=SHEET).fit(X, y)
    held_out = np.isin(np.arange(len(y)), held_out_rows(len(y), 0.3))
    # The other way round, but of the same classes and so of the same codes.
    changed = np.where(held_out, y[::-1] if n_classes is None else n_classes - 1 - y, y)
    again = miser(n_estimators=2, validation_fraction=0.3, random_state=0, costs=SHEET).fit(X, changed)
    assert np.array_equal(again.prior_, model.prior_)
    if n_classes is None:
        assert model.prior_ == pytest.approx([y[~held_out].mean()])


def held_out_rows(n_rows, fraction):
    """Return the rows that a fit with ``random_state=0`` holds out."""
    key = int(np.random.RandomState(0).randint(np.iinfo(np.int32).max))
    return draw_rows(subkey(key, 0), n_rows, round(fraction * n_rows))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"charge": "row", "tradeoff": 0.3},
        {"charge": "row", "budget": 2.0},
        {"budget": 3.0},
        {"subsample": 0.5, "random_state": 1, "charge": "row", "tradeoff": 0.1},
    ],
)
def test_a_warm_start_goes_on_where_the_last_fit_ended(options):
    X, y = classes(6)
    model = GreedyMiserClassifier(n_estimators=3, warm_start=True, costs=SHEET, **options).fit(X, y)
    model.set_params(n_estimators=6).fit(X, y)
    assert model.forest_ == GreedyMiserClassifier(n_estimators=6, costs=SHEET, **options).fit(X, y).forest_
    with pytest.raises(ValueError, match="n_estimators must be at least the 6"):
        model.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="columns and categories"):
        model.set_params(n_estimators=9, costs=None).fit(X[:, :4], y)


# Samples and weights.


def test_draws_are_those_of_the_core():
    counters = np.array([0, 1, 2, 2**63], dtype=np.uint64)
    expected = [naive.random_bits(12345, int(counter)) for counter in counters]
    assert random_bits(12345, counters).tolist() == expected


def test_every_row_is_drawn_equally_often():
    counts = np.zeros(50)
    for key in range(2000):
        counts[draw_rows(key, 50, 20)] += 1
    # A binomial of 2000 draws at 0.4 has a standard deviation of 22.
    assert np.abs(counts - 800).max() < 5 * 22


def test_subsamples_depend_on_the_seed_alone():
    X, y = numbers(7)
    options = {"subsample": 0.5, "n_estimators": 5, "costs": SHEET}
    first = GreedyMiserRegressor(random_state=0, **options).fit(X, y)
    assert first.forest_ == GreedyMiserRegressor(random_state=0, n_jobs=2, **options).fit(X, y).forest_
    assert first.forest_ != GreedyMiserRegressor(random_state=1, **options).fit(X, y).forest_
    assert set(first.forest_.cover[first.forest_.offsets[1:-1]]) == {60.0}


def test_class_weights_are_sample_weights():
    X, y = classes(8)
    by_class = GreedyMiserClassifier(n_estimators=4, class_weight={0: 2.0, 2: 0.5}, costs=SHEET).fit(X, y)
    by_row = GreedyMiserClassifier(n_estimators=4, costs=SHEET)
    by_row.fit(X, y, sample_weight=np.array([2.0, 1.0, 0.5])[y])
    assert by_class.forest_ == by_row.forest_
    y[y == 2] = np.where(np.arange((y == 2).sum()) % 3 == 0, 2, 1)
    balanced = GreedyMiserClassifier(n_estimators=0, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.predict_proba(X), 1 / 3)
    with pytest.raises(ValueError, match="names 7"):
        GreedyMiserClassifier(class_weight={7: 1.0}).fit(X, y)


@pytest.mark.parametrize("charge", ["model", "row"])
def test_a_relative_trade_off_is_a_share_of_the_first_loss(charge):
    X, y = numbers(9)
    options = {"n_estimators": 5, "costs": SHEET, "charge": charge}
    loss = float(((y - y.mean()) ** 2).sum() / 2)
    share = GreedyMiserRegressor(tradeoff=0.01, relative=True, **options).fit(X, y)
    absolute = GreedyMiserRegressor(tradeoff=0.01 * loss, **options).fit(X, y)
    assert share.forest_ == absolute.forest_
    assert share.forest_ != GreedyMiserRegressor(**options).fit(X, y).forest_
    twice = GreedyMiserRegressor(tradeoff=0.01, relative=True, **options).fit(np.r_[X, X], np.r_[y, y])
    np.testing.assert_array_equal(twice.forest_.feature, share.forest_.feature)


# Groups and prices.


def test_after_the_first_feature_of_a_descriptor_its_siblings_cost_their_own_part():
    """As in the paper's experiment on scenes: two equally good features, the sibling is bought."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 400))
    X = np.column_stack([a, b, b])
    sheet = CostSheet([1.0, 1.0, 1.5], groups={"descriptor": Group(3.0, ["x0", "x2"])})
    model = GreedyMiserRegressor(tradeoff=0.02, relative=True, max_depth=2, n_estimators=20, costs=sheet)
    tested = model.fit(X, 2 * a + b).acquired(X).any(axis=0)
    assert tested.tolist() == [True, True, False]  # 1 beats 1.5 ...
    dearer = CostSheet([1.0, 2.0, 1.5], groups={"descriptor": Group(3.0, ["x0", "x2"])})
    tested = model.set_params(costs=dearer).fit(X, 2 * a + b).acquired(X).any(axis=0)
    assert tested.tolist() == [True, False, True]  # ... but 1.5 beats 2, though alone it costs 4.5


def test_rows_pay_for_themselves_so_the_mean_is_below_the_dearest():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 3))
    y = np.where(X[:, 0] > 1, X[:, 1], 0.0)
    sheet = CostSheet([1.0, 10.0, 1.0])
    options = {"tradeoff": 0.02, "relative": True, "n_estimators": 20, "costs": sheet}
    row = GreedyMiserRegressor(charge="row", **options).fit(X, y)
    assert row.acquired(X)[:, 1].mean() < 0.3
    assert np.corrcoef(row.predict(X), y)[0, 1] > 0.9


# Rankings.


def queries(seed, n_queries=25):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(2, 12, n_queries))
    X = rng.normal(size=(len(qid), 6))
    grades = np.clip(np.round(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=len(qid)) * 0.3), 0, 4)
    return X, grades, qid


def naive_lambdas(grades, scores, qid):
    gradients, hessians, losses = np.zeros((3, len(grades)))
    for query in np.unique(qid):
        rows = np.flatnonzero(qid == query)
        ranked = rows[np.argsort(-scores[rows], kind="stable")]
        rank = {row: i for i, row in enumerate(ranked)}
        ideal = sum((2**g - 1) / np.log2(i + 2) for i, g in enumerate(sorted(grades[rows])[::-1]))
        for i in rows:
            for j in rows:
                if grades[i] <= grades[j] or min(rank[i], rank[j]) >= 30:
                    continue
                swap = abs(1 / np.log2(rank[i] + 2) - 1 / np.log2(rank[j] + 2))
                change = (2 ** grades[i] - 2 ** grades[j]) * swap / ideal
                pull = 1 / (1 + np.exp(scores[i] - scores[j]))
                gradients[[i, j]] += np.array([1, -1]) * pull * change
                hessians[[i, j]] += pull * (1 - pull) * change
                losses[i] += change * np.log1p(np.exp(scores[j] - scores[i]))
    return gradients, hessians, losses


@pytest.mark.parametrize("seed", range(3))
def test_lambdas_equal_the_twin(seed):
    _, grades, qid = queries(seed)
    if seed == 2:  # a long query, and rows out of order
        qid = np.where(qid > 8, 0, qid)
    scores = np.round(np.random.default_rng(seed).normal(size=len(qid)), 1)
    loss = lambdamart(qid, len(qid), n_threads=2)
    gradients, hessians = loss.steps(grades, scores[np.newaxis])
    expected = naive_lambdas(grades, scores, qid)
    np.testing.assert_allclose(gradients[0], expected[0], atol=1e-12)
    np.testing.assert_allclose(hessians[0], np.maximum(expected[1], np.abs(expected[0]) / 10), atol=1e-12)
    np.testing.assert_allclose(loss.values(grades, scores[np.newaxis]), expected[2], atol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "lambdamart"])
def test_rankers_rank(loss):
    X, grades, qid = queries(0, 80)
    fresh, wanted, groups = queries(1, 40)
    model = GreedyMiserRanker(loss=loss, n_estimators=40, tradeoff=1e-4, relative=True, costs=SHEET)
    model.fit(X, grades, qid=qid, validation=(fresh, wanted, groups))
    order = np.random.default_rng(0).permutation(len(qid))
    chance = ndcg(wanted, np.zeros(len(wanted)), qid=groups)
    reached = ndcg(wanted, model.predict(fresh), qid=groups)
    assert reached > chance + 0.5 * (1 - chance)
    assert model.validation_losses_.min() == pytest.approx(1 - reached)
    if loss == "squared":
        shuffled = GreedyMiserRanker(n_estimators=10, costs=SHEET).fit(
            X[order], grades[order], qid=qid[order]
        )
        plain = GreedyMiserRanker(n_estimators=10, costs=SHEET).fit(X, grades)
        np.testing.assert_allclose(shuffled.predict(fresh), plain.predict(fresh))


def test_whole_queries_are_held_out():
    X, grades, qid = queries(2, 40)
    model = GreedyMiserRanker(n_estimators=5, validation_fraction=0.25, random_state=0).fit(
        X, grades, qid=qid
    )
    sizes = np.bincount(qid)
    assert len(model.validation_losses_) == 5
    n_learned = model.forest_.cover[model.forest_.offsets[1]] if model.n_rounds_ else None
    assert n_learned is None or n_learned <= len(qid) - np.sort(sizes)[:10].sum()


# What is refused.


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"tradeoff": -1.0}, "tradeoff"),
        ({"tree_cost": np.inf}, "tree_cost"),
        ({"subsample": 0.0}, "subsample"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"n_iter_no_change": 0}, "n_iter_no_change"),
        ({"charge": "free"}, "charge"),
        ({"leaf": "green"}, "leaf"),
        ({"n_estimators": 1.5}, "n_estimators"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"max_depth": -1}, "max_depth"),
        ({"validation_fraction": 0.001}, "leaves no rows"),
    ],
)
def test_bad_parameters_are_named(params, message):
    X, y = numbers(0)
    with pytest.raises(ValueError, match=message):
        GreedyMiserRegressor(**params).fit(X, y)


def test_bad_validation_rows_are_named():
    X, y = classes(0)
    with pytest.raises(ValueError, match="validation must be"):
        GreedyMiserClassifier().fit(X, y, validation=X)
    with pytest.raises(ValueError, match="has the class 1"):
        GreedyMiserClassifier().fit(X, y, validation=(X, y + 10))
    with pytest.raises(ValueError, match="150 rows, but 3 targets"):
        GreedyMiserClassifier().fit(X, y, validation=(X, y[:3]))
