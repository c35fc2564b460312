"""The first lines of a page, computed from its own tables: what does not hold, is missing or differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

# From the text of a page to its first lines.
FirstLines = Callable[[str], Sequence[str]]


def with_first_lines(text: str, lines_of: FirstLines) -> str:
    r"""Return a page with its first lines after the title, in place of those that it may have already.

    Examples
    --------
    >>> print(with_first_lines("# Title\n\nText.\n", lambda text: ["It does not hold."]))
    # Title
    <BLANKLINE>
    - It does not hold.
    <BLANKLINE>
    Text.
    <BLANKLINE>
    """
    # Below the title, and below the line on how the page was made if that comes next.
    head = re.match(r".*(\n\nMade by .*)?", text)
    assert head is not None
    title, rest = head[0], text[head.end() + 1 :]
    rest = re.sub(r"\A\n(- .*\n(  .*\n)*)+", "", rest).lstrip("\n")
    first = "\n".join(f"- {line}" for line in lines_of(f"{title}\n\n{rest}"))
    return f"{title}\n\n{first}\n\n{rest}"


def restate(path: Path, lines_of: FirstLines) -> None:
    """Write the first lines of a page again; its figures, and the line on how they were made, stay."""
    path.write_text(with_first_lines(path.read_text(encoding="utf-8"), lines_of), encoding="utf-8")
    print(f"written to {path}", flush=True)


def tables(text: str) -> dict[str, list[dict[str, str]]]:
    r"""Return the first table of each section of a page, by the word that its heading begins with.

    The table before the first section has the key "". A row maps the words of the header to its cells.

    Examples
    --------
    >>> tables("| a | b |\n|---|---|\n| 1 | 2 |\n\n### dna: 9 rows\n\n| a |\n| --- |\n| 3 |\n")
    {'': [{'a': '1', 'b': '2'}], 'dna': [{'a': '3'}]}
    """
    found = {}
    for part in re.split(r"^### ", "### \n" + text, flags=re.MULTILINE)[1:]:
        match = re.search(r"(^\|.*\n)+", part, flags=re.MULTILINE)
        if match is None:
            continue
        header, _, *rows = (
            [cell.strip() for cell in line.strip("|").split("|")] for line in match[0].splitlines()
        )
        found[re.split(r"[:\n]", part, maxsplit=1)[0]] = [dict(zip(header, row, strict=True)) for row in rows]
    return found


def listed(names: Sequence[str]) -> str:
    """Return names as a list in words.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed([])
    ('a, b and c', 'none')
    """
    *first, last = names or ["none"]
    return f"{', '.join(first)} and {last}" if first else last
