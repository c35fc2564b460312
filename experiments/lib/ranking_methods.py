"""The methods of the paper's figure 1, each a list of as many models to choose from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.lib.curves import best, curves
from experiments.lib.ranking_cronus import POSITIVE_WEIGHTS, RELEVANT, cronus, cronus_start, cronus_tradeoffs
from experiments.lib.ranking_problems import Problem
from experiments.lib.yahoo_shaped import RankingTable
from farthing.base import Frontier, Point
from farthing.boosting import GreedyMiserRanker, miser_path, subset_path
from farthing.boosting.greedy_miser.path_evaluation import first_rounds
from farthing.cascades import EarlyExitRanker
from farthing.metrics import ndcg_by_query, precision

K = 5
EVERY = 10  # rounds between two looks
N_BINS = 64
# Relative trade-offs of a cross-validation, close together where the curve bends; 0 is plain boosting.
TRADEOFFS = (0.0, 3e-6, 1e-5, 3e-5, 1e-4, 2e-4, 4e-4, 8e-4, 2e-3, 5e-3, 2e-2)
SMALLEST_MARGIN, LARGEST_MARGIN = 0.01, 1.0
# Those of the paper. No feature costs more than the last, which is the plain booster.
THRESHOLDS = (1.0, 20.0, 100.0, 200.0)
MISER, EARLY, CRONUS, SUBSETS, PLAIN = "miser", "early exit", "Cronus", "feature subsets", "plain"


@dataclass(frozen=True)
class Model:
    """A model that a method could choose, evaluated on validation queries and on test queries.

    Attributes
    ----------
    validation_spend : float
        Mean spend of a validation document.
    validation_scores : ndarray of float64, shape (n_validation_queries,)
        NDCG@5 of each validation query.
    spend, model_cost : float
        On test documents: the mean spend, and the cost by equation 3, of all features that the model tests.
    scores : ndarray of float64, shape (n_queries,)
        NDCG@5 of each test query.
    best : bool
        Whether it is the best round of its setting on validation queries: a circle of the paper's figure.
    precision : float
        Mean precision@5 of a test query: the share of documents of at least grade 3 among its first five.
    """

    validation_spend: float
    validation_scores: NDArray[np.float64]
    spend: float
    model_cost: float
    scores: NDArray[np.float64]
    best: bool = True
    precision: float = np.nan

    @property
    def validation_score(self) -> float:
        """Mean NDCG@5 of a validation query."""
        return float(self.validation_scores.mean())

    @property
    def score(self) -> float:
        """Mean NDCG@5 of a test query."""
        return float(self.scores.mean())


def ranker(problem: Problem, n_estimators: int, **more: Any) -> GreedyMiserRanker:
    """Return the booster that all methods are made of."""
    return GreedyMiserRanker(
        n_estimators=n_estimators,
        max_depth=4,
        min_samples_leaf=20,
        max_bins=N_BINS,
        relative=True,
        k=K,
        costs=problem.train.costs,
        **more,
    )


def ndcg_of(table: RankingTable, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return NDCG@5 of each query."""
    return ndcg_by_query(table.grades, scores, qid=table.qid, k=K)


def stops(last: int, count: int) -> list[int]:
    """Return so many different rounds up to the last, even in log; fewer if there are fewer.

    Examples
    --------
    >>> stops(100, 5), stops(3, 5)
    ([1, 3, 10, 32, 100], [1, 2, 3])
    """
    found: NDArray[np.int64] = np.array([last])
    # The small ones coincide when rounded, so more are drawn until there are enough.
    for drawn in range(max(2, count), 10 * count):
        rounds = np.unique(np.geomspace(1, last, drawn).round().astype(np.int64)) if last else found
        if len(rounds) > count:
            break
        found = rounds
    return [int(number) for number in found]


