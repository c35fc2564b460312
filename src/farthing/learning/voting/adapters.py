"""Fitted models as weighted votes: boosted or bagged trees, linear models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, normalise
from farthing.learning.voting.votes import LinearVotes, TreeVotes
from farthing.trees import Forest

_ACCEPTED = (
    "a boosted vote of farthing.boosting, a forest of farthing.forests, a RandomForestClassifier, "
    "ExtraTreesClassifier, DecisionTreeClassifier, BaggingClassifier or AdaBoostClassifier (of trees) of "
    "scikit-learn, a linear classifier with coef_ and intercept_, a TreeVotes or a LinearVotes"
)


def votes_of(model: Any, values: NDArray[np.floating]) -> TreeVotes | LinearVotes:
    """Return a fitted classifier as a weighted vote.

    Parameters
    ----------
    model : fitted classifier, TreeVotes or LinearVotes
        The vote of a bagged tree is the difference of its two probabilities; on more than two classes, that
        of each probability and its complement. The vote of a feature of a linear model, which must be of two
        classes, is its value, divided by the largest absolute one of ``values``.
    values : ndarray, shape (n_rows, n_features)
        The encoded table that the model was fitted on, or one like it.

    Returns
    -------
    TreeVotes or LinearVotes

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[-2.0], [2.0]]), [0, 1]
    >>> votes = votes_of(LogisticRegression(fit_intercept=False).fit(X, y), X)
    >>> votes.columns(), votes.factor
    (((0,),), array([0.5]))
    """
    if isinstance(model, TreeVotes | LinearVotes):
        return model
    if isinstance(model, BudgetedEstimator):
        forest = getattr(model, "forest_", None)
        if isinstance(forest, Forest) and hasattr(model, "estimator_weights_"):
            return _signed(np.asarray(model.estimator_weights_), forest)
        if isinstance(forest, Forest) and forest.width == forest.n_outputs > 1:
            return _bagged(forest)
    elif hasattr(model, "coef_") and hasattr(model, "intercept_"):
        if np.size(model.intercept_) > 1 or np.shape(np.atleast_2d(model.coef_))[0] > 1:
            raise TypeError(f"the {type(model).__name__} has more than two classes; a linear vote is on two")
        return _linear(model, values)
    elif hasattr(model, "estimators_") or hasattr(model, "tree_"):
        return _scikit_learn(model)
    raise TypeError(f"{type(model).__name__} is not a weighted vote; estimator takes {_ACCEPTED}")


def _signed(alphas: NDArray[np.float64], forest: Forest) -> TreeVotes:
    """Flip the votes of negative weights, so that all weights are positive."""
    signs = np.repeat(np.where(alphas < 0, -1.0, 1.0), np.diff(forest.offsets))
    return TreeVotes(np.abs(alphas), replace(forest, node_values=forest.value * signs[:, np.newaxis]))


def _bagged(forest: Forest) -> TreeVotes:
    """Return the mean vote of trees of class counts."""
    value = _share_votes(normalise(forest.value))
    votes = replace(forest, n_outputs=value.shape[1], target=np.zeros_like(forest.target), node_values=value)
    return TreeVotes(np.full(forest.n_trees, 1.0 / forest.n_trees), votes)


def _share_votes(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return votes between -1 and 1 from the shares of the classes at each node."""
    return shares[:, 1:] - shares[:, :1] if shares.shape[1] == 2 else 2 * shares - 1


def _label_votes(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return votes of -1 and 1, for the most frequent class of each node; 0 for a tie of two."""
    if shares.shape[1] == 2:
        return np.sign(shares[:, 1:] - shares[:, :1])
    first = np.argmax(shares, axis=1)[:, np.newaxis]
    return np.where(first == np.arange(shares.shape[1]), 1.0, -1.0)


def _linear(model: Any, values: NDArray[np.floating]) -> LinearVotes:
    """Return the votes of f(x) = sum of w_j x_j + b; alphas are |w_j| times the largest |x_j|.

    Weights and intercept are halved, since a vote is half the log-odds: so a logistic regression keeps its
    probabilities.
    """
    slopes = np.asarray(model.coef_, dtype=np.float64).ravel() / 2
    intercept = float(np.ravel(model.intercept_)[0]) / 2
    largest = np.fmax.reduce(np.abs(values), axis=0, initial=0.0).astype(np.float64)
    present = ~np.isnan(values)
    means = np.where(present, values, 0.0).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    columns = np.flatnonzero(slopes * largest)
    factor = np.sign(slopes[columns]) / largest[columns]
    alphas = np.abs(slopes[columns]) * largest[columns]
    missing = factor * means[columns]
    # The intercept is a learner without a column. A model of zeros needs one, too: a vote has some learner,
    # and np.sign gives it a vote of 0.
    if intercept != 0 or not len(columns):
        columns = np.append(columns, -1)
        alphas = np.append(alphas, abs(intercept) or 1.0)
        factor = np.append(factor, np.sign(intercept))
        missing = np.append(missing, 0.0)
    return LinearVotes(alphas, columns.astype(np.int64), factor, missing, values.shape[1])


def _scikit_learn(model: Any) -> TreeVotes:
    """Return the votes of boosted or bagged trees of scikit-learn."""
    members: Sequence[Any] = list(np.ravel(model.estimators_)) if hasattr(model, "estimators_") else [model]
    n_features = int(model.n_features_in_)
    weights = getattr(model, "estimator_weights_", None)
    hard = weights is not None
    alphas = (
        np.full(len(members), 1.0 / len(members)) if weights is None else np.asarray(weights)[: len(members)]
    )
    subsets = getattr(model, "estimators_features_", [np.arange(n_features)] * len(members))
    kept = [place for place, alpha in enumerate(alphas) if alpha != 0]
    trees = [_tree(members[place], subsets[place], n_features, model, hard) for place in kept]
    # The weight of SAMME, ln((1 - err) / err), is twice the alpha of AdaBoost.
    return _signed((alphas[kept] / 2 if hard else alphas[kept]).astype(np.float64), Forest.concat(trees))


def _tree(member: Any, columns: NDArray[Any], n_features: int, model: Any, hard: bool) -> Forest:
    """Return a tree of scikit-learn as a tree of votes between -1 and 1."""
    if not hasattr(member, "tree_") or not hasattr(member, "classes_"):
        raise TypeError(
            f"{type(model).__name__} holds a {type(member).__name__}; estimator takes {_ACCEPTED}"
        )
    tree = member.tree_
    inner = tree.children_left >= 0
    counts = np.zeros((tree.node_count, len(model.classes_)))
    # A member may have seen only one class. Members of a forest store class codes, other trees labels.
    named = hard or member is model
    known = np.searchsorted(model.classes_, member.classes_) if named else member.classes_.astype(np.int64)
    counts[:, known] = tree.value[:, 0, :]
    shares = normalise(counts)
    votes = _label_votes(shares) if hard else _share_votes(shares)
    return Forest.from_arrays(
        n_features=n_features,
        feature=np.where(inner, np.asarray(columns)[np.where(inner, tree.feature, 0)], -1),
        threshold=np.where(inner, tree.threshold, 0.0),
        left=np.where(inner, tree.children_left, -1),
        right=np.where(inner, tree.children_right, -1),
        missing=np.where(tree.missing_go_to_left.astype(bool), 0, 1),
        value=votes,
        cover=tree.weighted_n_node_samples,
        dtype="float32",
    ).validate()
