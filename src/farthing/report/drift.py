"""Drift: whether a model behaves on new rows as it did at fit, by tests with a stated rate of false alarms.

Each comparison is Pearson's test of two samples of counts (homogeneity, chi-squared): spends by bin, rows
that buy each feature, answers by bin, predicted labels, and right predictions by confidence. Bins come from
the rows at fit. Cells that are expected to hold fewer than 5 rows of either sample are merged with their
neighbours. A drift is reported where the p-value is below the rate of false alarms over the number of
comparisons (Bonferroni), so that rows like those at fit raise any alarm with at most about that probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy.stats import chi2

from farthing.base import Behaviour, BudgetedEstimator, Reference
from farthing.typing import Floats, Integers

#: The probability of any alarm on rows like those at fit.
FALSE_ALARMS: Final = 0.05
# The least expected count of a cell, after Cochran (1954).
_LEAST: Final = 5.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of new rows with those at fit.

    Attributes
    ----------
    what : str
        ``"spend"``, ``"purchases of x"``, ``"answers of x"``, ``"labels"`` or ``"calibration"``.
    p_value : float
        How likely so large a difference is without a drift.
    before, after : float
        A figure that shows it: mean spend, share of rows that buy, share of the bin that changed most, share
        of the label that changed most, share of right predictions.
    """

    what: str
    p_value: float
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Drift:
    """The comparison of new rows with those at fit.

    Attributes
    ----------
    n_before, n_after : int
        Rows at fit, and new ones.
    level : float
        The probability of any alarm without a drift.
    comparisons : tuple of Comparison
        All of them, the smallest p-value first.
    without_labels : bool
        Whether the calibration was left out, since labels are lacking at fit or now.
    """

    n_before: int
    n_after: int
    level: float
    comparisons: tuple[Comparison, ...]
    without_labels: bool

    @property
    def alarms(self) -> tuple[Comparison, ...]:
        """The comparisons that differ."""
        limit = self.level / max(len(self.comparisons), 1)
        return tuple(one for one in self.comparisons if one.p_value < limit)

    @property
    def found(self) -> bool:
        """Whether there is a drift."""
        return bool(self.alarms)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "found": self.found,
            "rows_at_fit": self.n_before,
            "rows": self.n_after,
            "false_alarms": self.level,
            "comparisons": len(self.comparisons),
            "alarms": [
                {"what": one.what, "p_value": one.p_value, "before": one.before, "after": one.after}
                for one in self.alarms
            ],
            "without_labels": self.without_labels,
            "text": str(self),
        }

    def __str__(self) -> str:
        rows = f"{self.n_after} rows against {self.n_before} at fit, {len(self.comparisons)} comparisons"
        rate = f"rows like those at fit raise an alarm in at most about {100 * self.level:g} % of audits"
        note = " Calibration is not compared: labels are lacking." if self.without_labels else ""
        if not self.found:
            return f"No drift found ({rows}; {rate}).{note}"
        lines = [f"  {one.what}: {one.before:.4g} at fit, {one.after:.4g} now (p = {one.p_value:.1g})"
                 for one in self.alarms]  # fmt: skip
        return "\n".join(
            [f"Drift: the model does not behave as it did at fit ({rows}; {rate}).{note}", *lines]
        )


def compare(
    model: BudgetedEstimator, behaviour: Behaviour, reference: Reference, level: float = FALSE_ALARMS
) -> Drift:
    """Compare what a model does on new rows with what it did at fit.

    Parameters
    ----------
    model : estimator
        The model, for the names of features and classes.
    behaviour : Behaviour
        What it does on new rows.
    reference : Reference
        What it did at fit.
    level : float
        The probability of any alarm without a drift.
    """
    now = behaviour.counted(reference.spend_edges, reference.answer_edges)
    n_before, n_after = reference.n_rows, now.n_rows
    names = model.fitted_.costs.features
    found = []

    def add(what: str, before: Integers, after: Integers, figures: tuple[float, float] | None = None) -> None:
        p_value = homogeneity(before, after)
        if p_value is not None:
            found.append(Comparison(what, p_value, *(figures or _most_changed(before, after))))

    add("spend", reference.spends, now.spends, (reference.mean_spend, now.mean_spend))
    for place, name in enumerate(names):
        pairs = [np.array([c.bought[place], c.n_rows - c.bought[place]]) for c in (reference, now)]
        add(f"purchases of {name}", pairs[0], pairs[1],
            (reference.bought[place] / n_before, now.bought[place] / n_after))  # fmt: skip
    for place in range(len(reference.answers)):
        add(f"answers of {names[place]}", reference.answers[place], now.answers[place])
    if len(reference.said):
        add("labels", reference.said, now.said)
    labelled = reference.has_labels and now.has_labels
    if labelled:
        figures = (reference.right.sum() / reference.confident.sum(), now.right.sum() / now.confident.sum())
        p_value = _calibration(reference, now)
        if p_value is not None:
            found.append(Comparison("calibration", p_value, *map(float, figures)))
    return Drift(
        n_before,
        n_after,
        level,
        tuple(sorted(found, key=lambda one: one.p_value)),
        bool(len(reference.said)) and not labelled,
    )


def homogeneity(before: Integers, after: Integers) -> float | None:
    """Return the p-value of Pearson's test that two counts have one distribution; None if they say nothing.

    Examples
    --------
    >>> round(homogeneity(np.array([50, 50]), np.array([80, 20])), 5)
    1e-05
    """
    cells = _merged(before.astype(np.float64), after.astype(np.float64))
    if cells.shape[1] < 2:
        return None
    totals = cells.sum(axis=1, keepdims=True)
    expected = totals * cells.sum(axis=0) / cells.sum()
    return float(chi2.sf(np.sum((cells - expected) ** 2 / expected), cells.shape[1] - 1))


def _merged(before: Floats, after: Floats) -> Floats:
    """Merge neighbouring cells until each is expected to hold enough of both samples, shape (2, n_cells)."""
    whole = before.sum() + after.sum()
    if not (before.sum() and after.sum()):
        return np.empty((2, 0))
    share = min(before.sum(), after.sum()) / whole
    cells: list[Floats] = []
    open_cell = np.zeros(2)
    for pair in np.column_stack([before, after]):
        open_cell = open_cell + pair
        if open_cell.sum() * share >= _LEAST:
            cells.append(open_cell)
            open_cell = np.zeros(2)
    if cells:
        cells[-1] = cells[-1] + open_cell
    return np.array(cells).reshape(-1, 2).T


def _calibration(before: Reference, now: Reference) -> float | None:
    """Return the p-value that predictions of the same confidence are right as often as at fit."""
    statistic, n_bins = 0.0, 0
    for one, other, right, also in zip(before.confident, now.confident, before.right, now.right, strict=True):
        rate = (right + also) / max(one + other, 1)
        variance = rate * (1 - rate) * (1 / max(one, 1) + 1 / max(other, 1))
        # Enough rows that were right, and wrong, in the smaller sample.
        if min(one, other) * min(rate, 1 - rate) >= _LEAST:
            statistic += (right / one - also / other) ** 2 / variance
            n_bins += 1
    return float(chi2.sf(statistic, n_bins)) if n_bins else None


def _most_changed(before: Integers, after: Integers) -> tuple[float, float]:
    """Return the shares of the cell that changed most."""
    first, second = before / max(before.sum(), 1), after / max(after.sum(), 1)
    place = int(np.argmax(np.abs(first - second)))
    return float(first[place]), float(second[place])
