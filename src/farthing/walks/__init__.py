"""The lazy view of a prediction: Ask, Walk, Decision, consult."""

from farthing.walks.consult import AsyncSource, AsyncWalkable, Source, Steps, Walkable, aconsult, consult
from farthing.walks.decision import REFUSED, Ask, Decision, Decisions, Refusal
from farthing.walks.descent import ForestPolicy
from farthing.walks.inquiry import Inquiry
from farthing.walks.policy import Policy
from farthing.walks.rows import walk_rows
from farthing.walks.walk import Conclude, Walk

__all__ = [
    "REFUSED",
    "Ask",
    "AsyncSource",
    "AsyncWalkable",
    "Conclude",
    "Decision",
    "Decisions",
    "ForestPolicy",
    "Inquiry",
    "Policy",
    "Refusal",
    "Source",
    "Steps",
    "Walk",
    "Walkable",
    "aconsult",
    "consult",
    "walk_rows",
]
