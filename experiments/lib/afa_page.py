"""The page of `experiments.boards.afa`, from the pieces that there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.lib.afa_methods import NETWORKS, TREES, Method
from experiments.lib.afa_pieces import FIGURES, Piece
from experiments.lib.afa_tables import Task
from experiments.lib.first_lines import listed, with_first_lines
from experiments.lib.pages import markdown
from farthing.typing import Floats

WORDS = {"accuracy": "accuracy", "f1": "F1", "auroc": "AUROC"}


class Board:
    """The pieces of a board, by table and method.

    Parameters
    ----------
    pieces : sequence of Piece
        What was measured.
    tasks : mapping of str to Task
        The tables that the board has.
    methods : mapping of str to Method
        The methods that the board has.
    seeds : sequence of int
        The seeds that the board has.
    development : bool
        Whether no test row was read.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        tasks: Mapping[str, Task],
        methods: Mapping[str, Method],
        seeds: Sequence[int],
        *,
        development: bool = False,
    ) -> None:
        self.tasks, self.methods, self.seeds = tasks, methods, seeds
        self.development = development
        self.pieces = [
            piece
            for piece in pieces
            if piece.table in tasks and piece.method in methods and piece.seed in seeds
        ]

    def of(self, table: str, method: str) -> list[Piece]:
        """Return the pieces of a method on a table."""
        return [piece for piece in self.pieces if (piece.table, piece.method) == (table, method)]

    def fits(self, table: str, method: str) -> bool:
        """Return whether a method is meant for a table."""
        most = self.methods[method].max_columns
        return most is None or self.tasks[table].n_columns <= most

    def methods_of(self, table: str, kind: str) -> list[str]:
        """Return the methods of a kind that have pieces on a table."""
        return [name for name, method in self.methods.items() if method.kind == kind and self.of(table, name)]

    def means(self, table: str, method: str, figure: str) -> dict[int, float]:
        """Return the mean over all budgets for each seed that has all of them."""
        wanted = len(self.tasks[table].budgets)
        found = {}
        for seed in self.seeds:
            values = [getattr(piece, figure) for piece in self.of(table, method) if piece.seed == seed]
            if len(values) == wanted:
                found[seed] = float(np.mean(values))
        return found

    def seed_means(self, table: str, method: str, figure: str) -> Floats:
        """Return these means as an array."""
        return np.array(list(self.means(table, method, figure).values()))

    def at(self, table: str, method: str, k: int, figure: str) -> Floats:
        """Return the figure of each seed at one budget."""
        return np.array([getattr(piece, figure) for piece in self.of(table, method) if piece.k == k])

    def missing(self, table: str, method: str) -> int:
        """Return how many pieces are missing."""
        return len(self.seeds) * len(self.tasks[table].budgets) - len(self.of(table, method))


def shown(values: Floats, digits: int = 4) -> str:
    """Return a mean with its standard error over the seeds.

    Examples
    --------
    >>> shown(np.array([0.5, 0.7])), shown(np.array([0.5])), shown(np.array([]))
    ('0.6000 +- 0.1000', '0.5000', '')
    """
    if not len(values):
        return ""
    if len(values) == 1:
        return f"{values[0]:.{digits}f}"
    return f"{values.mean():.{digits}f} +- {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


# ---- the first lines ---------------------------------------------------------------------------------------


def first_lines(board: Board) -> list[str]:
    """Return what was not run, where ours is not first, and how often test rows were looked at."""
    return [*unrun(board), *standings(board), *training(board), *behind_published(board), looks(board)]


def unrun(board: Board) -> list[str]:
    """Return what is missing, table by table."""
    lines = []
    none = [table for table in board.tasks if not any(piece.table == table for piece in board.pieces)]
    if none:
        lines.append(f"Not run at all: {listed(none)}.")
    for table in board.tasks:
        meant = [name for name in board.methods if board.fits(table, name)]
        absent = [label(name) for name in meant if not board.of(table, name)]
        partial: dict[int, list[str]] = {}
        for name in meant:
            if board.of(table, name) and board.missing(table, name) > 0:
                partial.setdefault(board.missing(table, name), []).append(label(name))
        if table not in none and (absent or partial):
            whole = len(board.seeds) * len(board.tasks[table].budgets)
            parts = [f"not run: {listed(absent)}"] if absent else []
            parts += [
                f"missing {n} of {whole} pieces each: {listed(of)}" for n, of in sorted(partial.items())
            ]
            lines.append(f"{table}: {'; '.join(parts)}.")
    return lines


