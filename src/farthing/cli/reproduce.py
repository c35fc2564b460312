"""``farthing reproduce``: run an experiment of the source tree."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app, fail
from farthing.cli.output import AsJson

FOLDERS = ("papers", "boards", "fuzz")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def reproduce(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="The experiment; without one, all are listed.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of the source tree; what follows its name is passed on, such as --tiny."""
    found = experiments(Path.cwd())
    if not found:
        raise fail("the experiments come with the source tree: run this in its folder")
    if name is None:
        told = {key: experiment.text for key, experiment in found.items()}
        typer.echo(json.dumps(told) if as_json else listed(found))
        return
    if name not in found:
        raise fail(f"there is no experiment {name!r}; there are {', '.join(found)}")
    module = f"experiments.{found[name].folder}.{name}"
    # A process of its own, as from the shell: experiments parse their own arguments.
    done = subprocess.run([sys.executable, "-m", module, *context.args], check=False)
    if as_json:
        typer.echo(json.dumps({"experiment": name, "exit_code": done.returncode}))
    raise typer.Exit(done.returncode)


@dataclass(frozen=True)
class Experiment:
    """A script that can be run.

    Attributes
    ----------
    folder : str
        "papers", "boards" or "fuzz".
    text : str
        The first line of its docstring.
    """

    folder: str
    text: str


def experiments(root: Path) -> dict[str, Experiment]:
    """Return the experiments of a source tree that can be run, by name, folder by folder."""
    found = {}
    for folder in FOLDERS:
        for file in sorted((root / "experiments" / folder).glob("*.py")):
            text = file.read_text(encoding="utf-8")
            # The other modules of a folder are parts of its scripts.
            if 'if __name__ == "__main__":' in text:
                found[file.stem] = Experiment(folder, text.lstrip('"').splitlines()[0].rstrip('."'))
    return found


def listed(found: dict[str, Experiment]) -> str:
    """Return the experiments as text, under the names of their folders."""
    lines = []
    for folder in FOLDERS:
        lines.append(f"{folder}:")
        lines += [f"  {name}: {one.text}" for name, one in found.items() if one.folder == folder]
    return "\n".join(lines)
