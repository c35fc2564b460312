"""Make the bundled tables and price lists from the folder of parquet tables that FARTHING_DATA names.

Run once, and again only when a source table changes; the results are committed::

    FARTHING_DATA=folder python tools/bundle_tables.py

Each table becomes two plain files in ``src/farthing/datasets/tables``: ``<name>.csv`` (features, then
``split`` where there is an official one, then ``target``; a missing value is an empty field) and
``<name>_costs.csv`` in the format that ``CostSheet.read`` takes. What the columns mean is written by hand in
``columns.csv`` beside them.
"""

import csv
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

TABLES = Path(__file__).parents[1] / "src" / "farthing" / "datasets" / "tables"


@dataclass(frozen=True)
class Recipe:
    """How one source table becomes a bundled one."""

    source: str
    # The source calls its groups A, B, C; a name says what is shared.
    groups: dict[str, str]
    # Target values to write instead of the source's.
    target: dict[int, int] = field(default_factory=dict)
    # Features without a published price.
    unpriced: tuple[str, ...] = ()


RECIPES = {
    "heart_disease": Recipe(
        source="heart_cleveland",
        groups={"A": "blood", "B": "thallium", "C": "exercise_ecg"},
        target={0: 0, 1: 1, 2: 1, 3: 1, 4: 1},
    ),
    "pima_diabetes": Recipe(source="pima_diabetes", groups={"A": "blood"}),
    "hepatitis": Recipe(source="hepatitis", groups={"A": "blood"}),
    "bupa_liver": Recipe(source="bupa_liver", groups={"A": "blood"}),
    "thyroid": Recipe(source="thyroid_ann", groups={"A": "blood"}, unpriced=("FTI",)),
}


def bundle_table(name: str, recipe: Recipe, folder: Path) -> None:
    """Write ``<name>.csv``: no index, missing values empty, floats in the shortest form that reads back."""
    table = pd.read_parquet(folder / f"{recipe.source}.parquet").drop(columns=list(recipe.unpriced))
    if recipe.target:
        table["target"] = table["target"].map(recipe.target)
    table.to_csv(TABLES / f"{name}.csv", index=False, lineterminator="\n")


def bundle_costs(name: str, recipe: Recipe, folder: Path) -> None:
    """Write ``<name>_costs.csv``: the priced features, with the prices as the source spells them."""
    columns = ["feature", "cost", "group", "group_cost"]
    with (folder / "costs" / f"{recipe.source}.csv").open(newline="") as file:
        prices = [row for row in csv.DictReader(file) if row["feature"] not in recipe.unpriced]
    with (TABLES / f"{name}_costs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        for row in prices:
            writer.writerow(row | {"group": recipe.groups[row["group"]] if row["group"] else ""})


def main() -> None:
    """Bundle every table of RECIPES."""
    if "FARTHING_DATA" not in os.environ:
        sys.exit("Set FARTHING_DATA to the folder that holds the parquet tables and the folder costs/.")
    folder = Path(os.environ["FARTHING_DATA"])
    TABLES.mkdir(parents=True, exist_ok=True)
    for name, recipe in RECIPES.items():
        bundle_table(name, recipe, folder)
        bundle_costs(name, recipe, folder)
        print(f"{name}: {(TABLES / f'{name}.csv').stat().st_size} bytes")


if __name__ == "__main__":
    main()