def label(name: str) -> str:
    """Return the name of a method without commas, for lists.

    Examples
    --------
    >>> label("static, permutation"), label("MiserCascade, mean")
    ('static (permutation)', 'MiserCascade (mean)')
    """
    first, _, rest = name.partition(", ")
    return f"{first} ({rest})" if rest else first


def comparisons(board: Board, table: str) -> list[tuple[list[int], dict[str, Floats]]]:
    """Return seeds, and the means of the hard methods that have all budgets of each of them.

    First the seeds that all methods have that have any; if there is none, those that most methods have. Then,
    if they are more, the seeds of the method that has most of them, beside others that have them all.
    """
    figure = board.tasks[table].aim
    whole = {name: board.means(table, name, figure) for name in board.methods_of(table, "hard")}
    whole = {name: values for name, values in whole.items() if values}
    if not whole:
        return []
    counts = {seed: sum(seed in values for values in whole.values()) for seed in board.seeds}
    shared = [seed for seed in board.seeds if counts[seed] == max(counts.values())]
    longest = max((list(values) for values in whole.values()), key=len)
    return [
        (
            seeds,
            {
                name: np.array([values[seed] for seed in seeds])
                for name, values in whole.items()
                if all(seed in values for seed in seeds)
            },
        )
        for seeds in ([shared, longest] if len(longest) > len(shared) else [shared])
    ]


def standings(board: Board) -> list[str]:
    """Return, for each table, whether one of our trees is first, with the paired error over the seeds."""
    lines = []
    for table, task in board.tasks.items():
        everyone: set[str] = set()
        for seeds, found in comparisons(board, table):
            everyone |= set(found)
            left = [label(name) for name in board.methods if name in everyone - set(found)]
            line = _standing(board, found)
            over = f"mean {WORDS[task.aim]} over the budgets, {'seed' if len(seeds) == 1 else 'seeds'}"
            over += f" {listed([str(seed) for seed in seeds])}"
            over += f", without {listed(left)}" if left else ""
            lines += [f"{table}, {over}: {line}"] if line else []
    return lines


def _standing(board: Board, found: Mapping[str, Floats]) -> str:
    """Return whether one of our trees has the largest mean, and who is before or behind it."""
    order = sorted(found, key=lambda name: -found[name].mean())
    ours = [name for name in order if board.methods[name].family == TREES]
    others = [name for name in order if board.methods[name].family != TREES]
    if not ours or not others:
        return ""
    best, mean = ours[0], found[ours[0]].mean()
    ahead = [
        f"{label(name)} ({found[name].mean():.4f}, by {shown(found[name] - found[best])})"
        for name in others
        if found[name].mean() > mean
    ]
    if ahead:
        return f"ours is not first: {best} ({mean:.4f}) is behind {listed(ahead)}."
    lead = found[best] - found[others[0]]
    within = len(lead) > 1 and lead.mean() <= lead.std(ddof=1) / np.sqrt(len(lead))
    level = ", within the standard error" if within else ""
    return f"{label(best)} ({mean:.4f}) is first, by {shown(lead)} before {label(others[0])}{level}."


def training(board: Board) -> list[str]:
    """Return how long networks train beside our best method, all budgets of a seed together."""
    parts = [
        f"{table}: {name} takes {beside.of_network / beside.of_best:.2g} times as long as {beside.best}"
        for table, name, beside in _all_besides(board)
    ]
    if not parts:
        return []
    return [
        "Training seconds for all budgets, on machines of which one is about three times as fast as another, "
        f"so that single ratios may be off by as much: {'; '.join(parts)}."
    ]


class Beside(NamedTuple):
    """The training seconds of a network and of our trees, for all budgets of a seed.

    Attributes
    ----------
    of_network : float
        Of the network.
    best : str
        Our best method on the seeds that are compared.
    of_best : float
        Its seconds.
    level : str or None
        The fastest of ours that is at least as good as the network on these seeds; None if there is none.
    of_level : float
        Its seconds.
    """

    of_network: float
    best: str
    of_best: float
    level: str | None
    of_level: float


