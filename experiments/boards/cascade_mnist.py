"""At most k pixels of MNIST: the branching cascade under a hard budget, beside a neural dynamic selector.

``farthing reproduce cascade_mnist`` writes docs/results/cascade_mnist.md. Every pixel costs 1, and no row
looks at more than k of them. The models are trained on the 60,000 training rows and evaluated on the 10,000
official test rows. The rival's accuracies are those of table 3 of Covert et al. (Learning to maximize mutual
information for dynamic feature selection, ICML 2023).

``--k 20`` runs one k; with ``--moved`` each training image counts five times, as it is and moved by one pixel
in each direction. The other lines are those of the page that is there. Without ``--k`` all lines of the page
are run. Results are kept when they are done.

``--k 20 --trial 6000 n_branches=8 n_estimators=20`` tries other settings: it trains on so many training rows
and evaluates on 10,000 others of them. ``--restate`` runs nothing: it writes the page anew from the figures
of the page that is there. FARTHING_DATA must name the folder of the tables; see
`farthing.datasets.load_table`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.lib.pages import RESULTS, command, options, parse, write_page
from experiments.lib.pixel_page import SECONDS, joined, page, restated, seconds_of, spread, stored_results
from experiments.lib.stored_pages import StoredPage, add_restate, restate
from farthing.cascades import BranchingCascadeClassifier
from farthing.datasets import load_table

NAME = "cascade_mnist"
# k, and whether images are moved
PIECES = ((5, False), (10, False), *((k, True) for k in (10, 15, 20, 25, 30, 40, 50)))
COMMON = {"min_samples_leaf": 5, "max_bins": 32, "random_state": 0}
SETTINGS: dict[int, dict[str, Any]] = {
    5: {
        "n_branches": 24,
        "branch_share": 0.8,
        "selection_rows": 6000,
        "growth_rows": 20_000,
        "n_estimators": 40,
        "learning_rate": 0.15,
        "max_depth": 6,
    },
    10: {
        "n_branches": 128,
        "branch_share": 0.8,
        "selection_rows": 3000,
        "growth_rows": 6000,
        "n_estimators": 30,
        "learning_rate": 0.2,
        "max_depth": 5,
    },
    15: {
        "n_branches": 32,
        "branch_share": 0.4,
        "selection_rows": 6000,
        "growth_rows": 40_000,
        "n_estimators": 60,
        "learning_rate": 0.2,
        "max_depth": 6,
    },
    20: {
        "n_branches": 64,
        "branch_share": 0.35,
        "selection_rows": 14_000,
        "n_candidates": 8,
        "growth_rows": 70_000,
        "outside_weight": 0.5,
        "n_estimators": 70,
        "learning_rate": 0.2,
        "max_depth": 6,
    },
    25: {
        "n_branches": 20,
        "branch_share": 0.2,
        "selection_rows": 6000,
        "growth_rows": 50_000,
        "n_estimators": 70,
        "learning_rate": 0.2,
        "max_depth": 6,
    },
    30: {
        "n_branches": 16,
        "branch_share": 0.15,
        "selection_rows": 6000,
        "growth_rows": 60_000,
        "n_estimators": 80,
        "learning_rate": 0.2,
        "max_depth": 6,
    },
    40: {
        "n_branches": 12,
        "branch_share": 0.1,
        "selection_rows": 6000,
        "growth_rows": 80_000,
        "n_estimators": 90,
        "learning_rate": 0.2,
        "max_depth": 6,
    },
    50: {
        "n_branches": 8,
        "branch_share": 0.08,
        "selection_rows": 6000,
        "growth_rows": 100_000,
        "n_estimators": 100,
        "learning_rate": 0.2,
        "max_depth": 6,
    },
}
TINY: dict[str, Any] = {
    "n_branches": 2,
    "selection_rows": 60,
    "n_candidates": 1,
    "growth_rows": 60,
    "n_estimators": 2,
    "learning_rate": 0.2,
    "max_depth": 2,
}
N_EVALUATED, N_TINY = 10_000, 100  # rows
SIDE = 28  # pixels


def tables(
    n_rows: int | None, n_evaluated: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return X and y to train on, X and y to evaluate on; in a trial, both of the training rows."""
    data = load_table("mnist")
    split = np.asarray(data.split)
    train, test = np.flatnonzero(split == "train"), np.flatnonzero(split == "test")
    if n_rows is not None:
        order = np.random.default_rng(0).permutation(train)
        train, test = np.sort(order[n_evaluated : n_evaluated + n_rows]), np.sort(order[:n_evaluated])
    y = np.asarray(data.y)
    X, fresh = (data.X.iloc[rows].to_numpy(dtype=np.float32) for rows in (train, test))
    return X, y[train], fresh, y[test]


