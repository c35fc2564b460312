"""The contract as checks: what every estimator of Farthing keeps, for any estimator that wants to keep it.

With pytest::

    @pytest.mark.parametrize(("name", "check"), yield_checks(MyClassifier()))
    def test_contract(name, check):
        check()
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

from farthing._trial import (
    CATEGORICAL,
    NAMES,
    NOTHING,
    REFUSED,
    SHEET,
    TOTAL,
    Problem,
    answers_of,
    assert_decides,
    assert_raises,
    assert_same,
    budgets,
    columns_of,
    finish,
    fit,
    fit_budget,
    hears_devices,
    is_paid,
    overwritten,
    own_budget,
    poor_answer,
    problems,
    sheet_of,
    source_of,
    step,
)
from farthing.base import load
from farthing.costs import CostSheet, Group
from farthing.errors import BudgetError, WalkError

__all__ = ["yield_checks"]

Check: TypeAlias = Callable[[], None]
OnModels: TypeAlias = Callable[["_Models"], None]
OnProblem: TypeAlias = Callable[[Any, Problem], None]

# Name, what is checked, and the parameters without which an estimator has no part in it; all in the order of
# the design.
_CHECKS: list[tuple[str, OnModels, tuple[str, ...]]] = []
# Names of the checks that predict a row without its neighbours, or with others; they are for estimators whose
# rows are predicted one by one, as those of a class that says ``_rows_alone = False`` are not.
_ROWS_ALONE: set[str] = set()
# The check of scikit-learn that does the same.
_SKLEARN_ROWS_ALONE = ("check_methods_subset_invariance",)


def yield_checks(estimator: Any, *, plain: Any = None) -> Iterator[tuple[str, Check]]:
    """Yield the checks of the contract for an estimator, each with its name.

    Parameters
    ----------
    estimator : estimator
        An instance; it is cloned, never changed. The checks set ``costs``, ``budget``, ``tradeoff``,
        ``random_state`` and ``n_jobs`` where it has them and leave its other parameters alone. A class that
        has another name for its trade-off gives it as ``_tradeoff``. A class whose ``budget`` caps every row
        says so by ``_hard_budget = True``; one whose rows are not predicted one by
        one, since its unit is a query, by ``_rows_alone = False``: it is exempt from the checks of row
        independence. One whose ``budget`` is a share of what everything costs says
        ``_budget_is_share = True``. One that asks devices, not columns, says ``_asks_columns = False``, and
        has ``messages``: its walks are told what devices say, and it may look at the messages of those that
        speak alone.
    plain : estimator, optional
        A model that knows no costs; if given, the estimator must predict what it predicts once all costs are
        zero.

    Yields
    ------
    name : str
        What must hold: the invariant, a colon, and the case.
    check : callable
        Takes nothing; raises AssertionError if it does not hold.

    Examples
    --------
    >>> from farthing.checks import yield_checks
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> name, check = next(yield_checks(DecisionTreeClassifier()))
    >>> name
    'blindness: entries not acquired may be anything'
    >>> check()
    Traceback (most recent call last):
    ...
    AssertionError: DecisionTreeClassifier has no acquired(): it does not keep the contract
    """
    has = {name for name, value in estimator.get_params().items() if name != "tradeoff" or value is not None}
    if _rate_of(estimator) is not None:
        has.add("tradeoff")
    models = _Models(estimator)
    for name, check, needed in _CHECKS:
        if name in _ROWS_ALONE and not getattr(estimator, "_rows_alone", True):
            continue
        if has.issuperset(needed):
            yield name, partial(check, models)
    if plain is not None:
        yield "free is free: with zero costs it is the plain model", partial(_check_plain, estimator, plain)


class _Models:
    """The estimator, and what it gives when it is fitted on every small table: once, for many checks."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @cached_property
    def fitted(self) -> list[tuple[Any, Problem]]:
        """The models, each with its table; a check must not change them."""
        return [(fit(self.estimator, problem), problem) for problem in problems(self.estimator)]


def _rate_name(estimator: Any) -> str:
    """Return what the estimator calls its trade-off."""
    return str(getattr(estimator, "_tradeoff", "tradeoff"))


def _rate_of(estimator: Any) -> float | None:
    """Return the trade-off of an estimator; None is one that it does not make."""
    return estimator.get_params().get(_rate_name(estimator))  # type: ignore[no-any-return]


