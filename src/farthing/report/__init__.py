"""A model on one page: summarize, draw, render; the page needs no network."""

from farthing.report.render import render, write_report
from farthing.report.summary import Summary, summarize

__all__ = ["Summary", "render", "summarize", "write_report"]
