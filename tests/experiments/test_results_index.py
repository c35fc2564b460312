"""docs/results/index.md has every table and figure of the papers, every page, and commands that exist."""

import re

import pytest
from experiments.lib.pages import RESULTS, ROOT
from experiments.lib.stored_pages import StoredPage, tables

from farthing.cli.reproduce import experiments

INDEX = (RESULTS / "index.md").read_text(encoding="utf-8")
NAN = {
    "### Chapter 2": "Figure 2.1, Figure 2.2, Table 2.1",
    "### Chapters 3 and 4": "Figure 3.1, Figure 3.2, Figure 3.3, Figure 3.4, Table 3.1, Table 4.1, "
    "Figure 4.1, Figure 4.2, Figure 4.3, Figure 4.4, Figure 4.5, Figure 4.6",
    "### Chapter 5": "Figure 5.1, Figure 5.2, Figure 5.3, Table 5.1, Figure 5.4, Figure 5.5",
    "### Chapter 6": "Figure 6.1",
    "### Chapter 7": "Figure 7.1, Figure 7.2",
}
ITEMS = {
    "## Reyzin (2011)": "Table 1, Table 2, Table 3, Table 4, Table 5, Table 6, Figure 1, Figure 2",
    "## Huang, Powers and Reyzin (2015), Training": "Table 1, Figure 1, Figure 2, Figure 3",
    "## Huang, Powers and Reyzin (2015), the poster": "Figure 1, Figure 2",
    "## Xu": "Figure 1, Figure 2, Figure 3, Figure 4",
    **NAN,
}
REPRODUCED = re.compile(r"(yes|in part|on other data|no|as there)\b")
AGREES = re.compile(r"(yes|in part|no|not comparable|drawn only|a drawing|as there)\b")


@pytest.mark.parametrize("heading", ITEMS)
def test_every_table_and_figure_of_a_paper_has_a_line(heading: str):
    (table,) = tables(StoredPage(INDEX, "", "").under(heading))
    assert list(table.column("item")) == ITEMS[heading].split(", ")
    assert all(REPRODUCED.match(cell) for cell in table.column("reproduced"))
    assert all(AGREES.match(cell) for cell in table.column("agrees"))


def test_every_page_is_linked_and_every_link_leads_to_a_page():
    linked = set(re.findall(r"\]\(([\w-]+\.md)\)", INDEX))
    assert linked == {page.name for page in RESULTS.glob("*.md")} - {"index.md"}


def test_every_command_exists_and_every_experiment_with_a_page_is_named():
    named = set(re.findall(r"farthing reproduce ([\w-]+)", INDEX))
    found = experiments(ROOT)
    assert named <= set(found)
    assert {page.stem for page in RESULTS.glob("*.md")} & set(found) <= named


def test_tests_that_stand_for_a_figure_exist():
    files = re.findall(r"`(tests/[\w/]+\.py)`", INDEX)
    assert files
    assert all((ROOT / file).is_file() for file in files)


def test_goals_of_benchmarks_are_those_of_their_pages():
    (table,) = tables(StoredPage(INDEX, "", "").under("## Speed"))
    met = dict(zip(table.column("page"), table.column("goals met"), strict=True))
    pages = {f"[{page.stem[6:]}]({page.name})": page for page in RESULTS.glob("bench-*.md")}
    assert set(met) == set(pages)
    for name, page in pages.items():
        assert f"Goals met: {met[name]}." in page.read_text(encoding="utf-8")
