"""What chapter 2 of Nan's thesis claims, and whether our page agrees; read off the page's own figures."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from experiments.lib.claims import claim
from experiments.lib.stored_pages import tables

SAYS: Final = re.compile(
    r"above the random order at (\d+) of the (\d+) numbers .* "
    r"ours is so at (\d+) of these (\d+) numbers of features, by ([+-][\d.]+) on average"
)
CLOSE: Final = 0.005  # an estimate may be off by so much more than the thesis's
SAME: Final = 0.02  # accuracies that differ by no more count as the same


def claims_22(title: str, first: int, says: str) -> list[str]:
    """Return the claims of figure 2.2 on one table, from the sentence below it.

    Parameters
    ----------
    title : str
        The table.
    first : int
        From how many features on the thesis has FMCC above VoC.
    says : str
        What `findings` of the experiment says.
    """
    found = SAYS.search(says)
    if found is None:
        raise ValueError(f"The page does not say how FMCC stands on {title}: run it anew.")
    above, below_all, ahead, n, lead = found.groups()
    return [
        claim(
            f"Figure 2.2, {title}: FMCC is above the random order",
            f"at {above} of {below_all} numbers of features",
            above == below_all,
        ),
        claim(
            f"Figure 2.2, {title}: FMCC is above VoC from {first} features on",
            f"at {ahead} of {n} numbers of features, by {lead} on average",
            ahead == n,
        ),
    ]


def claims_21(text: str) -> list[str]:
    """Return the claims of table 2.1, from the table in Markdown."""
    (table,) = tables(text)
    rows = {(row[0], row[1]): np.array(list(map(float, row[2:]))) for row in table.rows}
    at = np.array(list(map(int, table.header[2:])))
    sizes = dict.fromkeys(size for size, _ in rows)
    found = []
    for size in sizes:
        off, theirs = (
            np.abs(rows[size, f"estimated, {who}"] - rows[size, f"actual, {who}"]).mean()
            for who in ("ours", "thesis")
        )
        said = f"Table 2.1, {size} neighbours: the estimate is off by {theirs:.3f} on average"
        found.append(claim(said, f"by {off:.3f}", bool(off <= theirs + CLOSE)))
    actual, theirs_actual = (
        np.array([rows[size, f"actual, {who}"] for size in sizes]) for who in ("ours", "thesis")
    )
    apart, theirs_apart = (float(np.ptp(of, axis=0).max()) for of in (actual, theirs_actual))
    lead = (actual - theirs_actual).mean(axis=0)
    return [
        *found,
        claim(
            f"Table 2.1: numbers of neighbours change the accuracy by at most {theirs_apart:.3f}",
            f"by at most {apart:.3f}",
            apart <= theirs_apart,
        ),
        claim(
            "Table 2.1: the accuracies themselves",
            f"ours less the thesis's is {lead[at <= 15].mean():+.3f} up to 15 features and "
            f"{lead[at > 15].mean():+.3f} from 20 on, on average",
            bool(np.abs(lead).max() <= SAME),
        ),
    ]
