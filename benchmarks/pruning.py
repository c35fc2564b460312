"""Pruning a forest for every trade-off: all breakpoints against one linear program, and against one cut.

Ours is a whole call of `prune_path`: the closure problem, every breakpoint, the costs and errors of all
prunings. The rival on letter is HiGHS on the linear program of the thesis (IP) at one trade-off, without the
time to set it up; the trade-off is one at which half of the cost is saved, and both find the same optimum.
Where HiGHS gives up within the limit (FARTHING_LP_SECONDS, 600), the table says so, and trees and rows are
halved until it does not. On covtype the rival is one minimum cut of the same solver, from nothing, the mean
of four at trade-offs that leave 80, 60, 40 and 20 % of the cost; the limit of memory is what the process may
hold at its peak while it prunes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from benchmarks.measure import Line, seconds
from farthing.datasets import load_table
from farthing.forests import BudgetForestClassifier, PruningPath, prune_path
from farthing.forests.budget_prune.problem import PruningProblem

LETTER_ROWS, LETTER_TREES = 4_000, 40
COVTYPE_ROWS, COVTYPE_TREES, COVTYPE_TRAINING = 20_000, 100, 36_603
LIMIT_GIB = 6.0


def run(threads: int) -> list[Line]:
    """Measure everything."""
    return [*letter(threads), *covtype(threads)]


def grown(name: str, n_training: int, n_rows: int, n_estimators: int, threads: int) -> tuple[Any, Any, Any]:
    """Return a forest and the validation rows."""
    data = load_table(name)
    X, y = np.ascontiguousarray(data.X.to_numpy(dtype=np.float64)), np.asarray(data.y)
    order = np.random.default_rng(0).permutation(len(y))
    training, validation = order[:n_training], order[n_training : n_training + n_rows]
    model = BudgetForestClassifier(n_estimators=n_estimators, random_state=0, n_jobs=threads)
    return model.fit(X[training], y[training]), X[validation], y[validation]


# ---- the linear program ------------------------------------------------------------------------------------


def letter(threads: int) -> list[Line]:
    """Race HiGHS, on smaller and smaller problems until it keeps the time limit."""
    lines, solved = [], False
    n_estimators, n_rows = LETTER_TREES, LETTER_ROWS
    while not solved:
        line, solved = against_program(n_estimators, n_rows, threads)
        lines.append(line)
        n_estimators, n_rows = n_estimators // 2, n_rows // 2
    return lines


def against_program(n_estimators: int, n_rows: int, threads: int) -> tuple[Line, bool]:
    """Race HiGHS once; return whether it kept the time limit, too."""
    limit = float(os.environ.get("FARTHING_LP_SECONDS", "600"))
    model, X, y = grown("letter", 14_000, n_rows, n_estimators, threads)
    turns = [timed(lambda: prune_path(model, X, y, n_jobs=threads)) for _ in range(3)]
    ours, path = min(turn[0] for turn in turns), turns[0][1]
    entry = halfway(path, 0.5)
    lam = float((path.tradeoffs[entry] + path.tradeoffs[entry + 1]) / 2)
    program = thesis_program(model, X, lam)
    theirs, answer = timed(lambda: linprog(**program, options={"time_limit": limit}))
    solved, rival = answer.status == 0, "one HiGHS LP"
    if solved:
        best = float(path.objective_errors[entry] + lam * path.costs[entry])
        if abs(answer.fun - best) > 1e-6:
            raise AssertionError(f"the program finds {answer.fun}, the cut {best}")
    else:
        rival += f", given up after {theirs:.0f} s"
    what = f"letter, {n_estimators} trees, {n_rows} rows: {len(path)} prunings"
    # A rival that gave up would have taken longer still: the ratio is a bound, which cannot miss the goal.
    goal = 0.01 if solved or ours <= 0.01 * theirs else None
    return Line(what, rival, ours, theirs, ours / theirs, goal), solved


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of a call and its result."""
    results: list[Any] = []
    return seconds(lambda: results.append(work())), results[0]


def halfway(path: PruningPath, share: float) -> int:
    """Return the entry, not the last, whose cost is nearest to a share of the first's."""
    return int(np.argmin(np.abs(path.costs[:-1] - share * path.costs[0])))


