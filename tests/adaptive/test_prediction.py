"""Predictions: what is bought when, budgets, stages within stages, and models of other libraries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import farthing
from farthing.adaptive import AdaptGbrtClassifier, AdaptLinClassifier, adapt_path
from farthing.adaptive.adapt.expensive_trainer import MIN_PROBABILITY, ExpensiveModelTrainer
from farthing.base import TrainingSet, load
from farthing.boosting import AdaBoostRSClassifier, GreedyMiserClassifier
from farthing.errors import BudgetError, FileError, TrustWarning
from farthing.forests import BudgetForestClassifier, ImportedLinearClassifier, from_model
from farthing.learning import sklearn_files
from farthing.learning.folds import held_out_of_each_class, stratified_folds
from farthing.learning.sklearn_model import SklearnModel, treats_rows_alone

TREES = {"n_estimators": 5, "n_alternations": 2, "tradeoff": 1.0, "p_full": 0.6, "random_state": 0}


def fit(halves, sheet, expensive, **params):
    (X, y), _ = halves
    return AdaptGbrtClassifier(expensive, costs=sheet, **(TREES | params)).fit(X, y)


def test_rows_that_go_on_pay_only_what_is_beyond_the_gate(halves, sheet):
    _, (fresh, _) = halves
    model = fit(halves, sheet, GreedyMiserClassifier(n_estimators=20)).with_threshold(-0.3)
    sent = model.sent(fresh)
    assert 0 < sent.sum() < len(sent)
    _, first = model.pair_.outputs(fresh)
    more = model.expensive_.acquired(fresh)
    assert np.array_equal(model.acquired(fresh), np.where(sent[:, None], first | more, first))
    stays = model.fitted_.cheap_probabilities(model.pair_.outputs(fresh)[0])
    expected = np.where(sent[:, None], model.expensive_.predict_proba(fresh), stays)
    assert np.array_equal(model.predict_proba(fresh), expected)


def test_a_walk_asks_the_gate_first_then_the_rest(halves, sheet):
    _, (fresh, _) = halves
    model = fit(halves, sheet, SVC(), expensive_features=["x4", "x1", "x2"]).with_threshold(-np.inf)
    names = list(model.schema_.names)
    walk, asked = model.walk(), []
    while (ask := walk.ask) is not None:
        asked.append(ask.feature)
        walk.tell(fresh[0, names.index(ask.feature)])
    first = [names[k] for k in np.flatnonzero(model.pair_.outputs(fresh[:1])[1][0])]
    rest = [name for name in ("x1", "x2", "x4") if name not in first]
    assert set(asked[: len(first)]) == set(first)
    assert asked[len(first) :] == rest
    assert walk.decision.spent == model.spend(fresh[:1])[0]


def test_a_row_that_cannot_pay_for_all_stays_with_f1(halves, sheet):
    _, (fresh, _) = halves
    model = fit(halves, sheet, SVC()).with_threshold(-np.inf)
    rich, poor = sheet.total(sheet.features), sheet.total(sheet.features) - 0.25
    assert model.acquired(fresh, budget=rich).all()
    held = model.pair_.outputs(fresh)[1]
    assert np.array_equal(model.acquired(fresh, budget=poor), held)
    assert np.array_equal(
        model.predict_proba(fresh, budget=poor),
        model.fitted_.cheap_probabilities(model.pair_.outputs(fresh)[0]),
    )


@pytest.mark.parametrize("expensive", [GreedyMiserClassifier(n_estimators=10), SVC()])
def test_a_mean_budget_sends_the_largest_set_that_fits(expensive, halves, sheet):
    (X, y), (held, labels) = halves
    model = AdaptGbrtClassifier(expensive, costs=sheet, **TREES).fit(X, y)
    least, most = (
        model.with_threshold(np.inf).spend(held).mean(),
        model.with_threshold(-np.inf).spend(held).mean(),
    )
    budget = (least + most) / 2
    model.set_params(budget=budget).fit(X, y, validation=(held, labels))
    assert model.spend(held).mean() <= budget * (1 + 1e-12)
    gate = model.gate_scores(held)
    below = np.unique(gate[gate <= model.threshold_])
    assert model.threshold_ == below[-1]
    # One level of scores more would be too much.
    assert model.with_threshold(below[-2] if len(below) > 1 else -np.inf).spend(held).mean() > budget
    assert not set(gate[model.sent(held)]) & set(gate[~model.sent(held)])


def test_a_budget_below_gate_and_f1_is_an_error(halves, sheet):
    with pytest.raises(BudgetError, match=r"gate and cheap model alone cost"):
        fit(halves, sheet, None, budget=0.01)


def test_a_large_budget_sends_everybody(halves, sheet):
    _, (fresh, _) = halves
    model = fit(halves, sheet, GaussianNB(), budget=100.0)
    assert model.threshold_ == -np.inf
    assert model.sent(fresh).all()


def test_a_share_sends_the_top_scores_of_validation_rows(halves, sheet):
    (X, y), (held, labels) = halves
    model = AdaptGbrtClassifier(GaussianNB(), costs=sheet, send_share=0.3, **TREES)
    gate = model.fit(X, y, validation=(held, labels)).gate_scores(held)
    assert 0 < model.sent(held).mean() <= 0.3
    # One level of scores more would be too much.
    assert np.mean(gate >= model.threshold_) > 0.3


def test_the_threshold_is_set_on_rows_that_the_gate_has_not_seen(halves, sheet):
    (X, y), _ = halves
    model = AdaptGbrtClassifier(GaussianNB(), costs=sheet, n_folds=None, **TREES).fit(X, y)
    rows = model.training_set(X, y)
    held = held_out_of_each_class(rows.values, rows.target, 0.2, np.random.RandomState(0))
    assert held.sum() == sum(count // 5 for count in np.bincount(y))
    again = clone(model).set_params(expensive=GaussianNB().fit(X, y))
    again.fit(X[~held], y[~held], validation=(X[held], y[held]))
    assert np.array_equal(again.gate_scores(X), model.gate_scores(X))
    assert again.threshold_ == model.threshold_


def test_a_class_of_few_rows_is_never_held_out():
    values, target = np.arange(40.0)[:, np.newaxis], np.repeat([0, 1, 2], [33, 4, 3])
    held = held_out_of_each_class(values, target, 0.3, np.random.RandomState(0))
    assert np.bincount(target[held], minlength=3).tolist() == [9, 1, 0]


@pytest.mark.parametrize("n_classes", [2, 7, 8])
def test_naive_bayes_has_the_same_bits_for_a_row_alone_and_among_others(n_classes):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), np.arange(80) % n_classes
    model = SklearnModel.wrap(GaussianNB().fit(X, y), np.arange(3), X)
    together, alone = model.scores(X), np.concatenate([model.scores(X[[row]]) for row in range(80)])
    assert np.array_equal(together, alone)
    assert treats_rows_alone(model.model) == (n_classes < 8)
    assert np.allclose(model.scores_at_once(X), together)


@pytest.mark.parametrize("budget", [None, 4.0])
def test_variants_send_other_shares_within_the_budget(budget, halves, sheet):
    (X, y), (fresh, _) = halves
    model = AdaptGbrtClassifier(GaussianNB(), costs=sheet, budget=budget, **TREES)
    found = list(model.fit(X, y).variants())
    assert found[-1] == ({}, model)
    shares = [one.sent(fresh).mean() for _, one in found[:-1]]
    assert shares[0] == 0
    assert shares == sorted(shares)
    assert (shares[-1] > 0.7) == (budget is None)
    for params, one in found[2:-1:2]:
        again = clone(model).set_params(**params).fit(X, y)
        assert again.threshold_ == one.threshold_
        if budget is not None:
            assert one.threshold_ >= model.threshold_


def test_stages_nest(halves, sheet, tmp_path):
    (X, y), (fresh, wanted) = halves
    inner = AdaptGbrtClassifier(GreedyMiserClassifier(n_estimators=20), costs=sheet, n_folds=2, **TREES)
    outer = AdaptLinClassifier(inner, tradeoff=0.01, p_full=0.7, costs=sheet, n_folds=2, random_state=0).fit(
        X, y
    )
    assert isinstance(outer.expensive_, AdaptGbrtClassifier)
    assert isinstance(outer.expensive_.expensive_, GreedyMiserClassifier)
    outer = outer.with_threshold(-1.0)
    sent = outer.sent(fresh)
    assert sent.any()
    assert np.array_equal(outer.predict(fresh)[sent], outer.expensive_.predict(fresh)[sent])
    expected = outer.pair_.outputs(fresh)[1] | (outer.expensive_.acquired(fresh) & sent[:, None])
    assert np.array_equal(outer.acquired(fresh), expected)
    decision = farthing.consult(outer, dict(zip(outer.schema_.names, fresh[0], strict=True)), budget=4.0)
    assert decision.prediction == outer.predict(fresh[:1], budget=4.0)[0]
    outer.save(tmp_path / "nest.farthing")
    assert np.array_equal(load(tmp_path / "nest.farthing").predict_proba(fresh), outer.predict_proba(fresh))
    assert wanted.shape == sent.shape


def test_a_fitted_stage_is_taken_as_it_is(halves, sheet):
    (X, y), _ = halves
    inner = AdaptGbrtClassifier(GaussianNB(), costs=sheet, **TREES).fit(X, y)
    outer = AdaptGbrtClassifier(inner, costs=sheet, n_folds=None, **TREES).fit(X, y)
    assert outer.expensive_ is inner


def test_a_model_with_a_budget_of_its_own_keeps_it(halves, sheet):
    (X, y), (fresh, _) = halves
    sampled = AdaBoostRSClassifier(budget=3.0, n_estimators=10, costs=sheet, random_state=0).fit(X, y)
    model = AdaptGbrtClassifier(sampled, costs=sheet, n_folds=None, **TREES).fit(X, y).with_threshold(-np.inf)
    seeds = np.arange(len(fresh))
    alone = sampled.predict_proba(fresh, seeds=seeds)
    assert np.array_equal(model.predict_proba(fresh, seeds=seeds), alone)
    rich = model.predict_proba(fresh[:20], seeds=seeds[:20], budget=1e6)
    assert np.array_equal(rich, alone[:20])


@pytest.mark.parametrize(
    "expensive",
    [
        RidgeClassifier(),
        LogisticRegression(),
        RandomForestClassifier(5, max_depth=3, random_state=0, n_jobs=2),
        make_pipeline(StandardScaler(), SVC()),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_of_scikit_learn(expensive, n_classes, halves, sheet):
    (X, y), (fresh, _) = halves
    labels = np.array(["low", "mid", "top"])[y + (n_classes == 3) * (X[:, 3] > 1)]
    model = AdaptGbrtClassifier(expensive, costs=sheet, **TREES).fit(X, labels).with_threshold(-np.inf)
    proba = model.predict_proba(fresh)
    own = model.expensive_.model.predict(fresh)
    if hasattr(expensive, "predict_proba"):
        assert np.array_equal(model.predict(fresh), own)
    else:  # Platt's offset moves the border a little
        assert np.mean(model.predict(fresh) == own) > 0.9
    assert np.allclose(proba.sum(axis=1), 1)
    assert model.acquired(fresh).all()
    fitted = clone(expensive).fit(X, labels)
    again = AdaptGbrtClassifier(fitted, costs=sheet, **TREES).fit(X, labels).with_threshold(-np.inf)
    assert np.array_equal(again.predict_proba(fresh), proba)


def test_platt_scaling_is_monotone_and_calibrated():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 2))
    y = (X[:, 0] + rng.normal(size=800) > 0).astype(int)
    model = (
        AdaptLinClassifier(RidgeClassifier(), random_state=0, n_alternations=1)
        .fit(X, y)
        .with_threshold(-np.inf)
    )
    p = model.predict_proba(X)[:, 1]
    order = np.argsort(model.expensive_.model.decision_function(X))
    assert (np.diff(p[order]) >= 0).all()
    for low, high in ((0.1, 0.3), (0.3, 0.7), (0.7, 0.9)):
        inside = (p > low) & (p < high)
        assert y[inside].mean() == pytest.approx(p[inside].mean(), abs=0.07)


def test_log_probabilities_are_out_of_fold_and_clipped():
    """A tree is sure of its own rows; of others it is wrong half the time if the labels are chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 2)), rng.integers(0, 2, size=200)
    trainer = ExpensiveModelTrainer()
    rows = TrainingSet.of(X, y, classes=np.unique(y))
    for tree in (DecisionTreeClassifier(), DecisionTreeClassifier().fit(X, y)):
        out_of_fold = trainer.train(tree, rows, 5, np.random.RandomState(0)).own_log_proba
        assert set(out_of_fold.round(6)) == {0.0, np.log(MIN_PROBABILITY).round(6)}
        assert 0.35 < (out_of_fold < -1).mean() < 0.65
        own = trainer.train(tree, rows, None, np.random.RandomState(0)).own_log_proba
        assert (own == 0).all()


