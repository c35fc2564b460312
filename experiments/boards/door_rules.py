"""How the rules of the front door were set: the default set, the choice among settings, and the race.

``farthing reproduce door_rules`` writes docs/results/door_rules.md. Many settings are fitted on five folds of
a part of each table, and on all of that part. What each has at six mean budgets on held-out rows is what the
rules see; what the fit on all of the part has on new rows judges them. So any rule can be tried without a
fit. None of these tables is in front_door.md or door_parts.md. FARTHING_DATA must name the folder of the
tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold, train_test_split

from experiments.lib.pages import command, options, parse, write_page
from farthing.base import AnyBudgetMixin, Point, SweepContext
from farthing.costs import CostSheet
from farthing.datasets import load_bupa_liver, load_table
from farthing.frontier.candidates import Candidate, candidates
from farthing.frontier.evaluation import Evaluation
from farthing.frontier.fold_curves import Judged
from farthing.frontier.paired_choice import AHEAD, LEAST_WEIGHT, Contender, rank
from farthing.frontier.race import BEHIND, HOPELESS, STAY, heats, survivors
from farthing.frontier.row_values import Standing
from farthing.frontier.scorers import errors_of_rows
from farthing.table import PreparedTable

NAME = "door_rules"
TABLES = (
    *("ecoli", "sonar", "ionosphere", "bupa_liver", "house_votes_84", "breast_cancer_wdbc"),
    *("2 classes, made", "5 classes, made"),
)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
N_FOLDS = 5
PREFERRED = "MiserCascadeClassifier"
# A cascade of depth 3 whose other parameters are the defaults of the method, as it is named by `key_of`.
DEPTH_THREE = {"budget_kind": "mean", "max_depth": "3"}
Rows = NDArray[np.float64]


def table_of(name: str, seed: int) -> tuple[pd.DataFrame, NDArray[np.int64], list[float]]:
    """Return a table without its classes of fewer than ten rows, at random prices from 1 to 50."""
    rng = np.random.default_rng(seed + 100)
    if name.endswith("made"):
        X, y = make_classification(
            600, 20, n_informative=8, n_redundant=4, n_classes=int(name[0]), class_sep=0.8, random_state=seed
        )
        frame = pd.DataFrame(X)
    else:
        data = load_bupa_liver() if name == "bupa_liver" else load_table(name)
        frame, y = data.X, np.unique(data.y, return_inverse=True)[1]
        kept = np.bincount(y)[y] >= 10
        frame, y = frame[kept].reset_index(drop=True), np.unique(y[kept], return_inverse=True)[1]
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    return frame, y, rng.integers(1, 51, size=frame.shape[1]).astype(float).tolist()


def settings_of(context: SweepContext) -> list[Candidate]:
    """Return what the default set was chosen from, the default set itself first."""
    wide: list[Any] = [
        (PREFERRED, {"max_depth": [4, 3, 2, 1], "budget_kind": ["mean"]}),
        "EarlyExitClassifier",
        ("PrunedForestClassifier", {"growth_tradeoff": [0.1, 1.0, 3.0, 10.0], "max_features": [None]}),
        ("BudgetTreeClassifier", {"budget": [None], "max_depth": [4]}),
    ]
    if context.n_classes == 2:
        wide += [("AdaBoostBTClassifier", {"rule": ["basic", "greedy", "smoothed"], "budget": [None]})]
        wide += [("AdaBoostClassifier", {"n_estimators": [300], "curtail": [True]})]
    found = [*candidates("auto", context), *candidates(wide, context)]
    return list({key_of(one): one for one in found[::-1]}.values())[::-1]


def key_of(candidate: Candidate) -> str:
    """Return a name of a setting."""
    settings = sorted((name, " ".join(str(value).split())) for name, value in candidate.params.items())
    return f"{candidate.method} {settings}"


def aimed(model: Any, table: PreparedTable, y: NDArray[np.int64], budgets: list[float]) -> list[list[Any]]:
    """Return for each budget the spend of the model that it takes, and which rows are right, with losses."""
    found = []
    for params, _, decided in model.decide_variants(table):
        told = Evaluation(y, decided.prediction, decided.probabilities, decided.spent, classes=model.classes_)
        right = decided.prediction == y
        found.append([float(decided.spent.mean()), right, errors_of_rows(told), dict(params)])
    taken = []
    for budget in budgets:
        fits = [one for one in found if one[0] <= budget * (1 + 1e-9)]
        if not fits:
            taken.append(min(found, key=lambda one: one[0]))
        elif isinstance(model, AnyBudgetMixin):
            taken.append(max(fits, key=lambda one: one[0]))
        else:
            taken.append(min(fits, key=lambda one: one[2].mean()))
    return taken


def measure(name: str, seed: int, tiny: bool = False) -> dict[str, Any]:
    """Fit all settings on five folds and on all learning rows of a table; return what the rules need.

    A tiny run takes a hundred of these rows, one setting in three, and one of the preferred method.
    """
    X, y, prices = table_of(name, seed)
    learn, new = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    learn = learn[:100] if tiny else learn
    full = PreparedTable.of(X)
    sheet = CostSheet.of(prices, full.schema.names)
    budgets = [share * sheet.total(sheet.features) for share in SHARES]
    table, labels, tested = full.take(learn), y[learn], full.take(new)
    context = SweepContext(len(learn), X.shape[1], len(np.unique(y)), sheet, None, "mean", 0)
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(learn, labels))
    lean = {key_of(one) for one in candidates("auto", context)}
    made = []
    tried = list(settings_of(context))
    if tiny:
        tried = tried[::3] + [one for one in tried if one.method == PREFERRED and key_of(one) in lean][:1]
    for candidate in tried:
        parts = []
        for some, held in folds:
            model = clone(candidate.estimator).fit(table.take(some), labels[some])
            parts.append(aimed(model, table.take(held), labels[held], budgets))
        last = clone(candidate.estimator).fit(table, labels)
        variants = {repr(sorted(params.items())): one for params, one in last.variants()}
        test = []
        for _, _, _, params in aimed(last, table, labels, budgets):
            told = variants[repr(sorted(params.items()))].decide(tested)
            test.append(float(np.mean(told.prediction == y[new])))
        made.append(
            {
                "key": key_of(candidate),
                "method": candidate.method,
                "lean": key_of(candidate) in lean,
                "spend": [[one[0] for one in part] for part in parts],
                "right": [[one[1].astype(int).tolist() for one in part] for part in parts],
                "loss": [[one[2].round(6).tolist() for one in part] for part in parts],
                "test": test,
            }
        )
    return {"budgets": budgets, "settings": made}


# The rules. Each returns the place of the setting that it takes at a budget.

Rule = Callable[..., int]


def values(setting: Any, what: str, place: int, folds: Sequence[int] = range(N_FOLDS)) -> Rows:
    """Return the values of held-out rows at a budget."""
    return np.concatenate([setting[what][fold][place] for fold in folds])


def within(made: list[Any], place: int, budget: float, folds: Sequence[int] = range(N_FOLDS)) -> list[int]:
    """Return the settings within a budget."""
    spent = [np.mean([one["spend"][fold][place] for fold in folds]) for one in made]
    fits = [i for i, spend in enumerate(spent) if spend <= budget * (1 + 1e-9)]
    return fits or [int(np.argmin(spent))]


def highest_score(made: list[Any], place: int, budget: float) -> int:
    """Take the highest accuracy on held-out rows."""
    return max(within(made, place, budget), key=lambda i: values(made[i], "right", place).mean())


def half_an_error(made: list[Any], place: int, budget: float) -> int:
    """Take the least loss among those within half a standard error of the highest accuracy."""
    fits = within(made, place, budget)
    scores = {i: values(made[i], "right", place).mean() for i in fits}
    top = max(scores.values())
    slack = 0.5 * np.sqrt(top * (1 - top) / len(values(made[0], "right", place)))
    near = [i for i in fits if scores[i] >= top - slack]
    return min(near, key=lambda i: values(made[i], "loss", place).mean())


def least_loss(made: list[Any], place: int, budget: float) -> int:
    """Take the least loss."""
    return min(within(made, place, budget), key=lambda i: values(made[i], "loss", place).mean())


def paired(least_weight: float = LEAST_WEIGHT, ahead: float = AHEAD) -> Rule:
    """Return the rule of `farthing.frontier.paired_choice`, with other constants or its own."""

    def rule(made: list[Any], place: int, budget: float, left: Sequence[int] | None = None) -> int:
        fits = within(made, place, budget) if left is None else list(left)
        overall = [
            float(np.mean([values(made[i], "loss", k).mean() for k in range(len(SHARES))])) for i in fits
        ]
        found = [standing(made[i], place) for i in fits]
        preferred = [made[i]["method"] == PREFERRED for i in fits]
        contenders = [Contender(*each) for each in zip(found, overall, preferred, strict=True)]
        return fits[rank(contenders, least_weight=least_weight, ahead=ahead)[0]]

    return rule


def standing(setting: Any, place: int, folds: Sequence[int] = range(N_FOLDS)) -> Standing:
    """Return the values of held-out rows at a budget, to compare."""
    losses = values(setting, "loss", place, folds).astype(np.float32)
    return Standing(
        values(setting, "right", place, folds).astype(np.float32),
        losses,
        np.ones(len(losses)),
        np.arange(len(losses)),
    )


def raced(made: list[Any], place: int, budget: float) -> int:
    """Take what the race takes."""
    left = list(range(len(made)))
    done: list[int] = []
    for number, heat in enumerate(heats(N_FOLDS)):
        done += heat
        fits = [i for i in within(made, place, budget, done) if i in left] or left[:1]
        told = {i: Judged(Point("", {}, 0, 0, 0), standing(made[i], place, done)) for i in fits}
        preferred = [i for i in fits if made[i]["method"] == PREFERRED]
        left = survivors(told, number, preferred=preferred) if len(done) < N_FOLDS else fits
    return paired()(made, place, budget, left)


# The page.


def accuracy(result: dict[str, Any], keep: Callable[[Any], bool], rule: Rule) -> float:
    """Return the accuracy on new rows of what a rule takes among some settings, on average over budgets."""
    made = [one for one in result["settings"] if keep(one)]
    budgets = result["budgets"]
    taken = [made[rule(made, place, budget)]["test"][place] for place, budget in enumerate(budgets)]
    return float(np.mean(taken))


def line(what: str, found: list[float], base: list[float]) -> str:
    """Return a row of a table: the mean, and the difference to what the front door does."""
    gaps = np.array(found) - np.array(base)
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
    return f"| {what} | {np.mean(found):.4f} | {gaps.mean():+.4f} +- {error:.4f} |"


def page(kept: Path) -> str:
    """Return the page of what is measured."""
    results = [json.loads(file.read_text()) for file in sorted(kept.glob("*.json"))]

    def of(keep: Callable[[Any], bool], rule: Rule) -> list[float]:
        return [accuracy(result, keep, rule) for result in results]

    def lean(one: Any) -> bool:
        return bool(one["lean"])

    def everything(_: Any) -> bool:
        return True

    def cascades(one: Any) -> bool:
        return lean(one) and one["method"] == PREFERRED

    def of_defaults(one: Any) -> bool:
        return bool(one["key"] == f"{PREFERRED} {sorted(DEPTH_THREE.items())}")

    base = of(lean, paired())
    methods = sorted({one["method"] for result in results for one in result["settings"]})
    sets = [
        line("the default set", base, base),
        line("all that was tried", of(everything, paired()), base),
        line("the cascades of the default set alone", of(cascades, paired()), base),
        line("one of depth 3 with 255 bins and steps of 0.1 alone", of(of_defaults, paired()), base),
    ]
    for method in methods:
        in_set = any(
            one["lean"] for result in results for one in result["settings"] if one["method"] == method
        )

        def other(one: Any, name: str = method, *, drop: bool = in_set) -> bool:
            return bool(
                one["lean"] and one["method"] != name if drop else one["lean"] or one["method"] == name
            )

        word = "without" if in_set else "with"
        sets.append(line(f"{word} {method}", of(other, paired()), base))
    rules = {
        f"paired losses, weight at least {LEAST_WEIGHT}, cascades preferred by {AHEAD:g} errors": paired(),
        "no method preferred": paired(ahead=0.0),
        "preferred by half an error": paired(ahead=0.5),
        "preferred by two errors": paired(ahead=2.0),
        "the least loss": least_loss,
        "weight at least 0.5": paired(0.5),
        "any weight": paired(0.0),
        "the highest accuracy": highest_score,
        "least loss within half an error of it": half_an_error,
        "the first rule after the race": raced,
    }
    chosen = [line(what, of(lean, rule), base) for what, rule in rules.items()]
    shrinks = np.array(of(lean, paired(0.0))) - np.array(base)
    prefers = np.array(base) - np.array(of(lean, paired(ahead=0.0)))
    prefers_error = prefers.std() / np.sqrt(max(len(prefers) - 1, 1))
    race = np.array(of(lean, raced)) - np.array(base)
    error = race.std() / np.sqrt(max(len(race) - 1, 1))
    head = "| {} | accuracy | difference |\n|---|---|---|\n"
    return f"""# How the rules of the front door were set

