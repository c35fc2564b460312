"""Models are reloaded when their file changes; a bad file is reported and the old model stays."""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.serving import DIRECT, running

from farthing.forests import BudgetTreeClassifier
from farthing.service import ModelStore, Settings
from farthing.service.server import check


def save(path: Path, *, costs: float = 1.0) -> None:
    BudgetTreeClassifier(costs=[costs, costs]).fit(np.eye(2), ["no", "yes"]).save(path)


def price(store: ModelStore, name: str = "tree") -> float:
    return float(store.models[name].description["features"][0]["cost"])


def test_a_changed_file_takes_the_old_ones_place(tmp_path: Path) -> None:
    told = []
    save(tmp_path / "tree.farthing")
    store = ModelStore([str(tmp_path)], lambda name, fault: told.append((name, fault)))
    before = store.models
    save(tmp_path / "tree.farthing", costs=5)
    store.refresh()
    assert price(store) == 5.0
    assert before["tree"].description["features"][0]["cost"] == 1.0, "who holds the old state keeps it whole"
    assert before["tree"].version != store.models["tree"].version
    store.refresh()
    assert told == [("tree", None), ("tree", None)], "what did not change is not loaded again"


@pytest.mark.parametrize("damage", ["cut", "other", "gone"])
def test_a_bad_file_is_reported_and_the_old_model_stays(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tree.farthing"
    save(path)
    store = ModelStore([str(path)])
    held = store.models["tree"]
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(whole[:-30] if damage == "cut" else b"something else")
    store.refresh()
    assert store.models["tree"] is held
    said = {"cut": "not a Farthing model, or one cut short", "other": "not a Farthing model", "gone": "gone"}
    assert said[damage] in store.faults["tree"]
    assert str(tmp_path) not in store.faults["tree"], "a path is nobody's business"
    path.write_bytes(whole)
    store.refresh()
    assert store.faults == {}


def test_files_come_and_go_in_a_folder(tmp_path: Path) -> None:
    store = ModelStore([str(tmp_path)])
    assert store.models == {}
    save(tmp_path / "one.farthing")
    (tmp_path / "two.farthing").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not looked at")
    store.refresh()
    assert (sorted(store.models), sorted(store.faults)) == (["one"], ["two"])
    (tmp_path / "one.farthing").rename(tmp_path / "three.farthing")
    (tmp_path / "two.farthing").unlink()
    store.refresh()
    assert (sorted(store.models), store.faults) == (["three"], {})


def test_names(tmp_path: Path) -> None:
    save(tmp_path / "tree.farthing")
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "tree.farthing", other / "tree.farthing")
    file = str(tmp_path / "tree.farthing")
    assert sorted(ModelStore([file, f"second={file}"]).models) == ["second", "tree"]
    with pytest.raises(ValueError, match="two models are named 'tree'"):
        ModelStore([file, str(other / "tree.farthing")])
    with pytest.raises(ValueError, match="cannot be the name of a model"):
        ModelStore([f"a b={file}"])
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*nothing\.farthing"):
        ModelStore([str(tmp_path / "nothing.farthing")])
    both = ModelStore([str(tmp_path), str(other)])
    assert sorted(both.models) == ["tree"]
    assert "two models of this name" in both.faults["tree"]
    (other / "tree.farthing").unlink()
    both.refresh()
    assert both.faults == {}


def test_a_bad_file_named_by_itself_ends_the_start(tmp_path: Path) -> None:
    (tmp_path / "bad.farthing").write_bytes(b"x")
    with pytest.raises(ValueError, match="bad: not a Farthing model"):
        check(Settings(sources=(str(tmp_path / "bad.farthing"),)))
    assert check(Settings(sources=(str(tmp_path),))).faults.keys() == {"bad"}


def test_labels_that_json_cannot_hold_are_a_fault(tmp_path: Path) -> None:
    model = BudgetTreeClassifier().fit(np.eye(2), [0.0, 1.0])
    model.adopt(replace(model.fitted_, classes=np.array([0.0, np.inf])))
    model.save(tmp_path / "endless.farthing")
    assert "the model cannot be served" in ModelStore([str(tmp_path)]).faults["endless"]


def test_requests_see_the_old_model_or_the_new_one_and_nothing_between(tmp_path: Path) -> None:
    path = tmp_path / "tree.farthing"
    save(path)
    seen: set[tuple[str, float]] = set()
    over = threading.Event()
    with running(Settings(sources=(str(path),), reload_seconds=0.02)) as url:

        def ask() -> None:
            with httpx.Client(base_url=url, **DIRECT) as http:
                while not over.is_set():
                    answer = http.post("/v1/models/tree/next", json={})
                    assert answer.status_code == 200
                    seen.add((answer.json()["version"], answer.json()["ask"]["price"]))

        asking = threading.Thread(target=ask)
        asking.start()
        wait_for(lambda: seen)
        for costs in (2, None, 3):
            if costs is None:
                path.write_bytes(b"damaged")
                wait_for(lambda: httpx.get(f"{url}/healthz", **DIRECT).json()["faults"] == 1)
                listed = httpx.get(f"{url}/v1/models", **DIRECT).json()
                assert "not a Farthing model" in listed["models"][0]["fault"]
            else:
                save(path, costs=costs)
                wait_for(lambda costs=costs: float(costs) in {paid for _, paid in set(seen)})
        over.set()
        asking.join()
        assert httpx.get(f"{url}/healthz", **DIRECT).json()["faults"] == 0
    assert len(seen) == 3, "one version for each price"
    assert {paid for _, paid in seen} == {1.0, 2.0, 3.0}


def wait_for(what: object, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
