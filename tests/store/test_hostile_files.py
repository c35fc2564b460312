"""Files made to cost more than they weigh, or to crash native code: each is refused before it can."""

from __future__ import annotations

import copy
import io
import json
import os
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import farthing
from farthing.base import get, registered, trials
from farthing.checks.fitting import fit
from farthing.checks.problems import problems
from farthing.errors import FileError, TrustWarning
from farthing.learning import sklearn_files
from farthing.learning.sklearn_model import SklearnModel
from farthing.store import sklearn_archive
from farthing.store.codec import decode, encode

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.arange(40) % 3


def test_arrays_of_strings_are_bounded_together() -> None:
    wide = {"$": "strings", "shape": [1], "items": ["a"], "width": 2**24 - 1}
    assert decode({"a": wide}, {})["a"].nbytes < 2**26
    with pytest.raises(FileError, match="arrays of strings take"):
        decode({"a": wide, "b": wide}, {})
    with pytest.raises(ValueError, match="arrays of strings take"):
        encode({"a": np.array(["a"], dtype=f"<U{2**24 - 1}"), "b": np.array(["a"], dtype=f"<U{2**23}")})


def test_names_are_not_written_out_for_each_item() -> None:
    """Paths as text would take 40 GB of copies; the whole takes a fraction of a second."""
    plain = {"x" * 2_000_000: [[i] for i in range(20_000)]}
    start = time.process_time()
    assert len(decode(plain, {})["x" * 2_000_000]) == 20_000
    encode(plain)
    assert time.process_time() - start < 2


def test_paths_of_errors_are_short() -> None:
    with pytest.raises(FileError) as caught:
        decode({"y" * 100_000: [0, {"k" * 100_000: {"$": "nothing"}}]}, {})
    assert len(str(caught.value)) < 500
    assert "y[1].k" in str(caught.value)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes on this system")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.farthing"
    os.mkfifo(pipe)
    caught: list[BaseException] = []

    def load() -> None:
        try:
            farthing.load(pipe)
        except FileError as error:
            caught.append(error)

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(timeout=30)
    assert "is not a regular file" in str(caught[0])


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "folder.farthing").mkdir()
    for path in (tmp_path / "folder.farthing", Path("/dev/zero")):
        with pytest.raises(FileError, match="is not a regular file"):
            farthing.load(path)
    (tmp_path / "link.farthing").symlink_to("/dev/zero")
    with pytest.raises(FileError, match="is not a regular file"):
        farthing.load(tmp_path / "link.farthing")


# Objects of scikit-learn, through skops.


def packed(model: Any) -> dict[str, Any]:
    return sklearn_archive.pack(model.fit(X, Y))


def listed(items: list[Any], name: int) -> dict[str, Any]:
    kind = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode"}
    return {**kind, "content": items, "__id__": name}


def test_references_that_stand_for_millions_of_nodes() -> None:
    node = listed([], 1)
    for level in range(2, 24):  # 2**22 nodes; in earnest there would be 2**100
        node = listed([node, {"__id__": level - 1}], level)
    schema = json.dumps({**node, "protocol": 2, "_skops_version": "0.16.0"})
    with pytest.raises(FileError, match="more than 131072 nodes"):
        sklearn_archive.unpack(schema, [])


def test_a_node_within_itself() -> None:
    schema = json.dumps({**listed([listed([{"__id__": 1}], 2)], 1), "protocol": 2})
    with pytest.raises(FileError, match="contains itself"):
        sklearn_archive.unpack(schema, [])


def test_nesting_is_bounded() -> None:
    node = listed([], 1)
    for level in range(2, 80):
        node = listed([node], level)
    schema = json.dumps({**node, "protocol": 2})
    with pytest.raises(FileError, match="nested too deep"):
        sklearn_archive.unpack(schema, [])


def test_a_part_is_read_once() -> None:
    fields = packed(LogisticRegression())
    schema = json.loads(fields["schema"])
    files = [node for node in sklearn_archive.nodes(schema) if "file" in node]
    files[0]["file"] = files[1]["file"]
    with pytest.raises(FileError, match="used by several arrays"):
        sklearn_archive.unpack(json.dumps(schema), fields["parts"])


def test_parts_are_as_large_as_they_say() -> None:
    fields = packed(LogisticRegression())
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(huge, {"shape": (2**45,), "fortran_order": False, "descr": "|V0"})
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(5):
            archive.writestr(f"{number}.npy", bytes(2**26))
    for part in (huge, bomb):
        parts = [np.frombuffer(part.getvalue(), dtype=np.uint8), *fields["parts"][1:]]
        with pytest.raises(FileError, match=r"header says|unpacks to more"):
            sklearn_archive.unpack(fields["schema"], parts)


