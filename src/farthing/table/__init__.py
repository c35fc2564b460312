"""Tables of any library as arrays of floats: names, kinds, missing values and categories.

A table is encoded in two ways that agree on every value: whole, by `Schema.encode`, and one value at a time,
by `Schema.encode_value`, for lazy walks.
"""

from farthing.table.bins import Bins
from farthing.table.columns import Column
from farthing.table.encode import Encoded
from farthing.table.prepared import PreparedTable, encode
from farthing.table.refusals import refused_flags, refused_names
from farthing.table.schema import Schema
from farthing.table.unseen import unseen_reported_elsewhere

__all__ = [
    "Bins",
    "Column",
    "Encoded",
    "PreparedTable",
    "Schema",
    "encode",
    "refused_flags",
    "refused_names",
    "unseen_reported_elsewhere",
]
