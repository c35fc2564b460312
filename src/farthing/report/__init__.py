"""A report on a model as one HTML page: summarize, plot, render."""

from farthing.report.audit import Audit, audit
from farthing.report.card import model_card
from farthing.report.flow import Flow, flow
from farthing.report.render import render, write_report
from farthing.report.reprice_loss import RepriceLoss, reprice_loss
from farthing.report.summary import Summary, summarize

__all__ = [
    "Audit",
    "Flow",
    "RepriceLoss",
    "Summary",
    "audit",
    "flow",
    "model_card",
    "render",
    "reprice_loss",
    "summarize",
    "write_report",
]
