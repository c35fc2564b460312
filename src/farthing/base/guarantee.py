"""What is to be guaranteed, and what was."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Real
from types import NoneType
from typing import Any, Final

import numpy as np

from farthing.store import register_codec

_TYPES: Final = {"float": (float,), "int": (int,), "str": (str,), "float | None": (float, NoneType)}


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What shall hold on new rows, and with which confidence.

    Parameters
    ----------
    budget : float, optional
        The mean spend of new rows is at most this.
    agreement : float, optional
        The label is that of the model without a budget, which pays the full price, on at least this share of
        new rows.
    confidence : float
        Probability, over the rows that the model is tested on, that all of this holds.
    holdout : float
        The part of the training rows that a fit with a guarantee keeps for the test.

    Examples
    --------
    >>> Guarantee(budget=60)
    Guarantee(budget=60, agreement=None, confidence=0.9, holdout=0.25)
    """

    budget: float | None = None
    agreement: float | None = None
    confidence: float = 0.9
    holdout: float = 0.25

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            if given is not None or field.default is not None:
                object.__setattr__(self, field.name, _number(given, field.name))
        if self.budget is None and self.agreement is None:
            raise ValueError("a guarantee needs a budget, an agreement, or both")
        if self.budget is not None and not 0 <= self.budget < math.inf:
            raise ValueError(
                f"the budget of a guarantee must be a finite number of zero or more; got {self.budget!r}"
            )
        for name in ("agreement", "confidence", "holdout"):
            given = getattr(self, name)
            if given is not None and not 0 < given < 1:
                raise ValueError(f"the {name} of a guarantee must be between 0 and 1; got {given!r}")

    @property
    def error(self) -> float:
        """The probability of failure that each of its parts may have (Bonferroni)."""
        return (1 - self.confidence) / ((self.budget is not None) + (self.agreement is not None))


def _number(given: Any, name: str) -> float:
    """Return a number as one of Python, as files hold it."""
    if isinstance(given, (bool, np.bool_)) or not isinstance(given, (Real, np.number)):
        raise TypeError(f"the {name} of a guarantee must be a number; got {given!r}")
    return given if isinstance(given, int) else float(given)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A guarantee that a model was tested for.

    Attributes
    ----------
    budget, agreement : float or None
        What holds on new rows that are drawn like those of the test.
    confidence : float
        Probability, over the rows of the test, that it holds.
    n_rows : int
        Rows of the test.
    bound : str
        The p-value by which it was tested, see `farthing.learning.guarantees.p_values`.
    n_tested : int
        Variants that were tested.
    spend : float
        Mean spend of the rows of the test.
    agreed : float or None
        Share of them with the label of the model without a budget; None if that was not asked for.
    """

    budget: float | None
    agreement: float | None
    confidence: float
    n_rows: int
    bound: str
    n_tested: int
    spend: float
    agreed: float | None = None

    def __str__(self) -> str:
        parts = []
        if self.budget is not None:
            parts.append(f"mean spend at most {self.budget:g} ({self.spend:.4g} on the rows of the test)")
        if self.agreement is not None:
            parts.append(
                f"the label without a budget on at least {self.agreement:.4g} of rows ({self.agreed:.4g} of "
                "those)"
            )
        return (
            f"{' and '.join(parts)}, with confidence {self.confidence:g}: {self.n_rows} rows, {self.bound}, "
            f"{self.n_tested} variants tested"
        )


def _decode_certificate(stored: Mapping[str, Any]) -> Certificate:
    """Build a certificate from a file, which may be hostile."""
    if set(stored) != {field.name for field in fields(Certificate)}:
        raise ValueError(f"a certificate does not have the fields {sorted(stored)}")
    for field in fields(Certificate):
        if type(stored[field.name]) not in _TYPES[str(field.type)]:
            raise TypeError(f"{field.name} of a certificate must be {field.type}")
    return Certificate(**stored)


register_codec("Certificate", Certificate, asdict, _decode_certificate)
register_codec("Guarantee", Guarantee, asdict, lambda stored: Guarantee(**stored))
