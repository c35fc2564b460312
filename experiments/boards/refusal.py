"""What refusals cost: every registered method without its first question, a random feature, half of them.

``farthing reproduce refusal`` writes docs/results/refusal.md. Every method is fitted at its defaults, on all
features. Then test rows are predicted that lack some: a refused feature is missing from every test row. Each
fit is kept when it is measured, so a long run can be made in parts: ``--tables heart_cleveland``.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import train_test_split

from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.base import registered, trials
from farthing.costs import CostSheet
from farthing.datasets import load_heart_disease, load_pima_diabetes
from farthing.typing import Floats

NAME: Final = "refusal"
CLASSES: Final = ("heart_cleveland", "pima_diabetes", "breast_cancer")
NUMBERS: Final = ("diabetes",)
REFUSED: Final = ("nothing", "first question", "random feature", "half")
# They hand over a model of one of the other methods. Rankers are scored by queries; their trees are those of
# the regressors.
LEFT_OUT: Final = (
    *("BudgetedClassifier", "BudgetedRanker", "BudgetedRegressor", "EarlyExitRanker", "GreedyMiserRanker"),
)
METHODS: Final = tuple(name for name in registered() if name not in LEFT_OUT)
# Random sets of features that a cell of "random feature" and "half" is the mean over.
N_DRAWS: Final = 10
# A method degrades gently if a refusal leaves it at least this share of what it gains over a constant.
GENTLE: Final = 0.5

Scores = dict[str, float]


# Measuring.


def table(name: str) -> tuple[Floats, NDArray[Any], CostSheet]:
    """Return the features, the target and the prices of a table."""
    if name in ("heart_cleveland", "pima_diabetes"):
        data = (load_heart_disease if name == "heart_cleveland" else load_pima_diabetes)(frame=False)
        return np.asarray(data.X, dtype=np.float64), data.y, CostSheet(data.costs.own)
    X, y = (load_breast_cancer if name == "breast_cancer" else load_diabetes)(return_X_y=True)
    return X, y, CostSheet(np.random.default_rng(0).integers(1, 51, size=X.shape[1]).astype(float))


def estimator(method: str, costs: CostSheet, seed: int) -> Any:
    """Return a method at its defaults, with prices and a seed if it takes them."""
    made = trials(method)[0]
    given = {"costs": costs, "random_state": seed}
    return made.set_params(**{name: given[name] for name in given if name in made.get_params(deep=False)})


def refusals(first: int, n_features: int, seed: int, n_draws: int) -> dict[str, list[NDArray[np.int64]]]:
    """Return the sets of columns that are refused, by the name of the column of the page."""
    rng = np.random.default_rng(seed)
    one, half = (
        [rng.permutation(n_features)[:size] for _ in range(n_draws)] for size in (1, n_features // 2)
    )
    sets = ([np.arange(0)], [np.array([first])], one, half)
    return dict(zip(REFUSED, sets, strict=True))


def measure(method: str, name: str, seed: int, n_draws: int) -> Scores:
    """Return the accuracy, or the mean squared error, for each kind of refusal and for a constant."""
    X, y, costs = table(name)
    classes = y if name in CLASSES else None
    learn, test = train_test_split(np.arange(len(y)), test_size=0.4, random_state=seed, stratify=classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator(method, costs, seed).fit(X[learn], y[learn])

        def score(columns: NDArray[np.int64]) -> float:
            rows = X[test].copy()
            rows[:, columns] = np.nan
            found = model.predict(rows)
            return float(np.mean(found == y[test] if name in CLASSES else (found - y[test]) ** 2))

        ask = model.walk(seed=0).ask
        first = model.fitted_.schema.names.index(ask.feature) if ask is not None else 0
        sets = refusals(first, X.shape[1], seed, n_draws)
        scores = {kind: float(np.mean([score(columns) for columns in drawn])) for kind, drawn in sets.items()}
    if name in CLASSES:
        labels, counts = np.unique(y[learn], return_counts=True)
        constant = float(np.mean(y[test] == labels[counts.argmax()]))
    else:
        constant = float(np.mean((y[test] - y[learn].mean()) ** 2))
    return {**scores, "constant": constant}


# The page.


def kept_share(scores: Scores, kind: str) -> float | None:
    """Return how much of its gain over a constant a method keeps; None if it gains nothing.

    Examples
    --------
    >>> kept_share({"nothing": 0.9, "half": 0.7, "constant": 0.6}, "half")
    0.333
    >>> kept_share({"nothing": 50.0, "half": 75.0, "constant": 100.0, "is_error": True}, "half")
    0.5
    """
    sign = -1 if scores.get("is_error") else 1
    whole, left = (sign * (scores[each] - scores["constant"]) for each in ("nothing", kind))
    return round(left / whole, 3) if whole > 0 else None


def mean_scores(found: Sequence[Scores]) -> Scores:
    """Return the mean of each entry."""
    return {key: float(np.mean([scores[key] for scores in found])) for key in found[0]}


def section(title: str, rows: dict[str, Scores], digits: int) -> str:
    """Return a table: one method a line, its scores and in brackets the share of its gain that is left."""

    def cell(scores: Scores, kind: str) -> str:
        share = kept_share(scores, kind)
        return f"{scores[kind]:.{digits}f}" + (
            f" ({share:.0%})" if kind in REFUSED[1:] and share is not None else ""
        )

    constant = next(iter(rows.values()))["constant"]
    lines = [[name, *(cell(scores, kind) for kind in REFUSED)] for name, scores in sorted(rows.items())]
    return f"\n## {title}, {constant:.{digits}f} for a constant\n\n" + markdown(["method", *REFUSED], lines)


def verdict(averages: dict[str, Scores], by_table: dict[str, dict[str, Scores]]) -> str:
    """Return the first lines of the page: which methods lose more than they should, and where."""
    lines = [f"Less than {GENTLE:.0%} of the gain over a constant is left, on average over the tables:", ""]
    for kind in REFUSED[1:]:
        shares = [(kept_share(scores, kind), name) for name, scores in averages.items()]
        harsh = sorted((share, name) for share, name in shares if share is not None and share < GENTLE)
        listed = ", ".join(f"{name} ({share:.0%})" for share, name in harsh) or "none"
        lines.append(f"- {kind} refused: {listed}")
    lines += ["", "No better than a constant without the first question, although better with it:", ""]
    for name, rows in by_table.items():
        below = [
            m for m, s in rows.items() if (share := kept_share(s, REFUSED[1])) is not None and share <= 0
        ]
        lines.append(f"- {name}: {', '.join(sorted(below)) or 'none'}")
    return "\n".join(lines)


def page(
    kept: Path, tables: Sequence[str], seeds: Sequence[int], methods: Sequence[str], n_draws: int
) -> str:
    """Return the page of what was measured."""
    by_table: dict[str, dict[str, Scores]] = {}
    for name in tables:
        files = {m: [file_of(kept, m, name, seed) for seed in seeds] for m in methods}
        by_table[name] = {
            m: {**mean_scores([json.loads(file.read_text()) for file in found]), "is_error": name in NUMBERS}
            for m, found in files.items()
            if all(file.exists() for file in found)
        }
    averages = {
        method: mean_scores([rows[method] for rows in by_table.values() if method in rows])
        for method in methods
        if any(method in rows for rows in by_table.values())
    }
    of_classes = {method: scores for method, scores in averages.items() if not scores["is_error"]}
    sections = [section("Mean accuracy of all tables", of_classes, 3)] if of_classes else []
    for name, rows in by_table.items():
        if rows:
            what = "accuracy" if name in CLASSES else "mean squared error"
            sections.append(section(f"{name}: {what}", rows, 3 if name in CLASSES else 0))
    text = HEAD.format(verdict=verdict(averages, by_table), n_seeds=len(seeds), n_draws=n_draws)
    return text + "\n".join(sections)


HEAD = """# Accuracy under refusal

