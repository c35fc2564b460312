"""Exported C and JavaScript beside the library: 1,000 walks of every method that can be exported.

``farthing reproduce export_agreement`` writes docs/results/export_agreement.md, some ten minutes of one core.

Each method is fitted at two settings, on a table of numbers and on one with categories and missing values.
Its walks on unseen rows, with random refusals, hard budgets, known features and seeds, are recorded question
by question, and repeated with the same answers by C of gcc and clang at -Os and -O2, for 64 and, if the
machine can link it, for 32 bits, by JavaScript in Node, and in headless Chromium. The question, its price,
what was spent and on what, and the label must be the same before every question and at the end. Probabilities
and values may differ by 1e-14 of their size, since exponentials of two libraries may differ in the last bit.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from experiments.lib.compilers import builds_with, compiler_named
from experiments.lib.export_replays import (
    BITS_32,
    Replayed,
    replay_c,
    replay_node,
    replay_page,
    write_c,
    write_js,
)
from experiments.lib.export_walks import fitted_at, record
from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.base import FittedModel
from farthing.base.registry import get, registered, trials
from farthing.errors import ExportError

NAME: Final = "export_agreement"
N_WALKS: Final = 1000
# These choose among other methods, and export what they chose.
CHOOSING: Final = ("BudgetedClassifier", "BudgetedRanker", "BudgetedRegressor")
# Methods whose own walk has no plan, and the tree in their place that has one.
DISTILLED: Final = {"LookaheadClassifier, distilled": "LookaheadClassifier"}
LEVELS: Final = ("-Os", "-O2")


def methods() -> tuple[list[str], dict[str, str]]:
    """Return the methods that can be exported, and why the others cannot."""
    ours = [name for name in registered() if get(name).__module__.startswith("farthing.")]
    reasons = {}
    for name in ours:
        kind = get(name).model_type
        if name not in CHOOSING and kind.plan is FittedModel.plan:
            reasons[name] = kind.no_plan
    return [*(name for name in ours if name not in reasons), *DISTILLED], reasons


def settings(method: str) -> list[tuple[int, int]]:
    """Return two fits of a method: trial and table; later trials use more of a method's walk."""
    last = len(trials(DISTILLED.get(method, method))) - 1
    return [(last, 0), (min(1, last), 1)]


def engines(browser: Any) -> dict[str, Callable[[Path], Replayed]]:
    """Return all that this machine can repeat walks with, by name."""
    found: dict[str, Callable[[Path], Replayed]] = {}
    for compiler in ("gcc", "clang"):
        program = compiler_named(compiler)
        if program is None:
            continue
        for bits, further in (("64", ()), ("32", BITS_32)):
            if not builds_with(program, *further):
                continue
            for level in LEVELS:
                options_ = (level, *further)
                found[f"{compiler} {level}, {bits} bits"] = _with(program, options_)
    if shutil.which("node"):
        found["Node"] = replay_node
    if browser is not None:
        found["Chromium"] = lambda folder: replay_page(folder, browser)
    return found


def _with(compiler: str, options_: tuple[str, ...]) -> Callable[[Path], Replayed]:
    return lambda folder: replay_c(folder, compiler, options_)