def tamper(fields: dict[str, Any], attribute: str, value: Any) -> dict[str, Any]:
    """Replace an array of the outermost object."""
    schema = json.loads(fields["schema"])
    node = schema["content"]["content"][attribute]
    data = io.BytesIO()
    np.save(data, value)
    parts = list(fields["parts"])
    parts[int(node["file"].split(".")[0])] = np.frombuffer(data.getvalue(), dtype=np.uint8)
    return {"schema": fields["schema"], "parts": parts}


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("_n_support", np.array([2**30, 1, 1], dtype=np.int32)),
        ("_n_support", np.array([-5, 30, 15], dtype=np.int32)),
        ("support_vectors_", np.zeros((1, 3))),
        ("support_vectors_", np.zeros((40, 1))),
        ("_dual_coef_", np.zeros((2, 1))),
        ("_intercept_", np.zeros(1)),
        ("_probA", np.zeros(1)),
        ("support_", np.zeros(1, dtype=np.int32)),
        ("classes_", np.arange(9)),
        ("_gamma", np.zeros(2)),
    ],
)
def test_arrays_of_a_support_vector_machine_must_agree(attribute: str, value: Any) -> None:
    """Its native code checks none of them, and would crash at the first prediction."""
    fields = packed(SVC())
    whole = sklearn_archive.unpack(**fields)
    np.testing.assert_array_equal(whole.predict(X), SVC().fit(X, Y).predict(X))
    with pytest.raises(FileError, match="cannot be read"):
        sklearn_archive.unpack(**tamper(fields, attribute, value))


@pytest.mark.parametrize(
    ("model", "attribute", "value"),
    [
        (GaussianNB(), "class_prior_", np.zeros(0)),
        (GaussianNB(), "theta_", np.zeros((3, 2))),
        (GaussianNB(), "class_prior_", np.full(2, 0.5)),
        (LogisticRegression(), "coef_", np.zeros((3, 7))),
        (LogisticRegression(), "coef_", np.zeros((5, 3))),
    ],
)
def test_a_model_that_cannot_predict_is_refused(model: Any, attribute: str, value: Any) -> None:
    """NumPy checks its arrays, so there is no crash; but a file that loads must work."""
    fitted = model.fit(X, Y)
    wrapped = SklearnModel.wrap(fitted, np.array([4, 0, 2]), np.zeros((1, 5)))
    fields = sklearn_files.encode(wrapped)
    whole = sklearn_files.decode(dict(fields))
    np.testing.assert_array_equal(whole.model.predict(X), fitted.predict(X))
    wrong = {"schema": fields["schema"], "parts": fields["parts"]}
    with pytest.raises(ValueError, match=r"cannot predict|outputs a row"):
        sklearn_files.decode({**fields, **tamper(wrong, attribute, value)})


@pytest.mark.parametrize("fill", [np.nan, np.inf])
def test_missing_values_need_finite_numbers_in_their_place(fill: float) -> None:
    """Otherwise a file loads, and fails at the first row that lacks a value."""
    fields = sklearn_files.encode(SklearnModel.wrap(GaussianNB().fit(X, Y), np.arange(3), X))
    sklearn_files.decode(dict(fields))
    with pytest.raises(ValueError, match="finite numbers in place of missing values"):
        sklearn_files.decode({**fields, "fill": np.array([0.0, fill, 0.0])})


METHODS = [name for name in registered() if get(name).__module__.split(".")[0] == "farthing"]


@pytest.mark.parametrize("name", METHODS)
def test_a_price_of_a_call_that_the_model_does_not_make(name: str) -> None:
    """It is refused, or accounted for; no prediction stumbles over a price list that is longer than it."""
    estimator = trials(name)[-1]
    problem = problems(estimator, "small")[0]
    model = fit(estimator, problem)
    if model.costs_.calls:
        return
    priced = replace(model.fitted_, costs=model.costs_.with_calls({"a call": 1.0}))
    try:
        priced.check()
    except ValueError:
        return
    adopted = copy.copy(model).adopt(priced)
    for budget in (None, 2.0):
        acquired = adopted.acquired(problem.fresh, budget=budget)
        spend = adopted.spend(problem.fresh, budget=budget)
        np.testing.assert_array_equal(spend, priced.costs.total_rows(acquired))


def test_native_code_that_nobody_checks_must_be_trusted() -> None:
    with pytest.warns(TrustWarning, match="KNeighborsClassifier"):
        fields = packed(KNeighborsClassifier(algorithm="brute"))
    with pytest.raises(FileError, match="KNeighborsClassifier"):
        sklearn_archive.unpack(**fields)
