"""The MNIST experiment: images that are moved, and what the page says beside the published figures."""

import numpy as np
import pytest
from experiments.boards.cascade_mnist import COMMON, SETTINGS, SIDE, moved
from experiments.lib.pixel_page import (
    PUBLISHED,
    SECONDS,
    joined,
    page,
    parsed,
    restated,
    seconds_of,
    stored_results,
    summary,
)
from experiments.lib.stored_pages import StoredPage

from farthing.cascades import BranchingCascadeClassifier


@pytest.mark.parametrize(("down", "right"), [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
def test_moved_images_are_shifted_and_lose_what_leaves(down, right):
    image = np.zeros((SIDE, SIDE), dtype=np.float32)
    image[5, 7] = 1
    image[0, 0] = image[-1, -1] = 2
    image_moved = moved(image.reshape(1, -1), down, right).reshape(SIDE, SIDE)
    assert image_moved[5 + down, 7 + right] == 1
    assert np.count_nonzero(image_moved) == 3 - (down != 0 or right != 0)


def result(k, accuracy, moved=False, **more):
    settings = {"n_branches": 3, "n_candidates": 2}
    sizes = {"most": k, "pixels": 99, "branches": 3, "evaluated": 10_000, "seconds": 7.0, "rows": None}
    return {"k": k, "accuracy": accuracy, "moved": moved, "settings": settings, **sizes, **more}


def test_the_published_figures_are_those_of_the_paper():
    assert PUBLISHED == {5: 0.695, 10: 0.875, 15: 0.926, 20: 0.95, 25: 0.96, 30: 0.966, 40: 0.973, 50: 0.975}


def test_the_page_says_where_it_is_behind():
    tests = [result(5, 0.8), result(10, 0.87), result(10, 0.876, moved=True), result(20, 0.9, moved=True)]
    text = summary(tests)
    assert "Behind at k = 20 (-0.0500 +- 0.0030)." in text
    assert "Level at k = 10 (+0.0010" in text
    assert "Ahead at k = 5 (+0.1050" in text
    assert "Without moved images, k = 10 (behind, -0.0050)." in text
    assert "were not run: 15, 25, 30, 40, 50." in text
    assert "Without moved images the cascade was not run at k = 20." in text
    assert "Behind at no k." in summary(tests[:1])


def test_a_page_is_the_same_from_its_own_figures():
    tests = [result(5, 0.7145), result(20, 0.9423, moved=True)]
    trial = result(10, 0.8, rows=6000, others={"n_branches": 8, "max_depth": 4})
    text = page(tests, [trial], SECONDS)
    assert restated(StoredPage(text, "", "")) == text


def test_new_lines_join_those_of_the_stored_page():
    stored = StoredPage(page([result(5, 0.7), result(20, 0.94, moved=True)], [], SECONDS), "", "")
    old, _ = stored_results(stored)
    lines = joined(old, [result(15, 0.92, moved=True), result(20, 0.95, moved=True, others={})])
    assert [(line["k"], line["accuracy"]) for line in lines] == [(5, 0.7), (15, 0.92), (20, 0.95)]
    assert seconds_of(stored, lines) == SECONDS
    text = "Seconds are those of all branches; the routes are not counted."
    once = seconds_of(StoredPage(f"{text} More.", "", ""), lines[1:2])
    assert once == f"{text[:-1]} but at k = 15."
    assert seconds_of(StoredPage(f"{once} More.", "", ""), lines[2:]) == f"{text[:-1]} but at k = 15, 20."


def test_settings_have_the_names_of_today():
    assert parsed("`n_trees=40`, `outside=0.5`, `max_bins=32`") == {
        "n_estimators": 40,
        "outside_weight": 0.5,
        "max_bins": 32,
    }
    for settings in SETTINGS.values():
        BranchingCascadeClassifier(**{**COMMON, **settings})
