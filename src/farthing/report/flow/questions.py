"""The questions that rows are asked, as a tree: rows that were asked the same so far are at the same node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing

from farthing.base import BudgetedEstimator
from farthing.costs import CostSheet
from farthing.report.flow.answers import describe
from farthing.report.flow.imagined import imagined_rows
from farthing.table import Schema, encode
from farthing.typing import Integers
from farthing.walks import Decisions
from farthing.walks.purchase_order import purchase_order

_MOST_LABELS: Final = 3
_IMAGINED: Final = 1000


@dataclass(frozen=True)
class Stop:
    """Rows whose walk ends here.

    Attributes
    ----------
    share : float
        Part of all rows.
    spend : float
        What they spent, on average.
    predictions : tuple of (str, float)
        What was predicted for them, with the part of them that it was predicted for, the most frequent
        first. A regressor has one entry: the mean.
    """

    share: float
    spend: float
    predictions: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class More:
    """Rows that go on beyond the limits of the picture.

    Attributes
    ----------
    share : float
        Part of all rows.
    spend : float
        What they have spent at the end of their walks, on average.
    questions : float
        Further features that they buy, on average.
    """

    share: float
    spend: float
    questions: float


@dataclass(frozen=True)
class Branch:
    """The rows of a question that go on in the same way."""

    answers: str  # those that these rows gave, as text
    then: Question | Stop | More


@dataclass(frozen=True)
class Question:
    """A feature that rows buy.

    Attributes
    ----------
    feature : str
        Its name.
    price : float
        What it costs rows that own what was bought on the way here.
    share : float
        Part of all rows.
    branches : tuple of Branch
        How they go on, the most frequent first; those that stop or leave the picture come last.
    """

    feature: str
    price: float
    share: float
    branches: tuple[Branch, ...]


Node: TypeAlias = Question | Stop | More


@dataclass(frozen=True)
class Flow:
    """The questions of a model, as `flow` found them.

    Attributes
    ----------
    branches : tuple of Branch
        The first questions; several if models draw lots, or rows stop before any question.
    unit : str
        Of the prices.
    n_rows : int
        Rows that were walked.
    imagined : bool
        Whether nobody measured these rows: their answers are as likely as the model tells.
    """

    branches: tuple[Branch, ...]
    unit: str
    n_rows: int
    imagined: bool = False

    @property
    def rows(self) -> str:
        """What was walked, in words."""
        return f"{self.n_rows} {'imagined ' if self.imagined else ''}rows"

    def svg(self) -> str:
        """Return the picture as an SVG document."""
        from farthing.report.flow.svg import draw  # noqa: PLC0415 - it needs the types of this file

        return draw(self)

    def mermaid(self) -> str:
        """Return the picture as a Mermaid flow chart."""
        from farthing.report.flow.mermaid import chart  # noqa: PLC0415 - as above

        return chart(self)

    def write(self, path: str | Path) -> None:
        """Write the picture: ``.svg``, or ``.md`` for a Markdown page with a Mermaid chart."""
        path = Path(path)
        if path.suffix == ".svg":
            text = self.svg()
        elif path.suffix == ".md":
            text = f"```mermaid\n{self.mermaid()}```\n"
        else:
            raise ValueError(f"{path.name} has the extension {path.suffix!r}; expected .svg or .md")
        path.write_text(text, encoding="utf-8")


def flow(
    model: BudgetedEstimator,
    X: Any = None,
    *,
    max_depth: int = 5,
    min_share: float = 0.02,
    max_rows: int = 2000,
    budget: float | None = None,
) -> Flow:
    """Walk rows of a table, and return the tree of the questions that they are asked.

    Rows that bought the same features in the same order so far are at the same node. It needs nothing of the
    method but its walks, so it works for every model.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X : array or frame, shape (n_rows, n_features), optional
        The rows. Without them the answers are those that the model tells: exactly those of the training rows
        for a single tree, an estimate for others; see `imagined_rows`.
    max_depth : int
        Questions of a row that are shown; what follows is summed up.
    min_share : float
        Branches of a smaller part of all rows are summed up.
    max_rows : int
        A larger table is sampled, always in the same way.
    budget : float, optional
        Hard budget of each row; None means that of the model.

    Returns
    -------
    Flow

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.forests import BudgetTreeClassifier
    >>> data = load_heart_disease()
    >>> model = BudgetTreeClassifier(costs=data.costs, max_depth=2).fit(data.X, data.y)
    >>> first = flow(model, data.X).branches[0].then
    >>> first.feature, first.price, first.share
    ('cp', 1.0, 1.0)
    """
    if max_depth < 1:
        raise ValueError(f"max_depth must be 1 or more; got {max_depth}")
    if not 0 <= min_share < 1:
        raise ValueError(f"min_share must be from 0 to below 1; got {min_share}")
    imagined = X is None
    if X is None:
        X = imagined_rows(model, _IMAGINED, budget)
    elif len(X) > max_rows:
        some = np.sort(np.random.default_rng(0).choice(len(X), max_rows, replace=False))
        X = _safe_indexing(X, some)
    decided = model.decide(X, budget=budget)
    if not len(decided.spent):
        raise ValueError("the table has no rows to walk")
    n_rows = len(decided.spent)
    tree = _Tree(_Walked(model, X, decided, budget), max_depth, min_share)
    return Flow(tree.branches(np.arange(n_rows), ()), model.fitted_.costs.unit or "", n_rows, imagined)


class _Walked:
    """What rows bought, in which order, and what they answered."""

    def __init__(self, model: BudgetedEstimator, X: Any, decided: Decisions, budget: float | None) -> None:
        fitted = model.fitted_
        self.costs: CostSheet = fitted.costs
        self.decided = decided
        self.labels: NDArray[Any] | None = model.classes_ if is_classifier(model) else None
        self.schema: Schema | None = None
        if model.asks == "columns":
            self.schema = fitted.schema
            self.values: NDArray[np.floating] = encode(
                fitted.schema, X, needed=fitted.may_buy(), min_rows=0
            ).values
            cap = fitted.budget if budget is None else budget
            orders = list(
                purchase_order(
                    fitted.policy,
                    fitted.costs,
                    self.values,
                    decided.acquired,
                    budget=cap,
                    caps=fitted.own_caps(),
                )
            )
        else:  # devices are heard in the order of the sheet; their messages are not in the table
            orders = [[fitted.costs.features[k] for k in np.flatnonzero(row)] for row in decided.acquired]
        calls = set(fitted.costs.calls)
        self.orders = [tuple(name for name in order if name not in calls) for order in orders]

    def answers(self, rows: Integers, feature: str, among: Integers) -> str:
        """Return the answers of some rows to a question that all rows of ``among`` were asked, as text."""
        if self.schema is None:
            return ""
        column = self.schema.columns[self.schema.index(feature)]
        place = self.schema.index(feature)
        return describe(column, self.values[rows, place], self.values[among, place])

    def stop(self, rows: Integers, n_rows: int) -> Stop:
        """Return the end of the walks of some rows."""
        share, spend = len(rows) / n_rows, float(self.decided.spent[rows].mean())
        given = self.decided.prediction[rows]
        if self.labels is None:
            return Stop(share, spend, ((f"{float(given.mean()):.4g}", 1.0),))
        counts = [(str(label), float(np.mean(given == label))) for label in self.labels.tolist()]
        found = sorted((pair for pair in counts if pair[1] > 0), key=lambda pair: -pair[1])
        return Stop(share, spend, tuple(found[:_MOST_LABELS]))

    def more(self, rows: Integers, depth: int, n_rows: int) -> More:
        """Return what rows do beyond a depth."""
        further = float(np.mean([len(self.orders[row]) - depth for row in rows]))
        return More(len(rows) / n_rows, float(self.decided.spent[rows].mean()), further)


class _Tree:
    """Makes the nodes, from the first questions on."""

    def __init__(self, walked: _Walked, max_depth: int, min_share: float) -> None:
        self._walked = walked
        self._max_depth = max_depth
        self._min_share = min_share
        self._n_rows = len(walked.orders)

    def branches(self, rows: Integers, path: tuple[str, ...]) -> tuple[Branch, ...]:
        """Return how rows go on that have bought the features of a path."""
        walked, depth = self._walked, len(path)
        by_next: dict[str | None, list[int]] = {}
        for row in rows.tolist():
            order = walked.orders[row]
            by_next.setdefault(order[depth] if len(order) > depth else None, []).append(row)
        stopped = by_next.pop(None, [])
        ways = sorted(by_next.items(), key=lambda pair: (-len(pair[1]), pair[0] or ""))
        shown, rest = [], []
        for feature, places in ways:
            assert feature is not None
            if depth == self._max_depth or len(places) < self._min_share * self._n_rows:
                rest += places
            else:
                shown.append((self._question(feature, np.array(places), path), np.array(places)))
        ends: list[tuple[Node, Integers]] = list(shown)
        if rest:
            ends.append((walked.more(np.array(rest), depth, self._n_rows), np.array(rest)))
        if stopped:
            ends.append((walked.stop(np.array(stopped), self._n_rows), np.array(stopped)))
        return tuple(Branch(self._said(path, places, rows), node) for node, places in ends)

    def _said(self, path: Sequence[str], places: Integers, rows: Integers) -> str:
        return self._walked.answers(places, path[-1], rows) if path else ""

    def _question(self, feature: str, rows: Integers, path: tuple[str, ...]) -> Question:
        return Question(
            feature,
            float(self._walked.costs.price(feature, path)),
            len(rows) / self._n_rows,
            self.branches(rows, (*path, feature)),
        )
