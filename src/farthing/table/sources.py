"""Adapters that present any supported table as columns; only they and `other_frames` know table libraries.

pandas and polars are never imported here: a frame of theirs can exist only if its library is already loaded.
They are read directly and not through narwhals, so that a single row costs as little as one of an array.
"""

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.errors import PrecisionWarning, TableError, warn
from farthing.table.values import TableTypeError

Store: TypeAlias = Literal["numbers", "codes", "text", "objects", "foreign"]

# The largest integer up to which a float64 has every one.
_LARGEST_EXACT: Final = 2**53


class RawColumn(Protocol):
    """One column in the representation of its library.

    ``store`` is the representation: "numbers" (booleans, integers, floats), "codes" (codes into a list of
    categories), "text" (strings), "objects" (Python values of any type), "foreign" (dates and the like, which
    no model can learn from).
    """

    store: Store

    @property
    def dtype(self) -> str:
        """The name of the dtype, for messages."""

    def floats(self) -> NDArray[np.floating[Any]]:
        """Return the values, NaN where missing. Only for "numbers"."""

    def codes(self) -> tuple[NDArray[np.integer[Any]], list[object]]:
        """Return the code of each row, -1 where missing, and the categories in order. Only for "codes"."""

    def objects(self) -> list[object]:
        """Return the values as Python objects."""


class Source(Protocol):
    """A table with rows and columns, and optionally column names."""

    names: tuple[str, ...] | None
    shape: tuple[int, int]

    def column(self, position: int) -> RawColumn:
        """Return the column at a position."""

    def floats(self, positions: Sequence[int]) -> NDArray[np.floating[Any]] | None:
        """Return these columns as one array if the table stores them as one, without a copy if possible."""


def open_source(X: Any, estimator: str, min_rows: int = 1) -> Source:
    """Wrap a table of any supported type as columns.

    Parameters
    ----------
    X : ndarray, pandas.DataFrame, polars.DataFrame or array-like of shape (n_rows, n_features)
        The table; or any other frame that narwhals knows (a PyArrow table, a relation of DuckDB); or a dict
        from the names of columns to lists of equal length.
    estimator : str
        Name of the estimator, for messages.
    min_rows : int
        How many rows there must be at least.

    Returns
    -------
    Source
        With at least one column.

    Examples
    --------
    >>> open_source([[1.0, 2.0]], "the model").shape
    (1, 2)
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    source: Source
    if pandas is not None and isinstance(X, pandas.DataFrame):
        source = PandasSource(X)
    elif polars is not None and isinstance(X, polars.DataFrame):
        source = PolarsSource(X)
    elif polars is not None and isinstance(X, polars.LazyFrame):
        raise TableTypeError("got a polars LazyFrame, expected a DataFrame; call its collect() first")
    elif type(X).__module__.partition(".")[0] == "dask":
        raise TableTypeError("got a Dask collection, expected a table in memory; call its compute() first")
    elif type(X) is dict:  # some sparse matrices are dicts, too
        source = MappingSource(X)
    elif (other := _other_frame(X)) is not None:
        source = other
    else:
        return ArraySource(_check_array(X, estimator, min_rows))
    _check_not_empty(source.shape, estimator, min_rows)
    return source


def _other_frame(X: Any) -> Source | None:
    """Return the columns of a frame of a library that only narwhals knows, if it is one."""
    if isinstance(X, np.ndarray | list | tuple) or type(X).__module__.partition(".")[0] in ("scipy", "numpy"):
        return None  # most tables are one of these: narwhals need not be loaded
    try:
        from farthing.table.other_frames import other_frame  # noqa: PLC0415 - loads narwhals
    except ImportError:
        if hasattr(X, "__arrow_c_stream__"):
            kind = f"{type(X).__module__}.{type(X).__name__}"
            raise TableTypeError(f"a table of type {kind} needs narwhals: pip install narwhals") from None
        return None
    return other_frame(X)


def _check_array(X: Any, estimator: str, min_rows: int) -> NDArray[Any]:
    """Let scikit-learn convert anything but a frame to a two-dimensional array, with its own messages."""
    if type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype.kind in "biufO":
        return X  # nothing to check; for a single row the check would cost more than the prediction
    # np.asarray would drop the mask and expose the values under it.
    if isinstance(X, np.ma.MaskedArray):
        dtype, missing = (np.float64, np.nan) if X.dtype.kind in "biuf" else (object, None)
        X = np.ma.filled(X.astype(dtype), missing)
    from sklearn.utils import check_array  # noqa: PLC0415 - the rest of the package does without

    try:
        array = check_array(
            X, dtype=None, ensure_all_finite=False, ensure_min_samples=min_rows, estimator=estimator
        )
        if array.dtype.kind in "US" and isinstance(X, list | tuple):
            # NumPy converts numbers that share a list with strings to strings.
            array = check_array(np.asarray(X, dtype=object), dtype=None, ensure_all_finite=False)
    except ValueError as error:
        raise TableError(str(error)) from error
    checked: NDArray[Any] = array
    return checked


def _check_not_empty(shape: tuple[int, int], estimator: str, min_rows: int) -> None:
    for count, least, what in zip(shape, (min_rows, 1), ("sample", "feature"), strict=True):
        if count < least:
            raise TableError(
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required by "
                f"{estimator}."
            )


def column_names(labels: Sequence[object]) -> tuple[str, ...] | None:
    """Return the column names of a frame; None, as in scikit-learn, if none of them is a string."""
    texts = [label for label in labels if isinstance(label, str)]
    if not texts:
        return None
    if len(texts) < len(labels):
        types = sorted({type(label).__name__ for label in labels})
        raise TableTypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. If you want feature names to be stored and "
            "validated, you must convert them all to strings, by using X.columns = X.columns.astype(str)."
        )
    repeated = sorted(name for name, count in Counter(texts).items() if count > 1)
    if repeated:
        raise TableError(
            f"got column names that occur more than once: {', '.join(map(repr, repeated))}; expected each "
            "name once; rename or drop the others"
        )
    return tuple(str(name) for name in texts)


class ArraySource:
    """A NumPy array of shape (n_rows, n_features)."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.names: tuple[str, ...] | None = None  # an array has none
        self.array = array
        self.shape: tuple[int, int] = (array.shape[0], array.shape[1])

    def column(self, position: int) -> RawColumn:
        """Return the column at a position."""
        return ArrayColumn(self.array[:, position])

    def floats(self, positions: Sequence[int]) -> NDArray[np.floating[Any]] | None:
        """Return these columns as one array; the original one if it holds floats in this order."""
        if self.array.dtype.kind not in "biuf":
            return None
        return _take(as_floats(self.array), positions)


