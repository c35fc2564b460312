"""A fitted model as two functions of masked features, as benchmarks of active feature acquisition call it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

import numpy as np

from farthing.costs import CostSheet
from farthing.typing import Floats, Integers
from farthing.walks.walk import Walk

STOP: Final = 0


class Maskable(Protocol):
    """A fitted model whose walks ask for columns."""

    costs_: CostSheet

    def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> Walk:
        """Start the lazy prediction of one row."""
        ...


class MaskedModel:
    """A fitted model that is given the features so far, and acts or predicts; any of Farthing's models.

    It has no state: rows may come in any order and number, and each is walked anew from the features that the
    mask has. A walk is a pure function of the model, the seed and the answers, so it stands where the row
    stopped. Until a row stops, `predict` gives the decision so far; then it is that of `predict_proba`.

    What the mask has and the walk did not ask for, and would have to pay for, is known from the start: it is
    free and counts for no budget. Which features were there first cannot be told from a mask if the walk asks
    for them as well; give ``selection_mask`` then.

    Parameters
    ----------
    model : estimator
        A fitted model of Farthing whose walks ask for columns.
    budget : float or mapping of str to float, optional
        As in `walk`; None means the model's own hard budget, if it has one.
    seed : int, optional
        As in `walk`.
    selection_of : array-like of int, shape (n_features,), optional
        The selection that reveals each feature, counted from 0, where several are revealed at once, such as
        the pixels of a block. By default each feature is a selection.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> model = BudgetTreeClassifier().fit(X, [0, 0, 1, 2])
    >>> masked = MaskedModel(model)
    >>> rows, mask = X[1:3], np.zeros((2, 2), dtype=bool)
    >>> masked.act(np.where(mask, rows, 0), mask).tolist()
    [[1], [1]]
    >>> mask[:, 0] = True
    >>> masked.act(np.where(mask, rows, 0), mask).tolist()
    [[0], [2]]
    >>> masked.predict(np.where(mask, rows, 0), mask).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]]
    """

    def __init__(
        self,
        model: Maskable,
        *,
        budget: float | Mapping[str, float] | None = None,
        seed: int | None = None,
        selection_of: Any = None,
    ) -> None:
        if getattr(model, "asks", "columns") != "columns" or not getattr(model, "rows_are_independent", True):
            raise TypeError(f"{type(model).__name__} does not ask for the columns of one row; use its walk")
        self._model = model
        self._budget = budget
        self._seed = seed
        self._names = model.costs_.features[: model.costs_.n_columns]
        self._selection_of = _selections(selection_of, len(self._names))

    def act(
        self,
        masked_features: Any,
        feature_mask: Any,
        selection_mask: Any = None,
        label: Any = None,  # the protocol passes it to methods that cheat
        feature_shape: Any = None,  # all axes but the first are of features
    ) -> Integers:
        """Return what each row wants next.

        Parameters
        ----------
        masked_features : array-like, shape (n_rows, n_features) or (n_rows, ...)
            The table; only the entries that the mask has are read. Anything that `numpy.asarray` takes, such
            as a tensor on the processor. NaN is measured and missing.
        feature_mask : array-like of bool, of the same shape
            The entries that a row has.
        selection_mask : array-like of bool, shape (n_rows, n_selections), optional
            The selections that were made. What else the mask has was there from the start, and is free.
        label, feature_shape : object, optional
            Part of the protocol, not read.

        Returns
        -------
        ndarray of int64, shape (n_rows, 1)
            0 to stop, else the number of the selection that reveals the feature, counted from 1.
        """
        walks = self._walks(masked_features, feature_mask, selection_mask)
        return np.array([self._action(walk) for walk in walks], dtype=np.int64).reshape(-1, 1)

    def predict(
        self,
        masked_features: Any,
        feature_mask: Any,
        label: Any = None,  # as above
        feature_shape: Any = None,
        *,
        selection_mask: Any = None,
    ) -> Floats:
        """Return the probabilities of each row by what it has so far; parameters as in `act`.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_classes), or (n_rows,) for a regressor
            Columns in the order of ``classes_``; values for a regressor.
        """
        found = [walk.decision for walk in self._walks(masked_features, feature_mask, selection_mask)]
        if not found:  # the shape is that of any row
            empty = np.zeros((1, len(self._names)))
            return self.predict(empty, empty.astype(np.bool_))[:0]
        return np.array(
            [
                one.prediction if one.probabilities is None else list(one.probabilities.values())
                for one in found
            ],
            dtype=np.float64,
        )

    def _walks(self, masked_features: Any, feature_mask: Any, selection_mask: Any) -> list[Walk]:
        """Return the walk of each row, where the features of the mask take it."""
        values, mask = np.asarray(masked_features), np.asarray(feature_mask, dtype=np.bool_)
        if values.shape != mask.shape:
            raise ValueError(
                f"masked_features has the shape {values.shape} and feature_mask {mask.shape}; they are alike"
            )
        if (n_features := math.prod(values.shape[1:])) != len(self._names):
            raise ValueError(f"a row has {n_features} features; the model has {len(self._names)}")
        values, mask = (each.reshape(-1, n_features) for each in (values, mask))
        first = np.zeros_like(mask)
        if selection_mask is not None:
            chosen = np.asarray(selection_mask, dtype=np.bool_)
            first = mask & ~chosen[:, self._selection_of]
        return [
            self._walk(row.tolist(), np.flatnonzero(has).tolist(), np.flatnonzero(known).tolist())
            for row, has, known in zip(values, mask, first, strict=True)
        ]

    def _walk(self, row: Sequence[object], has: Sequence[int], first: Sequence[int]) -> Walk:
        """Return the walk of a row that has some columns, of which some were there first."""
        entries = {self._names[column]: row[column] for column in has}
        known = {self._names[column]: row[column] for column in first}
        while True:
            walk = self._model.walk(self._seed, self._budget, known)
            walk.replay(entries)
            owned = [*known, *walk.answers]
            others = [name for name in entries if name not in known and name not in walk.answers]
            # Others are free, or in a group that is paid for: they may be there without a question.
            unpaid = [name for name in others if self._model.costs_.price(name, owned) > 0]
            if not unpaid:
                return walk
            # With more that is known the walk may ask for less, so that still more was not asked for.
            known |= {name: entries[name] for name in unpaid}

    def _action(self, walk: Walk) -> int:
        """Return the number of what a walk asks for."""
        if walk.ask is None:
            return STOP
        return 1 + int(self._selection_of[self._model.costs_.column(walk.ask.feature)])


def _selections(selection_of: Any, n_features: int) -> Integers:
    """Return the selection of each feature, checked."""
    if selection_of is None:
        return np.arange(n_features)
    found = np.asarray(selection_of)
    if found.shape != (n_features,) or found.dtype.kind not in "iu" or (found < 0).any():
        raise ValueError(
            f"selection_of must be {n_features} numbers of selections, counted from 0; got {found.dtype} of "
            f"the shape {found.shape}"
        )
    return found.astype(np.int64)
