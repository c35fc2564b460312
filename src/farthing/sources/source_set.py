"""A set of sources: all features that a model may ask for, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from farthing.costs import Block, CostSheet, Group
from farthing.costs.validation import quoted
from farthing.sources.row_answers import AwaitedAnswers, RowAnswers
from farthing.sources.source import Source


class Sources:
    """Several sources, as `farthing.consult` and `farthing.aconsult` take them.

    Parameters
    ----------
    sources : iterable of Source
        No two of them give the same feature, or have the same name.

    Examples
    --------
    >>> import numpy as np
    >>> import farthing
    >>> from farthing.forests import BudgetTreeClassifier
    >>> from farthing.sources import Source, Sources
    >>> patients = {63: {"age": 54, "chol": 233.0, "fbs": 1.0}}
    >>> def from_lab(row):
    ...     return {name: patients[row][name] for name in ("chol", "fbs")}
    >>> sources = Sources([
    ...     Source(lambda row: patients[row]["age"], "age", price=1),
    ...     Source(from_lab, ["chol", "fbs"], name="lab", price=7, own={"fbs": 3}, retries=2)])
    >>> sources.costs(unit="USD")
    CostSheet: 3 features, 1 group, in USD
    feature  own  group  shared
    age        1
    chol       0  lab         7
    fbs        3  lab         7
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [30, 60, 40, 70], "chol": [150, 300, 280, 160], "fbs": [0, 1, 0, 1]})
    >>> tree = BudgetTreeClassifier(costs=sources.costs()).fit(X, ["well", "ill", "ill", "well"])
    >>> farthing.consult(tree, sources, row=63).prediction
    'ill'
    """

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = tuple(sources)
        for source in self._sources:
            if not isinstance(source, Source):
                raise TypeError(f"expected sources; got {type(source).__name__}")
        _check_unique([source.name for source in self._sources], "have the name")
        _check_unique([feature for source in self._sources for feature in source.features], "give")

    @property
    def features(self) -> tuple[str, ...]:
        """The features of all sources, in their order."""
        return tuple(feature for source in self._sources for feature in source.features)

    def costs(self, unit: str = "") -> CostSheet:
        """Return the price list: a source of several features is a group, whose shared cost is its price."""
        own, groups = {}, {}
        for source in self._sources:
            alone = len(source.features) == 1
            own.update({name: price + source.price * alone for name, price in source.own.items()})
            if not alone:
                groups[source.name] = Group(source.price, source.features)
        return CostSheet(own, groups, unit)

    def begin(self, row: Any) -> RowAnswers:
        """Return the answers for a row; ``consult(model, sources.begin(row))`` keeps their ``faults``."""
        return RowAnswers(self._sources, row)

    def begin_async(self, row: Any) -> AwaitedAnswers:
        """Return the answers for a row, each of which is awaited, for `farthing.aconsult`."""
        return AwaitedAnswers(self._sources, row)

    def blocks_to_measure(self) -> list[Block]:
        """Return the sources as blocks, for `CostSheet.measure`; the rows are what they are called with."""
        return [Block(source.name, SourceReader(source), None, source.features) for source in self._sources]

    def __iter__(self) -> Iterator[Source]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __repr__(self) -> str:
        return f"Sources({list(self._sources)!r})"


class SourceReader:
    """A source as a transformer of rows."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def transform(self, rows: Iterable[Any]) -> Any:
        """Read each row; ndarray of objects, shape (n_rows, n_features)."""
        read = [list(self._source.read(row).values()) for row in rows]
        return np.array(read, dtype=object).reshape(len(read), len(self._source.features))


def _check_unique(names: list[str], what: str) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"two sources {what} {quoted(twice)}; keep one")
