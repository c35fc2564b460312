"""DIME: a value network estimates what each purchase tells of the label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from farthing.base import ContractClassifier, TrainingSet, register
from farthing.base.parameters import CLASS_WEIGHT, SHARE
from farthing.costs import CostsLike
from farthing.deep.networks.fitting import learn
from farthing.deep.networks.model import GreedyNetworksModel
from farthing.deep.networks.settings import CONSTRAINTS, TrainingSettings, tradeoffs


class InformationGainModel(GreedyNetworksModel):
    """A value network and a predictor; what gains most for its price is bought."""

    by_value = True


@register(
    grid=tradeoffs,
    auto=False,
    trials=[
        {"hidden_units": (8,), "n_epochs": 2, "max_questions": 3, "tradeoff": 0.05},
        {"hidden_units": (6, 5), "n_epochs": 4, "max_questions": 2, "budget": 2.5, "batch_size": 32},
    ],
)
class InformationGainClassifier(ContractClassifier):
    """Buy what tells most of the label for its price, by a network that estimates it (DIME).

    The predictor answers for every set of features. The value network estimates, for each feature, how much
    the log loss will fall if it is bought: its conditional mutual information with the label, given what is
    known, as a share of the entropy of the prediction. It is trained on the falls that are seen, while the
    predictor goes on learning, with fewer and fewer random purchases. A row buys what gains most for its
    price, among what is affordable.

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
        What a unit of price is worth, in nats of the log loss: a row stops when no feature gains more than
        its price is worth. 0 means that prices do not count, but in budgets. None goes on until the budget
        ends.
    hidden_units : sequence of int
        Units of the hidden layers of both networks.
    dropout : float
        The share of hidden units that are left out of a training step.
    max_questions : int
        Most questions of a row in training; a fitted model may ask more.
    exploration : float
        The share of random purchases in the joint training at first. It has four stages; from each to the
        next this falls by a factor of 5.
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
    Gadgil, Covert, Lee: Estimating Conditional Mutual Information for Dynamic Feature Selection. ICLR 2024.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, size=(400, 5)).astype(float)
    >>> y = X[:, 3].astype(int)
    >>> model = InformationGainClassifier(
    ...     tradeoff=0.01, hidden_units=(16,), dropout=0, n_epochs=30, learning_rate=0.01, random_state=0
    ... ).fit(X, y)
    >>> float(model.score(X, y)), model.walk().ask.feature
    (1.0, 'x3')
    """

    model_type = InformationGainModel
    budget_kind = "hard"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "class_weight": CLASS_WEIGHT,
        "exploration": [SHARE],
    }
    fitted_: InformationGainModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        tradeoff: float | None = None,
        hidden_units: Sequence[int] = (128, 128),
        dropout: float = 0.3,
        max_questions: int = 50,
        exploration: float = 0.25,
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
        self.exploration = exploration
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _learn(self, rows: TrainingSet) -> InformationGainModel:
        return learn(self, InformationGainModel, rows, _training(self))


def _training(estimator: InformationGainClassifier) -> Any:
    def make(rows: TrainingSet, settings: TrainingSettings) -> Any:
        from farthing.deep.information_gain.training import ValueTraining  # noqa: PLC0415 - it imports PyTorch

        return ValueTraining(rows, settings, float(estimator.exploration))

    return make
