"""Recorded walks repeated by exported C and JavaScript; the first difference is an error."""

from __future__ import annotations

import json
import subprocess
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.lib.export_walks import Outcome, Record
from farthing.export import FLAGS, Program, export_model

STRICT: Final = ("-Wall", "-Wextra", "-Werror", "-pedantic")
BITS_32: Final = ("-m32", "-msse2", "-mfpmath=sse")
"""Options of code for 32 bits, whose doubles are those of the library."""
# Exponentials of two libraries may differ in the last bit, and what is made of them in the next ones.
TOLERANCE: Final = 1e-14


@dataclass(frozen=True)
class Replayed:
    """What an export repeated.

    Parameters
    ----------
    walks, questions, decisions : int
        How many of each were the same.
    inexact : int
        Probabilities and values that differ in their last bits.
    largest : float
        The largest relative difference of these.
    """

    walks: int
    questions: int
    decisions: int
    inexact: int
    largest: float


_DRIVER: Final = r"""#include "model.h"
#include <stdio.h>
#include <stdlib.h>

static const double *at;
static long questions, decisions, inexact;
static double largest;

static void differs(const char *what, double got, double expected)
{
    printf("%s: %.17g, expected %.17g, after %ld questions\n", what, got, expected, questions);
    exit(1);
}

static void same(const char *what, double got)
{
    const double expected = *at++;
    if (got != expected) differs(what, got, expected);
}

static void same_decision(farthing_state *s)
{
    const farthing_result result = farthing_decision(s);
    int i;
    if (*at++ == 0.0) return;
    ++decisions;
    same("spent", result.spent);
    same("label", result.label);
    for (i = 0; i < FARTHING_RESULTS; ++i) {
        const double expected = *at++, apart = fabs(result.value[i] - expected);
        if (!(apart <= TOLERANCE * fabs(expected))) differs("result", result.value[i], expected);
        if (apart > 0.0) {
            ++inexact;
            if (apart / fabs(expected) > largest) largest = apart / fabs(expected);
        }
    }
    for (i = 0; i < FARTHING_ITEMS; ++i) same("acquired", farthing_acquired(s, i));
}

static void walk_once(void)
{
    farthing_state state;
    long i, n;
    farthing_start(&state, *at++);
#ifdef SEEDED
    if (*at++ != 0.0) {
        const uint64_t high = (uint64_t)at[0], low = (uint64_t)at[1];
        farthing_seed(&state, high << 32 | low);
    }
    at += 2;
#endif
    n = (long)*at++;
    for (i = 0; i < n; ++i, at += 2) {
        if (farthing_known(&state, (int32_t)at[0], at[1])) differs("known", -1, 0);
    }
    n = (long)*at++;
    for (i = 0; i < n; ++i) {
        int kind;
        same_decision(&state);
        same("question", farthing_next(&state));
        same("price", farthing_price(&state));
        kind = (int)*at++;
        if (kind == 0) {
            if (farthing_refuse(&state)) differs("refuse", -1, 0);
        } else if (kind == 1) {
            if (farthing_tell(&state, *at++)) differs("tell", -1, 0);
        } else {
#ifdef FARTHING_ANSWER
            if (farthing_tell(&state, 0.0) != -1) differs("tell of a list", 0, -1);
            if (farthing_tell_list(&state, at)) differs("tell_list", -1, 0);
            at += FARTHING_ANSWER;
#endif
        }
        ++questions;
    }
    same_decision(&state);
    if (farthing_next(&state) != FARTHING_DECIDED) differs("question at the end", farthing_next(&state), -1);
    if (farthing_tell(&state, 0.0) != -1 || farthing_refuse(&state) != -1) differs("tell at the end", 0, -1);
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    long size, walks, i;
    double *numbers;
    if (!file || fseek(file, 0, SEEK_END)) return 2;
    size = ftell(file);
    rewind(file);
    numbers = malloc((size_t)size);
    if (!numbers || fread(numbers, 1, (size_t)size, file) != (size_t)size) return 2;
    at = numbers;
    walks = (long)*at++;
    for (i = 0; i < walks; ++i) walk_once();
    printf("%ld %ld %ld %ld %.3g\n", walks, questions, decisions, inexact, largest);
    fclose(file);
    free(numbers);
    return 0;
}
"""