def _check(name: str, *needed: str) -> Callable[[OnProblem], OnProblem]:
    """Enter a check of an estimator, to be run on every small table."""

    def enter(check: OnProblem) -> OnProblem:
        def run(models: _Models) -> None:
            for problem in problems(models.estimator):
                check(models.estimator, problem)

        _CHECKS.append((name, run, needed))
        return check

    return enter


def _model_check(name: str, *, rows_alone: bool = False) -> Callable[[OnProblem], OnProblem]:
    """Enter a check of a model, to be run on one fitted on every small table."""

    def enter(check: OnProblem) -> OnProblem:
        def run(models: _Models) -> None:
            for model, problem in models.fitted:
                check(model, problem)

        if rows_alone:
            _ROWS_ALONE.add(name)
        _CHECKS.append((name, run, ()))
        return check

    return enter


# 1. Blindness.


@_model_check("blindness: entries not acquired may be anything")
def _check_blind(model: Any, problem: Problem) -> None:
    for budget in budgets(len(problem.fresh)):
        expected = answers_of(model, problem.fresh, budget=budget)
        hidden = ~expected["acquired"]
        for number, text in ((1e6, "unseen"), (-3.5, "ash"), (np.nan, None)):
            X = overwritten(model, problem.fresh, hidden, number, text)
            got = answers_of(model, X, budget=budget)
            assert_same(got, expected, f"with {number} in entries not acquired, budget={budget}")


@_model_check("blindness: only acquired entries are validated")
def _check_validates_acquired(model: Any, problem: Problem) -> None:
    expected = answers_of(model, problem.fresh)
    if hears_devices(model):
        _check_validates_heard(model, problem, expected["acquired"])
        return
    X = problem.fresh.astype(object)
    numeric = np.arange(len(NAMES)) != CATEGORICAL
    X[~expected["acquired"] & numeric] = "text"
    try:
        got = answers_of(model, X)
    except ValueError as error:
        raise AssertionError(f"an entry that is not acquired was validated: {error}") from error
    assert_same(got, expected, "with text in entries not acquired")
    for row, column in np.argwhere(expected["acquired"] & numeric)[:1]:
        X[row, column] = "text"
        assert_raises(ValueError, partial(model.predict, X), "text in a numeric column", NAMES[column])


def _check_validates_heard(model: Any, problem: Problem, acquired: NDArray[np.bool_]) -> None:
    """Gates of devices read all of a table; what the cloud must not look at is what silent ones say."""
    for row, device in np.argwhere(acquired)[:1]:
        odd = np.zeros(acquired.shape, dtype=np.bool_)
        odd[row, device] = True
        sent = overwritten(model, problem.fresh, odd, np.nan, None)
        assert_raises(ValueError, partial(model.predict, sent), "a message of NaN", NAMES[device])


# 2. One truth.


@_model_check("one truth: a walk fed from a row gives what the array calls give", rows_alone=True)
def _check_walk_is_row(model: Any, problem: Problem) -> None:
    n_rows = len(problem.fresh)
    every_seeds: list[Any] = [None]
    if "seeds" in inspect.signature(model.predict).parameters:
        every_seeds.append(np.arange(n_rows) + 11)
    for budget in budgets(n_rows):
        for seeds in every_seeds:
            options: dict[str, Any] = {} if seeds is None else {"seeds": seeds}
            answers = answers_of(model, problem.fresh, budget=budget, **options)
            for row in range(n_rows):
                seed = None if seeds is None else int(seeds[row])
                walk = model.walk(seed=seed, budget=own_budget(budget, row))
                finish(walk, source_of(model, problem.fresh, row))
                assert_decides(walk, model, answers, row, f"budget={own_budget(budget, row)}, seed={seed}")


@_model_check("one truth: decide is the other array calls in one pass")
def _check_decide(model: Any, problem: Problem) -> None:
    if not hasattr(model, "decide"):
        return
    for budget in budgets(len(problem.fresh)):
        answers = answers_of(model, problem.fresh, budget=budget)
        decided = model.decide(problem.fresh, budget=budget)
        got = {"predict": decided.prediction, "spend": decided.spent, "acquired": decided.acquired}
        if "predict_proba" in answers:
            got["predict_proba"] = decided.probabilities
        assert_same(got, {call: answers[call] for call in got}, "between decide and the single calls")


