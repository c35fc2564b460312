"""GDFS: a policy network says what to buy next, trained with the predictor by relaxed selections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from farthing.base import ContractClassifier, TrainingSet, register
from farthing.base.parameters import CLASS_WEIGHT, at_least
from farthing.costs import CostsLike
from farthing.deep.networks.fitting import learn
from farthing.deep.networks.model import GreedyNetworksModel
from farthing.deep.networks.settings import CONSTRAINTS, TrainingSettings, tradeoffs


class GreedySelectionModel(GreedyNetworksModel):
    """A policy network and a predictor; what has the highest score is bought."""


@register(
    grid=tradeoffs,
    auto=False,
    trials=[
        {"hidden_units": (8,), "n_epochs": 2, "n_temperatures": 1, "max_questions": 3, "tradeoff": 0.05},
        {
            "hidden_units": (6, 5),
            "n_epochs": 2,
            "n_temperatures": 2,
            "max_questions": 2,
            "budget": 2.5,
            "batch_size": 32,
        },
    ],
)
class GreedySelectionClassifier(ContractClassifier):
    """Buy what a policy network says is best next, trained with the predictor (GDFS).

    The predictor answers for every set of features. The policy, a network of the same shape, gives each
    feature a score, and the highest that is affordable is bought. Both are trained together through
    selections that are relaxed by a temperature (Concrete variables), which falls; where the loss after one
    more feature is least, the policy has found the feature of the largest conditional mutual information with
    the label. Where prices differ it learns the largest for its price; what is free comes first.

    Training needs PyTorch (``pip install 'farthing[deep]'``); a fitted model, and its file, do not. Missing
    values are inputs of their own, unlike features that are not bought. Numbers count as at most ten standard
    deviations from their mean.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each. All columns of a group without own costs are bought
        together, such as the pixels of `farthing.costs.superpixels`.
    budget : float, optional
        Hard: no row spends more. With prices of 1 it is a number of features. None means no limit.
    tradeoff : float, optional
        What a unit of price is worth, in nats of the log loss: a row stops when its prediction has less
        entropy than the next feature costs, since no feature gains more than that. 0 means that prices do not
        count, but in budgets. None goes on until the budget ends.
    hidden_units : sequence of int
        Units of the hidden layers of both networks.
    dropout : float
        The share of hidden units that are left out of a training step.
    max_questions : int
        Most questions of a row in training; a fitted model may ask more.
    n_temperatures : int
        Stages of the joint training, with temperatures from 1 to 0.1.
    n_epochs : int
        Most passes over the rows before the joint training, and again in it.
    batch_size : int
        Rows of a training step.
    learning_rate : float
        Step size of Adam.
    validation_fraction : float
        The share of rows that are held out to say when training ends; all rows, if these would be fewer than
        10.
    n_iter_no_change : int
        Passes without a lower loss of held-out rows after which a stage ends.
    class_weight : mapping, "balanced" or None
        Factors of the rows' weights, as in scikit-learn.
    random_state : int, RandomState or None
        Draws the first weights, the rows held out, the batches and what is random in training. Training uses
        one thread, so that the same seed gives the same model.
    n_jobs : int, optional
        Threads of predictions, as in joblib; any number gives the same bits.

    Attributes
    ----------
    predictor_, selector_ : Network
        The trained networks, as widths and weights.
    units_ : ndarray of int64, shape (n_features,)
        What is bought together.
    classes_ : ndarray, shape (n_classes,)
        The labels.

    References
    ----------
    Covert, Qiu, Lu, Kim, White, Lee: Learning to Maximize Mutual Information for Dynamic Feature Selection.
    ICML 2023. It has neither prices nor a rule to stop.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(400, 5)).astype(float)
    >>> y = X[:, 3].astype(int)
    >>> model = GreedySelectionClassifier(
    ...     budget=1, hidden_units=(16,), dropout=0, n_epochs=30, learning_rate=0.01, random_state=0
    ... ).fit(X, y)
    >>> float(model.score(X, y)), model.walk().ask.feature
    (1.0, 'x3')
    """

    model_type = GreedySelectionModel
    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "class_weight": CLASS_WEIGHT,
        "n_temperatures": [at_least(1)],
    }
    fitted_: GreedySelectionModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        tradeoff: float | None = None,
        hidden_units: Sequence[int] = (128, 128),
        dropout: float = 0.3,
        max_questions: int = 50,
        n_temperatures: int = 5,
        n_epochs: int = 100,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.tradeoff = tradeoff
        self.hidden_units = hidden_units
        self.dropout = dropout
        self.max_questions = max_questions
        self.n_temperatures = n_temperatures
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> GreedySelectionModel:
        return learn(self, GreedySelectionModel, rows, _training(self))


def _training(estimator: GreedySelectionClassifier) -> Any:
    def make(rows: TrainingSet, settings: TrainingSettings) -> Any:
        from farthing.deep.greedy_selection.training import PolicyTraining  # noqa: PLC0415 - it imports PyTorch

        return PolicyTraining(rows, settings, int(estimator.n_temperatures))

    return make