def write_c(model: Any, records: Sequence[Record], folder: Path) -> None:
    """Export a model to C, with a program that repeats its walks, and the walks as numbers."""
    program = Program.of(model)
    export_model(model, folder, to="c")
    seeded = any("farthing_seed" in line for line in (folder / "model.h").read_text().splitlines())
    head = f"#define TOLERANCE {TOLERANCE}\n" + ("#define SEEDED\n" if seeded else "")
    (folder / "main.c").write_text(head + _DRIVER)
    (folder / "walks.bin").write_bytes(_numbers(program, records, seeded=seeded).tobytes())


def replay_c(folder: Path, compiler: str, options: Sequence[str]) -> Replayed:
    """Compile what `write_c` wrote, with all warnings as errors, and repeat the walks.

    Raises
    ------
    AssertionError
        At the first difference, or if it does not compile.
    """
    binary = folder / f"walks-{compiler}{''.join(options)}"
    sources = [str(folder / name) for name in ("main.c", "model.c")]
    command = [compiler, *FLAGS.split(), *STRICT, *options, *sources, "-lm", "-o", str(binary)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode:
        raise AssertionError(f"{' '.join(command)}\n{built.stderr}")
    ran = subprocess.run(
        [str(binary), str(folder / "walks.bin")], capture_output=True, text=True, check=False
    )
    if ran.returncode:
        raise AssertionError(f"{binary.name}: {ran.stdout}{ran.stderr}")
    binary.unlink()
    return _replayed(ran.stdout)


def _replayed(text: str) -> Replayed:
    walks, questions, decisions, inexact, largest = text.split()
    return Replayed(int(walks), int(questions), int(decisions), int(inexact), float(largest))


def _numbers(program: Program, records: Sequence[Record], *, seeded: bool) -> array[float]:
    names = program.prices.names
    place = {name: item for item, name in enumerate(names)}
    numbers = array("d", [len(records)])

    def add(outcome: Outcome | None) -> None:
        if outcome is None:
            numbers.append(0.0)
            return
        bought = set(outcome.acquired)
        numbers.extend([1.0, outcome.spent, outcome.label, *outcome.results])
        numbers.extend(float(name in bought) for name in names)

    for record in records:
        numbers.append(np.inf if record.budget is None else record.budget)
        if seeded:
            seed = record.seed or 0
            numbers.extend([float(record.seed is not None), seed >> 32, seed & 0xFFFFFFFF])
        owned = {place[name]: value for name, value in record.encoded.items() if name in place}
        numbers.append(len(owned))
        for item, value in owned.items():
            numbers.extend([item, value])
        numbers.append(len(record.steps))
        for step in record.steps:
            add(step.before)
            numbers.extend([place[step.feature], step.price])
            if step.refused:
                numbers.append(0.0)
            elif isinstance(step.answer, list):
                numbers.extend([2.0, *step.answer])
            else:
                numbers.extend([1.0, step.encoded])
        add(record.end)
    return numbers


_REPLAY: Final = """
function replay(Walk, records) {
  let questions = 0, decisions = 0, inexact = 0, largest = 0;

  function same(what, got, expected) {
    if (JSON.stringify(got) === JSON.stringify(expected)) return;
    const both = `${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`;
    throw new Error(`${what}: ${both}, after ${questions} questions`);
  }

  function close(got, expected) {
    const apart = Math.abs(got - expected);
    if (!(apart <= TOLERANCE * Math.abs(expected))) same("result", got, expected);
    if (apart > 0) {
      inexact += 1;
      largest = Math.max(largest, apart / Math.abs(expected));
    }
  }

  function compare(walk, expected) {
    const { prediction, probabilities, spent, acquired } = walk.decision;
    if (expected === null) return;
    decisions += 1;
    same("spent", spent, expected.spent);
    same("acquired", acquired, expected.acquired);
    if (probabilities === null) return close(prediction, expected.results[0]);
    same("label", probabilities.findIndex(({ label }) => label === prediction), expected.label);
    probabilities.forEach(({ probability }, i) => close(probability, expected.results[i]));
  }

  for (const { budget, known, seed, steps, end } of records) {
    const walk = new Walk({ budget, known, ...(seed === null ? {} : { seed }) });
    for (const { ask, price, answer, refused, before } of steps) {
      compare(walk, before);
      same("question", walk.ask, { feature: ask, price });
      if (refused) walk.refuse();
      else walk.tell(answer);
      questions += 1;
    }
    compare(walk, end);
    same("question at the end", walk.ask, null);
    let ended = false;
    try { walk.tell(1); } catch { ended = true; }
    same("an error of tell at the end", ended, true);
  }
  return `${records.length} ${questions} ${decisions} ${inexact} ${largest}`;
}
"""


def write_js(model: Any, records: Sequence[Record], folder: Path) -> None:
    """Export a model to JavaScript, with a script for Node and a page for browsers that repeat its walks."""
    export_model(model, folder, to="js")
    data = json.dumps([_plain_record(record) for record in records]).replace("</", "<\\/")
    replay = _REPLAY.replace("TOLERANCE", str(TOLERANCE))
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "replay.js").write_text(
        'import { Walk } from "./model.js";\nimport { readFileSync } from "node:fs";\n' + replay
        + 'console.log(replay(Walk, JSON.parse(readFileSync("walks.json", "utf8"))));\n'
    )  # fmt: skip
    (folder / "walks.json").write_text(data)
    # A classic script, since browsers load no module from disk.
    script = (
        (folder / "model.js").read_text().replace("export class", "class").replace("export const", "const")
    )
    (folder / "replay.html").write_text(
        f"<!doctype html><meta charset=utf-8><pre id=found>nothing</pre><script>{script}\n{replay}\n"
        'const found = document.getElementById("found");\n'
        f"try {{ found.textContent = replay(Walk, {data}); }}\n"
        "catch (error) { found.textContent = error.stack; }\n"
        "</script>"
    )


