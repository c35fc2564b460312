"""Lazy pipelines from files."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from farthing.base import BudgetedEstimator
from farthing.base.files import register_reader
from farthing.costs import Block
from farthing.costs.validation import unique
from farthing.errors import FileError
from farthing.sources.lazy_pipeline import LazyPipeline
from farthing.store import sklearn_archive


def _from_file(state: dict[str, Any]) -> LazyPipeline:
    """Build a pipeline from what `save` wrote; the file may be hostile."""
    if set(state) != {"blocks", "model", "batch_size"}:
        raise FileError(f"a LazyPipeline holds blocks, model and batch_size; got {sorted(state)}")
    parts, model = state["blocks"], state["model"]
    if not isinstance(model, BudgetedEstimator) or not model.__sklearn_is_fitted__():
        raise TypeError("the model must be a fitted estimator")
    if not isinstance(parts, list) or not parts:
        raise TypeError("the blocks must be a list")
    blocks = [_block_from_file(part) for part in parts]
    return LazyPipeline(
        [(block.name, block.transformer, block.columns) for block in blocks],
        clone(model),
        costs=model.fitted_.costs.without_calls(),
        batch_size=state["batch_size"],
    ).adopt(blocks, model)


def _block_from_file(part: Any) -> Block:
    if not isinstance(part, dict) or set(part) != {"name", "transformer", "columns", "features"}:
        raise TypeError("a block holds name, transformer, columns and features")
    features = part["features"]
    if not isinstance(part["name"], str) or not isinstance(features, list):
        raise TypeError("the name of a block must be a string, its features a list")
    packed = part["transformer"]
    if not isinstance(packed, dict) or set(packed) != {"schema", "parts"}:
        raise TypeError("a transformer holds schema and parts")
    transformer = sklearn_archive.unpack(**packed, what=f"block {part['name']!r}")
    if not hasattr(transformer, "transform"):
        raise TypeError(f"a {type(transformer).__name__} is not a transformer")
    return Block(part["name"], transformer, part["columns"], unique(features))


register_reader("LazyPipeline", _from_file)
