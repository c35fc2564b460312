"""Compare the answers of the service with local walks, on 1,000 rows for every method.

For each registered method a model is fitted on a small table with missing values and text, and saved. Then
1,000 rows are walked twice, by requests to the service and locally, with a seed of their own, some of them
with a budget, with features known from the start, and with answers refused; every question, price, spend,
rest and decision on the way must be the same bits. The requests are the bytes that a client would send, and
go to the application itself; for the first 50 rows also over HTTP, to `farthing serve` with two workers.

``farthing reproduce service_agreement [--rows 1000] [--network 50] [--methods NAME ...]`` writes
docs/results/service_agreement.md. Each method is kept when it is done, so a run can be stopped and goes on
where it stopped. ``--restate`` runs the named methods, if any, and takes the others from the page that is
there.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import MutableMapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.service import serving

import farthing
from experiments.lib.pages import RESULTS, command, markdown, options, parse, write_page
from experiments.lib.stored_pages import StoredPage, add_restate, restate, tables
from farthing.base import get, registered, trials
from farthing.checks.fitting import fit
from farthing.checks.problems import Problem, problems
from farthing.checks.walking import source_of
from farthing.service import Client, RemoteWalk, Settings, create_app
from farthing.walks import REFUSED

NAME = "service_agreement"
HEADER = ("method", "rows that agree in every step", "requests", "of these over HTTP", "requests")
TINY_METHODS = ("AdaBoostRSClassifier", "BudgetTreeClassifier", "GreedyMiserRegressor")


def steps(model: Any, answers: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    """Return every question, price, rest and decision of a walk."""
    seen: list[Any] = []
    walk = model.walk(**options)
    while (ask := walk.ask) is not None:
        seen.append((ask, walk.spent, walk.left, walk.decision))
        walk.tell(answers.get(ask.feature, REFUSED))
    return [*seen, walk.decision]


def make_row(model: Any, problem: Problem, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the answers of a row, some refused, and how it is walked."""
    rng = np.random.default_rng(number)
    # Every cell from another row: as many different rows as are wanted.
    n_fresh = len(problem.fresh)
    source = {name: source_of(model, problem, int(rng.integers(n_fresh)))[name] for name in problem.names}
    options: dict[str, Any] = {"seed": number}
    if number % 3 == 1:
        options["budget"] = float(rng.uniform(0, problem.total))
    if number % 4 == 2:
        options["known"] = {name: source[name] for name in problem.names if rng.random() < 0.3}
    answers = {name: value for name, value in source.items() if number % 5 or rng.random() > 0.3}
    return answers, options


class Direct:
    """A client that hands its requests to the application, without a network between them."""

    def __init__(self, folder: Path, name: str) -> None:
        self._app = create_app(Settings(sources=(str(folder),), reload_seconds=0, log_level="warning"))
        self._path = f"/v1/models/{name}/next"
        self._loop = asyncio.new_event_loop()

    def close(self) -> None:
        """End the loop that the application runs in."""
        self._loop.close()

    def walk(self, seed: int | None = None, budget: float | None = None, known: Any = None) -> RemoteWalk:
        """Start a walk."""
        return RemoteWalk(self._send, known or {}, budget, seed)

    def _send(self, plain: dict[str, Any]) -> dict[str, Any]:
        return dict(self._loop.run_until_complete(self._call(json.dumps(plain).encode())))

    async def _call(self, body: bytes) -> Any:
        parts = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: MutableMapping[str, Any]) -> None:
            parts.append(message)

        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        scope = {"type": "http", "method": "POST", "path": self._path, "headers": headers}
        await self._app(scope, receive, send)
        assert parts[0]["status"] == 200, parts[1]["body"]
        return json.loads(parts[1]["body"])


def compare(client: Any, model: Any, problem: Problem, n_rows: int) -> dict[str, int]:
    """Return how many rows agree, and how many requests they took."""
    agree = taken = 0
    for number in range(n_rows):
        answers, options = make_row(model, problem, number)
        local = steps(model, answers, options)
        agree += steps(client, answers, options) == local
        taken += len(local)
    return {"agree": agree, "requests": taken}


def fitted(name: str, folder: Path) -> tuple[Any, Problem]:
    """Fit and save a model of a method; return it with the problem it was fitted on."""
    estimator = trials(name)[-1]
    problem = list(problems(estimator))[1]
    model = fit(estimator, problem)
    model.save(folder / f"{name}.farthing")
    return model, problem