def replay_node(folder: Path) -> Replayed:
    """Repeat the walks that `write_js` wrote, in Node; AssertionError at the first difference."""
    ran = subprocess.run(["node", "replay.js"], cwd=folder, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise AssertionError(f"Node: {ran.stderr}")
    return _replayed(ran.stdout)


def replay_page(folder: Path, browser: Any) -> Replayed:
    """Repeat them in a browser of Playwright, from disk."""
    page = browser.new_page()
    try:
        page.goto((folder / "replay.html").as_uri())
        found = page.text_content("#found")
    finally:
        page.close()
    if len(found.split()) != 5 or not found[0].isdigit():
        raise AssertionError(f"the browser: {found}")
    return _replayed(found)


def _plain_record(record: Record) -> dict[str, Any]:
    return {
        "budget": None if record.budget == np.inf else record.budget,
        "known": {name: _plain(value) for name, value in record.known.items()},
        "seed": None if record.seed is None else str(record.seed),
        "steps": [
            {
                "ask": step.feature,
                "price": step.price,
                "answer": step.answer if isinstance(step.answer, list) else _plain(step.answer),
                "refused": step.refused,
                "before": None if step.before is None else step.before.__dict__,
            }
            for step in record.steps
        ],
        "end": None if record.end is None else record.end.__dict__,
    }


def _plain(value: Any) -> Any:
    """Return a value of a table as JSON has it."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return None
    return value.item() if isinstance(value, np.generic) else value
