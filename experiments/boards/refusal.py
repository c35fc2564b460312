"""What refusals cost: every registered method without its first question, a random feature, half of them.

``farthing reproduce refusal`` writes docs/results/refusal.md. Methods are fitted on all features, predict
test rows that refuse some, and are fitted again without the first question. Each fit is kept when it is
measured, so a long run can be made in parts: ``--tables heart_cleveland``. The ranking table is not bundled:
FARTHING_DATA names the folder that has it, see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.preprocessing import StandardScaler

from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.base import RankerMixin, registered, trials
from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.costs import CostSheet
from farthing.datasets import load_heart_disease, load_pima_diabetes, load_table
from farthing.metrics import ndcg
from farthing.typing import Floats

NAME: Final = "refusal"
TWO_CLASSES: Final = ("heart_cleveland", "pima_diabetes", "breast_cancer")
CLASSES: Final = (*TWO_CLASSES, "wine")
NUMBERS: Final = ("diabetes",)
QUERIES: Final = ("lightgbm_lambdarank",)
TABLES: Final = (*CLASSES, *NUMBERS, *QUERIES)
REFUSED: Final = ("nothing", "first question", "random feature", "half")
REFITTED: Final = "refitted without it"
METHODS: Final = tuple(registered())
# Settings other than the defaults: a pipeline needs steps, and the search of the front door is kept small.
SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "BudgetedClassifier": {
        "methods": ["BudgetForestClassifier", "GreedyMiserClassifier", "MiserCascadeClassifier"],
        "cv": 3,
    },
    "BudgetedRanker": {"cv": 3},
    "BudgetedRegressor": {"methods": ["GreedyMiserRegressor", "MiserCascadeRegressor"], "cv": 3},
    "PipelineClassifier": {"transformer": StandardScaler(), "estimator": GreedyMiserClassifier()},
    "PipelineRegressor": {"transformer": SimpleImputer(), "estimator": GreedyMiserRegressor()},
}
# Random sets of features that a cell of "random feature" and "half" is the mean over.
N_DRAWS: Final = 5
# Queries of the ranking table, whose documents are walked one by one.
N_QUERIES: Final = 60
# A method degrades gently if a refusal leaves it at least this share of what it gains over a constant.
GENTLE: Final = 0.5

Scores = dict[str, float]


# Measuring.


class Table(NamedTuple):
    """Features, target, prices, and the query of each row if it has one."""

    X: Floats
    y: NDArray[Any]
    costs: CostSheet
    qid: NDArray[Any] | None = None

    def without(self, column: int) -> Table:
        """Return the table without a column."""
        kept = np.delete(np.arange(self.X.shape[1]), column)
        return self._replace(X=self.X[:, kept], costs=CostSheet(self.costs.own[kept]))


def table(name: str) -> Table:
    """Return a table by its name."""
    if name in ("heart_cleveland", "pima_diabetes"):
        data = (load_heart_disease if name == "heart_cleveland" else load_pima_diabetes)(frame=False)
        return Table(np.asarray(data.X, dtype=np.float64), data.y, CostSheet(data.costs.own))
    qid = None
    if name in QUERIES:
        ranked = load_table(name)
        queries = np.asarray(ranked.queries)
        kept = np.isin(queries, np.unique(queries)[:N_QUERIES])
        X, y = np.asarray(ranked.X, dtype=np.float64)[kept], np.asarray(ranked.y)[kept]
        qid = queries[kept]
    else:
        load = {"breast_cancer": load_breast_cancer, "wine": load_wine, "diabetes": load_diabetes}[name]
        X, y = load(return_X_y=True)
    prices = np.random.default_rng(0).integers(1, 51, size=X.shape[1]).astype(float)
    return Table(X, y, CostSheet(prices), qid)


def splits(data: Table, name: str, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows to learn from and to test on; whole queries."""
    places = np.arange(len(data.y))
    if data.qid is not None:
        shuffle = GroupShuffleSplit(1, test_size=0.4, random_state=seed)
        learn, test = next(shuffle.split(places, groups=data.qid))
        return learn, test
    classes = data.y if name in CLASSES else None
    learn, test = train_test_split(places, test_size=0.4, random_state=seed, stratify=classes)
    return learn, test


def fitted(method: str, data: Table, rows: NDArray[np.int64], seed: int) -> Any:
    """Return a method fitted on some rows, with prices and a seed if it takes them."""
    made = trials(method)[0].set_params(**SETTINGS.get(method, {}))
    given = {"costs": data.costs, "random_state": seed}
    made.set_params(**{name: given[name] for name in given if name in made.get_params(deep=False)})
    queries = {} if data.qid is None else {"qid": data.qid[rows]}
    return made.fit(data.X[rows], data.y[rows], **queries)


