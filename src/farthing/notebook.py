"""Tables in HTML, which notebooks show in place of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

# A longer table shows its first and last rows only.
_MOST_ROWS, _HEAD, _TAIL = 40, 25, 10


def html_table(caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; every text is escaped, and numbers are aligned to the right.

    Parameters
    ----------
    caption : str
        What the table shows.
    header : sequence of str
        Titles of the columns.
    rows : iterable of sequences of str
        The cells, as many as titles.

    Returns
    -------
    str

    Examples
    --------
    >>> print(html_table("Prices", ["feature", "own"], [["a < b", "1.00"]]))
    <table class="farthing"><caption style="text-align:left">Prices</caption>
    <thead><tr><th style="text-align:left">feature</th><th style="text-align:left">own</th></tr></thead>
    <tbody>
    <tr><td style="text-align:left">a &lt; b</td><td style="text-align:right">1.00</td></tr>
    </tbody></table>
    """
    lines = ["".join(_cell(text) for text in row) for row in rows]
    if (n_left_out := len(lines) - _HEAD - _TAIL) > 0 and len(lines) > _MOST_ROWS:
        gap = f'<td colspan="{len(header)}" style="text-align:left">... ({n_left_out} more)</td>'
        lines = [*lines[:_HEAD], gap, *lines[-_TAIL:]]
    head = "".join(f'<th style="text-align:left">{escape(title)}</th>' for title in header)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<table class="farthing"><caption style="text-align:left">{escape(caption)}</caption>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    )


def _cell(text: str) -> str:
    side = "right" if text[:1].isdigit() else "left"
    return f'<td style="text-align:{side}">{escape(text)}</td>'
