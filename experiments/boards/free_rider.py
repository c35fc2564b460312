"""Free-rider votes of AdaBoostRS beside draws by weight and the learners from the top.

``farthing reproduce free_rider`` writes docs/results/free_rider.md, some minutes of one core. All samplings
vote with the learners of the same AdaBoost, on the bundled tables with their real prices; budgets are shares
of the price of all features. A seed draws the rows to learn from and those to test on, and each test row has
a seed of its own for its lots. Times are processor time of whole fits and of predictions for all rows of the
largest table. No setting was chosen on these tables.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.frozen import FrozenEstimator

from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier
from farthing.datasets import (
    Dataset,
    load_bupa_liver,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_thyroid,
)

NAME: Final = "free_rider"
TABLES: Final[dict[str, Callable[[], Dataset]]] = {
    "bupa_liver": load_bupa_liver,
    "heart_disease": load_heart_disease,
    "hepatitis": load_hepatitis,
    "pima_diabetes": load_pima_diabetes,
    "thyroid": load_thyroid,
}
LARGEST: Final = "thyroid"
SHARES: Final = (0.1, 0.25, 0.5)
SAMPLINGS: Final = ("weight", "free_rider", "top")
TURNS: Final = 5


def measure(name: str, seed: int, n_rounds: int) -> list[dict[str, Any]]:
    """Return the error and the spend of every sampling at every budget, for one draw of the rows."""
    data = TABLES[name]()
    y = np.asarray(data.y)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[: len(y) * 2 // 3], order[len(y) * 2 // 3 :]
    total = data.costs.total(data.costs.features)
    whole = AdaBoostClassifier(n_estimators=n_rounds, costs=data.costs)
    whole.fit(data.X.iloc[train], y[train])
    found = [
        {
            "table": name,
            "sampling": "all learners",
            "share": 1.0,
            "error": float(np.mean(whole.predict(data.X.iloc[test]) != y[test])),
            "spent": float(whole.spend(data.X.iloc[test]).mean()) / total,
        }
    ]
    for sampling, share in itertools.product(SAMPLINGS, SHARES):
        model = AdaBoostRSClassifier(
            budget=share * total,
            sampling=sampling,  # type: ignore[arg-type]
            estimator=FrozenEstimator(whole),
            costs=data.costs,
            random_state=seed,
        ).fit(data.X.iloc[train], y[train])
        decided = model.decide(data.X.iloc[test], seeds=np.arange(len(test)))
        found.append(
            {
                "table": name,
                "sampling": sampling,
                "share": share,
                "error": float(np.mean(decided.prediction != y[test])),
                "spent": float(np.mean(decided.spent)) / total,
            }
        )
    return found


def time_samplings(n_rounds: int, n_rows: int | None) -> dict[str, list[float]]:
    """Return the seconds of a fit and of a prediction for all rows, by sampling: medians of some turns."""
    data = TABLES[LARGEST]()
    X, y = data.X.iloc[:n_rows], np.asarray(data.y)[:n_rows]
    budget = SHARES[-1] * data.costs.total(data.costs.features)
    turns: dict[str, list[tuple[float, float]]] = {sampling: [] for sampling in SAMPLINGS}
    # One turn more than is counted: the first loads and allocates.
    for turn, sampling in itertools.product(range(TURNS + 1), SAMPLINGS):
        model = AdaBoostRSClassifier(
            budget=budget,
            sampling=sampling,  # type: ignore[arg-type]
            n_estimators=n_rounds,
            costs=data.costs,
            random_state=turn,
        )
        begin = time.process_time()
        model.fit(X, y)
        fitted = time.process_time()
        model.predict(X)
        turns[sampling] += [(fitted - begin, time.process_time() - fitted)] if turn else []
    return {sampling: np.median(seconds, axis=0).tolist() for sampling, seconds in turns.items()}


class Results:
    """The measurements, by table, sampling and budget."""

    def __init__(self, measured: Sequence[dict[str, Any]]) -> None:
        self.tables = sorted({one["table"] for one in measured}, key=list(TABLES).index)
        self._found: dict[tuple[str, str, float], list[dict[str, Any]]] = {}
        for one in measured:
            self._found.setdefault((one["table"], one["sampling"], one["share"]), []).append(one)

    def mean(self, what: str, table: str, sampling: str, share: float) -> float:
        """Return the mean of an error or a spend over the seeds."""
        return float(np.mean([one[what] for one in self._found[table, sampling, share]]))

    def difference(self, share: float, rival: str) -> tuple[float, float, int]:
        """Return the error of free riders less that of a rival: mean, standard error, tables with fewer."""
        gaps = np.array(
            [
                self.mean("error", table, "free_rider", share) - self.mean("error", table, rival, share)
                for table in self.tables
            ]
        )
        error = float(gaps.std(ddof=1)) / math.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        return float(gaps.mean()), error, int((gaps < 0).sum())


def verdict(mean: float, error: float) -> str:
    """Say whether free riders make fewer errors, by two standard errors over the tables.

    Examples
    --------
    >>> verdict(-0.03, 0.01), verdict(0.03, 0.01), verdict(0.01, 0.01)
    ('clearly fewer errors', 'clearly more errors', 'no clear difference')
    """
    if abs(mean) <= 2 * error:
        return "no clear difference"
    return "clearly fewer errors" if mean < 0 else "clearly more errors"


def first_lines(results: Results, seconds: dict[str, list[float]]) -> list[str]:
    """Return the answers, computed from the measurements."""
    lines = []
    for rival, what in (("top", "the learners from the top"), ("weight", "draws by weight")):
        answers = []
        for share in SHARES:
            mean, error, fewer = results.difference(share, rival)
            answers.append(
                f"{verdict(mean, error)} at {100 * share:g} % of all prices "
                f"({100 * mean:+.1f} +- {100 * error:.1f} points; fewer on {fewer} of "
                f"{len(results.tables)} tables)"
            )
        lines.append(f"- Free riders against {what}, at equal budgets: {'; '.join(answers)}.")
    parts = [
        f"{seconds['free_rider'][k] / seconds[rival][k]:.2f} times that of {rival!r} for {what}"
        for k, what in ((0, "a fit"), (1, "predictions"))
        for rival in ("weight", "top")
    ]
    lines.append(f"- Processor time of free riders on {LARGEST}: {', '.join(parts)}.")
    return lines


def page(results: Results, seconds: dict[str, list[float]], n_rounds: int, n_seeds: int) -> str:
    """Return the page in Markdown."""
    text = [
        "# Free-rider votes of AdaBoostRS",
        "\n".join(first_lines(results, seconds)),
        'With `sampling="free_rider"` all learners on what a row has bought vote, weighted by the inverse of '
        "their probability to do so; the estimate of the full vote is unbiased within a budget that covers "
        'each learner by itself. Draws by weight (`"weight"`) are those of the paper, whose mean at a '
        'stopping time is not; `"top"` takes learners by weight over price and estimates nothing. Being '
        "unbiased is a claim about the vote, not about errors; these are the errors.",
        f"Real prices of the bundled tables; {n_rounds} rounds of AdaBoost, the same learners for all; means "
        f"over {n_seeds} draws of the rows, two thirds of which are learned from. Differences are means over "
        "the tables with their standard errors; one counts as clear beyond two of them. Within a budget "
        "below the price of its most expensive learner, a draw by weight is the class prior.",
        "## Errors in percent, and the mean spend as a share of all prices",
        markdown(
            ["table", "budget", *SAMPLINGS, "all learners", *(f"spend of {s}" for s in SAMPLINGS)],
            [
                [name, f"{100 * share:g} %"]
                + [f"{100 * results.mean('error', name, s, share):.1f}" for s in SAMPLINGS]
                + [f"{100 * results.mean('error', name, 'all learners', 1.0):.1f}"]
                + [f"{100 * results.mean('spent', name, s, share):.0f} %" for s in SAMPLINGS]
                for name in results.tables
                for share in SHARES
            ],
        ),
        f"## Processor time on {LARGEST}, at {100 * SHARES[-1]:g} % of all prices",
        markdown(
            ["sampling", "fit", "predict", "fit / weight", "predict / weight"],
            [
                [sampling, *(f"{one:.3g} s" for one in seconds[sampling])]
                + [f"{seconds[sampling][k] / seconds['weight'][k]:.2f}" for k in (0, 1)]
                for sampling in SAMPLINGS
            ],
        ),
        f"Medians of {TURNS} turns in alternation; only ratios carry over to other machines. A fit of free "
        "riders also takes the moments of all votes over the training rows.",
    ]
    return "\n\n".join(text)


def kept(folder: Path, name: str, seed: int, n_rounds: int) -> list[dict[str, Any]]:
    """Measure one table at one seed, unless that is done."""
    done = folder / f"{name}_{seed}.json"
    if not done.exists():
        done.write_text(json.dumps(measure(name, seed, n_rounds)))
    return list(json.loads(done.read_text()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all tables and write the page."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=200)
    args = parse(parser, NAME, arguments)
    tables = ("bupa_liver", "hepatitis") if args.tiny else tuple(TABLES)
    n_seeds, n_rounds, n_rows = (1, 5, 300) if args.tiny else (args.seeds, args.rounds, None)
    measured = [
        one for name in tables for seed in range(n_seeds) for one in kept(args.kept, name, seed, n_rounds)
    ]
    seconds = time_samplings(n_rounds, n_rows)
    write_page(args.out, NAME, page(Results(measured), seconds, n_rounds, n_seeds), command(NAME))


if __name__ == "__main__":
    main()