def score(model: Any, data: Table, rows: NDArray[np.int64], name: str, refused: NDArray[np.int64]) -> float:
    """Return the accuracy, the mean squared error or the NDCG@5 of rows that refuse some columns."""
    flags = np.zeros((len(rows), data.X.shape[1]), dtype=np.bool_)
    flags[:, refused] = True
    if model.asks == "devices":  # it is the device that lacks the value, and sends a message all the same
        return rate(data, rows, name, model.predict(np.where(flags, np.nan, data.X[rows])))
    options: dict[str, Any] = {"refused": flags} if len(refused) else {}
    if type(model).__name__ == "EarlyExitRanker" and data.qid is not None:
        options["qid"] = data.qid[rows]
    return rate(data, rows, name, model.predict(data.X[rows], **options))


def rate(data: Table, rows: NDArray[np.int64], name: str, found: NDArray[Any]) -> float:
    """Return the score of predictions."""
    if data.qid is not None:
        return ndcg(data.y[rows], found, qid=data.qid[rows], k=5)
    truth = data.y[rows]
    return float(np.mean(found == truth if name in CLASSES else (found - truth) ** 2))


def constant(data: Table, learn: NDArray[np.int64], test: NDArray[np.int64], name: str) -> float:
    """Return the score of the same prediction for all rows; documents then come in random order."""
    labels, counts = np.unique(data.y[learn], return_counts=True)
    best = labels[counts.argmax()] if name in CLASSES else data.y[learn].mean()
    return rate(data, test, name, np.full(len(test), best))


