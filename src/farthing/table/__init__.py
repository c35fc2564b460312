"""Tables of any library as arrays of floats: names, kinds, missing values and categories.

A table is encoded in two ways that agree on every value: whole, by `Schema.encode`, and one value at a time,
by `Schema.encode_value`, for lazy walks.
"""

from farthing.table.bin_rules import BinRules, sample_of
from farthing.table.bins import Bins
from farthing.table.columns import Column
from farthing.table.contents import content_keys
from farthing.table.encode import Encoded
from farthing.table.part_codes import PartCodes
from farthing.table.part_facts import PartFacts, merged_schema
from farthing.table.part_table import PartTable
from farthing.table.prepared import PreparedTable, encode
from farthing.table.refusals import refused_flags, refused_names
from farthing.table.schema import Schema
from farthing.table.unseen import mute_unseen, unmute_unseen, unseen_reported_elsewhere

__all__ = [
    "BinRules",
    "Bins",
    "Column",
    "Encoded",
    "PartCodes",
    "PartFacts",
    "PartTable",
    "PreparedTable",
    "Schema",
    "content_keys",
    "encode",
    "merged_schema",
    "mute_unseen",
    "refused_flags",
    "refused_names",
    "sample_of",
    "unmute_unseen",
    "unseen_reported_elsewhere",
]