@dataclass(frozen=True)
class Paths:
    """A path of each pair of training and validation documents, and that of the reported models.

    Attributes
    ----------
    by_fold : sequence of Frontier
        One of each pair of ``Problem.choosing``, in its order.
    reported : Frontier
        On all training documents, with the mean validation scores and spends of ``by_fold``.
    """

    by_fold: Sequence[Frontier]
    reported: Frontier

    @classmethod
    def of(cls, problem: Problem, follow: Callable[[RankingTable, RankingTable], Frontier]) -> Paths:
        """Follow a path; ``follow`` takes training and validation documents."""
        by_fold = [follow(*pair) for pair in problem.choosing]
        if len(by_fold) == 1:
            return cls(by_fold, by_fold[0])
        weights = np.array([len(np.unique(held.qid)) for _, held in problem.choosing], dtype=np.float64)
        weights /= weights.sum()
        fold_curves = [curves(path) for path in by_fold]
        points = []
        for place, curve in enumerate(curves(follow(problem.train, problem.test))):
            for point in curve:
                same = [at_round(of_fold[place], int(point.details["n_rounds"])) for of_fold in fold_curves]
                spend = float(weights @ [p.spend for p in same])
                score = float(weights @ [p.score for p in same])
                points.append(replace(point, spend=spend, score=score))
        return cls(by_fold, Frontier(tuple(points)))

    def models(self, place: int, n_rounds: int) -> tuple[list[GreedyMiserRanker], GreedyMiserRanker]:
        """Return the models of one setting after so many rounds: those of the folds, and the reported one."""
        of_folds = [last_rounds(curves(path)[place], n_rounds) for path in self.by_fold]
        return of_folds, last_rounds(curves(self.reported)[place], n_rounds)


def at_round(curve: Frontier, n_rounds: int) -> Point:
    """Return the last point of at most so many rounds; a booster may have ended before them."""
    return max((p for p in curve if p.details["n_rounds"] <= n_rounds), key=lambda p: p.details["n_rounds"])


def last_rounds(curve: Frontier, n_rounds: int) -> GreedyMiserRanker:
    """Return the first so many rounds of the model that a curve ends with."""
    longest = max(curve, key=lambda p: p.details["n_rounds"]).model
    found: GreedyMiserRanker = first_rounds(longest, min(n_rounds, longest.n_rounds_))
    return found


# From documents to models.


def evaluated(problem: Problem, of_folds: Sequence[Any], reported: Any, *, circle: bool = True) -> Model:
    """Evaluate the models of the folds on their validation queries, and the reported one on test queries."""
    spent, scores = [], []
    for model, (_, held) in zip(of_folds, problem.choosing, strict=True):
        given = {"qid": held.qid} if isinstance(model, EarlyExitRanker) else {}
        decided = model.decide(held.X, **given)
        spent.append(decided.spent)
        scores.append(ndcg_of(held, decided.prediction))
    given = {"qid": problem.test.qid} if isinstance(reported, EarlyExitRanker) else {}
    decided = reported.decide(problem.test.X, **given)
    return Model(
        float(np.concatenate(spent).mean()),
        np.concatenate(scores),
        float(decided.spent.mean()),
        float(reported.costs_.total(reported.fitted_.may_buy())),
        ndcg_of(problem.test, decided.prediction),
        circle,
        precision(problem.test.grades, decided.prediction, qid=problem.test.qid, k=K, relevant=RELEVANT),
    )


def circles(problem: Problem, paths: Paths) -> list[Model]:
    """Return the best round of each setting."""
    rounds = [int(best(curve).details["n_rounds"]) for curve in curves(paths.reported)]
    return [evaluated(problem, *paths.models(place, number)) for place, number in enumerate(rounds)]


def stopped(problem: Problem, paths: Paths, place: int, count: int) -> list[Model]:
    """Return one setting at its best round and at so many rounds up to it."""
    last = int(best(curves(paths.reported)[place]).details["n_rounds"])
    return [
        evaluated(problem, *paths.models(place, number), circle=number == last)
        for number in stops(last, count)
    ]


