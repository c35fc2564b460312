"""Test cost of optimal trees on the tables of Lomax and Vadera, beside STreeD, a cascade and the front door.

``farthing reproduce optimal`` writes docs/results/optimal.md: eight tables, three levels of error prices, ten
published splits each. FARTHING_DATA names the folder that has them, in ``lomax``. ``--near`` runs the tables
on which settings may be chosen instead, with several penalties, and prints the means over all cells; it
never reads the first ones. Figures of the front door are those of the stored page ``lomax``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from experiments.boards.lomax import METHODS as SINGLE
from experiments.boards.lomax import Cell, Method, lowest, ours, run, standard_errors
from experiments.lib.first_lines import listed
from experiments.lib.pages import RESULTS, command, markdown, options, parse, write_page
from experiments.lib.priced_rivals import Answer, constant, optimal_tree
from experiments.lib.priced_splits import LEVELS, LOMAX, N_SPLITS, NEAR, PricedSplit
from experiments.lib.stored_pages import tables as tables_of
from farthing.forests import OptimalTreeClassifier

NAME: Final = "optimal"
DEPTHS: Final = (3, 4)
PENALTIES: Final = (0.0, 1.0, 2.0, 4.0)
STREED: Final = {depth: f"STreeD, depth {depth}" for depth in DEPTHS}
OURS: Final = {depth: f"OptimalTree, depth {depth}" for depth in DEPTHS}
CASCADE: Final = "MiserCascade"
DOOR: Final = "front door"


def tree(split: PricedSplit, **settings: Any) -> Answer:
    """Fit our tree, on columns as they are given: numbers in the order of their values."""
    return ours(lambda split: OptimalTreeClassifier(split.costs, error_costs=split.errors, **settings), split)


METHODS: Final[dict[str, Method]] = {
    **{OURS[depth]: partial(tree, max_depth=depth) for depth in DEPTHS},
    **{STREED[depth]: partial(optimal_tree, depth=depth) for depth in DEPTHS},
    CASCADE: SINGLE[CASCADE],
    "no test": constant,
}
SETTINGS: Final[dict[str, Method]] = {
    **{
        f"depth {depth}, penalty {penalty:g}": partial(tree, max_depth=depth, node_penalty=penalty)
        for depth in DEPTHS
        for penalty in PENALTIES
    },
    **{STREED[depth]: METHODS[STREED[depth]] for depth in DEPTHS},
    "no test": constant,
}


def relative(costs: NDArray[np.float64], methods: Sequence[str]) -> NDArray[np.float64]:
    """Return the mean over cells of the cost over that of no test, by method."""
    means = costs.mean(axis=1)
    return np.asarray((means / means[:, [methods.index("no test")]]).mean(axis=0))


def door_costs(cells: Sequence[Cell]) -> NDArray[np.float64]:
    """Return the front door's mean costs of the stored page, NaN where it has none, shape (n_cells,)."""
    stored = tables_of((RESULTS / "lomax.md").read_text(encoding="utf-8"))[0]
    place = stored.header.index(DOOR)
    found = {(row[0], row[1]): float(row[place].strip("*")) for row in stored.rows}
    return np.array([found.get(cell, np.nan) for cell in cells])


def verdict(cells: Sequence[Cell], methods: Sequence[str], costs: NDArray[np.float64]) -> list[str]:
    """Return the first lines of the page: where ours costs more, and by how much."""
    means, door = costs.mean(axis=1), door_costs(cells)
    lines = []
    for depth in DEPTHS:
        mine, rival = methods.index(OURS[depth]), methods.index(STREED[depth])
        won = lowest(costs, mine, [rival])
        lost = [
            f"{table} {level} ({means[c, mine]:.2f}, {means[c, rival]:.2f})"
            for c, (table, level) in enumerate(cells)
            if not won[c]
        ]
        lines.append(
            f"Depth {depth}: not above STreeD of the same depth on {won.sum()} of {len(cells)}. "
            f"Above it on: {listed(lost)}."
        )
        behind = int((means[:, mine] > door + 0.005).sum())
        known = int(np.isfinite(door).sum())
        cascade = means[:, methods.index(CASCADE)]
        worse = int((means[:, mine] > cascade * (1 + 1e-12)).sum())
        lines.append(
            f"Depth {depth}: above the miser cascade on {worse} of {len(cells)}, above the stored figure of "
            f"the front door on {behind} of {known}."
        )
    return lines


