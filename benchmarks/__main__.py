"""Run the benchmarks, print them and write them to docs/results: `python -m benchmarks [NAME ...]`.

``--restate`` runs nothing: it writes the pages anew from the figures that are there, and keeps the line on
how these were measured.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from pathlib import Path

from experiments.lib.pages import RESULTS, commit, place, save
from experiments.lib.stored_pages import StoredPage, add_restate, restate

from benchmarks.measure import standing, table

HERE = Path(__file__).parent
RATIOS = "Ratios are medians over turns in alternation; only they carry over to other machines."
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
    add_restate(parser)
    given = parser.parse_args()
    if unknown := set(given.names) - set(NAMES):
        parser.error(f"no benchmark named {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    for name in given.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        doc, page = module.__doc__ or "", RESULTS / f"bench-{name}.md"
        how = getattr(module, "HOW", RATIOS)
        if given.restate:
            if page.exists():
                stored = StoredPage.read(page)
                text = text_of(
                    name, doc, "\n".join(line for line in stored.text.splitlines() if line.startswith("|"))
                )
                restate(page, stored, f"{text}\n{how}", f"python -m benchmarks {name} --restate")
            continue
        text = table(module.run(given.threads))
        print(f"\n{name}: {doc.splitlines()[0]}\n\n{text}\n", flush=True)
        if not given.dry:
            made = (
                f"Made by `python -m benchmarks {name} --threads {given.threads}` at commit {commit()}, "
                f"on {os.cpu_count()} cores of {platform.machine()}, Python {platform.python_version()}."
            )
            save(page, place(f"{text_of(name, doc, text)}\n{how}", made))


def text_of(name: str, doc: str, lines: str) -> str:
    """Return a page of results: what was missed, what was measured, and the table."""
    return f"# Benchmark: {name}\n\n{standing(lines)}\n\n{doc.strip()}\n\n{lines}\n"


if __name__ == "__main__":
    main()
