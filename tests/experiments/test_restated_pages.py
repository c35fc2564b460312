"""The text of stored pages is what the code writes of their figures: nobody edits them by hand."""

from collections.abc import Callable

import pytest
from experiments.boards import default_set, front_door
from experiments.fuzz import service_agreement
from experiments.lib import front_door_page, pixel_page
from experiments.lib.pages import RESULTS, place
from experiments.lib.stored_pages import StoredPage
from experiments.papers import nan2018_forests, nan2018_neighbors

TABLES = (*front_door.REAL, *front_door.DRAWN)
WRITERS: dict[str, Callable[[StoredPage], str]] = {
    "cascade_mnist": pixel_page.restated,
    "default_set": default_set.stored,
    "front_door": lambda page: front_door_page.restated(
        page, front_door.N_ROUNDS, front_door.N_FOLDS, TABLES
    ),
    "nan2018_forests": lambda page: nan2018_forests.fill(
        nan2018_forests.stored_fields(page), nan2018_forests.Scale()
    ),
    "nan2018_neighbors": nan2018_neighbors.stored,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_stored_page_is_what_its_figures_give(name: str):
    path = RESULTS / f"{name}.md"
    found = StoredPage.read(path)
    title, _, made, *_ = found.text.splitlines()
    assert title.startswith("# ")
    assert made.startswith(found.made)
    assert place(WRITERS[name](found), made) == found.text, f"run: farthing reproduce {name} --restate"


def test_the_service_page_names_what_differs_and_what_is_missing():
    rows = [("A", "9 of 10", "40", "5 of 5", "20"), ("B", "10 of 10", "40", "not run", "")]
    text = service_agreement.text_of(rows, 10, 5, ["A", "B", "C"])
    assert "Methods compared: 2. A row differs in some step for A. " in text
    assert "Not compared, or not over HTTP: B, C." in text
    assert service_agreement.stored(StoredPage(text, "", ""), ["A", "B", "C"]) == text
    fresh = [("C", "10 of 10", "30", "5 of 5", "15")]
    again = service_agreement.stored(StoredPage(text, "", ""), ["B", "C"], fresh)
    assert "Methods compared: 2. A row differs in some step for none. " in again
    assert "Not compared, or not over HTTP: B." in again
