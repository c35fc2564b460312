"""What a policy reads of its state's classifier, and the losses of stopping there."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

# A class is never less likely than this to the log loss.
_LEAST: Final = 1e-6


def policy_scores(probabilities: Floats) -> Floats:
    """Return the probability of each class, then that of an error, shape (n_rows, n_classes + 1).

    Examples
    --------
    >>> policy_scores(np.array([[0.25, 0.75]]))
    array([[0.25, 0.75, 0.25]])
    """
    return np.column_stack([probabilities, 1 - probabilities.max(axis=1)])


def stopping_losses(probabilities: Floats, target: NDArray[np.int64], loss: str) -> Floats:
    """Return what stopping at a state costs each row, shape (n_rows,).

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_rows, n_classes)
    target : ndarray of int64, shape (n_rows,)
        Codes of the classes.
    loss : {"error", "probability", "log_loss"}
        Whether the label is wrong, the probability of the other labels, or the log loss in nats.

    Examples
    --------
    >>> stopping_losses(np.array([[0.25, 0.75], [0.5, 0.5]]), np.array([0, 0]), "error")
    array([1., 0.])
    """
    if loss == "error":
        return np.asarray(np.argmax(probabilities, axis=1) != target, dtype=np.float64)
    own = probabilities[np.arange(len(target)), target]
    if loss == "probability":
        return np.asarray(1 - own)
    return np.asarray(-np.log(np.maximum(own, _LEAST)))
