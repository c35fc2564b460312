"""Lazy pipelines in files: transformers are stored through skops."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from farthing.base import BudgetedEstimator
from farthing.base.files import register_reader
from farthing.costs import Block
from farthing.costs.validation import unique
from farthing.errors import FileError
from farthing.sources.lazy_pipeline import LazyPipeline
from farthing.store import register_codec, sklearn_archive


def _encode_block(block: Block) -> dict[str, Any]:
    try:
        packed = sklearn_archive.pack(block.transformer)
    except ImportError:
        raise
    except Exception as error:  # whatever skops makes of types that it cannot store
        raise TypeError(
            f"block {block.name!r}, a {type(block.transformer).__name__}, cannot be stored in a file without "
            f"code: {error}. Functions must be importable by name, such as numpy.log1p, not lambdas"
        ) from error
    return {"name": block.name, "columns": block.columns, "features": list(block.features), **packed}


def _decode_block(fields: dict[str, Any]) -> Block:
    name, features = fields["name"], fields["features"]
    if not isinstance(name, str) or not isinstance(features, list):
        raise TypeError("the name of a block must be a string, its features a list")
    transformer = sklearn_archive.unpack(fields["schema"], fields["parts"], f"block {name!r}")
    if not hasattr(transformer, "transform"):
        raise TypeError(f"a {type(transformer).__name__} is not a transformer")
    return Block(name, transformer, fields["columns"], unique(features))


def _from_file(state: dict[str, Any]) -> LazyPipeline:
    """Build a pipeline from what `LazyPipeline.save` wrote; the file may be hostile."""
    if set(state) != {"blocks", "model", "batch_size"}:
        raise FileError(f"a LazyPipeline holds blocks, model and batch_size; got {sorted(state)}")
    blocks, model = state["blocks"], state["model"]
    if not isinstance(model, BudgetedEstimator) or not model.__sklearn_is_fitted__():
        raise TypeError("the model must be a fitted estimator")
    if not isinstance(blocks, list) or not all(isinstance(block, Block) for block in blocks):
        raise TypeError("the blocks must be a list of blocks")
    return LazyPipeline(
        [(block.name, block.transformer, block.columns) for block in blocks],
        clone(model),
        costs=model.fitted_.costs.without_calls(),
        batch_size=state["batch_size"],
    ).adopt(blocks, model)


register_codec("Block", Block, _encode_block, _decode_block)
register_reader("LazyPipeline", _from_file)