class ArrayColumn:
    """A column of a NumPy array."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array
        self.store = _store_of_kind(array.dtype.kind)

    @property
    def dtype(self) -> str:
        """The name of the dtype, for messages; NumPy takes long to make it."""
        return str(self.array.dtype)

    def floats(self) -> NDArray[np.floating[Any]]:
        """Return the values as floats."""
        return as_floats(self.array)

    def codes(self) -> tuple[NDArray[np.integer[Any]], list[object]]:
        """Raise, since arrays have no codes."""
        raise NotImplementedError

    def objects(self) -> list[object]:
        """Return the values as Python objects."""
        # tolist() gives integers for dates of nanoseconds, which would pass as numbers.
        kept = self.array.astype(object) if self.array.dtype.kind in "mM" else self.array
        values: list[object] = kept.tolist()
        return values


class MappingSource:
    """Columns by name, each a list of Python values: a frame without a library."""

    def __init__(self, columns: Mapping[Any, Sequence[object]]) -> None:
        self.columns = list(columns.values())
        lengths = {len(column) for column in self.columns}
        if len(lengths) > 1:
            raise TableError(f"got columns of {sorted(lengths)} entries, expected the same number in each")
        self.names = column_names(list(columns))
        self.shape: tuple[int, int] = (lengths.pop() if lengths else 0, len(self.columns))

    def column(self, position: int) -> RawColumn:
        """Return the column at a position."""
        # Not np.array(..., dtype=object), which would unpack entries that are lists into a second dimension.
        values = np.empty(self.shape[0], dtype=object)
        values[:] = self.columns[position]
        return ArrayColumn(values)

    def floats(self, positions: Sequence[int]) -> NDArray[np.floating[Any]] | None:
        """Return None: lists are never one array."""
        return None


class PandasSource:
    """A pandas DataFrame, of version 2.2 or 3."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.shape: tuple[int, int] = tuple(frame.shape)
        self.names = column_names(list(frame.columns))

    def column(self, position: int) -> RawColumn:
        """Return the column at a position."""
        return PandasColumn(self.frame.iloc[:, position])

    def floats(self, positions: Sequence[int]) -> NDArray[np.floating[Any]] | None:
        """Return these columns as one array if all are float64, or all float32."""
        dtypes = set(self.frame.dtypes)
        if dtypes == {np.dtype(np.float64)} or dtypes == {np.dtype(np.float32)}:
            return _take(as_floats(self.frame.to_numpy()), positions)
        return None


