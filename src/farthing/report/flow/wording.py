"""The texts of a flow's nodes, the same in every picture."""

from __future__ import annotations

from farthing.report.flow.questions import More, Question, Stop


def percent(share: float) -> str:
    """Return a share as text.

    Examples
    --------
    >>> percent(0.254), percent(0.004)
    ('25 %', '<1 %')
    """
    return "<1 %" if 0 < share < 0.01 else f"{share:.0%}".replace("%", " %")


def money(amount: float, unit: str) -> str:
    """Return an amount with its unit.

    Examples
    --------
    >>> money(102.9, "CAD"), money(7.0, "")
    ('102.9 CAD', '7')
    """
    return f"{round(amount, 2):g} {unit}".strip()


def texts(node: Question | Stop | More, unit: str) -> tuple[str, str]:
    """Return the title of a node and the line below it."""
    if isinstance(node, Question):
        return node.feature, f"+ {money(node.price, unit)} · {percent(node.share)}"
    if isinstance(node, More):
        return f"{node.questions:.1f} more questions", f"{money(node.spend, unit)} · {percent(node.share)}"
    said = ", ".join(f"{label} {percent(share)}" for label, share in node.predictions)
    if len(node.predictions) == 1:
        said = node.predictions[0][0]
    return f"→ {said}", f"{money(node.spend, unit)} · {percent(node.share)}"
