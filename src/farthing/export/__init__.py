"""Models in other languages: a walk that asks, with prices and hard budgets, where no Python runs."""

from farthing.export.c_writer import FLAGS, write_c
from farthing.export.exporting import TARGETS, Exported, export_model
from farthing.export.program import Program
from farthing.export.widget import ConsultationWidget

__all__ = ["FLAGS", "TARGETS", "ConsultationWidget", "Exported", "Program", "export_model", "write_c"]
