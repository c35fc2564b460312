"""What a row pays beside features: the call of the expensive model, and evaluations within it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.expensive_model import Answering
from farthing.costs import CostSheet


def with_expensive_calls(costs: CostSheet, call_cost: float, expensive: Answering) -> CostSheet:
    """Return the prices of the columns with the calls of the expensive model.

    Parameters
    ----------
    costs : CostSheet
        The prices of the columns.
    call_cost : float
        The price of calling the expensive model; 0 is no call.
    expensive : Answering
        The expensive model. Calls of its own, such as the evaluation of its trees, are added.
    """
    own = {"expensive model": call_cost} if call_cost else {}
    inner = {f"expensive model: {name}": price for name, price in expensive.calls.items()}
    return costs.with_calls({**own, **inner})


@dataclass(frozen=True, slots=True)
class CallPlaces:
    """Where the cost sheet of an Adapt model has its calls.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    call : int or None
        The place of the call of the expensive model; None if it is free.
    inner : int
        The place of the first call within the expensive model.
    width : int
        Number of columns and calls.
    """

    n_columns: int
    call: int | None
    inner: int
    width: int

    @classmethod
    def of(cls, costs: CostSheet, expensive: Answering) -> CallPlaces:
        """Return the places in the sheet of a fitted model; ValueError if the sheet does not fit."""
        has_call = len(costs.calls) - len(expensive.calls)
        inner = [costs.call_prices()[name] for name in costs.calls[has_call:]] if has_call >= 0 else None
        if has_call not in (0, 1) or inner != list(expensive.calls.values()):
            raise ValueError("the calls of the cost sheet must be those of the expensive model")
        call = costs.n_columns if has_call else None
        return cls(costs.n_columns, call, costs.n_columns + has_call, len(costs.features))

    def account(
        self, cheap: NDArray[np.bool_], expensive: NDArray[np.bool_] | None = None
    ) -> NDArray[np.bool_]:
        """Return what rows acquire with the cheap model, and if they are sent on.

        Parameters
        ----------
        cheap : ndarray of bool, shape (n_rows, n_columns)
            What gate and f1 read.
        expensive : ndarray of bool, shape (n_rows, n_columns + n_inner_calls), optional
            What the expensive model acquires; None if the rows are not sent on.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_columns + n_calls)
        """
        acquired = np.zeros((len(cheap), self.width), dtype=np.bool_)
        acquired[:, : self.n_columns] = cheap
        if expensive is not None:
            # Columns that both models read are charged once.
            acquired[:, : self.n_columns] |= expensive[:, : self.n_columns]
            acquired[:, self.inner :] = expensive[:, self.n_columns :]
            if self.call is not None:  # nothing is called for a row of which nothing is known
                acquired[:, self.call] = acquired[:, : self.n_columns].any(axis=1)
        return acquired