def refusals(first: int, n_features: int, seed: int, n_draws: int) -> dict[str, list[NDArray[np.int64]]]:
    """Return the sets of columns that are refused, by the name of the column of the page."""
    rng = np.random.default_rng(seed)
    one, half = (
        [rng.permutation(n_features)[:size] for _ in range(n_draws)] for size in (1, n_features // 2)
    )
    sets = ([np.arange(0)], [np.array([first])], one, half)
    return dict(zip(REFUSED, sets, strict=True))


def measure(method: str, name: str, seed: int, n_draws: int) -> Scores:
    """Return the scores for each kind of refusal, of a fit without the first question, and of a constant."""
    data = table(name)
    learn, test = splits(data, name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(method, data, learn, seed)
        ask = model.walk(seed=0).ask
        first = model.fitted_.schema.names.index(ask.feature) if ask is not None else 0
        sets = refusals(first, data.X.shape[1], seed, n_draws)
        scores = {
            kind: float(np.mean([score(model, data, test, name, columns) for columns in drawn]))
            for kind, drawn in sets.items()
        }
        less = data.without(first)
        scores[REFITTED] = score(fitted(method, less, learn, seed), less, test, name, np.arange(0))
    return {**scores, "constant": constant(data, learn, test, name)}


# The page.


def gain(scores: Scores, kind: str) -> float:
    """Return how much better than a constant a score is; for errors, how much less."""
    return (-1 if scores.get("is_error") else 1) * (scores[kind] - scores["constant"])


def kept_share(scores: Scores, kind: str, whole: str = REFUSED[0]) -> float | None:
    """Return how much of a gain over a constant a method keeps; None if there is no gain.

    Examples
    --------
    >>> kept_share({"nothing": 0.9, "half": 0.7, "constant": 0.6}, "half")
    0.333
    >>> kept_share({"nothing": 50.0, "half": 75.0, "constant": 100.0, "is_error": True}, "half")
    0.5
    """
    most = gain(scores, whole)
    return round(gain(scores, kind) / most, 3) if most > 0 else None


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

    columns = (*REFUSED[:2], REFITTED, *REFUSED[2:])
    level = next(iter(rows.values()))["constant"]
    lines = [[name, *(cell(scores, kind) for kind in columns)] for name, scores in sorted(rows.items())]
    return f"\n## {title}, {level:.{digits}f} for a constant\n\n" + markdown(["method", *columns], lines)


def below(averages: dict[str, Scores], kind: str, whole: str = REFUSED[0]) -> str:
    """Return the methods that keep less than they should, with what they keep."""
    shares = [(kept_share(scores, kind, whole), name) for name, scores in averages.items()]
    harsh = sorted((share, name) for share, name in shares if share is not None and share < GENTLE)
    return ", ".join(f"{name} ({share:.0%})" for share, name in harsh) or "none"


def verdict(averages: dict[str, Scores], by_table: dict[str, dict[str, Scores]]) -> str:
    """Return the first lines of the page: which methods lose more than they should, and where."""
    lines = [f"Less than {GENTLE:.0%} of the gain over a constant is left, on average over the tables:", ""]
    lines += [f"- {kind} refused: {below(averages, kind)}" for kind in REFUSED[1:]]
    lines += [
        f"- first question refused, of what the method gains if it is {REFITTED}: "
        f"{below(averages, REFUSED[1], REFITTED)}",
        "",
        "No better than a constant without the first question, although better with it:",
        "",
    ]
    for name, rows in by_table.items():
        lost = sorted(
            method + ("" if gain(scores, REFITTED) > 0 else f" (nor if {REFITTED})")
            for method, scores in rows.items()
            if gain(scores, REFUSED[0]) > 0 >= gain(scores, REFUSED[1])
        )
        lines.append(f"- {name}: {', '.join(lost) or 'none'}")
    return "\n".join(lines)


def not_measured(by_table: dict[str, dict[str, Scores]], methods: Sequence[str]) -> str:
    """Return a paragraph on the methods that a table lacks, if any."""
    lacking = {
        name: [method for method in methods if fits_table(method, name) and method not in rows]
        for name, rows in by_table.items()
    }
    listed = "; ".join(f"{name}: {', '.join(missed)}" for name, missed in lacking.items() if missed)
    return f"Not measured: {listed}.\n\n" if listed else ""


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
        method: mean_scores(found)
        for method in methods
        if (found := [rows[method] for name, rows in by_table.items() if method in rows and name != "wine"])
    }
    of_classes = {m: scores for m, scores in averages.items() if is_classifier(trials(m)[0])}
    sections = [section("Mean accuracy of the tables with two classes", of_classes, 3)] if of_classes else []
    for name, rows in by_table.items():
        if rows:
            what = "accuracy" if name in CLASSES else "NDCG@5" if name in QUERIES else "mean squared error"
            sections.append(section(f"{name}: {what}", rows, 0 if name in NUMBERS else 3))
    first = not_measured(by_table, methods) + verdict(averages, by_table)
    times = "once" if len(seeds) == 1 else f"{len(seeds)} times"
    text = HEAD.format(verdict=first, times=times, n_draws=n_draws, n_queries=N_QUERIES)
    return text + "\n".join(sections)


HEAD = """# Accuracy under refusal

{verdict}

- Each method is fitted on 60% of the rows, {times}, and predicts the others with some features
  refused in every row: the one that its walk asks for first, one at random, or half of them at random, the
  same sets for all methods; random ones are means over {n_draws} sets. No method is told of this in training.
- Refitted without it: the same method, fitted on the table without the column of its first question. This is
  what can be expected of a model that goes on well without it.
- In brackets: the share of its gain over a constant that is left, if it gains anything. The constant is the
  majority class, the mean, or a random order. Above 100% the refusal helped; below 0% a constant is better.
- Settings are the defaults, with these exceptions. The front door chooses among three methods
  (`BudgetedRegressor`: two) by 3 folds, without a budget. Pipelines are of a scaler or an imputer and a
  Greedy Miser. `OneVsRestClassifier` is there for wine; of two classes it is its own binary method.
- The devices of edge models lack the refused values, and send their messages all the same.
- Prices are the real ones, without groups, for heart_cleveland and pima_diabetes, and random integers from 1
  to 50 otherwise. The ranking table has its first {n_queries} queries.
"""


def file_of(kept: Path, method: str, name: str, seed: int) -> Path:
    """Return where a result is kept."""
    return kept / f"{method}-{name}-{seed}.json"


def fits_table(method: str, name: str) -> bool:
    """Return whether a method predicts the kind of target that a table has."""
    model = trials(method)[0]
    if name in CLASSES:
        return bool(is_classifier(model)) and (
            name in TWO_CLASSES or not getattr(model, "binary_only", False)
        )
    return not is_classifier(model) and isinstance(model, RankerMixin) == (name in QUERIES)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=TABLES)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument(
        "--restate", action="store_true", help="write the page of what was measured, and measure nothing"
    )
    args = parse(parser, NAME, arguments)
    methods, n_draws = METHODS, N_DRAWS
    if args.tiny:
        args.tables, args.seeds, n_draws = ["heart_cleveland", "diabetes"], [0], 1
        methods = ("BudgetTreeClassifier", "AdaBoostClassifier", "PipelineRegressor")
    for seed in args.seeds:
        for name in args.tables:
            for method in (method for method in methods if fits_table(method, name)):
                file = file_of(args.kept, method, name, seed)
                if not file.exists() and not args.restate:
                    begin = time.process_time()
                    scores = measure(method, name, seed, n_draws)
                    file.write_text(json.dumps(scores), encoding="utf-8")
                    seconds = time.process_time() - begin
                    print(f"{name}, seed {seed}, {method}: {scores}, {seconds:.0f} s", flush=True)
    line = command(NAME, "--seeds", *args.seeds)
    write_page(args.out, NAME, page(args.kept, args.tables, args.seeds, methods, n_draws), line)


if __name__ == "__main__":
    main()
