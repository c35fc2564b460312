"""A table of one's own, with prices, as files."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from farthing.cli.commands import app


@pytest.fixture(scope="session")
def run():
    """Run a command; returns exit code, standard output and standard error."""

    def call(*arguments, given=None):
        done = CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stdout, done.stderr

    return call


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    """A folder with visitors.csv, visitors.parquet and prices.toml."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(0)
    n = 240
    age = rng.integers(18, 80, n).astype(float)
    score = rng.normal(size=n)
    city = rng.choice(["Bonn", "Graz", "Oslo"], n)
    bought = np.where((age > 45) & (city != "Oslo") | (score > 1), "yes", "no")
    age[rng.random(n) < 0.1] = np.nan
    frame = pd.DataFrame({"age": age, "score": score, "city": city, "bought": bought})
    frame.to_csv(folder / "visitors.csv", index=False)
    frame.to_parquet(folder / "visitors.parquet")
    (folder / "prices.toml").write_text('unit = "EUR"\n[costs]\nage = 1\nscore = 5\ncity = 2\n')
    return folder
