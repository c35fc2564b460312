"""At most k features for every row: the methods that keep a hard budget, side by side, for small k.

``farthing reproduce hard_budgets`` writes docs/results/hard_budgets.md. Every feature costs 1. A split draws
rows to learn from and rows to test on; all methods have the same. Settings and the design of the subset tree
were chosen on tables of the first list; those of the second were looked at once, at the end. The rival
``static`` takes the k columns of the largest importance in a booster on all of them, and boosts on those.

``--minutes 4`` ends after so many minutes, with a page of the tables that are done; the next call goes on
with what is kept in build/hard_budgets. ``--tables`` and ``--methods`` choose what is run next, without a
page. FARTHING_DATA must name the folder of the tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from experiments.lib.kept_trials import Figures, kept_trial
from experiments.lib.made_emails import made_emails
from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import BranchingCascadeClassifier, MiserCascadeClassifier, SubsetTreeClassifier
from farthing.datasets import load_pima_diabetes, load_table, load_thyroid
from farthing.errors import UnseenCategoryWarning

NAME: Final = "hard_budgets"
CHOSEN_ON: Final = (
    "made_emails",
    "letter_halves",
    "adult",
    "ionosphere",
    "breast_cancer_wdbc",
    "pima_diabetes",
)
HELD_OUT: Final = ("covtype", "mslr_relevant", "thyroid_ann")
BUNDLED: Final = {"pima_diabetes": load_pima_diabetes, "thyroid_ann": load_thyroid}
KS: Final = (1, 2, 3, 5)
N_SPLITS: Final = 1
MOST_ROWS: Final = 2000  # learned from; twice as many are tested on
OURS: Final = "SubsetTree"


class Split(NamedTuple):
    """Rows to learn from, and rows to test on."""

    X: Any
    y: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]


def draw(table: str, split: int, most: int = MOST_ROWS) -> Split:
    """Return the rows of a split: two thirds are tested on, or 40 % of a small table."""
    if table == "made_emails":
        X, y = made_emails(3 * most, split)
        return Split(X[:most], y[:most], X[most:], y[most:])
    files = {"letter_halves": "letter", "mslr_relevant": "mslr_fold1_10k"}
    data = BUNDLED[table]() if table in BUNDLED else load_table(files.get(table, table))
    names = np.asarray(data.y)
    if table == "letter_halves":
        names = names.astype(str) <= "M"
    if table == "mslr_relevant":
        names = names >= 1
    y = pd.factorize(names, sort=True)[0]
    order = np.random.default_rng(split).permutation(len(y))[: 3 * most]
    n_train = most if len(order) >= 3 * most else int(0.6 * len(order))
    train, test = order[:n_train], order[n_train:]
    return Split(data.X.iloc[train], y[train], data.X.iloc[test], y[test])


class Static:
    """The columns that a booster on all of them uses most, and a booster on those."""

    def __init__(self, k: int, seed: int) -> None:
        self.k, self.seed = k, seed

    def fit(self, X: Any, y: NDArray[np.int64]) -> Static:
        """Choose the columns and boost."""
        every = GreedyMiserClassifier(random_state=self.seed, n_jobs=1).fit(X, y)
        order = np.argsort(-every.feature_importances_, kind="stable")
        self.columns = np.sort(order[: self.k])
        self.model = GreedyMiserClassifier(
            n_estimators=300,
            validation_fraction=0.2,
            n_iter_no_change=15,
            random_state=self.seed,
            n_jobs=1,
        ).fit(self._of(X), y)
        return self

    def _of(self, X: Any) -> Any:
        return X.iloc[:, self.columns] if isinstance(X, pd.DataFrame) else X[:, self.columns]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class."""
        return np.asarray(self.model.predict_proba(self._of(X)))

    def spend(self, X: Any) -> NDArray[np.float64]:
        """Return what each row pays."""
        return np.asarray(self.model.spend(self._of(X)))


METHODS: Final[dict[str, Callable[[int, int], Any]]] = {
    OURS: lambda k, seed: SubsetTreeClassifier(budget=k, random_state=seed, n_jobs=1),
    "BranchingCascade": lambda k, seed: BranchingCascadeClassifier(budget=k, random_state=seed, n_jobs=1),
    "GreedyMiser": lambda k, seed: GreedyMiserClassifier(budget=k, random_state=seed, n_jobs=1),
    "MiserCascade": lambda k, seed: MiserCascadeClassifier(
        budget=k, budget_kind="hard", random_state=seed, n_jobs=1
    ),
    "static": Static,
}
RIVALS: Final = tuple(name for name in METHODS if name != OURS)