def beside_trees(board: Board, table: str, network: str) -> Beside | None:
    """Return the seconds of a network and of our trees, on the same seeds; None without any of both."""
    figure = board.tasks[table].aim
    found = board.means(table, network, figure)
    trees = {
        name: board.means(table, name, figure)
        for name in board.methods_of(table, "hard")
        if board.methods[name].family == TREES
    }
    seeds = [seed for seed in found if any(seed in values for values in trees.values())]
    # Ours that have most of these seeds, so that all are compared on the same.
    most = max((len(set(seeds) & set(values)) for values in trees.values()), default=0)
    trees = {name: values for name, values in trees.items() if len(set(seeds) & set(values)) == most}
    seeds = [seed for seed in seeds if all(seed in values for values in trees.values())]
    if not seeds or not trees:
        return None
    means = {name: float(np.mean([values[seed] for seed in seeds])) for name, values in trees.items()}
    seconds = {name: seconds_of(board, table, name, seeds) for name in trees}
    best = max(means, key=lambda name: means[name])
    of_network = float(np.mean([found[seed] for seed in seeds]))
    level = [name for name in means if means[name] >= of_network]
    fastest = min(level, key=lambda name: seconds[name], default=None)
    return Beside(
        seconds_of(board, table, network, seeds),
        best,
        seconds[best],
        fastest,
        seconds[fastest] if fastest is not None else float("nan"),
    )


def seconds_of(board: Board, table: str, name: str, seeds: Sequence[int]) -> float:
    """Return the mean training seconds of some seeds, for all budgets, with those of choosing settings."""
    pieces = [piece for piece in board.of(table, name) if piece.seed in seeds]
    seconds = sum(piece.fit_seconds + piece.choice_seconds for piece in pieces)
    n_budgets = len(board.tasks[table].budgets) if board.methods[name].one_fit else 1
    return seconds / n_budgets / len(seeds)


def _all_besides(board: Board) -> list[tuple[str, str, Beside]]:
    """Return the table, the network and the seconds of each network that trees can be compared with."""
    return [
        (table, name, beside)
        for table in board.tasks
        for name in board.methods_of(table, "hard")
        if board.methods[name].family == NETWORKS and (beside := beside_trees(board, table, name)) is not None
    ]


def behind_published(board: Board) -> list[str]:
    """Return how our best method at each budget stands beside a published figure."""
    lines = []
    for table, task in board.tasks.items():
        parts: dict[str, list[str]] = {"below": [], "level": [], "above": []}
        for k, published in (task.published or {}).items():
            found = best_at(board, table, k)
            if found is not None:
                gap, error = found.accuracy - published, sampling_error(found)
                word = "level" if abs(gap) <= error else "above" if gap > 0 else "below"
                parts[word].append(f"{k} ({gap:+.4f} +- {error:.4f}, {found.method})")
        if any(parts.values()):
            said = [f"{word} at k = {listed(of)}" for word, of in parts.items() if of]
            lines.append(
                f"{table} beside the published figures, our best piece at each k, a choice on test rows in "
                f"our favour: {'; '.join(said)}."
            )
    return lines


def best_at(board: Board, table: str, k: int) -> Piece | None:
    """Return the most accurate piece of our trees at a hard budget."""
    found = [
        piece
        for piece in board.pieces
        if (piece.table, piece.k) == (table, k)
        and board.methods[piece.method].kind == "hard"
        and board.methods[piece.method].family == TREES
    ]
    return max(found, key=lambda piece: piece.accuracy, default=None)


def sampling_error(piece: Piece) -> float:
    """Return the standard error of an accuracy by the number of rows."""
    return float(np.sqrt(piece.accuracy * (1 - piece.accuracy) / piece.n_rows))


def looks(board: Board) -> str:
    """Return how often test rows were looked at."""
    if board.development:
        return "No test row was read: figures are of the rows that validate."
    more = [piece for piece in board.pieces if piece.looks > 1]
    text = f"Test rows were evaluated once for each of {len(board.pieces) - len(more)} pieces"
    if not more:
        return f"{text}, and for none more often."
    names = [
        f"{piece.table}, {piece.method}, seed {piece.seed}, k = {piece.k}: {piece.looks}" for piece in more
    ]
    return f"{text}; more often for {len(more)} ({'; '.join(names)})."


# ---- the tables --------------------------------------------------------------------------------------------


def page(board: Board, head: str) -> str:
    """Return the page."""
    parts = [head.strip()]
    for table, task in board.tasks.items():
        if any(piece.table == table for piece in board.pieces):
            parts.append(f"## {table}")
            parts += _hard(board, table, task)
            parts += _soft(board, table)
    parts += _energy(board)
    return with_first_lines("\n\n".join(parts), lambda text: first_lines(board))  # noqa: ARG005


