"""Choosing among the variants of a fitted model so that a guarantee holds on new rows.

Each variant has a hypothesis: it breaks the guarantee. A variant is certified if its hypothesis is rejected.

Theorem (fixed-sequence testing; Bauer 1991, and learn then test, proposition 2). Let the variants, their
order and the level ``error`` be fixed before the rows of the test are seen, these rows be independent draws
like those to come, and each p-value be valid. Test in that order, and end at the first hypothesis that is not
rejected. Then all certified variants keep the guarantee with probability at least ``1 - error``, whatever the
distribution of the rows, their number, and that of the variants.

Proof. If a certified variant breaks the guarantee, then the first variant of the sequence that breaks it was
tested, and its true hypothesis rejected. That is one hypothesis, known without the rows, and it is rejected
with probability at most ``error``. No variant is paid for by a smaller level.

The order costs no validity, only certificates: one variant that spends more than its place says ends the
tests. So the variant comes first that is least likely to break the guarantee:

- Budget: nominal budgets, or thresholds, upwards. A model that was moved to a larger budget spends more.
- Agreement: downwards, from the model without a budget, which agrees with itself.

The spends of the rows that the model learned from order variants better than nominal budgets: where many rows
have the same risk, such as those of which nothing is known yet, all of them go on or none does, and what
held-out scores promise of a budget in between is not kept. These rows are none of the test.

A guarantee of both has two sequences of half the error each, and takes a variant that both certify.

References
----------
Angelopoulos, Bates, Candes, Jordan, Lei: Learn then test. Annals of Applied Statistics 2025.
Bauer: Multiple testing in clinical trials. Statistics in Medicine 1991.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from farthing.base import BudgetedEstimator, Certificate, Guarantee
from farthing.errors import GuaranteeError
from farthing.learning.guarantees.ladders import Ladder, by_spend, ladder_of
from farthing.learning.guarantees.p_values import betting, binomial
from farthing.typing import Floats

EstimatorT = TypeVar("EstimatorT", bound=BudgetedEstimator)


def certify(model: EstimatorT, X: Any, guarantee: Guarantee, *, learned: Any = None) -> EstimatorT:
    """Choose the variant of a fitted model that keeps a guarantee, by rows that it did not learn from.

    Of the variants that are certified the most expensive one within a budget is taken; if only an agreement
    is asked for, the cheapest.

    Parameters
    ----------
    model : estimator
        Fitted, with a mean budget; one that can be moved to any budget by ``at``, or has a threshold: early
        exits, gates of ADAPT, votes that are curtailed with some error, and the front door.
    X : array or frame, shape (n_rows, n_features)
        Rows that the model did not learn from, drawn independently like those to come. Their labels are not
        needed.
    guarantee : Guarantee
        What shall hold.
    learned : array or frame, shape (n_learned, n_features), optional
        The rows that the model learned from, or others that are not in ``X``. Variants are tested in the
        order of their mean spend on these; None is the order of nominal budgets, which certifies less.

    Returns
    -------
    estimator
        The variant, which shares the learned parts. Its ``certificate_`` says what holds.

    Raises
    ------
    GuaranteeError
        If no variant can be certified, such as for too few rows. Of an agreement alone the model without a
        budget is certified by any number of rows.

    Examples
    --------
    >>> from farthing import Guarantee
    >>> from farthing.cascades import MiserCascadeClassifier
    >>> from farthing.datasets import load_thyroid
    >>> data = load_thyroid()
    >>> X, y = data.X[:2000], data.y[:2000]
    >>> model = MiserCascadeClassifier(data.costs, n_estimators=20, n_stages=5).fit(X[:1000], y[:1000])
    >>> kept = certify(model, X[1000:], Guarantee(budget=20.0), learned=X[:1000])
    >>> kept.certificate_.n_rows, kept.certificate_.spend < 20.0
    (1000, True)
    """
    if not isinstance(guarantee, Guarantee):
        raise TypeError(f"expected a Guarantee; got {type(guarantee).__name__}")
    ladder = ladder_of(model, guarantee)
    _check(model, guarantee)
    if learned is not None:
        ladder = by_spend(ladder, learned)
    rows: _Rows[EstimatorT] = _Rows(X, ladder)
    allowed: list[list[Any]] = []
    if guarantee.budget is not None:
        test = rows.spend_test(guarantee.budget, guarantee.error)
        allowed.append(_fixed_sequence(rows.upwards, test, guarantee.error))
    if guarantee.agreement is not None:
        test = rows.label_test(guarantee.agreement)
        allowed.append(_fixed_sequence(rows.downwards, test, guarantee.error))
    both = [rung for rung in allowed[0] if all(rung in others for others in allowed[1:])]
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

    def __init__(self, X: Any, ladder: Ladder) -> None:
        self._ladder = ladder
        self._X = X
        self._variants: dict[Any, BudgetedEstimator] = {}
        self._kept: dict[Any, tuple[Floats, NDArray[Any]]] = {}
        #: The variants in the order of the two tests.
        self.upwards = list(ladder.rungs)
        self.downwards = [ladder.whole, *(rung for rung in ladder.rungs[::-1] if rung != ladder.whole)]
        self.n_rows = len(self.decided(ladder.whole)[0])
        if not self.n_rows:
            raise ValueError("a guarantee needs rows to be tested on; the table has none")
        # The bettor needs an order that says nothing of the rows; a table may be sorted.
        self._order = np.random.default_rng(0).permutation(self.n_rows)

    @property
    def n_tested(self) -> int:
        """Number of variants that were tested."""
        return len(self._kept)

    def variant(self, rung: Any) -> EstimatorT:
        """Return the model of a rung."""
        if rung not in self._variants:
            self._variants[rung] = self._ladder.make(rung)
        return cast(EstimatorT, self._variants[rung])

    def decided(self, rung: Any) -> tuple[Floats, NDArray[Any]]:
        """Return the spends and the predictions of a rung."""
        if rung not in self._kept:
            found = self.variant(rung).decide(self._X)
            self._kept[rung] = (found.spent, found.prediction)
        return self._kept[rung]

    def differs(self, rung: Any) -> Floats:
        """Return 1.0 where the label is not that of the model without a budget."""
        whole = self.decided(self._ladder.whole)[1]
        return np.asarray(self.decided(rung)[1] != whole, dtype=np.float64)

    def spend_test(self, budget: float, error: float) -> Callable[[Any], float]:
        """Return the p-value of "the mean spend is above the budget"."""

        def p_value(rung: Any) -> float:
            most = _largest_spend(self.variant(rung))
            if budget >= most:  # no row can spend more
                return 0.0
            draws = self.decided(rung)[0][self._order] / most
            # Rounding may add to a spend what no row pays.
            return betting(np.minimum(draws, 1.0), budget / most, error)

        return p_value

    def label_test(self, agreement: float) -> Callable[[Any], float]:
        """Return the p-value of "labels differ on more rows than allowed"."""

        def p_value(rung: Any) -> float:
            if rung == self._ladder.whole:  # it has its own labels on every row
                return 0.0
            return binomial(self.differs(rung), 1 - agreement)

        return p_value


def _fixed_sequence(rungs: Sequence[Any], p_value: Callable[[Any], float], error: float) -> list[Any]:
    """Return the variants that are certified: those before the first whose hypothesis is not rejected."""
    certified: list[Any] = []
    for rung in rungs:
        if p_value(rung) > error:
            break
        certified.append(rung)
    return certified


def _largest_spend(model: BudgetedEstimator) -> float:
    """Return what a row pays that buys all that a model may buy, with all calls."""
    costs, columns = model.fitted_.costs, model.fitted_.may_buy()
    bought = [costs.features[place] for place in np.flatnonzero(columns[: costs.n_columns])]
    return float(costs.total([*bought, *costs.calls]))


def _check(model: BudgetedEstimator, guarantee: Guarantee) -> None:
    if guarantee.agreement is not None and not is_classifier(model):
        raise ValueError(
            f"an agreement of labels is for classifiers; {type(model).__name__} predicts numbers"
        )


def _why(guarantee: Guarantee, rows: _Rows[Any], allowed: Sequence[Sequence[Any]]) -> str:
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
