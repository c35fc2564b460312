"""Spend and score of a Greedy Miser after each round, on rows that it was not trained on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from farthing.base import Point
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.model import GreedyMiserModel
from farthing.boosting.greedy_miser.ranker import GreedyMiserRanker
from farthing.metrics import ndcg, query_codes
from farthing.table import Schema, encode
from farthing.trees import Progress

# (target, predictions, queries or None) to a number, larger is better.
Scoring: TypeAlias = Callable[[NDArray[Any], NDArray[Any], NDArray[np.int64] | None], float]
# (X, y) or (X, y, qid).
Rows: TypeAlias = tuple[Any, ...]


def default_scoring(estimator: Any) -> Scoring:
    """Return the score of a task: NDCG@k, the accuracy, or minus the mean squared error."""
    if isinstance(estimator, GreedyMiserRanker):
        return lambda y, predicted, qid: ndcg(y, predicted, qid=qid, k=estimator.k)
    if is_classifier(estimator):
        return lambda y, predicted, _: float(np.mean(y == predicted))
    return lambda y, predicted, _: -float(np.mean((y - predicted) ** 2))


class EvaluationRows:
    """Rows that a path is evaluated on: the encoded table, the target and the queries.

    Parameters
    ----------
    given : tuple (X, y) or (X, y, qid)
        As passed by the user.
    schema : Schema
        The schema of the training rows.
    name : str
        Name of the argument, for messages.
    """

    def __init__(self, given: Rows, schema: Schema, name: str) -> None:
        if not isinstance(given, tuple) or len(given) not in (2, 3):
            raise ValueError(f"{name} must be (X, y) or (X, y, qid); got {type(given).__name__}")
        X, y, *more = given
        encoded = encode(schema, X, name)
        encoded.check()
        self.values = encoded.values
        self.target = np.asarray(y)
        if self.target.shape != (len(self.values),):
            raise ValueError(f"{name} has {len(self.values)} rows, but a target of shape {self.target.shape}")
        self.qid = query_codes(more[0], len(self.values)) if more and more[0] is not None else None


class RoundEvaluation:
    """Evaluates fitted misers after each round.

    Parameters
    ----------
    scoring : callable
        See `Scoring`.
    validation, test : EvaluationRows
        Rows to choose among the points by, and rows to report on; may be the same object.
    every : int
        Evaluate after every so many rounds, and after the last.
    """

    def __init__(
        self, scoring: Scoring, validation: EvaluationRows, test: EvaluationRows, every: int
    ) -> None:
        self._scoring = scoring
        self._validation = validation
        self._test = test
        self._every = every

    def points(self, estimator: GreedyMiser, params: Mapping[str, float]) -> list[Point]:
        """Return one point per evaluated round; the first one is before any round.

        Parameters
        ----------
        estimator : GreedyMiser
            Fitted.
        params : mapping
            What identifies the curve, such as the trade-off.
        """
        model = estimator.fitted_
        rounds = [*range(0, model.n_rounds, self._every), model.n_rounds]
        validation = self._follow(model, self._validation, rounds)
        test = validation if self._test is self._validation else self._follow(model, self._test, rounds)
        return [
            Point(
                type(estimator).__name__,
                params,
                spend,
                max_spend,
                score,
                test_spend=test_spend,
                test_score=test_score,
                details={"n_rounds": n_rounds, "model_cost": model.model_cost(n_rounds)},
                source=partial(first_rounds, estimator, n_rounds),
            )
            for n_rounds, (spend, max_spend, score), (test_spend, _, test_score) in zip(
                rounds, validation, test, strict=True
            )
        ]

    def _follow(
        self, model: GreedyMiserModel, rows: EvaluationRows, rounds: list[int]
    ) -> list[tuple[float, float, float]]:
        """Return mean spend, largest spend and score after each of the rounds."""
        caps = None if model.budget is None else np.full(len(rows.values), model.budget)
        progress = model.start(rows.values, caps)
        spends, followed, tree = _RowSpends(model, progress), [], 0
        for n_rounds in rounds:
            end = model.n_trees_after(n_rounds)
            model.predictor.advance(progress, tree, end)
            tree = end
            spent = spends.after(n_rounds)
            # A row that has looked at nothing gets the prior, as in every prediction.
            predicted, _ = model.results(
                np.where(spends.looked[:, np.newaxis], progress.outputs, model.prior)
            )
            score = float(self._scoring(rows.target, predicted, rows.qid))
            followed.append((float(spent.mean()), float(spent.max()), score))
        return followed


def first_rounds(estimator: GreedyMiser, n_rounds: int) -> GreedyMiser:
    """Return the estimator with its first rounds only; itself if these are all."""
    model = estimator.fitted_
    if n_rounds == model.n_rounds:
        return estimator
    return estimator.variant({"n_estimators": n_rounds}, model.first_rounds(n_rounds))


class _RowSpends:
    """The spend of each row so far; a row is summed again only after it has bought something."""

    def __init__(self, model: GreedyMiserModel, progress: Progress) -> None:
        self._model = model
        self._progress = progress
        self._seen = progress.touched.copy()
        self._spent = np.zeros(len(progress.values))
        self.looked = np.zeros(len(progress.values), dtype=np.bool_)

    def after(self, n_rounds: int) -> NDArray[np.float64]:
        """Return the spend of each row after some rounds, shape (n_rows,)."""
        progress, model = self._progress, self._model
        changed = np.flatnonzero((progress.touched != self._seen).any(axis=1))
        # With a price per tree, all rows that looked at a feature pay more after each round.
        due = np.flatnonzero(self.looked) if model.costs.calls else changed[:0]
        rows = np.union1d(changed, due)
        acquired = model.acquired_by(progress, rows)
        # Summed again rather than incremented: the order of the sheet gives the bits of `spend`.
        self._spent[rows] = model.spends_after(n_rounds, acquired)
        self.looked[rows] = acquired.any(axis=1)
        self._seen[changed] = progress.touched[changed]
        return self._spent
