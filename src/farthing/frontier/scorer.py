"""What a scorer is: a score of held-out rows, its standard error, and a loss to tell equal scores apart."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from farthing.frontier.evaluation import Evaluation
from farthing.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """All that a scorer says of an evaluation.

    Attributes
    ----------
    score, error
        As `Scorer.quick` returns them.
    loss, of_rows, losses_of_rows
        As the methods of these names return them.
    """

    score: float
    error: float | None
    loss: float
    of_rows: Floats | None
    losses_of_rows: Floats | None


class Scorer(ABC):
    """Gives a score, larger is better, and its standard error.

    Attributes
    ----------
    name : str
        What the score is called.
    calls_back : bool
        Whether it calls a function of the user's own, which may not bear threads.
    """

    name: str
    calls_back: ClassVar[bool] = False

    @abstractmethod
    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the score and its standard error, NaN if there is none."""

    def quick(self, evaluation: Evaluation) -> tuple[float, float | None]:
        """Return the score and its standard error; None for an error that takes many scores to find."""
        return self(evaluation)

    def error(self, evaluation: Evaluation) -> float:
        """Return the standard error alone."""
        return self(evaluation)[1]

    def loss(self, evaluation: Evaluation) -> float:  # most scores have none
        """Return a smoother measure, smaller is better, to separate nearly equal scores; NaN if none."""
        return math.nan

    def of_rows(self, evaluation: Evaluation) -> Floats | None:  # not every score has them
        """Return a value of each row whose mean is the score, shape (n_rows,); None if there is none.

        For a score that is not a mean over rows they are its linear part: the mean moves as the score does.
        """
        return None

    def losses_of_rows(self, evaluation: Evaluation) -> Floats | None:
        """Return the ``loss`` of each row, shape (n_rows,); None if there is none."""
        return None

    def figures(self, evaluation: Evaluation) -> Figures:
        """Return the score, its error and loss, and those of rows; a mean over rows computes these once."""
        score, error = self.quick(evaluation)
        return Figures(
            score, error, self.loss(evaluation), self.of_rows(evaluation), self.losses_of_rows(evaluation)
        )

    def identity(self) -> Any:
        """Return a value that identifies this scorer, the same in every process."""
        return self.name, repr(self)
