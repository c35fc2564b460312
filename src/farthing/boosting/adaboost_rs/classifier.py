"""Sampled votes: AdaBoostRS, its version for arbitrary costs, and the top of the list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from types import NoneType, UnionType
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted

from farthing.base import n_threads, register
from farthing.boosting.adaboost.classifier import AdaBoostClassifier
from farthing.boosting.adaboost_rs import margin_bounds as bounds
from farthing.boosting.adaboost_rs.sampling_plan import SAMPLINGS, PlanSampler, Sampling, SamplingPlan
from farthing.boosting.adaboost_rs.vote_policies import SampledVotePolicy, TopVotePolicy
from farthing.costs import CostSheet
from farthing.learning.voting.ensembles import learn_votes
from farthing.learning.voting.link import VoteLink
from farthing.learning.voting.votes import LinearVotes, TreeVotes
from farthing.table import Encoded
from farthing.walks import Policy

# A file may ask for no more draws than this.
_MOST_SAMPLES: Final = 2**31
# Rows whose votes are held at one time.
_BLOCK: Final = 1024

# Samplers by model. They stand beside the models, not in them, so that predicting changes no attribute.
_READY: WeakKeyDictionary[AdaBoostRSClassifier, PlanSampler] = WeakKeyDictionary()


@register(
    grid={"sampling": ["weight", "cost", "top"], "n_estimators": [100, 500]},
    auto=False,
    trials=[
        {"sampling": "cost", "n_estimators": 25},
        {"sampling": "top", "n_estimators": 25},
        {"sampling": "top", "n_estimators": 25, "curtail": True},
        {"n_estimators": 25, "n_samples": 9},
        {"sampling": "cost", "n_samples": 9, "estimator": AdaBoostClassifier(n_estimators=15, max_depth=2)},
    ],
)
class AdaBoostRSClassifier(VoteLink):
    """Sample the vote of a boosted ensemble, within a budget for each row (Reyzin, 2011).

    An ensemble is trained without regard to prices. Each row then asks only some of its learners, chosen by
    lot, and predicts by their vote, an unbiased estimate of the vote of all. Draws of the same learner or of
    another with the same features cost nothing more, so there are more draws than features.

    If everything that a row has not bought is affordable, it takes the full weighted vote. Else it draws
    while its spend and the dearest unpaid price of any learner are within the budget. So with a budget below
    the price of the dearest learner it draws nothing, and gets the class prior; "top" has no such rule.

    Parameters
    ----------
    budget : float, optional
        Hard: no row spends more. None is no limit, so that every row takes the full vote.
    sampling : {"weight", "cost", "top"}
        "weight" draws learners in proportion to their weight alpha and counts their votes (AdaBoostRS,
        algorithm 2). "cost" draws in proportion to alpha over cost and weighs votes by cost (AdaBoostRS_AC,
        algorithm 3), where a learner's cost is the total of its features; learners that cost nothing are
        not drawn, but vote with their alpha. "top" draws no lots: by falling alpha over cost, learners that
        the budget cannot bear left out, votes weighted by alpha (section 6).
    n_estimators : int
        Rounds of boosting, if there is no ``estimator``.
    n_samples : int, optional
        Draw this many learners, neither more nor the full vote, as far as the budget goes; with "top", take
        at most this many.
    max_samples : int, optional
        Most draws of a row; None is 100 times ``n_estimators``.
    estimator : object, optional
        A weighted vote to take instead of AdaBoost's: boosted or bagged trees of this library or of
        scikit-learn, a linear classifier (its features vote with their values), a `TreeVotes` or a
        `LinearVotes`. If it is fitted it is used as it is, else a clone is fitted. scikit-learn's ``clone``,
        which cross-validation uses, unfits it; its ``FrozenEstimator`` keeps it as it is.
    random_state : int, RandomState or None
        Gives the model's seed. Rows share it, so that equal rows get equal labels; ``seeds=`` of the array
        calls gives each row its own, which keeps their errors independent.
    curtail : bool
        For "top": end as soon as the votes still out cannot change the label. Labels stay, the spend falls;
        probabilities are those of the votes seen.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
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

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaBoostRSClassifier(budget=200, sampling="cost", costs=heart.costs, random_state=0)
    >>> model = model.fit(heart.X, heart.y == heart.y.max())
    >>> bool(model.spend(heart.X).max() <= 200)
    True
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "votes_": TreeVotes | LinearVotes,
        "sampling_": str,
        "n_samples_": int | NoneType,
        "max_samples_": int,
        "curtail_": bool,
        "seed_": int,
        "margins_": np.ndarray,
        "margin_weights_": np.ndarray,
    }
    _hard_budget = True

    votes_: TreeVotes | LinearVotes
    sampling_: Sampling

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
        costs: Any = None,
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
        self.costs = costs
        self.n_jobs = n_jobs

    # What rows do.

    def samples_taken(self, X: Any, *, budget: Any = None, seeds: Any = None) -> NDArray[np.int64]:
        """Say how many learners each row draws, or takes from the top; parameters as in `predict`.

        A row that takes the full vote counts the draws that it made before.

        Returns
        -------
        ndarray of int64, shape (n_rows,)
        """
        check_is_fitted(self)
        encoded = self.schema_.encode(X, type(self).__name__)
        caps, own = self._options(len(encoded.values), budget, seeds)
        _, acquired, samples = self._sample(encoded, caps, own)
        encoded.check(acquired)
        return samples

    # What the paper proves.

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
            The VC dimension d of a learner; None is ln(number of features), that of stumps on binary ones.

        Returns
        -------
        MarginBound
            No sum: the second term has a constant that the corollary does not give.
        """
        check_is_fitted(self)
        capacity = math.log(max(self.n_features_in_, 2)) if dimension is None else dimension
        return bounds.margin_bound(self.margins_, self.margin_weights_, theta, n_samples, capacity)

    def disagreement_bound(self, X: Any, n_samples: int) -> float:
        """Bound the share of rows whose label by ``n_samples`` draws differs from that of the full vote.

        The mean over the rows of exp(-n margin^2 / 2), where the margin is the mean of a draw over its range:
        that of the full vote for draws by weight, a smaller one for draws by cost unless all cost the same.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            All features that learners use are looked at.
        n_samples : int
            Number of draws.
        """
        check_is_fitted(self)
        if self.sampling_ == "top":
            raise ValueError("sampling='top' draws no lots, so there is no bound on its disagreement")
        encoded = self.schema_.encode(X, type(self).__name__)
        plan, votes = self._ready().plan, self._full_votes(encoded)
        drawn = np.setdiff1d(np.arange(len(plan.columns)), plan.exact)
        ranges: NDArray[np.float64] = np.zeros(len(votes))
        for start in range(0, len(votes), _BLOCK):
            table = plan.votes.table(encoded.values[start : start + _BLOCK], n_threads(self.n_jobs))
            ranges[start : start + _BLOCK] = np.abs(table * plan.weights)[:, drawn].max(axis=1, initial=0.0)
        # Where draws cannot move the vote they cannot be wrong.
        margins = np.divide(votes, plan.scale * ranges, out=np.full_like(votes, np.inf), where=ranges > 0)
        return bounds.disagreement_bound(margins, n_samples)

    def unsampled_bound(self, n_samples: int) -> float:
        """Bound the expected number of features left out by draws that are uniform over the features used.

        n exp(-k / n) for k draws and n features; see `farthing.boosting.adaboost_rs.margin_bounds.unsampled_bound`.
        """
        check_is_fitted(self)
        return bounds.unsampled_bound(len(self._ready().plan.relevant), n_samples)

    # How it is done.

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        weights: NDArray[np.float64],
        sheet: CostSheet,
    ) -> None:
        self._check_params()
        given = AdaBoostClassifier(n_estimators=self.n_estimators, n_jobs=self.n_jobs)
        given = given if self.estimator is None else self.estimator
        self.votes_ = learn_votes(given, self, values, target, weights)
        if self.curtail and not np.isfinite(self.votes_.reach()).all():
            raise ValueError(
                "curtail=True needs votes with a bound; the features of a linear model have none"
            )
        self.sampling_ = self.sampling
        self.n_samples_ = None if self.n_samples is None else int(self.n_samples)
        most = 100 * self.n_estimators if self.max_samples is None else self.max_samples
        self.max_samples_ = int(min(most, _MOST_SAMPLES))
        self.curtail_ = bool(self.curtail)
        self.seed_ = int(check_random_state(self.random_state).randint(2**31))
        signs = np.where(target == 1, 1.0, -1.0)
        full = PlanSampler(SamplingPlan.make(self.votes_, sheet, "weight"))
        outputs, _, _ = full.sample(values, None, np.zeros(len(values), np.int64), n_threads(self.n_jobs))
        self.margins_ = signs * outputs[:, 0] / math.fsum(self.votes_.alphas.tolist())
        self.margin_weights_ = weights.copy()

    def _check_params(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise ValueError(f"sampling must be 'weight', 'cost' or 'top'; got {self.sampling!r}")
        if self.curtail and self.sampling != "top":
            raise ValueError(
                f"curtail=True has no meaning with sampling={self.sampling!r}, where votes have no fixed "
                "order; set sampling='top' or leave it out"
            )
        check_scalar(self.n_estimators, "n_estimators", Integral, min_val=1)
        for name in ("n_samples", "max_samples"):
            if getattr(self, name) is not None:
                check_scalar(getattr(self, name), name, Integral, min_val=1, max_val=_MOST_SAMPLES)

    def _policy(self, seed: int | None) -> Policy:
        plan = self._ready().plan
        return (
            TopVotePolicy(plan) if plan.top else SampledVotePolicy(plan, self.seed_ if seed is None else seed)
        )

    def _answers(
        self,
        encoded: Encoded,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        outputs, acquired, _ = self._sample(encoded, budget, seeds)
        return outputs, acquired

    def _sample(
        self, encoded: Encoded, budget: NDArray[np.float64] | None, seeds: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        own = np.full(len(encoded.values), self.seed_, dtype=np.int64) if seeds is None else seeds
        return self._ready().sample(encoded.values, budget, own, n_threads(self.n_jobs))

    def _full_votes(self, encoded: Encoded) -> NDArray[np.float64]:
        """Return the vote of all learners, whatever it costs, shape (n_rows,)."""
        full = PlanSampler(SamplingPlan.make(self.votes_, self.costs_, "weight"))
        seeds = np.zeros(len(encoded.values), dtype=np.int64)
        outputs, acquired, _ = full.sample(encoded.values, None, seeds, n_threads(self.n_jobs))
        encoded.check(acquired)
        return outputs[:, 0]

    def _ready(self) -> PlanSampler:
        """Return the compiled sampler of today's votes and prices."""
        ready = _READY.get(self)
        if ready is None or ready.plan.votes is not self.votes_ or ready.plan.sheet is not self.costs_:
            plan = SamplingPlan.make(
                self.votes_,
                self.costs_,
                self.sampling_,
                n_samples=self.n_samples_,
                max_samples=self.max_samples_,
                curtail=self.curtail_,
            )
            ready = _READY[self] = PlanSampler(plan)
        return ready

    def _file_params(self) -> dict[str, Any]:
        # The votes as fitted stand for the model that they came from, which may be of any library.
        return {**super()._file_params(), "estimator": None}

    def _check_stored(self) -> None:
        super()._check_stored()
        n_threads(self.n_jobs)
        if self.votes_.n_features != self.n_features_in_ or len(self.prior_) != 1:
            raise ValueError(
                f"the votes have {self.votes_.n_features} features, the table {self.n_features_in_}"
            )
        if self.sampling_ not in SAMPLINGS:
            raise ValueError(f"sampling_ must be one of {SAMPLINGS}; got {self.sampling_!r}")
        if self.curtail_ and not (self.sampling_ == "top" and np.isfinite(self.votes_.reach()).all()):
            raise ValueError("curtail_ needs sampling_='top' and votes with a bound")
        samples = (self.max_samples_, 1 if self.n_samples_ is None else self.n_samples_)
        if not all(1 <= count <= _MOST_SAMPLES for count in samples):
            raise ValueError(f"max_samples_ and n_samples_ must lie between 1 and {_MOST_SAMPLES}")
        if not 0 <= self.seed_ < 2**63:
            raise ValueError(f"seed_ must lie between 0 and 2**63 - 1; got {self.seed_}")
        for name in ("margins_", "margin_weights_"):
            array = getattr(self, name)
            if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all():
                raise ValueError(f"{name} must be a list of finite floats")
        if len(self.margins_) != len(self.margin_weights_) or not (self.margin_weights_ > 0).all():
            raise ValueError("margins_ must have a positive weight each")
        self._ready()  # raises if the votes and the prices make no plan
