"""Models are reloaded when their file changes; a bad file is reported and the old model stays."""

from __future__ import annotations

import shutil
import threading
import time
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.serving import running

from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings, Shelf
from farthing.service.server import check


def save(path: Path, *, costs: float = 1.0) -> None:
    BudgetTreeClassifier(costs=[costs, costs]).fit(np.eye(2), ["no", "yes"]).save(path)


def price(shelf: Shelf, name: str = "tree") -> float:
    return float(shelf.books[name].about["features"][0]["cost"])


def test_a_changed_file_takes_the_old_ones_place(tmp_path: Path) -> None:
    told = []
    save(tmp_path / "tree.farthing")
    shelf = Shelf([str(tmp_path)], lambda name, fault: told.append((name, fault)))
    before = shelf.books
    save(tmp_path / "tree.farthing", costs=5)
    shelf.refresh()
    assert price(shelf) == 5.0
    assert before["tree"].about["features"][0]["cost"] == 1.0, "who holds the old state keeps it whole"
    assert before["tree"].version != shelf.books["tree"].version
    shelf.refresh()
    assert told == [("tree", None), ("tree", None)], "what did not change is not loaded again"


@pytest.mark.parametrize("damage", ["cut", "other", "gone"])
def test_a_bad_file_is_reported_and_the_old_model_stays(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tree.farthing"
    save(path)
    shelf = Shelf([str(path)])
    held = shelf.books["tree"]
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(whole[:-30] if damage == "cut" else b"something else")
    shelf.refresh()
    assert shelf.books["tree"] is held
    said = {"cut": "not a Farthing model, or one cut short", "other": "not a Farthing model", "gone": "gone"}
    assert said[damage] in shelf.faults["tree"]
    assert str(tmp_path) not in shelf.faults["tree"], "a path is nobody's business"
    path.write_bytes(whole)
    shelf.refresh()
    assert shelf.faults == {}


def test_files_come_and_go_in_a_folder(tmp_path: Path) -> None:
    shelf = Shelf([str(tmp_path)])
    assert shelf.books == {}
    save(tmp_path / "one.farthing")
    (tmp_path / "two.farthing").write_bytes(b"")
    (tmp_path / "notes.txt").write_text("not looked at")
    shelf.refresh()
    assert (sorted(shelf.books), sorted(shelf.faults)) == (["one"], ["two"])
    (tmp_path / "one.farthing").rename(tmp_path / "three.farthing")
    (tmp_path / "two.farthing").unlink()
    shelf.refresh()
    assert (sorted(shelf.books), shelf.faults) == (["three"], {})


def test_names(tmp_path: Path) -> None:
    save(tmp_path / "tree.farthing")
    other = tmp_path / "other"
    other.mkdir()
    shutil.copy(tmp_path / "tree.farthing", other / "tree.farthing")
    file = str(tmp_path / "tree.farthing")
    assert sorted(Shelf([file, f"second={file}"]).books) == ["second", "tree"]
    with pytest.raises(ValueError, match="two models are named 'tree'"):
        Shelf([file, str(other / "tree.farthing")])
    with pytest.raises(ValueError, match="cannot be the name of a model"):
        Shelf([f"a b={file}"])
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*nothing\.farthing"):
        Shelf([str(tmp_path / "nothing.farthing")])
    both = Shelf([str(tmp_path), str(other)])
    assert sorted(both.books) == ["tree"]
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
    model.classes_ = np.array([0.0, np.inf])
    model.save(tmp_path / "endless.farthing")
    assert "the model cannot be served" in Shelf([str(tmp_path)]).faults["endless"]


def test_requests_see_the_old_model_or_the_new_one_and_nothing_between(tmp_path: Path) -> None:
    path = tmp_path / "tree.farthing"
    save(path)
    seen: set[tuple[str, float]] = set()
    over = threading.Event()
    with running(Settings(sources=(str(path),), reload_seconds=0.02)) as url:

        def ask() -> None:
            with httpx.Client(base_url=url, trust_env=False) as http:
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
                wait_for(lambda: httpx.get(f"{url}/healthz", trust_env=False).json()["faults"] == 1)
                listed = httpx.get(f"{url}/v1/models", trust_env=False).json()
                assert "not a Farthing model" in listed["models"][0]["fault"]
            else:
                save(path, costs=costs)
                wait_for(lambda costs=costs: float(costs) in {paid for _, paid in set(seen)})
        over.set()
        asking.join()
        assert httpx.get(f"{url}/healthz", trust_env=False).json()["faults"] == 0
    assert len(seen) == 3, "one version for each price"
    assert {paid for _, paid in seen} == {1.0, 2.0, 3.0}


def wait_for(what: object, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not what():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
