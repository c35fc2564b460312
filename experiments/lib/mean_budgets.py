"""A choice under mean budgets: every round of every fit is a model, and validation rows choose among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.base import sigmoid, softmax
from farthing.costs import CostSheet
from farthing.trees import Forest, Predictor, Progress

# A class is never less likely than this to the log loss.
LEAST = 1e-6
# Budgets, as shares of what all features cost together.
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


@dataclass(frozen=True)
class Split:
    """A table with classes as numbers from 0, split in three.

    Attributes
    ----------
    name : str
    costs : CostSheet
    train, validation, test : tuple (X, y)
        X of float64, shape (n_rows, n_features), NaN where missing; y of int64, shape (n_rows,).
    """

    name: str
    costs: CostSheet
    train: tuple[NDArray[np.float64], NDArray[np.int64]]
    validation: tuple[NDArray[np.float64], NDArray[np.int64]]
    test: tuple[NDArray[np.float64], NDArray[np.int64]]


@dataclass(frozen=True)
class Followed:
    """The models of one fit, or of several, one after each round.

    Attributes
    ----------
    spend, accuracy, loss : ndarray of float64, shape (n_models,)
        On validation rows: what a row pays on average, the share of right classes, the mean log loss.
    test_spend : ndarray of float64, shape (n_models,)
        What a test row pays on average.
    right : ndarray of bool, shape (n_models, n_test_rows)
        Which test rows are classified correctly.
    """

    spend: NDArray[np.float64]
    accuracy: NDArray[np.float64]
    loss: NDArray[np.float64]
    test_spend: NDArray[np.float64]
    right: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: list[Followed]) -> Followed:
        """Put the models of several fits together."""
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__annotations__))

    def first(self, n_models: int) -> Followed:
        """Return the first so many models alone."""
        return Followed(*(getattr(self, name)[:n_models] for name in self.__annotations__))

    def within(self, budget: float) -> int | None:
        """Return the place of the best model whose validation rows spend at most the budget on average.

        The highest accuracy on validation rows; among equals the lowest log loss.
        """
        fits = np.flatnonzero(self.spend <= budget * (1 + 1e-12))
        if not len(fits):
            return None
        return int(fits[np.lexsort((self.loss[fits], -self.accuracy[fits]))[0]])


def follow(
    forest: Forest, split: Split, thresholds: tuple[float, ...] = (), cap: float | None = None
) -> Followed:
    """Follow a fit from round to round.

    Parameters
    ----------
    forest : Forest
        One tree for each output and round.
    split : Split
    thresholds : tuple of float
        With each of them there is one more model per round: rows whose top class is more likely leave, with
        the prediction so far (`farthing.cascades.EarlyExitClassifier`).
    cap : float, optional
        A hard budget of each row.
    """
    n_outputs = forest.n_outputs
    predictor = Predictor(forest)
    evaluated = []
    for X, y in (split.validation, split.test):
        caps = None if cap is None else np.full(len(y), cap)
        progress = Progress(X, n_outputs, split.costs, budget=caps)
        leaving = [_Leaving(y, threshold) for threshold in (1.0, *thresholds)]  # at 1 no row leaves
        for end in range(n_outputs, forest.n_trees + 1, n_outputs):
            predictor.advance(progress, end - n_outputs, end)
            outputs = progress.outputs
            probabilities = sigmoid(outputs) if n_outputs == 1 else softmax(outputs)
            spent = split.costs.total_rows(progress.acquired)
            for group in leaving:
                group.move(probabilities, spent)
        # By threshold, then by round.
        evaluated.append([np.array([kept for group in leaving for kept in group.kept[i]]) for i in range(3)])
    (spend, right, loss), (test_spend, test_right, _) = evaluated
    return Followed(spend, right.mean(axis=1), loss, test_spend, test_right)


def prior(split: Split) -> Followed:
    """Return the model that buys nothing."""
    common = int(np.argmax(np.bincount(split.train[1])))
    accuracy = np.array([np.mean(split.validation[1] == common)])
    nothing = np.zeros(1)
    return Followed(nothing, accuracy, np.full(1, np.inf), nothing, (split.test[1] == common)[np.newaxis])


def row_errors(gaps: NDArray[np.float64]) -> list[float]:
    """Return the standard errors over test rows of a difference at each budget, and of its mean over them.

    ``gaps`` is of shape (n_budgets, n_test_rows).
    """
    by_row = np.vstack([gaps, gaps.mean(axis=0)])
    return [float(error) for error in by_row.std(axis=1) / np.sqrt(gaps.shape[1])]


class _Leaving:
    """Predictions and spends of rows when they left, or so far."""

    def __init__(self, y: NDArray[np.int64], threshold: float) -> None:
        # After each round: mean spend, which rows are right, mean log loss.
        self.kept: tuple[list[float], list[NDArray[np.bool_]], list[float]] = ([], [], [])
        self._y, self._threshold = y, threshold
        self._right = np.zeros(len(y), dtype=np.bool_)
        self._loss, self._spent = np.zeros(len(y)), np.zeros(len(y))
        self._open = np.ones(len(y), dtype=np.bool_)

    def move(self, probabilities: NDArray[np.float64], spent: NDArray[np.float64]) -> None:
        """Update the rows that have not left yet."""
        rows = np.flatnonzero(self._open)
        own = self._y[rows]
        self._right[rows] = np.argmax(probabilities[rows], axis=1) == own
        self._loss[rows] = -np.log(np.maximum(probabilities[rows, own], LEAST))
        self._spent[rows] = spent[rows]
        spent_so_far, right, losses = self.kept
        spent_so_far.append(float(self._spent.mean()))
        right.append(self._right.copy())
        losses.append(float(self._loss.mean()))
        self._open[rows] = probabilities[rows].max(axis=1) <= self._threshold