def thesis_program(model: Any, X: NDArray[np.float64], lam: float) -> dict[str, Any]:
    """Return (IP) of the thesis, relaxed, for features without groups: arguments of `linprog`.

    Columns are z by node, then w by row and feature, then w by tree, row and feature.
    """
    forest, n_rows, n_estimators = model.forest_, len(X), model.forest_.n_trees
    starts, parent = forest.tree_starts(), parents(forest)
    first_w = forest.n_nodes
    n_columns = first_w + n_rows * forest.n_features
    wrong = forest.value.sum(axis=1) - forest.value.max(axis=1)
    costs = [
        wrong / (forest.value[0].sum() * n_estimators),
        np.tile(lam * np.asarray(model.costs_.own) / n_rows, n_rows),
    ]
    equal_rows: list[NDArray[np.int64]] = []
    equal_columns: list[NDArray[np.int64]] = []
    below_columns: list[NDArray[np.int64]] = []
    n_equal = 0
    for t in range(n_estimators):
        # Each leaf: exactly one node of its path is a leaf of the pruned tree.
        for h in range(int(forest.offsets[t]), int(forest.offsets[t + 1])):
            if forest.feature[h] >= 0:
                continue
            path = [h]
            while parent[path[-1]] >= 0:
                path.append(int(parent[path[-1]]))
            equal_rows.append(np.full(len(path), n_equal))
            equal_columns.append(np.array(path))
            n_equal += 1
        # Each feature that a row first meets at h: bought in this tree, or pruned on the way to h.
        at = np.full(n_rows, forest.offsets[t])
        seen = np.zeros((n_rows, forest.n_features), dtype=bool)
        above: list[NDArray[np.int64]] = []
        moving = np.arange(n_rows)
        while len(moving := moving[forest.feature[at[moving]] >= 0]):
            node = at.copy()
            above.append(node)
            feature = forest.feature[node[moving]]
            new = ~seen[moving, feature]
            rows, k = moving[new], feature[new]
            seen[rows, k] = True
            mine = n_columns + np.arange(len(rows))
            n_columns += len(rows)
            number = n_equal + np.arange(len(rows))
            n_equal += len(rows)
            for level in above:
                equal_rows.append(number)
                equal_columns.append(level[rows])
            equal_rows.append(number)
            equal_columns.append(mine)
            below_columns.append(np.column_stack([mine, first_w + rows * forest.n_features + k]))
            left = X[moving, feature] <= forest.threshold[node[moving]]
            at[moving] = starts[node[moving]] + np.where(
                left, forest.left[node[moving]], forest.right[node[moving]]
            )
    below = np.concatenate(below_columns)
    costs.append(np.zeros(len(below)))
    number = np.repeat(np.arange(len(below)), 2)
    signs = np.tile([1.0, -1.0], len(below))
    entries = (np.concatenate(equal_rows), np.concatenate(equal_columns))
    return {
        "c": np.concatenate(costs),
        "A_eq": coo_array((np.ones(len(entries[0])), entries), shape=(n_equal, n_columns)).tocsr(),
        "b_eq": np.ones(n_equal),
        "A_ub": coo_array((signs, (number, below.ravel())), shape=(len(below), n_columns)).tocsr(),
        "b_ub": np.zeros(len(below)),
        "bounds": (0, 1),
        "method": "highs",
    }


def parents(forest: Any) -> NDArray[np.int64]:
    """Return each node's parent, -1 for a root."""
    parent = np.full(forest.n_nodes, -1)
    inner = np.flatnonzero(forest.feature >= 0)
    for child in (forest.left, forest.right):
        parent[forest.tree_starts()[inner] + child[inner]] = inner
    return parent


# ---- one cut -----------------------------------------------------------------------------------------------


def covtype(threads: int) -> list[Line]:
    """Measure in a process of its own, for its memory."""
    command = [sys.executable, "-m", "benchmarks.pruning", str(threads)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    what = f"covtype, {COVTYPE_TREES} trees, {COVTYPE_ROWS} rows"
    path, cut, peak = found["path"], found["cut"], found["peak"]
    return [
        Line(f"{what}: {found['n']} prunings", "one cut", path, cut, path / cut, 30.0),
        Line(f"{what}: peak memory", "limit", peak, LIMIT_GIB, peak / LIMIT_GIB, 1.0, "GiB"),
    ]


def _status(field: str) -> float:
    """Return a field of this process's memory status in GiB (Linux)."""
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) / 2**20 for line in status if line.startswith(field))


def _prune_and_report(threads: int) -> None:
    model, X, y = grown("covtype", COVTYPE_TRAINING, COVTYPE_ROWS, COVTYPE_TREES, threads)
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # resets the peak
    whole, path = timed(lambda: prune_path(model, X, y, n_jobs=threads))
    peak = _status("VmHWM")
    task = PruningProblem.of(model, X, y, None, threads)
    gains, prices = task.gains("error", None, None), task.prices(0)
    problem = task.closure(gains, prices)
    rate = float(gains.unit / prices.unit * len(X))
    cuts = []
    for share in (0.8, 0.6, 0.4, 0.2):
        entry = halfway(path, share)
        lam = float((path.tradeoffs[entry] + path.tradeoffs[entry + 1]) / 2) / rate
        p, q = float(np.float32(lam)).as_integer_ratio()
        spent, kept = timed(partial(problem.cut, p, q))
        cuts.append(spent)
        inner = model.forest_.feature >= 0
        if not np.array_equal(kept[inner] > 0, path.kept(path.index(p / q * rate))[inner]):
            raise AssertionError("the path and the cut differ")
    print(json.dumps({"path": whole, "cut": float(np.mean(cuts)), "peak": peak, "n": len(path)}))


if __name__ == "__main__":
    _prune_and_report(int(sys.argv[1]))
