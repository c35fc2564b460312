"""Sources that fail, hang, lie or slow down: the walk goes on, ends, and pays for what it got."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import numpy as np
import pytest
from tests.stumps import StumpListClassifier

from farthing import REFUSED, aconsult, consult
from farthing.errors import SourceError, TableError
from farthing.sources import CircuitBreaker, Source, Sources

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
MODEL = StumpListClassifier(costs=[1, 2]).fit(
    X, ["a", "b", "c", "c"] * 5
)  # asks for x0, and then x1 if it is 0


def both(sources: Sources, row: Any = None) -> list[Any]:
    """Return the decisions of `consult` and `aconsult`."""
    return [consult(MODEL, sources, row=row), asyncio.run(aconsult(MODEL, sources, row=row))]


def with_x1(fetch: Any, **rules: Any) -> Sources:
    """Return sources of which that of x0 gives 0, so that x1 is asked for."""
    return Sources([Source(lambda row: 0.0, "x0"), Source(fetch, "x1", **rules)])


def without_x1() -> Any:
    return consult(MODEL, {"x0": 0.0, "x1": REFUSED})


def fail(row: Any) -> float:
    raise OSError("the cable is cut")


async def fail_async(row: Any) -> float:
    raise OSError("the cable is cut")


def test_sources_that_work_give_what_a_mapping_gives() -> None:
    for row in range(4):
        table = Sources([Source(lambda row: X[row], ["x0", "x1"], name="table", price=2)])
        wanted = consult(MODEL, {"x0": X[row, 0], "x1": X[row, 1]})
        assert both(table, row) == [wanted, wanted]
        assert consult(MODEL, next(iter(table)), row=row) == wanted


def test_a_source_is_called_once_for_a_row_and_only_if_it_is_needed() -> None:
    called: list[str] = []

    def one(name: str, value: float) -> Source:
        return Source(lambda row: called.append(name) or value, name)

    consult(MODEL, Sources([one("x0", 1.0), one("x1", 1.0)]))
    assert called == ["x0"]

    pair = Source(lambda row: called.append("pair") or {"x1": 1.0, "x0": 0.0, "other": 3}, ["x0", "x1"])
    assert consult(MODEL, Sources([pair])).acquired == ("x0", "x1")
    assert called == ["x0", "pair"]
    assert pair.n_calls == 1


@pytest.mark.parametrize(
    "liar",
    [
        pytest.param(lambda row: "much", id="text for a number"),
        pytest.param(lambda row: {"x9": 1.0}, id="other features"),
        pytest.param(lambda row: [1.0, 2.0], id="too many values"),
        pytest.param(lambda row: object(), id="an object"),
        pytest.param(lambda row: b"1", id="bytes"),
        pytest.param(lambda row: np.zeros((2, 2)), id="a matrix"),
        pytest.param(lambda row: [[1.0]], id="a list in a list"),
        pytest.param(fail, id="an error"),
        pytest.param(lambda row: REFUSED, id="not available"),
    ],
)
def test_what_a_source_cannot_give_is_refused_and_free(liar: Any) -> None:
    decisions = both(with_x1(liar))
    assert decisions == [without_x1(), without_x1()]
    assert decisions[0].spent == 1.0


def test_a_coroutine_function_that_fails_is_refused() -> None:
    assert asyncio.run(aconsult(MODEL, with_x1(fail_async))) == without_x1()
    with pytest.raises(TypeError, match=r"'x1' is a coroutine function; use await farthing.aconsult"):
        consult(MODEL, with_x1(fail_async))


def test_a_missing_value_is_one_and_is_paid() -> None:
    wanted = consult(MODEL, {"x0": 0.0, "x1": None})
    assert both(with_x1(lambda row: None)) == [wanted, wanted]
    assert wanted.spent == 3.0


def test_faults_say_what_happened() -> None:
    answers = with_x1(fail, retries=1, pause=0).begin(None)
    consult(MODEL, answers)
    assert answers.faults == {"x1": "the source 'x1' failed (2 attempts): the cable is cut"}
    answers = with_x1(lambda row: "much").begin(None)
    consult(MODEL, answers)
    assert "column 'x1'" in answers.faults["x1"]


def test_a_source_that_hangs_is_left_behind() -> None:
    gate = threading.Event()
    try:
        sources = with_x1(lambda row: gate.wait(60), timeout=0.05)
        assert both(sources) == [without_x1(), without_x1()]
        answers = sources.begin(None)
        consult(MODEL, answers)
        assert answers.faults == {"x1": "the source 'x1' failed: no answer within 0.05 s"}
    finally:
        gate.set()


def test_a_coroutine_that_hangs_and_does_not_heed_its_cancellation_is_left_behind() -> None:
    async def stubborn(row: Any) -> float:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.2)
        return 1.0

    assert asyncio.run(aconsult(MODEL, with_x1(stubborn, timeout=0.05))) == without_x1()


def test_threads_that_hang_are_bounded() -> None:
    gate, begun = threading.Event(), []

    def hang(row: Any) -> float:
        begun.append(row)
        gate.wait(60)
        return 1.0

    source = Source(hang, "x1", timeout=0.01, breaker=CircuitBreaker(failures=100))
    try:
        for _ in range(12):
            with pytest.raises(SourceError, match=r"no answer within|8 earlier calls have not returned"):
                source.read(None)
        assert len(begun) == 8
    finally:
        gate.set()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:  # until the threads have ended
        try:
            assert source.read(None) == {"x1": 1.0}
        except SourceError:
            continue
        break
    else:
        pytest.fail("calls that have returned still count as hanging")


def test_a_source_that_slows_down_is_refused_only_while_it_is_slow() -> None:
    pauses = iter([0.0, 1.0, 0.0])

    def slow(row: Any) -> float:
        time.sleep(next(pauses))
        return 1.0

    sources = with_x1(slow, timeout=0.2)
    spent = [consult(MODEL, sources).spent for _ in range(3)]
    assert spent == [3.0, 1.0, 3.0]


def test_retries_wait_twice_as_long_each_time_and_end_with_a_success(monkeypatch: Any) -> None:
    waited: list[float] = []
    monkeypatch.setattr(time, "sleep", waited.append)
    outcomes = iter([OSError("one"), TimeoutError("two"), 1.0])

    def flaky(row: Any) -> float:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    source = Source(flaky, "x1", retries=3, pause=0.5, timeout=None)
    assert source.read(None) == {"x1": 1.0}
    assert waited == [0, 0.5, 1.0]
    assert (source.n_calls, source.n_failures) == (3, 2)


def test_a_final_error_is_not_tried_again() -> None:
    def final(row: Any) -> float:
        raise SourceError("no such patient")

    source = Source(final, "x1", retries=5)
    with pytest.raises(SourceError, match="the source 'x1' failed: no such patient"):
        source.read(None)
    assert source.n_calls == 1


def test_the_breaker_spares_a_source_and_tries_it_again_after_its_rest() -> None:
    now = [0.0]
    works = [False]

    def fetch(row: Any) -> float:
        if not works[0]:
            raise OSError("down")
        return 1.0

    breaker = CircuitBreaker(failures=2, rest=30, clock=lambda: now[0])
    source = Source(fetch, "x1", breaker=breaker)
    sources = Sources([Source(lambda row: 0.0, "x0"), source])
    for _ in range(5):
        assert consult(MODEL, sources) == without_x1()
    assert source.n_calls == 2
    with pytest.raises(SourceError, match="'x1' is left alone after its failures"):
        source.read(None)
    now[0] = 31.0
    assert consult(MODEL, sources) == without_x1()  # the trial fails, and a new rest begins
    assert source.n_calls == 3
    now[0] = 60.0
    assert breaker.is_open
    now[0], works[0] = 62.0, True
    assert [consult(MODEL, sources).spent for _ in range(2)] == [3.0, 3.0]
    assert not breaker.is_open


def test_only_one_trial_at_a_time() -> None:
    now = [0.0]
    breaker = CircuitBreaker(failures=1, rest=1, clock=lambda: now[0])
    breaker.failed()
    now[0] = 2.0
    assert [breaker.admits(), breaker.admits()] == [True, False]
    breaker.succeeded()
    assert breaker.admits()


def test_a_cancelled_consultation_ends_the_trial() -> None:
    breaker = CircuitBreaker(failures=1, rest=0)
    breaker.failed()

    async def wait(row: Any) -> float:
        await asyncio.sleep(60)
        return 1.0

    async def cancel() -> None:
        task = asyncio.ensure_future(aconsult(MODEL, with_x1(wait, breaker=breaker)))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert breaker.admits()


def test_a_consultation_that_is_cancelled_before_its_trial_begins_is_none() -> None:
    breaker = CircuitBreaker(failures=1, rest=0)
    breaker.failed()
    source = Source(lambda row: 1.0, "x1", breaker=breaker)

    async def cancel() -> None:
        task = asyncio.ensure_future(source.read_async(None))
        await asyncio.sleep(0)  # until it waits for the first time
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert source.read(None) == {"x1": 1.0}


def test_plain_functions_do_not_block_the_event_loop() -> None:
    gate = threading.Event()

    async def run() -> Any:
        asyncio.get_running_loop().call_later(0.02, gate.set)
        return await aconsult(MODEL, with_x1(lambda row: float(gate.wait(10)), timeout=20))

    assert asyncio.run(run()).spent == 3.0  # the function returns only once the loop has run


def test_budgets_hold_and_a_refused_source_leaves_the_budget_as_it_is() -> None:
    sources = Sources([Source(fail, "x0"), Source(lambda row: 1.0, "x1")])
    decision = consult(MODEL, sources, budget=2)
    assert (decision.spent, decision.acquired) == (2.0, ("x1",))
    assert consult(MODEL, sources, budget=1.9).spent == 0


def test_a_feature_without_a_source_is_named() -> None:
    sources = Sources([Source(lambda row: 0.0, "x0")])
    with pytest.raises(TableError, match="the set of sources lacks 'x1', which the model asks for"):
        consult(MODEL, sources)
    with pytest.raises(TableError, match="the set of sources lacks 'x1'"):
        asyncio.run(aconsult(MODEL, sources))
    assert consult(MODEL, sources, lacking="refuse") == without_x1()


def test_the_price_list_of_sources_has_a_group_for_each_of_several_features() -> None:
    sheet = Sources(
        [
            Source(fail, "age", price=1, own={"age": 0.5}),
            Source(fail, ["chol", "fbs"], name="lab", price=7, own={"fbs": 3}),
        ]
    ).costs("USD")
    assert sheet.total(["age"]) == 1.5
    assert sheet.total(["chol"]) == 7
    assert sheet.total(["chol", "fbs"]) == 10
    assert sheet.groups["lab"].members == ("chol", "fbs")
    assert sheet.unit == "USD"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Source(3, "a"), "fetch must be a function of a row; got int"),
        (lambda: Source(fail, []), "at least one feature"),
        (lambda: Source(fail, "a", price=-1), "the price of the source 'a'"),
        (lambda: Source(fail, "a", own={"b": 1}), "own of the source 'a' has 'b'"),
        (lambda: Source(fail, "a", timeout=-1), "timeout must be a number of seconds"),
        (lambda: Source(fail, "a", retries=-1), "retries must be a whole number"),
        (lambda: CircuitBreaker(failures=0), "failures must be at least 1"),
        (lambda: CircuitBreaker(rest=float("nan")), "rest must be a number of seconds"),
        (lambda: Sources([Source(fail, "a"), Source(fail, ["a", "b"])]), "two sources give 'a'; keep one"),
        (lambda: Sources([Source(fail, "a", name="s"), Source(fail, "b", name="s")]), "have the name 's'"),
        (lambda: Sources([fail]), "expected sources; got function"),
    ],
)
def test_bad_parameters_are_named(make: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        make()


def test_latency_is_the_median_of_the_calls_that_succeeded() -> None:
    source = Source(lambda row: 1.0 if row else fail(row), "a")
    assert source.latency is None
    source.read(1)
    with pytest.raises(SourceError):
        source.read(0)
    assert source.latency is not None
    assert source.latency > 0
