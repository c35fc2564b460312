"""How many thresholds of a column a node tries, by its weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

#: A number of thresholds, one for each of several node weights, or None for all.
MaxCuts: TypeAlias = int | Sequence[tuple[float, int]] | None


def cut_rules(max_cuts: MaxCuts, cuts_above: float = 0.0) -> list[tuple[float, int]]:
    """Return the schedule of thresholds, the heaviest nodes first.

    Parameters
    ----------
    max_cuts : int, sequence of (weight, cuts) or None
        A node tries as many thresholds as the pair of the largest weight that the node exceeds says, and all
        of them if there is none. A number is the pair ``(cuts_above, number)``.
    cuts_above : float
        The weight of a single number.

    Returns
    -------
    list of (float, int)
        By descending weight; empty means all thresholds in every node.

    Examples
    --------
    >>> cut_rules([(0, 20), (500, 40), (2000, 80)])
    [(2000.0, 80), (500.0, 40), (0.0, 20)]
    >>> cut_rules(3, cuts_above=1000)
    [(1000.0, 3)]
    """
    if max_cuts is None:
        return []
    if isinstance(max_cuts, int | np.integer):
        return [_rule(cuts_above, max_cuts, max_cuts)]
    if cuts_above:
        raise ValueError(
            f"cuts_above={cuts_above!r} is for a single number of thresholds; max_cuts={max_cuts!r} has the "
            "weight of each of its own"
        )
    rules = sorted((_rule(*_pair(pair, max_cuts), max_cuts) for pair in max_cuts), reverse=True)
    if len({above for above, _ in rules}) < len(rules):
        raise ValueError(f"max_cuts must have each weight once; got {max_cuts!r}")
    return rules


def _pair(pair: object, given: object) -> tuple[object, object]:
    entries = tuple(pair) if isinstance(pair, Sequence | np.ndarray) else ()
    if len(entries) != 2:
        raise ValueError(f"max_cuts must be a number, pairs of a weight and a number, or None; got {given!r}")
    return entries[0], entries[1]


def _rule(above: object, cuts: object, given: object) -> tuple[float, int]:
    whole = isinstance(cuts, int | np.integer) and not isinstance(cuts, bool)
    number = isinstance(above, int | float | np.number) and 0 <= float(above) < np.inf
    if not whole or not number or int(cuts) < 1:  # type: ignore[call-overload]
        raise ValueError(
            f"max_cuts must be at least 1 threshold, in nodes above a weight of zero or more; got {given!r}"
        )
    return float(above), int(cuts)  # type: ignore[arg-type, call-overload]
