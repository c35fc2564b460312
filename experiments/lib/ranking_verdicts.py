"""At what cost methods get to 99 % of the best NDCG@5, chosen on validation queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from experiments.lib.ranking_methods import MISER, PLAIN, Model

SHARE, GOAL = 0.99, 0.2
N_BUDGETS, N_DRAWS, N_SHARES = 25, 2000, 500

Methods: TypeAlias = Mapping[str, Sequence[Model]]
Cost: TypeAlias = Callable[[Model], float]


def spend(model: Model) -> float:
    """Return the mean spend of a test document."""
    return model.spend


def price(model: Model) -> float:
    """Return the cost by equation 3."""
    return model.model_cost


class Reached:
    """What methods choose on validation queries to get to 99 % of the best.

    The reference is the model of the highest validation score, of all methods or of one. A method chooses the
    model with the least validation cost among those with at least 99 % of the reference's validation score.
    No test score has a part in it.

    Parameters
    ----------
    methods : mapping
        The models of each method.
    queries : ndarray of int64, optional
        Validation queries, with repetitions; None for all.
    of : str, optional
        The method whose best model is the reference; None for all methods.
    """

    def __init__(
        self, methods: Methods, queries: NDArray[np.int64] | None = None, of: str | None = None
    ) -> None:
        self._methods = methods
        self._scores = {
            name: np.array(
                [
                    (m.validation_scores if queries is None else m.validation_scores[queries]).mean()
                    for m in models
                ]
            )
            for name, models in methods.items()
        }
        best = of or max(self._scores, key=lambda name: self._scores[name].max())
        self.method = best
        self.reference = methods[best][int(self._scores[best].argmax())]
        self.level = SHARE * float(self._scores[best].max())

    def pick(self, name: str, *, by_price: bool = False) -> Model | None:
        """Return the cheapest that is good enough, by spend or by equation 3; None if none is."""
        able = [m for m, s in zip(self._methods[name], self._scores[name], strict=True) if s >= self.level]
        return min(able, key=lambda m: m.model_cost if by_price else m.validation_spend, default=None)

    def best_round(self) -> Model:
        """Return the plain booster at its best round on validation queries, whatever it costs."""
        return next(m for m in self._methods[PLAIN] if m.best)

    def plain(self, *, by_price: bool = False) -> Model:
        """Return what the plain booster chooses; its best round if none is good enough."""
        return self.pick(PLAIN, by_price=by_price) or self.best_round()

    def share(self, name: str, cost: Cost = spend) -> float:
        """Return a method's cost over that of the plain booster, which has as many models to choose from."""
        by_price = cost is price
        chosen = self.pick(name, by_price=by_price)
        return np.inf if chosen is None else ratio(cost(chosen), cost(self.plain(by_price=by_price)))

    def paper_share(self, name: str) -> float:
        """Return a method's spend over that of the plain booster at its best round, as in the paper."""
        chosen = self.pick(name)
        return np.inf if chosen is None else ratio(chosen.spend, self.best_round().spend)

    def whole_tree_share(self, name: str) -> float:
        """Return the like for a plain booster that pays, like Cronus, for all that its trees may test."""
        chosen = self.pick(name)
        return np.inf if chosen is None else ratio(chosen.spend, self.best_round().model_cost)

    def on_test(self, name: str) -> float:
        """Return the test NDCG@5 of what a method chooses, as a share of the reference's; 0 for nothing."""
        chosen = self.pick(name)
        return 0.0 if chosen is None else chosen.score / self.reference.score

    def verdict(self, name: str = MISER) -> str:
        """Return whether a method meets the goal: a fifth of the plain booster's spend, and 99 % on test."""
        share, holds = self.share(name), self.on_test(name)
        if np.isinf(share):
            return "missed: it never gets there"
        if share > GOAL:
            return f"missed: {share:.2f}"
        return "met" if holds >= SHARE else f"missed: {holds:.1%} on test queries"


def ratio(cost: float, of: float) -> float:
    """Return one cost over another; 1 if both are zero."""
    return cost / of if of > 0 else (1.0 if cost == 0 else np.inf)


def share_interval(methods: Methods, name: str) -> tuple[float, float]:
    """Return the middle 95 % of a method's share over draws of validation queries."""
    n_queries = len(methods[PLAIN][0].validation_scores)
    shares = [Reached(methods, drawn).share(name) for drawn in draws(n_queries)[:N_SHARES]]
    low, high = np.quantile(shares, [0.025, 0.975], method="nearest")
    return float(low), float(high)


def draws(n_queries: int) -> NDArray[np.int64]:
    """Return queries drawn with replacement, shape (N_DRAWS, n_queries); the same for all methods."""
    return np.random.default_rng(0).integers(0, n_queries, size=(N_DRAWS, n_queries))


# Areas.


@dataclass(frozen=True)
class Areas:
    """Each test query's mean NDCG@5 over budgets that are even in log: the area under a method's curve.

    Attributes
    ----------
    budgets : ndarray of float64, shape (N_BUDGETS,)
    by_method : dict of ndarray of float64, shape (n_queries,)
    """

    budgets: NDArray[np.float64]
    by_method: dict[str, NDArray[np.float64]]

    @classmethod
    def of(cls, methods: Methods, by_chance: NDArray[np.float64]) -> Areas:
        """Let each method choose at every budget; without a model that spends so little, chance orders."""
        most = max(model.spend for models in methods.values() for model in models)
        budgets = np.geomspace(most / 1000, most, N_BUDGETS)
        found = {}
        for name, models in methods.items():
            picks = [affordable(models, budget) for budget in budgets]
            found[name] = np.mean([by_chance if pick is None else pick.scores for pick in picks], axis=0)
        return cls(budgets, found)

    def lead(self, name: str) -> tuple[float, float, float]:
        """Return how far the miser is ahead of a method, and the middle 95 % over draws of test queries."""
        gaps = self.by_method[MISER] - self.by_method[name]
        low, high = np.quantile(gaps[draws(len(gaps))].mean(axis=1), [0.025, 0.975])
        return float(gaps.mean()), float(low), float(high)


def affordable(models: Sequence[Model], budget: float) -> Model | None:
    """Return the model with the best validation score whose validation documents spend at most the budget."""
    able = [m for m in models if m.validation_spend <= budget]
    return max(able, key=lambda m: m.validation_score, default=None)
