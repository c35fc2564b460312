"""The pieces of `experiments.boards.afa`: one table, method, seed and budget each, kept when measured."""

from __future__ import annotations

import csv
import json
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from experiments.lib.afa_methods import Method, Setup
from experiments.lib.afa_tables import Rows, Split, Task, split_of
from experiments.lib.pages import commit
from farthing.errors import UnseenCategoryWarning
from farthing.typing import Floats
from farthing.walks import Decisions

FIGURES: Final = ("accuracy", "f1", "auroc")


@dataclass(frozen=True)
class Piece:
    """What was measured of one table, method, seed and budget.

    Attributes
    ----------
    table, method : str
    seed, k : int
    accuracy, f1, auroc : float
        On the rows that were evaluated; F1 and the area under the curve are means over the classes.
    features : float
        The mean number of features, or groups, of a row.
    most : float
        The largest number of a row.
    fit_seconds : float
        Processor seconds of the fit with the chosen settings; of a single fit for several budgets, all of it.
    choice_seconds : float
        Those of the other settings that were fitted and not chosen.
    predict_seconds : float
        Processor seconds of the predictions.
    n_rows : int
        Rows that were evaluated.
    settings : str
        Those that were chosen by the validation rows.
    looks : int
        How often the rows were evaluated for this piece.
    commit : str
        Of the source tree.
    """

    table: str
    method: str
    seed: int
    k: int
    accuracy: float
    f1: float
    auroc: float
    features: float
    most: float
    fit_seconds: float
    choice_seconds: float
    predict_seconds: float
    n_rows: int
    settings: str
    looks: int
    commit: str

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What it is of."""
        return self.table, self.method, self.seed, self.k


class Seen(NamedTuple):
    """The figures of a `Piece` that come from predictions, in its order."""

    accuracy: float
    f1: float
    auroc: float
    features: float
    most: float


TYPES: Final = {"str": str, "int": int, "float": float}


def figures(y: NDArray[Any], decided: Decisions, classes: NDArray[Any]) -> dict[str, float]:
    """Return accuracy, F1 and area under the ROC curve; the last two are means over the classes."""
    if decided.probabilities is None:
        raise ValueError("a method of this board gives probabilities")
    return {
        "accuracy": float(accuracy_score(y, decided.prediction)),
        "f1": float(f1_score(y, decided.prediction, average="macro", zero_division=0)),
        "auroc": auroc(y, decided.probabilities, classes),
    }


def auroc(y: NDArray[Any], likely: Floats, classes: NDArray[Any]) -> float:
    """Return the mean area under the ROC curve of one class against the rest, over the classes in ``y``."""
    if len(classes) == 2:
        return float(roc_auc_score(y == classes[1], likely[:, 1]))
    present = [place for place, label in enumerate(classes) if 0 < np.sum(y == label) < len(y)]
    return float(np.mean([roc_auc_score(y == classes[place], likely[:, place]) for place in present]))


@dataclass(frozen=True)
class Work:
    """A method on a table with a seed.

    Attributes
    ----------
    table, name : str
        Of the table and the method.
    task : Task
    method : Method
    seed : int
    development : bool
        Whether to leave the test rows alone, and evaluate those that validate.
    """

    table: str
    task: Task
    name: str
    method: Method
    seed: int
    development: bool = False

    @property
    def fits(self) -> bool:
        """Whether the table is not too wide for the method."""
        return self.method.max_columns is None or self.task.n_columns <= self.method.max_columns

    def budgets(self, kept: Kept, wanted: Sequence[int] | None) -> list[tuple[int, ...]]:
        """Return the budgets that have no piece yet, those of one fit together."""
        left = [
            k
            for k in self.task.budgets
            if (not wanted or k in wanted) and (self.table, self.name, self.seed, k) not in kept.pieces
        ]
        return [tuple(left)] * bool(left) if self.method.one_fit else [(k,) for k in left]


class Kept:
    """Pieces in a folder, and a list of all looks at the rows that were evaluated.

    A look is noted before the rows are evaluated, so that one whose figures are lost still counts.
    """

    def __init__(self, folder: Path, stored: Path | None = None) -> None:
        self.folder = folder
        self.pieces = {piece.key: piece for piece in (read(stored) if stored and stored.exists() else ())}
        for file in sorted(folder.glob("piece_*.json")):
            piece = Piece(**json.loads(file.read_text()))
            self.pieces[piece.key] = piece

    def look(self, key: tuple[str, str, int, int]) -> int:
        """Note a look, and return how many there are of this piece."""
        stored = self.pieces.get(key)
        noted = self.folder / "looks.txt"
        line = json.dumps(key)
        with noted.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        here = noted.read_text(encoding="utf-8").splitlines().count(line)
        return max(here, 1 + (stored.looks if stored else 0))

    def add(self, piece: Piece) -> None:
        """Keep a piece."""
        self.pieces[piece.key] = piece
        name = "_".join(str(part) for part in piece.key).replace(" ", "-").replace(",", "")
        part = self.folder / f"{name}.part"
        part.write_text(json.dumps(asdict(piece)))
        part.rename(self.folder / f"piece_{name}.json")  # a run that is cut off leaves no half file


def read(path: Path) -> list[Piece]:
    """Read pieces from a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Piece(**{each.name: TYPES[str(each.type)](row[each.name]) for each in fields(Piece)})
            for row in csv.DictReader(file)
        ]


