"""A consultation in panels: tests that are likely to be needed are ordered at one visit.

Run it with ``python -m examples.panel_consultation``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farthing import CostSheet, Decision
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetForestClassifier

# What the tests take of a patient's time, beside money: assumptions of this example.
MINUTES = {
    "costs": {"cp": 3, "trestbps": 5, "restecg": 10, "ca": 60, "thal": 120},
    "groups": {"blood": 10, "exercise_ecg": 30, "thallium": 60},
}


def prices() -> CostSheet:
    """Return the prices of the table, with minutes as a second currency."""
    sheet = load_heart_disease().costs
    own = dict(zip(sheet.features, sheet.own.tolist(), strict=True))
    return CostSheet(own, sheet.groups, sheet.unit, resources={"minutes": MINUTES})


def fitted_forest() -> BudgetForestClassifier:
    """Fit a small forest on all patients but the first ten."""
    heart = load_heart_disease()
    forest = BudgetForestClassifier(costs=prices(), n_estimators=5, min_samples_leaf=5, random_state=0)
    return forest.fit(heart.X[10:], heart.y[10:])


def consulted(
    forest: BudgetForestClassifier, patient: Mapping[str, Any], k: int, budget: Mapping[str, float]
) -> tuple[Decision, list[list[str]], float]:
    """Return the decision, what was ordered at each visit, and the minutes that the visits took."""
    walk = forest.walk(budget=budget)
    while panel := walk.panel(k):
        walk.tell_panel({ask.feature: patient[ask.feature] for ask in panel})
    return walk.decision, [list(visit) for visit in walk.history], walk.waited("minutes")


def main() -> None:
    """Consult about one patient, one test at a time and in panels of three."""
    forest, patient = fitted_forest(), load_heart_disease().X.iloc[1].to_dict()
    for k in (1, 3):
        decision, visits, minutes = consulted(forest, patient, k, {"CAD": 300, "minutes": 240})
        print(
            f"panels of at most {k}: {decision.prediction} for {decision.spent:.2f} CAD, {len(visits)} visits"
        )
        for visit in visits:
            print("  ", ", ".join(visit))
        print(f"   minutes of tests: {decision.resources['minutes']:g}, of waiting: {minutes:g}")


if __name__ == "__main__":
    main()
