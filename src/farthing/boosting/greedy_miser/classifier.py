"""The Greedy Miser for classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from farthing.base import ContractClassifier, documented, register, sigmoid, softmax
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.grid import miser_grid
from farthing.boosting.greedy_miser.parameters import SHARED, Charge, Leaf
from farthing.learning import losses


@register(
    grid=miser_grid,
    auto=False,  # early exits give its models, too
    trials=[
        {"n_estimators": 12, "tradeoff": 0.01, "relative": True, "max_depth": 2, "leaf": "gradient"},
        {"n_estimators": 8, "tradeoff": 0.1, "charge": "row", "budget": 2.5},
    ],
)
@documented(SHARED)
class GreedyMiserClassifier(GreedyMiser, ContractClassifier):
    """Boosted trees on log loss that weigh what a feature tells against what it costs.

    Two classes share one tree a round; more have one tree a class and round, as in the paper's experiment on
    scenes, and all of them buy from the same purse.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``; "balanced" gives each class the same weight in all.
    {parameters}

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    {attributes}

    References
    ----------
    Xu, Weinberger, Chapelle: The Greedy Miser: Learning under Test-time Budgets. ICML 2012.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = GreedyMiserClassifier(costs=heart.costs, tradeoff=0.001, relative=True).fit(heart.X, heart.y)
    >>> plain = GreedyMiserClassifier(costs=heart.costs).fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).mean() < plain.spend(heart.X).mean())
    True
    """

    def __init__(
        self,
        *,
        tradeoff: float = 0.0,
        relative: bool = False,
        charge: Charge = "model",
        budget: float | None = None,
        tree_cost: float = 0.0,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        leaf: Leaf = "newton",
        subsample: float = 1.0,
        class_weight: Any = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        random_state: Any = None,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            tradeoff=tradeoff,
            relative=relative,
            charge=charge,
            budget=budget,
            tree_cost=tree_cost,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            l2_regularization=l2_regularization,
            leaf=leaf,
            subsample=subsample,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            max_bins=max_bins,
            random_state=random_state,
            costs=costs,
            n_jobs=n_jobs,
        )
        self.class_weight = class_weight

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.float64]:
        """Give the scores behind the probabilities; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score a class.
        """
        outputs, _ = self._raw(X, budget, seeds)
        return outputs[:, 0] if outputs.shape[1] == 1 else outputs

    def _loss(self, target: NDArray[Any], qid: NDArray[np.int64] | None) -> losses.Loss:  # noqa: ARG002
        n_classes = len(self.classes_)
        return losses.LOGISTIC if n_classes == 2 else losses.softmax(n_classes)

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return sigmoid(outputs) if len(self.classes_) == 2 else softmax(outputs)

    def _known_target(self, y: Any) -> NDArray[Any]:
        labels = column_or_1d(y, warn=True)
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise ValueError(
                f"validation has the class {labels[~known].tolist()[0]!r}, which no training row has; "
                f"there are {self.classes_.tolist()}"
            )
        return np.asarray(np.searchsorted(self.classes_, labels), dtype=np.int64)

    def _factors(self, target: NDArray[Any], weights: NDArray[np.float64]) -> NDArray[np.float64] | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str):
            if self.class_weight != "balanced":
                raise ValueError(
                    f"class_weight must be 'balanced', a dict or None; got {self.class_weight!r}"
                )
            counts = np.bincount(target, weights=weights, minlength=len(self.classes_))
            return np.asarray(weights.sum() / (len(self.classes_) * np.where(counts > 0, counts, np.inf)))
        labels = self.classes_.tolist()
        if strange := [label for label in self.class_weight if label not in labels]:
            raise ValueError(f"class_weight names {strange[0]!r}, which is no class; there are {labels}")
        given = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
        if not ((given > 0) & np.isfinite(given)).all():
            raise ValueError(f"class_weight must be above 0, and finite; got {self.class_weight!r}")
        return given
