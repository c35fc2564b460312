"""Plans that look further than one question: sets of columns that tell something only together."""

from farthing.neighbors.lookahead.classifier import LookaheadClassifier

__all__ = ["LookaheadClassifier"]