def margins(count: int) -> list[float]:
    """Return so many margins of early exit: 0, and others even in log.

    Examples
    --------
    >>> [round(margin, 3) for margin in margins(4)]
    [0.0, 0.01, 0.1, 1.0]
    """
    return [0.0, *np.geomspace(SMALLEST_MARGIN, LARGEST_MARGIN, count - 1).tolist()]


def exits(problem: Problem, paths: Paths, count: int) -> list[Model]:
    """Return the plain booster at its best round, with early exits of so many margins, every ten rounds."""
    *_, plain = curves(paths.reported)
    of_folds, reported = paths.models(-1, int(best(plain).details["n_rounds"]))
    return [
        evaluated(
            problem,
            *(
                [EarlyExitRanker.around(m, margin=margin, k=K, rounds_per_exit=EVERY) for m in of_folds],
                EarlyExitRanker.around(reported, margin=margin, k=K, rounds_per_exit=EVERY),
            ),
        )
        for margin in margins(count)
    ]


def cascades(problem: Problem, paths: Paths, count: int) -> list[Model]:
    """Return Cronus over the trees of the plain booster at its best round, at so many trade-offs.

    At each the weight of positive documents is the one whose start, which is fast, has the best NDCG@5 on
    validation queries.
    """
    *_, plain = curves(paths.reported)
    boosters, last = paths.models(-1, int(best(plain).details["n_rounds"]))
    learned = [learn for learn, _ in problem.choosing]

    def validation_score(tradeoff: float, weight: float) -> float:
        starts = [cronus_start(*pair, tradeoff, weight) for pair in zip(boosters, learned, strict=True)]
        held = [validation for _, validation in problem.choosing]
        scores = [ndcg_of(t, start.predict(t.X)) for start, t in zip(starts, held, strict=True)]
        return float(np.concatenate(scores).mean())

    found = []
    for tradeoff in cronus_tradeoffs(count):
        weight = max(POSITIVE_WEIGHTS, key=partial(validation_score, tradeoff))
        of_folds = [cronus(*pair, tradeoff, weight) for pair in zip(boosters, learned, strict=True)]
        reported = of_folds[0] if len(of_folds) == 1 else cronus(last, problem.train, tradeoff, weight)
        found.append(evaluated(problem, of_folds, reported))
    return found


def methods_on(
    problem: Problem, n_estimators: int, n_jobs: int, n_tradeoffs: int
) -> tuple[dict[str, list[Model]], Frontier]:
    """Return the models of every method, and the miser's path.

    ``n_tradeoffs`` is how many trade-offs to find by what validation documents spend. A cross-validation has
    the grid above, since its folds need the same trade-offs. Every method has as many models to choose from
    as there are trade-offs: the boosters that know no prices stop at so many rounds.
    """

    def path(make: Callable[..., Frontier], **more: Any) -> Paths:
        def follow(learn: RankingTable, held: RankingTable) -> Frontier:
            test = problem.test
            return make(
                ranker(problem, n_estimators),
                learn.X,
                learn.grades,
                qid=learn.qid,
                validation=(held.X, held.grades, held.qid),
                test=(test.X, test.grades, test.qid),
                every=EVERY,
                n_jobs=n_jobs,
                **more,
            )

        return Paths.of(problem, follow)

    tradeoffs = n_tradeoffs if len(problem.choosing) == 1 else TRADEOFFS
    miser = path(miser_path, tradeoffs=tradeoffs)
    subsets = path(subset_path, thresholds=THRESHOLDS)
    tries = len(curves(miser.reported))
    each = -(-tries // len(THRESHOLDS))
    return {
        MISER: circles(problem, miser),
        EARLY: exits(problem, subsets, tries),
        CRONUS: cascades(problem, subsets, tries),
        SUBSETS: [m for place in range(len(THRESHOLDS)) for m in stopped(problem, subsets, place, each)],
        PLAIN: stopped(problem, subsets, len(THRESHOLDS) - 1, tries),
    }, miser.reported
