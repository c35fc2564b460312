"""Work in threads rests while steps are answered, and only then."""

from __future__ import annotations

import asyncio

import pytest

from farthing.service.request_limits import Deadline, RequestTimeoutError
from farthing.service.steps_first import MAX_SECONDS, MOST_REST, SECONDS_PER_STEP, StepsFirst
from farthing.service.work_queue import WorkQueue


def test_work_rests_for_the_steps_that_were_answered_meanwhile() -> None:
    rest = StepsFirst()
    rest.work_ended(now=1.0, seconds=0.5, steps=0)
    assert rest.left(now=1.0) == 0.0  # nobody else wants the worker
    rest.work_ended(now=1.0, seconds=0.5, steps=4)
    assert rest.left(now=1.0) == pytest.approx(4 * SECONDS_PER_STEP)
    rest.work_ended(now=2.0, seconds=0.5, steps=10_000)
    assert rest.left(now=2.0) == pytest.approx(0.5 * MOST_REST)
    assert rest.left(now=2.0 + 0.5 * MOST_REST) == 0.0


def test_rests_of_work_side_by_side_add_up_to_a_bound() -> None:
    rest = StepsFirst()
    rest.work_ended(now=1.0, seconds=0.5, steps=10_000)
    rest.work_ended(now=1.0, seconds=0.5, steps=10_000)
    assert rest.left(now=1.0) == pytest.approx(2 * 0.5 * MOST_REST)
    for _ in range(100):
        rest.work_ended(now=1.0, seconds=0.5, steps=10_000)
    assert rest.left(now=1.0) == pytest.approx(MAX_SECONDS)


def test_the_queue_rests_before_the_next_work_and_within_its_deadline() -> None:
    queue = WorkQueue(max_waiting=2)
    waits: list[float] = []
    queue.steps.wait = waits.append  # type: ignore[method-assign]

    def work() -> int:
        for _ in range(1000):
            queue.steps.count_step()
        return 7

    assert asyncio.run(queue.run(work, Deadline(30.0))) == 7
    assert waits
    assert waits[0] <= 30.0
    assert queue.steps._end > 0
    queue.close()


def test_a_rest_that_is_longer_than_the_deadline_ends_with_it() -> None:
    queue = WorkQueue(max_waiting=2)
    done: list[int] = []
    queue.steps.work_ended(now=1e12, seconds=MAX_SECONDS, steps=10_000)
    with pytest.raises((TimeoutError, RequestTimeoutError)):
        asyncio.run(queue.run(lambda: done.append(1), Deadline(0.05)))
    assert not done
    queue.close()