@contextmanager
def chromium() -> Iterator[Any]:
    """Yield a headless Chromium, or None if there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra
    except ImportError:
        program = None
    if program is None:
        yield None
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def agreement(method: str, n_walks: int, browser: Any) -> dict[str, Any]:
    """Return what every engine repeated of one method, and the differences that were found."""
    found: dict[str, Any] = {"walks": 0, "questions": 0, "decisions": 0, "engines": {}, "differences": []}
    fits = settings(method)
    for number, (trial, table) in enumerate(fits):
        with warnings.catch_warnings(), tempfile.TemporaryDirectory() as name:
            warnings.simplefilter("ignore")
            model, fresh = _exportable(method, trial, table)
            records = record(model, fresh, -(-n_walks // len(fits)), seed=number)
            write_c(model, records, Path(name))
            write_js(model, records, Path(name))
            first = True
            for engine, replay in engines(browser).items():
                try:
                    same = replay(Path(name))
                except AssertionError as error:
                    found["differences"].append(f"{engine}, trial {trial}: {str(error)[:300]}")
                    continue
                if first:
                    for count in ("walks", "questions", "decisions"):
                        found[count] += getattr(same, count)
                first = False
                _add(found["engines"], engine, asdict(same))
    return found


def _exportable(method: str, trial: int, table: int) -> tuple[Any, Any]:
    """Return a fit at a trial, or at the last one before it that can be exported."""
    model, fresh = fitted_at(DISTILLED.get(method, method), trial, table)
    if method in DISTILLED:
        model = model.distill()
    try:
        model.fitted_.plan()
    except ExportError:
        return _exportable(method, trial - 1, table)
    return model, fresh


def _add(engines_: dict[str, Any], engine: str, same: dict[str, Any]) -> None:
    own = engines_.setdefault(engine, {"walks": 0, "inexact": 0, "largest": 0.0})
    own["walks"] += same["walks"]
    own["inexact"] += same["inexact"]
    own["largest"] = max(own["largest"], same["largest"])


def page(
    results: dict[str, dict[str, Any]], reasons: dict[str, str], n_walks: int, left: Sequence[str]
) -> str:
    """Return the page; ``left`` are the methods that were not measured."""
    wrong = {name: each["differences"] for name, each in results.items() if each["differences"]}
    names = list(dict.fromkeys(engine for each in results.values() for engine in each["engines"]))
    lacking = [engine for engine in ("gcc", "clang", "32 bits", "Node", "Chromium")
               if not any(engine in name for name in names)]  # fmt: skip
    first = (
        f"{len(results) - len(wrong)} of {len(results)} methods give the same questions, prices, spends and "
        f"labels as the library in {n_walks:,} walks each, with {len(names)} compilers, options and engines. "
    )
    first += f"Differences: {', '.join(wrong)}. " if wrong else "No difference was found. "
    first += f"{len(left)} methods were not measured: {', '.join(left)}. " if left else ""
    first += f"Not tried, since this machine has none: {', '.join(lacking)}. " if lacking else ""
    first += f"{len(reasons)} methods cannot be exported, see below. "
    first += (
        f"{', '.join(CHOOSING[:-1])} and {CHOOSING[-1]} export the method that they chose. "
        "Probabilities and values agree up to 1e-14, not in every bit. Of ADAPT and its gates, what follows "
        "the call of an expensive model of Farthing is not part of the walk: its answer is given. Models are "
        "fitted on 60 rows, so they are small."
    )
    rows = [
        [name, each["walks"], each["questions"], each["decisions"], "; ".join(each["differences"]) or "none"]
        for name, each in results.items()
    ]
    by_engine = []
    for engine in names:
        own = [each["engines"][engine] for each in results.values() if engine in each["engines"]]
        by_engine.append(
            [
                engine,
                sum(each["walks"] for each in own),
                sum(each["inexact"] for each in own),
                f"{max(each['largest'] for each in own):.1e}",
            ]
        )
    return "\n\n".join(
        [
            "# Exports beside the library, walk by walk",
            first,
            (__doc__ or "").split("\n\n", 2)[2].strip(),
            markdown(["compiler or engine", "walks", "inexact results", "largest difference"], by_engine),
            "Inexact results are probabilities or values that differ at all, of those before every question "
            "and at the end; the difference is relative.",
            markdown(["method", "walks", "questions", "decisions compared", "differences"], rows),
            "What cannot be exported, and why:",
            markdown(["method", "reason"], reasons.items()),
        ]
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Repeat the walks of all methods and write the page."""
    parser = options(__doc__)
    parser.add_argument("--only", nargs="+", metavar="METHOD", help="measure and keep these, without a page")
    parser.add_argument("--kept-only", action="store_true", help="the page of what was measured so far")
    args = parse(parser, NAME, arguments)
    exported, reasons = methods()
    if args.only:
        exported = args.only
    if args.tiny:
        exported = exported[:1]
    n_walks = 10 if args.tiny else N_WALKS
    results = {}
    with chromium() as browser:
        for method in exported:
            done = args.kept / f"{method}_{n_walks}.json"
            if args.kept_only and not done.exists():
                continue
            if not done.exists():
                done.write_text(json.dumps(agreement(method, n_walks, None if args.tiny else browser)))
                print(f"{method}: done", flush=True)
            results[method] = json.loads(done.read_text())
    if args.only:
        return
    line = command(NAME, *(["--kept-only"] if args.kept_only else []))
    left = [name for name in exported if name not in results]
    text = page(results, reasons, n_walks, left)
    if args.kept_only:
        text += "\n\nMethods were measured one by one, some of them at commits before the one above."
    write_page(args.out, NAME, text, line)


if __name__ == "__main__":
    main()