def test_folds_are_dealt_class_by_class():
    target = np.repeat([0, 1, 2], [50, 10, 3])
    values = np.arange(63.0)[:, np.newaxis]
    folds = stratified_folds(values, target, 5, np.random.RandomState(0))
    counts = np.array([[np.sum((folds == f) & (target == c)) for c in range(3)] for f in range(5)])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    twice = np.repeat(values, 2, axis=0)[::-1], np.repeat(target, 2)[::-1]
    assert np.array_equal(stratified_folds(*twice, 5, np.random.RandomState(0))[::-2], folds)
    assert stratified_folds(values[:1], target[:1], 5, np.random.RandomState(0)) is None


def test_imported_trees_speak_for_themselves(halves, sheet):
    (X, y), (fresh, _) = halves
    forest = from_model(RandomForestClassifier(5, max_depth=3, random_state=0).fit(X, y), costs=sheet)
    model = fit(halves, sheet, forest).with_threshold(-np.inf)
    assert model.expensive_ is forest
    assert np.array_equal(model.predict_proba(fresh), forest.predict_proba(fresh))
    assert (model.spend(fresh) >= forest.spend(fresh)).all()


def test_imported_linear_models_are_not_fitted_again(halves, sheet, monkeypatch):
    (X, y), (fresh, _) = halves
    logistic = from_model(LogisticRegression().fit(X, y), costs=sheet)
    # A copy would be another model: the import does not hold its learner.
    monkeypatch.delattr(ImportedLinearClassifier, "_learn")
    model = fit(halves, sheet, logistic).with_threshold(-np.inf)
    assert np.array_equal(model.predict_proba(fresh), logistic.predict_proba(fresh))


