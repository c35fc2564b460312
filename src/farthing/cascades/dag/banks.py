"""Learned scores of many states in one value: all trees in one forest, or a model for each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor

from farthing.costs import CostSheet
from farthing.learning.linear_scores import LinearScores
from farthing.learning.losses import scores_to_probabilities
from farthing.learning.polynomial_scores import QuadraticScores
from farthing.learning.sklearn_model import SklearnModel
from farthing.learning.spread_classes import spread_classes
from farthing.store import register_codec
from farthing.trees import Forest, Predictor, Progress
from farthing.typing import Floats

Refused: TypeAlias = frozenset[int]


@dataclass(frozen=True, eq=False)
class ForestBank:
    """Boosted trees of several items, one after another in one forest.

    Parameters
    ----------
    forest : Forest
        The trees; each adds to one of the outputs.
    ends : ndarray of int64, shape (n_items,)
        The end of each item's trees.

    Examples
    --------
    >>> one, two = (Forest.constant([value], 1) for value in (0.5, -0.5))
    >>> bank = ForestBank(Forest.concat([one, two]), np.array([1, 2]))
    >>> bank.scores(1, np.zeros((1, 1)))
    array([[-0.5]])
    """

    forest: Forest
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def n_features(self) -> int:
        """Columns of the table that the items read."""
        return self.forest.n_features

    def n_scores(self, place: int) -> int:  # all items have as many
        """Return the number of scores of an item."""
        return self.forest.n_outputs

    def used(self, place: int) -> NDArray[np.int64]:
        """Return the columns that an item reads, ascending."""
        first, last = self.forest.offsets[[self._begin(place), int(self.ends[place])]].tolist()
        tested = np.unique(self.forest.feature[first:last])
        return tested[tested >= 0].astype(np.int64)

    def scores(
        self,
        place: int,
        values: NDArray[np.floating],
        refused: Refused = frozenset(),
        n_threads: int = 1,
    ) -> Floats:
        """Return the scores of an item, shape (n_rows, n_outputs).

        Parameters
        ----------
        place : int
            The item.
        values : ndarray, shape (n_rows, n_features)
            An encoded table.
        refused : frozenset of int
            Columns that these rows refuse; their values are NaN.
        n_threads : int
            Threads to use; any number gives the same bits.
        """
        progress = Progress(values, self.forest.n_outputs, self._no_prices, n_threads=n_threads)
        self._predictor.advance(progress, self._begin(place), int(self.ends[place]), None, refused)
        return progress.outputs

    def probabilities(
        self,
        place: int,
        values: NDArray[np.floating],
        classes: NDArray[Any],
        refused: Refused = frozenset(),
        n_threads: int = 1,
    ) -> Floats:
        """Return the probability of each class by an item that is a classifier, (n_rows, n_classes)."""
        return scores_to_probabilities(self.scores(place, values, refused, n_threads), len(classes))

    @cached_property
    def _predictor(self) -> Predictor:
        return Predictor(self.forest)

    @cached_property
    def _no_prices(self) -> CostSheet:
        # Rows in progress have a sheet for their budget; here there is none.
        return CostSheet(np.zeros(self.n_features))

    def _begin(self, place: int) -> int:
        return int(self.ends[place - 1]) if place else 0


@dataclass(frozen=True, eq=False)
class LinearBank:
    """Linear or quadratic scores, one model for each item; the parameters of `scores` as in `ForestBank`.

    Parameters
    ----------
    items : tuple of LinearScores or QuadraticScores
    """

    items: tuple[LinearScores | QuadraticScores, ...]

    def __len__(self) -> int:
        return len(self.items)

    def n_scores(self, place: int) -> int:
        """Return the number of scores of an item."""
        return self.items[place].n_outputs

    @property
    def n_features(self) -> int:
        """Columns of the table that the items read."""
        return self.items[0].n_features if self.items else 0

    def used(self, place: int) -> NDArray[np.int64]:
        """Return the columns that an item reads, ascending."""
        return self.items[place].used

    def scores(
        self,
        place: int,
        values: NDArray[np.floating],
        refused: Refused = frozenset(),  # a term without a value is zero in any case
        n_threads: int = 1,
    ) -> Floats:
        """Return the scores of an item, shape (n_rows, n_outputs)."""
        return self.items[place].outputs(values, n_threads)[0]

    def probabilities(
        self,
        place: int,
        values: NDArray[np.floating],
        classes: NDArray[Any],
        refused: Refused = frozenset(),
        n_threads: int = 1,
    ) -> Floats:
        """Return the probability of each class by an item that is a classifier, (n_rows, n_classes)."""
        return scores_to_probabilities(self.scores(place, values, refused, n_threads), len(classes))


@dataclass(frozen=True, eq=False)
class SklearnBank:
    """Models of scikit-learn, one or several for each item; the parameters of `scores` as in `ForestBank`.

    Parameters
    ----------
    items : tuple of tuple of SklearnModel or float
        The models of each item; a number is a score that does not depend on the row.
    width : int
        Columns of the table that the items read.
    """

    items: tuple[tuple[SklearnModel | float, ...], ...]
    width: int

    def __len__(self) -> int:
        return len(self.items)

    def n_scores(self, place: int) -> int:
        """Return the number of scores of an item."""
        return len(self.items[place])

    @property
    def n_features(self) -> int:
        """Columns of the table that the items read."""
        return self.width

    def used(self, place: int) -> NDArray[np.int64]:
        """Return the columns that an item reads, ascending."""
        found = [model.columns for model in self.items[place] if isinstance(model, SklearnModel)]
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]))

    def known_classes(self) -> list[NDArray[Any]]:
        """Return the labels that each model knows, if they are classifiers."""
        return [model.classes for item in self.items for model in item if isinstance(model, SklearnModel)]

    def scores(
        self,
        place: int,
        values: NDArray[np.floating],
        refused: Refused = frozenset(),  # for these models a refused value is missing
        n_threads: int = 1,
    ) -> Floats:
        """Return the scores of an item, shape (n_rows, n_models)."""
        return np.column_stack([sklearn_score(model, values) for model in self.items[place]])

    def probabilities(
        self,
        place: int,
        values: NDArray[np.floating],
        classes: NDArray[Any],
        refused: Refused = frozenset(),
        n_threads: int = 1,
    ) -> Floats:
        """Return the probability of each class by an item that is one classifier, (n_rows, n_classes)."""
        (model,) = self.items[place]
        assert isinstance(model, SklearnModel)
        return spread_classes(model.probabilities(values), model.classes, classes)


Bank: TypeAlias = ForestBank | LinearBank | SklearnBank


def sklearn_score(
    model: SklearnModel | float, values: NDArray[np.floating], *, at_once: bool = False
) -> Floats:
    """Return what a regressor predicts, or how much a binary classifier is for class 1, shape (n_rows,).

    Parameters
    ----------
    model : SklearnModel or float
        A number is the score of every row.
    values : ndarray, shape (n_rows, n_features)
        An encoded table.
    at_once : bool
        Whether nobody asks for a row again, so that its last bits may depend on the others.
    """
    if not isinstance(model, SklearnModel):
        return np.full(len(values), model)
    scores = model.scores_at_once(values) if at_once else model.scores(values)
    if is_regressor(model.model):
        return scores[:, 0]
    # A classifier without probabilities decides by its sign.
    return scores[:, 1] - 0.5 if scores.shape[1] > 1 else scores[:, 0]


def _decode_forest(fields: dict[str, Any]) -> ForestBank:
    forest, ends = fields["forest"], fields["ends"]
    if not isinstance(forest, Forest) or not isinstance(ends, np.ndarray) or ends.dtype != np.int64:
        raise TypeError("a bank of trees holds a forest and the ends of its items")
    if ends.ndim != 1 or not len(ends) or (np.diff(np.append(0, ends)) < 0).any():
        raise ValueError("ends must ascend")
    if ends[-1] != forest.n_trees or forest.width != 1:
        raise ValueError("ends must ascend to the number of trees, which have one value each")
    return ForestBank(forest, ends)


def _decode_linear(fields: dict[str, Any]) -> LinearBank:
    items = fields["items"]
    if not isinstance(items, tuple) or not all(
        isinstance(item, LinearScores | QuadraticScores) for item in items
    ):
        raise TypeError("a bank of linear scores holds linear scores")
    if len({item.n_features for item in items}) > 1:
        raise ValueError("all items must read the same table")
    return LinearBank(items)


def _decode_sklearn(fields: dict[str, Any]) -> SklearnBank:
    items, width = fields["items"], fields["width"]
    if not isinstance(items, tuple) or not isinstance(width, int):
        raise TypeError("a bank of scikit-learn models holds tuples of them, and a number of columns")
    for item in items:
        if not isinstance(item, tuple) or not item:
            raise TypeError("an item holds one or more models")
        for model in item:
            if not isinstance(model, SklearnModel | float):
                raise TypeError("an item holds models of scikit-learn, and numbers")
            if (
                isinstance(model, SklearnModel)
                and len(model.columns)
                and not (0 <= model.columns.min() <= model.columns.max() < width)
            ):
                raise ValueError("a model reads columns that the table does not have")
    return SklearnBank(items, width)


register_codec("ForestBank", ForestBank, lambda b: {"forest": b.forest, "ends": b.ends}, _decode_forest)
register_codec("LinearBank", LinearBank, lambda b: {"items": b.items}, _decode_linear)
register_codec("SklearnBank", SklearnBank, lambda b: {"items": b.items, "width": b.width}, _decode_sklearn)
