"""Run the benchmarks, print them and write them to docs/results: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from pathlib import Path

from experiments.lib.pages import RESULTS, commit

from benchmarks.measure import missed, table

HERE = Path(__file__).parent
RACES = "Ratios are medians over turns in alternation; only they carry over to other machines."
# Every module that is not part of the frame has a `run(threads)`.
NAMES = sorted(
    path.stem for path in HERE.glob("*.py") if path.stem not in ("__init__", "__main__", "measure")
)


def main() -> None:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all if none")
    parser.add_argument("--threads", type=int, default=2, help="threads for each side (2)")
    parser.add_argument("--dry", action="store_true", help="print only, write nothing")
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in given.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        lines = module.run(given.threads)
        doc, text = module.__doc__ or "", f"{missed(lines)}\n\n{table(lines)}"
        print(f"\n{name}: {doc.splitlines()[0]}\n\n{text}\n", flush=True)
        if not given.dry:
            write(name, doc, text, given.threads, getattr(module, "HOW", RACES))


def write(name: str, doc: str, text: str, threads: int, how: str) -> None:
    """Write a page of results with the command and the commit that made it, and how its ratios were taken."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    page = (
        f"# Benchmark: {name}\n\n{doc.strip()}\n\n{text}\n\n"
        f"Made by `python -m benchmarks {name} --threads {threads}` at commit {commit()}, "
        f"on {os.cpu_count()} cores of {platform.machine()}, Python {platform.python_version()}. "
        f"{how}\n"
    )
    (RESULTS / f"bench-{name}.md").write_text(page)


if __name__ == "__main__":
    main()
