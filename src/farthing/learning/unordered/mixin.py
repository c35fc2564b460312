"""``fit(..., missing="unordered")``: learn from records that lack tests which nobody ordered."""

from __future__ import annotations

from typing import Any, Final, Self

import numpy as np

from farthing.base import BudgetedEstimator
from farthing.distributed.detect import is_collection
from farthing.errors import TableError
from farthing.learning.unordered.completion import complete
from farthing.table import PreparedTable
from farthing.typing import Floats

MISSING_TEXT: Final = """missing : {"measured", "unordered"}
            What a missing entry means: that it was measured and is missing, which a split may use, or that
            nobody ordered it. Then draws from similar records take its place, see
            `farthing.learning.unordered.completion`; ``recorded_`` has the share of rows that hold each
            column."""


def check_missing(missing: object) -> bool:
    """Return whether missing entries were never ordered; raise ValueError for another word.

    Examples
    --------
    >>> check_missing("unordered")
    True
    """
    if missing not in ("measured", "unordered"):
        raise ValueError(f"missing must be 'measured' or 'unordered'; got {missing!r}")
    return missing == "unordered"


class UnorderedMixin(BudgetedEstimator):
    """A method whose `fit` has an argument ``missing``; it comes before the base classes that learn.

    Attributes
    ----------
    recorded_ : ndarray of float64, shape (n_features,)
        After a fit with ``missing="unordered"``, the share of the rows that hold each column.
    """

    recorded_: Floats

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, missing: str = "measured", **options: Any
    ) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; may have missing values and categories.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; rows of weight zero are ignored.
        missing : {"measured", "unordered"}
            What a missing entry means: that it was measured and is missing, which a split may use, or that
            nobody ordered it. Then draws from similar records take its place, see
            `farthing.learning.unordered.completion`; ``recorded_`` has the share of rows that hold each
            column.
        **options
            Further arguments of the method, such as ``validation``.

        Returns
        -------
        self
        """
        if not check_missing(missing):
            return super().fit(X, y, sample_weight, **options)
        if is_collection(X):
            raise TableError("missing='unordered' needs all rows in one process; call compute() on X and y")
        if options.get("validation") is not None:
            raise ValueError(
                "validation rows lack tests, too, and are not completed; leave out validation, or complete "
                "both"
            )
        table = PreparedTable.of(X, type(self).__name__)
        table.encoded.check()
        target, _ = self.encode_target(y)
        seed = getattr(self, "random_state", 0)
        done = complete(table, np.asarray(target, dtype=np.float64), seed if isinstance(seed, int) else 0)
        super().fit(done.table, y, sample_weight, **options)
        self.recorded_ = done.recorded
        return self
