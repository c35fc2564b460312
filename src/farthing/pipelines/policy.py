"""The walk of a pipeline: it asks for an input when the model wants one of its outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from farthing.base import FittedModel
from farthing.costs import RowLedger
from farthing.pipelines.column_map import ColumnMap
from farthing.table import Column, Schema
from farthing.typing import Floats
from farthing.walks import RowWalk


class PipelinePolicy:
    """Walk the model over the outputs; a second output of an input that was bought is answered for free.

    Parameters
    ----------
    columns : ColumnMap
        The outputs of each input.
    model : FittedModel
        The model of the outputs.
    seed : int or None
        Of stochastic models; None means their own.
    """

    def __init__(self, columns: ColumnMap, model: FittedModel, seed: int | None) -> None:
        self._columns = columns
        self._model = model
        self._policy = model.policy(seed)
        self._walk: RowWalk | None = None
        self._n_inputs = len(columns.schema)
        self._n_passed = 0  # calls of the model that the row has paid for

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the input of the output that the model needs next, or a call that it has made."""
        if self._walk is None:
            costs = self._model.costs
            known = np.zeros(len(costs.features), dtype=np.bool_)
            known[: costs.n_columns] = np.array(ledger.owned)[self._columns.sources]
            self._walk = RowWalk(self._policy, RowLedger(costs, ledger.budget, known))
        if self._n_passed < len(made := self._walk.calls_made()):
            return self._n_inputs + made[self._n_passed]
        output = self._walk.column
        return None if output is None else int(self._columns.sources[output])

    def hear(self, column: int, value: Any) -> None:
        """Take the encoded outputs of an input, a tuple, or NaN if it is over the budget."""
        assert self._walk is not None
        if column >= self._n_inputs:
            self._n_passed += 1
            return
        assert self._walk.column is not None
        if isinstance(value, tuple):
            place = self._columns.outputs_of[column].index(self._walk.column)
            self._walk.buy(value[place])
        else:
            self._walk.miss()

    def refuse(self, column: int) -> None:  # the model wants an output of it
        """Refuse the output that the model wants."""
        assert self._walk is not None
        # Not the outputs of a missing value: an imputer would invent one that nobody measured.
        self._walk.refuse()

    def output(self) -> Floats:
        """Return the raw output of the model."""
        return self._policy.output() if self._walk is None else self._walk.output()


class PipelineQuestions:
    """How the answers of a walk are encoded: by the input's column, then by the transformer."""

    def __init__(self, columns: ColumnMap, outputs: Schema) -> None:
        self._columns = columns
        self._outputs = outputs

    @property
    def columns(self) -> tuple[Column, ...]:
        """The input columns, by which a service describes the answers."""
        return self._columns.schema.columns

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the input columns."""
        return self._columns.schema.names

    def __len__(self) -> int:
        return len(self._columns.schema)

    def __contains__(self, name: object) -> bool:
        return name in self._columns.schema

    def find(self, name: object) -> int | None:
        """Return the input column with a name, or None if there is none."""
        return self._columns.schema.find(name)

    def index(self, name: str) -> int:
        """Return the input column with a name, or raise TableError."""
        return self._columns.schema.index(name)

    def encode_value(self, column: int, value: object) -> tuple[float, ...]:
        """Return the encoded outputs of an input, or raise TableError."""
        entries = self._columns.entry(column, self._columns.schema.encode_value(column, value))
        places = self._columns.outputs_of[column]
        return tuple(
            self._outputs.encode_value(place, entry) for place, entry in zip(places, entries, strict=True)
        )
