"""Weighted votes of weak learners: what AdaBoost, its sampled and budgeted variants and FMCC share."""

from farthing.learning.voting.votes import LinearVotes, TreeVotes, WeightedVote

__all__ = ["LinearVotes", "TreeVotes", "WeightedVote"]
