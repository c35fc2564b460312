"""Audit a model: its mean spend by feature and by group, and how often it uses what it buys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, TreeModel, n_threads
from farthing.base.inputs import check_caps, check_weights
from farthing.costs import CostSheet, CostsLike
from farthing.forests import from_model
from farthing.learning.unordered import RecordJudgement, check_missing, judge_records
from farthing.report.drift import Drift, compare
from farthing.table import encode
from farthing.trees import Predictor, Progress

# Headings of the text table, where they differ from the names of the columns.
_WORDS: Final = {
    "cost": "price",
    "share": "bought by",
    "mean_cost": "mean cost",
    "mean_uses": "tests a row",
    "unused": "never",
}


@dataclass(frozen=True)
class Audit:
    """The spend of a model on a table.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    n_rows : int
        Number of rows of the table.
    mean : float
        Mean cost per row.
    quantiles : dict of float to float
        Quantiles of the cost per row, by level.
    share : ndarray of float64, shape (n_features,)
        Share of the rows that buy each feature.
    uses : ndarray of float64, shape (n_features,)
        How often a row tests each feature on average, over all trees. In a model that is not one sum of
        trees, what a row buys counts once.
    few : ndarray of float64, shape (n_features,)
        Share of the rows that test each feature at least once, but at most ``few_at_most`` times.
    many : ndarray of float64, shape (n_features,)
        Share of the rows that test each feature more often than that.
    few_at_most : int
        The boundary between the two.
    group_share : ndarray of float64, shape (n_groups,)
        Share of the rows that buy any feature of each group.
    spend_importances : ndarray of float64, shape (n_features,)
        The share of each feature in the mean spend; they sum to 1, unless nothing is spent. A shared cost is
        divided evenly among the members of its group that a row bought. What features explain is another
        question: see ``feature_importances_`` of models of trees.
    resources : dict of str to tuple of float
        What a row takes of each further resource: the mean and the maximum.
    records : RecordJudgement or None
        With ``missing="unordered"``: the estimates of spend and accuracy from what the records hold. All
        other figures are those of rows whose missing entries are paid for and missing.
    drift : Drift or None
        The comparison with what the model did at fit; None if it has no `reference_`.
    """

    sheet: CostSheet
    n_rows: int
    mean: float
    quantiles: dict[float, float]
    share: NDArray[np.float64]
    uses: NDArray[np.float64]
    few: NDArray[np.float64]
    many: NDArray[np.float64]
    few_at_most: int
    group_share: NDArray[np.float64]
    spend_importances: NDArray[np.float64]
    resources: dict[str, tuple[float, float]] = field(default_factory=dict)
    records: RecordJudgement | None = None
    drift: Drift | None = None

    def features(self) -> dict[str, list[Any]]:
        """Return one entry per feature, as columns by name, in the order of the sheet.

        ``mean_cost`` is the mean payment per row for the feature's own cost; shared costs of groups are in
        `groups`. Together they add up to ``mean``. ``unused``, ``used_1_to_7`` and ``used_over_7`` are the
        shares of rows that test the feature never, up to ``few_at_most`` times (7 by default), and more
        often.
        """
        names = [self.sheet.group_names[g] if g >= 0 else "" for g in self.sheet.group_of]
        return {
            "feature": list(self.sheet.features),
            "group": names,
            "cost": self.sheet.own.tolist(),
            "share": self.share.tolist(),
            "mean_cost": (self.sheet.own * self.share).tolist(),
            "mean_uses": self.uses.tolist(),
            "unused": (1 - self.share).tolist(),
            f"used_1_to_{self.few_at_most}": self.few.tolist(),
            f"used_over_{self.few_at_most}": self.many.tolist(),
        }

    def groups(self) -> dict[str, list[Any]]:
        """Return one entry per group, as columns by name."""
        return {
            "group": list(self.sheet.group_names),
            "cost": self.sheet.shared.tolist(),
            "share": self.group_share.tolist(),
            "mean_cost": (self.sheet.shared * self.group_share).tolist(),
        }

    def to_frame(self) -> Any:
        """Return the features as a pandas frame, indexed by name."""
        return _frame(self.features(), "feature")

    def groups_frame(self) -> Any:
        """Return the groups as a pandas frame, indexed by name."""
        return _frame(self.groups(), "group")

    def __str__(self) -> str:
        unit = f" {self.sheet.unit}" if self.sheet.unit else ""
        heads = [f"mean cost {self.mean:.4g}{unit} over {self.n_rows} rows"]
        heads += [f"{100 * q:g} % of the rows at most {cost:.4g}{unit}" for q, cost in self.quantiles.items()]
        heads += [
            f"mean {average:.4g} {name}, at most {most:.4g}"
            for name, (average, most) in self.resources.items()
        ]
        explained = (
            "For each feature: its price, the share of rows that buy it, what that costs a row on average,\n"
            "how often a row tests it, and the shares of rows that test it never, up to "
            f"{self.few_at_most} times, and more often."
        )
        few = self.few_at_most
        words = {
            **_WORDS,
            f"used_1_to_{few}": f"1 to {few} times",
            f"used_over_{few}": f"over {few} times",
        }
        parts = ["\n".join(heads), explained, _table(self.features(), words, used_only="share")]
        if self.sheet.group_names:
            parts.append("Shared costs of groups:\n" + _table(self.groups(), words, used_only="share"))
        if self.drift is not None:
            parts.insert(0, str(self.drift))
        if self.records is not None:
            parts.insert(0, f"{self.records}\n\nIf missing entries were paid for and missing:")
        return "\n\n".join(parts)


def audit(
    model: Any,
    X: Any,
    costs: CostsLike = None,
    *,
    quantiles: Sequence[float] = (0.1, 0.5, 0.9, 1.0),
    few_at_most: int = 7,
    sample_weight: Any = None,
    y: Any = None,
    missing: str = "measured",
    n_jobs: int | None = None,
) -> Audit:
    """Measure what a model spends on a table, on what, and how often it uses what it buys.

    Parameters
    ----------
    model : estimator
        A fitted model of Farthing, or anything that `from_model` takes.
    X : array, frame or PreparedTable, shape (n_rows, n_features)
        The rows.
    costs : CostSheet, mapping, array, Series, path or None
        Prices to use; None means the model's own. They do not change what the model buys.
    quantiles : sequence of float
        Levels of the quantiles of the cost per row.
    few_at_most : int
        Maximum number of tests of a feature by one row that counts as few; 7 in table 4.1 of Nan's thesis.
    sample_weight : array, shape (n_rows,), optional
        Weight of each row in means and shares; quantiles are over rows.
    y : array, shape (n_rows,), optional
        The truth, to compare the calibration with that at fit, and for the estimate of the accuracy with
        ``missing="unordered"``.
    missing : {"measured", "unordered"}
        What a missing entry means: that it was measured and is missing, or that nobody ordered the test. Then
        the spend and the accuracy that the model would have are estimated from the records; see
        `farthing.learning.unordered.estimates` for the formulas and what they need to be right.
    n_jobs : int, optional
        Threads, as in joblib.

    Returns
    -------
    Audit
        Print it, or call its `to_frame`.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.forests import BudgetTreeClassifier
    >>> heart = load_heart_disease()
    >>> tree = BudgetTreeClassifier(costs=heart.costs, max_depth=2).fit(heart.X, heart.y)
    >>> print(audit(tree, heart.X, quantiles=[1.0]))  # doctest: +ELLIPSIS
    mean cost ... over 303 rows
    100 % of the rows at most ...
    """
    if not isinstance(model, BudgetedEstimator):
        model = from_model(model)
    reference = model.reference_
    records = judge_records(model, X, y) if check_missing(missing) else None
    # Other prices change the account, not the model: it still buys as its own prices made it learn to.
    sheet = own = model.fitted_.costs
    if costs is not None:
        sheet = CostSheet.of(costs, own.features[: own.n_columns]).with_calls(own.call_prices())
    acquired = model.acquired(X)
    spent = sheet.total_rows(acquired)
    uses = _uses(model, X, acquired, n_threads(n_jobs))
    # A group is paid once per row, however many of its features the row buys.
    of_groups = [acquired[:, sheet.group_of == g].any(axis=1) for g in range(len(sheet.shared))]
    weights = None if sample_weight is None else check_weights(sample_weight, len(spent))

    def mean(of_rows: NDArray[Any]) -> Any:
        return np.average(of_rows, axis=0, weights=weights)

    paid = mean(_paid(sheet, acquired))

    return Audit(
        sheet=sheet,
        n_rows=len(spent),
        mean=float(mean(spent)),
        # inverted_cdf gives a cost that some row pays, not one interpolated between two.
        quantiles={float(q): float(np.quantile(spent, q, method="inverted_cdf")) for q in quantiles},
        share=mean(acquired),
        uses=mean(uses),
        few=mean((uses > 0) & (uses <= few_at_most)),
        many=mean(uses > few_at_most),
        few_at_most=few_at_most,
        group_share=np.array([mean(bought) for bought in of_groups], dtype=np.float64),
        spend_importances=paid / paid.sum() if paid.sum() > 0 else paid,
        resources={
            name: (float(mean(taken)), float(taken.max(initial=0.0)))
            for name, taken in ((name, each.total_rows(acquired)) for name, each in sheet.resources.items())
        },
        records=records,
        drift=None if reference is None else compare(model, model.behaviour(X, y), reference),
    )


def _paid(sheet: CostSheet, acquired: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what rows pay for each feature, with its part of shared costs, shape (n_rows, n_features)."""
    paid = acquired * sheet.own
    for place, cost in enumerate(sheet.shared):
        members = acquired & (sheet.group_of == place)
        paid += members * (cost / np.maximum(members.sum(axis=1, keepdims=True), 1))
    return paid


