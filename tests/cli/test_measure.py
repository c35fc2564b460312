"""``farthing measure``: the times of blocks as a price list."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from typer.testing import CliRunner

from farthing import CostSheet, LazyPipeline
from farthing.cli.commands import app
from farthing.forests import BudgetTreeClassifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("measure")
    frame = pd.DataFrame({"a": [1.0, 2, 3, 4] * 5, "b": [4.0, 1, 3, 2] * 5})
    frame.to_csv(made / "rows.csv", index=False)
    blocks = [("scaled", StandardScaler(), ["a"]), ("products", PolynomialFeatures(), ["a", "b"])]
    model = BudgetTreeClassifier(max_depth=2)
    LazyPipeline(blocks, model, costs={"scaled": 1, "products": 2}).fit(frame, frame["a"] > 2).save(
        made / "p.farthing"
    )
    return made


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["measure", *map(str, arguments)])
    return result.exit_code, result.output


def test_prices_are_written_with_medians_and_spreads(folder: Path) -> None:
    output = folder / "prices.toml"
    code, said = run(folder / "p.farthing", folder / "rows.csv", "-o", output, "--repeats", 2, "--unit", "ms")
    assert code == 0, said
    assert f"wrote {output}" in said.replace("\n", "")
    sheet = CostSheet.read(output)
    assert sheet.unit == "ms"
    assert sheet.group_names == ("products",)
    assert sheet.price("scaled__a") > 0
    assert "# scaled: " in output.read_text()
    assert "for a row alone" in output.read_text()


def test_prices_are_printed_and_can_be_read(folder: Path) -> None:
    code, said = run(folder / "p.farthing", folder / "rows.csv", "--repeats", 1, "--per", "row")
    assert code == 0, said
    (folder / "printed.toml").write_text(said)
    assert CostSheet.read(folder / "printed.toml").unit == "us"


@pytest.mark.parametrize(
    ("options", "message"),
    [(["-o", "prices.csv"], "expected .toml"), (["--per", "day"], "per must be"), (["--column", "c"], "'c'")],
)
def test_bad_options_are_named(folder: Path, options: list[str], message: str) -> None:
    code, said = run(folder / "p.farthing", folder / "rows.csv", *options)
    assert code != 0
    assert message in said
