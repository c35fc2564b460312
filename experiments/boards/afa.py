"""Active feature acquisition: hard and soft budgets of features, trees beside static selection and networks.

``farthing reproduce afa`` writes docs/results/afa.md, and the figures of each piece to
docs/results/afa.csv. A piece is a table, a method, a seed and a budget; it is kept when it is measured, so
that a run can be made in many turns: ``--tables satellite --methods GreedyMiser --seeds 0 1 --minutes 4``.
The page is made of what there is. Pieces that afa.csv has are not measured again. FARTHING_DATA must name
the folder of the tables; see `farthing.datasets.load_table`.

Each piece looks at the test rows once; settings are chosen on validation rows. ``--development`` drops the
test rows when a table is read, evaluates the validation rows of other seeds, and writes its page to the
folder of partial results.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Sequence
from itertools import product
from typing import Final

from experiments.lib.afa_methods import METHODS
from experiments.lib.afa_page import Board, page
from experiments.lib.afa_pieces import Kept, Work, measure, write
from experiments.lib.afa_tables import MADE_UP, TASKS
from experiments.lib.pages import command, options, parse, write_page

NAME: Final = "afa"
SEEDS: Final = (0, 1, 2, 3, 4)
DEVELOPMENT_SEEDS: Final = (100, 101)
TINY_METHODS: Final = ("GreedyMiser", "BudgetTree", "static, mutual information", "BudgetForest, mean")

HEAD = """# Active feature acquisition

A row may look at k features, all at the same price, and a method chooses them one after another for each
row; the protocol is that of the field's benchmarks (AFA-Benchmark, Schuetz et al. 2026; Covert et al.
2023), in which there is no tree. Accuracy, F1 (the mean over classes) and the area under the ROC curve
(AUROC, one class against the rest, the mean over classes) are of test rows. Those are the official ones
(MNIST, Fashion-MNIST, satellite, dna, MiniBooNE's sample), or a quarter of the table, drawn once; they are
the same for all seeds. A seed draws the fifth of the other rows that validates, and the random state of the
method; of images the last 10,000 training images always validate. Methods are fitted on the training rows
alone, at their defaults or at settings that the validation rows chose; images are not moved. Standard
errors are over the seeds: they hold the draw of training rows, not that of test rows. Beside published
figures they are those of 10,000 test images.

"Trees" are ours. "Static" selections give every row the same features, ranked by mutual information, by
permutation, or by elimination with the gains of boosted trees, and have a LightGBM model on them;
elimination is an embedded selection in place of a concrete autoencoder, which is not run. A hard budget k
is never exceeded on any row; BudgetForest grows all its trees, of which a row passes what it can afford;
PrunedForest is fitted for k as a mean, and capped at k. DiagnosticPolicy has at most 6 features. On images
BranchingCascade has the settings of the [page on MNIST](cascade_mnist.md), which trials on training rows
have chosen; that page looked at the test rows of MNIST before this board did, at k = 20 more than once. The
published figures are taken as exact. Means are over all budgets of a table, and over the seeds that have
all of them. Seconds are processor seconds on one thread, of one fit for one k unless "all k" is said. Pieces
come from several machines, all with other work, of which one is about three times as fast as another.
"""

DEVELOPMENT = """# Active feature acquisition, development

Seeds are others than those of the page.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    args = parse(_parser(), NAME, arguments)
    tasks = {"made up": MADE_UP} if args.tiny else TASKS
    methods = {name: METHODS[name] for name in TINY_METHODS} if args.tiny else METHODS
    seeds = DEVELOPMENT_SEEDS if args.development else SEEDS[:2] if args.tiny else SEEDS
    if not set(args.seeds or seeds) <= set(seeds):
        raise SystemExit(
            f"the seeds are {', '.join(map(str, seeds))}; other ones would look at the rows anew"
        )
    if args.development:
        args.out = args.kept = args.kept / "development"
        args.kept.mkdir(parents=True, exist_ok=True)
    csv = args.out / f"{NAME}.csv"
    kept = Kept(args.kept, csv)
    failed = run(
        kept,
        args,
        [
            Work(*task, *method, seed, args.development)
            for seed, task, method in product(args.seeds or seeds, tasks.items(), methods.items())
        ],
    )
    board = Board(list(kept.pieces.values()), tasks, methods, seeds, development=args.development)
    write(csv, board.pieces)
    write_page(args.out, NAME, page(board, DEVELOPMENT if args.development else HEAD), command(NAME))
    if failed:
        raise SystemExit(f"{len(failed)} fits failed: {'; '.join(failed)}")


def run(kept: Kept, args: argparse.Namespace, works: Sequence[Work]) -> list[str]:
    """Measure the pieces that are asked for and not there, as long as there is time; return what failed."""
    failed: list[str] = []
    end = time.monotonic() + 60 * args.minutes
    for work in works:
        asked = work.table in (args.tables or [work.table]) and work.name in (args.methods or [work.name])
        for budgets in work.budgets(kept, args.k) if asked and work.fits else []:
            if time.monotonic() > end:
                return failed
            try:
                pieces = measure(kept, work, budgets)
            except Exception:  # a run of hours goes on; the page says what is missing
                failed.append(f"{work.table}, {work.name}, seed {work.seed}, k = {budgets}")
                print(f"{failed[-1]}:\n{traceback.format_exc()}", flush=True)
                continue
            for piece in pieces:
                print(
                    f"{piece.table}, {piece.method}, seed {piece.seed}, k = {piece.k}: accuracy "
                    f"{piece.accuracy:.4f}, AUROC {piece.auroc:.4f}, {piece.features:.2f} features, "
                    f"{piece.fit_seconds + piece.choice_seconds:.1f} s",
                    flush=True,
                )
    return failed


def _parser() -> argparse.ArgumentParser:
    """Return the options of the command line."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", help="only these")
    parser.add_argument("--methods", nargs="*", help="only these")
    parser.add_argument("--seeds", nargs="*", type=int, help="only these")
    parser.add_argument("--k", nargs="*", type=int, help="only these budgets")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="start no piece after so many")
    parser.add_argument("--development", action="store_true", help="validation rows of other seeds only")
    return parser


if __name__ == "__main__":
    main()
