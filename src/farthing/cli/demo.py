"""``farthing demo``: heart disease at 100 dollars a patient on average, from prices to one patient."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farthing.cli.app import app
from farthing.cli.ask import summarize_decision
from farthing.cli.destinations import lacking_for_report
from farthing.cli.fit import fit
from farthing.cli.output import AsJson, clear_errors, emit

if TYPE_CHECKING:
    from farthing.costs import CostSheet

BUDGET = 100
PATIENT = 1


@app.command()
def demo(
    folder: Annotated[
        Path, typer.Argument(help="Where to write the table, prices, model and report.")
    ] = Path("farthing-demo"),
    jobs: Annotated[int, typer.Option(help="Number of parallel jobs; -1 uses all cores.")] = -1,
    as_json: AsJson = False,
) -> None:
    """Fit heart disease at 100 dollars a patient on average, write a report, and predict one patient.

    Without the packages of the extra ``report`` there is no report and no plot.
    """
    with clear_errors():
        from farthing.datasets import load_heart_disease  # noqa: PLC0415 - slow to import

        heart = load_heart_disease()
        folder.mkdir(parents=True, exist_ok=True)
        table, prices = folder / "heart.csv", folder / "prices.json"
        model = folder / "model.farthing"
        lacking = lacking_for_report()
        report = None if lacking else folder / "report.html"
        # The patient who is predicted at the end is left out of the fit.
        kept = heart.X.drop(index=heart.X.index[PATIENT])
        disease = ["yes" if label else "no" for label in heart.y]
        kept.assign(disease=[d for row, d in enumerate(disease) if row != PATIENT]).to_csv(table, index=False)
        prices.write_text(json.dumps(_price_list(heart.costs), indent=2), encoding="utf-8")
    if not as_json:
        command = f"farthing fit {table} disease --costs {prices} --budget {BUDGET} -o {model}"
        command += f" --report {report}" if report else ""
        typer.echo(
            f"The budget is {BUDGET} {heart.costs.unit} a patient on average: a clear case is decided for "
            "less, a hard one may cost more.\nWith --kind hard no patient would cost more than that.\n\n"
            f"$ {command}\n"
        )
    # The command that was printed, so that the user can repeat it.
    made = fit(
        table,
        "disease",
        costs=prices,
        budget=[str(BUDGET)],
        output=model,
        report=report,
        jobs=jobs,
        as_json=as_json,
    )
    if report:
        made.frontier_.plot().figure.savefig(folder / "frontier.png", dpi=110)
    if as_json:
        return
    from farthing.base import load  # noqa: PLC0415 - slow to import

    loaded, patient = load(model), heart.X.iloc[PATIENT]
    walk = loaded.walk()
    prior = summarize_decision(walk.decision, loaded.labels_)
    typer.echo(f"\nOne patient, whom the model has not seen. Prediction before any test: {prior}\n")
    while (question := walk.ask) is not None:
        answer = patient[question.feature]
        walk.tell(answer)
        meaning = heart.meanings.get(question.feature, "")
        typer.echo(
            f"{question.feature:>9} = {answer!s:<6} {question.price:>7.2f}   spent {walk.spent:>7.2f}   "
            f"{summarize_decision(walk.decision, loaded.labels_):<18} {meaning}"
        )
    decision = walk.decision
    next_step = (
        f"Open {report} in a browser."
        if report
        else f"A report needs {' and '.join(lacking)}: pip install 'farthing[report]'"
    )
    emit({}, f"\nDisease: {decision.prediction}, for {decision.spent:.2f} {heart.costs.unit}"
         f"{_beside_the_budget(decision.spent)}. True label: {disease[PATIENT]}. {next_step}",
         as_json=False)  # fmt: skip


def _beside_the_budget(spent: float) -> str:
    if spent > BUDGET:
        return f", more than the {BUDGET} that patients may cost on average"
    return ""


def _price_list(sheet: CostSheet) -> dict[str, Any]:
    """Return a cost sheet as the content of a JSON price list."""
    groups = {
        name: {"cost": group.cost, "members": list(group.members)} for name, group in sheet.groups.items()
    }
    costs = dict(zip(sheet.features, sheet.own.tolist(), strict=True))
    return {"unit": sheet.unit, "costs": costs, "groups": groups}