def test_frames_and_columns_by_name(halves, sheet):
    (X, y), (fresh, _) = halves
    names = ["a", "b", "c", "d", "e"]
    frame, other = pd.DataFrame(X, columns=names), pd.DataFrame(fresh, columns=names)
    bayes = GaussianNB().fit(frame[["c", "a"]], y)
    model = AdaptGbrtClassifier(bayes, **TREES).fit(frame, y).with_threshold(-np.inf)
    assert model.expensive_.columns.tolist() == [2, 0]
    assert np.array_equal(model.predict(other), bayes.predict(other[["c", "a"]]))
    with pytest.raises(ValueError, match="reads 2 columns"):
        AdaptGbrtClassifier(bayes, expensive_features=["a"], **TREES).fit(frame, y)


def test_a_model_of_other_columns_is_refused(halves):
    (X, y), _ = halves
    other = BudgetForestClassifier(n_estimators=2, random_state=0).fit(X[:, :3], y)
    with pytest.raises(ValueError, match="other columns"):
        AdaptGbrtClassifier(other, **TREES).fit(X, y)
    strange = GaussianNB().fit(X, y + 5)
    with pytest.raises(ValueError, match="knows the class"):
        AdaptGbrtClassifier(strange, **TREES).fit(X, y)


# Files.


