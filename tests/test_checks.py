"""The checks pass for a model that keeps the contract, and each of them fails for one that breaks it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.random_glance import RandomGlanceClassifier
from tests.stumps import RulePolicy, StumpListClassifier, StumpListClassifierModel, StumpListRegressor

from farthing.base import register
from farthing.checks import yield_checks
from farthing.table import encode
from farthing.walks import Ask, Walk

SOUND = [
    StumpListClassifier(),
    StumpListClassifier(tradeoff=0.2, n_rules=5),
    StumpListClassifier(budget=3.0),
    StumpListRegressor(tradeoff=0.5),
    RandomGlanceClassifier(n_glances=3),
]


@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param(name, check, id=f"{estimator}-{name}")
        for place, estimator in enumerate(SOUND)
        for name, check in yield_checks(estimator)
        # scikit-learn's own checks are of the class: once for each.
        if "check_estimator" not in name or type(estimator) not in map(type, SOUND[:place])
    ],
)
def test_a_sound_model_passes(name: str, check: Any) -> None:
    check()


def with_outputs(change: Any) -> Any:
    """Return a model class whose array calls go through a function: (model, values, outputs, acquired)."""

    @dataclass(frozen=True, eq=False, kw_only=True)
    class Changed(StumpListClassifierModel):
        def outputs(self, values: Any, **options: Any) -> Any:
            return change(self, values, *super().outputs(values, **options))

    return Changed


def changed_fit(**changes: Any) -> Any:
    """Return a `_learn` that changes fields of what the sound model learns, by functions of the model."""

    def _learn(self: Any, rows: Any) -> Any:
        model = StumpListClassifier._learn(self, rows)
        return replace(model, **{name: change(self, model) for name, change in changes.items()})

    return _learn


def peek(model: Any, values: Any, outputs: Any, acquired: Any) -> Any:
    hidden = ~acquired[:, -1] & (np.nan_to_num(values[:, -1]) > 0)
    return np.where(hidden[:, None], outputs[:, ::-1], outputs), acquired


class Peeks(StumpListClassifier):
    model_type = with_outputs(peek)


class ValidatesAll(StumpListClassifier):
    def raw_outputs(self, X: Any, **options: Any) -> Any:
        encode(self.schema_, X).check()
        return super().raw_outputs(X, **options)


def off_by_a_bit(model: Any, values: Any, outputs: Any, acquired: Any) -> Any:
    outputs[:, 0] = np.nextafter(outputs[:, 0], np.inf)
    return outputs, acquired


class WalksElsewhere(StumpListClassifier):
    """The fast path is off by one bit."""

    model_type = with_outputs(off_by_a_bit)


class DecidesElsewhere(StumpListClassifier):
    def decide(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Any:
        return super().decide(X, budget=1.0, seeds=seeds)


class LooksAtNeighbours(StumpListClassifier):
    model_type = with_outputs(
        lambda _model, _values, outputs, acquired: (outputs + outputs.mean(axis=0), acquired)
    )


class GoesByPosition(StumpListClassifier):
    def raw_outputs(self, X: Any, **options: Any) -> Any:
        if hasattr(X, "columns"):
            X = type(X)(dict(zip(self.schema_.names, (X[name] for name in X.columns), strict=True)))
        return super().raw_outputs(X, **options)


class WalksWith(StumpListClassifier):
    """Walks of another class."""

    walk_class: type[Walk] = Walk

    def walk(self, seed: Any = None, budget: Any = None, known: Any = None) -> Walk:
        sound = super().walk(seed, budget, known)
        sound.__class__ = self.walk_class
        return sound


class ChargesRefusals(WalksWith):
    class walk_class(Walk):  # noqa: N801
        def refuse(self) -> None:
            self._row_walk.buy(np.nan)


class BuysTheRefused(StumpListClassifier):
    def raw_outputs(self, X: Any, *, refused: Any = None, **options: Any) -> Any:
        return super().raw_outputs(X, **options)


class CountsRoundsTwice(StumpListClassifier):
    def rounds(self, X: Any, k: int, **options: Any) -> Any:
        found = super().rounds(X, k, **options)
        return replace(found, rounds=2 * found.rounds)


class ForgetsCaps(StumpListClassifier):
    """Array calls know the budget alone, not the caps of further resources."""

    def raw_outputs(self, X: Any, *, budget: Any = None, **options: Any) -> Any:
        return super().raw_outputs(
            X, budget=budget.get("cost") if isinstance(budget, dict) else budget, **options
        )


class NumbersNothing(StumpListClassifier):
    """The predictions of no rows are numbers, whatever the labels are."""

    def predict(self, X: Any, **options: Any) -> Any:
        return super().predict(X, **options) if len(X) else np.empty(0)


class ForgetsKnown(StumpListClassifier):
    def walk(self, seed: Any = None, budget: Any = None, known: Any = None) -> Walk:
        return super().walk(
            seed, budget, {name: value for name, value in (known or {}).items() if name == "x77"}
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class SharedPolicyModel(StumpListClassifierModel):
    @cached_property
    def shared(self) -> RulePolicy:
        return super().policy()

    def policy(self, seed: int | None = None) -> RulePolicy:
        return self.shared if inspect.stack()[1].function == "walk" else super().policy(seed)


class SharesItsPolicy(StumpListClassifier):
    """Walks of one model disturb each other."""

    model_type = SharedPolicyModel


class TakesAnyAnswer(WalksWith):
    class walk_class(Walk):  # noqa: N801
        def tell(self, value: object) -> None:
            super().tell(np.nan if isinstance(value, str) else value)


class ChargesGroupsTwice(StumpListClassifier):
    def spend(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Any:
        acquired = self.acquired(X, budget=budget, seeds=seeds)
        alone = np.array([self.costs_.price(name) for name in self.costs_.features])
        return (acquired * alone).sum(axis=1)


class AsksTheFullPrice(WalksWith):
    class walk_class(Walk):  # noqa: N801
        @property
        def ask(self) -> Ask | None:
            ask = super().ask
            return ask and Ask(ask.feature, self._sheet.price(ask.feature) + 0.0, ask.group)


@dataclass(frozen=True, eq=False, kw_only=True)
class OverspendingModel(StumpListClassifierModel):
    def outputs(self, values: Any, *, budget: Any = None, seeds: Any = None, n_threads: int = 1) -> Any:
        budget = None if budget is None else budget + 0.5
        return super().outputs(values, budget=budget, seeds=seeds, n_threads=n_threads)


class Overspends(StumpListClassifier):
    model_type = OverspendingModel


class ForgetsItsBudget(StumpListClassifier):
    def hard_cap(self) -> None:
        return None


class KnowsNoPrior(StumpListClassifier):
    _learn = changed_fit(prior=lambda _self, model: np.full(len(model.classes), 1 / len(model.classes)))


class TakesAnyBudget(StumpListClassifier):
    def predict(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Any:
        return super().predict(
            X, budget=None if np.ndim(budget) or budget is None else np.abs(budget), seeds=seeds
        )


class CountsItsBudget(StumpListClassifier):
    """The budget is a number of rules, whatever they cost."""

    def _learn(self, rows: Any) -> Any:
        model = super()._learn(rows)
        if self.budget is None:
            return model
        n_rules = int(self.budget)
        return replace(model, rules=model.rules[:n_rules], leaves=model.leaves[:, : n_rules + 1])


class FearsPrices(StumpListClassifier):
    """Goes by the prices even with a trade-off of zero."""

    def _learn(self, rows: Any) -> Any:
        tradeoff, self.tradeoff = self.tradeoff, self.tradeoff + 3.0
        model = super()._learn(rows)
        self.tradeoff = tradeoff
        return model


@dataclass(frozen=True, eq=False, kw_only=True)
class ShiftedModel(StumpListClassifierModel):
    def conclude(self, outputs: Any) -> Any:
        return super().conclude(outputs + getattr(self, "shift", 0.0))


@register()
class StoresHalf(StumpListClassifier):
    """What is learned beside the fields of the model is lost in the file."""

    model_type = ShiftedModel

    def _learn(self, rows: Any) -> Any:
        model = super()._learn(rows)
        object.__setattr__(model, "shift", 0.125)
        return model


class PicklesHalf(StumpListClassifier):
    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "fitted_" not in self.__dict__:
            return state
        return {**state, "fitted_": replace(self.fitted_, leaves=self.fitted_.leaves[:, :, ::-1])}


class Improvises(StumpListClassifier):
    _learn = changed_fit(
        leaves=lambda _self, model: model.leaves + np.random.random(model.leaves.shape)  # noqa: NPY002
    )


class CountsItsThreads(StumpListClassifier):
    def __init__(self, costs: Any = None, budget: Any = None, n_jobs: int = 1) -> None:
        super().__init__(costs, budget)
        self.n_jobs = n_jobs

    _learn = changed_fit(leaves=lambda self, model: model.leaves + (0.1 if self.n_jobs > 1 else 0.0))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"costs": self.costs, "budget": self.budget, "n_jobs": self.n_jobs}


class ReadsLabels(StumpListClassifier):
    """Learns something else if labels are numbers."""

    _learn = changed_fit(
        leaves=lambda _self, model: model.leaves + (0.1 if model.classes.dtype.kind in "if" else 0.0)
    )


class WeighsNothing(StumpListClassifier):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y, None if sample_weight is None else np.maximum(sample_weight, 1e-3))


class ChangesItsParameters(StumpListClassifier):
    def _learn(self, rows: Any) -> Any:
        model = super()._learn(rows)
        self.n_rules = len(model.rules)
        return model


class VariesAtWill(StumpListClassifier):
    """A variant is the model itself, whatever its parameters say."""

    def variants(self) -> Any:
        yield {"n_rules": 1}, self


BROKEN = [
    (Peeks, "blindness: entries not acquired may be anything"),
    (ValidatesAll, "blindness: only acquired entries are validated"),
    (WalksElsewhere, "one truth: a walk fed from a row gives what the array calls give"),
    (DecidesElsewhere, "one truth: decide is the other array calls in one pass"),
    (LooksAtNeighbours, "one truth: a row is the same alone and among others"),
    (GoesByPosition, "one truth: arrays and frames, columns in any order"),
    (ChargesRefusals, "one truth: a refused feature is free and not asked again"),
    (BuysTheRefused, "one truth: entries refused in an array call are those refused in a walk"),
    (CountsRoundsTwice, "one truth: panels are paid for, and rounds counts them"),
    (NumbersNothing, "one truth: a table without rows gives empty answers"),
    (ForgetsKnown, "one truth: known features are free and not asked"),
    (SharesItsPolicy, "one truth: a walk resumes anywhere from its answers"),
    (TakesAnyAnswer, "one truth: a bad answer changes nothing, and the end takes none"),
    (ChargesGroupsTwice, "account: spend is the sheet's total of what was acquired"),
    (AsksTheFullPrice, "account: a walk balances at every step"),
    (Overspends, "budgets: no row goes over its budget"),
    (ForgetsItsBudget, "budgets: the budget parameter holds on every row, seen or not"),
    (KnowsNoPrior, "budgets: when nothing is affordable the prior is predicted and nothing is spent"),
    (ForgetsCaps, "budgets: no row passes the cap of a further resource"),
    (TakesAnyBudget, "budgets: what cannot be a budget is refused"),
    (CountsItsBudget, "free is free: with zero costs, budgets and groups are idle"),
    (FearsPrices, "free is free: a trade-off of zero is zero costs"),
    (FearsPrices, "free is free: costs times a power of two give the same bits"),
    (StoresHalf, "round trip: a model from a file is the model saved"),
    (PicklesHalf, "round trip: a pickle is the model, a clone is unfitted"),
    (Improvises, "repeatable: the same fit twice gives the same bits"),
    (CountsItsThreads, "repeatable: any number of threads gives the same bits"),
    (VariesAtWill, "repeatable: a variant is what a fit with its parameters gives"),
    (ReadsLabels, "scikit-learn: labels may be of any type"),
    (WeighsNothing, "scikit-learn: a row of weight zero is not there"),
    (ChangesItsParameters, "scikit-learn: check_estimator passes"),
]


@pytest.mark.parametrize(("broken", "name"), BROKEN)
def test_a_broken_model_is_caught(broken: type[StumpListClassifier], name: str) -> None:
    checks = dict(yield_checks(broken()))
    with pytest.raises(AssertionError) as caught:
        checks[name]()
    assert str(caught.value)


def test_every_check_is_seen_to_fail() -> None:
    names = [name for name, _ in yield_checks(CountsItsThreads())]
    names += [name for name, _ in yield_checks(StumpListClassifier(tradeoff=0.5))]
    assert set(names) == {name for _, name in BROKEN}


def test_the_checks_depend_on_the_parameters() -> None:
    assert not [name for name, _ in yield_checks(StumpListClassifier(tradeoff=None)) if "trade-off" in name]  # type: ignore[arg-type]
    assert not [name for name, _ in yield_checks(StumpListClassifier()) if "threads" in name]


def test_the_plain_model_is_compared() -> None:
    name = "free is free: with zero costs it is the plain model"
    dict(yield_checks(StumpListClassifier(tradeoff=9.0), plain=StumpListClassifier()))[name]()
    check = dict(yield_checks(StumpListClassifier(), plain=DecisionTreeClassifier(max_depth=1)))[name]
    with pytest.raises(AssertionError, match="the plain model"):
        check()


def test_the_estimator_is_left_alone() -> None:
    estimator = StumpListClassifier(budget=2.5)
    for name, check in yield_checks(estimator):
        if name.startswith(("blindness", "repeatable")):
            check()
    assert vars(estimator) == {"costs": None, "budget": 2.5, "tradeoff": 0.0, "n_rules": 12}
