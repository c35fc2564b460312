"""Accuracy at six budgets: `farthing.BudgetedClassifier` against LightGBM with cost penalties or on subsets.

``python -m experiments.front_door`` writes docs/results/front_door.md. What was measured is kept in a folder,
one file for each table and seed, so a long run can be made in parts: ``--tables dna --seeds 0``.
FARTHING_DATA must name the folder of the larger tables; see `farthing.datasets.load_table`.

Everybody chooses by the same validation rows: at each budget the model with the best accuracy on them, among
those whose validation rows spend no more in the mean. The chosen setting is then fitted again on training and
validation rows together, as `BudgetedClassifier` does, for the rivals, too.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from experiments.mean_budgets import Followed, Split, follow
from experiments.miser_accuracy import SHARES, grid, prior
from experiments.penalised_lightgbm import penalised_classifier
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit, StratifiedKFold

from farthing import BudgetedClassifier
from farthing.costs import CostSheet
from farthing.datasets import (
    Dataset,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_table,
    load_thyroid,
)
from farthing.frontier.candidates import Ground, candidates

ROOT = Path(__file__).parents[1]
RESULTS, KEPT = ROOT / "docs" / "results", ROOT / "build" / "front_door"
# With real prices and groups: cross-validation, which a seed repeats. The larger ones: rows that are drawn.
REAL: dict[str, Callable[..., Dataset]] = {
    "heart_cleveland": load_heart_disease,
    "pima_diabetes": load_pima_diabetes,
    "hepatitis": load_hepatitis,
    "thyroid": load_thyroid,
}
DRAWN = {
    "dna": 3186,
    "miniboone_tiny": 5000,
    "satellite": 6435,
    "adult": 8000,
    "covtype": 20_000,
    "letter": 8000,
}
N_FOLDS = 5
N_ROUNDS = 60
SETTINGS: dict[str, Any] = {"max_depth": 4, "learning_rate": 0.1, "l2": 1.0, "min_rows_leaf": 5}
OURS = "BudgetedClassifier"
COUPLED, LAZY, BY_GAIN, BY_RATIO = (
    "LightGBM coupled",
    "LightGBM lazy",
    "LightGBM, subset by gain",
    "LightGBM, subset by gain per price",
)


# The tables.


def splits(name: str, seed: int) -> Iterator[Split]:
    """Yield the folds of a table with real prices, or one random split at prices drawn with the seed."""
    rng = np.random.default_rng(seed)
    data = REAL[name](frame=True) if name in REAL else load_table(name)
    frame = data.X.apply(lambda c: c.cat.codes.replace(-1, np.nan) if c.dtype.name == "category" else c)
    X = frame.to_numpy(dtype=np.float64)
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    if name in DRAWN:
        costs = CostSheet(rng.integers(1, 51, size=X.shape[1]).astype(float))
        rows = rng.permutation(len(y))[: DRAWN[name]]
        parts = np.split(rows, [len(rows) // 2, len(rows) * 7 // 10])
        yield Split(name, costs, *((X[part], y[part]) for part in parts))
        return
    for learn, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y):
        # A third of what a fold learns from chooses.
        inner = StratifiedKFold(3, shuffle=True, random_state=seed)
        train, held = next(inner.split(X[learn], y[learn]))
        parts = (learn[train], learn[held], test)
        yield Split(name, data.costs, *((X[part], y[part]) for part in parts))


# The rivals.


@dataclass(frozen=True)
class Setting:
    """A fit of LightGBM: a penalty of its own, or the first columns of an order.

    Attributes
    ----------
    family : str
        The rival whose setting it is.
    tradeoff : float
        Relative to the initial loss.
    columns : tuple of int or None
        Those that it may use; None is all.
    """

    family: str
    tradeoff: float = 0.0
    columns: tuple[int, ...] | None = None

    def fit(self, split: Split, list_prices: NDArray[np.float64]) -> Followed:
        """Return the model after each round, as validation and test rows see it."""
        X, y = split.train
        hidden = X
        if self.columns is not None:
            hidden = np.full_like(X, np.nan)
            hidden[:, self.columns] = X[:, self.columns]
        forest = penalised_classifier(
            hidden,
            y,
            list_prices,
            penalty="lazy" if self.family == LAZY else "coupled",
            tradeoff=self.tradeoff,
            n_rounds=N_ROUNDS,
            **SETTINGS,
        )
        return follow(forest, split)


def list_prices(costs: CostSheet) -> NDArray[np.float64]:
    """Return what each feature costs alone, its group's part included, shape (n_features,)."""
    return np.array([costs.price(feature) for feature in costs.features])


