"""Codecs of Farthing's own values: cost sheet, labels, schema, forest."""

from __future__ import annotations

import dataclasses
from typing import Any

from farthing.costs import CostSheet
from farthing.labels import Labels
from farthing.store.codec import register_codec
from farthing.table import Schema
from farthing.trees import Forest, SparseRows
from farthing.trees.node_arrays import ARRAYS


def _encode_forest(forest: Forest) -> dict[str, object]:
    return {
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "comparator": forest.comparator,
        "dtype": forest.dtype,
        **{name: getattr(forest, name) for name in ARRAYS if name != "cover"},
        "value": forest.node_values,
        "cover": forest.cover,
    }


def _decode_forest(fields: dict[str, Any]) -> Forest:
    # The compiled predictor follows the arrays without bounds checks, so nothing invalid may pass here.
    return Forest(node_values=fields.pop("value"), **fields).validate()


def _encode_rows(rows: SparseRows) -> dict[str, object]:
    return {f.name: getattr(rows, f.name) for f in dataclasses.fields(rows)}


register_codec("CostSheet", CostSheet, CostSheet.to_dict, CostSheet.from_dict)
register_codec("Labels", Labels, Labels.to_dict, Labels.from_dict)
register_codec("Schema", Schema, Schema.to_dict, Schema.from_dict)
register_codec("SparseRows", SparseRows, _encode_rows, lambda fields: SparseRows(**fields))
register_codec("Forest", Forest, _encode_forest, _decode_forest)
