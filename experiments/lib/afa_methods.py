"""The methods of `experiments.boards.afa`, by name: another one is one more line of `METHODS`.

A method is made from a `Setup`. It has `fit` and, as every model of the library, ``decide(X, budget=...)``.
Settings are the defaults, or are chosen by the validation rows among those that a method lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any, Final, Literal

from experiments.boards.cascade_mnist import COMMON, SETTINGS
from experiments.lib.afa_static import RANKINGS, StaticSelection
from farthing.base import get, registered
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import BranchingCascadeClassifier, MiserCascadeClassifier, SubsetTreeClassifier
from farthing.costs import CostSheet
from farthing.forests import (
    BudgetForestClassifier,
    BudgetTreeClassifier,
    DiagnosticPolicyClassifier,
    PrunedForestClassifier,
)
from farthing.frontier import BudgetedClassifier
from farthing.neighbors import LookaheadClassifier

TREES, STATIC, NETWORKS = "trees", "static", "networks"


@dataclass(frozen=True)
class Setup:
    """What a method is made for.

    Attributes
    ----------
    costs : CostSheet
        The prices.
    budget : int
        The number of features or groups; the largest one where a single fit is for all.
    budgets : tuple of int
        All budgets that the fit is for.
    seed : int
        Its random state.
    images : bool
        Whether columns are pixels.
    settings : mapping of str to object
        One of those that the method lists.
    """

    costs: CostSheet
    budget: int
    budgets: tuple[int, ...]
    seed: int
    images: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Method:
    """A method of the board.

    Attributes
    ----------
    make : callable
        From a `Setup` to a model to fit.
    family : str
        Trees are ours; static selections and networks are written from the papers.
    kind : {"hard", "soft"}
        Whether no row may look at more features than the budget, or the mean row.
    one_fit : bool
        Whether one fit answers for all budgets.
    takes_validation : bool
        Whether `fit` takes the validation rows, for early stopping.
    max_columns : int or None
        Larger tables are left out.
    settings : sequence of mappings
        To choose from by the validation rows.
    """

    make: Callable[[Setup], Any]
    family: str = TREES
    kind: Literal["hard", "soft"] = "hard"
    one_fit: bool = False
    takes_validation: bool = False
    max_columns: int | None = None
    settings: Sequence[Mapping[str, Any]] = ({},)


LEAVES: Final = tuple({"min_samples_leaf": n} for n in (1, 5, 20))

PRUNED: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"max_features": None},
    {"max_features": None, "growth_tradeoff": 0.1},
)
DEPTHS: Final = tuple({"max_depth": depth} for depth in (1, 2, 4, None))


def _branching(setup: Setup) -> Any:
    # Of images, the settings of the page on MNIST, which trials on training rows have chosen.
    pixels = setup.budget * (4 if (setup.costs.group_of >= 0).all() else 1)
    nearest = min(SETTINGS, key=lambda k: abs(k - pixels))
    chosen = {**COMMON, **SETTINGS[nearest], "n_candidates": 1} if setup.images else {}
    return BranchingCascadeClassifier(
        setup.costs, setup.budget, **{**chosen, "random_state": setup.seed, "n_jobs": 1}
    )


def _miser(setup: Setup) -> Any:
    return GreedyMiserClassifier(
        costs=setup.costs, budget=setup.budget, random_state=setup.seed, n_jobs=1, **setup.settings
    )


def _cascade(budget_kind: Literal["hard", "mean"], setup: Setup) -> Any:
    return MiserCascadeClassifier(
        setup.costs, setup.budget, budget_kind=budget_kind, random_state=setup.seed, n_jobs=1
    )


def _tree(setup: Setup) -> Any:
    return BudgetTreeClassifier(costs=setup.costs, budget=setup.budget, n_jobs=1, **setup.settings)


def _forest(capped: bool, setup: Setup) -> Any:
    # Under a cap all trees grow, and a row passes those that it can afford.
    return BudgetForestClassifier(
        costs=setup.costs,
        budget=None if capped else setup.budget,
        random_state=setup.seed,
        n_jobs=1,
        **setup.settings,
    )


def _pruned(setup: Setup) -> Any:
    return PrunedForestClassifier(
        setup.costs, setup.budget, random_state=setup.seed, n_jobs=1, **setup.settings
    )


def _policy(setup: Setup) -> Any:
    return DiagnosticPolicyClassifier(setup.costs, max_depth=min(setup.budget, 6), n_jobs=1, **setup.settings)


def _subset_tree(setup: Setup) -> Any:
    return SubsetTreeClassifier(setup.costs, setup.budget, random_state=setup.seed, n_jobs=1)


def _lookahead(setup: Setup) -> Any:
    return LookaheadClassifier(setup.costs, setup.budget, random_state=setup.seed, n_jobs=1, **setup.settings)


def _door(budget_kind: Literal["hard", "mean"], setup: Setup) -> Any:
    return BudgetedClassifier(
        setup.costs, setup.budget, budget_kind=budget_kind, random_state=setup.seed, n_jobs=1
    )


def _static(ranking: str, setup: Setup) -> Any:
    return StaticSelection(ranking, setup.costs, setup.budgets, setup.seed)


def _network(name: str, setup: Setup) -> Any:
    # Trained for as many questions as the largest budget allows.
    return get(name)(
        costs=setup.costs, budget=setup.budget, max_questions=setup.budget, random_state=setup.seed
    )


def networks() -> dict[str, Method]:
    """Return the estimators of `farthing.deep`, if it is there and can train."""
    if find_spec("farthing.deep") is None or find_spec("torch") is None:
        return {}
    names = [name for name in registered() if get(name).__module__.startswith("farthing.deep.")]
    classifiers = [name for name in names if name.endswith("Classifier")]
    return {
        name.removesuffix("Classifier"): Method(partial(_network, name), NETWORKS, one_fit=True)
        for name in classifiers
    }


METHODS: Final[dict[str, Method]] = {
    "GreedyMiser": Method(_miser),
    "BranchingCascade": Method(_branching),
    # Comparing sets of many columns takes too long on images.
    "SubsetTree": Method(_subset_tree, max_columns=200),
    "MiserCascade": Method(partial(_cascade, "hard")),
    "BudgetTree": Method(_tree, settings=LEAVES),
    "BudgetForest": Method(partial(_forest, True), settings=DEPTHS),
    "PrunedForest": Method(_pruned, settings=PRUNED),
    "DiagnosticPolicy": Method(
        _policy, max_columns=200, settings=tuple({"tradeoff": t} for t in (0.03, 0.003, 0.0003))
    ),
    "Lookahead": Method(_lookahead, max_columns=64),
    "front door": Method(partial(_door, "hard"), max_columns=200),
    **{
        f"static, {ranking}": Method(partial(_static, ranking), STATIC, one_fit=True, takes_validation=True)
        for ranking in RANKINGS
    },
    **networks(),
    "MiserCascade, mean": Method(partial(_cascade, "mean"), kind="soft"),
    "BudgetForest, mean": Method(partial(_forest, False), kind="soft", settings=DEPTHS),
    "PrunedForest, mean": Method(_pruned, kind="soft", settings=PRUNED),
    "front door, mean": Method(partial(_door, "mean"), kind="soft", max_columns=200),
}
