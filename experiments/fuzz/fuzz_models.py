"""The models whose files are fuzzed: every method, and between them every feature that a file can have."""

from __future__ import annotations

import functools
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.svm import SVC

from farthing.adaptive import AdaptLinClassifier
from farthing.base import get, registered, trials
from farthing.boosting import (
    AdaBoostBTClassifier,
    AdaBoostClassifier,
    GradientBoostingRegressor,
    GreedyMiserClassifier,
)
from farthing.cascades import EarlyExitClassifier, EarlyExitRanker
from farthing.checks.fitting import fit
from farthing.checks.problems import problems
from farthing.costs import CostSheet, Group
from farthing.forests import BudgetTreeClassifier
from farthing.labels import Labels
from farthing.neighbors import MarginNeighborsClassifier, ValueOfClassifier

LABELS = Labels.from_dict(
    {
        "title": "Heart disease",
        "features": {
            "age": {"title": "Age", "unit": "years", "allowed": [0, 120], "usual": [20, float("inf")]},
            "pain": {"question": "What pain?", "categories": {"none": "no pain", "typical": "angina"}},
        },
        "classes": {"ill": {"name": "heart disease", "colour": "#b3261e"}},
    }
)


def patients(n_rows: int = 300) -> tuple[pd.DataFrame, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return a table with numbers, missing values, booleans and categories, string labels, and a number."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n_rows),
            "chol": np.where(rng.random(n_rows) < 0.1, np.nan, rng.normal(size=n_rows)),
            "fbs": rng.random(n_rows) < 0.5,
            "pain": rng.choice(["none", "typical", "atypical", "ängstlich"], n_rows),
            "town": pd.Categorical(rng.choice([f"town {i}" for i in range(70)], n_rows)),
        }
    )
    risk = (X["age"] > 50) * 1.0 + X["chol"].fillna(0) + (X["pain"] == "typical") * X["fbs"]
    labels = np.array(["healthy", "doubtful", "ill"])[np.digitize(risk, [0.3, 1.0])]
    return X, labels, risk.to_numpy()


@functools.cache
def saved_models() -> list[bytes]:
    """Fit the models and return the bytes of their files: those with special features, then every method."""
    return [*saved_special_models(), *(saved(model) for model in every_method().values())]


@functools.cache
def saved_special_models() -> list[bytes]:
    """Return the bytes of the files with special features alone, whose fits take little time."""
    return [saved(model) for model in special_models()]


def every_method() -> dict[str, Any]:
    """Return a fitted model of every method of the library, on a table of few rows; networks need PyTorch."""
    left_out = () if find_spec("torch") else ("farthing.deep.",)
    modules = {name: get(name).__module__ + "." for name in registered()}
    own = [name for name, at in modules.items() if at.startswith("farthing.") and not at.startswith(left_out)]
    return {name: model_of(name) for name in own}


@functools.cache
def model_of(name: str) -> Any:
    """Return a fitted model of a method, on a table of few rows."""
    estimator = trials(name)[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(estimator, problems(estimator, "small")[0])


def special_models() -> list[Any]:
    """Return models whose files have what few have: labels, groups, text, missing values, sparse nodes."""
    X, labels, risk = patients()
    sheet = CostSheet(
        {"age": 0.5, "chol": 7.27, "fbs": 5.2, "pain": 1.0, "town": 0.0},
        {"blood": Group(2.1, ["chol", "fbs"])},
        unit="USD",
    )
    plain = X[["age", "chol"]].to_numpy()
    filled = np.nan_to_num(plain)
    stumps = AdaBoostClassifier(n_estimators=6)
    return [
        BudgetTreeClassifier(costs=sheet, max_depth=4).fit(X, labels).with_labels(LABELS),
        BudgetTreeClassifier(costs=sheet, budget=8.0).fit(X, labels == "ill"),
        BudgetTreeClassifier().fit(plain, (risk > 0.5).astype(int)),
        AdaBoostClassifier(costs=sheet, n_estimators=6, max_depth=2, curtail=True).fit(X, labels == "ill"),
        AdaBoostBTClassifier(costs=sheet, n_estimators=8, budget=9.0, curtail=True).fit(X, labels == "ill"),
        GradientBoostingRegressor(costs=sheet, n_estimators=5, max_depth=3).fit(X, risk),
        GradientBoostingRegressor(n_estimators=2, max_leaf_nodes=4).fit(plain.astype(np.float32), risk),
        EarlyExitClassifier(
            GreedyMiserClassifier(n_estimators=2, max_depth=2), rounds_per_exit=1, costs=sheet
        ).fit(X, labels),
        EarlyExitRanker(GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=3), rounds_per_exit=1).fit(
            plain, risk
        ),
        MarginNeighborsClassifier(stumps, n_neighbors=5, costs=sheet).fit(X[:40], labels[:40] == "ill"),
        ValueOfClassifier(costs=sheet).fit(X[:40], labels[:40] == "ill"),
        # Many classes: the values of its nodes are sparse.
        BudgetTreeClassifier().fit(plain[:120], np.arange(120) // 2),
        AdaptLinClassifier(SVC(), costs=[1, 2]).fit(filled[:60], (risk[:60] > 0.5).astype(int)),
    ]


def saved(model: Any) -> bytes:
    """Return the bytes of a model's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.farthing"
        model.save(path)
        return path.read_bytes()
