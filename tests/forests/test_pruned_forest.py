"""The pruned forest in one fit, against its two steps by hand."""

from dataclasses import replace

import numpy as np
import pytest

from farthing import load
from farthing.costs import CostSheet
from farthing.errors import FileError
from farthing.forests import BudgetForestClassifier, PrunedForestClassifier, prune_path
from farthing.learning.folds import stratified_folds

SHEET = CostSheet([1.0, 2.0, 4.0, 8.0])


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, np.digitize(X @ [1.0, 0.8, 0.8, 0.3], [-0.7, 0.7])


def test_it_is_the_forest_pruned_by_hand(table):
    X, y = table
    chance = np.random.RandomState(0)
    held = stratified_folds(X, y, 4, chance) == 0
    forest = BudgetForestClassifier(
        cost_rule="penalty",
        tradeoff=0.2 / 15.0,
        n_estimators=5,
        max_features="sqrt",
        random_state=int(chance.randint(np.iinfo(np.int32).max)),
        costs=SHEET,
    ).fit(X[~held], y[~held])
    path = prune_path(forest, X[held], y[held])
    model = PrunedForestClassifier(SHEET, growth_tradeoff=0.2, n_estimators=5, random_state=0).fit(X, y)
    for budget in (2.0, 5.0, 9.0, None):
        fits = np.flatnonzero(path.costs <= (np.inf if budget is None else budget))
        best = path[int(fits[path.forest_errors[fits] == path.forest_errors[fits].min()][-1])].model
        got = model.at(budget)
        assert got.spend(X[held]).mean() <= (np.inf if budget is None else budget)
        assert (got.acquired(X) == best.acquired(X)).all()
        looked = best.acquired(X).any(axis=1)
        assert (got.predict(X) == best.predict(X))[looked].all()
    assert model.at(2.0).spend(X).mean() < model.at(9.0).spend(X).mean()


def test_bad_tradeoffs_and_files_are_refused(table, tmp_path):
    with pytest.raises(ValueError, match="'growth_tradeoff' parameter"):
        PrunedForestClassifier(SHEET, growth_tradeoff=-1.0).fit(*table)
    model = PrunedForestClassifier(SHEET, n_estimators=2, random_state=0).fit(*table)
    model.adopt(replace(model.fitted_, drop=model.drop_[:-1]))
    model.save(tmp_path / "model.farthing")
    with pytest.raises(FileError, match="drop must have one integer per node"):
        load(tmp_path / "model.farthing")