@_model_check("one truth: a row is the same alone and among others", rows_alone=True)
def _check_row_alone(model: Any, problem: Problem) -> None:
    for budget in budgets(len(problem.fresh)):
        answers = answers_of(model, problem.fresh, budget=budget)
        for row in range(len(problem.fresh)):
            alone = answers_of(model, problem.fresh[row : row + 1], budget=own_budget(budget, row))
            expected = {call: array[row : row + 1] for call, array in answers.items()}
            assert_same(alone, expected, f"when row {row} is predicted alone, budget={budget}")


@_check("one truth: arrays and frames, columns in any order")
def _check_frames(estimator: Any, problem: Problem) -> None:
    expected = answers_of(fit(estimator, problem), problem.fresh)
    seen, fresh = columns_of(problem.X), columns_of(problem.fresh)
    for library in ("pandas", "polars"):
        try:
            frame = importlib.import_module(library).DataFrame
        except ImportError:
            continue
        model = fit(estimator, Problem(frame(seen), problem.y, problem.fresh))
        assert list(model.feature_names_in_) == list(NAMES), "feature_names_in_ are not the columns"
        assert_same(answers_of(model, frame(fresh)), expected, f"between an array and a {library} frame")
        turned = frame(dict(reversed(fresh.items())))
        assert_same(answers_of(model, turned), expected, f"with the columns of {library} in another order")
        renamed = frame({"x9" if name == "x4" else name: column for name, column in fresh.items()})
        assert_raises(ValueError, partial(model.predict, renamed), "a frame without x4", "x4")


@_model_check("one truth: a refused feature is missing, free and not asked again")
def _check_refusals(model: Any, problem: Problem) -> None:
    untouched = model.walk().decision
    for row in range(len(problem.fresh)):
        for kept in (NAMES[::2], NAMES[1::2], ()):
            told = source_of(model, problem.fresh, row)
            source = {name: value for name, value in told.items() if name in kept}
            walk = model.walk()
            finish(walk, source)
            decision = walk.decision
            assert set(decision.acquired) <= set(kept), f"refused features are in {decision.acquired}"
            assert decision.spent == sheet_of(model).total(decision.acquired), "a refused feature was charged"
            if not kept:
                assert decision == untouched, f"all refused gives {decision}, nothing asked {untouched}"


@_model_check("one truth: known features are free and not asked")
def _check_known(model: Any, problem: Problem) -> None:
    for row in range(len(problem.fresh)):
        source = source_of(model, problem.fresh, row)
        for names in (NAMES[:3], NAMES[3:], NAMES):
            walk = model.walk(known={name: source[name] for name in names}, budget=0.5 * TOTAL)
            asked = dict(finish(walk, source))
            decision = walk.decision
            assert not set(asked) & set(names), f"known features were asked for: {sorted(asked)}"
            assert not set(decision.acquired) & set(names), f"known features are in {decision.acquired}"
            due = sheet_of(model).total(decision.acquired, owned=names)
            assert decision.spent == due, f"{decision.spent} was charged for {due} beside what is known"
            assert due <= 0.5 * TOTAL * (1 + 1e-12), f"{due} is over the budget of the walk"
    assert_raises(ValueError, partial(model.walk, known={"x77": 1.0}), "an unknown name", "x77")


@_model_check("one truth: a walk resumes anywhere from its answers")
def _check_resumes(model: Any, problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(model))
    for row in range(0, len(problem.fresh), 3):
        told = source_of(model, problem.fresh, row)
        source = {name: value for name, value in told.items() if name != NAMES[row % 6]}
        walk, log = model.walk(seed=row, budget=0.8 * TOTAL), []
        while (ask := walk.ask) is not None:
            log.append((ask.feature, source.get(ask.feature, REFUSED)))
            step(walk, log[-1][1])
            resumed = copy.walk(seed=row, budget=0.8 * TOTAL)
            for feature, answer in log:
                assert resumed.ask is not None, f"a walk with the same answers ended before {feature!r}"
                asked = resumed.ask.feature
                assert asked == feature, f"the same answers led to {asked!r}, then to {feature!r}"
                step(resumed, answer)
            assert (resumed.ask, resumed.decision) == (walk.ask, walk.decision), (
                f"after {log} one walk is at {walk.ask}, {walk.decision}, another at "
                f"{resumed.ask}, {resumed.decision}"
            )


