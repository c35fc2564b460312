"""AdaBoostRS, its variant for arbitrary costs, and the deterministic variant."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from farthing.base import BudgetKind, TrainingSet, register
from farthing.base.inputs import check_caps, check_seeds
from farthing.base.parameters import (
    BOOLEAN,
    CLASS_WEIGHT,
    FRACTION,
    RANDOM_STATE,
    SHARE,
    at_least,
    between,
    one_of,
)
from farthing.boosting.adaboost import AdaBoostClassifier
from farthing.boosting.adaboost_rs.free_rider import vote_moments
from farthing.boosting.adaboost_rs.model import MAX_SAMPLES, AdaBoostRSModel
from farthing.boosting.adaboost_rs.sampling_plan import SAMPLINGS, Sampling, full_vote
from farthing.costs import CostsLike
from farthing.learning.voting import VoteClassifier, learn_votes, vote_prior
from farthing.learning.voting import margin_bounds as bounds
from farthing.learning.voting.stochastic_curtailment import split_rows
from farthing.learning.voting.tree_vote_model import vote_margins
from farthing.table import encode

# Rows whose votes are held at one time.
_BLOCK: Final = 1024


@register(
    grid={"sampling": ["weight", "cost", "free_rider", "top"], "n_estimators": [100, 500]},
    auto=False,
    trials=[
        {"sampling": "cost", "n_estimators": 25},
        {"sampling": "free_rider", "n_estimators": 15},
        {"sampling": "free_rider", "estimator": AdaBoostClassifier(n_estimators=8, max_depth=2)},
        {"sampling": "top", "n_estimators": 25},
        {"sampling": "top", "n_estimators": 25, "curtail": True},
        {"n_estimators": 25, "n_samples": 9},
        {"sampling": "cost", "n_samples": 9, "estimator": AdaBoostClassifier(n_estimators=15, max_depth=2)},
    ],
)
class AdaBoostRSClassifier(VoteClassifier):
    """Sample the vote of a boosted ensemble, within a budget for each row (Reyzin, 2011).

    An ensemble is trained without regard to prices. Each row then evaluates a random sample of its learners
    and predicts by their mean vote, scaled to estimate the full vote. Drawing the same learner again, or
    another one with the same features, costs nothing more, so there are more draws than features.

    If a row can afford everything that it has not bought, it takes the full weighted vote. Otherwise it draws
    while its spend plus the largest unpaid price of any learner is within the budget. So with a budget below
    the price of the most expensive learner it draws nothing, and gets the class prior; this rule does not
    apply to "free_rider" and "top".

    The estimate of "weight" and "cost" is unbiased if the number of draws is fixed: with ``n_samples``, and a
    budget, if any, that covers every one of these draws (theorem 5). Within a budget that ends the draws,
    their number depends on what was drawn. The sum of the drawn votes still has the sign of the full vote in
    expectation: that is the expected number of draws times the mean of a single one (Wald's identity). Their
    mean, which is the output, is biased, and even its expected sign may differ from that of the full vote.
    "free_rider" is unbiased within any budget that covers each learner by itself. "top" is no estimate of the
    full vote.

    On more than two classes a learner votes on every class (see `AdaBoostClassifier`), so one draw, at one
    price, is a draw of the whole vector of votes, and each entry is estimated as on two classes. That is why
    the votes are of one learner for all classes, and not of one ensemble per class: those would have to share
    the draws and the budget.

    Parameters
    ----------
    budget : float, optional
        Hard: no row spends more. None for no limit; then every row takes the full vote.
    sampling : {"weight", "cost", "free_rider", "top"}
        "weight" draws learners in proportion to their weight alpha and counts their votes (AdaBoostRS,
        algorithm 2). "cost" draws in proportion to alpha over cost and weighs votes by cost (AdaBoostRS_AC,
        algorithm 3), where a learner's cost is the total of its features; learners that cost nothing are
        not drawn, but vote with their alpha. "free_rider" draws sets of features without replacement, and
        all learners on what is bought vote, weighted by the inverse of their probability to do so; see
        `farthing.boosting.adaboost_rs.free_rider`. "top" is deterministic: it takes learners by descending
        alpha over cost, skips those that the budget cannot afford, and weighs votes by alpha (section 6).
    n_estimators : int
        Rounds of boosting, if there is no ``estimator``.
    n_samples : int, optional
        Number of learners to draw within the budget; the full vote is then never taken. With "free_rider",
        the maximum number of sets of features, with "top" of learners.
    max_samples : int, optional
        Maximum number of draws per row; None means 100 times ``n_estimators``.
    estimator : object, optional
        A weighted vote to use instead of AdaBoost's: boosted or bagged trees of this library or of
        scikit-learn, a linear classifier of two classes (its features vote with their values), a `TreeVotes`
        or a `LinearVotes`. A fitted estimator is used as is, otherwise a clone is fitted. scikit-learn's
        ``clone``, which cross-validation uses, discards the fit; its ``FrozenEstimator`` keeps it.
    random_state : int, RandomState or None
        Source of the model's seed. All rows share it, so that equal rows get equal labels; ``seeds=`` of the
        array calls gives each row its own, which makes their errors independent.
    curtail : bool
        For "top": stop as soon as the remaining votes cannot change the label. The labels are the same at a
        lower spend; probabilities come from the votes so far.
    curtailment_error : float
        With ``curtail``, for two classes: stop also when the rest is unlikely to change the label.
        The probability that it is not the label without curtailment is at most this, for a row exchangeable
        with those of the fit, over the draw of both; without another budget at prediction or refusals. Zero,
        the default, changes no label. See `farthing.learning.voting.stochastic_curtailment`.
    validation_fraction : float
        The share of rows held out to calibrate a ``curtailment_error`` above zero. A fitted ``estimator``
        should not have learned from the rows of this fit, since they are then not exchangeable with others.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same bits.

    Attributes
    ----------
    votes_ : TreeVotes or LinearVotes
        The learners and their weights.
    margins_, margin_weights_ : ndarray of float64, shape (n_rows,)
        The margins of the full vote on the training rows, and the rows' weights.
    seed_ : int
        The model's seed.

    References
    ----------
    L. Reyzin. Boosting on a Budget: Sampling for Feature-Efficient Prediction. ICML 2011.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaBoostRSClassifier(budget=200, sampling="cost", costs=heart.costs, random_state=0)
    >>> model = model.fit(heart.X, heart.y == heart.y.max())
    >>> bool(model.spend(heart.X).max() <= 200)
    True
    """

    model_type = AdaBoostRSModel
    fits_every_row = True
    fitted_: AdaBoostRSModel
    budget_kind: BudgetKind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": CLASS_WEIGHT,
        "sampling": [one_of(*SAMPLINGS)],
        "n_estimators": [at_least(1)],
        "n_samples": [between(1, MAX_SAMPLES), None],
        "max_samples": [between(1, MAX_SAMPLES), None],
        "random_state": [RANDOM_STATE],
        "curtail": [BOOLEAN],
        "curtailment_error": [SHARE],
        "validation_fraction": [FRACTION],
    }

    def __init__(
        self,
        *,
        budget: float | None = None,
        sampling: Sampling = "weight",
        n_estimators: int = 500,
        n_samples: int | None = None,
        max_samples: int | None = None,
        estimator: Any = None,
        random_state: Any = None,
        curtail: bool = False,
        curtailment_error: float = 0.0,
        validation_fraction: float = 0.2,
        class_weight: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.budget = budget
        self.sampling = sampling
        self.n_estimators = n_estimators
        self.n_samples = n_samples
        self.max_samples = max_samples
        self.estimator = estimator
        self.random_state = random_state
        self.curtail = curtail
        self.curtailment_error = curtailment_error
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.costs = costs
        self.n_jobs = n_jobs

    # Predicting.

    def samples_taken(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.int64]:
        """Count the learners that each row draws, or takes from the top; parameters as in `predict`.

        With "free_rider", the sets of features that it draws. For a row that takes the full vote, only the
        draws before it are counted.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
        """
        check_is_fitted(self)
        model = self.fitted_
        encoded = encode(model.schema, X, type(self).__name__)
        n_rows = len(encoded.values)
        _, acquired, samples = model.sample(
            encoded.values,
            budget=check_caps(model.budget if budget is None else budget, n_rows),
            seeds=None if seeds is None else check_seeds(seeds, n_rows),
            n_threads=self.n_threads(),
        )
        encoded.check(acquired)
        return samples

    # The paper's bounds.

    def margin_bound(
        self, theta: float, n_samples: int, dimension: float | None = None
    ) -> bounds.MarginBound:
        """Return the terms of Corollary 3, which bounds the error of ``n_samples`` draws by weight.

        Parameters
        ----------
        theta : float
            A margin, above 0 and up to 1; the bound holds for all of them.
        n_samples : int
            Number of draws.
        dimension : float, optional
            The VC dimension d of a learner; None means ln(number of features), that of stumps on binary ones.

        Returns
        -------
        MarginBound
            The terms, not their sum: the corollary does not give the constant of the second one.
        """
        check_is_fitted(self)
        # Section 3.2: d is ln(n) for stumps on n binary features. At least ln(2): zero is no
        # valid dimension.
        capacity = math.log(max(self.n_features_in_, 2)) if dimension is None else dimension
        model = self.fitted_
        return bounds.margin_bound(
            model.margins, model.margin_weights, theta, n_samples, capacity, n_classes=len(model.classes)
        )

    def disagreement_bound(self, X: Any, n_samples: int) -> float:
        """Bound the share of rows whose label by ``n_samples`` draws differs from that of the full vote.

        The mean over the rows of exp(-n margin^2 / 2), where the margin is the mean of a draw over its range:
        that of the full vote for draws by weight, a smaller one for draws by cost unless all cost the same.
        On more than two classes, the bounds of the winner against each of the others are added up.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            All features that any learner uses are needed.
        n_samples : int
            Number of draws.
        """
        check_is_fitted(self)
        model, threads = self.fitted_, self.n_threads()
        if model.sampling == "top":
            raise ValueError("sampling='top' is deterministic, so there is no bound on its disagreement")
        if model.sampling == "free_rider":
            raise ValueError("the bound is of draws with replacement, not of sampling='free_rider'")
        encoded = encode(model.schema, X, type(self).__name__)
        votes, acquired = full_vote(model.votes, model.costs, encoded.values, threads)
        encoded.check(acquired)
        plan = model.sampler.plan
        # The output is an exact part plus scale times the mean of the draws, each within +-range. So
        # Hoeffding's inequality applies to vote / (scale * range), and learners that vote exactly do not
        # widen the range.
        drawn = np.setdiff1d(np.arange(len(plan.columns)), plan.exact)
        ranges: NDArray[np.float64] = np.zeros(len(votes))
        for start in range(0, len(votes), _BLOCK):
            block = slice(start, start + _BLOCK)
            table = np.abs(plan.votes.table(encoded.values[block], threads))
            furthest = table if table.ndim == 2 else table.max(axis=2)  # on any of several classes
            ranges[block] = (furthest * plan.weights)[:, drawn].max(axis=1, initial=0.0)
        if votes.ndim > 1:
            # Half the lead of the winner over each of the others: a draw moves it by the range at most.
            ordered = np.sort(votes, axis=1)
            votes, ranges = (ordered[:, -1:] - ordered[:, :-1]) / 2, ranges[:, np.newaxis]
        # Where draws cannot move the vote they cannot be wrong.
        moves = np.broadcast_to(ranges > 0, votes.shape)
        margins = np.divide(votes, plan.scale * ranges, out=np.full_like(votes, np.inf), where=moves)
        return bounds.disagreement_bound(margins, n_samples)

    def unsampled_bound(self, n_samples: int) -> float:
        """Bound the expected number of features left out by draws that are uniform over the features used.

        n exp(-k / n) for k draws and n features; see `margin_bounds.unsampled_bound`.
        """
        check_is_fitted(self)
        return bounds.unsampled_bound(len(self.fitted_.sampler.plan.relevant), n_samples)

    # Learning.

    def _learn(self, rows: TrainingSet) -> AdaBoostRSModel:
        if self.curtail and self.sampling != "top":
            raise ValueError(
                f"curtail=True has no meaning with sampling={self.sampling!r}, where votes have no fixed "
                "order; set sampling='top' or leave it out"
            )
        prior = vote_prior(rows)
        rows, held_out = split_rows(rows, self.curtail, self.curtailment_error, self.validation_fraction)
        given = self.estimator
        if given is None:
            given = AdaBoostClassifier(n_estimators=self.n_estimators, n_jobs=self.n_jobs)
        votes = learn_votes(given, rows)
        if self.curtail and not np.isfinite(votes.reach()).all():
            raise ValueError(
                "curtail=True needs votes with a bound; the features of a linear model have none"
            )
        # Repeated draws are free: a row that rarely draws what it does not own yet would go on for very long.
        most = 100 * self.n_estimators if self.max_samples is None else self.max_samples
        outputs, _ = full_vote(votes, rows.costs, rows.values, self.n_threads())
        mean_votes = spreads = None
        if self.sampling == "free_rider":
            mean_votes, spreads = vote_moments(votes, rows.values, rows.weights, self.n_threads())
        model = AdaBoostRSModel(
            **rows.header(prior=prior, budget=self.hard_cap()),
            votes=votes,
            sampling=self.sampling,
            n_samples=None if self.n_samples is None else int(self.n_samples),
            max_samples=int(min(most, MAX_SAMPLES)),
            curtail=bool(self.curtail),
            # Drawn in `fit` and stored, so that a model gives the same predictions on every call.
            seed=int(check_random_state(self.random_state).randint(2**31)),
            # The margin of section 3.2: between -1 and 1 if all votes are.
            margins=vote_margins(outputs, rows.target) / math.fsum(votes.alphas.tolist()),
            margin_weights=rows.weights.copy(),
            mean_votes=mean_votes,
            spreads=spreads,
        )
        return model.curtailed_with(self.curtailment_error, rows, held_out, self.n_threads())

    def file_params(self) -> dict[str, Any]:
        """Return the constructor parameters to save."""
        # The fitted votes are saved in place of the estimator, which may come from any library.
        return {**super().file_params(), "estimator": None}