def settings(split: Split, n_fits: int) -> list[Setting]:
    """Return a quarter of the fits for each family: trade-offs for the penalties, sizes for the subsets."""
    each = n_fits // 4
    found = [Setting(family, float(t)) for family in (COUPLED, LAZY) for t in grid(each)]
    gains = gains_of(split)
    prices = list_prices(split.costs)
    orders = {BY_GAIN: gains, BY_RATIO: gains / np.maximum(prices, 1e-9)}
    whole = split.costs.total(split.costs.features)
    for family, key in orders.items():
        order = np.argsort(-key, kind="stable")
        names = [split.costs.features[column] for column in order]
        spent = np.array([split.costs.total(names[: n + 1]) for n in range(len(names))]) / whole
        # The largest prefix within each budget, and within others between them, as many as there are fits.
        shares = np.unique(np.concatenate([SHARES, np.geomspace(0.005, 1.0, each)]))
        sizes = {int(np.searchsorted(spent, share, side="right")) for share in shares}
        found += [Setting(family, columns=tuple(order[:size])) for size in sorted(sizes - {0})[:each]]
    return found


def gains_of(split: Split) -> NDArray[np.float64]:
    """Return what each feature gains in a booster that knows no prices."""
    X, y = split.train
    n_classes = int(y.max()) + 1
    options: dict[str, Any] = {"objective": "binary" if n_classes == 2 else "multiclass", "verbosity": -1}
    if n_classes > 2:
        options["num_class"] = n_classes
    options |= {"max_depth": 4, "num_leaves": 16, "learning_rate": 0.1, "num_threads": 1}
    booster = lightgbm.train(options, lightgbm.Dataset(X, y), N_ROUNDS)
    return np.asarray(booster.feature_importance("gain"), dtype=np.float64)


Row = tuple[NDArray[np.bool_], float]  # which test rows are right; what they spend in the mean


def together(split: Split) -> Split:
    """Return the split with all rows but those of the test to learn from."""
    rows = [np.concatenate(pair) for pair in zip(split.train, split.validation, strict=True)]
    return replace(split, train=(rows[0], rows[1]))


def rivals(split: Split, n_fits: int) -> dict[str, list[Row]]:
    """Return each family's answers at the six budgets."""
    prices = list_prices(split.costs)
    tried = settings(split, n_fits)
    fits = [setting.fit(split, prices) for setting in tried]
    whole = split.costs.total(split.costs.features)
    everything = together(split)
    again: dict[Setting, Followed] = {}
    found: dict[str, list[Row]] = {}
    for family in (COUPLED, LAZY, BY_GAIN, BY_RATIO):
        own = [place for place, setting in enumerate(tried) if setting.family == family]
        models = Followed.joined([prior(split), *(fits[place] for place in own)])
        origin = [(-1, 0), *((place, r) for place in own for r in range(len(fits[place].spend)))]
        for share in SHARES:
            chosen = models.within(share * whole)
            assert chosen is not None  # the prior fits
            place, after = origin[chosen]
            if place < 0:
                refitted = prior(everything)
            else:
                if tried[place] not in again:
                    again[tried[place]] = tried[place].fit(everything, prices)
                refitted = again[tried[place]]
            after = min(after, len(refitted.test_spend) - 1)
            found.setdefault(family, []).append((refitted.right[after], float(refitted.test_spend[after])))
    return found


