"""The policy of a model as a picture: which questions rows are asked, and where they stop."""

from farthing.report.flow.questions import Branch, Flow, More, Question, Stop, flow

__all__ = ["Branch", "Flow", "More", "Question", "Stop", "flow"]