@_model_check("one truth: a bad answer changes nothing, and the end takes none")
def _check_bad_answers(model: Any, problem: Problem) -> None:
    walk = model.walk()
    while (ask := walk.ask) is not None and ask.feature == NAMES[CATEGORICAL]:
        walk.refuse()  # there text would be an answer
    if ask is not None:
        before = walk.decision
        assert_raises(ValueError, lambda: walk.tell("text"), "text for a number", ask.feature)
        assert (walk.ask, walk.decision) == (ask, before), "a bad answer moved the walk"
        walk.tell(poor_answer(model))
        assert walk.decision.acquired == (ask.feature,), "an answer that tells nothing was not paid for"
    finish(walk, source_of(model, problem.fresh, 0))
    assert_raises(WalkError, lambda: walk.tell(1.0), "tell at the end of a walk")
    assert_raises(WalkError, walk.refuse, "refuse at the end of a walk")


# 3. The account balances.


@_model_check("account: spend is the sheet's total of what was acquired")
def _check_account(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model)
    for budget in budgets(len(problem.fresh)):
        acquired = model.acquired(problem.fresh, budget=budget)
        assert acquired.dtype == np.bool_, f"acquired is of {acquired.dtype}, not bool"
        assert acquired.shape == problem.fresh.shape, f"acquired has shape {acquired.shape}"
        due = np.array([sheet.total(row) for row in acquired])
        got = {"spend": model.spend(problem.fresh, budget=budget)}
        assert_same(got, {"spend": due}, "from the sheet's total of what was acquired")


@_model_check("account: a walk balances at every step")
def _check_walk_account(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model)
    for row in range(len(problem.fresh)):
        source, walk = source_of(model, problem.fresh, row), model.walk()
        bought: set[str] = set()
        while (ask := walk.ask) is not None:
            price = sheet.price(ask.feature, owned=bought)
            assert ask.price == price, f"{ask.feature!r} was offered at {ask.price}, its price is {price}"
            walk.tell(source[ask.feature])
            if is_paid(model, source[ask.feature]):
                bought.add(ask.feature)
            decision = walk.decision
            assert set(decision.acquired) == bought, f"acquired is {decision.acquired}, told was {bought}"
            due = sheet.total(bought)
            assert decision.spent == due, f"{decision.spent} was charged for {sorted(bought)}, due is {due}"


# 4. Budgets hold.


@_model_check("budgets: no row goes over its budget")
def _check_budgets(model: Any, problem: Problem) -> None:
    sheet = sheet_of(model)
    for X in (problem.X, problem.fresh):
        for budget in budgets(len(X)):
            due = sheet.total_rows(model.acquired(X, budget=budget))
            cap = np.inf if budget is None else budget
            assert (due <= np.multiply(cap, 1 + 1e-12)).all(), f"rows paid up to {due.max()} of {budget}"
        bought = model.acquired(X).any()
        assert bought, "no row acquires anything: these tables do not show what the model does"


@_check("budgets: the budget parameter holds on every row, seen or not", "costs", "budget")
def _check_hard_parameter(estimator: Any, problem: Problem) -> None:
    if not getattr(estimator, "_hard_budget", False):
        return  # a mean budget holds on the data that chose the model, which only the model knows
    for budget in (0.0, 0.25 * TOTAL, 0.5 * TOTAL):
        model = fit(estimator, problem, budget=budget)
        for X in (problem.X, problem.fresh):
            due = SHEET.total_rows(model.acquired(X))
            assert (due <= budget * (1 + 1e-12)).all(), f"rows paid up to {due.max()} of {budget}"


@_check("budgets: with nothing affordable the prior, for nothing")
def _check_prior(estimator: Any, problem: Problem) -> None:
    weights = np.random.default_rng(5).integers(1, 4, size=len(problem.y))
    model = fit(estimator, problem, costs=CostSheet.uniform(NAMES), sample_weight=weights)
    answers = answers_of(model, problem.fresh, budget=0)
    assert not answers["acquired"].any(), "something was acquired with a budget of zero"
    assert not answers["spend"].any(), "something was paid with a budget of zero"
    if "predict_proba" in answers:
        shares = [weights[problem.y == label].sum() / weights.sum() for label in model.classes_]
        wrong = np.abs(answers["predict_proba"] - shares).max()
        assert wrong < 1e-9, f"the prior is {shares}; got {answers['predict_proba'][0]}"
    if not is_classifier(model):
        mean = np.average(problem.y, weights=weights)
        assert np.abs(answers["predict"] - mean).max() < 1e-9, f"the mean is {mean}; got {answers['predict']}"
    assert_decides(model.walk(), model, answers, 0, "before the first answer")


