"""`farthing doctor` and `farthing --version`."""

import json
import re
import tomllib
from pathlib import Path

from typer.testing import CliRunner

import farthing
from farthing.cli import doctor
from farthing.cli.commands import app


def test_the_core_works_and_has_threads():
    ran = CliRunner().invoke(app, ["doctor", "--json"])
    assert ran.exit_code == 0
    found = json.loads(ran.stdout)
    assert found["farthing"] == farthing.__version__
    assert found["core"]["works"]
    assert found["core"]["threads"] >= 1
    assert re.match(r"(GCC|Clang|MSVC) \d+", found["core"]["build"])
    assert found["extras"]["cli"] == []
    assert found["packages"]["numpy"]


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    installed = doctor._installed
    monkeypatch.setattr(doctor, "_installed", lambda name: None if name == "fastapi" else installed(name))
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 0
    assert "lacks fastapi: pip install 'farthing[serve]'" in ran.stdout


def test_every_extra_for_users_is_looked_at():
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    extras = set(tomllib.loads(text)["project"]["optional-dependencies"])
    assert set(doctor.EXTRAS) == extras - {"dev", "docs", "bench"}


def test_the_version():
    assert CliRunner().invoke(app, ["--version"]).stdout == f"farthing {farthing.__version__}\n"
