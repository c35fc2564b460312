"""Codecs of Farthing's own values: cost sheet, labels, schema, forest."""

from __future__ import annotations

from typing import Any

from farthing.costs import CostSheet
from farthing.labels import Labels
from farthing.store.codec import register_codec
from farthing.table import Schema
from farthing.trees import Forest


def _encode_forest(forest: Forest) -> dict[str, object]:
    return {
        "n_features": forest.n_features,
        "n_outputs": forest.n_outputs,
        "comparator": forest.comparator,
        "dtype": forest.dtype,
        **forest.arrays(),
    }


def _decode_forest(fields: dict[str, Any]) -> Forest:
    # The compiled predictor follows the arrays without bounds checks, so nothing invalid may pass here.
    return Forest(**fields).validate()


register_codec("CostSheet", CostSheet, CostSheet.to_dict, CostSheet.from_dict)
register_codec("Labels", Labels, Labels.to_dict, Labels.from_dict)
register_codec("Schema", Schema, Schema.to_dict, Schema.from_dict)
register_codec("Forest", Forest, _encode_forest, _decode_forest)
