"""A page is written anew from its own figures: the run's command and commit stay, the text is computed."""

from pathlib import Path

import pytest
from experiments.lib import stored_pages
from experiments.lib.stored_pages import StoredPage, restate, tables

PAGE = """# Some

Made by `farthing reproduce xu2012` at commit abc1234, on 2 cores, Python 3.11. Ratios are medians.

## One

| a | b |
| --- | --- |
| 1 | x y |

### Deeper

| c |
|---|
| 2 |

## Two

Text.
"""


def page(tmp_path: Path, text: str = PAGE) -> Path:
    path = tmp_path / "some.md"
    path.write_text(text)
    return path


def test_tables_are_read_by_heading(tmp_path: Path):
    stored = StoredPage.read(page(tmp_path))
    first, second = tables(stored.under("## One"))
    assert first.column("b") == ("x y",)
    assert second.rows == (("2",),)
    assert tables(stored.under("### Deeper")) == [second]
    assert stored.under("## Two") == "Text."
    with pytest.raises(ValueError, match="no heading '## Three'"):
        stored.under("## Three")


def test_the_run_stays_named_however_often_the_text_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stored_pages, "commit", lambda: "fff0000")
    monkeypatch.setattr(stored_pages, "changes_since", lambda commit: {"abc1234": 7}[commit])
    path = page(tmp_path)
    for _ in range(2):
        stored = StoredPage.read(path)
        assert stored.run_commit == "abc1234"
        restate(path, stored, "# Some\n\nNew text.\n", "farthing reproduce xu2012 --restate")
    title, made, text = path.read_text().strip().split("\n\n")
    assert (title, text) == ("# Some", "New text.")
    assert made == (
        "Made by `farthing reproduce xu2012` at commit abc1234, on 2 cores, Python 3.11. "
        "Since that run 7 commits changed `src/farthing` or `cpp`. "
        "Made anew since: text, by `farthing reproduce xu2012 --restate` at commit fff0000; "
        "all else is of that run."
    )


def test_parts_that_were_run_anew_keep_their_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stored_pages, "changes_since", lambda _: 7)
    path = page(tmp_path)
    for commit, what in (("aaa0000", "text, figure3.4, figure4.4"), ("bbb0000", "text, figure4.4")):
        monkeypatch.setattr(stored_pages, "commit", lambda commit=commit: commit)
        restate(path, StoredPage.read(path), "# Some\n\nText.\n", f"farthing reproduce {commit}", what)
    assert (
        path.read_text()
        .splitlines()[2]
        .endswith(
            " Made anew since: figure3.4, by `farthing reproduce aaa0000` at commit aaa0000; "
            "text, figure4.4, by `farthing reproduce bbb0000` at commit bbb0000; all else is of that run."
        )
    )


def test_a_page_that_does_not_say_how_it_was_made_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="does not name the command"):
        StoredPage.read(page(tmp_path, "# Some\n\nText.\n"))
