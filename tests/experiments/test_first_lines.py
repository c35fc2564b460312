"""First lines of pages follow from the tables below them."""

import pytest
from experiments.boards import cascade, cascade_ablations, dag, miser_accuracy
from experiments.lib.first_lines import restate, tables, with_first_lines
from experiments.lib.pages import RESULTS
from experiments.lib.stored_pages import StoredPage

BOARDS = [cascade, cascade_ablations, dag, miser_accuracy]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.NAME)
def test_the_stored_page_begins_with_what_its_tables_say(board):
    page = StoredPage.read(RESULTS / f"{board.NAME}.md")
    assert with_first_lines(page.body, board.first_lines) == page.body
    assert page.text.splitlines()[2].startswith(page.made)


def test_first_lines_are_replaced_and_the_rest_stays(tmp_path):
    page = tmp_path / "some.md"
    made = "Made by `x` at commit 1234567."
    page.write_text(f"# Some\n\n- old,\n  and longer\n- older\n\nText.\n\n- a list\n\n{made}\n")
    for _ in range(2):
        restate(page, lambda text: [f"{len(text.splitlines())} lines"], "y --restate")
    title, _, line, *rest = page.read_text().splitlines()
    assert title == "# Some"
    assert line.startswith(made)
    assert line.count("text, by `y --restate` at commit") == 1
    assert rest == ["", "- 5 lines", "", "Text.", "", "- a list"]


def test_a_cascade_that_is_behind_says_where():
    header = "| method | 2% | 5% | 10% | 20% | 50% | 100% |\n" + "|---" * 7 + "|\n"
    ours = "| cascade | " + " | ".join(["0.9000 (2.0%)"] * 6) + " |\n"
    rival = "| miser | " + " | ".join(["0.9000 (2.0%)"] * 5 + ["0.9500 (9.0%)"]) + " |\n"
    overview = "| table | difference |\n|---|---|\n| mnist | -0.0083 +- 0.1: within a standard error |\n"
    text = f"# Page\n\n{overview}\n### mnist: 10 rows\n\n{header}{ours}{rival}"
    assert [*tables(text)] == ["", "mnist"]
    first, *_ = cascade.first_lines(text)
    assert "not ahead of the best rival by more than a standard error on mnist" in first
    assert first.endswith("in 1 of 6 cells: mnist at 100% (miser, -0.0500).")