def moved(X: NDArray[Any], down: int, right: int) -> NDArray[Any]:
    """Return images moved by some pixels; what comes in from outside is empty."""
    images = np.pad(X.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    rows, columns = slice(1 - down, 1 - down + SIDE), slice(1 - right, 1 - right + SIDE)
    return images[:, rows, columns].reshape(X.shape)


def run(k: int, move: bool, args: argparse.Namespace) -> dict[str, Any]:
    """Train and evaluate at one k, unless that is done."""
    n_rows = None if args.trial is None else int(args.trial[0])
    others = dict(entry.split("=") for entry in (args.trial or [])[1:])
    words = [f"{'test' if n_rows is None else 'trial'}_{k}{'_moved' if move else ''}", *(args.trial or [])]
    done = args.kept / ("_".join(["result", *words]) + ".json")
    if not done.exists():
        X, y, fresh, truth = tables(n_rows, N_TINY if args.tiny else N_EVALUATED)
        if move:
            ways = [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]
            X, y = np.concatenate([moved(X, *way) for way in ways]), np.tile(y, len(ways))
        chosen = {**COMMON, **(TINY if args.tiny else SETTINGS[k]), **values(others)}
        begin = time.process_time()
        model = BranchingCascadeClassifier(budget=k, n_jobs=args.jobs, **chosen).fit(X, y)
        seconds = time.process_time() - begin
        decided = model.decide(fresh)
        result = {
            "k": k,
            "moved": move,
            "rows": n_rows,
            "others": others,
            "settings": chosen,
            "evaluated": len(fresh),
            "accuracy": float(np.mean(decided.prediction == truth)),
            "most": int(decided.acquired.sum(axis=1).max()),
            "pixels": int(decided.acquired.any(axis=0).sum()),
            "branches": len(model.ends_),
            "seconds": seconds,
        }
        done.write_text(json.dumps(result))
    return dict(json.loads(done.read_text()))


def values(entries: dict[str, str]) -> dict[str, Any]:
    """Return settings from the command line, as values."""
    return {name: json.loads(value) for name, value in entries.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for, and write the page of all that is done."""
    parser = options(__doc__)
    parser.add_argument("--k", type=int, nargs="+", choices=sorted(SETTINGS))
    parser.add_argument("--moved", action="store_true", help="with --k: five copies of each training image")
    parser.add_argument("--trial", nargs="+", metavar="ROWS NAME=VALUE", help="with --k: other settings")
    parser.add_argument("--jobs", type=int, default=1)
    add_restate(parser)
    args = parse(parser, NAME, arguments)
    if args.restate:
        found = StoredPage.read(RESULTS / f"{NAME}.md")
        restate(args.out / f"{NAME}.md", found, restated(found), command(NAME, "--restate"))
        return
    if (args.moved or args.trial) and not args.k:
        parser.error("--moved and --trial need --k")
    pieces = [(k, args.moved) for k in args.k] if args.k else PIECES
    if args.tiny:
        args.trial, pieces = [str(N_TINY)], [(5, True)]
    results = []
    for k, move in pieces:
        results.append(run(k, move, args))
        print(spread(results[-1]), flush=True)
    tests = [result for result in results if result["rows"] is None]
    trials = [result for result in results if result["rows"] is not None]
    if args.tiny or not args.k:
        write_page(args.out, NAME, page(tests, trials, SECONDS), command(NAME))
        return
    found = StoredPage.read(RESULTS / f"{NAME}.md")
    old_tests, old_trials = stored_results(found)
    text = page(joined(old_tests, tests), joined(old_trials, trials), seconds_of(found, tests))
    words = ["--k", *args.k, *["--moved"] * args.moved, *(["--trial", *args.trial] if args.trial else [])]
    what = ", ".join(["text", *(f"{k} pixels" for k in args.k)])
    restate(args.out / f"{NAME}.md", found, text, command(NAME, *words), what)


if __name__ == "__main__":
    main()
