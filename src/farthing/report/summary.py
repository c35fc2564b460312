"""The content of the report as values."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from farthing.base.score_words import ScoreWords
from farthing.costs import spending_limit
from farthing.errors import BudgetWarning
from farthing.frontier import Frontier, Point
from farthing.frontier.budgeted_base import BudgetedBase
from farthing.frontier.data_split import SweepRows
from farthing.labels import FeatureLabel, Labels
from farthing.report.audit import audit
from farthing.report.held_out import HeldOut, hold_out
from farthing.report.report_run import ACCOUNT, ReportRun
from farthing.typing import Floats, Integers

SHARES: Final = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_BINS: Final = 10
# Rows of which the purchases are counted under a time limit.
_MOST_ROWS: Final = 5000


@dataclass(frozen=True)
class Purchase:
    """A feature of the price list, and how often it is bought."""

    feature: str
    group: str
    price: float  # bought alone, with its shared cost
    share: float  # of rows that buy it
    mean_cost: float  # own cost per row, on average


@dataclass(frozen=True)
class BudgetLine:
    """The best model within a budget, and which features its rows buy."""

    budget: float
    point: Point  # the score is NaN if it was not measured
    shares: tuple[float, ...]  # of rows that buy each feature, in the order of the price list

    @property
    def is_over(self) -> bool:
        """Whether even the cheapest variant of the fit spends more than the budget."""
        return bool(self.point.spend > spending_limit(self.budget))


@dataclass(frozen=True)
class Step:
    """One question of a walk."""

    feature: str
    answer: str
    price: float
    spent: float
    prediction: str


@dataclass(frozen=True)
class WalkTrace:
    """The walk of one row from the first question to the decision."""

    title: str
    prior: str
    steps: tuple[Step, ...]
    decision: str
    truth: str
    spent: float


@dataclass(frozen=True)
class Calibration:
    """Accuracy of the predicted label by its predicted probability, on held-out rows."""

    predicted: tuple[float, ...]
    observed: tuple[float, ...]
    counts: tuple[float, ...]  # of rows, or their weight


@dataclass(frozen=True, eq=False)
class Summary:
    """The content of the report.

    Attributes
    ----------
    title, target, method, unit, score_name : str
        Names.
    n_rows, n_features : int
        Size of the table.
    weight : float or None
        Total weight of the rows; None if they are not weighted.
    budget : float or None
        The budget that was set.
    kind : str
        "mean" or "hard".
    frontier : Frontier
        All points.
    chosen : Point
        The model.
    full : Point
        The point with the highest mean spend.
    lines : tuple of BudgetLine
        The table of budgets.
    purchases : tuple of Purchase
        The price list, with how often the chosen model buys each feature.
    group_costs : tuple of (name, shared cost, mean cost per row)
        The groups.
    classes : tuple of str
        Labels; empty for a regressor.
    confusion : ndarray, shape (n_classes, n_classes), or None
        Rows, or their weight, true by predicted, on held-out rows.
    calibration : Calibration or None
        None for a regressor.
    scatter : pair of ndarrays or None
        True and predicted values, on held-out rows.
    traces : tuple of WalkTrace
        Three walks.
    left_out : tuple of str
        Sentences on what the time limit did not allow.
    optimism : float
        What the score of the chosen model was corrected by, for having been chosen.
    spend_interval : pair of float or None
        95 % interval of the mean spend on new rows, from the spread over rows; None if it is guaranteed.
    certificate : str
        What is guaranteed on new rows; empty if nothing is.
    """

    title: str
    target: str
    method: str
    unit: str
    score_name: str
    n_rows: int
    n_features: int
    weight: float | None
    budget: float | None
    kind: str
    frontier: Frontier
    chosen: Point
    full: Point
    lines: tuple[BudgetLine, ...]
    purchases: tuple[Purchase, ...]
    group_costs: tuple[tuple[str, float, float], ...]
    classes: tuple[str, ...]
    confusion: Integers | Floats | None
    calibration: Calibration | None
    scatter: tuple[Floats, Floats] | None
    traces: tuple[WalkTrace, ...]
    left_out: tuple[str, ...] = ()
    optimism: float = 0.0
    spend_interval: tuple[float, float] | None = None
    certificate: str = ""

    @property
    def words(self) -> ScoreWords:
        """How to show the scores."""
        return ScoreWords.of(self.score_name)

    def money(self, amount: float) -> str:
        """Return an amount as text; amounts of a hundred and more have no decimals."""
        return f"{amount:.0f}" if amount >= 100 or amount == 0 else f"{amount:.2f}"


def summarize(
    model: BudgetedBase,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    qid: Any = None,
    title: str = "",
    target: str = "target",
    run: ReportRun | None = None,
) -> Summary:
    """Gather the content of the report on a fitted `BudgetedClassifier` or `BudgetedRegressor`.

    The chosen model is fitted on folds, for calibration and confusion on held-out rows.

    Parameters
    ----------
    model : BudgetedClassifier or BudgetedRegressor
        Fitted, or loaded from a file.
    X : array or frame, shape (n_rows, n_features)
        The rows that it was fitted on.
    y : array, shape (n_rows,)
        Their target.
    sample_weight : array, shape (n_rows,), optional
        The weights that it was fitted with; every share, mean and count of the report has them.
    qid : array, shape (n_rows,), optional
        The query of each row, for a ranker.
    title, target : str
        Names for the page.
    run : ReportRun, optional
        The time for it; what it does not allow is left out.
    """
    check_is_fitted(model)
    run = ReportRun(model) if run is None else run
    rows = SweepRows.of(X, y, sample_weight, qid).by_class(getattr(model, "class_weight", None))
    with run.step(ACCOUNT):
        summary = _account(model, X, rows, run, title=title, target=target)
    # The model was fitted on these rows, so its own predictions would look too good.
    labels = model.classes_ if is_classifier(model) else np.array([])
    found = hold_out(model.model_, X, rows, labels, run)
    if found is not None:
        weights = None if rows.weights is None else rows.weights[found.rows]
        summary = replace(summary, **_judged(found, rows.y[found.rows], labels, weights))
    return replace(summary, left_out=tuple(run.left_out))


def _account(
    model: BudgetedBase, X: Any, rows: SweepRows, run: ReportRun, *, title: str, target: str
) -> Summary:
    """Return the summary without what takes fits."""
    n_rows, truth, weights = len(rows.y), rows.y, rows.weights
    total = None if weights is None else float(weights.sum())
    if run.folds_end is not None and n_rows > _MOST_ROWS:
        some = np.sort(np.random.default_rng(0).choice(n_rows, _MOST_ROWS, replace=False))
        X, truth = _safe_indexing(X, some), truth[some]
        weights = None if weights is None else weights[some]
        run.left_out.append(f"Purchases and examples are those of {_MOST_ROWS} rows, drawn at random.")
    frontier, chosen, sheet = model.frontier_, model.chosen_, model.costs_
    account = audit(model.model_, X, sample_weight=weights)
    names = [sheet.group_names[g] if g >= 0 else "" for g in sheet.group_of]
    labels = model.labels_
    return Summary(
        title=title or f"{target} on a budget",
        target=target,
        method=str(chosen),
        unit=sheet.unit or "",
        score_name=frontier.score_name,
        n_rows=n_rows,
        n_features=sheet.n_columns,
        weight=total,
        budget=_asked(model),
        kind=model.budget_kind,
        frontier=frontier,
        chosen=chosen,
        full=max(frontier.points, key=lambda point: (point.spend, point.score)),
        lines=tuple(_line(budget, model, X, weights) for budget in _budgets(model)),
        purchases=tuple(
            Purchase(labels.title_of(name), group, sheet.price(name), float(share), float(own * share))
            for name, group, share, own in zip(sheet.features, names, account.share, sheet.own, strict=True)
        ),
        group_costs=tuple(
            (name, float(cost), float(cost * share))
            for name, cost, share in zip(sheet.group_names, sheet.shared, account.group_share, strict=True)
        ),
        classes=tuple(map(labels.class_name, model.classes_.tolist())) if is_classifier(model) else (),
        confusion=None,
        calibration=None,
        scatter=None,
        traces=_traces(model, X, truth),
        optimism=float(model.optimism_),
        spend_interval=_spend_interval(model, X, weights),
        certificate="" if model.certificate_ is None else str(model.certificate_),
    )


def _spend_interval(model: BudgetedBase, X: Any, weights: Floats | None) -> tuple[float, float] | None:
    """Return the 95 % interval of the mean spend on new rows; None if it is guaranteed, or not estimated."""
    mean, growth = model.chosen_.spend, float(model.growth_)
    if model.certificate_ is not None or math.isnan(mean):
        return None
    spent = model.spend(X)
    about = float(np.average(spent, weights=weights))
    share = np.full(len(spent), 1 / len(spent)) if weights is None else weights / weights.sum()
    # Of a weighted mean; one row more or less does not matter.
    error = growth * float(np.sqrt(np.sum(share**2 * (spent - about) ** 2)))
    return max(0.0, mean - 1.96 * error), mean + 1.96 * error


def _judged(
    found: HeldOut, truth: NDArray[Any], labels: NDArray[Any], weights: Floats | None
) -> dict[str, Any]:
    """Return the fields of the summary that compare predictions of held-out rows with the truth."""
    if not len(labels):
        return {"scatter": (truth.astype(np.float64), found.predicted[:, 0])}
    return {
        "confusion": _confusion(labels, truth, found.predicted, weights),
        "calibration": _calibration(labels, truth, found.predicted, weights) if len(labels) > 1 else None,
    }


def _asked(model: BudgetedBase) -> float | None:
    from farthing.frontier.budget_amount import budget_of  # noqa: PLC0415 - used here only

    return budget_of(model.budget, model.costs_)


def _line(budget: float, model: BudgetedBase, X: Any, weights: Floats | None) -> BudgetLine:
    """Return what the model does at another budget: figures and purchases of one and the same model."""
    if model.budget_kind == "hard" and budget == _asked(model):
        return BudgetLine(budget, model.chosen_, _shares(model.acquired(X), weights))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)  # the line shows what the cheapest variant spends
        other = model.at(budget)
    point, decided = other.chosen_, other.decide(X)
    if math.isnan(point.spend):  # of a hard budget, at which nothing was held out
        mean = float(np.average(decided.spent, weights=weights))
        point = replace(point, spend=mean, max_spend=float(decided.spent.max()))
    return BudgetLine(budget, point, _shares(decided.acquired, weights))


def _shares(acquired: NDArray[np.bool_], weights: Floats | None) -> tuple[float, ...]:
    return tuple(np.average(acquired, axis=0, weights=weights).tolist())


def _budgets(model: BudgetedBase) -> list[float]:
    """Return the budgets of the table; none above a hard one, which caps every model of the sweep."""
    budgets = [share * model.frontier_.full_cost for share in SHARES]
    own = _asked(model)
    if model.budget_kind == "hard" and own is not None:
        return [budget for budget in budgets if budget < own] + [own]
    return budgets


def _confusion(
    labels: NDArray[Any], y: NDArray[Any], predicted: Floats, weights: Floats | None
) -> Integers | Floats:
    pairs = np.searchsorted(labels, y) * len(labels) + np.argmax(predicted, axis=1)
    # Whole numbers if there are no weights.
    return np.bincount(pairs, weights, len(labels) ** 2).reshape(len(labels), len(labels))


def _calibration(
    labels: NDArray[Any], y: NDArray[Any], predicted: Floats, weights: Floats | None
) -> Calibration:
    """Bin the probability of the predicted label, and compute the accuracy in each bin."""
    top = predicted.max(axis=1)
    right = labels[np.argmax(predicted, axis=1)] == y
    # The top probability lies between 1 / n_classes and 1; bins cover that range only.
    low = 1 / predicted.shape[1]
    places = np.minimum(((top - low) / (1 - low) * _BINS).astype(int), _BINS - 1)
    counts = np.bincount(places, weights, _BINS)
    filled = np.flatnonzero(counts)

    def means(values: NDArray[Any]) -> tuple[float, ...]:
        factors = values if weights is None else values * weights
        return tuple((np.bincount(places, factors, _BINS)[filled] / counts[filled]).tolist())

    return Calibration(means(top), means(right), tuple(counts[filled].tolist()))


def _traces(model: BudgetedBase, X: Any, y: NDArray[Any]) -> tuple[WalkTrace, ...]:
    """Walk the rows with the least, the median and the highest spend."""
    spend = model.spend(X)
    order = np.argsort(spend, kind="stable")
    # The same row may be two of the three; it is shown once.
    rows = dict.fromkeys([int(order[0]), int(order[len(order) // 2]), int(order[-1])])
    titles = ("Row with the lowest spend", "Row with the median spend", "Row with the highest spend")
    return tuple(_trace(title, model, X, row, y[row]) for title, row in zip(titles, rows, strict=False))


def _trace(title: str, model: BudgetedBase, X: Any, row: int, truth: Any) -> WalkTrace:
    record = _safe_indexing(X, [row])
    sheet, labels = model.costs_, model.labels_
    names = sheet.features[: sheet.n_columns]
    values = record.to_numpy()[0] if hasattr(record, "to_numpy") else np.asarray(record)[0]
    answers = dict(zip(names, values, strict=True))
    walk = model.walk()
    prior = _prediction(walk.decision, labels)
    steps: list[Step] = []
    made: set[str] = set()
    while (ask := walk.ask) is not None:
        before = walk.spent
        walk.tell(answers[ask.feature])
        decision, answer = walk.decision, _answer(answers[ask.feature], labels.feature(ask.feature))
        # Calls follow the answer that made them due.
        new = [name for name in decision.acquired if name in sheet.calls and name not in made]
        made.update(new)
        entries = [(ask.feature, answer, ask.price), *((name, "", sheet.price(name)) for name in new)]
        for name, text, price in entries:
            before += price
            spent = walk.spent if name == entries[-1][0] else before
            steps.append(Step(labels.title_of(name), text, price, spent, _prediction(decision, labels)))
    decision = walk.decision
    decided, true = (_label(value, labels) for value in (decision.prediction, truth))
    return WalkTrace(title, prior, tuple(steps), decided, true, decision.spent)


def _prediction(decision: Any, labels: Labels) -> str:
    if decision.probabilities is None:
        return f"{decision.prediction:.4g}"
    label, probability = max(decision.probabilities.items(), key=lambda item: item[1])
    return f"{labels.class_name(label)}: {probability:.0%}"


def _answer(value: Any, label: FeatureLabel) -> str:
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return "missing"
    if label != FeatureLabel():
        return label.shown(value)
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _label(value: Any, labels: Labels) -> str:
    is_number = isinstance(value, float | np.floating) and not labels.classes
    return f"{value:.4g}" if is_number else labels.class_name(value)