@_model_check("budgets: what cannot be a budget is refused")
def _check_bad_budgets(model: Any, problem: Problem) -> None:
    for budget in (np.nan, -1.0, np.ones(3), np.full(len(problem.fresh), -1.0)):
        call = partial(model.predict, problem.fresh, budget=budget)
        assert_raises(ValueError, call, f"a budget of {budget}")
    for budget in (np.nan, -1.0):
        assert_raises(ValueError, partial(model.walk, budget=budget), f"a walk with a budget of {budget}")


# 5. Free is free.


@_check("free is free: with zero costs, budgets and groups are idle", "costs")
def _check_zero_costs(estimator: Any, problem: Problem) -> None:
    expected = answers_of(fit(estimator, problem, costs=NOTHING, budget=None), problem.fresh)
    assert not expected["spend"].any(), "something was paid with zero costs"
    grouped = CostSheet(dict.fromkeys(NAMES, 0.0), groups={"lab": Group(0.0, ["x1", "x4"])})
    for budget in (None, 0.0, 1.0):
        model = fit(estimator, problem, costs=grouped, budget=budget)
        assert_same(answers_of(model, problem.fresh), expected, f"with zero costs and budget={budget}")
        got = answers_of(model, problem.fresh, budget=0.0)
        assert_same(got, expected, "with zero costs and a budget of zero at prediction")


@_check("free is free: a trade-off of zero is zero costs", "costs", "tradeoff")
def _check_zero_tradeoff(estimator: Any, problem: Problem) -> None:
    free = answers_of(fit(estimator, problem, costs=NOTHING, budget=None), problem.fresh)
    rate = {_rate_name(estimator): 0.0}
    blind = answers_of(fit(estimator, problem, budget=None, **rate), problem.fresh)
    del free["spend"], blind["spend"]
    assert_same(blind, free, "between a trade-off of zero and costs of zero")


@_check("free is free: costs times a power of two give the same bits", "costs")
def _check_scale(estimator: Any, problem: Problem) -> None:
    tradeoff, name = _rate_of(estimator), _rate_name(estimator)
    rates = [{}] if tradeoff is None else [{name: tradeoff}, {name: 0.3}]
    for rate, capped in itertools.product(rates, (False, True)):
        budget = fit_budget(estimator) if capped else None
        try:
            model = fit(estimator, problem, budget=budget, **rate)
        except BudgetError:
            continue  # a mean budget that what must be bought exceeds
        for s in (0.25, 1024.0):
            other = fit(
                estimator,
                problem,
                costs=SHEET.scaled(s),
                budget=fit_budget(estimator, s) if capped else None,
                **{name: value / s for name, value in rate.items()},
            )
            for cap in budgets(len(problem.fresh)):
                expected = answers_of(model, problem.fresh, budget=cap)
                expected["spend"] = expected["spend"] * s
                got = answers_of(other, problem.fresh, budget=None if cap is None else cap * s)
                assert_same(got, expected, f"with costs and budget={budget} times {s}, {rate} over {s}")


def _check_plain(estimator: Any, plain: Any) -> None:
    problem = next(problems(estimator))
    model = fit(estimator, problem, costs=NOTHING, budget=None)
    rival = clone(plain).fit(problem.X, problem.y)
    got, expected = model.predict(problem.fresh), rival.predict(problem.fresh)
    close = np.array_equal if is_classifier(model) else np.allclose
    assert close(got, expected), f"with zero costs it predicts {got}, the plain model {expected}"


# 6. Round trip.


