"""What the contract's checks are made of: small seeded tables, models fitted on them, walks, comparisons."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from farthing.costs import CostSheet, Group
from farthing.errors import BudgetWarning

Answers: TypeAlias = dict[str, NDArray[Any]]

NAMES = ("x0", "x1", "x2", "x3", "x4", "x5")
# A free feature, two groups, and costs whose sums round.
SHEET = CostSheet(
    dict(zip(NAMES, (1.0, 0.3, 0.7, 0.0, 2.1, 0.1), strict=True)),
    groups={"lab": Group(1.3, ["x1", "x4"]), "scan": Group(0.6, ["x2", "x5"])},
)
NOTHING = CostSheet(dict.fromkeys(NAMES, 0.0))
TOTAL = SHEET.total(NAMES)
CATEGORICAL = 2  # the column that holds text in one of the tables
REFUSED = object()  # an answer that is none


@dataclass(frozen=True)
class Problem:
    """A table to fit on and one to predict."""

    X: Any  # (60, 6), seen in fitting
    y: NDArray[Any]
    fresh: NDArray[Any]  # (30, 6), unseen


def problems(estimator: Any) -> Iterator[Problem]:
    """Yield a table of floats with NaN and an object table with categories, seeded."""
    for mixed in (False, True):
        rng = np.random.default_rng(7 + mixed)
        table = np.round(rng.normal(size=(90, 6)), 2)
        table[:, 2] = rng.integers(0, 3, size=90)
        table[:, 3] = rng.integers(0, 2, size=90)
        signal = table[:, 0] + (table[:, 2] == 1) * 1.5 - table[:, 1] + table[:, 3] + 0.5 * table[:, 4]
        table[rng.random(size=table.shape) < 0.1] = np.nan
        X = table.astype(object) if mixed else table
        if mixed:
            trees = ("ash", "beech", "cedar")
            codes = table[:, CATEGORICAL]
            X[:, CATEGORICAL] = [None if np.isnan(code) else trees[int(code)] for code in codes]
        y = _target(estimator, signal)
        yield Problem(X[:60], y[:60], X[60:])


def _target(estimator: Any, signal: NDArray[np.float64]) -> NDArray[Any]:
    if not is_classifier(estimator):
        return signal
    binary = not get_tags(estimator).classifier_tags.multi_class
    codes = np.searchsorted([0.8] if binary else [0.3, 1.5], signal)
    return np.array(["low", "mid", "top"])[codes]


def fit(estimator: Any, problem: Problem, sample_weight: Any = None, **params: Any) -> Any:
    """Fit a clone with the sheet and a fixed seed, and with those of ``params`` that the estimator has."""
    for call in ("acquired", "spend", "walk", "save"):
        if not hasattr(estimator, call):
            raise AssertionError(f"{type(estimator).__name__} has no {call}(): it does not keep the contract")
    model = clone(estimator)
    given = {"costs": SHEET, "random_state": 0, **params}
    model.set_params(**{name: value for name, value in given.items() if name in model.get_params()})
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)  # some budgets of the checks are meant to buy nothing
        return model.fit(problem.X, problem.y, **options)


def sheet_of(model: Any) -> CostSheet:
    """Return the prices that the model was given, not those it claims."""
    return SHEET if "costs" in model.get_params() else CostSheet.uniform(NAMES)


def budgets(n_rows: int) -> list[Any]:
    """Return no budget, one for all rows, and one for each row."""
    each = np.random.default_rng(3).permutation(np.linspace(0, TOTAL, n_rows))
    exact = SHEET.total(["x0", "x1"])  # to the last bit what two features cost
    return [None, 0.0, 0.4, exact, 0.6 * TOTAL, np.inf, each]


def own_budget(budget: Any, row: int) -> Any:
    """Return what one row may spend."""
    return float(budget[row]) if isinstance(budget, np.ndarray) else budget


def answers_of(model: Any, X: Any, **options: Any) -> Answers:
    """Return what all the array calls that the model has say about a table."""
    calls = ("predict", "acquired", "spend", "predict_proba", "decision_function")
    return {call: getattr(model, call)(X, **options) for call in calls if hasattr(model, call)}


def assert_same(got: Answers, expected: Answers, when: str) -> None:
    """Compare bit by bit."""
    for call, right in expected.items():
        left = got[call]
        assert left.shape == right.shape, f"{call} has shape {left.shape}, not {right.shape}, {when}"
        if _same_bits(left, right):
            continue
        wrong = [row for row in range(len(right)) if not _same_bits(left[row], right[row])]
        assert not wrong, f"{call} differs on row {wrong[0]}, {left[wrong[0]]} for {right[wrong[0]]}, {when}"


def _same_bits(left: Any, right: Any) -> bool:
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype.kind == right.dtype.kind == "f":
        return bool(left.astype(np.float64).tobytes() == right.astype(np.float64).tobytes())
    return bool(np.array_equal(left, right))


def columns_of(X: NDArray[Any]) -> dict[str, list[Any]]:
    """Return a table as lists by name, of which any library makes a frame."""
    return {name: X[:, column].tolist() for column, name in enumerate(NAMES)}


def row_of(X: NDArray[Any], row: int) -> dict[str, Any]:
    """Return a row as a source of answers."""
    return dict(zip(NAMES, X[row], strict=True))


def hears_devices(model: Any) -> bool:
    """Tell whether the ledger is over devices, which may keep silent, rather than over columns."""
    return bool(getattr(model, "asks", "columns") == "devices")


def source_of(model: Any, X: Any, row: int) -> dict[str, Any]:
    """Return what a walk about a row is told: its entries, or what its devices say."""
    return model.messages(X).row(row) if hears_devices(model) else row_of(X, row)


def is_paid(model: Any, answer: Any) -> bool:
    """Tell whether an answer costs its price; the silence of a device does not."""
    return answer is not None or not hears_devices(model)


def poor_answer(model: Any) -> Any:
    """Return an answer that tells nothing and is paid: a missing value, or a message of zeros."""
    return np.zeros(len(model.prior_)) if hears_devices(model) else np.nan


def fit_budget(estimator: Any, factor: float = 1.0) -> float:
    """Return half of what everything costs as a ``budget`` parameter, with prices times a factor."""
    return 0.5 if getattr(estimator, "_budget_is_share", False) else 0.5 * TOTAL * factor


def overwritten(model: Any, X: Any, hidden: NDArray[np.bool_], number: float, text: Any) -> Any:
    """Return a table, or what devices said, with something else where it must not be looked at."""
    if hears_devices(model):
        sent = model.messages(X)
        return replace(sent, scores=np.where(hidden[:, :, np.newaxis], number, sent.scores))
    X = X.copy()
    for column in range(len(NAMES)):
        is_text = column == CATEGORICAL and X.dtype == object
        X[hidden[:, column], column] = text if is_text else number
    return X


def step(walk: Any, answer: Any) -> None:
    """Tell or refuse."""
    if answer is REFUSED:
        walk.refuse()
    else:
        walk.tell(answer)


def finish(walk: Any, source: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Answer every question, refusing what the source lacks; return questions and answers."""
    log: list[tuple[str, Any]] = []
    while (ask := walk.ask) is not None:
        assert ask.feature not in dict(log), f"the walk asked for {ask.feature!r} twice"
        log.append((ask.feature, source.get(ask.feature, REFUSED)))
        step(walk, log[-1][1])
    return log


def assert_decides(walk: Any, model: Any, answers: Answers, row: int, when: str) -> None:
    """Compare a walk's decision with a row of the array calls."""
    decision = walk.decision
    got = {
        "predict": np.array([decision.prediction]),
        "spend": np.array([decision.spent]),
        "acquired": np.isin(NAMES, decision.acquired)[np.newaxis],
    }
    if "predict_proba" in answers:
        assert list(decision.probabilities) == model.classes_.tolist(), f"a class is missing {when}"
        got["predict_proba"] = np.array([list(decision.probabilities.values())])
    expected = {call: answers[call][row : row + 1] for call in got}
    assert_same(got, expected, f"between a walk fed from row {row} and the array calls, {when}")


def assert_raises(kind: type[Exception], call: Callable[[], object], what: str, naming: str = "") -> None:
    """Check that a call fails as it should, with a message that names something."""
    message = None
    try:
        call()
    except kind as error:
        message = str(error)
    assert message is not None, f"{what} raised no error"
    assert naming in message, f"the error for {what} does not name {naming}: {message}"
