"""The miser cascade for classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from farthing.base import BudgetKind, Guarantee, PricedErrorsMixin, TrainingSet, documented, register
from farthing.base.error_costs import error_prices
from farthing.base.inputs import check_cap
from farthing.base.parameters import ANY_OR_NONE, BOOLEAN, CLASS_WEIGHT, SHARE, one_of
from farthing.base.priced_errors import ERROR_COSTS
from farthing.cascades.miser_cascade.around_booster import (
    check_booster,
    feature_orders,
    feature_prefixes,
    held_out_rows,
    projections,
    root_scores,
    scores_of,
    temperature,
)
from farthing.cascades.miser_cascade.base import MiserCascadeBase
from farthing.cascades.miser_cascade.classifier_model import MiserCascadeClassifierModel
from farthing.cascades.miser_cascade.grid import cascade_auto, cascade_grid, cascade_is_preferred
from farthing.cascades.miser_cascade.model import MiserCascadeModel
from farthing.cascades.miser_cascade.parameters import CONSTRAINTS, TEXTS
from farthing.cascades.miser_cascade.readout import ClassReadout
from farthing.cascades.miser_cascade.stage_outputs import StageOutputs
from farthing.collective import gather
from farthing.costs import CostsLike
from farthing.learning.calibration import temperature_of
from farthing.learning.losses import Loss, classification_loss, scores_to_probabilities
from farthing.learning.multi_strategy import MULTI_STRATEGY, MULTI_STRATEGY_TEXT, MultiStrategy
from farthing.learning.out_of_fold import OutOfFoldBooster, OutOfFoldTrainer
from farthing.learning.unordered import UnorderedMixin
from farthing.typing import Floats

Exit: TypeAlias = Literal["confidence", "learned"]


@register(
    grid=cascade_grid,
    auto=cascade_auto,
    rank=1,
    time_rank=6,
    preferred=cascade_is_preferred,
    trials=[
        {"n_stages": 2, "n_estimators": 2, "max_depth": 2, "n_folds": 2},
        {"n_stages": 1, "n_estimators": 2, "max_depth": 2, "n_folds": 1, "error_costs": 50.0},
        {
            "n_stages": 3,
            "n_estimators": 2,
            "max_depth": 2,
            "n_folds": 1,
            "budget": 2.5,
            "budget_kind": "hard",
            "curtail": True,
            "multi_strategy": "multi_output_tree",
        },
    ],
)
@documented(TEXTS | {"multi_strategy": MULTI_STRATEGY_TEXT, "error_costs": ERROR_COSTS})
class MiserCascadeClassifier(UnorderedMixin, PricedErrorsMixin, MiserCascadeBase[ClassReadout]):
    """Stages that own more and more features, boosted trees at each, and exits set jointly for the budget.

    A Greedy Miser of falling trade-off chooses which features to buy, and in which order; forward selection
    on held-out rows gives another order, and misers with hard budgets give those for small budgets. Each
    stage owns a prefix of such an order and has a booster over all that it owns, which is free by then; its
    probabilities are calibrated on held-out rows. A row stops at the first stage where its risk, the error
    that the probabilities expect, is at most the stage's threshold. The thresholds of all stages are set
    jointly for every mean budget at once (`farthing.learning.exits`), so one fit gives the whole frontier:
    `at`, `path`.

    With ``budget_kind="hard"`` no row stops early: each goes to the last stage that it can pay for.

    Parameters
    ----------
    {parameters}
    exit : {"confidence", "learned"}
        What thresholds are compared with: the error that the calibrated probabilities expect, or the gain of
        going on as predicted by a gate, trees over the owned features that are grown on held-out rows.
    trust : float
        What exits minimise on held-out rows: this share of the error that the calibrated stage expects, plus
        the rest of the error that was made. The first is less noisy, the second does not rely on the model.
    curtail : bool
        Whether a row, at the stage where it must stop in any case, asks no further once its label is certain.
        Labels stay the same and cost less; the probabilities are then those of the middle between the bounds
        of the scores, and array calls take longer. Not with ``exit="learned"``, nor with
        ``error_costs``.
    class_weight : dict, "balanced" or None
        Weights of the classes, times ``sample_weight``, in learning and in setting exits.
    {multi_strategy}
    {error_costs} Exits minimise them, those of each held-out row, in place of the number
        of errors; without a budget the cascade with the least total cost, errors and features, is chosen.
        Boosters and their calibration are as without them.

    Attributes
    ----------
    classes_ : ndarray, shape (n_classes,)
        The labels.
    error_costs_ : ndarray of float64, shape (n_classes, n_classes), or None
        As given.
    temperatures_ : ndarray of float64, shape (n_sets,)
        Divisor of each booster's scores.
    {attributes}

    References
    ----------
    Xu, Weinberger, Chapelle: The Greedy Miser. ICML 2012. Section 6 leaves the combination with cascades to
    future work.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = MiserCascadeClassifier(costs=heart.costs, budget=20, n_estimators=20, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> bool(model.at(200).spend(heart.X).mean() > model.spend(heart.X).mean())
    True
    """

    model_type = MiserCascadeClassifierModel
    price_parameters = ("error_costs",)
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "exit": [one_of("confidence", "learned")],
        "trust": [SHARE],
        "curtail": [BOOLEAN],
        "class_weight": CLASS_WEIGHT,
        "multi_strategy": MULTI_STRATEGY,
        "error_costs": ANY_OR_NONE,
    }

    fitted_: MiserCascadeClassifierModel

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | None = None,
        *,
        budget_kind: BudgetKind = "mean",
        n_stages: int = 20,
        n_estimators: int = 100,
        n_iter_no_change: int | None = 10,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 1.0,
        max_bins: int = 255,
        exit: Exit = "confidence",
        trust: float = 0.5,
        curtail: bool = False,
        class_weight: Any = None,
        multi_strategy: MultiStrategy = "auto",
        error_costs: Any = None,
        guarantee: Guarantee | None = None,
        n_folds: int | None = None,
        ensemble: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            budget,
            budget_kind=budget_kind,
            n_stages=n_stages,
            n_estimators=n_estimators,
            n_iter_no_change=n_iter_no_change,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            l2_regularization=l2_regularization,
            max_bins=max_bins,
            guarantee=guarantee,
            n_folds=n_folds,
            ensemble=ensemble,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.exit = exit
        self.trust = trust
        self.curtail = curtail
        self.class_weight = class_weight
        self.multi_strategy = multi_strategy
        self.error_costs = error_costs

    @classmethod
    def around(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Cut a booster that exists already into stages, without growing a tree.

        Each stage has the trees of the booster projected on the features that it owns: a test of another
        feature is averaged out (`farthing.trees.projected`). The last stage is the booster itself, up to
        rounding and its temperature. Features are bought by how much of the booster's output they explain per
        price, by that alone, or the cheapest first: whichever is best for the budget on these rows.

        Parameters
        ----------
        model : classifier
            Fitted and boosted: of LightGBM, XGBoost, CatBoost or scikit-learn through
            `farthing.forests.from_model`, or of this library, such as `GreedyMiserClassifier`.
        X : array or frame, shape (n_rows, n_features)
            Rows that the booster was not trained on, or the exits would trust it too much.
        y : array, shape (n_rows,)
            Their labels.
        sample_weight : array, shape (n_rows,), optional
            Weights; rows of weight zero are ignored.
        **params
            Parameters of the cascade; those that grow trees have no effect. ``costs`` replaces the prices of
            the model.

        Returns
        -------
        MiserCascadeClassifier
            Fitted; `at` gives any other budget.

        Examples
        --------
        >>> from sklearn.ensemble import HistGradientBoostingClassifier
        >>> from farthing.datasets import load_heart_disease
        >>> from farthing.forests import from_model
        >>> heart = load_heart_disease()
        >>> X = heart.X.astype(float)
        >>> booster = HistGradientBoostingClassifier(max_iter=30).fit(X[:150], heart.y[:150])
        >>> model = from_model(booster, costs=heart.costs)
        >>> cascade = MiserCascadeClassifier.around(model, X[150:], heart.y[150:], budget=50)
        >>> bool(cascade.spend(X[150:]).mean() <= 50 < model.spend(X[150:]).mean())
        True
        """
        return cls(**{"costs": model.costs, **params}).wrap(model, X, y, sample_weight)

    def wrap(self, model: Any, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Cut a fitted booster into stages, with the parameters of this cascade; see `around`."""
        self._validate_params()
        if self.exit == "learned":
            raise ValueError("exit='learned' grows gates; leave it out, or fit the cascade")
        booster = check_booster(model)
        rows = held_out_rows(booster, X, y, sample_weight, self.costs)
        if self.error_costs is not None:
            rows = replace(rows, errors=error_prices(self.error_costs, rows))
        sets, chains = feature_prefixes(feature_orders(booster, rows.costs), rows.costs, self.n_stages)
        forests = projections(booster, sets)
        scores = scores_of(forests, rows, self.n_threads())
        readout = ClassReadout(
            rows.n_classes,
            np.array([temperature(rows, each) for each in scores]),
            None if rows.errors is None else rows.errors.table,
            gated=False,
        )
        stages = StageOutputs(
            np.arange(len(rows)),
            [readout.read(place, each) for place, each in enumerate(scores)],
            forests,
            # Without any feature, the booster's mean over its training rows.
            root_scores(booster),
        )
        fields = self._set_exits(rows, sets, chains, readout, stages)
        cascade = self._make_model(readout, fields)
        return self.adopt(cascade.at(check_cap(self.budget), self.budget_kind))

    def decision_function(self, X: Any, *, budget: Any = None, seeds: Any = None) -> Floats:
        """Return the scores that the probabilities come from; parameters as in `predict`.

        Returns
        -------
        ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
            Log-odds of the second of two classes, or one score per class.
        """
        outputs, _ = self.raw_outputs(X, budget=budget, seeds=seeds)
        scores = self.fitted_.readout.scores(outputs)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _learn(self, rows: TrainingSet, *, validation: TrainingSet | None = None) -> MiserCascadeModel:
        for name, clashes in (
            ("exit='learned'", self.exit == "learned"),
            ("error_costs", rows.errors is not None),
        ):
            if self.curtail and clashes:
                raise ValueError(f"curtail=True cannot be combined with {name}; leave out one of them")
        return super()._learn(rows, validation=validation)

    def _loss(self, rows: TrainingSet) -> Loss:
        return classification_loss(rows.n_classes)

    def _readout(self, trainer: OutOfFoldTrainer, boosters: list[OutOfFoldBooster]) -> ClassReadout:
        n_classes = trainer.rows.n_classes
        return ClassReadout(
            n_classes,
            self.temperatures(trainer, boosters),
            None if trainer.rows.errors is None else trainer.rows.errors.table,
            gated=self.exit == "learned",
        )

    def temperatures(self, trainer: OutOfFoldTrainer, boosters: list[OutOfFoldBooster]) -> Floats:
        """Return the temperature of each booster's scores, fitted on held-out rows, shape (n_sets,)."""
        held_out, rows = trainer.held_out, trainer.rows
        temperatures = np.ones(len(boosters))

        def of_all(values: Any) -> Any:
            return gather(values, held_out)

        target, weights = of_all(rows.target[held_out]), of_all(rows.weights[held_out])
        for place, booster in enumerate(boosters):
            # Without a round the scores are the prior, which is calibrated already.
            if booster.n_rounds:
                # Those of all peers: each of them then finds the same temperature.
                scores = of_all(np.ascontiguousarray(booster.held_out[:, held_out].T))
                probabilities = scores_to_probabilities(scores, rows.n_classes)
                temperatures[place] = temperature_of(probabilities, target, weights)
        return temperatures

    def _judge(self, readout: ClassReadout, rows: TrainingSet, outputs: Floats) -> Floats:
        # The errors made are unbiased but 0 or 1; the expected ones are smooth but trust the calibration.
        scores = readout.scores(outputs)
        made = readout.errors(rows.target, scores)
        if rows.errors is not None:
            labels = readout.labels(readout.probabilities(scores))
            made = rows.errors.rows[np.arange(len(labels)), labels]
        return np.asarray(self.trust * readout.expected_errors(outputs) + (1 - self.trust) * made)

    def _make_model(self, readout: ClassReadout, fields: dict[str, Any]) -> MiserCascadeClassifierModel:
        return MiserCascadeClassifierModel(
            **fields,
            temperatures=readout.temperatures,
            exit=str(self.exit),
            curtail=bool(self.curtail),
        )
