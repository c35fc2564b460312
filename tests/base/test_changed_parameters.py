"""Parameters that are set after `fit`: a fitted model keeps those it was fitted with, and says so."""

from __future__ import annotations

import pickle
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer

from farthing import load
from farthing.boosting import GreedyMiserClassifier, GreedyMiserRanker
from farthing.cascades import EarlyExitClassifier, EarlyExitRanker, MiserCascadeClassifier
from farthing.pipelines import PipelineClassifier

X = np.random.default_rng(0).normal(size=(80, 3))
y = (X[:, 0] + X[:, 1] > 0).astype(int)


def miser(**params: object) -> GreedyMiserClassifier:
    return GreedyMiserClassifier(**{"n_estimators": 4, "costs": [1, 2, 3], **params}).fit(X, y)


def test_new_costs_are_not_ignored_in_silence() -> None:
    model = miser()
    spent = model.spend(X)
    model.set_params(costs=[10, 20, 30])
    with pytest.warns(UserWarning, match=r"costs .*after fit.*call fit again"):
        np.testing.assert_array_equal(model.spend(X), spent)
    for call in (model.predict, model.predict_proba, model.acquired, model.decide):
        with pytest.warns(UserWarning, match="costs"):
            call(X)
    with pytest.warns(UserWarning, match="costs"):
        model.walk()


def test_an_attribute_counts_as_well() -> None:
    model = miser()
    model.budget = 2.0
    with pytest.warns(UserWarning, match=r"budget.*predict\(X, budget=\.\.\.\)"):
        model.predict(X)


def test_where_there_is_at_the_message_names_it() -> None:
    model = MiserCascadeClassifier(n_estimators=4, budget=2.0).fit(X, y)
    model.set_params(budget=1.0)
    with pytest.warns(UserWarning, match=r"model\.at\(budget\)"):
        model.predict(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.at(1.0).predict(X)


def test_all_changes_are_named() -> None:
    model = miser().set_params(tradeoff=0.5, costs=None)
    with pytest.warns(UserWarning, match="costs and tradeoff were"):
        model.predict(X)


def test_parameters_of_a_nested_estimator_count() -> None:
    model = EarlyExitClassifier(GreedyMiserClassifier(n_estimators=4)).fit(X, y)
    model.set_params(estimator__costs=[5, 5, 5])
    with pytest.warns(UserWarning, match="estimator__costs"):
        model.spend(X)


def test_nan_is_nan() -> None:
    # A pickle makes a new NaN, which is not the old one.
    imputer = SimpleImputer(missing_values=float("nan"))
    model = PipelineClassifier(imputer, GreedyMiserClassifier(n_estimators=4)).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pickle.loads(pickle.dumps(model)).predict(X)


def test_a_ranker_of_queries_says_it_too() -> None:
    model = EarlyExitRanker(GreedyMiserRanker(n_estimators=4)).fit(X, y, qid=np.repeat(range(8), 10))
    model.set_params(margin=0.0)
    with pytest.warns(UserWarning, match="margin"):
        model.predict(X)
    with pytest.warns(UserWarning, match="margin"):
        model.walk_query(3)


def test_saving_says_it_too(tmp_path: Path) -> None:
    model = miser().set_params(tradeoff=0.5)
    with pytest.warns(UserWarning, match="tradeoff"):
        model.save(tmp_path / "model.farthing")


def test_what_works_at_once_or_means_the_same_is_no_change(tmp_path: Path) -> None:
    costs = np.array([1.0, 2.0, 3.0])
    model = miser(costs=costs, learning_rate=0.3)
    model.save(tmp_path / "model.farthing")
    twins = [
        model.set_params(n_jobs=2),
        model.set_params(costs=costs.copy(), learning_rate=float("0.3")),
        pickle.loads(pickle.dumps(model)),
        deepcopy(model),
        load(tmp_path / "model.farthing"),
        clone(model).fit(X, y),
        miser().set_params(tradeoff=0.1).fit(X, y),
        *[variant for _, variant in model.variants()],
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for twin in twins:
            twin.predict(X)
            twin.walk()