@_model_check("round trip: a model from a file is the model saved")
def _check_file(model: Any, problem: Problem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder, "first.farthing"), Path(folder, "second.farthing")
        model.save(first)
        loaded = load(str(first))
        loaded.save(second)
        assert first.read_bytes() == second.read_bytes(), "saving what was loaded gives another file"
    assert type(loaded) is type(model), f"a {type(model).__name__} came back as {type(loaded).__name__}"
    for budget in budgets(len(problem.fresh)):
        expected = answers_of(model, problem.fresh, budget=budget)
        assert_same(answers_of(loaded, problem.fresh, budget=budget), expected, "after save and load")


@_model_check("round trip: a pickle is the model, a clone is unfitted")
def _check_pickle(model: Any, problem: Problem) -> None:
    copy = pickle.loads(pickle.dumps(model))
    assert_same(answers_of(copy, problem.fresh), answers_of(model, problem.fresh), "after a pickle")
    assert_raises(ValueError, clone(model).walk, "a walk of a model that is not fitted")


# 7. Repeatable.


@_model_check("repeatable: the same fit twice gives the same bits")
def _check_repeats(model: Any, problem: Problem) -> None:
    expected = answers_of(model, problem.fresh)
    assert_same(answers_of(model, problem.fresh), expected, "when predicted twice")
    assert_same(answers_of(fit(model, problem), problem.fresh), expected, "when fitted by a clone")
    assert_same(answers_of(model.fit(problem.X, problem.y), problem.fresh), expected, "when fitted again")


@_check("repeatable: any number of threads gives the same bits", "n_jobs")
def _check_threads(estimator: Any, problem: Problem) -> None:
    expected = answers_of(fit(estimator, problem, n_jobs=1), problem.fresh)
    for n_jobs in (2, 3, -1):
        got = answers_of(fit(estimator, problem, n_jobs=n_jobs), problem.fresh)
        assert_same(got, expected, f"between n_jobs=1 and n_jobs={n_jobs}")


@_check("repeatable: a variant is what a fit with its parameters gives")
def _check_variants(estimator: Any, problem: Problem) -> None:
    model = fit(estimator, problem)
    found = list(model.variants()) if hasattr(model, "variants") else []
    for params, variant in found[:: max(1, len(found) // 3)]:
        again = fit(model, problem, **params)
        assert_same(answers_of(variant, problem.fresh), answers_of(again, problem.fresh), f"for {params}")


# 8. A scikit-learn estimator.


@_check("scikit-learn: labels may be of any type")
def _check_labels(estimator: Any, problem: Problem) -> None:
    if not is_classifier(estimator):
        return
    expected = answers_of(fit(estimator, problem), problem.fresh)
    names, codes = np.unique(problem.y, return_inverse=True)
    for labels in (np.arange(len(names)) - 1, names.astype(object), np.arange(len(names)) + 0.0):
        model = fit(estimator, Problem(problem.X, labels[codes], problem.fresh))
        got = answers_of(model, problem.fresh)
        got["predict"] = names[np.searchsorted(labels, got["predict"])]
        assert_same(got, expected, f"with the labels {labels}")


@_check("scikit-learn: a row of weight zero is not there")
def _check_weights(estimator: Any, problem: Problem) -> None:
    n_rows = len(problem.y)
    kept = np.random.default_rng(2).random(n_rows) < 0.8
    weights = np.where(kept, np.arange(n_rows) % 3 + 1.0, 0.0)
    model = fit(estimator, problem, sample_weight=weights)
    less = Problem(problem.X[kept], problem.y[kept], problem.fresh)
    expected = answers_of(fit(estimator, less, sample_weight=weights[kept]), problem.fresh)
    for call, array in answers_of(model, problem.fresh).items():
        close = np.allclose if array.dtype.kind == "f" else np.array_equal
        assert close(array, expected[call]), f"{call} depends on rows of weight zero"
    for wrong in (-weights, np.full(n_rows, np.nan), np.ones(n_rows + 1), np.zeros(n_rows)):
        call_it = partial(fit, estimator, problem, sample_weight=wrong)
        assert_raises(ValueError, call_it, f"sample_weight={wrong[:3]}...")


def _check_scikit_learn(models: _Models) -> None:
    estimator = models.estimator
    exempt = () if getattr(estimator, "_rows_alone", True) else _SKLEARN_ROWS_ALONE
    expected = dict.fromkeys(exempt, "a row is predicted within its query")
    check_estimator(clone(estimator), on_skip=None, expected_failed_checks=expected)


_CHECKS.append(("scikit-learn: check_estimator passes", _check_scikit_learn, ()))
