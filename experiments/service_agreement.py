"""Compare the answers of a running service with local walks, on 1,000 rows for every method.

For each registered method a model is fitted on a small table with missing values and text, saved, and served
by `farthing serve` with two workers. Then 1,000 rows are walked twice, over HTTP and locally, with a seed of
their own, some of them with a budget, with features known from the start, and with answers refused; every
question, price, spend, rest and decision on the way must be the same bits. Writes docs/results/service.md.

    python -m experiments.service_agreement [--rows 1000]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.service import serving

import farthing
from farthing._trial import NAMES, TOTAL, fit, problems, source_of
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


def make_row(model: Any, fresh: Any, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answers of a row, some refused, and how it is walked."""
    rng = np.random.default_rng(number)
    # Every cell from another row: as many different rows as are wanted.
    source = {name: source_of(model, fresh, int(rng.integers(len(fresh))))[name] for name in NAMES}
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
            answers, options = make_row(model, fresh, number)
            local = steps(model, answers, options)
            agree += steps(client, answers, options) == local
            taken += len(local)
    return agree, taken


def main() -> None:
    """Run it and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    n_rows = parser.parse_args().rows
    methods = [name for name in registered() if get(name).__module__.split(".")[0] == farthing.__name__]
    models: dict[str, tuple[Any, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in methods:
            estimator = trials(name)[-1]
            problem = list(problems(estimator))[1]
            models[name] = (fit(estimator, problem), problem.fresh)
            models[name][0].save(Path(folder) / f"{name}.farthing")
        begin = time.perf_counter()
        service = serving("farthing.cli", "serve", folder, "--log-level", "warning")
        with service as server, ThreadPoolExecutor(2) as pool:
            found = pool.map(lambda name: compare(server.url, name, *models[name], n_rows), methods)
            results = dict(zip(methods, found, strict=True))
        seconds = time.perf_counter() - begin
    lines = [f"| {name} | {agree:,} of {n_rows:,} | {taken:,} |" for name, (agree, taken) in results.items()]
    text = "\n".join(["| method | rows that agree in every step | requests |", "|---|---|---|", *lines])
    print(f"{text}\n{seconds:.0f} s")
    intro = (__doc__ or "").split("Writes")[0].strip().replace("1,000 rows", f"{n_rows:,} rows")
    PAGE.write_text(
        f"# The service beside local walks\n\n{intro}\n\n{text}\n\n"
        f"Made by `python -m experiments.service_agreement --rows {n_rows}`.\n"
    )


if __name__ == "__main__":
    main()