def page(
    cells: Sequence[Cell], n_splits: int, methods: Sequence[str], figures: dict[str, NDArray[np.float64]]
) -> str:
    """Return the page."""
    costs = figures["cost"]
    means, door = costs.mean(axis=1), door_costs(cells)
    pair = [methods.index(names[DEPTHS[0]]) for names in (OURS, STREED)]
    errors = standard_errors(costs[:, :, pair[0]] - costs[:, :, pair[1]])
    rows = []
    for place, (table, level) in enumerate(cells):
        best = np.nanmin([*means[place], door[place]])
        shown = [
            f"**{value:.2f}**" if value <= best else f"{value:.2f}" for value in (*means[place], door[place])
        ]
        rows.append([table, level, *shown, f"{errors[place]:.2f}"])
    shares = relative(costs, methods)
    summary = [[name, f"{share:.3f}"] for name, share in zip(methods, shares.tolist(), strict=True)]
    text = HEAD.format(
        verdict="\n".join(f"- {line}" for line in verdict(cells, methods, costs)),
        n_splits=n_splits,
        near=listed(list(NEAR)),
    )
    return "\n".join(
        [
            text,
            "## Mean total cost of a test row, tests and errors\n",
            markdown(["table", "errors", *methods, DOOR, "standard error"], rows),
            "\nStandard error: of the difference between ours and STreeD at depth 3, over the splits, which "
            "share rows.",
            "\n## Mean over the cells, as a share of the cost without tests\n",
            markdown(["method", "share"], summary),
        ]
    )


HEAD = """# Optimal trees on the tables of Lomax and Vadera

{verdict}

- **Test rows were looked at before**: by an earlier run of this page, and several times for
  [lomax](lomax.md), which has the same rows. The settings of the trees are those of the earlier run.
- Tables, prices and splits are those of [lomax](lomax.md), {n_splits} splits each; a cell is the mean over
  the splits of the mean total cost of a test row. Bold: the lowest of the row.
- OptimalTree is `OptimalTreeClassifier(costs, error_costs=errors, max_depth=...)` at its other defaults, on
  the attributes as numbers, cut at thresholds. STreeD (pystreed 1.4.0) tests single values, and has no
  penalty of a test: each is optimal on the training rows for its own tests and objective.
- MiserCascade is at its defaults, with `error_costs`. The front door's column is copied from
  [lomax](lomax.md), where it was measured; optimal trees are in its default set.
- The default penalty of a test was chosen on other tables (`--near`): {near}.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", help="some of the tables")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--near", action="store_true", help="the tables that settings are chosen on")
    args = parse(parser, NAME, arguments)
    tables = args.tables or list(NEAR if args.near else LOMAX)
    levels: Sequence[str] = LEVELS
    n_splits = args.splits
    if args.tiny:
        tables, levels, n_splits = ["diabetes"], LEVELS[:1], 2
    cells = [(table, level) for table in tables for level in levels]
    kept = args.kept / "near" if args.near else args.kept
    kept.mkdir(parents=True, exist_ok=True)
    methods = SETTINGS if args.near else METHODS
    seeds = range(n_splits) if args.near else range(1, n_splits + 1)
    figures = run(kept, cells, seeds, methods, near=args.near)
    if args.near:
        for name, share in zip(methods, relative(figures["cost"], list(methods)).tolist(), strict=True):
            print(f"{name}: {share:.4f}")
        return
    write_page(args.out, NAME, page(cells, n_splits, list(methods), figures), command(NAME))


if __name__ == "__main__":
    main()
