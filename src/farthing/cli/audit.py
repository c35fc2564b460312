"""``farthing audit``: what a model spends, including models of LightGBM and XGBoost."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from farthing.cli.app import app
from farthing.cli.options import Separator
from farthing.cli.output import AsJson, clear_errors, emit, warn
from farthing.cli.problem import read_costs
from farthing.cli.tables import for_model, read_table
from farthing.errors import ModelImportError


@app.command()
def audit(  # noqa: PLR0917 - typer takes the options from here
    model: Annotated[
        Path, typer.Argument(help="A model of Farthing, or of LightGBM (.txt) or XGBoost (.json, .ubj).")
    ],
    table: Annotated[
        Path,
        typer.Argument(
            help="A CSV, TSV, Parquet or Feather file; columns that the model does not know are ignored."
        ),
    ],
    costs: Annotated[Path | None, typer.Option(help="The price list: TOML, JSON or CSV.")] = None,
    reprice: Annotated[
        bool, typer.Option(help="Set exits and prunings anew at the prices of --costs, without a new fit.")
    ] = False,
    refit_on: Annotated[
        Path | None,
        typer.Option(help="With --reprice: rows to fit on at the new prices, to see what repricing loses."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="The column of the table with the truth: its calibration is compared with that at fit. "
            "Needed for --refit-on."
        ),
    ] = None,
    missing: Annotated[
        str,
        typer.Option(
            help="What a missing entry means: measured, or unordered, a test that nobody ordered; then spend "
            "and accuracy are estimated from what the records hold."
        ),
    ] = "measured",
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model spends on a table: on average, by feature and by group.

    If the model's file says what it did at fit, as those of ``farthing fit`` do, the verdict on drift comes
    first.
    """
    with clear_errors():
        from farthing.report.audit import audit as account_of  # noqa: PLC0415 - slow to import

        fitted = _read(model)
        if reprice and costs is None:
            raise ValueError("--reprice needs the new prices; see --costs")
        if refit_on is not None and not (reprice and target):
            raise ValueError("--refit-on needs --reprice, and --target with the column to predict")
        rows = read_table(table, separator)
        frame = for_model(rows, fitted)
        sheet: Any = fitted.costs_
        if costs is not None:
            sheet = read_costs(costs, list(fitted.costs_.features[: fitted.costs_.n_columns]))
        # Models of other libraries have no prices.
        elif model.suffix != ".farthing":
            warn("no price list is given, so every feature costs 1; see --costs")
        lost = None
        if reprice:
            if refit_on is not None and target is not None:
                lost = _loss(fitted, sheet, read_table(refit_on, separator), rows, target)
            fitted = fitted.reprice(sheet)
            sheet = fitted.costs_
        found = account_of(fitted, frame, sheet, y=_truth(rows, target), missing=missing)
        certificate = fitted.fitted_.certificate
    payload = {
        "rows": found.n_rows,
        "mean": found.mean,
        **(
            {
                "resources": {
                    name: {"mean": mean, "max": most} for name, (mean, most) in found.resources.items()
                }
            }
            if found.resources
            else {}
        ),
        "unit": found.sheet.unit,
        "quantiles": {str(q): cost for q, cost in found.quantiles.items()},
        "features": found.features(),
        "groups": found.groups(),
        "guarantee": None if certificate is None else asdict(certificate),
        "drift": None if found.drift is None else found.drift.to_dict(),
        "records": None if found.records is None else found.records.to_dict(),
        "reprice": None if lost is None else asdict(lost) | {"loss": lost.loss},
    }
    text = str(found) if certificate is None else f"{found}\n\nGuaranteed: {certificate}"
    emit(payload, text if lost is None else f"{text}\n\n{str(lost).capitalize()}", as_json=as_json)


def _truth(rows: Any, target: str | None) -> Any:
    """Return the column with the truth, if one is named."""
    if target is None:
        return None
    if target not in rows.columns:
        raise ValueError(f"the table has no column {target!r}; it has {', '.join(map(str, rows.columns))}")
    return rows[target].to_numpy()


def _loss(fitted: Any, sheet: Any, learn: Any, test: Any, target: str) -> Any:
    """Return what repricing loses against a new fit."""
    from farthing.report.reprice_loss import reprice_loss  # noqa: PLC0415 - slow to import

    for name, rows in (("--refit-on", learn), ("the table", test)):
        if target not in rows.columns:
            raise ValueError(f"{name} has no column {target!r}; it has {', '.join(map(str, rows.columns))}")
    parts = [(for_model(rows, fitted), rows[target].to_numpy()) for rows in (learn, test)]
    return reprice_loss(fitted, sheet, parts[0], parts[1])


def _read(path: Path) -> Any:
    from farthing.base import load_model  # noqa: PLC0415 - slow to import
    from farthing.forests import from_model  # noqa: PLC0415

    if not path.exists():
        raise ModelImportError(f"there is no file {str(path)!r}")
    if path.suffix == ".txt":
        import lightgbm  # noqa: PLC0415 - only for its models

        return from_model(lightgbm.Booster(model_file=str(path)))
    if path.suffix in (".json", ".ubj"):
        import xgboost  # noqa: PLC0415 - only for its models

        booster = xgboost.Booster()
        booster.load_model(str(path))
        return from_model(booster)
    return load_model(path)
