"""Transformers in files, through skops."""

from __future__ import annotations

from typing import Any

from sklearn.base import TransformerMixin
from sklearn.pipeline import Pipeline

from farthing.pipelines.column_map import ColumnMap
from farthing.store import register_codec, sklearn_archive
from farthing.table import Schema


def _encode(transformer: Any) -> dict[str, Any]:
    try:
        return sklearn_archive.pack(transformer)
    except ImportError:
        raise
    except Exception as error:  # whatever skops makes of types that it cannot store
        raise TypeError(
            f"the preprocessing, a {type(transformer).__name__}, cannot be stored in a file without code: "
            f"{error}. Functions must be importable by name, such as numpy.log1p, not lambdas"
        ) from error


def _decode(fields: dict[str, Any]) -> Any:
    transformer = sklearn_archive.unpack(fields["schema"], fields["parts"], "preprocessing")
    if not hasattr(transformer, "fit_transform") or not hasattr(transformer, "transform"):
        raise TypeError(f"a {type(transformer).__name__} is not a transformer")
    return transformer


def _encode_map(columns: ColumnMap) -> dict[str, Any]:
    return {
        "transformer": columns.transformer,
        "schema": columns.schema,
        "kept": columns.kept,
        "sources": columns.sources,
        "reference": columns.reference,
        "batches": columns.batches,
    }


def _decode_map(fields: dict[str, Any]) -> ColumnMap:
    columns = ColumnMap(**fields)
    if not isinstance(columns.schema, Schema) or not hasattr(columns.transformer, "transform"):
        raise TypeError("a map of columns holds a schema and a transformer")
    if not isinstance(columns.batches, bool):
        raise TypeError("batches must be true or false")
    for name in ("kept", "sources", "reference"):
        if not hasattr(getattr(columns, name), "dtype"):
            raise TypeError(f"{name} must be an array")
    return columns


register_codec("Transformer", TransformerMixin, _encode, _decode)
# A Pipeline of scikit-learn may end in any estimator, so it is no TransformerMixin.
register_codec("TransformerPipeline", Pipeline, _encode, _decode)
register_codec("ColumnMap", ColumnMap, _encode_map, _decode_map)
