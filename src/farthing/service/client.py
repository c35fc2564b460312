"""Clients of a service; their walks are used like those of a local model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Self
from urllib.parse import quote

import httpx

from farthing.errors import ServiceError, TableError
from farthing.service.remote_walk import AsyncRemoteWalk, RemoteWalk, to_decision, to_json
from farthing.service.schemas import JsonObject
from farthing.walks import Decision

# Seconds before each new attempt; a worker that died is replaced in about their sum.
_WAITS: Final = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
# A request that timed out would only time out again, so it is not repeated.
_TIMEOUTS: Final = (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout)


class _BaseClient:
    """The base of both clients: paths, bodies, retries."""

    def __init__(self, model: str | None, retries: int) -> None:
        self._model = model
        self._retries = retries

    def _waits(self) -> Iterator[float]:
        """Yield the seconds to wait before each new attempt."""
        for attempt in range(self._retries):
            yield _WAITS[min(attempt, len(_WAITS) - 1)]

    def _path(self, name: str, rest: str = "") -> str:
        # safe='' also escapes a slash, which would otherwise select another route.
        return f"/v1/models/{quote(name, safe='')}{rest}"

    def _rows(self, rows: Sequence[Mapping[str, object]], budget: Any, seeds: Any) -> JsonObject:
        encoded = [{name: to_json(name, value) for name, value in row.items()} for row in rows]
        return {"rows": encoded, "budget": budget, "seeds": seeds}

    def _only_name(self, listed: JsonObject) -> str:
        names = [model["name"] for model in _listed(listed)]
        if len(names) != 1:
            raise ServiceError(
                f"name a model, Client(url, model=...); the service has {', '.join(names) or 'none'}"
            )
        return str(names[0])


class Client(_BaseClient):
    """A service as a model: its `walk` has the interface of a local walk, so `farthing.consult` takes it.

    Calls have no side effects, so one whose connection broke is sent again.

    Parameters
    ----------
    url : str
        Where the service is, such as "http://127.0.0.1:8000".
    model : str, optional
        Which model; needed if the service has several.
    token : str, optional
        The service's bearer token.
    timeout : float
        Timeout of a request in seconds.
    retries : int
        How often a call is repeated after its connection broke, or while the service has too much work.
    transport : httpx.BaseTransport, optional
        Used in place of the network, for example in tests.

    Examples
    --------
    ::

        with Client("http://127.0.0.1:8000", model="heart") as heart:
            decision = farthing.consult(heart, measure, budget=40)
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 6,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(model, retries)
        # Proxies and .netrc of the environment are ignored: they would see the values or replace the token.
        self._http = httpx.Client(
            base_url=_address(url),
            headers=_headers(token),
            timeout=timeout,
            transport=transport,
            trust_env=False,
        )

    def models(self) -> list[JsonObject]:
        """List the models of the service."""
        return _listed(self._call("GET", "/v1/models"))

    def about(self) -> JsonObject:
        """Describe the model: features, prices, groups, unit, method."""
        return self._call("GET", self._path(self._name()))

    def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> RemoteWalk:
        """Start the lazy prediction of one row; parameters as in a local ``model.walk``."""
        path = self._path(self._name(), "/next")
        return RemoteWalk(lambda body: self._call("POST", path, body), known or {}, budget, seed)

    def predict(
        self, rows: Sequence[Mapping[str, object]], *, budget: Any = None, seeds: Any = None
    ) -> list[Decision]:
        """Predict rows in bulk, each as ``farthing.consult(model, row, lacking="refuse")`` does.

        Parameters
        ----------
        rows : sequence of mappings
            Features by name; features that a row leaves out count as refused.
        budget : float or list of float, optional
            Budget of each row.
        seeds : int or list of int, optional
            Seeds of stochastic models.

        Returns
        -------
        list of Decision
        """
        answer = self._call("POST", self._path(self._name(), "/predict"), self._rows(rows, budget, seeds))
        return [to_decision(decision) for decision in answer["decisions"]]

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _name(self) -> str:
        if self._model is None:
            self._model = self._only_name(self._call("GET", "/v1/models"))
        return self._model

    def _call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        waits = self._waits()
        # Every call is a pure function of its body, even a POST, so it is safe to send it again.
        while True:
            try:
                return _answer(self._http.request(method, path, json=body))
            except _FAILURES as error:
                wait = _wait(error, waits)
            time.sleep(wait)


