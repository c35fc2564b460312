"""The methods of the paper's figure 1, each a list of models to choose from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.lib.curves import best, curves
from experiments.lib.ranking_problems import Problem
from experiments.lib.yahoo_shaped import RankingTable
from farthing.base import Frontier
from farthing.boosting import GreedyMiserRanker, miser_path, subset_path
from farthing.cascades import EarlyExitRanker
from farthing.metrics import ndcg_by_query

K = 5
EVERY = 10  # rounds between two looks
# Relative trade-offs of a cross-validation, close together where the curve bends; 0 is plain boosting.
TRADEOFFS = (0.0, 3e-6, 1e-5, 3e-5, 1e-4, 2e-4, 4e-4, 8e-4, 2e-3, 5e-3, 2e-2)
MARGINS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)
THRESHOLDS = (1.0, 20.0, 100.0, 200.0)  # those of the paper
MISER, BY_ROW, EARLY, SUBSETS, PLAIN = "miser", "miser, rows pay", "early exit", "feature subsets", "plain"


@dataclass(frozen=True)
class Model:
    """A model that a method could choose, evaluated on validation queries and on test queries.

    Attributes
    ----------
    validation_spend, validation_score : float
        Mean spend of a document and mean NDCG@5 of a query.
    spend, model_cost : float
        On test documents: the mean spend, and the price of all features that the model may look at.
    scores : ndarray of float64, shape (n_queries,)
        NDCG@5 of each test query.
    best : bool
        Whether it is the best of its setting on validation queries: a circle of the paper's figure.
    """

    validation_spend: float
    validation_score: float
    spend: float
    model_cost: float
    scores: NDArray[np.float64]
    best: bool


def ranker(problem: Problem, n_estimators: int, **more: Any) -> GreedyMiserRanker:
    """Return the booster that all methods are made of."""
    return GreedyMiserRanker(
        n_estimators=n_estimators,
        max_depth=4,
        min_samples_leaf=20,
        relative=True,
        k=K,
        costs=problem.train.costs,
        **more,
    )


def ndcg_of(table: RankingTable, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return NDCG@5 of each query."""
    return ndcg_by_query(table.grades, scores, qid=table.qid, k=K)


# A path, chosen on the problem's own terms.


def path_of(problem: Problem, follow: Callable[[RankingTable, RankingTable], Frontier]) -> Frontier:
    """Follow a path on all training documents, with validation scores of held-out queries or folds.

    ``follow`` takes training and validation documents, and evaluates on the problem's test documents, too.
    """
    if len(problem.choosing) == 1:
        return follow(*problem.choosing[0])
    by_fold = [follow(*pair) for pair in problem.choosing]
    weights = np.array([len(np.unique(held.qid)) for _, held in problem.choosing], dtype=np.float64)
    weights /= weights.sum()
    fold_curves = [curves(path) for path in by_fold]
    points = []
    for place, curve in enumerate(curves(follow(problem.train, problem.test))):
        for number, point in enumerate(curve):
            same = [of_fold[place][number] for of_fold in fold_curves]
            spend = float(weights @ [p.spend for p in same])
            score = float(weights @ [p.score for p in same])
            points.append(replace(point, spend=spend, score=score))
    return Frontier(tuple(points))


def from_path(path: Frontier, problem: Problem) -> list[Model]:
    """Return the models of each curve that were the best so far on validation queries, some ten per curve."""
    models = []
    for curve in curves(path):
        front, highest = [], -np.inf
        for point in curve:
            if point.score > highest:
                highest = point.score
                front.append(point)
        # Along one curve the score rises with almost every look; the last of the front is its best.
        front = [front[i] for i in np.unique(np.linspace(0, len(front) - 1, 10).astype(int))]
        rounds = {point.details["n_rounds"] for point in front}
        stages = enumerate(curve[-1].model.staged_predict(problem.test.X), start=1)
        predictions = {number: scores for number, scores in stages if number in rounds}
        constant = np.zeros(len(problem.test.qid))
        models += [
            Model(
                p.spend,
                p.score,
                p.test_spend,
                p.details["model_cost"],
                ndcg_of(problem.test, predictions.get(int(p.details["n_rounds"]), constant)),
                p is front[-1],
            )
            for p in front
        ]
    return models


def exits(problem: Problem, n_rounds: int, n_jobs: int) -> list[Model]:
    """Return the plain model of so many rounds with early exits of several margins, every ten rounds."""

    def fitted(table: RankingTable) -> GreedyMiserRanker:
        return ranker(problem, n_rounds, n_jobs=n_jobs).fit(table.X, table.grades, table.qid)

    def with_exits(model: GreedyMiserRanker, margin: float) -> EarlyExitRanker:
        return EarlyExitRanker.around(model, margin=margin, k=K, rounds_per_exit=10)

    validated = [(fitted(learn), held) for learn, held in problem.choosing]
    plain = validated[0][0] if len(validated) == 1 else fitted(problem.train)
    bought = {int(feature) for feature in plain.forest_.feature if feature >= 0}
    names = plain.costs_.features
    cost = plain.costs_.total([names[feature] for feature in sorted(bought)])
    models = []
    for margin in MARGINS:
        spent, scores = [], []
        for model, held in validated:
            decided = with_exits(model, margin).decide(held.X, qid=held.qid)
            spent.append(decided.spent)
            scores.append(ndcg_of(held, decided.prediction))
        decided = with_exits(plain, margin).decide(problem.test.X, qid=problem.test.qid)
        models.append(
            Model(
                float(np.concatenate(spent).mean()),
                float(np.concatenate(scores).mean()),
                float(decided.spent.mean()),
                float(cost),
                ndcg_of(problem.test, decided.prediction),
                True,
            )
        )
    return models


def methods_on(
    problem: Problem, n_estimators: int, n_jobs: int, n_tradeoffs: int
) -> tuple[dict[str, list[Model]], Frontier]:
    """Return the models of every method, and the miser's path.

    ``n_tradeoffs`` is how many trade-offs to find by what validation documents spend. A cross-validation has
    the grid above, since its folds need the same trade-offs.
    """

    def path(make: Callable[..., Frontier], **more: Any) -> Frontier:
        charge = more.pop("charge", "model")

        def follow(learn: RankingTable, held: RankingTable) -> Frontier:
            test = problem.test
            return make(
                ranker(problem, n_estimators, charge=charge),
                learn.X,
                learn.grades,
                qid=learn.qid,
                validation=(held.X, held.grades, held.qid),
                test=(test.X, test.grades, test.qid),
                every=EVERY,
                n_jobs=n_jobs,
                **more,
            )

        return path_of(problem, follow)

    tradeoffs = n_tradeoffs if len(problem.choosing) == 1 else TRADEOFFS
    miser = path(miser_path, tradeoffs=tradeoffs)
    by_row = path(miser_path, tradeoffs=tradeoffs, charge="row")
    subsets = path(subset_path, thresholds=THRESHOLDS)
    plain = curves(miser)[0]
    return {
        MISER: from_path(miser, problem),
        BY_ROW: from_path(by_row, problem),
        EARLY: exits(problem, int(best(plain).details["n_rounds"]), n_jobs),
        SUBSETS: from_path(subsets, problem),
        PLAIN: from_path(plain, problem),
    }, miser
