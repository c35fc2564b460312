"""Choosing among the variants of a fitted model so that a guarantee holds on new rows.

Each variant has a hypothesis: it breaks the guarantee. A variant is certified if its hypothesis is rejected.
The order of the tests is fixed before any row is seen, from the variant that breaks the guarantee least to
the one that breaks it most, and testing ends at the first that is not rejected. So a wrong certificate needs
the first true hypothesis of the sequence to be rejected, which has at most the probability of one test
(fixed-sequence testing; learn then test, proposition 2). No variant is paid for by a smaller level.

- Budget: nominal budgets upwards. A model that was moved to a larger budget spends more.
- Agreement: nominal budgets downwards, from the model without a budget, which agrees with itself.

A guarantee of both has two sequences of half the error each, and takes a variant that both certify.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from farthing.base import AnyBudgetMixin, Certificate, Guarantee
from farthing.costs import CostSheet
from farthing.errors import GuaranteeError
from farthing.learning.guarantees.p_values import betting, binomial
from farthing.typing import Floats

EstimatorT = TypeVar("EstimatorT", bound=AnyBudgetMixin)

# Nominal budgets that are tested, as parts of the budget of the guarantee, and of the cost of all features.
_OF_BUDGET: Final = np.linspace(0.05, 1.5, 59)
_OF_WHOLE: Final = np.geomspace(1.0, 0.005, 40)


def certify(model: EstimatorT, X: Any, guarantee: Guarantee) -> EstimatorT:
    """Choose the variant of a fitted model that keeps a guarantee, by rows that it did not learn from.

    Of the variants that are certified the most expensive one within a budget is taken; if only an agreement
    is asked for, the cheapest.

    Parameters
    ----------
    model : estimator
        Fitted, with a mean budget; one that can be moved to any budget by ``at``.
    X : array or frame, shape (n_rows, n_features)
        Rows that the model did not learn from, drawn independently like those to come. Their labels are not
        needed.
    guarantee : Guarantee
        What shall hold.

    Returns
    -------
    estimator
        The variant, which shares the learned parts. Its ``certificate_`` says what holds.

    Raises
    ------
    GuaranteeError
        If no variant can be certified, such as for too few rows.

    Examples
    --------
    >>> from farthing import Guarantee
    >>> from farthing.cascades import MiserCascadeClassifier
    >>> from farthing.datasets import load_thyroid
    >>> data = load_thyroid()
    >>> X, y = data.X[:2000], data.y[:2000]
    >>> model = MiserCascadeClassifier(data.costs, n_estimators=20, n_stages=5).fit(X[:1000], y[:1000])
    >>> kept = certify(model, X[1000:], Guarantee(budget=20.0))
    >>> kept.certificate_.n_rows, kept.certificate_.spend < 20.0
    (1000, True)
    """
    _check(model, guarantee)
    rows = _Rows(model, X)
    allowed: list[list[float | None]] = []
    if guarantee.budget is not None:
        allowed.append(
            _fixed_sequence(
                rows.budgets(guarantee.budget),
                rows.spend_test(guarantee.budget, guarantee.error),
                guarantee.error,
            )
        )
    if guarantee.agreement is not None:
        allowed.append(
            _fixed_sequence(rows.agreements(guarantee), rows.label_test(guarantee.agreement), guarantee.error)
        )
    both = [aim for aim in allowed[0] if all(aim in others for others in allowed[1:])]
    if not both:
        raise GuaranteeError(_why(guarantee, rows, allowed))
    # Upwards for a budget, downwards for an agreement alone: the last one is the one to take.
    decided = rows.decided(both[-1])
    certificate = Certificate(
        budget=None if guarantee.budget is None else float(guarantee.budget),
        agreement=guarantee.agreement,
        confidence=guarantee.confidence,
        n_rows=rows.n_rows,
        bound="betting" if guarantee.budget is not None else "binomial",
        n_tested=rows.n_tested,
        spend=float(decided[0].mean()),
        agreed=None if guarantee.agreement is None else float(1 - rows.differs(both[-1]).mean()),
    )
    found = rows.variant(both[-1])
    return found.adopt(replace(found.fitted_, certificate=certificate))


class _Rows(Generic[EstimatorT]):
    """The rows of the test, and what variants do with them."""

    def __init__(self, model: EstimatorT, X: Any) -> None:
        self._model = model
        self._X = X
        self._kept: dict[float | None, tuple[Floats, NDArray[Any]]] = {}
        self.n_rows = len(self.decided(None)[0])
        if not self.n_rows:
            raise ValueError("a guarantee needs rows to be tested on; the table has none")
        # The bettor needs an order that says nothing of the rows; a table may be sorted.
        self._order = np.random.default_rng(0).permutation(self.n_rows)
        self.most = _largest_spend(model.fitted_.costs, model.fitted_.may_buy())

    @property
    def n_tested(self) -> int:
        """Number of variants that were tested."""
        return len(self._kept)

    def variant(self, aim: float | None) -> EstimatorT:
        """Return the model of a nominal budget."""
        return self._model.at(aim)

    def decided(self, aim: float | None) -> tuple[Floats, NDArray[Any]]:
        """Return the spends and the predictions of a nominal budget."""
        if aim not in self._kept:
            found = self.variant(aim).decide(self._X)
            self._kept[aim] = (found.spent, found.prediction)
        return self._kept[aim]

    def differs(self, aim: float | None) -> Floats:
        """Return 1.0 where the label is not that of the model without a budget."""
        return np.asarray(self.decided(aim)[1] != self.decided(None)[1], dtype=np.float64)

    def budgets(self, budget: float) -> list[float | None]:
        """Return the nominal budgets of the test of a budget, in its order."""
        return [float(part) for part in budget * _OF_BUDGET]

    def agreements(self, guarantee: Guarantee) -> list[float | None]:
        """Return the nominal budgets of the test of an agreement, in its order."""
        if guarantee.budget is not None:  # those of the budget, so that both can certify the same one
            return [None, *self.budgets(guarantee.budget)[::-1]]
        costs = self._model.fitted_.costs
        return [None, *(costs.total(costs.features) * _OF_WHOLE).tolist()]

    def spend_test(self, budget: float, error: float) -> Callable[[float | None], float]:
        """Return the p-value of "the mean spend is above the budget"."""
        if budget >= self.most:  # no row can spend more
            return lambda _: 0.0
        return lambda aim: betting(self.decided(aim)[0][self._order] / self.most, budget / self.most, error)

    def label_test(self, agreement: float) -> Callable[[float | None], float]:
        """Return the p-value of "labels differ on more rows than allowed"."""
        return lambda aim: binomial(self.differs(aim), 1 - agreement)


def _fixed_sequence(
    aims: Sequence[float | None], p_value: Callable[[float | None], float], error: float
) -> list[float | None]:
    """Return the variants that are certified: those before the first whose hypothesis is not rejected."""
    certified: list[float | None] = []
    for aim in aims:
        if p_value(aim) > error:
            break
        certified.append(aim)
    return certified


def _largest_spend(costs: CostSheet, columns: NDArray[np.bool_]) -> float:
    """Return what a row pays that buys all that a model may buy, with all calls."""
    bought = [costs.features[place] for place in np.flatnonzero(columns[: costs.n_columns])]
    return float(costs.total([*bought, *costs.calls]))


def _check(model: AnyBudgetMixin, guarantee: Guarantee) -> None:
    name = type(model).__name__
    if not isinstance(model, AnyBudgetMixin):
        raise TypeError(f"{name} cannot be moved to another budget, so there are no variants to choose from")
    if model.budget_kind == "hard":
        raise ValueError(f"a hard budget holds on every row already; fit {name} with budget_kind='mean'")
    if guarantee.agreement is not None and not is_classifier(model):
        raise ValueError(f"an agreement of labels is for classifiers; {name} predicts numbers")


def _why(guarantee: Guarantee, rows: _Rows[Any], allowed: Sequence[Sequence[float | None]]) -> str:
    """Return why no variant is certified."""
    if all(allowed):
        return (
            f"no variant keeps both the budget of {guarantee.budget:g} and the agreement of "
            f"{guarantee.agreement:g} with confidence {guarantee.confidence:g} on {rows.n_rows} rows; raise "
            "the budget or lower the agreement"
        )
    return (
        f"{rows.n_rows} rows are too few to certify even the most careful variant with confidence "
        f"{guarantee.confidence:g}; give more rows, or ask for less"
    )
