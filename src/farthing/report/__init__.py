"""A model on one page: summarize, draw, render; the page needs no network."""

from farthing.report.audit import Audit, audit
from farthing.report.render import render, write_report
from farthing.report.summary import Summary, summarize

__all__ = ["Audit", "Summary", "audit", "render", "summarize", "write_report"]
