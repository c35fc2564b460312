"""A table with its target, its price list and its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.labels import Labels
from farthing.typing import Flags, Integers

Code = int | str
PARTS = ("train", "validation", "test")


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table ready to fit: ``model.fit(data.X, data.y)`` with ``costs=data.costs``.

    Attributes
    ----------
    X : pandas.DataFrame or float64 array (rows, features)
        The features. Missing values are missing (NaN); nominal columns of a frame are pandas categories, and
        the numbers of their codes in an array.
    y : array (rows,)
        The target.
    costs : CostSheet
        The prices of the features of `X`, named as the columns of a frame, or ``x0``, ``x1``, ... for an
        array. Where no prices are published, 1 each.
    name : str
        The name of the table.
    feature_names : tuple of str
        The names of the features, in the order of `X`, for frames and arrays alike.
    description, source, licence, citation : str
        What the table is, who published it, on what terms, and how to cite it.
    meanings : mapping of str to str
        Meaning of each column, including ``"target"``; empty if it is not documented.
    codes : mapping of str to mapping
        For columns with coded values, including ``"target"``: the meaning of each code.
    split : array of str (rows,) or None
        The published split, ``"train"``, ``"validation"`` or ``"test"`` for each row, if there is one.
    queries : int64 array (rows,) or None
        The query each row belongs to, in ranking tables.
    labels : Labels
        Titles, questions, units and ranges of the features of `X`, and names of the classes, for
        ``model.with_labels``; empty if they are not documented.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> data = load_heart_disease()
    >>> data
    Dataset(heart_disease: 303 rows, 13 features)
    >>> data.costs.price("chol")
    7.27
    >>> data.codes["cp"][4]
    'asymptomatic'
    """

    X: Any
    y: NDArray[Any]
    costs: CostSheet
    name: str
    feature_names: tuple[str, ...]
    description: str
    source: str
    licence: str
    citation: str
    meanings: Mapping[str, str] = field(default_factory=_nothing)
    codes: Mapping[str, Mapping[Code, str]] = field(default_factory=_nothing)
    split: NDArray[np.str_] | None = None
    queries: Integers | None = None
    labels: Labels = field(default_factory=Labels)

    def __repr__(self) -> str:
        text = f"Dataset({self.name}: {len(self.y)} rows, {len(self.feature_names)} features"
        if self.split is not None:
            text += "".join(f", {part} {self.mask(part).sum()}" for part in PARTS if self.mask(part).any())
        if self.queries is not None:
            text += f", {len(np.unique(self.queries))} queries"
        return text + ")"

    def mask(self, part: str) -> Flags:
        """Return which rows belong to a part of the published split.

        Parameters
        ----------
        part : {"train", "validation", "test"}
            The part; empty if the split does not have it.

        Returns
        -------
        bool array (rows,)

        Examples
        --------
        >>> from farthing.datasets import load_thyroid
        >>> load_thyroid().mask("train").sum()
        np.int64(3772)
        """
        if part not in PARTS:
            raise ValueError(f"A part of a split is one of {', '.join(PARTS)}; got {part!r}.")
        if self.split is None:
            raise ValueError(
                f"The table {self.name!r} has no published split. Make one, for example with "
                "sklearn.model_selection.train_test_split."
            )
        return np.asarray(self.split == part, dtype=np.bool_)

    def part(self, part: str) -> Dataset:
        """Return the rows of one part of the published split.

        Parameters
        ----------
        part : {"train", "validation", "test"}
            The part.

        Returns
        -------
        Dataset
            The table with these rows only, in the same order.

        Examples
        --------
        >>> from farthing.datasets import load_thyroid
        >>> load_thyroid().part("test")
        Dataset(thyroid: 3428 rows, 20 features, test 3428)
        """
        rows = self.mask(part)
        # Both arrays and frames take a boolean mask; the prices, names and notes are those of all rows.
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            split=None if self.split is None else self.split[rows],
            queries=None if self.queries is None else self.queries[rows],
        )
