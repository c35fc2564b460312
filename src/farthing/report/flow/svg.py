"""A flow as an SVG picture: a column for each question, bands as wide as the share of rows that take them.

Each node has a slot, a range of heights which its own branches divide among themselves, so that bands never
cross. A slot is at least as high as two lines of text; the bar at its top has the height of the node's share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from farthing.report.flow.questions import Branch, Flow, More, Question, Stop
from farthing.report.flow.wording import texts

_COLUMN: Final = 210  # pixels from one question to the next
_BAR: Final = 10  # width of a node's bar
_SCALE: Final = 240.0  # height of a bar that all rows pass
_SLOT: Final = 46.0  # least height of a slot
_MARGIN: Final = 24
_LETTERS: Final = 26  # of a text before it is cut

_STYLE: Final = """
  text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1c2733; }
  .line { fill: #5a6875; } .answers { fill: #5a6875; font-style: italic; }
  .title { font-weight: 600; }
  .band { fill: #9db8d6; opacity: .45; }
  .question { fill: #2f6fb0; } .stop { fill: #2e8b57; } .more { fill: #9aa5b1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .line, .answers { fill: #9fb0c0; } .band { fill: #4b6a8c; opacity: .6; }
  }
"""


@dataclass(frozen=True)
class _Placed:
    """A node with its place; ``top`` is that of its bar."""

    branch: Branch
    depth: int
    top: float
    children: tuple[_Placed, ...]

    @property
    def height(self) -> float:
        return max(1.0, _SCALE * self.branch.then.share)


def draw(flow: Flow) -> str:
    """Return an SVG document.

    Parameters
    ----------
    flow : Flow
        What to draw.
    """
    placed, bottom = _place(flow.branches, 0, float(_MARGIN))
    width = _MARGIN + _COLUMN * (1 + max(_depth(one) for one in placed))
    body = "\n".join(part for one in placed for part in _parts(one, flow.unit))
    height = round(bottom + _MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img">\n'
        f"<title>Questions of the model, on {flow.rows}</title>\n"
        f"<style>{_STYLE}</style>\n{body}\n</svg>\n"
    )


def _place(branches: Sequence[Branch], depth: int, top: float) -> tuple[tuple[_Placed, ...], float]:
    """Place branches below each other; return them and where the last slot ends."""
    placed = []
    for branch in branches:
        node = branch.then
        children: tuple[_Placed, ...] = ()
        bottom = top
        if isinstance(node, Question):
            children, bottom = _place(node.branches, depth + 1, top)
        placed.append(_Placed(branch, depth, top, children))
        top = max(bottom, top + max(_SLOT, _SCALE * node.share + 12))
    return tuple(placed), top


def _depth(one: _Placed) -> int:
    return max([one.depth, *(_depth(child) for child in one.children)])


def _parts(one: _Placed, unit: str) -> list[str]:
    """Return the elements of a node and of all below it; bands first, so that texts lie above them."""
    x = _MARGIN + _COLUMN * one.depth
    parts = []
    start = one.top
    for child in one.children:
        parts.append(_band(x + _BAR, start, x + _COLUMN, child.top, child.height))
        start += child.height
    kinds = {Question: "question", Stop: "stop", More: "more"}
    kind = kinds[type(one.branch.then)]
    parts.append(
        f'<rect class="{kind}" x="{x}" y="{one.top:.1f}" width="{_BAR}" height="{one.height:.1f}" rx="2"/>'
    )
    lines = [("title", texts(one.branch.then, unit)[0]), ("line", texts(one.branch.then, unit)[1])]
    if one.branch.answers:
        lines.insert(0, ("answers", one.branch.answers))
    parts += [
        f'<text class="{style}" x="{x + _BAR + 6}" y="{one.top + 11 + 14 * place:.1f}">{_shown(text)}</text>'
        for place, (style, text) in enumerate(lines)
    ]
    for child in one.children:
        parts += _parts(child, unit)
    return parts


def _band(x0: float, y0: float, x1: float, y1: float, height: float) -> str:
    """Return a band between two bars, of the same height at both ends."""
    middle, low0, low1 = (x0 + x1) / 2, y0 + height, y1 + height
    upper = f"M{x0:.1f},{y0:.1f} C{middle:.1f},{y0:.1f} {middle:.1f},{y1:.1f} {x1:.1f},{y1:.1f}"
    lower = f"V{low1:.1f} C{middle:.1f},{low1:.1f} {middle:.1f},{low0:.1f} {x0:.1f},{low0:.1f} Z"
    return f'<path class="band" d="{upper} {lower}"/>'


def _shown(text: str) -> str:
    cut = text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
    return f"{escape(cut)}<title>{escape(text)}</title>" if cut != text else escape(text)
