"""The miser cascade: what its classifier and regressor share in learning."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from farthing.base import (
    AnyBudgetMixin,
    BudgetKind,
    Frontier,
    Guarantee,
    OnePassMixin,
    Point,
    TrainingSet,
    ValidatedMixin,
)
from farthing.base.inputs import check_cap
from farthing.cascades.miser_cascade.exit_paths import HeldOutScores
from farthing.cascades.miser_cascade.feature_chains import feature_chains
from farthing.cascades.miser_cascade.held_out_rows import held_out_folds, joined
from farthing.cascades.miser_cascade.model import MiserCascadeModel, stages_of
from farthing.cascades.miser_cascade.parameters import CONSTRAINTS
from farthing.cascades.miser_cascade.readout import Readout
from farthing.cascades.miser_cascade.stage_outputs import StageOutputs
from farthing.collective import gather, save, saved
from farthing.costs import CostSheet, CostsLike
from farthing.errors import RepriceError
from farthing.learning.booster import TreeSettings
from farthing.learning.exits import ALWAYS, NEVER, Exits
from farthing.learning.guarantees import GuaranteedMixin, Ladder, nominal_budgets, refuse_hard
from farthing.learning.losses import Loss
from farthing.learning.out_of_fold import Columns, OutOfFoldBooster, OutOfFoldTrainer
from farthing.trees import Forest
from farthing.typing import Floats

ReadoutT = TypeVar("ReadoutT", bound=Readout)


class MiserCascadeBase(OnePassMixin, GuaranteedMixin, AnyBudgetMixin, ValidatedMixin, Generic[ReadoutT]):
    """Learning, and the path of budgets; the two estimators add the loss, the calibration and the risk.

    A subclass may grow its boosters, choose its features or set its exits in another way: by the class
    attributes ``trainer_type`` and ``exits_type``, and by `feature_chains`.
    """

    budget_shares = (
        0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0,
    )  # fmt: skip
    #: Grows the boosters.
    trainer_type: ClassVar[type[OutOfFoldTrainer]] = OutOfFoldTrainer
    #: Sets the thresholds of a chain.
    exits_type: ClassVar[type[Exits]] = Exits
    draws_by_content = True
    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    fitted_: MiserCascadeModel

    def __init__(
        self,
        costs: CostsLike,
        budget: float | None,
        *,
        budget_kind: BudgetKind,
        n_stages: int,
        n_estimators: int,
        n_iter_no_change: int | None,
        learning_rate: float,
        max_depth: int | None,
        max_leaf_nodes: int | None,
        min_samples_leaf: int,
        l2_regularization: float,
        max_bins: int,
        guarantee: Guarantee | None,
        n_folds: int | None,
        ensemble: bool,
        random_state: Any,
        n_jobs: int | None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.budget_kind = budget_kind
        self.n_stages = n_stages
        self.n_estimators = n_estimators
        self.n_iter_no_change = n_iter_no_change
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.guarantee = guarantee
        self.n_folds = n_folds
        self.ensemble = ensemble
        self.random_state = random_state
        self.n_jobs = n_jobs

    # What the classifier and the regressor implement.

    @abstractmethod
    def _loss(self, rows: TrainingSet) -> Loss:
        """Return the loss of the boosters."""

    @abstractmethod
    def _readout(self, trainer: OutOfFoldTrainer, boosters: list[OutOfFoldBooster]) -> ReadoutT:
        """Calibrate the scores of each set on held-out rows, and return how they are read."""

    @abstractmethod
    def _make_model(self, readout: ReadoutT, fields: dict[str, Any]) -> MiserCascadeModel:
        """Return the fitted model, from the fields that both models have and the readout."""

    def _judge(self, readout: ReadoutT, rows: TrainingSet, outputs: Floats) -> Floats:
        """Return the errors that exits minimise, shape (n_rows,), from raw outputs of held-out rows."""
        return readout.errors(rows.target, readout.scores(outputs))

    # Learning.

    def check_collection(self) -> None:
        """Raise TableError if parameters need rows of their own, which stay on their workers."""
        self.refuse_on_collections("guarantee")

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> MiserCascadeModel:
        # Validation rows join the table so that one set of bins serves all. They are held out in every fold,
        # and ``final`` keeps them out of the boosters of the model.
        n_learned = len(rows)
        rows = joined(rows, validation)
        loss = self._loss(rows)
        trainer = self.trainer_type(
            rows,
            loss,
            folds=held_out_folds(rows, n_learned, self.n_folds, self.random_state),
            final=np.arange(n_learned),
            settings=TreeSettings.of(self, len(loss.start(rows.target, rows.weights))),
            max_bins=self.max_bins,
            n_iter_no_change=self.n_iter_no_change,
            ensemble=self.ensemble,
        )
        resumed = saved()
        sets, chains = resumed[0] if resumed else self.feature_chains(trainer)
        if not resumed:
            save((sets, chains))  # if a peer is lost, the choice of features is not made again
        boosters = trainer.boosters(sets)
        readout = self._readout(trainer, boosters)
        stages = StageOutputs.of(trainer, sets, boosters, readout, last=chains[0][-1])
        fields = self._set_exits(rows, sets, chains, readout, stages)
        return self._make_model(readout, fields).at(check_cap(self.budget), self.budget_kind)

    def feature_chains(self, trainer: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        """Return sets of columns, and the chains that lead through them.

        Parameters
        ----------
        trainer : OutOfFoldTrainer
            The rows, the prices, and how trees are grown.

        Returns
        -------
        sets : list of ndarray of int64
            Ascending columns; the first set costs nothing.
        chains : list of list of int
            Places of sets, in the order of the stages.
        """
        return feature_chains(trainer, self.n_stages)

    def _set_exits(
        self,
        rows: TrainingSet,
        sets: list[Columns],
        places: list[list[int]],
        readout: ReadoutT,
        stages: StageOutputs,
    ) -> dict[str, Any]:
        """Set the exits of all budgets by held-out rows; return the fields of the model."""
        chains = _padded(places)
        held_out = rows.take(stages.held_out)

        def of_all(values: Floats) -> Floats:
            """Return what the held-out rows of all peers have, from that of those here, (..., n_rows)."""
            return np.ascontiguousarray(gather(values.T, stages.held_out).T)

        # Risks and errors of at most 20,000 rows, which set the exits and of which the model keeps a part.
        weights = of_all(held_out.weights)
        risks = of_all(np.array([readout.risks(outputs) for outputs in stages.outputs]))
        errors = of_all(np.array([self._judge(readout, held_out, outputs) for outputs in stages.outputs]))
        price = None if rows.errors is None else float(rows.errors.table.max()) or 1.0
        flags = np.array([np.isin(np.arange(len(rows.schema.names)), columns) for columns in sets])
        scores = HeldOutScores(risks, errors, weights, price)
        whole = stages_of(chains[0])
        return {
            **rows.header(prior=stages.prior),
            "forest": Forest.concat(stages.forests),
            "sets": flags,
            "ends": np.cumsum([forest.n_trees for forest in stages.forests], dtype=np.int64),
            # The whole first chain, until `MiserCascadeModel.at` chooses by the budget.
            "chain": whole,
            "thresholds": np.append(np.full(len(whole) - 1, NEVER), ALWAYS),
            "chains": chains,
            "set_risks": np.average(errors, axis=1, weights=weights),
            **scores.exit_path(rows.costs, flags, chains, self.exits_type),
            **scores.kept(),
        }

    # Other budgets and prices.

    def model_at(self, cap: float | None, budget_kind: BudgetKind) -> MiserCascadeModel:
        """Return the fitted model of another budget, which shares what was learned; None means no limit."""
        return self.fitted_.at(cap, budget_kind)

    def held_out_spend(self) -> float | None:
        """Return what this model spent on average on rows held out within the fit; None if unknown."""
        if self.budget_kind == "hard":
            return None
        model = self.fitted_
        return float(model.path_spend[model.path_point(check_cap(self.budget))])

    def guarantee_ladder(self, guarantee: Guarantee) -> Ladder:
        """Return the models of nominal budgets, with exits between the points of the path, too."""
        refuse_hard(self)

        def make(budget: float | None) -> MiserCascadeBase[ReadoutT]:
            if budget is None:
                return self.at(None)
            return self.variant({"budget": budget}, replace(self.fitted_.near(budget), certificate=None))

        return Ladder(tuple(nominal_budgets(self, guarantee)), None, make)

    def repriced(self, costs: CostSheet) -> MiserCascadeModel:
        """Return the fitted model at other prices, with exits that are set anew on the held-out rows."""
        model = self.fitted_
        if model.held_risks is None or model.held_errors is None or model.held_weights is None:
            raise RepriceError("its file is of a version that kept no held-out scores; fit it again")
        paid = [costs.features[column] for column in np.flatnonzero(model.sets[0])]
        if paid and costs.total(paid) > 0:
            names = ", ".join(name for name in paid if costs.price(name) > 0)
            raise RepriceError(f"{names} cost nothing at its fit, and every row gets them; fit it again")
        price = None
        if (priced := getattr(model, "error_costs", None)) is not None:
            price = float(priced.max()) or 1.0
        scores = HeldOutScores(model.held_risks, model.held_errors, model.held_weights, price)
        path = scores.exit_path(costs, model.sets, model.chains, self.exits_type)
        return replace(model, costs=costs, **path).at(check_cap(self.budget), self.budget_kind)

    def path(self) -> Frontier:
        """Return the models of all mean budgets, cheapest first.

        Returns
        -------
        Frontier
            Points with the parameters to change. The spend is the mean over held-out rows, ``max_spend`` the
            largest possible spend of a row; the score is their mean risk, negated.
        """
        check_is_fitted(self)
        model = self.fitted_
        points = []
        for place, spend in enumerate(model.path_spend.tolist()):
            params = {"budget": spend, "budget_kind": "mean"}
            make = partial(self._variant_at, params)
            score = -float(model.path_risk[place])
            points.append(
                Point(type(self).__name__, params, spend, model.max_spend(place), score, source=make)
            )
        costs = model.costs
        return Frontier(
            tuple(points),
            score_name="risk, negated",
            unit=costs.unit,
            full_cost=costs.total(costs.features),
        )

    def _variant_at(self, params: dict[str, Any]) -> Self:
        return self.variant(params, self.model_at(params["budget"], params["budget_kind"]))

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other budgets, see `BudgetedEstimator.variants`; the model itself comes last.

        With a mean budget there are also the models of hard ones: all rows have the same features then, the
        best set that the budget can pay for.
        """
        check_is_fitted(self)
        if self.budget_kind == "mean":
            for budget in self.other_budgets():
                params = {"budget_kind": "hard", "budget": budget}
                # Another budget only takes another chain and other thresholds: nothing is fitted again.
                yield params, self._variant_at(params)
        yield from super().variants()


def _padded(chains: list[list[int]]) -> NDArray[np.int64]:
    """Return chains as rows of one array, with -1 after the end of short ones."""
    length = max(len(chain) for chain in chains)
    return np.array([chain + [-1] * (length - len(chain)) for chain in chains], dtype=np.int64)
