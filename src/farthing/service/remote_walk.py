"""Walks over a service: the interface of a local walk, with one request per step."""

from __future__ import annotations

import math
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import numpy as np

from farthing.base.inputs import check_cap, check_seed
from farthing.errors import ServiceError, TableError, WalkError
from farthing.service.schemas import JsonObject
from farthing.table.values import ODD, plain, show
from farthing.walks import REFUSED, WITHIN, Ask, Decision, Refusal, check_panel


class RemoteWalkState:
    """The state of a walk over a service: the answers so far and the last response. It sends nothing.

    Parameters
    ----------
    given : mapping of str to object
        Features owned from the start.
    budget : float or mapping of str to float, optional
    seed : int, optional
    """

    def __init__(
        self, given: Mapping[str, object], budget: float | Mapping[str, float] | None, seed: int | None
    ) -> None:
        self._given = {name: to_json(name, value) for name, value in given.items()}
        self._budget = (
            {name: check_cap(cap, name) for name, cap in budget.items() if cap is not None}
            if isinstance(budget, Mapping)
            else check_cap(budget)
        )
        self._seed = check_seed(seed)
        self._told: dict[str, object | Refusal] = {}
        self._rounds: list[list[str]] = []  # the features that were answered together
        self._last: JsonObject = {}

    @property
    def ask(self) -> Ask | None:
        """The feature wanted next and its price; None when the walk has ended."""
        ask = self._last["ask"]
        return None if ask is None else Ask(**ask)

    @property
    def decision(self) -> Decision:
        """The prediction so far; valid at any time, final when `ask` is None."""
        return to_decision(self._last["decision"])

    @property
    def spent(self) -> float:
        """The spend so far."""
        return float(self._last["spent"])

    @property
    def left(self) -> float | None:
        """The rest of the budget; None without a budget."""
        if self._last["left"] is None:
            return None
        # The largest float was sent for infinity; what is left of it means nothing.
        return math.inf if self._budget == math.inf else float(self._last["left"])

    @property
    def answers(self) -> dict[str, object | Refusal]:
        """The answers and refusals so far, in order."""
        return dict(self._told)

    @property
    def history(self) -> list[dict[str, object | Refusal]]:
        """The answers and refusals round by round."""
        return [{name: self._told[name] for name in together} for together in self._rounds]

    @property
    def n_rounds(self) -> int:
        """How often the walk had to wait for answers: a panel counts once."""
        return len(self._rounds)

    @property
    def version(self) -> str:
        """The version of the model."""
        return str(self._last["version"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}(ask={self.ask!r}, spent={self.spent!r}, left={self.left!r})"

    def _with(self, verb: str, value: object) -> dict[str, object | Refusal]:
        """Return the answers so far, and one more to the open question."""
        ask = self.ask
        if ask is None:
            raise WalkError(f"{verb} was called, but the walk has ended and asks for nothing")
        return {ask.feature: value}

    def _with_panel(self, answers: Mapping[str, object]) -> dict[str, object | Refusal]:
        """Return the answers of a panel, if they are new."""
        if again := [name for name in answers if name in self._told or name in self._given]:
            raise WalkError(f"{again[0]!r} is owned or was answered already; a panel has new features only")
        return dict(answers)

    def _request(self, new: Mapping[str, object | Refusal]) -> JsonObject:
        """Return the body of the request for the step after some new answers, which come together."""
        told = {**self._told, **new}
        rounds = [*self._rounds, list(new)] if new else self._rounds
        return {
            # One by one, the service needs no order: it asks for what comes next.
            **({"rounds": rounds} if any(len(names) != 1 for names in rounds) else {}),
            "given": self._given,
            "known": {name: to_json(name, value) for name, value in told.items() if value is not REFUSED},
            "refused": [name for name, value in told.items() if value is REFUSED],
            # JSON has no infinity, and null is the model's own budget.
            "budget": _finite_budget(self._budget),
            "seed": self._seed,
        }

    def _panel_request(self, k: int, within: float) -> JsonObject:
        """Return the body of the request for a panel."""
        return {
            "rounds": self._rounds,
            **self._request({}),
            "panel": check_panel(k, within),
            "within": sys.float_info.max if within == math.inf else within,
        }

    def _update(self, new: Mapping[str, object | Refusal], answer: JsonObject) -> None:
        """Make an answer of the service the new state."""
        # The service keeps no state, so each request replays the walk. Under another model the same answers
        # may lead elsewhere, and the account of the walk would mix two models.
        if self._last and answer["version"] != self._last["version"]:
            raise ServiceError("the model was replaced during the walk; start a new walk")
        self._told.update(new)
        if new:
            self._rounds.append(list(new))
        self._last = answer


def _finite_budget(budget: Any) -> Any:
    """Return a budget as JSON has it, where infinity is the largest float."""
    if isinstance(budget, Mapping):
        return {name: _finite_budget(cap) for name, cap in budget.items()}
    return sys.float_info.max if budget == math.inf else budget


class RemoteWalk(RemoteWalkState):
    """A walk over a service; `Client.walk` makes it.

    Parameters
    ----------
    send : callable
        Takes the body of a request for a step and returns the answer.
    given, budget, seed
        As in a local walk.
    """

    def __init__(
        self,
        send: Callable[[JsonObject], JsonObject],
        given: Mapping[str, object],
        budget: float | Mapping[str, float] | None,
        seed: int | None,
    ) -> None:
        super().__init__(given, budget, seed)
        self._send = send
        self._advance({})

    def tell(self, value: object) -> None:
        """Answer the question and pay for it; a value that its column cannot hold is a TableError."""
        self._advance(self._with("tell", value))

    def refuse(self) -> None:
        """Refuse: the feature is not available."""
        self._advance(self._with("refuse", REFUSED))

    def replay(self, answers: Mapping[str, object]) -> None:
        """Answer from ``answers`` up to the first question without one; `REFUSED` refuses."""
        while (ask := self.ask) is not None and ask.feature in answers:
            self.tell(answers[ask.feature])

    def panel(self, k: int, *, within: float = WITHIN) -> tuple[Ask, ...]:
        """Return up to k questions to ask at once; as in a local walk."""
        return _asks(self._send(self._panel_request(k, within)))

    def tell_panel(self, answers: Mapping[str, object]) -> None:
        """Answer several questions at once, and pay for all of them."""
        if answers:
            self._advance(self._with_panel(answers))

    def _advance(self, new: Mapping[str, object | Refusal]) -> None:
        # The answers are kept only if the service accepts them: a bad value leaves the walk as it was.
        self._update(new, self._send(self._request(new)))


class AsyncRemoteWalk(RemoteWalkState):
    """A walk over a service whose calls are awaited; ``await AsyncClient.walk(...)`` makes it.

    Parameters
    ----------
    send : coroutine function
        Takes the body of a request for a step and returns the answer.
    given, budget, seed
        As in a local walk.
    """

    def __init__(
        self,
        send: Callable[[JsonObject], Awaitable[JsonObject]],
        given: Mapping[str, object],
        budget: float | Mapping[str, float] | None,
        seed: int | None,
    ) -> None:
        super().__init__(given, budget, seed)
        self._send = send

    async def start(self) -> AsyncRemoteWalk:
        """Get the first question."""
        await self._advance({})
        return self

    async def tell(self, value: object) -> None:
        """Answer the question and pay for it; a value that its column cannot hold is a TableError."""
        await self._advance(self._with("tell", value))

    async def refuse(self) -> None:
        """Refuse: the feature is not available."""
        await self._advance(self._with("refuse", REFUSED))

    async def replay(self, answers: Mapping[str, object]) -> None:
        """Answer from ``answers`` up to the first question without one; `REFUSED` refuses."""
        while (ask := self.ask) is not None and ask.feature in answers:
            await self.tell(answers[ask.feature])

    async def panel(self, k: int, *, within: float = WITHIN) -> tuple[Ask, ...]:
        """Return up to k questions to ask at once; as in a local walk."""
        return _asks(await self._send(self._panel_request(k, within)))

    async def tell_panel(self, answers: Mapping[str, object]) -> None:
        """Answer several questions at once, and pay for all of them."""
        if answers:
            await self._advance(self._with_panel(answers))

    async def _advance(self, new: Mapping[str, object | Refusal]) -> None:
        self._update(new, await self._send(self._request(new)))


def _asks(answer: JsonObject) -> tuple[Ask, ...]:
    """Return the panel of an answer."""
    return tuple(Ask(**ask) for ask in answer["panel"])


def to_json(name: str, value: object) -> object:
    """Return a value of any library as JSON: missing is None, the message of a device is a list.

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


def to_decision(answer: JsonObject) -> Decision:
    """Return the decision in an answer of the service."""
    classes = answer["classes"]
    return Decision(
        prediction=answer["prediction"],
        probabilities=None if classes is None else dict(zip(classes, answer["probabilities"], strict=True)),
        spent=float(answer["spent"]),
        acquired=tuple(answer["acquired"]),
        resources=answer.get("resources"),
    )
