"""
Farthing's compiled core: bins, histograms, trees, prediction. Internal; its shapes may change.
"""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Booster:
    def __init__(self, table: BinnedTable, labels: Annotated[NDArray[numpy.int8], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> None: ...

    def edges(self) -> NDArray[numpy.float64]: ...

    def take(self, place: int, max_depth: int) -> tuple[float, float, bool]: ...

    def trees(self) -> dict[str, object]: ...

    @property
    def most_alpha(self) -> float: ...

@overload
def curtailed(predictor: object, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], *, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], position: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stump: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], shared_low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared_high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64]]: ...

@overload
def curtailed(predictor: object, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], *, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], position: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stump: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], shared_low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared_high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64]]: ...

class BinnedTable:
    @property
    def n_rows(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

    def n_bins(self, column: int) -> int: ...

    def edges(self, column: int) -> NDArray[numpy.float64]: ...

    def codes(self) -> NDArray[numpy.uint8]: ...

@overload
def bin_table(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, n_sample: int, n_threads: int) -> BinnedTable: ...

@overload
def bin_table(X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, n_sample: int, n_threads: int) -> BinnedTable: ...

class TreeGrower:
    def __init__(self, table: BinnedTable, own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], *, max_depth: int, max_leaves: int, min_rows_leaf: int, ledger: str, cost_rule: str, tradeoff: float, budget: float, n_threads: int) -> None: ...

    def gradient(self, gradients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], hessians: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, *, l2: float, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, owned: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> tuple[dict[str, object], NDArray[numpy.int64], NDArray[numpy.uint8]]: ...

    def classes(self, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, *, impurity: object, alpha: float, power: float, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, owned: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, max_features: int | None, seed: int, stream: int) -> tuple[dict[str, object], NDArray[numpy.int64], NDArray[numpy.uint8]]: ...

class Predictor:
    def __init__(self, *, n_features: int, n_outputs: int, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], feature: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], left: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], right: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], category: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], category_words: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], category_widths: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], strict: bool, single: bool) -> None: ...

    @overload
    def predict(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], want_touched: bool, n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64]]: ...

    @overload
    def predict(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], want_touched: bool, n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64]]: ...

    @overload
    def predict_within(self, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64]]: ...

    @overload
    def predict_within(self, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64]]: ...

def seed_key(seed: int) -> int:
    """The key of draws before the first purchase."""

def purchase_bits(feature: int) -> int:
    """What the purchase of a feature flips in the key."""

def draw_lot(cumulative: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], key: int, counter: int) -> int:
    """The thing that a draw of this number gives."""

class Sampler:
    def __init__(self, *, alphas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], set_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], set_features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], all_features: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: float, cumulative: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], exact: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: float, dear: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], dear_prices: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], full_vote: bool, max_samples: int, top: bool, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], curtail: bool, own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shared: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], group_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @overload
    def trees(self, predictor: object, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64], NDArray[numpy.int64]]: ...

    @overload
    def trees(self, predictor: object, X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64], NDArray[numpy.int64]]: ...

    @overload
    def linear(self, feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64], NDArray[numpy.int64]]: ...

    @overload
    def linear(self, feature: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float32], dict(shape=(None, None), device='cpu', writable=False)], budgets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seeds: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[NDArray[numpy.float64], NDArray[numpy.uint64], NDArray[numpy.int64]]: ...
