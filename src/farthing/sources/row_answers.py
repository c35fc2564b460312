"""The answers of a set of sources for one row: each source is read once, when it is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from farthing.errors import SourceError
from farthing.walks import REFUSED

if TYPE_CHECKING:
    from farthing.sources.source import Source


class RowAnswers:
    """What sources say about one row, feature by feature; `farthing.consult` takes it as a mapping.

    Parameters
    ----------
    sources : iterable of Source
        No two of them give the same feature.
    row : object
        What they are called with.

    Attributes
    ----------
    faults : dict of str to str
        The features that were refused because their source failed, or gave what the model cannot take, and
        why.
    """

    noun = "the set of sources"

    def __init__(self, sources: Iterable[Source], row: Any) -> None:
        self._source_of = {feature: source for source in sources for feature in source.features}
        self._row = row
        self._read: dict[str, Any] = {}
        self.faults: dict[str, str] = {}

    def __getitem__(self, feature: str) -> Any:
        """Return a value, `REFUSED` if its source fails; KeyError if no source gives the feature."""
        source = self._source_of[feature]
        if feature not in self._read:
            try:
                self._read.update(source.read(self._row))
            except SourceError as error:
                self._fail(source, error)
        return self._read[feature]

    def keys(self) -> list[str]:
        """Return the features of all sources."""
        return list(self._source_of)

    def reject(self, feature: str, error: Exception) -> None:
        """Note that the model cannot take a value."""
        self.faults[feature] = f"the source {self._source_of[feature].name!r}: {error}"

    def _fail(self, source: Source, error: SourceError) -> None:
        for feature in source.features:
            self._read[feature] = REFUSED
            self.faults[feature] = str(error)


class AwaitedAnswers(RowAnswers):
    """The same for `farthing.aconsult`: a value is awaited."""

    def __init__(self, sources: Iterable[Source], row: Any) -> None:
        super().__init__(sources, row)
        # Of a panel, several features may be of one source, which is read once.
        self._reads: dict[Source, asyncio.Task[None]] = {}

    def __getitem__(self, feature: str) -> Any:
        """Return an awaitable of a value, `REFUSED` if its source fails; KeyError if no source gives it."""
        return self._awaited(self._source_of[feature], feature)

    async def _awaited(self, source: Source, feature: str) -> Any:
        if feature not in self._read:
            if source not in self._reads:
                self._reads[source] = asyncio.create_task(self._read_all(source))
            await self._reads[source]
        return self._read[feature]

    async def _read_all(self, source: Source) -> None:
        try:
            self._read.update(await source.read_async(self._row))
        except SourceError as error:
            self._fail(source, error)
