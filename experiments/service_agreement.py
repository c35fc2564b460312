"""Compare the answers of a running service with local walks, on 1,000 rows for every method.

For each registered method a model is fitted on a small table with missing values and text, saved, and served
by `farthing serve` with two workers. Then 1,000 rows are walked twice, over HTTP and locally, with a seed of
their own, some of them with a budget, with features known from the start, and with answers refused; every
question, price, spend, rest and decision on the way must be the same bits. Writes docs/results/service.md.

    python -m experiments.service_agreement [--rows 1000] [--kept folder]

What is done is kept in a folder, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.service import serving

import farthing
from farthing._trial import NAMES, TOTAL, fit, problems, row_of
from farthing.base import get, registered, trials
from farthing.service import Client
from farthing.walks import REFUSED

PAGE = Path(__file__).parents[1] / "docs" / "results" / "service.md"


def steps(model: Any, answers: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    """Return everything that a walk says, from its first question to its end."""
    said: list[Any] = []
    walk = model.walk(**options)
    while (ask := walk.ask) is not None:
        said.append((ask, walk.spent, walk.left, walk.decision))
        walk.tell(answers.get(ask.feature, REFUSED))
    return [*said, walk.decision]


def make_row(fresh: Any, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answers of a row, some refused, and how it is walked."""
    rng = np.random.default_rng(number)
    # Every cell from another row: as many different rows as are wanted.
    source = {name: row_of(fresh, int(rng.integers(len(fresh))))[name] for name in NAMES}
    options: dict[str, Any] = {"seed": number}
    if number % 3 == 1:
        options["budget"] = float(rng.uniform(0, TOTAL))
    if number % 4 == 2:
        options["known"] = {name: source[name] for name in NAMES if rng.random() < 0.3}
    answers = {name: value for name, value in source.items() if number % 5 or rng.random() > 0.3}
    return answers, options


def compare(url: str, name: str, model: Any, fresh: Any, n_rows: int) -> tuple[int, int]:
    """Return how many rows agree, and how many steps they took."""
    agree = taken = 0
    with Client(url, name) as client:
        for number in range(n_rows):
            answers, options = make_row(fresh, number)
            local = steps(model, answers, options)
            agree += steps(client, answers, options) == local
            taken += len(local)
    return agree, taken


def served(folder: Path, methods: list[str]) -> dict[str, tuple[Any, Any]]:
    """Fit and save a model of each method; return them with fresh rows, by method."""
    models: dict[str, tuple[Any, Any]] = {}
    for name in methods:
        estimator = trials(name)[-1]
        problem = list(problems(estimator))[1]
        models[name] = (fit(estimator, problem), problem.fresh)
        models[name][0].save(folder / f"{name}.farthing")
    return models


def run(methods: list[str], n_rows: int, kept: Path) -> None:
    """Compare the methods that have not been compared yet."""
    left = [name for name in methods if not place(kept, name, n_rows).exists()]
    if not left:
        return
    with tempfile.TemporaryDirectory() as folder:
        models = served(Path(folder), left)

        def one(name: str) -> None:
            agree, taken = compare(server.url, name, *models[name], n_rows)
            place(kept, name, n_rows).write_text(json.dumps({"agree": agree, "requests": taken}))
            print(f"{name}: {agree:,} of {n_rows:,} rows agree, {taken:,} requests", flush=True)

        service = serving("farthing.cli", "serve", folder, "--log-level", "warning")
        with service as server, ThreadPoolExecutor(2) as pool:
            list(pool.map(one, left))


def place(kept: Path, name: str, n_rows: int) -> Path:
    """Return the file that holds what was found for a method."""
    return kept / f"{name}-{n_rows}.json"


def main() -> None:
    """Run it and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--kept", type=Path, default=Path("build/service_agreement"))
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    methods = [name for name in registered() if get(name).__module__.split(".")[0] == farthing.__name__]
    run(methods, options.rows, options.kept)
    lines = ["| method | rows that agree in every step | requests |", "|---|---|---|"]
    for name in methods:
        found = json.loads(place(options.kept, name, options.rows).read_text())
        lines.append(f"| {name} | {found['agree']:,} of {options.rows:,} | {found['requests']:,} |")
    text = "\n".join(lines)
    intro = (__doc__ or "").split("Writes")[0].strip().replace("1,000 rows", f"{options.rows:,} rows")
    PAGE.write_text(
        f"# The service beside local walks\n\n{intro}\n\n{text}\n\n"
        f"Made by `python -m experiments.service_agreement --rows {options.rows}`.\n"
    )


if __name__ == "__main__":
    main()
