"""Parameters and attributes that the docstrings of the edge estimators share."""

from __future__ import annotations

from typing import Final

_SHARED: Final = """devices : mapping of str to list of str or int, optional
        The columns of each device, by name or by position. A column belongs to at most one device; columns of
        no device are not used. None makes each column a device.
    training : {trainings}
        How gates and local models are learned together. "direct": gates are soft in training, and the mean
        loss plus ``tradeoff`` times the cost of what they open is minimised (OPT-Direct-Clf). "relaxed": each
        row and device has an opening q of its own, within the budget on average; the gates follow q in
        divergence (OPT-Relax).{projected}
    activation : {{"sigmoid", "relu"}}
        How open a soft gate is at a score; "relaxed" always uses the sigmoid.
    solver : {{"lbfgs", "adam"}}
        For "direct": L-BFGS on all rows at once, or Adam on batches of 100.
    tradeoff : float
        Weight of a unit of price against the mean loss{unit}.
        With unit prices, it is the lambda of (OPT-Direct-Clf) divided by the number of devices. At 0,
        "relaxed"{and_projected} is limited by the budget alone, as in the thesis.
    coupling : float
        For "relaxed": weight of the divergence between q and the gates, the lambda of (OPT-Relax).
    l2_regularization : float
        Strength of the L2 penalty: half of it times the sum of the squared coefficients and of the squared
        intercepts of the local models; terms are standardised.
    max_steps : int
        Maximum number of L-BFGS steps.
    n_alternations : int
        Maximum number of alternations of "relaxed"{alternations}. They end when one of them {changes} the
        objective by at most 1e-5 of it. As it is not convex, that may be a local minimum.
    n_epochs : int
        Number of passes of "adam" over the rows.
    learning_rate : float
        Step size of "adam".
{class_weight}    costs : CostSheet, mapping, array, Series, path or None
        What a message of each device costs, by the devices' names; None means 1 each.
    budget_share : float, optional
        The mean share of devices that send a message, 0 to 1; with prices, the mean spend as a share of what
        all devices cost. It sets the threshold of all gates on validation rows. None sets the threshold where
        the sum of loss and price is smallest on the training rows.
    validation_fraction : float
        Share of the rows held out to set the threshold, if there is a ``budget_share`` and `fit` is given no
        validation rows.
    random_state : int, RandomState or None
        Seed of the held-out rows, and of the batches of "adam"."""

_ATTRIBUTES: Final = """devices_ : Devices
        Names and columns.
    pairs_ : list of LinearScores
        Gate and local model of each device, the gate's score first.
    threshold_ : float
        A device sends its message if its gate's score is above it.
    history_ : ndarray of float64
        The objective at the start and after each step or alternation of the training."""

#: What `farthing.base.documented` puts in, for classifiers and for regressors.
CLASSIFIER_TEXTS: Final = {
    "shared": _SHARED.format(
        trainings='{"direct", "relaxed"}',
        projected="",
        unit="",
        alternations="",
        changes="lowers",
        and_projected="",
        class_weight="""    class_weight : dict, "balanced" or None
        Factors of the row weights by label; "balanced" gives each class the same total weight.
""",
    ),
    "attributes": _ATTRIBUTES,
}
REGRESSOR_TEXTS: Final = {
    "shared": _SHARED.format(
        trainings='{"direct", "relaxed", "projected"}',
        projected="""
        "projected": gradient steps on the squared error, and projections of the gates onto the budget
        (7.3 to 7.5).""",
        unit=", as a share of the target's variance",
        alternations=' and of "projected"',
        changes="changes",
        and_projected=' or "projected"',
        class_weight="",
    ),
    "attributes": _ATTRIBUTES,
}
