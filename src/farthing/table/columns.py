"""One column of a table: its name, its kind, and how a value of it becomes a float."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.table.categories import CategoryIndex, reads_as_number
from farthing.table.sources import RawColumn
from farthing.table.values import ODD, Scalar, TableTypeError, is_date, plain, show, to_float

Kind: TypeAlias = Literal["numeric", "categorical"]

_EXPECTED_TYPES = "expected numbers or booleans only, or strings only (None and NaN are missing)"
_DATE_REMEDY = (
    "a date is neither: make it a number, such as the days since a fixed date, (dates - start).dt.days, or "
    "drop the column"
)
# For these types, NumPy's conversion of a whole list gives what `Column.encode_value` gives for each value.
_PYTHON_NUMBERS = frozenset({float, int, bool, type(None)})
# Values of these types can be looked up among the categories without conversion.
_PYTHON_SCALARS = _PYTHON_NUMBERS | {str}


@dataclass(frozen=True, slots=True)
class Column:
    """Name, kind and categories of a column: how its values are encoded as floats.

    Parameters
    ----------
    name : str
        Name of the feature.
    kind : {"numeric", "categorical"}
        Booleans and integers are numeric.
    categories : tuple of str, int, float or bool
        For a categorical column: the category at position c has the code c. Categories compare as Python
        values do, so 1, 1.0 and True are the same category. A value that is no category may still mean one,
        as the number 1 means "1": see `farthing.table.categories.CategoryIndex`.

    Examples
    --------
    >>> column = Column("sex", "categorical", ("female", "male"))
    >>> column.encode_value("male"), column.encode_value("unheard of"), column.encode_value(None)
    (1.0, nan, nan)
    """

    name: str
    kind: Kind
    categories: tuple[Scalar, ...] = ()
    _index: CategoryIndex = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TableTypeError(f"got the column name {self.name!r}, expected a string")
        if self.kind not in get_args(Kind):
            raise TableError(
                f"column {self.name!r}: got the kind {self.kind!r}, expected 'numeric' or 'categorical'"
            )
        if self.kind == "numeric" and self.categories:
            raise TableError(f"column {self.name!r}: got categories for a numeric column, expected none")
        # The way around the frozen dataclass.
        object.__setattr__(self, "categories", tuple(self.categories))
        for category in self.categories:
            if type(category) not in get_args(Scalar) or category != category:  # noqa: PLR0124
                raise TableTypeError(
                    f"column {self.name!r}: got {show(category)} as a category, expected a string, a number "
                    "or a boolean"
                )
        index = CategoryIndex(self.categories)
        if len(index) < len(self.categories):
            raise TableError(f"column {self.name!r}: got a category twice, expected different categories")
        object.__setattr__(self, "_index", index)

    @property
    def is_categorical(self) -> bool:
        """Whether the values are codes of categories."""
        return self.kind == "categorical"

    def encode_value(self, value: object) -> float:
        """Encode one value as a float.

        Parameters
        ----------
        value : object
            A number, a boolean, a string, a NumPy scalar, or the missing-value marker of any library.

        Returns
        -------
        float
            The number or the code of the category; NaN if missing or a category unseen during fitting.

        Raises
        ------
        TableError
            If the value is invalid in this column. A string is not a number, even if it looks like one.
        """
        encoded = self.try_value(value)
        if encoded is None:
            self.reject(value)
        return encoded

    def reject(self, value: object, row: int | None = None) -> NoReturn:
        """Raise the error for a value that is invalid in this column."""
        place = "" if row is None else f" in row {row}"
        expected = "a category (a string, a number or a boolean)" if self.is_categorical else "a number"
        raise TableError(
            f"column {self.name!r}: got {show(value)}{place}, expected {expected}, or None or NaN if it is "
            f"missing{self._remedy(value)}"
        )

    def _remedy(self, value: object) -> str:
        if is_date(value):
            return f"; {_DATE_REMEDY}"
        if isinstance(value, str) and not self.is_categorical and reads_as_number(value):
            return "; convert the column to numbers first, as pandas.to_numeric does"
        return ""

    def try_value(self, value: object) -> float | None:
        """Encode one value as a float, or as None if it is invalid in this column."""
        if type(value) is float and self.kind == "numeric":
            return value  # the fast path, for most values of most walks
        reduced = plain(value)
        if reduced is None:
            return math.nan
        if reduced is ODD:
            return None
        if self.is_categorical:
            return self._index.code(reduced)
        return None if isinstance(reduced, str) else to_float(reduced)

    def is_unseen(self, value: object) -> bool:
        """Return whether a value is a category that no training row had."""
        if not self.is_categorical:
            return False
        reduced = plain(value)
        return reduced is not None and reduced is not ODD and math.isnan(self._index.code(reduced))

    def encode_column(self, raw: RawColumn) -> "EncodedColumn":
        """Encode a whole column, each value as `encode_value` does.

        Parameters
        ----------
        raw : RawColumn
            The column in the representation of its library.
        """
        if raw.store == "codes":
            return self._encode_codes(*raw.codes())
        if raw.store == "numbers" and not self.is_categorical:
            return EncodedColumn(raw.floats())
        values = raw.objects()
        floats, invalid = self._encode_objects(values)
        if not self.is_categorical:
            return EncodedColumn(floats, invalid)
        rows = [row for row in np.flatnonzero(np.isnan(floats)).tolist() if self.is_unseen(values[row])]
        return EncodedColumn(floats, invalid, {row: values[row] for row in rows})

    def _encode_codes(self, codes: NDArray[np.integer[Any]], categories: list[object]) -> "EncodedColumn":
        each = [self.try_value(category) for category in categories]
        # One more entry at the end, where the code -1 of a missing value finds its NaN.
        floats = np.array([math.nan if value is None else value for value in each] + [math.nan])
        wrong = np.array([value is None for value in each] + [False])
        unseen = np.array([self.is_unseen(category) for category in categories] + [False])
        return EncodedColumn(
            floats[codes],
            {int(row): categories[codes[row]] for row in np.flatnonzero(wrong[codes])},
            {int(row): categories[codes[row]] for row in np.flatnonzero(unseen[codes])},
        )

    def _encode_objects(self, values: list[object]) -> tuple[NDArray[np.float64], dict[int, object]]:
        quick = self._encode_python_scalars(values)
        if quick is not None:
            return quick, {}
        floats = np.empty(len(values))
        invalid: dict[int, object] = {}
        for row, value in enumerate(values):
            encoded = self.try_value(value)
            if encoded is None:
                invalid[row] = value
                encoded = math.nan
            floats[row] = encoded
        return floats, invalid

    def _encode_python_scalars(self, values: list[Any]) -> NDArray[np.float64] | None:
        """Encode a list of Python's own scalars at once; None if there are other types."""
        types = set(map(type, values))
        # Of one type only: 1 and True are equal, but may mean different text.
        if self.is_categorical and types <= _PYTHON_SCALARS and len(types - {type(None)}) <= 1:
            codes: dict[Any, Any] = {value: self.try_value(value) for value in set(values)}
            return np.fromiter((codes[value] for value in values), np.float64, len(values))
        if not self.is_categorical and types <= _PYTHON_NUMBERS:
            try:
                return np.array(values, dtype=np.float64)
            except OverflowError:  # an integer beyond the range of doubles, which `to_float` makes infinite
                return None
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON-compatible values."""
        return {"name": self.name, "kind": self.kind, "categories": list(self.categories)}

    @classmethod
    def from_dict(cls, plain_column: Mapping[str, Any]) -> "Column":
        """Build a column from the output of `to_dict`, which is checked, as it may come from a file."""
        if not isinstance(plain_column, Mapping) or set(plain_column) != {"name", "kind", "categories"}:
            raise TableTypeError("got a column without exactly the entries 'name', 'kind' and 'categories'")
        categories = plain_column["categories"]
        if not isinstance(categories, list | tuple) or not isinstance(plain_column["kind"], str):
            raise TableTypeError(f"column {plain_column['name']!r}: expected a list of categories and a kind")
        return cls(plain_column["name"], plain_column["kind"], tuple(categories))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class EncodedColumn:
    """A whole column as floats.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows,)
        NaN where a value is missing, unseen or invalid.
    invalid, unseen : dict of int to object
        By row, the values that the column cannot hold, and the categories that no training row had.
    """

    values: NDArray[np.floating[Any]]
    invalid: dict[int, object] = field(default_factory=dict)
    unseen: dict[int, object] = field(default_factory=dict)


def learn_column(name: str, raw: RawColumn) -> Column:
    """Infer the kind of a column, and its categories, from the training rows.

    Parameters
    ----------
    name : str
        Name of the feature.
    raw : RawColumn
        The column in the representation of its library.

    Returns
    -------
    Column
        The categories of a column of strings are sorted. Those of a categorical dtype are the ones that
        occur, in the order of the dtype. A column of objects that are all missing is numeric.

    Raises
    ------
    TableError
        If the column mixes numbers with strings, or holds neither.
    """
    if raw.store == "numbers":
        return Column(name, "numeric")
    if raw.store == "foreign":
        raise TableTypeError(
            f"column {name!r}: got the dtype {raw.dtype}, {_EXPECTED_TYPES}; "
            + (_DATE_REMEDY if _is_date_dtype(raw.dtype) else "convert it or drop it")
        )
    if raw.store == "codes":
        codes, categories = raw.codes()
        present = np.unique(codes[codes >= 0])
        return Column(name, "categorical", _distinct(name, [categories[code] for code in present]))
    return _learn_objects(name, raw)


def _learn_objects(name: str, raw: RawColumn) -> Column:
    values = raw.objects()
    present = (
        values if set(map(type, values)) <= _PYTHON_SCALARS else [_known(name, value) for value in values]
    )
    texts = {value for value in present if isinstance(value, str)}
    number = next((v for v in present if not isinstance(v, str) and v is not None and v == v), None)  # noqa: PLR0124
    if texts and number is not None:
        raise TableTypeError(
            f"column {name!r}: got {show(number)} and {show(min(texts))} in one column, {_EXPECTED_TYPES}; "
            "make all of them numbers, or all of them strings"
        )
    if texts or raw.store == "text":
        return Column(name, "categorical", tuple(sorted(texts)))
    return Column(name, "numeric")


def _distinct(name: str, categories: Sequence[object]) -> tuple[Scalar, ...]:
    """Return categories as plain scalars, without duplicates."""
    kept: dict[Scalar, Scalar] = {}
    for category in categories:
        known = _known(name, category)
        if known is not None:
            kept.setdefault(known, known)
    return tuple(kept.values())


def _known(name: str, value: object) -> Scalar | None:
    """Return a value as a plain scalar; raise the error of `fit` if it cannot be one."""
    reduced = plain(value)
    if reduced is ODD:
        # scikit-learn's estimator checks look for the words at the end of this message.
        raise TableTypeError(
            f"column {name!r}: got {show(value)}, {_EXPECTED_TYPES}; "
            + (_DATE_REMEDY if is_date(value) else "each argument must be a string or a number")
        )
    return reduced


def _is_date_dtype(dtype: str) -> bool:
    """Return whether the name of a dtype is that of dates: datetime64, Date, date32, timestamp."""
    return dtype.lower().startswith(("date", "timestamp"))
