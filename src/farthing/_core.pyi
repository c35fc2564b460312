"""
Farthing's compiled core: bins, histograms, trees, prediction. Internal; its shapes may change.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class BinnedTable:
    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def n_bins(self, arg: int, /) -> int: ...

    def edges(self, arg: int, /) -> NDArray[numpy.float64]: ...

    @property
    def codes(self) -> Annotated[NDArray[numpy.uint8], dict(writable=False)]: ...

@overload
def bin_table(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, n_sample: int, n_threads: int) -> BinnedTable: ...

@overload
def bin_table(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, n_sample: int, n_threads: int) -> BinnedTable: ...

class TreeGrower:
    def __init__(self, table: BinnedTable, own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, max_depth: int, max_leaves: int, min_rows_leaf: int, ledger: str, cost_rule: str, tradeoff: float, budget: float, n_threads: int) -> None: ...

    def gradient(self, gradients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], hessians: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, *, l2: float, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, owned: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple: ...

    def classes(self, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, *, impurity: str, alpha: float, power: float, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, owned: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple: ...

class Predictor:
    def __init__(self, *, n_features: int, n_outputs: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], category_words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], category_widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], strict: bool, single: bool) -> None: ...

    @overload
    def predict(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], want_touched: bool, n_threads: int) -> tuple: ...

    @overload
    def predict(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], want_touched: bool, n_threads: int) -> tuple: ...

    @overload
    def predict_within(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple: ...

    @overload
    def predict_within(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple: ...
