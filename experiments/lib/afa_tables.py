"""The tables of `experiments.boards.afa`: rows, prices, budgets, and who may read which rows.

The test rows of a table are the same for all seeds: the official ones where there are any, else a quarter,
drawn once. A seed divides the other rows into four parts to train and one to validate; of images, the last
10,000 training images always validate. In development the test rows are dropped as soon as a table is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from experiments.lib.cube_tables import cube_table
from farthing.costs import CostSheet, Group
from farthing.datasets import load_table
from farthing.typing import Flags

TEST_SHARE: Final = 0.25
VALIDATION_SHARE: Final = 0.2
N_VALIDATION_IMAGES: Final = 10_000
SIDE: Final = 28  # pixels
FEW: Final = tuple(range(1, 11))


class Rows(NamedTuple):
    """Rows and labels."""

    X: pd.DataFrame
    y: NDArray[Any]

    def take(self, numbers: NDArray[Any]) -> Rows:
        """Return some of the rows, by their numbers or by flags."""
        return Rows(self.X.loc[self.X.index[numbers]].reset_index(drop=True), self.y[numbers])

    def only(self, columns: NDArray[np.int64]) -> Rows:
        """Return some of the columns, by their numbers."""
        return Rows(self.X.iloc[:, columns], self.y)


class Source(NamedTuple):
    """A whole table."""

    rows: Rows
    is_test: Flags


@dataclass(frozen=True)
class Task:
    """A table of the board.

    Attributes
    ----------
    source : callable
        Reads the table.
    budgets : sequence of int
        The numbers of features, or of groups, that a row may look at.
    n_columns : int
        The number of columns.
    aim : str
        The figure by which settings are chosen on validation rows, and methods are compared.
    images : bool
        Whether the last training rows validate, whatever the seed.
    superpixels : bool
        Whether blocks of 2 x 2 pixels are bought together, for 1 each; else each column costs 1.
    published : mapping of int to float
        Accuracies of Covert et al. (2023) by budget.
    """

    source: Callable[[], Source]
    n_columns: int
    budgets: Sequence[int] = FEW
    aim: str = "auroc"
    images: bool = False
    superpixels: bool = False
    published: Mapping[int, float] | None = None

    def costs(self, columns: Sequence[str]) -> CostSheet:
        """Return the prices of columns."""
        if not self.superpixels:
            return CostSheet(dict.fromkeys(columns, 1.0))
        blocks: dict[str, list[str]] = {}
        for place, name in enumerate(columns):
            row, column = divmod(place, SIDE)
            blocks.setdefault(f"block {row // 2} {column // 2}", []).append(name)
        groups = {name: Group(1.0, members) for name, members in blocks.items()}
        return CostSheet(dict.fromkeys(columns, 0.0), groups=groups)


@dataclass(frozen=True)
class Split:
    """The rows of one seed.

    Attributes
    ----------
    train, validation : Rows
        Rows to fit on, and to choose settings by.
    test : Rows or None
        None in development.
    costs : CostSheet
        The prices.
    """

    train: Rows
    validation: Rows
    test: Rows | None
    costs: CostSheet

    @property
    def evaluation(self) -> Rows:
        """The rows that figures are of: the test rows; in development those to validate."""
        return self.validation if self.test is None else self.test


def split_of(task: Task, seed: int, *, development: bool = False) -> Split:
    """Return the rows of one seed; in development without the test rows."""
    rows, is_test = task.source()
    test = None if development else rows.take(is_test)
    rows = rows.take(~is_test)
    if task.images:
        numbers = np.arange(len(rows.y))
        n_validation = min(N_VALIDATION_IMAGES, len(numbers) // 5)
        train, validation = numbers[:-n_validation], numbers[-n_validation:]
    else:
        train, validation = train_test_split(
            np.arange(len(rows.y)), test_size=VALIDATION_SHARE, random_state=seed, stratify=rows.y
        )
    return Split(rows.take(train), rows.take(validation), test, task.costs(list(rows.X.columns)))


def drawn(name: str, n_rows: int) -> Flags:
    """Return which rows of a table without an official division are test rows."""
    order = np.random.default_rng(crc32(name.encode())).permutation(n_rows)
    return np.asarray(order < round(TEST_SHARE * n_rows))


@lru_cache(maxsize=1)
def _stored(name: str) -> Source:
    data = load_table(name)
    y = np.asarray(data.y)
    is_test = drawn(name, len(y)) if data.split is None else np.asarray(data.split) == "test"
    return Source(Rows(data.X, y), is_test)


@lru_cache(maxsize=1)
def _images(name: str) -> Source:
    (X, y), is_test = _stored(name)
    pixels = pd.DataFrame(X.to_numpy(dtype=np.float32), columns=X.columns)
    return Source(Rows(pixels, y), is_test)


def _cubes() -> Source:
    table = cube_table(4000, 7000)
    return Source(Rows(table.X, table.y), drawn("cubes", len(table.y)))


def _made_up() -> Source:
    random = np.random.default_rng(3)
    values = random.normal(size=(240, 4))
    y = (values[:, 0] + values[:, 1] > 0).astype(int) + (values[:, 2] > 1)
    return Source(Rows(pd.DataFrame(values, columns=list("abcd")), y), drawn("made up", len(y)))


def _table(name: str) -> Callable[[], Source]:
    return lambda: _stored(name)


def _pictures(name: str) -> Callable[[], Source]:
    return lambda: _images(name)


#: Table 3 of Covert et al. (2023).
PUBLISHED: Final = {5: 0.695, 10: 0.875, 15: 0.926, 20: 0.950, 25: 0.960, 30: 0.966, 40: 0.973, 50: 0.975}
#: Their published notebook with blocks of 2 x 2 pixels.
PUBLISHED_BLOCKS: Final = dict(
    zip(FEW, (0.3707, 0.5776, 0.7320, 0.8252, 0.8793, 0.9074, 0.9260, 0.9381, 0.9461, 0.9532), strict=True)
)
TASKS: Final[dict[str, Task]] = {
    "miniboone_tiny": Task(_table("miniboone_tiny"), 50),
    "splice": Task(_table("splice"), 60),
    "dna": Task(_table("dna"), 180),
    "satellite": Task(_table("satellite"), 36),
    "cubes": Task(_cubes, 20),
    "physionet2012": Task(_table("physionet2012"), 41, (5, 10, 15)),
    "mnist": Task(
        _pictures("mnist"), SIDE**2, tuple(PUBLISHED), aim="accuracy", images=True, published=PUBLISHED
    ),
    "fashion_mnist": Task(_pictures("fashion_mnist"), SIDE**2, (10, 20, 30), aim="accuracy", images=True),
    "mnist_superpixels": Task(
        _pictures("mnist"),
        SIDE**2,
        aim="accuracy",
        images=True,
        superpixels=True,
        published=PUBLISHED_BLOCKS,
    ),
}
#: For a tiny run.
MADE_UP: Final = Task(_made_up, 4, (1, 2))
