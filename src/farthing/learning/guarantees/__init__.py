"""Guarantees on new rows: variants of a fitted model are tested on rows that it did not learn from."""

from farthing.learning.guarantees.certify import certify
from farthing.learning.guarantees.guaranteed import GuaranteedMixin

__all__ = ["GuaranteedMixin", "certify"]
