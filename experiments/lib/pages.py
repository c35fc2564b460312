"""Results pages: the options that every experiment has, and the line on how a page was made."""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
RESULTS: Final = ROOT / "docs" / "results"


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that all experiments share; ``doc`` is the script's docstring."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="a run of a few seconds, to see that it works",
    )
    parser.add_argument(
        "--out", type=Path, help="folder of the page (docs/results; with --tiny a temporary folder)"
    )
    parser.add_argument(
        "--kept", type=Path, help="folder of partial results (build/NAME; with --tiny a folder within --out)"
    )
    return parser


def parse(
    parser: argparse.ArgumentParser, name: str, arguments: Sequence[str] | None = None
) -> argparse.Namespace:
    """Parse the command line of an experiment and make its folders.

    Parameters
    ----------
    parser : ArgumentParser
        From `options`, with the script's own options added.
    name : str
        The experiment.
    arguments : sequence of str, optional
        What follows the name on the command line; None is that of this process.

    Returns
    -------
    Namespace
        ``out`` and ``kept`` are existing folders. A tiny run never writes to docs/results by itself, nor
        reuses the partial results of a full one.
    """
    given = parser.parse_args(arguments)
    if given.out is None:
        given.out = Path(tempfile.mkdtemp(prefix=f"{name}-")) if given.tiny else RESULTS
    if given.kept is None:
        given.kept = given.out / "kept" if given.tiny else ROOT / "build" / name
    for folder in (given.out, given.kept):
        folder.mkdir(parents=True, exist_ok=True)
    return given


def command(name: str, *arguments: object) -> str:
    """Return the command that runs an experiment.

    Examples
    --------
    >>> command("reyzin2011", "--trials", 50)
    'farthing reproduce reyzin2011 --trials 50'
    """
    return " ".join(["farthing reproduce", name, *map(str, arguments)])


@cache
def commit() -> str:
    """Return the short hash of the current commit, with "+changes" if tracked files differ from it.

    "unknown" outside a git repository.
    """

    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/results")
        return git("rev-parse", "--short", "HEAD").strip() + "+changes" * bool(changed.strip())
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def made_by(line: str) -> str:
    """Return the sentence that names the command and the commit of a page."""
    return f"Made by `{line}` at commit {commit()}."


def write_page(out: Path, name: str, text: str, line: str) -> Path:
    """Write a page, with a line below its title on how it was made.

    Parameters
    ----------
    out : Path
        The folder.
    name : str
        Of the page, without its ending.
    text : str
        Markdown.
    line : str
        The command that makes the page, as `command` gives it.

    Returns
    -------
    Path
        The file.
    """
    return save(out / f"{name}.md", place(text, made_by(line)))


def place(text: str, made: str) -> str:
    r"""Return a page with the line on how it was made below its title.

    Examples
    --------
    >>> place("# Some\n\nText.\n", "Made by hand.")
    '# Some\n\nMade by hand.\n\nText.\n'
    """
    title, _, rest = text.strip().partition("\n")
    return f"{title}\n\n{made}\n\n{rest.strip()}\n"


def save(path: Path, text: str) -> Path:
    """Write a file, and say so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"written to {path}", flush=True)
    return path


def markdown(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown.

    Examples
    --------
    >>> print(markdown(["set", "error"], [["sonar", 0.2]]))
    | set | error |
    | --- | --- |
    | sonar | 0.2 |
    """
    lines = [[str(cell) for cell in header]]
    lines.append(["---"] * len(lines[0]))
    lines += [[str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
