"""Spoilt model files and hostile requests: what the library and the service make of them.

Files: each case spoils a saved model, one of every method of the library or of 13 with special features, by
one of sixteen mutations, from flipped bits to arrays that contradict each other with every checksum repaired,
or puts a pipe, a device, a folder or a broken link in its place. The file must be refused with a `FileError`
or work, in every use of the model, within 256 MiB and 10 s of processor time; a preprocessing in it may
refuse a row, with an error that names the column.

Requests: a service of two workers on loopback, with a forest, a tree on text, an edge model and a tree on
20,000 columns, gets random requests on four connections, among them all bodies that once froze a worker.
Slow clients hold 50 connections, heads of a megabyte arrive and a worker is killed every few seconds; every
fifth batch runs with a full temporary folder. A violation is an answer of 500, none within a minute, a
connection that is closed without an answer though no worker was killed and the body is small, or another
answer to the same step after the attack.

    farthing reproduce fuzz --files 50000 --requests 50000
    farthing reproduce fuzz --file 1234 --seed 0

The first runs in batches, and goes on with those that are missing; the second runs one file here, without
limits, and shows what it does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.service import NAMESPACE, WORKERS

from experiments.fuzz import hostile_requests, spoilt_files
from experiments.fuzz.fuzz_models import saved_models, saved_special_models
from experiments.lib.pages import command, commit, markdown, options, parse, write_page

NAME = "fuzz"
BATCH, FILES_BATCH = 5_000, 2_000
FULL_DISK_EVERY = 5
GOAL = 50_000

Plain = dict[str, Any]


def files(seed: int, numbers: range, models: Sequence[bytes]) -> Plain:
    """Run cases of spoilt files."""
    tally = spoilt_files.fuzz(models, len(numbers), seed, first=numbers.start)
    return {"outcomes": _plain(tally.outcomes), "violations": tally.violations}


def requests(seed: int, numbers: range, kill_every: float, workers: int) -> Plain:
    """Run cases of hostile requests."""
    full = workers > 1 and numbers.start // BATCH % FULL_DISK_EVERY == FULL_DISK_EVERY - 1 and _can_mount()
    tally = hostile_requests.run(seed, numbers, kill_every, workers, full)
    return {
        "outcomes": _plain(tally.outcomes), "violations": tally.violations, "killed": len(tally.kills),
        "slow": tally.slow, "memory": tally.memory, "full disk": len(numbers) if full else 0,
    }  # fmt: skip


def _plain(outcomes: Counter[tuple[str, str]]) -> list[list[Any]]:
    return [[kind, outcome, count] for (kind, outcome), count in sorted(outcomes.items())]


def _can_mount() -> bool:
    try:
        return subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def batches(part: str, total: int, seed: int, run: Callable[[range], Plain], kept: Path) -> list[Plain]:
    """Run a part in batches, or read those that have been run."""
    done = []
    size = FILES_BATCH if part == "files" else BATCH
    for first in range(0, total, size):
        numbers = range(first, min(first + size, total))
        path = kept / f"{part}-{seed}-{first}-{len(numbers)}.json"
        if not path.exists():
            found = run(numbers) | {"commit": commit()}
            path.write_text(json.dumps(found))
            print(f"{part} {first} to {numbers[-1]}: {len(found['violations'])} violations", flush=True)
        done.append(json.loads(path.read_text()))
    return done


def table(done: Iterable[Plain], kinds: Iterable[str], first: str) -> str:
    """Return counts by kind and outcome."""
    counts: Counter[tuple[str, str]] = Counter()
    for batch in done:
        counts.update({(kind, outcome): count for kind, outcome, count in batch["outcomes"]})
    outcomes = sorted({outcome for _, outcome in counts})
    kinds = list(kinds)
    rows: list[list[Any]] = [[kind, *(counts[kind, outcome] for outcome in outcomes)] for kind in kinds]
    rows.append(["all", *(sum(counts[kind, outcome] for kind in kinds) for outcome in outcomes)])
    return markdown([first, *outcomes], rows)


def text_of(of_files: Sequence[Plain], of_requests: Sequence[Plain]) -> str:
    """Return the page."""
    sums = [
        sum(count for batch in part for *_, count in batch["outcomes"]) for part in (of_files, of_requests)
    ]
    violations = [line for part in (of_files, of_requests) for batch in part for line in batch["violations"]]
    commits = sorted({batch["commit"] for part in (of_files, of_requests) for batch in part})
    few = [name for name, count in zip(("files", "requests"), sums, strict=True) if count < GOAL]
    short = f" The goal of {GOAL:,} is not reached for {' and '.join(few)}." if few else ""
    said = (
        f"{sums[0]:,} spoilt files and {sums[1]:,} requests: {len(violations) or 'no'} violations.{short} "
        f"The batches ran at: {', '.join(commits)}."
    )
    killed, slow, full = (sum(batch[key] for batch in of_requests) for key in ("killed", "slow", "full disk"))
    beside = (
        f"Beside the requests {killed} workers were killed and {slow:,} slow connections were opened; "
        f"{full:,} of the requests were sent to a service whose temporary folder was full. At the end of a "
        f"batch the largest worker had {max(batch['memory'] for batch in of_requests) / 2**20:.0f} MiB at "
        "most. "
        "Hung up on were requests to a worker that was killed, and large bodies and heads that are refused "
        "before their end."
    )
    intro = (__doc__ or "").split("    farthing reproduce")[0].strip().partition("\n\n")[2]
    kinds = [*hostile_requests.BODIES, "no body", "large heads"]
    # The first and the last line: what it was, and the error at the end of a traceback.
    ends = [[lines[0], *lines[1:][-1:]] for lines in (line.strip().splitlines() for line in violations[:50])]
    listed = "\n".join(f"- `{' ... '.join(lines)}`" for lines in ends)
    return "\n\n".join(
        [
            "# Spoilt files and hostile requests", said, intro,
            "## Files", table(of_files, spoilt_files.kinds(), "mutation"),
            "## Requests", beside, table(of_requests, kinds, "kind"),
            *(["## Violations", listed] if violations else []),
        ]
    )  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit status is 1 if anything went wrong."""
    parser = options(__doc__)
    parser.add_argument("--files", type=int, default=50_000)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kill-every", type=float, default=5.0, help="seconds between killed workers")
    parser.add_argument("--only", choices=("files", "requests"), help="run one part, and write no page")
    parser.add_argument("--file", type=int, help="run this one file, and show what it does")
    given = parse(parser, NAME, arguments)
    commit()  # as of now, whatever is committed during a long run
    if given.file is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "spoilt.farthing"
            print(*spoilt_files.run_case(saved_models(), given.seed, given.file, path))
        return 0
    n_files, n_requests, workers = given.files, given.requests, WORKERS
    if given.tiny:  # one file of each mutation, and a single process
        n_files, n_requests, workers = len(spoilt_files.kinds()), 40, 1

    def request_batch(numbers: range) -> Plain:
        return requests(given.seed, numbers, given.kill_every, workers)

    def file_batch(numbers: range) -> Plain:
        return files(given.seed, numbers, saved_special_models() if given.tiny else saved_models())

    of_files = (
        [] if given.only == "requests" else batches("files", n_files, given.seed, file_batch, given.kept)
    )
    of_requests = (
        []
        if given.only == "files"
        else batches("requests", n_requests, given.seed, request_batch, given.kept)
    )
    wrong = [line for batch in (*of_files, *of_requests) for line in batch["violations"]]
    print(f"{len(wrong)} violations", *wrong[:20], sep="\n")
    if not given.only:
        line = command(NAME, "--files", given.files, "--requests", given.requests, "--seed", given.seed)
        write_page(given.out, NAME, text_of(of_files, of_requests), line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
