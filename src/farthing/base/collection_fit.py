"""Fits on Dask collections: every worker fits on its own rows, with the sums of all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state

from farthing.base.fitted import FittedModel
from farthing.base.inputs import warn_one_class
from farthing.base.training_set import TrainingSet
from farthing.costs import CostSheet
from farthing.errors import warn
from farthing.table import Encoded, PreparedTable
from farthing.table.bins import MAX_BINS

if TYPE_CHECKING:
    from farthing.base.estimator import BudgetedEstimator
    from farthing.distributed.fit import PartRows
    from farthing.distributed.passes import Whole
    from farthing.distributed.ranks import ClusterReport


@dataclass(frozen=True, slots=True)
class Learned:
    """What a rank hands back: the model, and the warnings of its fit."""

    model: FittedModel
    warnings: list[tuple[str, type[Warning]]]


@dataclass(frozen=True, slots=True)
class FitPart:
    """Fit an estimator on the rows of one rank.

    Parameters
    ----------
    estimator : BudgetedEstimator
        Not fitted.
    costs : CostSheet
        The prices, in the order of the columns.
    """

    estimator: BudgetedEstimator
    costs: CostSheet

    def __call__(self, part: PartRows) -> Learned:
        """Learn from the rows of a rank, among its peers."""
        rows = TrainingSet(part.table, part.target, part.weights, self.costs, part.whole.classes, part.qid)
        options: dict[str, TrainingSet] = {}
        if (held := part.held_out) is not None:
            table = PreparedTable(rows.schema, Encoded.valid(held.values, rows.schema.columns))
            options["validation"] = replace(
                rows, table=table, target=held.target, weights=held.weights, qid=held.qid
            )
            if rows.classes is not None:
                options["held_out"] = options["validation"]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = self.estimator.fit_rows(rows, **options).fitted_
        return Learned(model, [(str(warning.message), warning.category) for warning in caught])


def learn_collection(
    estimator: BudgetedEstimator, X: Any, y: Any, sample_weight: Any = None, qid: Any = None
) -> tuple[FittedModel, ClusterReport]:
    """Learn from Dask collections on the workers of the active client.

    Parameters
    ----------
    estimator : BudgetedEstimator
        Its parameters count; it is not changed.
    X, y, sample_weight, qid
        As in `BudgetedEstimator.fit`: Dask arrays or dataframes with the same partitions.

    Returns
    -------
    model : FittedModel
        With the bits of a fit on all rows in one process.
    report : ClusterReport
        What the fit took.
    """
    from farthing.distributed.fit import fit_collection  # noqa: PLC0415 - Dask is an extra

    estimator.check_collection()
    # Only a warm start needs what was fitted before.
    sent = estimator if getattr(estimator, "warm_start", False) else clone(estimator)
    if "random_state" in sent.get_params() and sent.random_state is None:
        # One seed for all ranks, drawn here.
        seed = int(check_random_state(None).randint(np.iinfo(np.int32).max))
        sent = clone(sent).set_params(random_state=seed) if sent is not estimator else sent

    def prepare(whole: Whole) -> FitPart:
        warn_one_class(whole.classes)
        return FitPart(sent, estimator.price_columns(whole.schema))

    outcome = fit_collection(
        X,
        y,
        sample_weight,
        qid,
        encode=sent.encode_target,
        prepare=prepare,
        max_bins=getattr(estimator, "max_bins", MAX_BINS),
        estimator=type(estimator).__name__,
        has_classes=is_classifier(sent),
        hold_out=sent.holding_out(),
        keeps_contents=sent.draws_by_content,
    )
    for message, category in outcome.learned.warnings:
        warn(message, category)
    model: FittedModel = outcome.learned.model
    return model, outcome.report
