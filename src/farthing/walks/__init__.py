"""Lazy predictions, one row and one feature at a time: Ask, Walk, Decision, consult."""

from farthing.walks.consult import AsyncSource, AsyncWalkable, Source, Steps, Walkable, aconsult, consult
from farthing.walks.continuations import Continuation, Foreseen, continuations
from farthing.walks.decision import REFUSED, Ask, Decision, Decisions, Refusal, Rounds
from farthing.walks.forest_policy import ForestPolicy
from farthing.walks.masked_model import MaskedModel
from farthing.walks.paid_trees import PaidTrees
from farthing.walks.panel_rows import walk_in_rounds
from farthing.walks.panels import WITHIN, check_panel, choose_panel, largest_share
from farthing.walks.policy import Policy, pass_refusal
from farthing.walks.realised import fall_factor
from farthing.walks.reason import Expectation, Outcome, Reason, RunnerUp, StopReason
from farthing.walks.reasoning import Explained, split_of, stand_of
from farthing.walks.recorded import RecordedPaths, recorded_paths
from farthing.walks.row_walk import RowWalk
from farthing.walks.split import Foresight, Split, Stand
from farthing.walks.table_walk import walk_rows, walk_to_end
from farthing.walks.walk import Conclude, Walk

__all__ = [
    "REFUSED",
    "WITHIN",
    "Ask",
    "AsyncSource",
    "AsyncWalkable",
    "Conclude",
    "Continuation",
    "Decision",
    "Decisions",
    "Expectation",
    "Explained",
    "Foreseen",
    "Foresight",
    "ForestPolicy",
    "MaskedModel",
    "Outcome",
    "PaidTrees",
    "Policy",
    "Reason",
    "RecordedPaths",
    "Refusal",
    "Rounds",
    "RowWalk",
    "RunnerUp",
    "Source",
    "Split",
    "Stand",
    "Steps",
    "StopReason",
    "Walk",
    "Walkable",
    "aconsult",
    "check_panel",
    "choose_panel",
    "consult",
    "continuations",
    "fall_factor",
    "largest_share",
    "pass_refusal",
    "recorded_paths",
    "split_of",
    "stand_of",
    "walk_in_rounds",
    "walk_rows",
    "walk_to_end",
]