def auroc(y: NDArray[np.int64], shares: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve; with more classes the mean of each against the rest.

    Examples
    --------
    >>> auroc(np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]))
    1.0
    """
    if shares.shape[1] == 2:
        return float(roc_auc_score(y, shares[:, 1]))
    return float(
        np.mean([roc_auc_score(y == c, shares[:, c]) for c in range(shares.shape[1]) if (y == c).any()])
    )


def measure(table: str, split: int, method: str, k: int, most: int = MOST_ROWS) -> Figures:
    """Fit a method on a split at one k, and measure it on the test rows."""
    rows = draw(table, split, most)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)
        model = METHODS[method](k, split).fit(rows.X, rows.y)
        seconds = time.process_time() - begin
        shares = np.asarray(model.predict_proba(rows.X_test))
        if model.spend(rows.X_test).max() > k:
            raise AssertionError(f"{method} spends more than {k} on {table}")
    return {
        "AUROC": np.array(100 * auroc(rows.y_test, shares)),
        "accuracy": np.array(100 * np.mean(shares.argmax(axis=1) == rows.y_test)),
        "seconds": np.array(seconds),
    }


def points(gap: tuple[float, float]) -> str:
    """Return a difference and its standard error; the latter is not known of a single split.

    Examples
    --------
    >>> points((0.5, 0.25)), points((-0.5, float("nan")))
    ('+0.50 +- 0.25', '-0.50')
    """
    return f"{gap[0]:+.2f}" + (f" +- {gap[1]:.2f}" if np.isfinite(gap[1]) else "")


class Board:
    """All figures, by what, table, split, method and k."""

    def __init__(self, tables: Sequence[str], n_splits: int, ks: Sequence[int]) -> None:
        self.tables, self.splits, self.ks = tuple(tables), range(n_splits), tuple(ks)
        self._found: dict[tuple[str, int, str, int], Figures] = {}

    def add(self, table: str, split: int, method: str, k: int, figures: Figures) -> None:
        """Take the figures of one fit."""
        self._found[table, split, method, k] = figures

    def complete(self) -> tuple[str, ...]:
        """Return the tables of which all figures are there."""
        return tuple(
            table
            for table in self.tables
            if all((table, *key) in self._found for key in itertools.product(self.splits, METHODS, self.ks))
        )

    def of(self, what: str, method: str, tables: Sequence[str], k: int | None = None) -> NDArray[np.float64]:
        """Return the means over k of each split of some tables, shape (n_tables, n_splits)."""
        ks = self.ks if k is None else (k,)
        return np.array(
            [
                [np.mean([self._found[t, s, method, one][what] for one in ks]) for s in self.splits]
                for t in tables
            ]
        )

    def gap(self, what: str, rival: str, tables: Sequence[str], k: int | None = None) -> tuple[float, float]:
        """Return by how much ours is above a rival, and the standard error over splits of all tables."""
        gaps = self.of(what, OURS, tables, k) - self.of(what, rival, tables, k)
        # Each table and split counts alike; a single one has no standard error.
        error = float(gaps.std(ddof=1) / np.sqrt(gaps.size)) if gaps.size > 1 else float("nan")
        return float(gaps.mean()), error

    def best_rival(self, what: str, tables: Sequence[str]) -> str:
        """Return the rival of the largest mean over tables and k."""
        return max(RIVALS, key=lambda rival: float(self.of(what, rival, tables).mean()))


def first_lines(board: Board, parts: dict[str, Sequence[str]]) -> list[str]:
    """Return where ours is ahead, and where it is not, computed from the figures."""
    lines = []
    for name, tables in parts.items():
        for what in ("AUROC", "accuracy"):
            rival = board.best_rival(what, tables)
            behind = []
            for k in board.ks:
                best = max(RIVALS, key=lambda one: float(board.of(what, one, tables, k).mean()))
                at_k = board.gap(what, best, tables, k)
                if at_k[0] < 0:
                    behind.append(f"k = {k} ({points(at_k)} beside {best})")
            lost = [
                f"{table} ({board.gap(what, best, [table])[0]:+.2f} beside {best})"
                for table in tables
                if board.gap(what, best := board.best_rival(what, [table]), [table])[0] < 0
            ]
            lines.append(
                f"- {name}, {what}: {points(board.gap(what, rival, tables))} points beside {rival}, the best "
                f"other method over all k. Behind the best at some k: {'; '.join(behind) or 'at none'}. "
                f"Behind on single tables: {'; '.join(lost) or 'on none'}."
            )
    return lines


def not_run(lacking: Sequence[str]) -> list[str]:
    """Return the line on tables that are not run yet."""
    if not lacking:
        return []
    none_held_out = set(HELD_OUT) <= set(lacking)
    unconfirmed = "; nothing here is confirmed on tables that no setting was chosen on" * none_held_out
    return [f"- Not run yet: {', '.join(lacking)}{unconfirmed}."]


def page(board: Board, parts: dict[str, Sequence[str]], lacking: Sequence[str]) -> str:
    """Return the page in Markdown."""
    text = [
        "# At most k features for every row",
        "\n".join([*first_lines(board, parts), *not_run(lacking)]),
        f"Every feature costs 1 and no row looks at more than k. {len(board.splits)} split of each table, "
        f"at most {MOST_ROWS} rows to learn from; all methods at their defaults. Differences are paired, "
        "with standard errors over all splits of all tables. AUROC with more than two classes is the mean of "
        "each against the rest. The design and the settings of the subset tree were chosen on the first list "
        "of tables, with these splits among others, so only the held-out tables are a fair comparison. "
        "Seconds are processor time of a fit on one thread.",
    ]
    for (name, tables), what in itertools.product(parts.items(), ("AUROC", "accuracy")):
        text += [
            f"## {what[0].upper()}{what[1:]} in percent, {name.lower()}",
            markdown(
                ["k", *METHODS],
                [[k, *(f"{board.of(what, m, tables, k).mean():.2f}" for m in METHODS)] for k in board.ks],
            ),
        ]
    rows = [
        [table, name.lower(), *(f"{board.of('AUROC', m, [table]).mean():.2f}" for m in METHODS)]
        for name, tables in parts.items()
        for table in tables
    ]
    text += ["## Mean AUROC over all k, by table", markdown(["table", "", *METHODS], rows)]
    times = [
        [table, *(f"{board.of('seconds', m, [table]).mean():.1f}" for m in METHODS)] for table in board.tables
    ]
    text += ["## Seconds of a fit, mean over all k", markdown(["table", *METHODS], times)]
    return "\n\n".join(text)


def run(board: Board, methods: Sequence[str], kept: Path, end: float | None, most: int = MOST_ROWS) -> None:
    """Make or load the figures; after the end only those that are kept."""
    # Pieces of all tables early, so that an unfinished run shows something of each.
    for split, k, table, method in itertools.product(board.splits, board.ks, board.tables, methods):
        name = f"{table} {split} {method} {k}"
        if (
            end is not None
            and time.monotonic() > end
            and not (kept / f"{name.replace(' ', '_')}.npz").exists()
        ):
            continue
        board.add(
            table,
            split,
            method,
            k,
            kept_trial(kept, name, partial(measure, table, split, method, k, most)),
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the board and write its page."""
    parser = options(__doc__)
    parser.add_argument("--minutes", type=float, help="end after so many minutes")
    parser.add_argument("--tables", nargs="+", choices=[*CHOSEN_ON, *HELD_OUT], help="only these")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), help="only these")
    given = parse(parser, NAME, arguments)
    end = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    tables = given.tables or ([*BUNDLED] if given.tiny else [*CHOSEN_ON, *HELD_OUT])
    board = Board(tables, 1 if given.tiny else N_SPLITS, (2,) if given.tiny else KS)
    run(board, given.methods or list(METHODS), given.kept, end, 150 if given.tiny else MOST_ROWS)
    board.tables, lacking = board.complete(), set(board.tables)
    parts: dict[str, Sequence[str]] = {
        name: [table for table in board.tables if table in tables]
        for name, tables in (
            ("Tables that settings were chosen on", CHOSEN_ON),
            ("Held-out tables", HELD_OUT),
        )
    }
    lacking -= set(board.tables)
    print(f"not run yet: {', '.join(sorted(lacking)) or 'none'}")
    if not given.methods and board.tables and (given.tiny or not given.tables):
        line = command(NAME, *([] if given.minutes is None else ["--minutes", f"{given.minutes:g}"]))
        text = page(board, {name: tables for name, tables in parts.items() if tables}, sorted(lacking))
        write_page(given.out, NAME, text, line)


if __name__ == "__main__":
    main()
