"""Print a cost sheet as a small aligned table."""

from collections.abc import Sequence

# A longer sheet shows its first and last rows only.
_MAX_ROWS, _HEAD, _TAIL = 24, 12, 6
_MAX_NAME = 40


def render(
    features: Sequence[str],
    own: Sequence[float],
    groups: Sequence[tuple[str, float] | None],
    n_groups: int,
    unit: str,
    *,
    n_calls: int = 0,
) -> str:
    """Return one line per feature: its own cost, and its group with the shared cost; the last are calls.

    Examples
    --------
    >>> print(render(["age", "chol"], [1.0, 5.17], [None, ("blood", 2.1)], 1, "USD"))
    CostSheet: 2 features, 1 group, in USD
    feature   own  group  shared
    age      1.00
    chol     5.17  blood    2.10
    """
    title = f"CostSheet: {_count(len(features) - n_calls, 'feature')}"
    title += f", {_count(n_calls, 'call')}" if n_calls else ""
    title += f", {_count(n_groups, 'group')}" if n_groups else ""
    title += f", in {_printable(unit)}" if unit else ""

    shown = list(range(len(features)))
    if len(shown) > _MAX_ROWS:
        shown = shown[:_HEAD] + shown[-_TAIL:]
    groups = [groups[j] for j in shown]
    numbers = _numbers([own[j] for j in shown] + [group[1] if group else 0.0 for group in groups])
    costs, shared = numbers[: len(shown)], numbers[len(shown) :]
    names = [_printable(group[0]) if group else "" for group in groups]
    columns = [
        ["feature", *(_printable(features[j]) for j in shown)],
        ["own", *costs],
        ["group", *names],
        ["shared", *(number if name else "" for name, number in zip(names, shared, strict=True))],
    ]
    lines = _align(columns if n_groups else columns[:2])
    if len(features) > len(shown):
        lines.insert(1 + _HEAD, f"... ({len(features) - len(shown)} more)")
    return "\n".join([title, *lines])


def _align(columns: Sequence[Sequence[str]]) -> list[str]:
    """Align text to the left (even columns) and numbers to the right (odd columns)."""
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for cells in zip(*columns, strict=True):
        padded = [
            cell.rjust(width) if place % 2 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def _numbers(values: Sequence[float]) -> list[str]:
    """Format amounts with the same few decimals if that is exact, else with six significant digits."""
    # Fewest decimals first, so that prices in whole units are printed without any.
    for decimals in range(5):
        if all(value < 1e9 and round(value, decimals) == value for value in values):
            return [f"{value:.{decimals}f}" for value in values]
    return [f"{value:.6g}" for value in values]


def _printable(name: str) -> str:
    plain = name if name.isprintable() and name.strip() == name != "" else repr(name)
    return plain if len(plain) <= _MAX_NAME else plain[: _MAX_NAME - 3] + "..."


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
