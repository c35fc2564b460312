"""Weighted votes of weak learners: what AdaBoost, its sampled and budgeted variants and FMCC share."""

from farthing.learning.voting.ensembles import learn_votes
from farthing.learning.voting.vote_model import (
    BinaryVoteClassifier,
    VoteClassifier,
    VoteModel,
    vote_prior,
    vote_targets,
)
from farthing.learning.voting.votes import LinearVotes, TreeVotes, WeightedVote

__all__ = [
    "BinaryVoteClassifier",
    "LinearVotes",
    "TreeVotes",
    "VoteClassifier",
    "VoteModel",
    "WeightedVote",
    "learn_votes",
    "vote_prior",
    "vote_targets",
]
