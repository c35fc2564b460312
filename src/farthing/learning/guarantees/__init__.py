"""Guarantees on new rows: variants of a fitted model are tested on rows that it did not learn from."""

from farthing.learning.guarantees.certify import certify
from farthing.learning.guarantees.guaranteed import GuaranteedMixin
from farthing.learning.guarantees.ladders import Ladder, nominal_budgets, ordering_rows, refuse_hard

__all__ = ["GuaranteedMixin", "Ladder", "certify", "nominal_budgets", "ordering_rows", "refuse_hard"]
