"""The classifier that chooses feature after feature for each row, by networks."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import ContractClassifier, register, softmax
from farthing.base.threads import one_thread
from farthing.boosting.booster import Floats
from farthing.cascades.dynamic.entries import Reading
from farthing.cascades.dynamic.network import MOST_UNITS, Network
from farthing.cascades.dynamic.purchases import AskingPolicy, Till, buy_rows
from farthing.cascades.dynamic.training import Plan, Training, exact, likings
from farthing.costs import CostSheet
from farthing.forests.bootstrap import Units
from farthing.table import Encoded
from farthing.walks import Policy

# Rows predicted at a time.
_AT_ONCE = 2048
# Columns that tell nothing by themselves are tried all the same, less often.
_SHY = 0.05


@register(
    trials=[
        {"n_units": 16, "n_steps": 40, "batch_rows": 32, "learning_rate": 0.02},
        {"n_units": 8, "n_steps": 10, "batch_rows": 16, "max_features": 4, "n_tried": 2, "budget": 4.0},
    ],
    check_defaults=False,  # thousands of steps, for each of a hundred small fits
)
class DynamicSelectionClassifier(ContractClassifier):
    """A network that foresees what each feature would tell of a row, and one that reads what was bought.

    Each row buys, one after another, the feature of the most gain per price, given all that it has bought
    so far, until its budget is spent. One network for all rows and all sets of features reads the answers;
    so nothing is learned from few rows alone, as the leaves of a tree are. It is the way of dynamic feature
    selection (Covert et al. 2023; Gadgil et al. 2024), with gains that are looked up rather than sampled:
    the chooser learns by least squares how much the reader's belief would change with a feature, the mean
    of which is the information that the feature has of the class, given the others.

    The budget is hard. Sums are exact, so that a walk has the bits of the array calls.

    Parameters
    ----------
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, optional
        What each row may spend; None is the price of everything. The time that learning takes grows with
        the number of features that a row can buy.
    max_features : int, optional
        Most features that are for sale: those that tell the classes apart best by themselves. None is all.
    n_units : int
        Units of each of the two layers of both networks, at most 512.
    n_steps : int
        Steps of learning.
    batch_rows : int
        Rows of each step.
    n_uses : int
        Steps that learn from the same purchases of a row, at other moments of it.
    n_tried : int
        Features whose gain is looked up, for each row of a step.
    learning_rate : float
        The length of the first steps; the last are near zero.
    random_state : int, RandomState or None
        Of the first weights and of which rows buy what, when.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    reading_ : Reading
        The features for sale, and how they are read.
    reader_, chooser_ : Network
        From what is known to scores of the classes, and to the gain of each feature for sale.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = DynamicSelectionClassifier(heart.costs, 20, n_units=16, n_steps=100, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.spend(heart.X).max() <= 20)
    True
    """

    _hard_budget: ClassVar[bool] = True
    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "reading_": Reading,
        "reader_": Network,
        "chooser_": Network,
    }

    def __init__(
        self,
        costs: Any = None,
        budget: float | None = None,
        *,
        max_features: int | None = None,
        n_units: int = 128,
        n_steps: int = 5000,
        batch_rows: int = 128,
        n_uses: int = 2,
        n_tried: int = 24,
        learning_rate: float = 0.001,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.max_features = max_features
        self.n_units = n_units
        self.n_steps = n_steps
        self.batch_rows = batch_rows
        self.n_uses = n_uses
        self.n_tried = n_tried
        self.learning_rate = learning_rate
        self.random_state = random_state

    # Learning.

    def _fit(
        self, values: NDArray[np.floating], target: NDArray[Any], weights: Floats, sheet: CostSheet
    ) -> None:
        self._check_parameters()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        shares = self._default_prior(target, weights)
        self.prior_ = np.log(np.maximum(shares, np.finfo(np.float64).tiny))
        reading = Reading.learn(values, weights, self.schema_)
        liked = likings(reading, values, target, weights)
        if self.max_features is not None:
            kept = np.sort(np.argsort(-liked, kind="stable")[: self.max_features])
            reading, liked = reading.of(kept), liked[kept]
        self.reading_ = reading
        training = Training(
            reading,
            values,
            target,
            Units.of(values, target, weights),
            len(self.classes_),
            till=Till(sheet, reading.columns),
            budget=self.budget_,
            likings=liked + _SHY,
            plan=self._plan(),
            chance=np.random.default_rng(seed),
        )
        with one_thread():
            self.reader_, self.chooser_ = self._learned(training)

    def _learned(self, training: Training) -> tuple[Network, Network]:
        """Go through all rounds."""
        while not training.finished:
            training.round()
        return exact(training)

    def _plan(self) -> Plan:
        return Plan(
            self.n_units, self.n_steps, self.batch_rows, self.n_tried, float(self.learning_rate), self.n_uses
        )

    def _check_parameters(self) -> None:
        for name in ("max_features", "n_units", "n_steps", "batch_rows", "n_uses", "n_tried"):
            value = getattr(self, name)
            if value is None and name == "max_features":
                continue
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1; got {value!r}")
        if self.n_units > MOST_UNITS:
            raise ValueError(f"n_units must be at most {MOST_UNITS}; got {self.n_units}")
        if not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be above 0; got {self.learning_rate!r}")

    # Predicting.

    def _policy(self, seed: int | None) -> Policy:  # noqa: ARG002 - the networks draw no lots
        return AskingPolicy(self.chooser_, self.reader_, self.reading_)

    def _answers(
        self,
        encoded: Encoded,
        budget: Floats | None,
        seeds: NDArray[np.int64] | None,  # noqa: ARG002
    ) -> tuple[Floats, NDArray[np.bool_]]:
        till = Till(self.costs_, self.reading_.columns)
        n_rows = len(encoded.values)
        outputs = np.empty((n_rows, len(self.classes_)))
        acquired = np.empty(encoded.values.shape, dtype=np.bool_)
        for begin in range(0, n_rows, _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            entries = self.reading_.entries(encoded.values[part])
            order = buy_rows(self.chooser_, entries, till, None if budget is None else budget[part])
            known = np.zeros(entries.amount.shape, dtype=np.bool_)
            known[np.nonzero(order >= 0)[0], order[order >= 0]] = True
            outputs[part] = self.reader_.outputs(self.reader_.sums(entries.inputs(known)))
            acquired[part] = till.everything(known)
        return outputs, acquired

    def _conclude(self, outputs: Floats) -> Floats:
        return softmax(outputs)

    # Files.

    def _check_stored(self) -> None:
        super()._check_stored()
        reading, n_columns = self.reading_, len(self.reading_.columns)
        if reading.columns[-1] >= len(self.schema_.names):
            raise ValueError("reading_ has columns that the table has not")
        widths = [max(1, len(self.schema_.columns[column].categories)) for column in reading.columns]
        if np.diff(reading.begin).tolist() != widths:
            raise ValueError("reading_ must have an input for each number and each category")
        for name, n_outputs in (("reader_", len(self.classes_)), ("chooser_", n_columns)):
            network = getattr(self, name)
            if (network.n_inputs, network.n_outputs) != (reading.n_inputs, n_outputs):
                raise ValueError(f"{name} must have {reading.n_inputs} inputs and {n_outputs} outputs")
        if len(self.prior_) != len(self.classes_):
            raise ValueError("prior_ must have a score for each class")
