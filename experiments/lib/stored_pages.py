"""Pages that are written: their tables are read back, so that the text can be written anew without a run.

An experiment that takes ``--restate`` makes its page from the figures of the page that is there. What the
text says of the figures is computed again; the figures, the command and the commit of the run stay.
"""

from __future__ import annotations

import re
import subprocess
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from experiments.lib.pages import ROOT, commit, place, save

MADE: Final = re.compile(
    r"Made by `([^`]+)` at commit ([0-9a-f]{7,40})(?:\+changes)?[^`\n]*?\.(?= |$)", re.MULTILINE
)
ANEW: Final = re.compile(r"(?<=[:;] )([\w., ]+), by `([^`]+)` at commit ([0-9a-f]+(?:\+changes)?)(?=;)")
CODE: Final = ("src/farthing", "cpp")


@dataclass(frozen=True)
class Table:
    """A Markdown table: its header and its rows, as text."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, name: str) -> tuple[str, ...]:
        """Return the cells of a column.

        Examples
        --------
        >>> Table(("k", "accuracy"), (("5", "0.7"), ("10", "0.8"))).column("accuracy")
        ('0.7', '0.8')
        """
        place = self.header.index(name)
        return tuple(row[place] for row in self.rows)


@dataclass(frozen=True)
class StoredPage:
    """A page of results as it was written.

    Attributes
    ----------
    text : str
        All of it.
    made : str
        The sentence that names the command and the commit of the run.
    run_commit : str
        That commit.
    anew : tuple of tuples
        What was made anew since, with the command and the commit of each.
    """

    text: str
    made: str
    run_commit: str
    anew: tuple[tuple[str, str, str], ...] = ()

    @classmethod
    def read(cls, path: Path) -> StoredPage:
        """Read a page; ValueError if it does not say how it was made."""
        text = path.read_text(encoding="utf-8")
        made = MADE.search(text)
        if made is None:
            raise ValueError(f"{path} does not name the command and the commit that made it: run it anew.")
        line = text[made.start() :].partition("\n")[0]
        found = ANEW.findall(line.partition("Made anew since")[2])
        return cls(text, made[0], made[2], tuple((what, by, at) for what, by, at in found))

    @property
    def body(self) -> str:
        r"""The text without the line on how it was made.

        Examples
        --------
        >>> StoredPage("# A\n\nMade by `b`.\n\nText.\n", "Made by `b`.", "").body
        '# A\n\nText.\n'
        """
        lines = [line for line in self.text.split("\n") if not line.startswith(self.made)]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"

    def under(self, heading: str) -> str:
        r"""Return what follows a heading, up to the next one of its level or above.

        Examples
        --------
        >>> StoredPage("# A\n\n## B\n\nText.\n\n## C\n", "", "").under("## B")
        'Text.'
        """
        level = len(heading) - len(heading.lstrip("#"))
        parts = re.split(rf"^{re.escape(heading)}[^\n]*$", self.text, maxsplit=1, flags=re.MULTILINE)
        if len(parts) == 1:
            raise ValueError(f"The stored page has no heading {heading!r}: run it anew.")
        return re.split(rf"^#{{1,{level}}} ", parts[1], maxsplit=1, flags=re.MULTILINE)[0].strip()

    def between(self, heading: str, start: str, end: str) -> str:
        r"""Return what stands under a heading between two pieces of text; an empty one is the section's end.

        Examples
        --------
        >>> StoredPage("# A\n\n## B\n\nGoals: all.\n\nMore.", "", "").between("## B", "Goals:", "More")
        'all.'
        """
        found = self.under(heading)
        _, first, rest = found.partition(start) if start else ("", " ", found)
        inside, last, _ = rest.partition(end) if end else (rest, " ", "")
        if not (first and last):
            raise ValueError(
                f"The stored page has nothing between {start!r} and {end!r} under {heading!r}: "
                "run that part anew."
            )
        return inside.strip()


def tables(text: str) -> list[Table]:
    r"""Return the tables of a text in Markdown.

    Examples
    --------
    >>> tables("Text.\n\n| a | b |\n|---|---|\n| 1 |  |\n")
    [Table(header=('a', 'b'), rows=(('1', ''),))]
    """
    found: list[list[tuple[str, ...]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            found[-1].append(tuple(cell.strip() for cell in line.strip().strip("|").split("|")))
        elif found[-1]:
            found.append([])
    return [Table(lines[0], tuple(lines[2:])) for lines in found if len(lines) > 1]


def add_restate(parser: ArgumentParser) -> None:
    """Add the option to write the text anew from the figures of the stored page."""
    parser.add_argument(
        "--restate",
        action="store_true",
        help="write the text anew from the figures of the page that is there; nothing is run",
    )


def restate(page: Path, stored: StoredPage, text: str, line: str, what: str = "text") -> Path:
    """Write a page anew whose figures are those of the stored page.

    Parameters
    ----------
    page : Path
        The file.
    stored : StoredPage
        What was in it.
    text : str
        Markdown, without the sentences on how it was made.
    line : str
        The command that wrote the text.
    what : str
        What of the page the command has made, with commas between.

    Returns
    -------
    Path
        The file.
    """
    n = changes_since(stored.run_commit)
    since = "" if n is None else f" Since that run {n} commits changed `{'` or `'.join(CODE)}`."
    parts = what.split(", ")
    kept = [(", ".join(p for p in of.split(", ") if p not in parts), *how) for of, *how in stored.anew]
    anew = [f"{of}, by `{by}` at commit {at}" for of, by, at in (*kept, (what, line, commit())) if of]
    made = f"{stored.made}{since} Made anew since: {'; '.join(anew)}; all else is of that run."
    return save(page, place(text, made))


def changes_since(since: str, paths: Sequence[str] = CODE) -> int | None:
    """Return how many commits after one changed some paths; None where git does not know."""
    words = ["git", "rev-list", "--count", f"{since}..HEAD", "--", *paths]
    try:
        found = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return int(found.stdout)
