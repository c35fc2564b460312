"""``farthing reproduce``: run an experiment of the papers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app, fail
from farthing.cli.output import AsJson


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce(
    context: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Name of the experiment; by default all are listed.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of the source tree; further arguments, such as --quick, are passed on."""
    found = experiments(Path.cwd())
    if not found:
        raise fail("the experiments come with the source tree: run this in its folder")
    if name is None:
        lines = [f"{key}: {text}" for key, text in found.items()]
        typer.echo(json.dumps(found) if as_json else "\n".join(lines))
        return
    if name not in found:
        raise fail(f"there is no experiment {name!r}; there are {', '.join(found)}")
    done = subprocess.run([sys.executable, "-m", f"experiments.{name}", *context.args], check=False)
    if as_json:
        typer.echo(json.dumps({"experiment": name, "exit_code": done.returncode}))
    raise typer.Exit(done.returncode)


def experiments(folder: Path) -> dict[str, str]:
    """Return the experiments of a source tree by name, with the first line of their docstrings."""
    found = {}
    for file in sorted((folder / "experiments").glob("*.py")):
        text = file.read_text(encoding="utf-8")
        if 'if __name__ == "__main__":' in text:
            found[file.stem] = text.lstrip('"').splitlines()[0].split(": `")[0].rstrip('."')
    return found
