"""Cost-blind AdaBoost, which takes the weak learner with the largest edge: the baseline of the variants."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import Guarantee, SweepContext, TrainingSet, documented, ladder, register
from farthing.base.parameters import BOOLEAN, CLASS_WEIGHT, FRACTION, SHARE, at_least, between
from farthing.costs import CostsLike
from farthing.learning.guarantees.guaranteed import GUARANTEE, VOTE_GUARANTEE_TEXT
from farthing.learning.voting import vote_prior, vote_targets
from farthing.learning.voting.stochastic_curtailment import split_rows
from farthing.learning.voting.stump_rounds import StumpRounds
from farthing.learning.voting.tree_vote_model import TreeVoteClassifier, TreeVoteModel, vote_fields


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaBoostModel(TreeVoteModel):
    """The vote of AdaBoost.

    Parameters
    ----------
    edges : ndarray of float64, shape (n_rounds_done,)
        The edge of each learner when it was chosen, between 0 and 1.
    """

    edges: NDArray[np.float64]

    @property
    def round_edges(self) -> NDArray[np.float64]:
        """The edges."""
        return self.edges

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        # Without a single round, the one tree is a constant vote that has no edge.
        if self.edges.dtype != np.float64 or self.edges.shape not in ((self.forest.n_trees,), (0,)):
            raise ValueError(
                f"edges must be {self.forest.n_trees} floats; got {self.edges.dtype} {self.edges.shape}"
            )


def _auto(context: SweepContext) -> dict[str, list[Any]] | None:
    """Return one setting on two classes; with more, the method is not among the default ones."""
    several = context.n_classes is not None and context.n_classes > 2
    return None if several else {"n_estimators": [300], "curtail": [True]}


@register(
    grid={"n_estimators": [300], "curtail": [False, True]},
    auto=_auto,
    rank=5,
    time_rank=3,
    trials=[
        {"n_estimators": 12, "max_depth": 3, "intercept": False},
        {"n_estimators": 30, "curtail": True},
        {"n_estimators": 15, "max_depth": 2, "curtail": True},
    ],
)
@documented({"guarantee": VOTE_GUARANTEE_TEXT})
class AdaBoostClassifier(TreeVoteClassifier):
    """AdaBoost of stumps or small trees, cost-blind.

    Each round takes the weak learner with the largest edge under the current weights, found exactly (see
    `farthing.learning.voting.stump_rounds.StumpRounds`), gives it the voting weight
    alpha = 1/2 ln((1 + edge)/(1 - edge)) and multiplies the weight of each row by exp(-alpha y h(x)). The
    share of training weight that is misclassified is at most the product over the rounds of sqrt(1 - edge^2).

    On K > 2 classes this is AdaBoost.MH (Schapire and Singer, 1999), one-vs-rest votes in one learner: each
    leaf votes +1 or -1 on every class, the distribution is over pairs of a row and a class (see
    `farthing.learning.voting.vote_targets`), and the class with the largest vote wins. So one purchase serves
    all classes, and a learner has one edge, one weight and one price, as with two classes. SAMME (Zhu et al.,
    2009) has that, too, but its exponential loss does not bound the error: here the share that is
    misclassified is at most sqrt(K - 1) times the same product.

    Unless ``intercept`` is False, a constant vote is among the learners: a stump beyond the last threshold,
    which needs no feature.

    Training stops early in two cases. After a learner without error: it gets the voting weight ln(2 / w),
    where w is the smallest initial share of weight of any row, which is enough to classify every training row
    correctly. Before a learner without edge: if even the first one has none, the model is a constant vote for
    the more frequent class.

    Parameters
    ----------
    n_estimators : int
        Maximum number of rounds.
    max_depth : int
        1 for stumps, up to 3 for trees. A tree starts from the best stump, and splits each side by its own
        best stump if that increases the edge of the tree.
    curtail : bool
        Whether a prediction stops as soon as the remaining votes cannot change the label: the same labels at
        a lower spend. Features are asked for in the order ``order_``; probabilities use the votes so far.
    curtailment_error : float
        With ``curtail``, for two classes: stop also when the rest is unlikely to change the label.
        The probability that it is not the label of the full vote is at most this, for a row exchangeable with
        those of the fit, over the draw of both; without a budget at prediction or refusals. Zero, the
        default, changes no label. See `farthing.learning.voting.stochastic_curtailment`.
    validation_fraction : float
        The share of rows held out to calibrate a ``curtailment_error`` above zero; the vote does not learn
        from them. With fewer than 1 / error - 1 of them no row stops that is not certain.
    {guarantee}
    intercept : bool
        Whether the constant vote is among the learners.
    max_bins : int
        Maximum number of bins per column, 2 to 255; thresholds lie between bins. A column with no more
        distinct values than that is searched exactly.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each. They affect the reported spend, not the model.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same votes.

    Attributes
    ----------
    forest_ : Forest
        One tree per round, with leaves of -1 and +1, one entry per class if there are more than two; other
        nodes are 0.
    estimator_weights_ : ndarray of float64, shape (n_trees,)
        The voting weight of each tree, a multiple of 2**-32.
    edges_ : ndarray of float64, shape (n_rounds_done,)
        The edge of each learner when it was chosen, between 0 and 1.
    order_ : ndarray of int64 or None
        With ``curtail``, the columns in the order in which they are asked for.

    References
    ----------
    Y. Freund and R. E. Schapire. A Decision-Theoretic Generalization of On-Line Learning and an Application
    to Boosting. Journal of Computer and System Sciences 55, 1997.

    Examples
    --------
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, [0, 0, 1, 1, 1, 0, 0, 0])
    >>> model.predict(X)
    array([0, 0, 1, 1, 1, 0, 0, 0])
    >>> model.edges_
    array([0.5       , 0.5       , 0.66666667])
    """

    model_type = AdaBoostModel
    fits_every_row = True
    fitted_: AdaBoostModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        "n_estimators": [at_least(1)],
        "max_depth": [between(1, 3)],
        "curtail": [BOOLEAN],
        "curtailment_error": [SHARE],
        "validation_fraction": [FRACTION],
        "guarantee": GUARANTEE,
        "intercept": [BOOLEAN],
        "max_bins": [between(2, 255)],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 500,
        max_depth: int = 1,
        curtail: bool = False,
        curtailment_error: float = 0.0,
        validation_fraction: float = 0.2,
        guarantee: Guarantee | None = None,
        intercept: bool = True,
        max_bins: int = 255,
        class_weight: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.curtail = curtail
        self.curtailment_error = curtailment_error
        self.validation_fraction = validation_fraction
        self.guarantee = guarantee
        self.intercept = intercept
        self.max_bins = max_bins
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield the votes of fewer rounds, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        edges = self.fitted_.edges
        # A round depends only on the rounds before it, so the first rounds of this fit are the fit of fewer
        # rounds.
        for n_rounds in ladder(len(edges))[:-1] if self.fitted_.stops is None else ():
            params = {"n_estimators": n_rounds}
            yield params, self.variant(params, self.fitted_.first_rounds(n_rounds, edges=edges[:n_rounds]))
        yield {}, self

    def _learn(self, rows: TrainingSet) -> AdaBoostModel:
        threads, prior = self.n_threads(), vote_prior(rows)
        rows, held_out = split_rows(rows, self.curtail, self.curtailment_error, self.validation_fraction)
        rounds = StumpRounds(rows.bins(self.max_bins, threads), *vote_targets(rows), threads)
        rounds.boost(n_rounds=self.n_estimators, intercept=self.intercept, max_depth=self.max_depth)
        ensemble = vote_fields(
            rounds.forest(),
            np.array(rounds.alphas),
            schema=rows.schema,
            costs=rows.costs,
            prior=prior,
            curtail=self.curtail,
        )
        model = AdaBoostModel(**rows.header(prior=prior), **ensemble, edges=np.array(rounds.edges))
        return model.curtailed_with(self.curtailment_error, rows, held_out, threads)