class PandasColumn:
    """A column of a pandas DataFrame."""

    def __init__(self, series: Any) -> None:
        self.series = series
        self.dtype = str(series.dtype)
        self.store = _store_of_pandas(series.dtype)

    def floats(self) -> NDArray[np.floating[Any]]:
        """Return the values as floats."""
        if isinstance(self.series.dtype, np.dtype):
            return as_floats(self.series.to_numpy(), self.series.name)
        values: NDArray[np.floating[Any]] = self.series.to_numpy(dtype=np.float64, na_value=np.nan)
        return values

    def codes(self) -> tuple[NDArray[np.integer[Any]], list[object]]:
        """Return the codes and the categories of the dtype."""
        return self.series.cat.codes.to_numpy(), self.series.cat.categories.tolist()

    def objects(self) -> list[object]:
        """Return the values as Python objects."""
        if isinstance(self.series.dtype, np.dtype):
            values: list[object] = self.series.tolist()
            return values
        values = self.series.to_numpy(dtype=object, na_value=None).tolist()
        return values


class PolarsSource:
    """A polars DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.shape: tuple[int, int] = tuple(frame.shape)
        self.names = column_names(frame.columns)

    def column(self, position: int) -> RawColumn:
        """Return the column at a position."""
        return PolarsColumn(self.frame.to_series(position))

    def floats(self, positions: Sequence[int]) -> NDArray[np.floating[Any]] | None:
        """Return None: polars stores its columns separately."""
        return None


class PolarsColumn:
    """A column of a polars DataFrame."""

    def __init__(self, series: Any) -> None:
        self.series = series
        self.dtype = str(series.dtype)
        self.store = _store_of_polars(series.dtype)

    def floats(self) -> NDArray[np.floating[Any]]:
        """Return the values as floats."""
        values: NDArray[np.floating[Any]] = self.series.cast(sys.modules["polars"].Float64).to_numpy()
        return values

    def codes(self) -> tuple[NDArray[np.integer[Any]], list[object]]:
        """Return the codes and the categories of an Enum."""
        integer = sys.modules["polars"].Int64
        codes = self.series.to_physical().cast(integer).fill_null(-1).to_numpy()
        return codes, self.series.dtype.categories.to_list()

    def objects(self) -> list[object]:
        """Return the values as Python objects."""
        values: list[object] = self.series.to_list()
        return values


def _store_of_kind(kind: str) -> Store:
    """Return the representation of a NumPy or pandas dtype of this kind."""
    if kind in "biuf":
        return "numbers"
    if kind in "UT":
        return "text"
    return "objects" if kind == "O" else "foreign"


def _store_of_pandas(dtype: Any) -> Store:
    if isinstance(dtype, sys.modules["pandas"].CategoricalDtype):
        return "codes"
    # The kind of pandas' string dtypes is "O", that of objects; their type is str.
    return "text" if dtype.type is str else _store_of_kind(dtype.kind)


def _store_of_polars(dtype: Any) -> Store:
    polars = sys.modules["polars"]
    if dtype.is_integer() or dtype.is_float() or dtype in (polars.Boolean, polars.Null):
        return "numbers"
    if dtype == polars.Enum:
        return "codes"
    # The physical codes of a Categorical depend on what else the process has read, so its strings are used.
    if dtype in (polars.String, polars.Categorical):
        return "text"
    # Decimals are converted by Python, so that both ways of encoding round alike in all versions of polars.
    return "objects" if dtype in (polars.Decimal, polars.Object) else "foreign"


def as_floats(array: NDArray[Any], name: object = None) -> NDArray[np.floating[Any]]:
    """Return float32 and float64 arrays as they are, others as float64."""
    if array.dtype in (np.float32, np.float64) and array.flags.aligned:  # false for the other byte order
        return array.view(np.ndarray)  # drops subclasses, whose operators may behave differently
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        _warn_of_merged(array, name)
    with np.errstate(over="ignore"):  # a long double beyond the range of doubles becomes infinite
        return array.astype(np.float64)


def _warn_of_merged(array: NDArray[Any], name: object) -> None:
    """Warn of integers that floats cannot tell apart."""
    # Not np.abs, which is negative for the smallest integer.
    large = array > _LARGEST_EXACT
    if array.dtype.kind == "i":
        large |= array < -_LARGEST_EXACT
    if not large.any():
        return
    where = np.argwhere(large)[0]
    column = repr(name) if name is not None else f"x{where[1]}" if len(where) > 1 else "of an array"
    warn(
        f"column {column} holds {array[tuple(where)]}: integers beyond 2**53 are rounded, and neighbours "
        "become equal. If they are identifiers, drop the column or pass it as text",
        PrecisionWarning,
    )


def _take(array: NDArray[np.floating[Any]], positions: Sequence[int]) -> NDArray[np.floating[Any]]:
    """Return columns in this order, the array itself if it has it already."""
    natural = range(array.shape[1])
    if positions == natural or list(positions) == list(natural):
        return array
    return array[:, list(positions)]