def write(path: Path, pieces: Iterable[Piece]) -> None:
    """Write pieces as a table, in order; who reads it meanwhile sees the whole of it, before or after."""
    part = path.with_suffix(f".{os.getpid()}.part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Piece)], lineterminator="\n")
        writer.writeheader()
        for piece in sorted(pieces, key=lambda piece: piece.key):
            row = asdict(piece)
            row |= {name: f"{value:.6g}" for name, value in row.items() if isinstance(value, float)}
            writer.writerow(row)
    part.rename(path)


def measure(kept: Kept, work: Work, budgets: Sequence[int]) -> list[Piece]:
    """Fit a method for some budgets, evaluate it once for each, and keep the pieces."""
    method = work.method
    split = split_of(work.task, work.seed, development=work.development)
    setup = Setup(split.costs, max(budgets), tuple(budgets), work.seed, work.task.images)
    model, spent, others, settings = _chosen(method, setup, split, work.task.aim)
    found = []
    for k in budgets:
        key = (work.table, work.name, work.seed, k)
        n_looks = kept.look(key)
        seen, seconds = _evaluated(model, method, split.evaluation, k)
        found.append(
            Piece(
                *key,
                *seen,
                fit_seconds=spent,
                choice_seconds=others,
                predict_seconds=seconds,
                n_rows=len(split.evaluation.y),
                settings=settings,
                looks=n_looks,
                commit=commit(),
            )
        )
        kept.add(found[-1])
    return found


def _chosen(method: Method, setup: Setup, split: Split, aim: str) -> tuple[Any, float, float, str]:
    """Return the model of the settings that are best on validation rows, and the seconds of it and others.

    Under a mean budget these are the best of those that keep it on validation rows, or the cheapest.
    """
    fits = []
    for settings in method.settings:
        model, seconds = _fitted(method, replace(setup, settings=settings), split)
        score = (0.0, 0.0)
        if len(method.settings) > 1:
            decided = model.decide(split.validation.X, budget=_cap(method, setup.budget))
            over = max(0.0, float(decided.spent.mean()) - setup.budget)
            score = (-over, figures(split.validation.y, decided, model.classes_)[aim])
        fits.append((score, model, seconds, settings))
    best = max(range(len(fits)), key=lambda place: fits[place][0])
    _, model, seconds, settings = fits[best]
    text = " ".join(f"{name}={value}" for name, value in settings.items())
    return model, seconds, sum(fit[2] for fit in fits) - seconds, text


def _fitted(method: Method, setup: Setup, split: Split) -> tuple[Any, float]:
    """Return a model that is fitted on the training rows, and the processor seconds."""
    model = method.make(setup)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = (
            model.fit(split.train, split.validation) if method.takes_validation else model.fit(*split.train)
        )
    return model, time.process_time() - begin


def _evaluated(model: Any, method: Method, rows: Rows, k: int) -> tuple[Seen, float]:
    """Return the figures of a model on rows, and the processor seconds of predictions."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)  # rare letters of splice
        decided = model.decide(rows.X, budget=_cap(method, k))
    seconds = time.process_time() - begin
    most = float(decided.spent.max())
    if method.kind == "hard" and most > k:
        raise AssertionError(f"a row looks at {most:g} features, {k} are the budget")
    return Seen(
        **figures(rows.y, decided, model.classes_), features=float(decided.spent.mean()), most=most
    ), seconds


def _cap(method: Method, k: int) -> int | None:
    """Return the hard budget of predictions."""
    return k if method.kind == "hard" else None
