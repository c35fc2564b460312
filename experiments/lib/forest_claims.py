"""What chapters 3 and 4 of Nan's thesis claim, and whether the tables of our page agree.

Claims are read off the page's own tables, so that they can be made again without a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from experiments.lib.claims import claim
from experiments.lib.pages import markdown
from experiments.lib.stored_pages import tables

Points = Sequence[tuple[float, float]]

NEAR: Final = 0.005  # errors that differ by no more count as close
FLAT: Final = (
    0.02  # an error that falls by no more hardly falls; the published curves fall by 0.013 and 0.015
)
STANDING: Final = re.compile(
    r"- ([\w ]+): better by more than a standard error at (\d+) of (\d+) budgets, "
    r"worse by more than one at (\d+)"
)
ALPHA_ZERO, CHOSEN, ENTROPY = "ours: BudgetRF, all thresholds", "ours: BudgetRF, chosen", "ours: RF(entropy)"


def growth_claims(name: str, text: str) -> list[str]:
    """Compare BudgetRF with random forests of 40 trees: table 3.1."""
    rows = {row[0]: row[-1] for row in tables(text)[0].rows}

    def share_and_error(row: str) -> tuple[float, float]:
        share, error = re.findall(r"[\d.]+", rows[row])
        return float(share), float(error)

    plain, plain_error = share_and_error(ENTROPY)
    share, error = share_and_error(ALPHA_ZERO)
    picked, picked_error = share_and_error(CHOSEN)
    return [
        claim(
            f"Table 3.1, {name}: BudgetRF uses fewer features than a random forest",
            f"{share:.2f} % against {plain:.2f} %",
            share < plain,
        ),
        claim(
            f"Table 3.1, {name}: its error is close to the random forest's, or below it",
            f"{error:.4f} against {plain_error:.4f}",
            error <= plain_error + NEAR,
        ),
        claim(
            f"The same of the BudgetRF chosen on validation rows, an extension of ours ({name})",
            f"{picked:.2f} % of the features at {picked_error:.4f}",
            picked < plain and picked_error <= plain_error + NEAR,
        ),
    ]


def rival_claims(text: str) -> list[str]:
    """Compare BudgetRF, the Greedy Miser, ASTC and CSTC: figure 3.3."""
    mini, large = ({row[0]: _errors(row[1:]) for row in table.rows} for table in tables(text)[:2])
    return [
        _below("miniboone_tiny", mini, "BudgetRF", "ASTC"),
        _below("miniboone_tiny", mini, "BudgetRF", "CSTC"),
        _level("miniboone_tiny", mini),
        _below("miniboone_tiny", mini, "ASTC", "CSTC"),
        _below("covtype", large, "BudgetRF", "ASTC"),
        _below("covtype", large, "BudgetRF", "CSTC"),
        _below("covtype", large, "BudgetRF", "Greedy Miser"),
        _below("covtype", large, "ASTC", "CSTC"),
        *(_flat(large, method) for method in ("ASTC", "CSTC")),
        *(_ends_below(large, method) for method in ("ASTC", "CSTC")),
    ]


def _errors(cells: Sequence[str]) -> NDArray[np.float64]:
    return np.array([float(cell or "nan") for cell in cells])


def _below(table: str, errors: Mapping[str, NDArray[np.float64]], better: str, worse: str) -> str:
    """Return the claim that one method errs less than another at every cost."""
    apart = (errors[better] - errors[worse])[np.isfinite(errors[better]) & np.isfinite(errors[worse])]
    return claim(
        f"Figure 3.3, {table}: {better} errs less than {worse} at every cost",
        f"at {int((apart < 0).sum())} of {len(apart)} budgets, by {-apart.mean():+.3f} on average",
        bool((apart < 0).all()),
    )


def _level(table: str, errors: Mapping[str, NDArray[np.float64]]) -> str:
    apart = errors["BudgetRF"] - errors["Greedy Miser"]
    apart = apart[np.isfinite(apart)]
    return claim(
        f"Figure 3.3, {table}: BudgetRF and the Greedy Miser are about level",
        f"BudgetRF has the lower error at {int((apart < 0).sum())} of {len(apart)} budgets, and is apart by "
        f"{np.abs(apart).mean():.3f} on average",
        bool(np.abs(apart).mean() <= 2 * NEAR),
    )


def _flat(errors: Mapping[str, NDArray[np.float64]], method: str) -> str:
    known = errors[method][np.isfinite(errors[method])]
    return claim(
        f"Figure 3.3, covtype: the error of {method} hardly falls with the budget",
        f"from {known[0]:.3f} to {known[-1]:.3f}",
        bool(known[0] - known[-1] <= FLAT),
    )


def _ends_below(errors: Mapping[str, NDArray[np.float64]], method: str) -> str:
    ours, theirs = errors["Greedy Miser"][-1], errors[method][-1]
    return claim(
        f"Figure 3.3, covtype: at the largest budget the Greedy Miser errs less than {method}",
        f"{ours:.3f} against {theirs:.3f}",
        bool(ours < theirs),
    )


def early_claims(name: str, text: str) -> list[str]:
    """Compare BudgetPrune with the rivals of figure 4.3 that have one seed."""
    rows = {row[0]: row[1:] for row in tables(text)[0].rows}
    ours = _errors([cell.partition(" ")[0] for cell in rows.pop("BudgetPrune")])
    lines = []
    for rival, cells in rows.items():
        apart = ours - _errors(cells)
        apart = apart[np.isfinite(apart)]
        lines.append(
            claim(
                f"Figure 4.3, {name}: BudgetPrune is no worse than {rival}",
                f"better at {int((apart < 0).sum())} of {len(apart)} budgets, worse at "
                f"{int((apart > 0).sum())}; one seed of the rival",
                bool((apart <= 0).all()),
            )
        )
    return lines


def pruning_claims(figure: str, name: str, text: str) -> list[str]:
    """Compare BudgetPrune with its rivals, from the lines of `verdict`."""
    return [
        claim(
            f"{figure}, {name}: BudgetPrune is no worse than {rival}",
            f"better at {better} of {n} budgets, worse at {worse}",
            int(worse) == 0,
        )
        for rival, better, n, worse in STANDING.findall(text)
    ]


def subset_claims(text: str) -> list[str]:
    """Compare BudgetPrune with its rivals by the features per split: figure 4.6, on another table."""
    parts = dict(re.findall(r"BudgetPrune at (\d+) features per split against\n\n((?:- .*\n?)+)", text))
    lines = []
    for k, word in (("20", "very well"), ("120", "poorly")):
        found = {rival: tuple(map(int, counts)) for rival, *counts in STANDING.findall(parts[k])}
        better, n, worse = found["GreedyPrune"]
        lines.append(
            claim(
                f"Figure 4.6, {k} features per split: GreedyPrune does {word}",
                f"BudgetPrune is better at {better} of {n} budgets and worse at {worse}",
                worse >= better if word == "very well" else better > n / 2,
            )
        )
        lines += pruning_claims("Figure 4.6", f"{k} features per split", parts[k].partition("- Greedy")[0])
    return lines


def usage_claims(text: str) -> list[str]:
    """Compare what pruning saves at nearly the same error: table 4.1."""
    costs, errors = (
        [float(cell.rstrip(" %")) for cell in tables(text)[0].column(name)] for name in ("cost", "error")
    )
    theirs, ours = (1 - after / before for before, after in (costs[:2], costs[2:]))
    return [
        claim(
            f"Table 4.1: pruning saves {theirs:.0%} of the cost at an error "
            f"{errors[1] - errors[0]:.1f} points higher",
            f"{ours:.0%} at {errors[3] - errors[2]:+.1f} points",
            abs(ours - theirs) <= 0.1 and errors[3] - errors[2] <= 0.2,
        )
    ]


def tree_halves(curves: Mapping[str, Points]) -> tuple[float, float]:
    """Return by how much threshold-Pairs errs more than Powers, at small max-costs and at large ones.

    Parameters
    ----------
    curves : mapping of str to points
        Max-costs and errors of single trees, as `tree_curves` gives them.

    Returns
    -------
    tuple of float
        Means over the max-costs up to half of the largest at which some tree errs, and over the others.
        Powers is the mean over its powers. A max-cost counts if every method has a tree within it.

    Examples
    --------
    >>> pairs, powers = [(1.0, 0.25), (3.0, 0.25), (4.0, 0.0)], [(1.0, 0.5), (2.0, 0.0)]
    >>> tree_halves({"threshold-pairs": pairs, "powers, l = 2": powers})
    (-0.25, 0.25)
    """
    largest = max(cost for points in curves.values() for cost, error in points if error > 0)
    costs = np.arange(1.0, largest + 1)
    pairs = _within(curves["threshold-pairs"], costs)
    powers = np.mean([_within(of, costs) for name, of in curves.items() if "powers" in name], axis=0)
    small = costs <= largest / 2
    apart = pairs - powers
    return float(np.nanmean(apart[small])), float(np.nanmean(apart[~small]))


def _within(points: Points, costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least error of the trees within each max-cost, NaN where there is none."""
    least = [min((error for cost, error in points if cost <= most), default=np.nan) for most in costs]
    return np.array(least)


