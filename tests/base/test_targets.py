"""Targets and columns that need a word: nullable types, a single class, identifiers, repeated names."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier

import farthing
from farthing.base import get, registered
from farthing.base.inputs import label_codes
from farthing.errors import IdentifierWarning, OneClassWarning, TableError
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import sweep

RNG = np.random.default_rng(2)
X = pd.DataFrame({"age": RNG.normal(size=60), "site": RNG.choice(["a", "b"], 60)})
LABELS = (X["age"] > 0).astype(int)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (LABELS.astype("Int64"), "i"),
        (LABELS.astype("Int8"), "i"),
        (LABELS.astype("UInt16"), "u"),
        (LABELS.astype("int64[pyarrow]"), "i"),
        (pd.array(LABELS, dtype="Int64"), "i"),
        (LABELS.astype("boolean"), "b"),
        (LABELS.astype("bool[pyarrow]"), "b"),
        (pl.Series(LABELS.tolist()), "i"),
        (pl.Series(LABELS.tolist()).cast(pl.Boolean), "b"),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_nullable_targets_keep_their_type(target, kind):
    model = BudgetTreeClassifier(max_depth=2).fit(X, target)
    assert model.classes_.dtype.kind == model.predict(X).dtype.kind == kind
    assert model.walk().decision.prediction in model.classes_.tolist()
    assert label_codes(target, model.classes_).tolist() == LABELS.tolist()
    front = farthing.BudgetedClassifier(methods=[("BudgetTreeClassifier", {"max_depth": [2]})])
    assert front.fit(X, target).predict(X).dtype.kind == kind


def test_a_missing_label_is_an_error():
    target = LABELS.astype("Int64")
    target[3] = pd.NA
    with pytest.raises(ValueError, match="y contains NaN"):
        BudgetTreeClassifier().fit(X, target)


# A linear model of scikit-learn, which this one imports, refuses a single class.
CLASSIFIERS = [
    name
    for name in registered()
    if get(name).__module__.startswith("farthing.")
    and is_classifier(get(name)())
    and name != "ImportedLinearClassifier"
]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_single_class_is_predicted_for_nothing(name):
    with pytest.warns(OneClassWarning, match="y has a single class, 7") as issued:
        model = get(name)().fit(X[["age"]], np.full(60, 7))
    assert len([w for w in issued if w.category is OneClassWarning]) == 1
    decided = model.decide(X[["age"]])
    assert (decided.prediction == 7).all()
    assert (decided.spent == 0).all()


def test_identifiers_are_named_once():
    frame = X.assign(
        patient=[f"p{row}" for row in range(60)],
        number=pd.Categorical(range(60)),
        day=[f"2024-01-{row % 30 + 1:02}" for row in range(60)],
    )
    with pytest.warns(IdentifierWarning, match=r"'patient' \(60 in 60 rows\), 'number' \(60 in 60") as issued:
        BudgetTreeClassifier().fit(frame, LABELS)
    assert len(issued) == 1
    assert "'day'" not in str(issued[0].message)
    assert issued[0].filename == __file__
    with pytest.warns(IdentifierWarning) as issued:
        sweep([("BudgetTreeClassifier", {"max_depth": [1, 2]})], frame, LABELS, cv=3)
    assert len([w for w in issued if w.category is IdentifierWarning]) == 1
    with pytest.warns(IdentifierWarning) as issued:
        farthing.BudgetedClassifier(methods=["BudgetTreeClassifier"]).fit(frame, LABELS)
    assert len([w for w in issued if w.category is IdentifierWarning]) == 1


def test_few_rows_and_numbers_are_no_identifiers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BudgetTreeClassifier().fit(pd.DataFrame({"name": list("abcd")}), [0, 1, 0, 1])
        BudgetTreeClassifier().fit(X.assign(income=np.arange(60) ** 2), LABELS)


def test_repeated_names_are_errors():
    twice = pd.concat([X, X[["age"]]], axis=1)
    with pytest.raises(TableError, match=r"occur more than once: 'age'; .* rename or drop"):
        BudgetTreeClassifier().fit(twice, LABELS)
    with pytest.raises(TableError, match=r"occur more than once: 'age'; .* rename or drop"):
        BudgetTreeClassifier().fit(X, LABELS).predict(twice)


def test_numbers_that_count_the_rows_are_identifiers():
    order = np.random.default_rng(0).permutation(60)
    with pytest.warns(IdentifierWarning, match="'number': the values count the rows, 60 consecutive numbers"):
        BudgetTreeClassifier(max_depth=1).fit(X.assign(number=order + 1000), LABELS)