def test_files_hold_scikit_learn_models_through_skops(halves, sheet, tmp_path):
    _, (fresh, _) = halves
    for number, expensive in enumerate((SVC(), make_pipeline(StandardScaler(), LogisticRegression()))):
        model = fit(halves, sheet, expensive).with_threshold(-0.5)
        path = tmp_path / f"{number}.farthing"
        model.save(path)
        assert b"pickle" not in path.read_bytes()
        loaded = load(path)
        assert np.array_equal(loaded.predict_proba(fresh), model.predict_proba(fresh))
        assert np.array_equal(loaded.spend(fresh), model.spend(fresh))
        assert type(loaded.expensive_.model) is type(expensive)


def test_a_file_names_what_it_would_need_to_trust(halves, sheet, tmp_path):
    _, (fresh, _) = halves
    model = fit(halves, sheet, RandomForestClassifier(3, max_depth=2, random_state=0)).with_threshold(-np.inf)
    path = tmp_path / "model.farthing"
    with pytest.warns(TrustWarning, match="RandomForestClassifier"):
        model.save(path)
    with pytest.raises(FileError, match=r"trusted=\['sklearn.tree._tree.Tree'\]"):
        load(path)
    with pytest.raises(FileError, match=r"sklearn.tree._tree.Tree"):
        load(path, trusted=["os.system"])
    with pytest.raises(ValueError, match="single string"):
        load(path, trusted="sklearn.tree._tree.Tree")
    loaded = farthing.load(path, trusted=["sklearn.tree._tree.Tree"])
    assert np.array_equal(loaded.predict_proba(fresh), model.predict_proba(fresh))