def tree_table(halves: Mapping[str, tuple[float, float]]) -> str:
    """Return the differences of figure 3.4 by table."""
    rows = [[name, f"{small:+.4f}", f"{large:+.4f}"] for name, (small, large) in halves.items()]
    return markdown(["Pairs less Powers, mean error", "small max-costs", "large max-costs"], rows)


def tree_claims(text: str) -> list[str]:
    """Compare threshold-Pairs with Powers: figure 3.4."""
    if not tables(text):
        return []
    small, large = (
        np.array(list(map(float, column))) for column in list(zip(*tables(text)[0].rows, strict=True))[1:]
    )
    n = len(small)
    below, above = int((small < 0).sum()), int((large > 0).sum())
    return [
        claim(
            "Figure 3.4: Pairs errs less than Powers at small max-costs, in many cases",
            f"on {below} of {n} tables",
            below > n / 2,
        ),
        claim("Figure 3.4: Powers errs less at large ones", f"on {above} of {n} tables", above > n / 2),
    ]


def price_claims(text: str) -> list[str]:
    """Compare BudgetPrune and CCP when prices are no longer uniform: figure 4.4."""
    if not tables(text):
        return []
    rise = {row[0]: float(row[-1]) for row in tables(text)[0].rows}
    return [
        claim(
            "Figure 4.4: at prices by weight BudgetPrune errs as before, and CCP errs more",
            f"errors change by {rise['BudgetPrune']:+.4f} and {rise['CCP']:+.4f} on average over budgets",
            rise["BudgetPrune"] <= NEAR < rise["CCP"],
        )
    ]


def split_claims(text: str) -> list[str]:
    """Compare forests of entropy and of Pairs, whole and pruned: figure 4.5."""
    lines = []
    for row in tables(text)[0].rows:
        cost, pairs_cost, error, pairs_error = map(float, row[1:5])
        (low, n_low), (high, n_high), (behind, n) = (map(int, cell.split(" of ")) for cell in row[5:8])
        lines.append(
            claim(
                f"Figure 4.5, {row[0]}: forests of Pairs cost less, forests of entropy err less",
                f"costs {pairs_cost:.1f} against {cost:.1f}, errors {pairs_error:.4f} against {error:.4f}",
                pairs_cost < cost and error < pairs_error,
            )
        )
        if row[0] == "covtype":
            lines.append(
                claim(
                    "Figure 4.5, covtype: pruned, forests of Pairs err less where the cost is low",
                    f"at {low} of {n_low} budgets up to half of their cost, at {high} of {n_high} above",
                    low > n_low / 2,
                )
            )
        lines.append(
            claim(
                f"Figure 4.5, {row[0]}: of forests of Pairs BudgetPrune is no worse than CCP",
                f"worse at {behind} of {n} budgets",
                behind == 0,
            )
        )
    return lines