# Ours.


def ours(split: Split, methods: Any, seed: int) -> tuple[list[Row], list[str], int]:
    """Return the answers at the six budgets, who was chosen, and the number of fits."""
    X, y = together(split).train
    held = np.concatenate([np.full(len(split.train[1]), -1), np.zeros(len(split.validation[1]), int)])
    whole = split.costs.total(split.costs.features)
    names = list(split.costs.features)
    rows: list[Row] = []
    chosen: list[str] = []
    with tempfile.TemporaryDirectory() as memory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for share in SHARES:
            model = BudgetedClassifier(
                costs=split.costs,
                budget=share * whole,
                methods=methods,
                cv=PredefinedSplit(held),
                memory=memory,
                random_state=seed,
                n_jobs=1,
            ).fit(pd.DataFrame(X, columns=names), y)
            told = model.decide(pd.DataFrame(split.test[0], columns=names))
            rows.append((told.prediction == split.test[1], float(told.spent.mean())))
            chosen.append(model.chosen_.method)
    ground = Ground(len(split.train[1]), X.shape[1], int(y.max()) + 1, split.costs, 0.1 * whole, "mean", seed)
    return rows, chosen, len(candidates(methods, ground))


def measure(name: str, seed: int, methods: Any) -> dict[str, Any]:
    """Return accuracies, spends and standard errors of one table and seed, by method."""
    result: dict[str, Any] = {"accuracy": {}, "spend": {}, "errors": {}, "chosen": [], "fits": []}
    begin = time.process_time()
    for split in splits(name, seed):
        whole = split.costs.total(split.costs.features)
        mine, chosen, n_fits = ours(split, methods, seed)
        found = {OURS: mine, **rivals(split, n_fits)}
        right = {family: np.array([row[0] for row in rows], dtype=float) for family, rows in found.items()}
        for family, rows in found.items():
            result["accuracy"].setdefault(family, []).append(right[family].mean(axis=1).tolist())
            result["spend"].setdefault(family, []).append([spent / whole for _, spent in rows])
            if family != OURS:
                gap = (right[OURS] - right[family]).mean(axis=0)
                result["errors"].setdefault(family, []).append(float(gap.std() / np.sqrt(len(gap))))
        result["chosen"].append(chosen)
        result["fits"].append(n_fits)
        sizes = [len(part[1]) for part in (split.train, split.validation, split.test)]
        result["shape"] = [*sizes, split.train[0].shape[1], int(split.train[1].max()) + 1]
    result["seconds"] = time.process_time() - begin
    return result


# The page.


def write(name: str, results: list[dict[str, Any]], say: Callable[[str], None]) -> tuple[str, float, float]:
    """Print one table; return its name, how far ours is ahead of the best rival, and the standard error."""
    accuracy = {m: np.concatenate([r["accuracy"][m] for r in results]) for m in results[0]["accuracy"]}
    spend = {m: np.concatenate([r["spend"][m] for r in results]) for m in accuracy}
    *sizes, n_features, n_classes = results[0]["shape"]
    how = f"{len(results)} splits" if name in DRAWN else f"{N_FOLDS} folds, {len(results)} times"
    rows = ", ".join(f"{size:,}" for size in sizes)
    fits = int(np.mean([n for r in results for n in r["fits"]]))
    say(f"\n### {name}: {rows} rows, {n_features} features, {n_classes} classes; {how}; {fits} fits\n")
    say(f"| method | {' | '.join(f'{share:.0%}' for share in SHARES)} | mean |")
    say("|---|" + "---|" * (len(SHARES) + 1))
    for method, values in accuracy.items():
        cells = [
            f"{a:.4f} ({s:.1%})" for a, s in zip(values.mean(axis=0), spend[method].mean(axis=0), strict=True)
        ]
        say(f"| {method} | {' | '.join(cells)} | {values.mean():.4f} |")
    best = max((m for m in accuracy if m != OURS), key=lambda m: accuracy[m].mean())
    gaps = accuracy[OURS].mean(axis=1) - accuracy[best].mean(axis=1)
    if name in DRAWN:
        error = float(np.sqrt(np.mean([r["errors"][best][0] ** 2 for r in results]) / len(results)))
        if len(gaps) > 1:
            error = max(error, float(gaps.std(ddof=1) / np.sqrt(len(gaps))))
    else:
        error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    names = [method for r in results for one in r["chosen"] for method in one]
    counts = ", ".join(f"{m} {names.count(m)}" for m in sorted(set(names), key=names.count, reverse=True))
    say(f"\n- Against {best}, the best rival: {gaps.mean():+.4f} +- {error:.4f}. Chosen: {counts}.")
    return name, float(gaps.mean()), error


