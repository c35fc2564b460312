"""Predictions of the chosen model for rows that it was not fitted on, fold by fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from farthing.deadline import DeadlineReached, deadline
from farthing.frontier.data_split import SweepRows
from farthing.report.report_run import FOLD, N_FOLDS, ReportRun
from farthing.typing import Floats, Integers


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for the rows of the folds that there was time for.

    Attributes
    ----------
    rows : ndarray of int64, shape (n_held_out,)
        Which rows of the table they are.
    predicted : ndarray of float64, shape (n_held_out, n_classes) or (n_held_out, 1)
        Probabilities in the order of the labels, or values.
    """

    rows: Integers
    predicted: Floats


def hold_out(model: Any, X: Any, rows: SweepRows, labels: NDArray[Any], run: ReportRun) -> HeldOut | None:
    """Fit a model on folds, and predict the rows that each leaves out.

    Parameters
    ----------
    model : estimator
        The chosen model; it is cloned.
    X : array or frame, shape (n_rows, n_features)
        The rows.
    rows : SweepRows
        Their targets, weights and queries.
    labels : ndarray, shape (n_classes,)
        The classes; empty for a regressor.
    run : ReportRun
        The time; folds that it does not allow are left out, and named in its ``left_out``.

    Returns
    -------
    HeldOut or None
        None if there was no time for any fold.
    """
    found: list[tuple[Integers, Floats]] = []
    for learn, evaluate in _folds(model, X, rows):
        if run.fold_is_late():
            run.skip(FOLD)
            continue
        try:
            with deadline(run.folds_end), run.step(FOLD):
                part = rows.take(learn)
                fitted = clone(model).fit(_safe_indexing(X, learn), part.y, **part.fit_options(model))
                found.append((evaluate, _predicted(fitted, _safe_indexing(X, evaluate), labels)))
        except DeadlineReached:
            run.skip(FOLD)
    if len(found) < N_FOLDS:
        run.left_out.append(
            f"Predictions of held-out rows are those of {len(found)} of {N_FOLDS} folds: "
            f"{sum(len(rows) for rows, _ in found)} rows."
            if found
            else "There are no predictions of held-out rows, which take fits on folds."
        )
    if not found:
        return None
    return HeldOut(np.concatenate([rows for rows, _ in found]), np.concatenate([said for _, said in found]))


def _folds(model: Any, X: Any, rows: SweepRows) -> list[tuple[Integers, Integers]]:
    if rows.qid is not None:
        return list(GroupKFold(N_FOLDS).split(X, rows.y, rows.qid))
    kind = KFold
    # Stratified folds need a row of each class per fold.
    if is_classifier(model) and int(np.unique(rows.y, return_counts=True)[1].min()) >= N_FOLDS:
        kind = StratifiedKFold
    return list(kind(N_FOLDS, shuffle=True, random_state=0).split(X, rows.y))


def _predicted(model: Any, X: Any, labels: NDArray[Any]) -> Floats:
    if not is_classifier(model):
        return np.asarray(model.predict(X), dtype=np.float64)[:, np.newaxis]
    # The rows of a fold may lack a rare class.
    probabilities: Floats = np.zeros((len(X), len(labels)))
    probabilities[:, np.searchsorted(labels, model.classes_)] = model.predict_proba(X)
    return probabilities
