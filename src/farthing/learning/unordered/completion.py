"""Draw values in place of tests that nobody ordered, so that any method can learn from the records.

Trees split a missing entry like an answer. If nobody ordered the test, that teaches the decisions of whoever
orders, which are not there any more once the model orders. So each unrecorded entry is replaced by a draw
from the recorded values of similar rows: sequential imputation by trees (Burgette and Reiter 2010). A tree
per column predicts it from all other columns and the target; a row gets the value of a random donor from its
leaf. After a first pass from the columns with the fewest gaps to those with the most, further passes use the
draws of the others. The target is among the predictors, since without it draws would dilute what a test says
of it (Meng 1994). This is valid if a test is ordered by what the records hold (missing at random), not by its
own value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from farthing.errors import UnrecordedWarning, warn
from farthing.table import Encoded, PreparedTable
from farthing.typing import Flags, Floats

# Passes over the columns, and the fewest donors of a leaf.
_PASSES: Final = 2
_MIN_DONORS: Final = 10
# Columns with fewer recorded values are left as they are.
_FEW_RECORDED: Final = 20


@dataclass(frozen=True, eq=False)
class Completion:
    """A table without unordered tests.

    Attributes
    ----------
    table : PreparedTable
        The records, with draws in place of what they lack.
    recorded : ndarray of float64, shape (n_features,)
        The share of the rows that hold each column.
    left : tuple of str
        Columns with too few recorded values to draw from, which are left missing.
    """

    table: PreparedTable
    recorded: Floats
    left: tuple[str, ...]


def complete(table: PreparedTable, target: NDArray[np.float64], seed: int = 0) -> Completion:
    """Replace missing entries by draws.

    Parameters
    ----------
    table : PreparedTable
        The records.
    target : ndarray of float64, shape (n_rows,)
        Numbers, or codes of classes.
    seed : int
        Of the draws.

    Examples
    --------
    >>> x = np.repeat([[0.0, 5.0], [1.0, 9.0]], 40, axis=0)
    >>> x[::4, 1] = np.nan
    >>> done = complete(PreparedTable.of(x), x[:, 0])
    >>> np.unique(done.table.values, axis=0)
    array([[0., 5.],
           [1., 9.]])
    """
    values = np.array(table.values, dtype=np.float64)
    lacking = np.isnan(values)
    recorded = 1 - lacking.mean(axis=0)
    n_recorded = (~lacking).sum(axis=0)
    names = table.schema.names
    left = [j for j in range(values.shape[1]) if n_recorded[j] < min(_FEW_RECORDED, len(values))]
    order = [
        j for j in np.argsort(-recorded, kind="stable").tolist() if lacking[:, j].any() and j not in left
    ]
    random = np.random.default_rng(seed)
    for _ in range(_PASSES):
        for column in order:
            # In the first pass later columns have gaps, which the trees of scikit-learn take.
            known = np.column_stack([np.delete(values, column, axis=1), target])
            gaps, is_category = lacking[:, column], table.schema.columns[column].kind == "categorical"
            values[gaps, column] = _drawn(known, values[:, column], gaps, random, is_category=is_category)
    if left and lacking[:, left].any():
        warn(
            f"fewer than {_FEW_RECORDED} records hold {', '.join(names[j] for j in left)}, so that nothing "
            "can be learned of it; drop it, or collect more records",
            UnrecordedWarning,
        )
    done = PreparedTable(table.schema, Encoded.valid(values, table.schema.columns))
    return Completion(done, recorded, tuple(names[j] for j in left))


def _drawn(
    known: Floats, own: Floats, lacking: Flags, random: np.random.Generator, *, is_category: bool
) -> Floats:
    """Return a draw for each entry that a column lacks, from donors that are alike in what is known."""
    kind = DecisionTreeClassifier if is_category else DecisionTreeRegressor
    known = known.astype(np.float32)
    donors, takers = np.flatnonzero(~lacking), np.flatnonzero(lacking)
    tree = kind(min_samples_leaf=min(_MIN_DONORS, max(1, len(donors) // 2)), random_state=0)
    tree.fit(known[donors], own[donors])
    leaf_of, wanted = tree.apply(known[donors]), tree.apply(known[takers])
    order = np.argsort(leaf_of, kind="stable")
    begin = np.searchsorted(leaf_of[order], wanted, side="left")
    end = np.searchsorted(leaf_of[order], wanted, side="right")
    return np.asarray(own[donors[order[random.integers(begin, end)]]])
