"""The parameters that the linear methods share."""

from __future__ import annotations

from typing import Any, ClassVar

from farthing.adaptive.adapt.base import ADAPT_CONSTRAINTS, AdaptClassifier
from farthing.base.parameters import CLASS_WEIGHT, NON_NEGATIVE, SHARE, at_least
from farthing.costs import CostsLike


class LinearAdapt(AdaptClassifier):
    """An Adapt model with a linear gate and a linear f1."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        **ADAPT_CONSTRAINTS,
        "p_full": [SHARE],
        "tradeoff": [NON_NEGATIVE],
        "n_alternations": [at_least(1)],
    }

    def __init__(
        self,
        expensive: Any = None,
        *,
        p_full: float = 0.5,
        tradeoff: float = 0.01,
        n_alternations: int = 10,
        start: Any = None,
        expensive_features: Any = None,
        n_folds: int | None = 3,
        class_weight: Any = None,
        costs: CostsLike = None,
        budget: float | None = None,
        send_share: float | None = None,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.expensive = expensive
        self.p_full = p_full
        self.tradeoff = tradeoff
        self.n_alternations = n_alternations
        self.start = start
        self.expensive_features = expensive_features
        self.n_folds = n_folds
        self.class_weight = class_weight
        self.costs = costs
        self.budget = budget
        self.send_share = send_share
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def _default_share(self) -> float | None:
        return self.p_full
