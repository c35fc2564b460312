"""Walks over a service: the interface of a local walk, one request a step."""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from farthing.base.inputs import check_cap, check_seed
from farthing.errors import ServiceError, TableError, WalkError
from farthing.table.values import ODD, plain, show
from farthing.walks import REFUSED, Ask, Decision, Refusal

Plain: TypeAlias = dict[str, Any]


class Script:
    """What a walk over a service knows: what was given and told, and the last answer. It sends nothing.

    Parameters
    ----------
    given : mapping of str to object
        Features owned from the start.
    budget : float, optional
    seed : int, optional
    """

    def __init__(self, given: Mapping[str, object], budget: float | None, seed: int | None) -> None:
        self._given = {name: to_json(name, value) for name, value in given.items()}
        self._budget = check_cap(budget)
        self._seed = check_seed(seed)
        self._told: dict[str, object | Refusal] = {}
        self._last: Plain = {}

    @property
    def ask(self) -> Ask | None:
        """The feature wanted next and its price; None when the walk has ended."""
        ask = self._last["ask"]
        return None if ask is None else Ask(**ask)

    @property
    def decision(self) -> Decision:
        """The prediction as of now; valid at any moment, final when `ask` is None."""
        return to_decision(self._last["decision"])

    @property
    def spent(self) -> float:
        """What was paid so far."""
        return float(self._last["spent"])

    @property
    def left(self) -> float | None:
        """What the budget still holds; None without a budget."""
        if self._last["left"] is None:
            return None
        return math.inf if self._budget == math.inf else float(self._last["left"])

    @property
    def answers(self) -> dict[str, object | Refusal]:
        """What was told or refused so far, in that order."""
        return dict(self._told)

    @property
    def version(self) -> str:
        """The version of the model that the walk goes through."""
        return str(self._last["version"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(ask={self.ask!r}, spent={self.spent!r}, left={self.left!r})"

    def _with(self, verb: str, value: object) -> dict[str, object | Refusal]:
        """Return all answers with one more, to the open question."""
        ask = self.ask
        if ask is None:
            raise WalkError(f"{verb} was called, but the walk has ended and asks for nothing")
        return {**self._told, ask.feature: value}

    def _request(self, told: Mapping[str, object | Refusal]) -> Plain:
        """Return the body that asks for the step after these answers."""
        return {
            "given": self._given,
            "known": {name: to_json(name, value) for name, value in told.items() if value is not REFUSED},
            "refused": [name for name, value in told.items() if value is REFUSED],
            # JSON has no infinity, and null is the model's own budget.
            "budget": sys.float_info.max if self._budget == math.inf else self._budget,
            "seed": self._seed,
        }

    def _take(self, told: dict[str, object | Refusal], answer: Plain) -> None:
        """Go on to a step that the service answered with."""
        if self._last and answer["version"] != self._last["version"]:
            raise ServiceError("the model was replaced while it was walked through; start a new walk")
        self._told, self._last = told, answer


class RemoteWalk(Script):
    """A walk over a service; `Client.walk` makes it.

    Parameters
    ----------
    send : callable
        From the body of a step's request to its answer.
    given, budget, seed
        As in a local walk.
    """

    def __init__(
        self,
        send: Callable[[Plain], Plain],
        given: Mapping[str, object],
        budget: float | None,
        seed: int | None,
    ) -> None:
        super().__init__(given, budget, seed)
        self._send = send
        self._go({})

    def tell(self, value: object) -> None:
        """Answer the question and pay for it; a value that its column cannot hold is a TableError."""
        self._go(self._with("tell", value))

    def refuse(self) -> None:
        """Say that the feature cannot be had."""
        self._go(self._with("refuse", REFUSED))

    def replay(self, answers: Mapping[str, object]) -> None:
        """Answer from ``answers`` up to the first question that they do not hold; `REFUSED` refuses."""
        while (ask := self.ask) is not None and ask.feature in answers:
            self.tell(answers[ask.feature])

    def _go(self, told: dict[str, object | Refusal]) -> None:
        self._take(told, self._send(self._request(told)))


class AsyncRemoteWalk(Script):
    """A walk over a service whose verbs are awaited; ``await AsyncClient.walk(...)`` makes it.

    Parameters
    ----------
    send : coroutine function
        From the body of a step's request to its answer.
    given, budget, seed
        As in a local walk.
    """

    def __init__(
        self,
        send: Callable[[Plain], Awaitable[Plain]],
        given: Mapping[str, object],
        budget: float | None,
        seed: int | None,
    ) -> None:
        super().__init__(given, budget, seed)
        self._send = send

    async def start(self) -> AsyncRemoteWalk:
        """Ask for the first question."""
        await self._go({})
        return self

    async def tell(self, value: object) -> None:
        """Answer the question and pay for it; a value that its column cannot hold is a TableError."""
        await self._go(self._with("tell", value))

    async def refuse(self) -> None:
        """Say that the feature cannot be had."""
        await self._go(self._with("refuse", REFUSED))

    async def replay(self, answers: Mapping[str, object]) -> None:
        """Answer from ``answers`` up to the first question that they do not hold; `REFUSED` refuses."""
        while (ask := self.ask) is not None and ask.feature in answers:
            await self.tell(answers[ask.feature])

    async def _go(self, told: dict[str, object | Refusal]) -> None:
        self._take(told, await self._send(self._request(told)))


def to_json(name: str, value: object) -> object:
    """Return a value of any library as JSON has it; what is missing is None, what a device says a list.

    Examples
    --------
    >>> import numpy as np
    >>> to_json("chol", np.float32(0.5)), to_json("chol", float("nan")), to_json("wrist", np.ones(2))
    (0.5, None, [1.0, 1.0])
    """
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1:
        return [to_json(name, number) for number in value]
    reduced = plain(value)
    if reduced is ODD:
        raise TableError(
            f"column {name!r}: got {show(value)}, expected a number, a string, a boolean, or None if missing"
        )
    if isinstance(reduced, float) and math.isinf(reduced):
        raise TableError(f"column {name!r}: an infinite number cannot be sent to a service")
    return reduced


def to_decision(answer: Plain) -> Decision:
    """Return a decision as the service put it into JSON."""
    classes = answer["classes"]
    return Decision(
        prediction=answer["prediction"],
        probabilities=None if classes is None else dict(zip(classes, answer["probabilities"], strict=True)),
        spent=float(answer["spent"]),
        acquired=tuple(answer["acquired"]),
    )
