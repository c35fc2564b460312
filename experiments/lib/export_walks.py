"""Walks of the library, recorded question by question, for exports to repeat with the same answers.

A record has all that an export must give again: each question with its price, and before each question, and
at the end, what was spent and on what, the label and the probabilities or the value. Answers, refusals,
budgets, known features and seeds are random.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from farthing.base.registry import trials
from farthing.checks.fitting import fit
from farthing.checks.problems import problems
from farthing.costs import RowLedger
from farthing.export import Program
from farthing.walks import REFUSED
from farthing.walks.drawn_votes import DrawnVotePlan
from farthing.walks.plans import MessagePlan
from farthing.walks.row_walk import RowWalk


@dataclass(frozen=True)
class Outcome:
    """What a walk has come to.

    Parameters
    ----------
    spent : float
    label : int
        The number of the class, -1 for a number.
    results : list of float
        Probabilities, or one value.
    acquired : list of str
        What was paid for.
    """

    spent: float
    label: int
    results: list[float]
    acquired: list[str]


@dataclass(frozen=True)
class Step:
    """A question, with what the walk had come to before it, if the library tells.

    Parameters
    ----------
    before : Outcome or None
    feature : str
    price : float
    answer : object
        As a table holds it; a list of numbers of a message or of probabilities.
    encoded : float
        The answer as a number; NaN for lists.
    refused : bool
    """

    before: Outcome | None
    feature: str
    price: float
    answer: Any
    encoded: float
    refused: bool


@dataclass
class Record:
    """A walk of the library.

    Parameters
    ----------
    budget : float or None
        Its hard budget.
    known : dict of str to object
        What it owned from the start.
    encoded : dict of str to float
        The same as numbers.
    seed : int or None
        Its seed, if learners are drawn.
    steps : list of Step
    end : Outcome
    """

    budget: float | None
    known: dict[str, Any]
    encoded: dict[str, float]
    seed: int | None
    steps: list[Step] = field(default_factory=list)
    end: Outcome | None = None


def fitted_at(method: str, trial: int, table: int) -> tuple[Any, Any]:
    """Return a method fitted on a small table, and unseen rows.

    Parameters
    ----------
    method : str
        A registered name.
    trial : int
        The number of its setting among its trials.
    table : int
        0: numbers alone; 1: with categories.
    """
    estimator = trials(method)[trial]
    problem = problems(estimator, "narrow")[table]
    return fit(estimator, problem), problem.fresh


def record(model: Any, table: Any, n_walks: int, seed: int = 0) -> list[Record]:
    """Return random walks of a model.

    Parameters
    ----------
    model : estimator
        Fitted, of a method that can be exported.
    table : ndarray or DataFrame, shape (n_rows, n_features)
        Where the answers come from.
    n_walks : int
    seed : int
        Of rows, budgets, refusals, known features and the walks' own seeds.
    """
    rng = np.random.default_rng(seed)
    program = Program.of(model)
    rows = np.asarray(table, dtype=object)
    return [
        _one(model, program, rows[int(rng.integers(len(rows)))], number, rng) for number in range(n_walks)
    ]


def _one(model: Any, program: Program, row: Any, number: int, rng: np.random.Generator) -> Record:
    fitted = model.fitted_
    total = fitted.costs.total(fitted.costs.features)
    budget = [None, 0.0, float(rng.random() * total), 1e300][number % 4]
    values = dict(zip(fitted.schema.names, row, strict=True))
    known: dict[str, Any] = {}
    if number % 5 == 0 and not isinstance(program.plan, MessagePlan):
        known = {name: values[name] for name in values if rng.random() < 0.3}
    seed = int(rng.integers(2**63)) if isinstance(program.plan, DrawnVotePlan) and number % 3 else None
    made = Record(
        fitted.budget if budget is None else budget,
        known,
        {name: _encode(fitted, name, value) for name, value in known.items()},
        seed,
    )
    walk = model.walk(budget=budget, known=known, seed=seed)
    if isinstance(program.plan, MessagePlan):
        values = _messages(fitted, row)
    now = _Walking(fitted, program, walk, values, made, float(rng.random() * 0.5), rng)
    if program.handover is not None:
        _walk_to_handover(now)
    else:
        while (ask := walk.ask) is not None:
            _answer(now, ask)
        made.end = _outcome(fitted, walk)
    return made


@dataclass(frozen=True)
class _Walking:
    """A walk of the library that is being recorded."""

    fitted: Any
    program: Program
    walk: Any
    values: dict[str, Any]
    made: Record
    refuses: float
    rng: np.random.Generator


def _answer(now: _Walking, ask: Any, *, compared: bool = True) -> None:
    """Answer a question from the row, or refuse it at random, and record it."""
    fitted, walk, value = now.fitted, now.walk, now.values[ask.feature]
    refused = bool(now.rng.random() < now.refuses)
    before = _outcome(fitted, walk) if compared else None
    if isinstance(now.program.plan, MessagePlan):
        refused |= value is None  # a silent device
        encoded = np.nan
    else:
        encoded = _encode(fitted, ask.feature, value)
    now.made.steps.append(Step(before, ask.feature, ask.price, value, encoded, refused))
    walk.tell(REFUSED if refused else value)


def _messages(fitted: Any, row: Any) -> dict[str, list[float] | None]:
    encoded = [_encode(fitted, name, value) for name, value in zip(fitted.schema.names, row, strict=True)]
    return dict(fitted.messages(np.array([encoded], dtype=np.float64)).row(0))


def _walk_to_handover(now: _Walking) -> None:
    """Record a walk whose last question is the call of another model, which the library calls itself."""
    fitted, program, walk, made = now.fitted, now.program, now.walk, now.made
    handover = program.handover
    assert handover is not None
    policy = walk._row_walk.policy  # noqa: SLF001 - whether the gate has opened is nowhere else
    encoded = {fitted.schema.index(name): value for name, value in made.encoded.items()}
    # Gate and cheap model by themselves, beside the walk.
    alone = RowWalk(fitted.pair.policy(), RowLedger(fitted.costs, made.budget, encoded), encoded)
    while (ask := walk.ask) is not None:
        if alone.column is not None:
            _answer(now, ask)
            last = made.steps[-1]
            alone.refuse() if last.refused else alone.buy(last.encoded)
        elif handover.columns:
            # The library has paid for the call by now; an export pays when it is answered.
            _answer(now, ask, compared=False)
        else:
            walk.tell(now.values[ask.feature])
    sent, end = bool(policy._sent), _outcome(fitted, walk)  # noqa: SLF001
    looked = walk._row_walk.looked if handover.columns else alone.looked  # noqa: SLF001
    has_read = bool(looked[: len(fitted.schema)].any())
    if not sent or (handover.columns and not has_read):
        made.end = end
        return
    answered = policy._call is None and policy._after.output() is not None  # noqa: SLF001
    refused = not answered or bool(now.rng.random() < 0.3)
    made.steps.append(Step(None, handover.name, handover.price, end.results, np.nan, refused))
    names = {*end.acquired} if handover.columns else {*alone.ledger.names}
    names = names - {handover.name} if refused else names | {handover.name}
    bought = [name for name in program.prices.names if name in names]
    spent = _spend(program, bought, set(made.known))
    if not refused:
        made.end = Outcome(spent, end.label, end.results, bought)
        return
    cheap = fitted.row_probabilities(alone.output(), None)[np.newaxis]
    kept = fitted.settle(cheap, np.array([[has_read]]))[0]
    made.end = Outcome(spent, int(np.argmax(kept)), kept.tolist(), bought)


def _spend(program: Program, names: list[str], known: set[str]) -> float:
    """Return the cost of some features of a program, added up in the order of the sheet."""
    prices = program.prices
    places = [prices.names.index(name) for name in names]
    spent = 0.0
    for place in places:
        spent += float(prices.own[place])
    free = {prices.group_of[place] for place, name in enumerate(prices.names) if name in known}
    for group in sorted({prices.group_of[place] for place in places} - free - {-1}):
        spent += float(prices.shared[group])
    return spent


def _encode(fitted: Any, name: str, value: Any) -> float:
    return float(fitted.schema.encode_value(fitted.schema.index(name), value))


def _outcome(fitted: Any, walk: Any) -> Outcome:
    decision = walk.decision
    if decision.probabilities is None:
        return Outcome(decision.spent, -1, [float(decision.prediction)], list(decision.acquired))
    label = fitted.classes.tolist().index(decision.prediction)
    return Outcome(decision.spent, label, list(decision.probabilities.values()), list(decision.acquired))
