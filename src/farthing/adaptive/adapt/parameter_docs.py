"""Parameters and attributes that the docstrings of all Adapt estimators share."""

from __future__ import annotations

from typing import Final

from farthing.learning.guarantees.guaranteed import GUARANTEE_TEXT

_EXPENSIVE = """expensive : classifier, optional
        The model to approximate. Any scikit-learn classifier with ``predict_proba`` or ``decision_function``
        (which is calibrated by Platt scaling, so the decision boundary may move a little); it sees categories
        as numbers, and missing values as the median unless it accepts NaN. Or a Farthing classifier, whose
        own spend on a row counts; it may be an Adapt model itself, so that stages nest, each approximating
        the system before it. A fitted model is used as it is; otherwise a copy is fitted. None means a random
        forest, a `BudgetForestClassifier` that ignores prices. A file holds the fitted model, not this
        parameter."""

_SHARED = """expensive_features : sequence of str or int, or mask, optional
        The columns that a scikit-learn model reads, in its order; it needs them all at once. None means all
        columns, or those it was fitted on by name.
    n_folds : int, optional
        Folds for the out-of-fold predictions of the expensive model, which would be overconfident on rows
        that it was fitted on. None uses the predictions of the model itself, as for trees imported by
        `farthing.forests.from_model`, which cannot be fitted again.
    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    call_cost : float
        The price of calling the expensive model, beside the features that it reads. It is a call of the
        fitted cost sheet, ``costs_.calls``, which a row that is sent on pays, and counts against the budget.
    budget : float, optional
        What rows may spend on average. It sets the gate's threshold on validation rows: the largest set of
        top gate scores, cut where scores differ, whose mean spend is within it.
    send_share : float, optional
        Share of the rows that the gate sends to the expensive model, 0 to 1: the largest set of top gate
        scores of the validation rows that is no larger. A budget, if given, holds as well. None, without a
        budget, means {default_share}.
    {guarantee}
    validation_fraction : float
        Share of the rows held out to set the threshold, if `fit` is given no validation rows;
        {held_out}.
    random_state : int, RandomState or None
        Seed of the folds and of the held-out rows."""

_ATTRIBUTES = """expensive_ : classifier
        The fitted expensive model; a scikit-learn model is ``expensive_.model``.
    pair_ : LinearScores or TreePair
        The gate and f1, the gate's score first.
    threshold_ : float
        A row is sent to the expensive model if its gate score is above it.
    send_thresholds_ : ndarray of float64, shape (n_shares,)
        The thresholds of the ``send_share`` of each of the model's `variants`.
    history_ : ndarray of float64, shape (n_steps,)
        The objective of (OPT) after each half step: q, then gate and f1, then q, and so on.
    classes_ : ndarray, shape (n_classes,)
        The labels."""

_P_FULL = """p_full : float
        Share of the rows to send to the expensive model, 0 to 1: the upper limit on the mean of q over the
        training rows. Without a budget or ``send_share``, the gate is cut at this quantile of the validation
        rows, so that no more than this share of them is sent on."""

#: What `farthing.base.documented` puts in.
TEXTS: Final = {
    "expensive": _EXPENSIVE,
    "p_full": _P_FULL,
    "shared": _SHARED.format(
        default_share="``p_full``",
        guarantee=GUARANTEE_TEXT,
        held_out="under a budget the expensive model is not fitted on them either",
    ),
    "attributes": _ATTRIBUTES,
}
#: The same for a gate without ``p_full``.
L1_TEXTS: Final = {
    **TEXTS,
    "shared": _SHARED.format(
        default_share="a threshold of 0, even odds",
        guarantee=GUARANTEE_TEXT,
        held_out="without a budget none are held out, and the training rows set it",
    ),
}