- The race costs {-race.mean():+.4f} of accuracy, standard error {error:.4f}.
- Preferring the cascade unless another method is ahead by {AHEAD:g} standard errors changes the accuracy by
  {prefers.mean():+.4f}, standard error {prefers_error:.4f}.
- Shrinking differences at a budget as far as the method of moments says changes the accuracy by
  {shrinks.mean():+.4f}; hence the least weight of 0.9.

Accuracy on new rows, on average over six mean budgets, tables and splits: {len(results)} in all. Differences
are to the default set and the rule of the front door; standard errors are over tables and splits. Tables:
{", ".join(TABLES)}. Prices are random, also for bupa_liver. The rules were set by these very figures, so they
are no proof of them: `farthing reproduce door_parts` measures on other tables. Of methods that are not aimed
at budgets, the variant of a fold is here the best by its own held-out rows; the front door lets other rows
choose it, so that it trusts such methods less than these figures do.

## The default set

{head.format("what is tried")}{chr(10).join(sets)}

## The choice among settings, and the race

In the race a setting leaves if its loss is above the leader's by more than {HOPELESS} standard errors of the
difference, or above that of the best cascade by more than {BEHIND:g}; at most
{", ".join(map(str, STAY))} stay after each fold.

{head.format("rule")}{chr(10).join(chosen)}
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    args = parse(parser, NAME, arguments)
    names: Sequence[str] = TABLES
    if args.tiny:
        names, args.seeds = ["bupa_liver"], [0]
    for seed in args.seeds:
        for name in names:
            file = args.kept / f"{name.replace(' ', '_')}-{seed}.json"
            if not file.exists():
                file.write_text(json.dumps(measure(name, seed, args.tiny)))
                print(f"{name}, seed {seed}", flush=True)
    write_page(args.out, NAME, page(args.kept), command(NAME, "--seeds", *args.seeds))


if __name__ == "__main__":
    main()
