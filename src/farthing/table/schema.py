"""The columns of a fit, and how later tables are matched with them and encoded."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.spelling import close_names
from farthing.table.columns import Column, learn_column
from farthing.table.encode import Encoded
from farthing.table.sources import Source, open_source
from farthing.table.unseen import Unseen, warn_unseen_value
from farthing.table.values import TableTypeError


@dataclass(frozen=True, slots=True)
class Schema:
    """Names, kinds and categories of the columns that a model was fitted on.

    Parameters
    ----------
    columns : tuple of Column
        In the order of the fit.
    named : bool
        Whether the table had column names; the columns of an array are called x0, x1, ...

    Examples
    --------
    >>> import pandas as pd
    >>> schema = Schema.learn(pd.DataFrame({"age": [63, 41], "sex": ["male", "female"]}))
    >>> schema.columns[1]
    Column(name='sex', kind='categorical', categories=('female', 'male'))
    >>> schema.encode(pd.DataFrame({"sex": ["male", None], "age": [50, 38]})).values
    array([[50.,  1.],
           [38., nan]])
    >>> schema.encode_value(0, 50), schema.encode_value(1, "male")
    (50.0, 1.0)
    """

    columns: tuple[Column, ...]
    named: bool
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _positions: dict[str, int] = field(init=False, repr=False, compare=False)
    _numeric: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        if not self.columns or not all(isinstance(column, Column) for column in self.columns):
            raise TableTypeError(
                "got no columns, or something that is not a Column, expected at least one Column"
            )
        object.__setattr__(self, "_names", tuple(column.name for column in self.columns))
        if not isinstance(self.named, bool):
            raise TableTypeError(f"got named={self.named!r}, expected True or False")
        if not self.named and self.names != _default_names(len(self.columns)):
            raise TableError(f"got the names {self.names} for columns without names, expected x0, x1, ...")
        positions = {name: position for position, name in enumerate(self.names)}
        if len(positions) < len(self.columns):
            raise TableError("got a column name twice, expected each name once")
        object.__setattr__(self, "_positions", positions)
        # Kept, since every prediction of an array asks.
        object.__setattr__(self, "_numeric", not any(column.is_categorical for column in self.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return self._names

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    @classmethod
    def learn(cls, X: Any, estimator: str = "the model") -> "Schema":
        """Infer the columns of a table and their kinds.

        Parameters
        ----------
        X : ndarray, pandas.DataFrame, polars.DataFrame or array-like of shape (n_rows, n_features)
            The training table.
        estimator : str
            Name of the estimator, for messages.

        Returns
        -------
        Schema
            Under which `encode` finds no invalid entry in X.

        Raises
        ------
        TableError
            If X is empty, not of two dimensions, complex, has a column name twice, or has a column that is
            neither of numbers nor of strings.
        TypeError
            If X is sparse.
        """
        source = open_source(X, estimator)
        names = source.names or _default_names(source.shape[1])
        return cls(
            tuple(learn_column(name, source.column(position)) for position, name in enumerate(names)),
            named=source.names is not None,
        )

    def encode(
        self,
        X: Any,
        estimator: str = "the model",
        *,
        needed: NDArray[np.bool_] | None = None,
        min_rows: int = 1,
    ) -> Encoded:
        """Encode a table as floats.

        Parameters
        ----------
        X : ndarray, pandas.DataFrame, polars.DataFrame or array-like of shape (n_rows, n_features)
            The columns of a frame are matched by name, in any order; those of an array by position. A space
            in a name matches an underscore, if no name fits better.
        estimator : str
            Name of the estimator, for messages.
        needed : ndarray of bool, shape (n_features,), optional
            The columns that a frame must have; None means all. Others that it lacks are missing.
        min_rows : int
            How many rows there must be at least.

        Returns
        -------
        Encoded
            An array of float32 or float64 is passed through without a copy.

        Raises
        ------
        TableError
            If columns are missing or unknown, or X is empty, complex or not of two dimensions. Single entries
            raise nothing here: see `Encoded.check`.
        TypeError
            If X is sparse.
        """
        source = open_source(X, estimator, min_rows)
        positions = self._match(source, estimator, needed)
        if self._numeric and (isinstance(positions, range) or None not in positions):
            # Without a copy where possible: one row at a time, and for large arrays, copying would dominate.
            whole = source.floats(cast("Sequence[int]", positions))
            if whole is not None:
                return Encoded.valid(whole, self.columns)
        # Column-major, since it is filled, and later binned, column by column.
        values = np.empty((source.shape[0], len(self)), dtype=np.float64, order="F")
        rows: list[int] = []
        columns: list[int] = []
        found: list[object] = []
        unseen: dict[int, Unseen] = {}
        for j, (column, position) in enumerate(zip(self.columns, positions, strict=True)):
            if position is None:
                values[:, j] = np.nan
                continue
            made = column.encode_column(source.column(position))
            values[:, j] = made.values
            rows += made.invalid.keys()
            columns += [j] * len(made.invalid)
            found += made.invalid.values()
            if made.unseen:
                unseen[j] = Unseen.of(made.unseen)
        return Encoded(
            values,
            np.array(rows, dtype=np.int64),
            np.array(columns, dtype=np.int64),
            tuple(found),
            self.columns,
            unseen,
            tuple(j for j, position in enumerate(positions) if position is None),
        )

    def is_encoded(self, X: object) -> bool:
        """Return whether a table is one already as `encode` would return it, with nothing left to check.

        So it is for an array of native floats with the right number of columns, if all columns are numbers
        without names.

        Examples
        --------
        >>> schema = Schema.learn(np.array([[1.0, 2.0], [3.0, 4.0]]))
        >>> schema.is_encoded(np.array([[5.0, 6.0]])), schema.is_encoded([[5.0, 6.0]])
        (True, False)
        """
        return (
            type(X) is np.ndarray
            and self._numeric
            and not self.named
            and X.dtype.char in "fd"
            and X.dtype.isnative
            and X.ndim == 2
            and X.shape[1] == len(self.columns)
            and len(X) > 0
            and X.flags.aligned
        )

    def encode_value(self, column: int, value: object) -> float:
        """Encode one value of one column, exactly as `encode` does in a table.

        Parameters
        ----------
        column : int
            Position of the column.
        value : object
            A number, a boolean, a string, a NumPy scalar, or the missing-value marker of any library.

        Returns
        -------
        float
            NaN if missing or a category unseen during fitting.

        Raises
        ------
        TableError
            If the value is invalid in this column.
        """
        return self.columns[column].encode_value(value)

    def warn_if_unseen(self, column: int, value: object) -> None:
        """Warn if a value of one column is a category that no training row had."""
        asked = self.columns[column]
        if asked.is_unseen(value):
            warn_unseen_value(asked.name, asked.categories, value)

    def find(self, name: object) -> int | None:
        """Return the position of a feature, or None if there is no such feature."""
        # The name may come from a request, so it may be of any type, even an unhashable one.
        return self._positions.get(name) if isinstance(name, str) else None

    def index(self, name: str) -> int:
        """Return the position of a feature.

        Parameters
        ----------
        name : str
            Name of the feature.

        Returns
        -------
        int
            Its position.

        Raises
        ------
        TableError
            If there is no such feature.
        """
        position = self.find(name)
        if position is None:
            close = close_names(str(name), self.names)
            hint = f"did you mean {close[0]!r}?" if close else f"expected one of {_listed(self.names)}"
            raise TableError(f"got the unknown feature {name!r}; {hint}")
        return position

    def _match(
        self, source: Source, estimator: str, needed: NDArray[np.bool_] | None
    ) -> range | list[int | None]:
        """Return the position in a table of each column of the schema; None if it is lacking, unneeded."""
        if self.named and source.names is not None:
            names = self._own_spelling(source.names)
            self.check_names(names, needed)
            places = {name: position for position, name in enumerate(names)}
            return [places.get(name) for name in self.names]
        if source.shape[1] != len(self):
            raise TableError(
                f"X has {source.shape[1]} features, but {estimator} is expecting {len(self)} features as "
                "input."
            )
        # The messages are scikit-learn's, word for word: its estimator checks compare them.
        if self.named:
            warnings.warn(
                f"X does not have valid feature names, but {estimator} was fitted with feature names",
                stacklevel=4,
            )
        elif source.names is not None:
            warnings.warn(
                f"X has feature names, but {estimator} was fitted without feature names", stacklevel=4
            )
        return range(len(self))

    def _own_spelling(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names of a table as they were at fit, if they differ in spaces and underscores only.

        LightGBM replaces the spaces in names, so a model imported from it has underscores.
        """
        own = {name.replace(" ", "_"): name for name in self.names}
        spelled = tuple(own.get(name.replace(" ", "_"), name) for name in names)
        unambiguous = len(own) == len(self) and len(set(spelled)) == len(names)
        return spelled if unambiguous and set(names) != set(self.names) else names

    def check_names(self, names: Sequence[str], needed: NDArray[np.bool_] | None = None) -> None:
        """Raise TableError, in the words of scikit-learn, if names are unknown or lack those needed."""
        required = self.names if needed is None else [self.names[j] for j in np.flatnonzero(needed)]
        unseen, missing = set(names) - set(self.names), set(required) - set(names)
        message = "The feature names should match those that were passed during fit.\n"
        if unseen:
            message += f"Feature names unseen at fit time:\n{_bullets(unseen)}"
        if missing:
            message += f"Feature names seen at fit time, yet now missing:\n{_bullets(missing)}"
            if not unseen and needed is not None:
                message += "If they are not available, refuse them, by refused=[...] or --refuse.\n"
        if unseen or missing:
            raise TableError(message)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON-compatible values."""
        return {"named": self.named, "columns": [column.to_dict() for column in self.columns]}

    @classmethod
    def from_dict(cls, plain_schema: Mapping[str, Any]) -> "Schema":
        """Build a schema from the output of `to_dict`, which is checked, as it may come from a file.

        Parameters
        ----------
        plain_schema : mapping
            With the entries "named" and "columns".

        Returns
        -------
        Schema
            Equal to the one that was stored.

        Raises
        ------
        TableError
            If an entry is missing, unknown, or not of its type.
        """
        if not isinstance(plain_schema, Mapping) or set(plain_schema) != {"named", "columns"}:
            raise TableTypeError("got a schema without exactly the entries 'named' and 'columns'")
        columns = plain_schema["columns"]
        if not isinstance(columns, list | tuple):
            raise TableTypeError(f"got columns of type {type(columns).__name__}, expected a list")
        return cls(tuple(Column.from_dict(column) for column in columns), plain_schema["named"])


def _default_names(n_features: int) -> tuple[str, ...]:
    """Name the columns of an array as scikit-learn does."""
    return tuple(f"x{position}" for position in range(n_features))


def _bullets(names: Iterable[str], most: int = 5) -> str:
    ordered = sorted(names)
    lines = [f"- {name}\n" for name in ordered[:most]]
    return "".join(lines) + ("- ...\n" if len(ordered) > most else "")


def _listed(names: tuple[str, ...], most: int = 8) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown}, ... ({len(names)} in all)"
