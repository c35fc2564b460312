"""A sheet of labels: what it refuses, how it travels, and what shows it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from typer.testing import CliRunner

import farthing
from farthing import Labels, store
from farthing.base.files import state_of
from farthing.cli.commands import app
from farthing.datasets import (
    load_bupa_liver,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_thyroid,
)
from farthing.errors import FileError, LabelError
from farthing.forests import BudgetTreeClassifier
from farthing.labels import FeatureLabel
from farthing.service.model_description import describe

HEART = load_heart_disease()
TOML = """
title = "Heart disease"
[features.chol]
title = "Serum cholesterol"
question = "What is the serum cholesterol?"
unit = "mg/dl"
allowed = [50, 1000]
usual = [150, inf]
[features.cp]
categories = {1 = "typical angina", 4 = "asymptomatic"}
[classes.1]
name = "disease"
colour = "#a32020"
"""


@pytest.fixture(scope="module")
def tree():
    model = BudgetTreeClassifier(
        costs=HEART.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4
    )
    return model.fit(HEART.X, HEART.y)


def test_toml_and_json_say_the_same(tmp_path):
    (tmp_path / "labels.toml").write_text(TOML)
    labels = Labels.read(tmp_path / "labels.toml")
    plain = {"title": "Heart disease", **labels.to_dict()}
    plain["features"]["chol"].pop("usual")  # JSON has no infinity
    (tmp_path / "labels.json").write_text(json.dumps(plain))
    again = Labels.read(tmp_path / "labels.json")
    assert again.feature("cp") == labels.feature("cp")
    assert labels.feature("chol").usual == (150.0, float("inf"))
    assert labels.feature("chol").doubt(140) == "unusual: most values lie at least 150 mg/dl"
    assert labels.feature("chol").fault(1001.0) == "not possible: it is between 50 and 1000 mg/dl"
    assert labels.feature("cp").text(4.0) == "asymptomatic"
    assert labels.class_name(np.int64(1)) == "disease"
    assert (labels.class_name(0), labels.title_of("age")) == ("0", "age")


@pytest.mark.parametrize(
    ("plain", "said"),
    [
        ({"features": {"chol": {"units": "mg"}}}, "'chol' has the unknown entry 'units'"),
        ({"features": {"chol": {"allowed": [5, 1]}}}, "the first must be below the second"),
        ({"features": {"chol": {"allowed": [5, float("nan")]}}}, "must be below"),
        ({"features": {"chol": {"usual": 7}}}, "expected the lowest and the highest"),
        ({"features": {"chol": {"usual": [True, 2]}}}, "expected two numbers"),
        ({"features": {"chol": {"title": "a\x1b[2J"}}}, "control characters"),
        ({"features": {"chol": {"title": "a" * 1001}}}, "at most 1000"),
        ({"features": {"chol": {"title": 3}}}, "expected text"),
        ({"features": {"chol": {"categories": ["a"]}}}, "texts by category"),
        ({"features": ["chol"]}, "expected entries by name"),
        ({"classes": {"1": {"colour": "red;}"}}}, "expected #rrggbb"),
        ({"titel": "x"}, "unknown entry 'titel'"),
        ([], "expected entries by name"),
    ],
)
def test_what_a_sheet_refuses(plain, said):
    with pytest.raises(LabelError, match=said.replace("[", r"\[")):
        Labels.from_dict(plain)


def test_labels_are_values():
    labels = Labels.from_dict(HEART.labels.to_dict())
    assert labels == HEART.labels
    assert hash(labels) == hash(HEART.labels)
    assert pickle.loads(pickle.dumps(labels)) == labels
    assert not Labels()
    with pytest.raises(TypeError):
        labels.features["chol"] = FeatureLabel()


def test_labels_travel_in_the_file_and_change_no_prediction(tree, tmp_path):
    labelled = tree.with_labels(HEART.labels)
    assert not tree.labels_, "the model is left as it is"
    labelled.save(tmp_path / "heart.farthing")
    loaded = farthing.load(tmp_path / "heart.farthing")
    assert loaded.labels_ == HEART.labels
    np.testing.assert_array_equal(loaded.predict_proba(HEART.X), tree.predict_proba(HEART.X))
    tree.save(tmp_path / "plain.farthing")
    assert farthing.load(tmp_path / "plain.farthing").labels_ == Labels()
    assert not clone(labelled).labels_
    assert pickle.loads(pickle.dumps(labelled)).labels_ == HEART.labels


def test_a_fit_on_another_table_drops_the_labels(tree):
    model = tree.with_labels(HEART.labels)
    assert model.fit(HEART.X, HEART.y).labels_ == HEART.labels
    assert not model.set_params(costs=None).fit(np.eye(4), [0, 1, 0, 1]).labels_


def test_labels_of_what_the_model_lacks_are_an_error(tree):
    with pytest.raises(LabelError, match=r"'chole', which is not a feature .*did you mean 'chol'"):
        tree.with_labels({"features": {"chole": {"unit": "mg"}}})
    with pytest.raises(LabelError, match=r"the class 'yes', which the model lacks; it has '0', '1'"):
        tree.with_labels({"classes": {"yes": "ill"}})


@pytest.mark.parametrize("labels", [3, "x", {"features": {}}, Labels({"nothing": {}})])
def test_a_hostile_file_is_refused(tree, tmp_path, labels):
    store.write(tmp_path / "bad.farthing", "BudgetTreeClassifier", state_of(tree) | {"labels": labels})
    with pytest.raises(FileError):
        farthing.load(tmp_path / "bad.farthing")


@pytest.mark.parametrize(
    "load", [load_heart_disease, load_pima_diabetes, load_hepatitis, load_bupa_liver, load_thyroid]
)
def test_bundled_labels_fit_their_tables(load):
    data = load(frame=False)
    data.labels.check(data.costs.features, np.unique(data.y))
    assert set(data.labels.features) == set(data.costs.features)
    assert load().labels.features.keys() == set(load().X.columns)
    for column, (feature, name) in enumerate(zip(data.costs.features, data.feature_names, strict=True)):
        label, values = data.labels.feature(feature), data.X[~np.isnan(data.X[:, column]), column]
        assert label.title
        assert label.question
        assert not any(label.fault(float(value)) for value in values), name
        if label.usual is not None:
            usual = np.mean([label.doubt(float(value)) is None for value in values])
            assert 0.93 < usual < 0.99, name
        codes = data.codes.get(name)
        assert dict(label.categories) == ({} if codes is None else {str(k): v for k, v in codes.items()})


def test_the_description_has_the_labels(tree):
    about = describe(tree.with_labels(HEART.labels))
    chol = next(one for one in about["features"] if one["name"] == "chol")
    assert chol["label"]["title"] == "Serum cholesterol"
    assert chol["label"]["allowed"] == [50.0, 1000.0]
    assert about["class_labels"][1] == {"name": "heart disease", "colour": "#b3261e"}
    assert about["title"] == "Heart disease"
    assert describe(tree)["features"][0]["label"] is None
    open_ended = describe(tree.with_labels({"features": {"age": {"allowed": [0, float("inf")]}}}))
    assert open_ended["features"][0]["label"]["allowed"] == [0.0, None]


def test_ask_shows_titles_and_asks_back(tree, tmp_path):
    tree.with_labels(HEART.labels).save(tmp_path / "heart.farthing")
    typed = "asymptomatic\n7\n3\n195\nn\n160\n"  # ca above 3 is refused, a pressure of 195 is asked back
    run = CliRunner().invoke(app, ["ask", str(tmp_path / "heart.farthing")], input=typed)
    assert run.exit_code == 0, run.output
    assert "What kind of chest pain does the patient have?" in run.output
    assert "  4: asymptomatic" in run.output
    assert "7 vessels is not possible: it is between 0 and 3 vessels" in run.output
    assert "195 mm Hg is unusual: most values lie between 102 and 173 mm Hg. Is it right?" in run.output
    assert "Decision: heart disease" in run.output
    assert "on Chest pain, Major vessels coloured by fluoroscopy, Resting blood pressure" in run.output


def test_fit_takes_a_sheet_and_the_report_shows_it(tmp_path):
    some = HEART.X.iloc[:150].assign(disease=HEART.y[:150])
    some.to_csv(tmp_path / "heart.csv", index=False)
    (tmp_path / "labels.toml").write_text(TOML)
    command = ["fit", str(tmp_path / "heart.csv"), "disease", "--methods", "BudgetTreeClassifier"]
    command += ["-o", str(tmp_path / "m.farthing"), "--report", str(tmp_path / "r.html"), "--jobs", "1"]
    run = CliRunner().invoke(app, [*command, "--labels", str(tmp_path / "labels.toml")])
    assert run.exit_code == 0, run.output
    assert farthing.load(tmp_path / "m.farthing").labels_.title == "Heart disease"
    page = (tmp_path / "r.html").read_text()
    assert "Serum cholesterol" in page
    assert ">disease</th>" in page
    (tmp_path / "labels.toml").write_text('[features.chole]\nunit = "mg"')
    run = CliRunner().invoke(app, [*command, "--labels", str(tmp_path / "labels.toml")])
    assert run.exit_code == 1
    assert "'chole', which is not a feature" in run.output
