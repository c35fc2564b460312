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
def audit(
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
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model spends on a table: on average, by feature and by group."""
    with clear_errors():
        from farthing.report.audit import audit as account_of  # noqa: PLC0415 - slow to import

        fitted = _read(model)
        frame = for_model(read_table(table, separator), fitted)
        sheet: Any = fitted.costs_
        if costs is not None:
            sheet = read_costs(costs, list(fitted.costs_.features[: fitted.costs_.n_columns]))
        # Models of other libraries have no prices.
        elif model.suffix != ".farthing":
            warn("no price list is given, so every feature costs 1; see --costs")
        found = account_of(fitted, frame, sheet)
        certificate = fitted.fitted_.certificate
    payload = {
        "rows": found.n_rows,
        "mean": found.mean,
        "unit": found.sheet.unit,
        "quantiles": {str(q): cost for q, cost in found.quantiles.items()},
        "features": found.features(),
        "groups": found.groups(),
        "guarantee": None if certificate is None else asdict(certificate),
    }
    text = str(found) if certificate is None else f"{found}\n\nGuaranteed: {certificate}"
    emit(payload, text, as_json=as_json)


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
