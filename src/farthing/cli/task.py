"""Whether a target is a label, a number, or a grade of documents to rank."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final

from farthing.errors import TableError

_MOST_LABELS: Final = 20
_ROWS_PER_LABEL: Final = 10

RULE: Final = (
    "text, categories and booleans are labels; numbers with fractions are numbers; whole numbers are labels "
    f"if there are two of them, or at most {_MOST_LABELS} and fewer than a tenth of the rows"
)


class Task(StrEnum):
    """What a model learns."""

    CLASSIFY = "classify"
    REGRESS = "regress"
    RANK = "rank"


def guess_task(y: Any) -> tuple[Task, str]:
    """Return the task of a target by `RULE`, and the reason in words.

    Examples
    --------
    >>> import numpy as np
    >>> guess_task(np.array([0.5, 1.5]))
    (<Task.REGRESS: 'regress'>, 'has fractions')
    >>> guess_task(np.arange(40))
    (<Task.REGRESS: 'regress'>, 'has 40 different whole numbers in 40 rows')
    """
    import numpy as np  # noqa: PLC0415 - slow to import

    if y.dtype.kind == "b":
        return Task.CLASSIFY, "is boolean"
    if y.dtype.kind not in "iuf":
        return Task.CLASSIFY, "is text"
    return guess_task_of_numbers(np.unique(y), len(y))


def guess_task_of_numbers(values: Any, n_rows: int) -> tuple[Task, str]:
    """Return the task of a target of numbers, from its different values and the number of its rows.

    Examples
    --------
    >>> import numpy as np
    >>> guess_task_of_numbers(np.array([0, 1]), 40)
    (<Task.CLASSIFY: 'classify'>, 'has 2 different whole numbers in 40 rows')
    """
    import numpy as np  # noqa: PLC0415 - slow to import

    if not (values == np.rint(values)).all():
        return Task.REGRESS, "has fractions"
    n_values = len(values)
    few = n_values <= 2 or (n_values <= _MOST_LABELS and n_values * _ROWS_PER_LABEL < n_rows)
    reason = f"has {n_values} different whole numbers in {n_rows} rows"
    return (Task.CLASSIFY if few else Task.REGRESS), reason


def target_for(task: Task, y: Any, name: str) -> Any:
    """Return a target in the type of a task: floats to regress or rank; whole numbers as integers for labels.

    Parameters
    ----------
    task : Task
        The task.
    y : ndarray, shape (n_rows,)
        The target.
    name : str
        Its column, for messages.
    """
    import numpy as np  # noqa: PLC0415 - slow to import

    if task is not Task.CLASSIFY:
        if y.dtype.kind not in "biuf":
            raise TableError(f"--task {task} needs numbers, but {name!r} is text, such as {str(y[0])!r}")
        if task is Task.RANK and y.min() < 0:
            raise TableError(f"--task rank needs grades of zero or more, but {name!r} has {y.min():g}")
        return y.astype(np.float64)
    if y.dtype.kind != "f":
        return y
    if not (y == np.rint(y)).all():
        raise TableError(
            f"--task classify needs labels, but {name!r} has fractions, such as {_fraction(y):g}; "
            "use --task regress, or put the numbers into classes first"
        )
    return y.astype(np.int64)


def _fraction(y: Any) -> float:
    return next(float(value) for value in y if value != round(value))