def directly(methods: list[str], n_rows: int, kept: Path) -> None:
    """Compare the methods that have not been compared yet, without a network."""
    for name in methods:
        if not (file := kept / f"{name}-{n_rows}.json").exists():
            with tempfile.TemporaryDirectory() as folder:
                model, problem = fitted(name, Path(folder))
                with closing(Direct(Path(folder), name)) as client:
                    found = compare(client, model, problem, n_rows)
            file.write_text(json.dumps(found))
            print(name, found, flush=True)


def over_http(methods: list[str], n_rows: int, kept: Path) -> None:
    """Compare the methods that have not been compared yet, over HTTP."""
    left = [name for name in methods if not (kept / f"{name}-http-{n_rows}.json").exists()]
    if not left or not n_rows:
        return
    with tempfile.TemporaryDirectory() as folder:
        models = {name: fitted(name, Path(folder)) for name in left}
        with serving("farthing.cli", "serve", folder, "--log-level", "warning") as server:
            for name in left:
                with Client(server.url, name) as client:
                    found = compare(client, *models[name], n_rows)
                (kept / f"{name}-http-{n_rows}.json").write_text(json.dumps(found))
                print(name, "over HTTP", found, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run it and write the page."""
    parser = options(__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--network", type=int, default=50)
    parser.add_argument("--methods", nargs="*", help="all if left out")
    add_restate(parser)
    given = parse(parser, NAME, arguments)
    every = [name for name in registered() if get(name).__module__.split(".")[0] == farthing.__name__]
    if given.restate:
        anew = given.methods or []
        directly(anew, given.rows, given.kept)
        over_http(anew, given.network, given.kept)
        found = StoredPage.read(RESULTS / f"{NAME}.md")
        text = stored(found, every, rows_of(anew, given.rows, given.network, given.kept))
        line = command(NAME, "--restate", *(["--methods", *anew] if anew else []))
        restate(given.out / f"{NAME}.md", found, text, line, ", ".join(["text", *anew]))
        return
    if given.tiny:
        every, given.rows, given.network = list(TINY_METHODS), 10, 0
    directly(given.methods or every, given.rows, given.kept)
    over_http(given.methods or every, given.network, given.kept)
    text = text_of(rows_of(every, given.rows, given.network, given.kept), given.rows, given.network, every)
    write_page(given.out, NAME, text, command(NAME, "--rows", given.rows, "--network", given.network))


def rows_of(methods: Sequence[str], n_rows: int, n_network: int, kept: Path) -> list[tuple[str, ...]]:
    """Return the lines of the table, from what is kept."""
    rows = []
    for name in methods:
        cells = [name]
        for file, count in ((f"{name}-{n_rows}", n_rows), (f"{name}-http-{n_network}", n_network)):
            if (path := kept / f"{file}.json").exists():
                found = json.loads(path.read_text())
                cells += [f"{found['agree']:,} of {count:,}", f"{found['requests']:,}"]
            else:
                cells += ["not run", ""]
        rows.append(tuple(cells))
    return rows


def text_of(rows: Sequence[Sequence[str]], n_rows: int, n_network: int, methods: Sequence[str]) -> str:
    """Return the page of a table: how many rows of each method agree; ``methods`` are all of them."""
    differ = [
        row[0]
        for row in rows
        if any(cell.split(" of ")[0] != cell.split(" of ")[-1] for cell in (row[1], row[3]))
    ]
    left = [row[0] for row in rows if "not run" in (row[1], row[3] if n_network else "")]
    left += [name for name in methods if name not in {row[0] for row in rows}]
    said = (
        f"Methods compared: {len(rows)}. A row differs in some step for {', '.join(differ) or 'none'}. "
        f"Not compared, or not over HTTP: {', '.join(left) or 'none'}."
    )
    intro = (__doc__ or "").split("``farthing reproduce")[0].strip().partition("\n\n")[2]
    intro = intro.replace("1,000 rows", f"{n_rows:,} rows").replace("first 50", f"first {n_network}")
    return f"# The service beside local walks\n\n{said}\n\n{intro}\n\n{markdown(HEADER, rows)}\n"


def stored(found: StoredPage, methods: Sequence[str], fresh: Sequence[tuple[str, ...]] = ()) -> str:
    """Return the page anew, from the figures of the stored one and the lines that were run since.

    Methods that are no longer registered are left out.
    """
    rows = {row[0]: row for row in tables(found.text)[0].rows}
    n_rows, n_network = (
        int(next(iter(rows.values()))[place].split(" of ")[1].replace(",", "")) for place in (1, 3)
    )
    rows |= {row[0]: row for row in fresh}
    return text_of([rows[name] for name in sorted(rows) if name in methods], n_rows, n_network, methods)


if __name__ == "__main__":
    main()
