"""A policy as a tree of the common format: a test of a column is a chain of two-way splits on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import normalise
from farthing.forests.diagnostic_policy.column_values import ColumnValues
from farthing.forests.diagnostic_policy.policy_search import STOP, Columns, PolicySearch
from farthing.trees import Forest
from farthing.trees.node_arrays import MISSING_RIGHT, MISSING_STAY, WORD_BITS
from farthing.typing import Floats

_LARGEST: Final = float(np.finfo(np.float64).max)


@dataclass(eq=False)
class PolicyTree:
    """Builds the tree, node by node.

    A value is known once its column is paid for, so a chain of splits on the same column costs no more than
    one. The nodes of a chain hold the probabilities before the test: a row whose value is missing where no
    training row of the cell had that stays there.

    Parameters
    ----------
    search : PolicySearch
        The states and their best actions.
    values : ColumnValues
        The values of the columns.
    """

    search: PolicySearch
    values: ColumnValues
    _nodes: list[dict[str, Any]] = field(default_factory=list)
    _values: list[Floats] = field(default_factory=list)
    _words: list[int] = field(default_factory=list)

    def forest(self) -> Forest:
        """Return the tree; values are class probabilities."""
        self._state((), np.arange(len(self.search.rows.target)))
        columns: dict[str, Any] = {name: [node[name] for node in self._nodes] for name in self._nodes[0]}
        return Forest.from_arrays(
            n_features=len(self.values.codes),
            value=np.array(self._values),
            category_words=np.array(self._words, dtype=np.uint64),
            category_widths=self.values.category_widths,
            **columns,
        )

    def _state(self, known: Columns, rows: NDArray[np.int64]) -> int:
        """Add the node of a state, and all that follows it; return its number."""
        column = int(self.search.actions[known][rows[0]]) if known in self.search.actions else STOP
        probabilities = self.search.probabilities(known, rows)
        if column == STOP:
            return self._leaf(probabilities, rows)
        coded = self.search.rows
        codes = coded.codes[column, rows]
        found = range(coded.n_values[column])
        parts = [(value, rows[codes == value]) for value in found]
        # A missing value that no row of the cell has gets no branch: such rows stay.
        if len(parts) > self.values.n_present[column] and not len(parts[-1][1]):
            parts.pop()
        return self._chain(known, column, parts, probabilities)

    def _chain(
        self,
        known: Columns,
        column: int,
        parts: list[tuple[int, NDArray[np.int64]]],
        probabilities: Floats,
    ) -> int:
        """Add the splits that tell values of a column apart, and what follows each value."""
        if len(parts) == 1:
            value, rows = parts[0]
            if not len(rows):
                # No training row of the cell has the value: what is known of it is its likelihood.
                likelihood = np.exp(self.search.rows.likelihoods[column][value])
                return self._leaf(normalise((probabilities * likelihood)[np.newaxis])[0], rows)
            return self._state(tuple(sorted((*known, column))), rows)
        categorical = self.values.category_widths[column] > 0
        # Numbers are halved; categories are told apart one by one.
        cut = 1 if categorical else len(parts) // 2
        left, right = parts[:cut], parts[cut:]
        missing = parts[-1][0] >= self.values.n_present[column]
        rows = np.concatenate([rows for _, rows in parts])
        number = self._leaf(probabilities, rows)
        node = self._nodes[number]
        node["feature"] = column
        node["missing"] = MISSING_RIGHT if missing else MISSING_STAY
        if categorical:
            node["category"] = len(self._words)
            for side in (left, right):
                self._words += self._code_set(column, [value for value, _ in side])
        else:
            thresholds, last = self.values.thresholds[column], left[-1][0]
            # After the last value come those that are missing.
            node["threshold"] = float(thresholds[last]) if last < len(thresholds) else _LARGEST
        node["left"] = self._chain(known, column, left, probabilities)
        node["right"] = self._chain(known, column, right, probabilities)
        return number

    def _leaf(self, probabilities: Floats, rows: NDArray[np.int64]) -> int:
        self._nodes.append(
            {
                "feature": -1,
                "threshold": 0.0,
                "left": -1,
                "right": -1,
                "missing": MISSING_STAY,
                "category": -1,
                "cover": float(self.search.rows.weights[rows].sum()),
            }
        )
        self._values.append(probabilities)
        return len(self._nodes) - 1

    def _code_set(self, column: int, codes: list[int]) -> list[int]:
        """Return a set of categories as words of 64 bits; the code of missing values is in no set."""
        words = [0] * int(self.values.category_widths[column])
        for code in codes:
            if code < self.values.n_present[column]:
                words[code // WORD_BITS] |= 1 << (code % WORD_BITS)
        return words
