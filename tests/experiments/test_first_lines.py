"""First lines of pages follow from the tables below them."""

import pytest
from experiments.boards import cascade, cascade_ablations, dag, miser_accuracy
from experiments.lib.first_lines import restate, tables, with_first_lines
from experiments.lib.pages import RESULTS, place

BOARDS = [cascade, cascade_ablations, dag, miser_accuracy]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.NAME)
def test_the_stored_page_begins_with_what_its_tables_say(board):
    text = (RESULTS / f"{board.NAME}.md").read_text(encoding="utf-8")
    assert with_first_lines(text, board.first_lines) == text


def test_first_lines_are_replaced_and_the_rest_stays(tmp_path):
    page = tmp_path / "some.md"
    page.write_text(
        "# Some\n\n- old,\n  and longer\n- older\n\nText.\n\n- a list\n\nMade by `x` at commit y.\n"
    )
    restate(page, lambda text: [f"{len(text.splitlines())} lines"])
    restate(page, lambda text: [f"{len(text.splitlines())} lines"])
    assert page.read_text() == "# Some\n\n- 7 lines\n\nText.\n\n- a list\n\nMade by `x` at commit y.\n"


def test_first_lines_come_after_the_line_on_how_a_page_was_made(tmp_path):
    page = tmp_path / "some.md"
    page.write_text(place(with_first_lines("# Some\n\nText.\n", lambda text: ["old"]), "Made by `x`."))
    restate(page, lambda text: ["new"])
    assert page.read_text() == "# Some\n\nMade by `x`.\n\n- new\n\nText.\n"


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