{verdict}

- Each method is fitted at its defaults on 60% of the rows, {n_seeds} times, and predicts the others with some
  features refused: the one that its walk asks for first, one at random, or half of them at random, the same
  sets for all methods; random ones are means over {n_draws} sets. A refused feature is missing from all test
  rows; no method is told of this in training.
- In brackets: the share of its gain over a constant that is left, if it gains anything. The constant is the
  majority class or the mean. Above 100% the refusal helped; below 0% a constant is better.
- Prices are the real ones, without groups, for heart_cleveland and pima_diabetes, and random integers from 1
  to 50 otherwise.
- `BudgetedClassifier` and `BudgetedRegressor` hand over one of these models; rankers grow the trees of the
  regressors.
"""


def file_of(kept: Path, method: str, name: str, seed: int) -> Path:
    """Return where a result is kept."""
    return kept / f"{method}-{name}-{seed}.json"


def fits_table(method: str, name: str) -> bool:
    """Return whether a method predicts the kind of target that a table has."""
    return bool(is_classifier(trials(method)[0])) == (name in CLASSES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", choices=[*CLASSES, *NUMBERS], default=[*CLASSES, *NUMBERS])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    args = parse(parser, NAME, arguments)
    methods, n_draws = METHODS, N_DRAWS
    if args.tiny:
        args.tables, args.seeds, n_draws = ["heart_cleveland", "diabetes"], [0], 1
        methods = ("BudgetTreeClassifier", "AdaBoostClassifier", "GradientBoostingRegressor")
    for name in args.tables:
        for method in (method for method in methods if fits_table(method, name)):
            for seed in args.seeds:
                file = file_of(args.kept, method, name, seed)
                if not file.exists():
                    begin = time.process_time()
                    scores = measure(method, name, seed, n_draws)
                    file.write_text(json.dumps(scores), encoding="utf-8")
                    seconds = time.process_time() - begin
                    print(f"{name}, seed {seed}, {method}: {scores}, {seconds:.0f} s", flush=True)
    line = command(NAME, "--seeds", *args.seeds)
    write_page(args.out, NAME, page(args.kept, args.tables, args.seeds, methods, n_draws), line)


if __name__ == "__main__":
    main()