def _hard(board: Board, table: str, task: Task) -> list[str]:
    """Return the tables of hard budgets."""
    names = board.methods_of(table, "hard")
    if not names:
        return []
    names.sort(key=lambda name: -_sorting(board, table, name, task.aim))
    summary = [
        [
            label(name),
            board.methods[name].family,
            len({piece.seed for piece in board.of(table, name)}),
            *(shown(board.seed_means(table, name, figure)) for figure in FIGURES),
            *_seconds(board.of(table, name), one_fit=board.methods[name].one_fit),
        ]
        for name in names
    ]
    header = [
        *("method", "family", "seeds", *(f"mean {WORDS[figure]}" for figure in FIGURES)),
        *("training seconds", "prediction ms per 1,000 rows"),
    ]
    parts = [markdown(header, summary)]
    for figure in FIGURES:
        rows: list[list[object]] = [
            [label(name), *(shown(board.at(table, name, k, figure)) for k in task.budgets)] for name in names
        ]
        if figure == "accuracy" and task.published:
            rows += _published(board, table, task)
        parts += [f"{WORDS[figure]} by k.", markdown([WORDS[figure], *task.budgets], rows)]
    return parts


def _published(board: Board, table: str, task: Task) -> list[list[object]]:
    """Return the published figures, and how far our best piece is from them."""
    assert task.published is not None
    gaps: list[object] = []
    for k in task.budgets:
        found = best_at(board, table, k)
        gap = None if found is None else found.accuracy - task.published[k]
        gaps.append("" if gap is None or found is None else f"{gap:+.4f} +- {sampling_error(found):.4f}")
    figures = [f"{task.published[k]:.4g}" for k in task.budgets]
    return [["published, GDFS", *figures], ["our best piece - published", *gaps]]


def _soft(board: Board, table: str) -> list[str]:
    """Return the table of mean budgets."""
    rows = [
        [
            *(label(name), k, shown(board.at(table, name, k, "features"), 2)),
            *(shown(board.at(table, name, k, figure)) for figure in FIGURES),
        ]
        for name in board.methods_of(table, "soft")
        for k in board.tasks[table].budgets
        if len(board.at(table, name, k, "features"))
    ]
    if not rows:
        return []
    header = ["method", "mean budget", "mean features", *(WORDS[figure] for figure in FIGURES)]
    return ["Soft budgets: what a row looks at on average.", markdown(header, rows)]


def _energy(board: Board) -> list[str]:
    """Return the table of training seconds, networks beside trees."""
    rows = [
        [
            *(table, label(name), f"{beside.of_network:.3g}"),
            *(label(beside.best), f"{beside.of_best:.3g}", f"{beside.of_network / beside.of_best:.2g}"),
            *(
                ("none", "", "")
                if beside.level is None
                else (
                    label(beside.level),
                    f"{beside.of_level:.3g}",
                    f"{beside.of_network / beside.of_level:.2g}",
                )
            ),
        ]
        for table, name, beside in _all_besides(board)
    ]
    if not rows:
        return []
    header = [
        *("table", "network", "its seconds"),
        *("our best", "its seconds", "ratio", "our fastest that is as good", "its seconds", "ratio"),
    ]
    return [
        "## Training seconds",
        "Processor seconds of all budgets of a seed, with those of choosing settings: a network is fitted "
        "once for all budgets, a tree method once for each. Both are means over the same seeds; which method "
        "is our best, and which is as good as the network, are figures of test rows. A piece of one method "
        "may come from a faster machine than that of another. Energy itself is not measured.",
        markdown(header, rows),
    ]


def _sorting(board: Board, table: str, name: str, figure: str) -> float:
    """Return a key to order methods by: their mean, those without all budgets last."""
    values = board.seed_means(table, name, figure)
    return float(values.mean()) if len(values) else -1.0


def _seconds(pieces: Sequence[Piece], *, one_fit: bool) -> tuple[str, str]:
    """Return the mean seconds of a fit for one budget, or for all, and of predictions."""
    fits = np.mean([piece.fit_seconds for piece in pieces])
    others = np.mean([piece.choice_seconds for piece in pieces])
    rate = np.mean([1e6 * piece.predict_seconds / piece.n_rows for piece in pieces])
    text = f"{fits:.3g}" + (f" (+ {others:.3g} to choose)" if others > 0 else "")
    return text + (", all k" if one_fit else ""), f"{rate:.3g}"
