"""Draw docs/consultation.svg, the picture of the README: one patient, test by test.

python tools/draw_consultation.py
"""

import io
from pathlib import Path

from rich.console import Console

from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier

PICTURE = Path(__file__).parents[1] / "docs" / "consultation.svg"


def main() -> None:
    """Walk through the second patient with the model of the README, and write what it says."""
    heart = load_heart_disease()
    model = BudgetTreeClassifier(
        costs=heart.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4
    )
    model.fit(heart.X[2:], heart.y[2:])
    walk, patient = model.walk(), heart.X.iloc[1]
    console = Console(record=True, width=86, file=io.StringIO())
    console.print(f"before any test: heart disease with {walk.decision.probabilities[1]:.0%}\n")
    while (ask := walk.ask) is not None:
        meaning = heart.meanings.get(ask.feature, "").split(":")[0][:38]
        walk.tell(patient[ask.feature])
        console.print(
            f"[bold]{ask.feature:<9}[/] {meaning:<38} [yellow]{ask.price:>7.2f}[/] CAD   "
            f"answer {patient[ask.feature]!s:<5} [cyan]{walk.decision.probabilities[1]:>4.0%}[/]"
        )
    decision = walk.decision
    total = heart.costs.total(heart.costs.features)
    console.print(
        f"\n[bold]decision: {decision.prediction}[/] for {decision.spent:.2f} CAD of 110; "
        f"all 13 tests cost {total:.2f}"
    )
    PICTURE.write_text(console.export_svg(title="One patient, one test at a time"), encoding="utf-8")


if __name__ == "__main__":
    main()