class AsyncClient(_BaseClient):
    """`Client` for asyncio: every call is awaited, and `farthing.aconsult` takes it.

    Parameters
    ----------
    url, model, token, timeout, retries
        As in `Client`.
    transport : httpx.AsyncBaseTransport, optional
        Used in place of the network, for example in tests.

    Examples
    --------
    ::

        async with AsyncClient("http://127.0.0.1:8000", model="heart") as heart:
            decision = await farthing.aconsult(heart, measure, budget=40)
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 6,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(model, retries)
        self._http = httpx.AsyncClient(
            base_url=_address(url),
            headers=_headers(token),
            timeout=timeout,
            transport=transport,
            trust_env=False,
        )

    async def models(self) -> list[JsonObject]:
        """List the models of the service."""
        return _listed(await self._call("GET", "/v1/models"))

    async def about(self) -> JsonObject:
        """Describe the model: features, prices, groups, unit, method."""
        return await self._call("GET", self._path(await self._name()))

    async def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> AsyncRemoteWalk:
        """Start the lazy prediction of one row; parameters as in a local ``model.walk``."""
        path = self._path(await self._name(), "/next")

        async def send(body: JsonObject) -> JsonObject:
            return await self._call("POST", path, body)

        return await AsyncRemoteWalk(send, known or {}, budget, seed).start()

    async def predict(
        self, rows: Sequence[Mapping[str, object]], *, budget: Any = None, seeds: Any = None
    ) -> list[Decision]:
        """Predict rows in bulk; parameters as in `Client.predict`."""
        path = self._path(await self._name(), "/predict")
        answer = await self._call("POST", path, self._rows(rows, budget, seeds))
        return [to_decision(decision) for decision in answer["decisions"]]

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _name(self) -> str:
        if self._model is None:
            self._model = self._only_name(await self._call("GET", "/v1/models"))
        return self._model

    async def _call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        waits = self._waits()
        while True:
            try:
                return _answer(await self._http.request(method, path, json=body))
            except _FAILURES as error:
                wait = _wait(error, waits)
            await asyncio.sleep(wait)


def _listed(answer: JsonObject) -> list[JsonObject]:
    found = answer.get("models")
    if not isinstance(found, list):
        raise ServiceError("this is not a Farthing service: it lists no models")
    return found


def _address(url: str) -> httpx.URL:
    try:
        return httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ServiceError(f"{url!r} is not the address of a service: {error}") from error


def _headers(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


def _wait(error: httpx.HTTPError | httpx.InvalidURL | _Busy, waits: Iterator[float]) -> float:
    """Return the seconds to wait before the next attempt, or raise if there is none."""
    again = isinstance(error, httpx.TransportError | _Busy) and not isinstance(error, _TIMEOUTS)
    wait = next(waits, None) if again else None
    if wait is None:
        if isinstance(error, _Busy):
            raise ServiceError(str(error)) from None
        raise ServiceError(f"the service cannot be reached: {type(error).__name__}: {error}") from error
    return max(wait, error.seconds) if isinstance(error, _Busy) else wait


class _Busy(Exception):  # noqa: N818 - becomes a ServiceError if it lasts
    """The service asks to try again later."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


# Whatever the library raises for a call that got no answer.
_FAILURES: Final = (httpx.HTTPError, httpx.InvalidURL, _Busy)


def _answer(response: httpx.Response) -> JsonObject:
    """Return the body of a response, or raise the error that it stands for."""
    try:
        body = response.json()
    except ValueError:
        body = {"detail": response.text[:200]}
    if not isinstance(body, dict) or (response.status_code == 200 and set(body) == {"detail"}):
        raise ServiceError(f"this is not a Farthing service: it answered {response.text[:100]!r}")
    if response.status_code == 200:
        return body
    detail = body.get("detail")
    # The same error that a local walk raises for a bad value, so callers can treat both alike.
    if response.status_code == 422 and isinstance(detail, list):
        error = TableError("; ".join(map(_problem, detail)))
        error.column = _answered_column(detail)
        raise error
    message = f"the service answered {response.status_code}: {detail}"
    after = response.headers.get("retry-after", "")
    if response.status_code == 503 and after.isdigit():
        raise _Busy(message, min(float(after), _WAITS[-1]))
    raise ServiceError(message)


def _answered_column(detail: list[Any]) -> str | None:
    """Return the feature whose answer is the first problem of a request."""
    loc = detail[0].get("loc") if detail and isinstance(detail[0], dict) else None
    return str(loc[2]) if isinstance(loc, list) and len(loc) > 2 and loc[1] == "known" else None


def _problem(item: Any) -> str:
    if not isinstance(item, dict) or not isinstance(item.get("loc"), list):
        return str(item)
    return f"{_location(item['loc'])}: {item.get('msg')}"


def _location(loc: Sequence[object]) -> str:
    # The first entry is always "body".
    return ".".join(map(str, loc[1:])) or "body"
