"""The parameters that the estimators share: what they may be, and their docstrings."""

from __future__ import annotations

from typing import Any, Final

from farthing.base.parameters import (
    ANY_OR_NONE,
    BOOLEAN,
    CLASS_WEIGHT,
    NON_NEGATIVE,
    POSITIVE,
    RANDOM_STATE,
    at_least,
    between,
    one_of,
)

CONSTRAINTS: Final[dict[str, Any]] = {
    "tradeoff": [NON_NEGATIVE],
    "n_tradeoffs": [at_least(0)],
    "loss": [one_of("error", "probability", "log_loss")],
    # A name, or an estimator, which is checked where it is used.
    "state_classifier": ANY_OR_NONE,
    "policy_learner": ANY_OR_NONE,
    "scores_in_policy": [BOOLEAN],
    "n_estimators": [at_least(1)],
    "n_iter_no_change": [at_least(1), None],
    "learning_rate": [POSITIVE],
    "max_depth": [at_least(0), None],
    "max_leaf_nodes": [at_least(1), None],
    "min_samples_leaf": [at_least(1)],
    "l2_regularization": [NON_NEGATIVE],
    "max_bins": [between(2, 255)],
    "policy_estimators": [at_least(1)],
    "policy_depth": [at_least(1)],
    "evaluation_cost": [NON_NEGATIVE],
    "n_folds": [at_least(2), None],
    "class_weight": CLASS_WEIGHT,
    "random_state": [RANDOM_STATE],
}

TEXTS: Final = {
    "parameters": """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, optional
        Mean spend of a row, as measured on held-out rows, by which the trade-off is chosen; None means no
        limit, and is the model of ``tradeoff``. `at` returns the model for another budget without
        refitting.""",
    "tradeoffs": """n_tradeoffs : int
        How many larger trade-offs the fit learns policies for as well, over a range that follows from the
        prices and from what all features gain. A budget chooses among them; `path` lists them. With 0 only
        the threshold between stopping and going on is moved for a budget.
    loss : {"error", "probability", "log_loss"}
        What stopping costs: whether the label is wrong, the probability that the classifier gives to wrong
        labels, which is less noisy, or the log loss.""",
    "learners": """state_classifier : classifier, "linear", "quadratic" or None
        What classifies at a state: copies of a scikit-learn classifier; logistic regressions on standardised
        columns, or on these, their squares and their products; None means boosted trees. Each is fitted on
        all rows, not only on those that get there.
    policy_learner : estimator, "linear" or None
        What policies are learned with: copies of a scikit-learn classifier that takes ``sample_weight`` (of a
        regressor with ``policy="regression"``), or linear models; None means boosted trees.
    scores_in_policy : bool
        Whether a policy reads the probabilities of its state's classifier, too, which depend on nothing but
        what the state owns.
    n_estimators : int
        Maximum number of boosting rounds of a state's classifier; held-out rows choose how many are kept.
    n_iter_no_change : int, optional
        Stop a booster after this many rounds without a lower loss on held-out rows; None runs all.
    learning_rate, max_depth, max_leaf_nodes, min_samples_leaf, l2_regularization, max_bins
        As in `GreedyMiserClassifier`.
    policy_estimators, policy_depth : int
        Maximum number of boosting rounds of a policy, and the depth of its trees.
    evaluation_cost : float
        What a row pays for each state whose classifier and policy are evaluated, as a call in the account.
        States where the policy is the same for every row are passed without one.
    n_folds : int, optional
        Losses at a state are those of classifiers that have not seen the row, and so are the decisions of
        the policies after it; None uses those of the fit itself, which are too good.
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``.
    random_state : int, RandomState or None
        Seed of the folds.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same model.""",
    "attributes": """classes_ : ndarray, shape (n_classes,)
        The labels.
    states_ : ndarray of bool, shape (n_states, n_features)
        What a row owns at each state. The root, which comes first, costs nothing.
    edges_ : ndarray of int64, shape (n_states, n_edges)
        The states that purchases lead to; -1 after the last.
    tradeoffs_ : ndarray of float64, shape (n_levels,)
        The trade-offs that have policies; the last, infinite, buys nothing.
    tradeoff_ : float
        The trade-off whose policies predict.
    path_spend_, path_risk_ : ndarray of float64, shape (n_points,)
        Mean spend and mean loss of held-out rows at each point: a trade-off, and a threshold.
    path_levels_ : ndarray of int64, shape (n_points,)
        The trade-off of each point.
    path_offsets_ : ndarray of float64, shape (n_points,)
        What is added to its thresholds between stopping and going on.
    point_ : int
        The point that predicts.""",
    "reference": """Wang, Trapeznikov and Saligrama: Efficient Learning by Directed Acyclic Graph for Resource
    Constrained Prediction. NIPS 2015.""",
}
