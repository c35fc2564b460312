"""Pipelines: preprocessing column by column, with the prices, walks and spends of the table."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    StandardScaler,
)

import farthing
from farthing import REFUSED, CostSheet, Group, consult, load
from farthing.adaptive import EdgeClassifier
from farthing.boosting import GreedyMiserClassifier, GreedyMiserRanker, GreedyMiserRegressor
from farthing.cascades import MiserCascadeClassifier
from farthing.errors import CostError, TableError
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier, prune_path
from farthing.neighbors import ValueOfClassifier
from farthing.pipelines import PipelineClassifier, PipelineRegressor
from farthing.pipelines.column_map import as_array
from farthing.pipelines.entry_sources import entry_sources
from farthing.pipelines.source_columns import source_columns
from farthing.table import Schema

rng = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "age": rng.integers(20, 80, size=N),
        "chol": rng.normal(220, 40, size=N),
        "pain": rng.choice(["none", "mild", "strong"], size=N),
        "fbs": rng.normal(size=N),
    }
)
LABEL = np.where((FRAME["pain"] == "strong") | (FRAME["chol"] > 250), "sick", "well")
FRAME.loc[::9, "chol"] = np.nan
FRAME.loc[4::11, "pain"] = None
PRICES = CostSheet(
    {"age": 1, "chol": 5, "pain": 2, "fbs": 3}, groups={"blood": Group(2, ["chol", "fbs"])}, unit="USD"
)
NUMBERS = ["age", "chol", "fbs"]


def one_hot() -> ColumnTransformer:
    return ColumnTransformer(
        [
            ("text", OneHotEncoder(handle_unknown="ignore"), ["pain"]),
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
        ]
    )


STEPS = {
    "one hot": one_hot(),
    "ordinal": ColumnTransformer(
        [("text", OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), ["pain"])],
        remainder="passthrough",
    ),
    "bins": ColumnTransformer(
        [
            ("bins", KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), ["age"]),
            ("same", "passthrough", ["pain", "fbs"]),
        ]
    ),
    "function": ColumnTransformer(
        [("exp", FunctionTransformer(np.log1p, feature_names_out="one-to-one"), ["age"])],
        remainder="passthrough",
    ),
    "power": ColumnTransformer([("power", PowerTransformer(), ["age", "fbs"])], remainder="passthrough"),
    "indicator": ColumnTransformer(
        [("gaps", SimpleImputer(add_indicator=True), ["age", "chol", "fbs"])], remainder="passthrough"
    ),
}
# Without groups, where a column has several outputs.
PLAIN = CostSheet({"age": 1, "chol": 5, "pain": 2, "fbs": 3})


def tree(**params: Any) -> GreedyMiserClassifier:
    return GreedyMiserClassifier(**{"n_estimators": 12, "max_depth": 2, **params})


@pytest.fixture(scope="module", params=sorted(STEPS))
def model(request: Any) -> PipelineClassifier:
    costs = PLAIN if request.param == "indicator" else PRICES
    made = farthing.pipeline(clone(STEPS[request.param]), tree(), costs=costs)
    assert isinstance(made, PipelineClassifier)
    return made.fit(FRAME, LABEL)


def test_the_predictions_are_those_of_scikit_learn(model: PipelineClassifier) -> None:
    steps = make_pipeline(clone(model.transformer), tree())
    # Both are given what the library reads from the table: floats, and NaN for a missing category.
    pain = [np.nan if value is None else value for value in FRAME["pain"].astype(object)]
    table = FRAME.astype({"age": float}).assign(pain=np.array(pain, dtype=object))
    expected = steps.fit(table, LABEL).predict_proba(table)
    np.testing.assert_allclose(model.predict_proba(FRAME), expected, atol=0.05)
    assert model.score(FRAME, LABEL) > 0.85


@pytest.mark.parametrize("budget", [None, 0.0, 2.0, 7.0])
def test_a_walk_is_the_array_call(model: PipelineClassifier, budget: float | None) -> None:
    rows = FRAME.iloc[:6]
    decided = model.decide(rows, budget=budget)
    for number, row in enumerate(rows.to_dict("records")):
        walked = consult(model, row, budget=budget)
        assert walked.prediction == decided.prediction[number]
        assert list(walked.probabilities.values()) == decided.probabilities[number].tolist()
        assert walked.spent == decided.spent[number]
        bought = [name for name, flag in zip(FRAME.columns, decided.acquired[number], strict=True) if flag]
        assert sorted(walked.acquired) == sorted(bought)


def test_the_account_is_that_of_the_inputs(model: PipelineClassifier) -> None:
    decided = model.decide(FRAME)
    assert decided.acquired.shape == (N, 4)
    np.testing.assert_array_equal(decided.spent, model.costs_.total_rows(decided.acquired))
    assert model.feature_names_in_.tolist() == list(FRAME.columns)


def test_files(model: PipelineClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.farthing")
    loaded = load(tmp_path / "model.farthing")
    assert loaded.predict_proba(FRAME).tobytes() == model.predict_proba(FRAME).tobytes()
    assert loaded.spend(FRAME).tobytes() == model.spend(FRAME).tobytes()
    again = clone(loaded).fit(FRAME, LABEL)
    assert again.predict_proba(FRAME).tobytes() == model.predict_proba(FRAME).tobytes()


def test_scikit_learn_loses_the_account_that_a_pipeline_keeps() -> None:
    plain = make_pipeline(OrdinalEncoder(), tree()).fit(FRAME[["pain"]].fillna("none"), LABEL)
    assert not hasattr(plain, "spend")
    kept = farthing.pipeline(OrdinalEncoder(), tree()).fit(FRAME[["pain"]], LABEL)
    assert kept.spend(FRAME[["pain"]]).max() == 1.0


def test_outputs_of_one_column_are_paid_once() -> None:
    text = FRAME[["pain", "age"]].fillna({"pain": "none"})
    steps = ColumnTransformer([("text", OneHotEncoder(), ["pain"])], remainder="passthrough")
    model = farthing.pipeline(steps, tree(max_depth=4), costs={"pain": 2, "age": 1}).fit(text, LABEL)
    walk = model.walk()
    asked = []
    while walk.ask is not None:
        asked.append((walk.ask.feature, walk.ask.price))
        walk.tell(text[walk.ask.feature][0])
    assert sorted(asked) == [("age", 1.0), ("pain", 2.0)]
    assert walk.spent == 3.0


def test_several_outputs_in_a_group_are_refused_by_name() -> None:
    prices = CostSheet({"age": 1, "chol": 5, "pain": 2, "fbs": 3}, groups={"talk": Group(1, ["age", "pain"])})
    with pytest.raises(CostError, match="column 'pain' is in the group 'talk' and has several outputs"):
        farthing.pipeline(one_hot(), tree(), costs=prices).fit(FRAME, LABEL)


@pytest.mark.parametrize(
    "mixer",
    [
        PCA(2),
        Normalizer(),
        PolynomialFeatures(2),
        KNNImputer(n_neighbors=2),
        FunctionTransformer(lambda X: X - X.mean(axis=1, keepdims=True)),
        make_pipeline(StandardScaler(), PCA(1)),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_that_mix_columns_are_refused_by_name(mixer: Any) -> None:
    X = FRAME[NUMBERS].to_numpy(dtype=float).copy()
    if not isinstance(mixer, KNNImputer):
        X = np.nan_to_num(X)
    with pytest.raises(TableError, match=r"mixes columns: its output \d+ depends on 'x\d' and 'x\d'"):
        farthing.pipeline(mixer, tree()).fit(X, LABEL)


def test_a_refused_column_is_missing_and_not_imputed() -> None:
    X = FRAME[NUMBERS]
    model = farthing.pipeline(SimpleImputer(strategy="constant", fill_value=999.0), tree()).fit(X, LABEL)
    first = model.walk().ask.feature
    refused, missing = model.walk(), model.walk()
    refused.tell(REFUSED)
    missing.tell(None)
    assert (refused.spent, missing.spent) == (0.0, 1.0)
    # A cap that forbids the first question is the same refusal in the array call.
    row = X.iloc[[0]].assign(**{first: np.nan})
    assert model.predict_proba(row, budget=0.5).tolist() == [
        list(model.walk(budget=0.5).decision.probabilities.values())
    ]


def test_what_was_not_bought_may_be_anything() -> None:
    X = np.nan_to_num(FRAME[NUMBERS].to_numpy(dtype=float).copy())
    y = X[:, 0] > 50
    model = farthing.pipeline(StandardScaler(), BudgetTreeClassifier(max_depth=1)).fit(X, y)
    wild = X.astype(object)
    wild[:, 1], wild[:, 2] = np.inf, "forty"
    np.testing.assert_array_equal(model.predict(wild), model.predict(X))
    wild[3, 0] = np.inf
    with pytest.raises(TableError, match="column 'x0': the preprocessing refuses the value"):
        model.predict(wild)


def test_an_answer_that_the_steps_refuse_leaves_the_walk_as_it_was() -> None:
    X = np.nan_to_num(FRAME[NUMBERS].to_numpy(dtype=float).copy())
    model = farthing.pipeline(StandardScaler(), BudgetTreeClassifier(max_depth=1)).fit(X, X[:, 0] > 50)
    walk = model.walk()
    with pytest.raises(TableError, match="the preprocessing refuses the value"):
        walk.tell(np.inf)
    assert walk.ask is not None
    assert (walk.ask.feature, walk.spent) == ("x0", 0.0)
    walk.tell(70)
    assert walk.decision.prediction is True


def test_known_columns_are_free() -> None:
    model = farthing.pipeline(one_hot(), tree(), costs=PRICES).fit(FRAME, LABEL)
    row = FRAME.iloc[1].to_dict()
    walk = model.walk(known={"chol": row["chol"], "pain": row["pain"]})
    walk.replay(row)
    assert set(walk.decision.acquired) <= {"age", "fbs"}
    assert walk.decision.prediction == model.predict(FRAME.iloc[[1]])[0]
    assert walk.spent == PRICES.total(walk.decision.acquired, owned=["chol", "pain"])


def test_another_budget_without_a_fit() -> None:
    model = farthing.pipeline(StandardScaler(), MiserCascadeClassifier(n_estimators=4, random_state=0))
    X = np.nan_to_num(FRAME[NUMBERS].to_numpy(dtype=float).copy())
    model.fit(X, LABEL)
    cheap = model.at(1.0)
    assert cheap.spend(X).mean() <= 1.2 < model.spend(X).mean()
    assert cheap.estimator.budget == 1.0
    assert model.estimator.budget is None
    assert not hasattr(farthing.pipeline(StandardScaler(), tree()).fit(X, LABEL), "at")


def test_hard_budgets_of_the_model_hold() -> None:
    model = farthing.pipeline(one_hot(), ValueOfClassifier(budget=4.0), costs=PRICES).fit(FRAME, LABEL)
    assert model.budget_ == 4.0
    assert 0 < model.spend(FRAME).max() <= 4.0
    assert model.walk().left == 4.0


def test_regressors_and_searches() -> None:
    X = FRAME[NUMBERS]
    y = FRAME["age"] + 0.1 * FRAME["chol"].fillna(200)
    model = farthing.pipeline(SimpleImputer(), GreedyMiserRegressor(n_estimators=40))
    assert isinstance(model, PipelineRegressor)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.8
    assert model.fit(X, y).walk().ask.feature == "age"


def test_constant_outputs_are_left_out() -> None:
    X = np.column_stack([np.ones(40), np.arange(40.0)])
    model = farthing.pipeline(StandardScaler(), tree(min_samples_leaf=1)).fit(X, np.arange(40) > 19)
    assert model.columns_.sources.tolist() == [1]
    with pytest.raises(TableError, match="every output of the preprocessing is constant"):
        farthing.pipeline(StandardScaler(), tree()).fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_no_lambda_in_a_file(tmp_path: Path) -> None:
    X = np.arange(40.0)[:, np.newaxis]
    model = farthing.pipeline(FunctionTransformer(lambda X: X**2), tree()).fit(X, np.arange(40) > 19)
    with pytest.raises(TypeError, match="cannot be stored in a file without code"):
        model.save(tmp_path / "model.farthing")


def test_wrong_steps_are_refused() -> None:
    with pytest.raises(TypeError, match=r"last step must be a classifier or regressor.*make_pipeline"):
        farthing.pipeline(tree(), StandardScaler())
    with pytest.raises(TypeError, match="got nothing"):
        farthing.pipeline()
    for estimator in (EdgeClassifier(), "tree"):
        with pytest.raises(
            TypeError, match="estimator must be a classifier of this library that buys columns"
        ):
            PipelineClassifier(None, estimator).fit(FRAME, LABEL)
    with pytest.raises(TypeError, match="estimator must be a regressor of this library"):
        PipelineRegressor(None, tree()).fit(FRAME[["age"]], FRAME["fbs"])
    with pytest.raises(TypeError, match="transformer must have fit_transform and transform"):
        PipelineClassifier(tree()).fit(FRAME, LABEL)
    assert isinstance(farthing.pipeline(GreedyMiserRanker()), PipelineRegressor)


class TestOtherModelsOfTheFit:
    def test_variants_are_those_of_the_model(self) -> None:
        miser = GreedyMiserClassifier(n_estimators=8, max_depth=2)
        steps = farthing.pipeline(STEPS["ordinal"], miser, costs=PRICES).fit(FRAME, LABEL)
        variants = {str(params): model for params, model in steps.variants()}
        assert len(variants) == len(list(steps.model_.variants())) > 2
        for params, model in steps.variants():
            assert all(name.startswith("estimator__") for name in params)
            again = clone(steps).set_params(**params).fit(FRAME, LABEL)
            assert (model.predict_proba(FRAME) == again.predict_proba(FRAME)).all()
            assert (model.spend(FRAME) == again.spend(FRAME)).all()
        assert steps.estimator is not variants["{}"]
        assert miser.n_estimators == 8

    def test_a_sweep_has_a_point_for_each(self) -> None:
        steps = farthing.pipeline(STEPS["ordinal"], GreedyMiserClassifier(n_estimators=8, max_depth=2))
        found = farthing.sweep([steps], FRAME, LABEL, PRICES)
        assert not found.failures
        assert len(found) > 2
        door = farthing.BudgetedClassifier(PRICES, budget=6, methods=[steps], cv=2).fit(FRAME, LABEL)
        assert door.spend(FRAME).mean() <= 6

    @pytest.mark.parametrize("costs", ["of the pipeline", "of the model"])
    def test_a_pruned_model_is_put_back(self, costs: str, tmp_path: Path) -> None:
        inside = {"costs": [1, 5, 2, 3]} if costs == "of the model" else {}
        forest = BudgetForestClassifier(n_estimators=4, max_depth=3, random_state=0, **inside)
        steps = farthing.pipeline(one_hot(), forest, costs=None if inside else PRICES).fit(FRAME, LABEL)
        with pytest.raises(TypeError, match=r"prune its model_ on transform\(X\).*with_model"):
            prune_path(steps, FRAME, LABEL)
        path = prune_path(steps.model_, steps.transformed(FRAME), LABEL)
        cheap = steps.with_model(path.within(4).model)
        assert 0 < cheap.spend(FRAME).mean() <= 4 < steps.spend(FRAME).mean()
        walk = consult(cheap, FRAME.iloc[0].to_dict())
        assert walk.spent == cheap.spend(FRAME[:1])[0]
        cheap.save(tmp_path / "m")
        assert (load(tmp_path / "m").spend(FRAME) == cheap.spend(FRAME)).all()
        refitted = clone(cheap).fit(FRAME, LABEL)
        assert (refitted.spend(FRAME) == steps.spend(FRAME)).all()

    def test_a_model_of_another_table_is_refused(self) -> None:
        steps = farthing.pipeline(one_hot(), BudgetTreeClassifier(max_depth=2), costs=PRICES)
        steps.fit(FRAME, LABEL)
        other = BudgetTreeClassifier(max_depth=2).fit(FRAME, LABEL)
        with pytest.raises(ValueError, match="fitted on the outputs of the transformer"):
            steps.with_model(other)


def test_a_pipeline_of_scikit_learn_is_taken_apart() -> None:
    steps = (SimpleImputer(), StandardScaler(), BudgetTreeClassifier(max_depth=2))
    taken = farthing.pipeline(make_pipeline(*steps), costs=[1, 5, 3])
    same = farthing.pipeline(*steps, costs=[1, 5, 3])
    numbers = FRAME[NUMBERS]
    assert (taken.fit(numbers, LABEL).spend(numbers) == same.fit(numbers, LABEL).spend(numbers)).all()


class TestMappingsOfColumns:
    @pytest.mark.parametrize(
        "steps",
        [
            OneHotEncoder(handle_unknown="ignore", drop="first"),
            OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=12),
            OneHotEncoder(drop="if_binary", sparse_output=False),
            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
            KBinsDiscretizer(2, encode="onehot", strategy="uniform"),
            SimpleImputer(add_indicator=True),
            make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
            ColumnTransformer(
                [("one", OneHotEncoder(), [3]), ("no", "drop", [0]), ("last", StandardScaler(), slice(1, 3))],
                remainder="passthrough",
            ),
            None,
        ],
        ids=str,
    )
    def test_what_is_read_from_the_steps_is_what_they_do(self, steps: Any) -> None:
        table = np.random.default_rng(3).integers(0, 6, size=(90, 4)).astype(float)
        table[:, 3] %= 2
        if type(steps) is not ColumnTransformer and steps is not None and "Imputer" in str(steps):
            table[::7, 1] = np.nan
        fitted = FunctionTransformer() if steps is None else clone(steps)
        fitted.fit(table)
        found = entry_sources(fitted, 4)
        assert found is not None
        seen = source_columns(lambda X: as_array(fitted.transform(X)), table, Schema.learn(table))
        assert len(found) == len(seen)
        assert (found[seen >= 0] == seen[seen >= 0]).all()

    @pytest.mark.parametrize("name", ["one hot", "ordinal", "indicator"])
    def test_by_name(self, name: str) -> None:
        costs = PLAIN if name == "indicator" else PRICES
        columns = farthing.pipeline(clone(STEPS[name]), tree(), costs=costs).fit(FRAME, LABEL).columns_
        found = entry_sources(columns.transformer, 4, list(FRAME.columns))
        assert found is not None
        assert (found[columns.kept] == columns.sources).all()

    def test_codes_that_fall_among_those_of_the_next_column_are_noticed(self) -> None:
        fitted = OneHotEncoder().fit([[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]])
        fitted._n_features_outs = [2, 4]
        assert entry_sources(fitted, 2) is None

    def test_a_walk_is_the_array_call_though_a_file_names_wrong_columns(self) -> None:
        table = np.random.default_rng(1).normal(size=(80, 3)).round(1)
        y = np.where(table[:, 0] > 0, table[:, 1], table[:, 2])
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        model = farthing.pipeline(encoder, GreedyMiserRegressor(n_estimators=6)).fit(table, y)
        wrong = replace(model.columns_, kept=model.columns_.kept[[1, 2, 0]])
        model.fitted_ = replace(model.fitted_, columns=wrong)
        decided = model.decide(table[:20])
        for number, row in enumerate(table[:20]):
            walked = consult(model, dict(zip(("x0", "x1", "x2"), row, strict=True)))
            bought = [f"x{place}" for place in np.flatnonzero(decided.acquired[number])]
            assert sorted(walked.acquired) == bought
            assert walked.prediction == decided.prediction[number]