def test_a_hostile_part_raises_a_file_error(halves, sheet, tmp_path):
    model = fit(halves, sheet, SVC())
    good = sklearn_files.encode(model.expensive_)
    decode = sklearn_files.decode
    assert decode(good).columns.tolist() == [0, 1, 2, 3, 4]
    evil = good["schema"].replace("sklearn.svm._classes", "os").replace("SVC", "system")
    for change in ({"schema": evil}, {"schema": "{}"}, {"schema": "no json"}, {"parts": []}):
        with pytest.raises(FileError):
            decode(good | change)
    for change in ({"columns": [0]}, {"fill": np.zeros(2)}, {"platt": 3}, {"parts": [1]}):
        with pytest.raises(TypeError):
            decode(good | change)


# The sweep.


def test_the_path_judges_as_the_models_do(halves, sheet):
    (X, y), (fresh, wanted) = halves
    seen = []
    path = adapt_path(
        AdaptGbrtClassifier(GreedyMiserClassifier(n_estimators=10), costs=sheet, **TREES),
        X,
        y,
        validation=(fresh[:150], wanted[:150]),
        test=(fresh[150:], wanted[150:]),
        tradeoffs=[0.5, 5.0],
        p_fulls=[0.3, 0.8],
        learning_rates=[0.2],
        shares=[0.25, 0.75],
        n_jobs=2,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert len(path.points) == 12
    for point in path:
        assert point.test_spend == pytest.approx(point.model.spend(fresh[150:]).mean())
        assert point.test_score == point.model.score(fresh[150:], wanted[150:])
        assert point.spend == pytest.approx(point.model.spend(fresh[:150]).mean())
        assert point.score == point.model.score(fresh[:150], wanted[:150])
        assert point.details["sent"] == point.model.sent(fresh[150:]).mean()
        assert set(point.params) == {"tradeoff", "p_full", "learning_rate"}
    alone = path.points[0].model.expensive_
    assert path.reference.test_score == alone.score(fresh[150:], wanted[150:])
    spends = [point.spend for point in path.pareto()]
    scores = [point.score for point in path.pareto()]
    assert spends == sorted(spends)
    assert scores == sorted(scores)
    for point in path:
        beaten = [p for p in path.pareto() if p.spend <= point.spend]
        assert max(p.score for p in beaten) >= point.score
    assert path.within(spends[0] / 2 - 1) is None
    assert path.within(np.inf).score == scores[-1]
    near = path.near(0.5)
    assert near.score >= path.reference.score - 0.5
    rights = alone.predict(fresh[:150]) == wanted[:150]
    assert path.reference.error == pytest.approx(rights.std() / np.sqrt(150))
    # Settings share the start, and are what they would be alone.
    last = path.points[-1].model
    again = clone(last).fit(X, y, validation=(fresh[:150], wanted[:150]))
    assert np.array_equal(again.gate_scores(fresh), last.gate_scores(fresh))
    # What is just within the loss is not so by a margin.
    loss = path.reference.score - scores[0]
    assert path.near(loss).score == scores[0]
    least = scores[0] + path.reference.error
    safe = path.near(loss, errors=1.0)
    assert (safe is None) == (scores[-1] < least)
    assert safe is None or safe.score >= least > scores[0]


def test_a_setting_of_a_path_is_the_model_of_that_setting(halves, sheet):
    (X, y), (fresh, wanted) = halves
    model = AdaptLinClassifier(GaussianNB(), costs=sheet, n_alternations=3, random_state=0)
    path = adapt_path(model, X, y, validation=(fresh, wanted), tradeoffs=[0.01], p_fulls=[0.4])
    model.set_params(tradeoff=0.01, p_full=0.4).fit(X, y, validation=(fresh, wanted))
    assert np.array_equal(path.points[0].model.predict_proba(fresh), model.predict_proba(fresh))
    with pytest.raises(ValueError, match="learning_rate"):
        adapt_path(model, X, y, validation=(fresh, wanted), learning_rates=[0.1])
    with pytest.raises(ValueError, match="budget"):
        adapt_path(model.set_params(budget=3.0), X, y, validation=(fresh, wanted))
