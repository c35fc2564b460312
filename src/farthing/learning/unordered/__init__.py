"""Records in which a missing entry is a test that nobody ordered: learning from them, and judging policies.

- `regression`: the boosted regressions behind propensities and outcome models
- `sequential`: the path of a policy as a sequence of decisions to order, cross-fitted
- `estimates`: direct, inverse-propensity and doubly robust estimates of a mean, with their formulas
- `judge`: the same for a fitted model on a table
- `completion`: draws in place of what was not ordered, for learning
- `mixin`: ``fit(..., missing="unordered")``
"""

from farthing.learning.unordered.completion import Completion, complete
from farthing.learning.unordered.estimates import Estimate, Estimates
from farthing.learning.unordered.judge import RecordJudgement, judge_records
from farthing.learning.unordered.mixin import MISSING_TEXT, UnorderedMixin, check_missing

__all__ = [
    "MISSING_TEXT",
    "Completion",
    "Estimate",
    "Estimates",
    "RecordJudgement",
    "UnorderedMixin",
    "check_missing",
    "complete",
    "judge_records",
]
