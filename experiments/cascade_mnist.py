"""At most k pixels of MNIST: the branching cascade under a hard budget, beside a neural dynamic selector.

``python -m experiments.cascade_mnist`` writes docs/results/cascade_mnist.md. Every pixel costs 1, and no
row, seen or unseen, looks at more than k of them. The models learn from the 60,000 training rows and are
judged by the 10,000 official test rows. The rival's accuracies are those that Covert et al. (Learning to
maximize mutual information for dynamic feature selection, ICML 2023) publish.

One piece per k (``--k 20``); branches and results that are done lie in the folder ``--kept``, so a run that
was ended goes on where it was. ``--validate`` learns from 50,000 training rows and judges by the other
10,000: that is how the settings were chosen.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from farthing.cascades import BranchingCascadeClassifier
from farthing.datasets import load_table

RESULTS = Path(__file__).parents[1] / "docs" / "results"
PUBLISHED = {5: 0.690, 10: 0.871, 20: 0.944, 50: 0.974}
COMMON = {"learning_rate": 0.15, "min_rows_leaf": 5, "max_bins": 32, "random_state": 0}
SETTINGS: dict[int, dict[str, Any]] = {
    5: {"n_branches": 32, "branch_share": 0.8, "n_trees": 30, "max_depth": 5, "grow_rows": 20_000},
    10: {"n_branches": 64, "branch_share": 0.6, "n_trees": 40, "max_depth": 5, "grow_rows": 20_000},
    20: {"n_branches": 32, "branch_share": 0.25, "n_trees": 70, "max_depth": 6, "grow_rows": 40_000},
    50: {"n_branches": 16, "branch_share": 0.08, "n_trees": 80, "max_depth": 6, "grow_rows": 60_000},
}


class Remembering(BranchingCascadeClassifier):
    """The cascade, with branches that are made once and kept in a folder."""

    folder: Path
    n_made = 0

    def _make_branch(self, *args: Any) -> Any:
        path = self.folder / f"branch_{self.n_made}.joblib"
        self.n_made += 1
        if not path.exists():
            begin = time.perf_counter()
            made = super()._make_branch(*args)
            joblib.dump((made, time.perf_counter() - begin), path.with_suffix(".part"))
            path.with_suffix(".part").rename(path)
        return joblib.load(path)[0]

    def seconds(self) -> float:
        """Return what all branches took."""
        paths = [self.folder / f"branch_{number}.joblib" for number in range(self.n_made)]
        return float(sum(joblib.load(path)[1] for path in paths))


def tables(validate: bool) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the rows to learn from and those to judge by: X, y, X, y."""
    data = load_table("mnist")
    X, y = data.X.to_numpy(dtype=np.float32), np.asarray(data.y)
    train, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    if validate:
        lots = np.random.default_rng(0).permutation(train)
        train, test = np.sort(lots[10_000:]), np.sort(lots[:10_000])
    return X[train], y[train], X[test], y[test]


def run(k: int, kept: Path, validate: bool, jobs: int) -> dict[str, Any]:
    """Learn and judge at one k, unless that is done."""
    folder = kept / f"{'validate' if validate else 'test'}_{k}"
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "result.json"
    if not done.exists():
        X, y, fresh, truth = tables(validate)
        model = Remembering(budget=k, n_jobs=jobs, **COMMON, **SETTINGS[k])
        model.folder = folder
        model.fit(X, y)
        decided = model.decide(fresh)
        result = {
            "rows": len(X),
            "judged": len(fresh),
            "accuracy": float(np.mean(decided.prediction == truth)),
            "most": int(decided.acquired.sum(axis=1).max()),
            "pixels": int(decided.acquired.any(axis=0).sum()),
            "branches": len(model.ends_),
            "seconds": model.seconds(),
        }
        done.write_text(json.dumps(result))
    return dict(json.loads(done.read_text()))


def row(k: int, result: dict[str, Any]) -> str:
    """Return a line of the table."""
    accuracy, published = result["accuracy"], PUBLISHED[k]
    error = np.sqrt(accuracy * (1 - accuracy) / result["judged"])
    verdict = "above" if accuracy > published else "below"
    counts = f"{result['most']} | {result['pixels']} | {result['branches']}"
    return (
        f"| {k} | {counts} | {accuracy:.4f} +- {error:.4f} | {published:.3f} | {verdict} "
        f"| {result['seconds']:.0f} |"
    )


def settings(k: int) -> str:
    """Return a line on the settings of one k."""
    given = {**SETTINGS[k], **COMMON}
    return f"- k = {k}: " + ", ".join(f"`{name}={value}`" for name, value in given.items())


def main() -> None:
    """Run what is asked for, and write the page of all that is done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, nargs="+", choices=sorted(PUBLISHED), default=sorted(PUBLISHED))
    parser.add_argument("--kept", type=Path, default=Path("build/cascade_mnist"))
    parser.add_argument("--validate", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    for k in args.k:
        print(row(k, run(k, args.kept, args.validate, args.jobs)), flush=True)
    if not args.validate:
        done = [k for k in PUBLISHED if (args.kept / f"test_{k}" / "result.json").exists()]
        lines = [row(k, run(k, args.kept, False, args.jobs)) for k in done]
        text = PAGE.format(table="\n".join(lines), settings="\n".join(settings(k) for k in done))
        (RESULTS / "cascade_mnist.md").write_text(text)


PAGE = """# At most k pixels of MNIST

`python -m experiments.cascade_mnist`

Every pixel costs 1; k is a hard budget of each row. `BranchingCascadeClassifier` learns from the 60,000
training rows; accuracy on the 10,000 official test rows, with its standard error. Published: Covert et al.
2023, a neural network that chooses pixel after pixel for each row. Seconds are those of all branches on one
thread of a busy machine.

| k | most pixels of a row | pixels in all | branches | cascade | published | | seconds |
|---|---|---|---|---|---|---|---|
{table}

## Settings

{settings}

They were chosen on 10,000 training rows held out (`--validate`) and on smaller samples of the training rows;
the test rows chose nothing. The rest are the defaults.
"""


if __name__ == "__main__":
    main()
