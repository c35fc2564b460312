"""A flow as a Mermaid chart, which many Markdown viewers draw."""

from __future__ import annotations

from collections.abc import Iterator

from farthing.report.flow.questions import Branch, Flow, More, Question, Stop
from farthing.report.flow.wording import texts

_SHAPES = {Question: ("[", "]"), Stop: ("([", "])"), More: ("[/", "/]")}


def chart(flow: Flow) -> str:
    """Return a Mermaid flow chart.

    Parameters
    ----------
    flow : Flow
        What to draw.
    """
    lines = ["flowchart LR", f'  n0(("{flow.rows}"))']
    lines += _Writer(flow.unit).branches("n0", flow.branches)
    return "\n".join(lines) + "\n"


class _Writer:
    """Writes nodes, and numbers them."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._n_nodes = 0

    def branches(self, parent: str, branches: tuple[Branch, ...]) -> Iterator[str]:
        """Yield the lines of all nodes below one."""
        for branch in branches:
            self._n_nodes += 1
            name = f"n{self._n_nodes}"
            opened, closed = _SHAPES[type(branch.then)]
            title, line = texts(branch.then, self._unit)
            arrow = f'-- "{_quoted(branch.answers)}" -->' if branch.answers else "-->"
            yield f'  {parent} {arrow} {name}{opened}"{_quoted(title)}<br>{_quoted(line)}"{closed}'
            if isinstance(branch.then, Question):
                yield from self.branches(name, branch.then.branches)


def _quoted(text: str) -> str:
    """Return a text as Mermaid takes it in quotes; names come from users."""
    for sign, code in (
        ("#", "#35;"),
        ("&", "#38;"),
        ('"', "#34;"),
        ("<", "#lt;"),
        (">", "#gt;"),
        ("\n", " "),
    ):
        text = text.replace(sign, code)
    return text