def page(kept: Path, folder: Path) -> None:
    """Write the page of all that was measured."""
    lines: list[str] = []
    verdicts = []
    for name in (*REAL, *DRAWN):
        files = sorted(kept.glob(f"{name}-*.json"))
        if files:
            verdicts.append(write(name, [json.loads(file.read_text()) for file in files], lines.append))
    ahead = sum(gap > 0 for _, gap, _ in verdicts)
    behind = [name for name, gap, error in verdicts if gap < -error]
    summary = f"Higher in the mean over budgets on {ahead} of {len(verdicts)} tables; " + (
        f"worse by more than a standard error on {', '.join(behind)}."
        if behind
        else "worse by more than a standard error on none."
    )
    text = HEAD.format(n_rounds=N_ROUNDS, n_folds=N_FOLDS, summary=summary, **SETTINGS)
    (folder / "front_door.md").write_text(text + "\n".join(lines) + "\n")
    print("\n".join([*lines, "", summary]))


HEAD = """# The front door against LightGBM

`python -m experiments.front_door`

{summary}

- `BudgetedClassifier` tries what it tries by default. The rivals share as many fits: a quarter each for
  LightGBM's coupled and lazy penalties, for LightGBM on the features of most gain, and on those of most gain
  per price; {n_rounds} rounds of depth {max_depth}, learning rate {learning_rate}, ridge {l2}, leaves of at
  least {min_rows_leaf} rows, and every round is a model to choose from.
- Budgets are shares of what all features cost together, and hold in the mean over validation rows. A cell is
  the accuracy on test rows, and in brackets what they spent. What was chosen is fitted again with the
  validation rows.
- heart_cleveland, pima_diabetes, hepatitis and thyroid have their real prices and groups, which LightGBM
  cannot be told: its penalties are the prices of features alone, and its bill is by the groups. They have
  {n_folds} folds; the standard error is over folds, whose training rows overlap. The others have random
  integer prices from 1 to 50, drawn with each split, half of the rows to learn from and a fifth to choose by;
  the standard error is over test rows in pairs, or over splits if that is larger.
- The best rival is the one that did best on the test rows: a choice that only the rivals have.
"""


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="*", default=[*REAL, *DRAWN])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--kept", type=Path, default=KEPT, help="the folder of what is measured")
    parser.add_argument("--page", action="store_true", help="only write the page of what is measured")
    args = parser.parse_args()
    args.kept.mkdir(parents=True, exist_ok=True)
    for name in args.tables if not args.page else ():
        for seed in args.seeds:
            file = args.kept / f"{name}-{seed}.json"
            if not file.exists():
                result = measure(name, seed, "auto")
                file.write_text(json.dumps(result))
                print(f"measured {name}, seed {seed}, {result['seconds']:.0f} s", flush=True)
    page(args.kept, RESULTS)


if __name__ == "__main__":
    main()
