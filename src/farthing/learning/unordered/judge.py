"""Judge a fitted model by records that lack tests which nobody ordered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, ClassifierModel
from farthing.base.inputs import target_column
from farthing.errors import UnrecordedWarning, warn
from farthing.learning.unordered.estimates import Estimates, estimates
from farthing.learning.unordered.sequential import FLOOR, Sequence
from farthing.table import encode
from farthing.typing import Floats
from farthing.walks import recorded_paths

# Of its questions, the share that records must answer so that the estimates rest on more than a few rows.
_RARE = 0.02


@dataclass(frozen=True, eq=False)
class RecordJudgement:
    """What records say of a policy.

    Attributes
    ----------
    n_rows : int
        Records.
    n_complete : int
        Those that hold all that the policy asks for.
    effective_rows : float
        The number of equally weighted rows that the complete ones are worth.
    floor : float
        Propensities below this count as this.
    clipped : float
        Share of the questions whose propensity is below it.
    spend : Estimates
        The mean spend.
    score : Estimates or None
        The accuracy, or for numbers the mean squared error; None without the truth.
    score_name : str
        ``"accuracy"`` or ``"mean squared error"``.
    asked : dict of str to int
        By feature, the rows whose walk comes to its question.
    recorded : dict of str to int
        Those of them whose record has the answer.
    """

    n_rows: int
    n_complete: int
    effective_rows: float
    floor: float
    clipped: float
    spend: Estimates
    score: Estimates | None
    score_name: str
    asked: dict[str, int]
    recorded: dict[str, int]

    @property
    def unsupported(self) -> tuple[str, ...]:
        """The features that the policy asks for and the records next to never hold where it does."""
        return tuple(name for name, n in self.asked.items() if self.recorded[name] < _RARE * n)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return {
            "rows": self.n_rows,
            "complete": self.n_complete,
            "effective_rows": self.effective_rows,
            "floor": self.floor,
            "clipped": self.clipped,
            "spend": _plain(self.spend),
            "score": None if self.score is None else _plain(self.score),
            "score_name": self.score_name,
            "asked": self.asked,
            "recorded": self.recorded,
            "unsupported": list(self.unsupported),
        }

    def __str__(self) -> str:
        lines = [
            f"Missing entries count as tests that nobody ordered. {self.n_complete} of {self.n_rows} records "
            "hold "
            f"all that the model asks for; they are worth {self.effective_rows:.0f} rows.",
            f"Propensities are at least {self.floor:g}; {100 * self.clipped:.1f} % of the questions are "
            "below.",
            f"{'':20}{'direct':28}{'inverse propensity':28}doubly robust",
        ]
        for name, found in (("mean spend", self.spend), (self.score_name, self.score)):
            if found is not None:
                cells = (found.direct, found.inverse_propensity, found.doubly_robust)
                lines.append(f"{name:20}" + "".join(f"{cell!s:28}" for cell in cells).rstrip())
        if self.unsupported:
            lines.append(f"The records next to never hold what is asked for: {', '.join(self.unsupported)}.")
        return "\n".join(lines)


def judge_records(
    model: BudgetedEstimator, X: Any, y: Any = None, *, floor: float = FLOOR, seed: int = 0
) -> RecordJudgement:
    """Estimate spend and accuracy of a model from records in which a missing entry was never ordered.

    Parameters
    ----------
    model : estimator
        Fitted, on other rows.
    X : array or frame, shape (n_rows, n_features)
        The records.
    y : array, shape (n_rows,), optional
        The truth; without it only the spend is estimated.
    floor : float
        Propensities below this count as this, which bounds weights and adds bias.
    seed : int
        Of the folds.

    Returns
    -------
    RecordJudgement

    Warns
    -----
    UnrecordedWarning
        If the policy asks for what records next to never hold.
    """
    if not 0 < floor <= 1:
        raise ValueError(f"floor must be above 0, and at most 1; got {floor!r}")
    fitted = model.fitted_
    encoded = encode(fitted.schema, X, type(model).__name__, needed=fitted.may_buy())
    values = encoded.values
    recorded = ~np.isnan(values)
    paths = recorded_paths(
        fitted.policy, fitted.costs, values, recorded, n_outputs=len(fitted.prior), budget=fitted.budget
    )
    encoded.check(paths.acquired[:, : fitted.costs.n_columns])
    sequence = Sequence(values, recorded.all(axis=0), paths, fitted.schema, seed)
    propensities = sequence.propensities()
    nuisances = sequence.nuisances(propensities, floor)
    questions = paths.asked >= 0

    def mean_of(outcomes: Floats) -> Estimates:
        return estimates(outcomes, nuisances, sequence.outcome_models(outcomes))

    classifies = isinstance(fitted, ClassifierModel)
    score = None if y is None else mean_of(_scores(fitted, paths.outputs, paths.acquired, y))
    columns = np.unique(paths.asked[questions]).tolist()
    names = fitted.costs.features
    told = np.arange(paths.asked.shape[1]) < paths.n_told[:, np.newaxis]
    found = RecordJudgement(
        n_rows=len(values),
        n_complete=int(paths.complete.sum()),
        effective_rows=nuisances.effective_rows(),
        floor=floor,
        clipped=float(np.mean(propensities[questions] < floor)) if questions.any() else 0.0,
        spend=mean_of(fitted.costs.total_rows(paths.acquired)),
        score=score.within(0.0, 1.0) if score is not None and classifies else score,
        score_name="accuracy" if classifies else "mean squared error",
        asked={names[c]: int((paths.asked == c).sum()) for c in columns},
        recorded={names[c]: int(((paths.asked == c) & told).sum()) for c in columns},
    )
    if found.unsupported:
        warn(
            f"the model asks for {', '.join(found.unsupported)}, which the records next to never hold where "
            "it does; "
            "what happens after these questions is not known, and the estimates leave it out or guess it",
            UnrecordedWarning,
        )
    return found


def _scores(fitted: Any, outputs: Floats, acquired: NDArray[np.bool_], y: Any) -> Floats:
    """Return whether each prediction is right, or its squared error, shape (n_rows,)."""
    truth = target_column(y)
    if len(truth) != len(outputs):
        raise ValueError(f"y has {len(truth)} entries, but there are {len(outputs)} records")
    predicted, _ = fitted.results(fitted.settle(outputs, acquired))
    if isinstance(fitted, ClassifierModel):
        return np.asarray(predicted == truth, dtype=np.float64)
    return np.asarray((predicted - truth.astype(np.float64)) ** 2)


def _plain(found: Estimates) -> dict[str, Any]:
    parts = {
        "direct": found.direct,
        "inverse_propensity": found.inverse_propensity,
        "doubly_robust": found.doubly_robust,
    }
    return {name: {"value": one.value, "interval": list(one.interval)} for name, one in parts.items()}