def _uses(model: BudgetedEstimator, X: Any, acquired: NDArray[np.bool_], threads: int) -> NDArray[np.float64]:
    """Return how often each row tests each feature that it bought, shape (n_rows, n_features)."""
    fitted = model.fitted_
    if not isinstance(fitted, TreeModel) or not fitted.is_one_sum:
        return acquired.astype(np.float64)
    values = encode(fitted.schema, X, needed=fitted.may_buy()).values
    budget = check_caps(fitted.budget, len(values))
    forest = fitted.forest
    # Under a budget, what one tree buys leaves less for the next, so all trees are counted in one pass.
    parts = [forest] if budget is not None else [forest.trees(t, t + 1) for t in range(forest.n_trees)]
    # A call is made once.
    total = acquired.astype(np.float64)
    total[:, : forest.n_features] = 0.0
    for part in parts:
        # The same tree with the number of tests above each node in place of its value.
        counter = replace(
            part,
            n_outputs=part.n_features,
            target=np.zeros(part.n_trees, dtype=np.int64),
            node_values=part.tests(),
        )
        ready = Predictor(counter)
        if budget is not None and fitted.costs.calls:
            progress = Progress(values, counter.n_outputs, fitted.costs, budget=budget, n_threads=threads)
            rows, call = np.arange(len(values)), fitted.costs.n_columns
            ready.advance_paid(progress, 0, counter.n_trees, rows, call)
            counts = progress.outputs
        else:
            counts, _ = ready.predict(values, sheet=fitted.costs, budget=budget, n_threads=threads)
        total[:, : forest.n_features] += counts
    # A test that the budget refused has no value behind it, so it does not count as a use.
    return np.where(acquired, total, 0.0)


def _frame(columns: dict[str, list[Any]], index: str) -> Any:
    try:
        import pandas as pd  # noqa: PLC0415 - accepted, not required
    except ImportError as error:
        raise ImportError(
            "a frame needs pandas: pip install pandas; features() and groups() do not"
        ) from error
    return pd.DataFrame(columns).set_index(index)


def _table(columns: dict[str, list[Any]], words: Mapping[str, str], used_only: str) -> str:
    """Return columns as text, the most used rows first, those never used left out."""
    order = sorted(range(len(columns[used_only])), key=lambda i: -columns[used_only][i])
    rows = [[words.get(name, name) for name in columns]]
    for i in order:
        if columns[used_only][i] > 0:
            rows.append([_cell(name, column[i]) for name, column in columns.items()])
    widths = [max(len(row[c]) for row in rows) for c in range(len(columns))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if name in ("feature", "group") else cell.rjust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        ).rstrip()
        for row in rows
    )


def _cell(name: str, entry: Any) -> str:
    if isinstance(entry, str):
        return entry
    if name == "share" or name.startswith(("unused", "used")):
        return f"{100 * entry:.1f} %"
    return f"{entry:.4g}"
