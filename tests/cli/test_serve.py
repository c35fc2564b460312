"""The command line of the service: its help, and what it says when it cannot start."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from farthing.cli.commands import app


def test_every_command_registers_itself() -> None:
    assert "serve" in {command.callback.__name__ for command in app.registered_commands if command.callback}


def test_what_cannot_be_served_is_said(tmp_path: Path) -> None:
    (tmp_path / "bad.farthing").write_bytes(b"not a model")
    done = CliRunner().invoke(app, ["serve", str(tmp_path / "bad.farthing")])
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: bad: not a Farthing model")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.farthing"], "there is no file or folder nothing.farthing"),
        ([".", "--max-rows", "0"], "max_rows must be more than zero"),
        ([".", "--log-level", "loud"], "log_level must be debug"),
    ],
)
def test_other_mistakes(arguments: list[str], said: str) -> None:
    done = CliRunner().invoke(app, ["serve", *arguments])
    assert done.exit_code == 1
    assert said in done.stderr
