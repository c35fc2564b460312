"""Why a walk asks for a feature, and why it has ended, as values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Outcome:
    """One of the answers that make a difference.

    Attributes
    ----------
    answer : str
        The answers that it stands for: ``"<= 3.5"``, ``"> 3.5, <= 5"``, ``"a, b"`` or ``"missing"``.
    probability : float
        Their share among the training rows that came to this question.
    prediction : object
        What would be predicted after such an answer.
    probabilities : dict or None
        Probability of each class after it; None for a regressor.
    asks : str or None
        The feature that would be asked for next; None if the walk would end.
    """

    answer: str
    probability: float
    prediction: Any
    probabilities: dict[Any, float] | None
    asks: str | None


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The feature, of those that the model would test later on, with the next largest fall per price.

    Attributes
    ----------
    feature : str
        Name of the column.
    price : float
        Its current price.
    fall : float
        The expected fall of the risk by its next test.
    """

    feature: str
    price: float
    fall: float


# What takes longest to find: the runner-up and the answers that make a difference.
Details: TypeAlias = tuple[RunnerUp | None, tuple[Outcome, ...]]


class Reason:
    """Why a feature is asked for: a value, of which `runner_up` and `outcomes` are found when they are read.

    Parameters
    ----------
    feature, price, measure, risk, fall, estimated, source
        As the attributes.
    details : tuple or callable
        The runner-up and the outcomes, or what finds them.

    Attributes
    ----------
    feature : str
        Name of the column.
    price : float
        What it costs now.
    measure : str
        What the risk is the expectation of: ``"Brier score"``, the sum over the classes of the squared
        difference of probability and truth, ``"squared error"``, or ``"error"``, the price of a wrong label.
    risk : float or None
        The expected loss if the walk ended now; None if the model does not say.
    fall : float or None
        By how much the answer is expected to lower it; None if the model does not say. Below zero if an
        answer is needed for later ones, and makes the prediction worse by itself.
    runner_up : RunnerUp or None
        What else would lower it; None if the model has no second question in reach.
    outcomes : tuple of Outcome
        The answers that make a difference, the likeliest first; empty if the model has no counts of them.
    estimated : bool
        Whether any of the figures is an estimate. If not, they are those of the training rows that came to
        this question.
    source : str
        Where the figures come from.
    """

    __slots__ = (
        "__weakref__", "_details", "estimated", "fall", "feature", "measure", "price", "risk", "source"
    )  # fmt: skip

    def __init__(
        self,
        feature: str,
        price: float,
        measure: str,
        risk: float | None,
        fall: float | None,
        *,
        details: Details | Callable[[], Details],
        estimated: bool,
        source: str,
    ) -> None:
        self.feature = feature
        self.price = price
        self.measure = measure
        self.risk = risk
        self.fall = fall
        self.estimated = estimated
        self.source = source
        self._details = details

    def complete(self) -> Details:
        """Find what has not been found yet; a walk does so before it goes on."""
        found = self._details
        if callable(found):
            found = self._details = found()
        return found

    @property
    def runner_up(self) -> RunnerUp | None:
        """What else would lower the risk."""
        return self.complete()[0]

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """The answers that make a difference."""
        return self.complete()[1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reason):
            return NotImplemented
        return self._fields() == other._fields()

    # Outcomes have dicts, which have no hash.
    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy it as a complete value, without the walk that it comes from."""
        given = self.feature, self.price, self.measure, self.risk, self.fall
        return _complete_reason, (*given, self.complete(), self.estimated, self.source)

    def __repr__(self) -> str:
        return f"Reason({', '.join(f'{name}={value!r}' for name, value in self._fields().items())})"

    def _fields(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _FIELDS}

    @property
    def per_price(self) -> float | None:
        """The fall per unit of price; None if it is not known, or the feature is free."""
        return None if self.fall is None or self.price <= 0 else self.fall / self.price

    @property
    def ends(self) -> tuple[str, ...]:
        """The answers that would end the walk."""
        return tuple(outcome.answer for outcome in self.outcomes if outcome.asks is None)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, for JSON; classes are a list of pairs of label and probability."""
        data = self._fields()
        data["runner_up"] = None if self.runner_up is None else asdict(self.runner_up)
        data["outcomes"] = tuple(asdict(outcome) for outcome in self.outcomes)
        for outcome in data["outcomes"]:
            likely = outcome["probabilities"]
            outcome["probabilities"] = None if likely is None else list(likely.values())
        return data | {"per_price": self.per_price, "ends": list(self.ends), "text": str(self)}

    def __str__(self) -> str:
        parts = []
        if self.fall is not None and self.risk is not None:
            about = "about " if self.estimated else ""
            share = f" ({self.per_price:.2g} per unit of price)" if self.per_price is not None else ""
            parts.append(
                f"the answer lowers the expected {self.measure} of {self.risk:.3g} by {about}"
                f"{self.fall:.2g}{share}"
            )
        if self.runner_up is not None:
            other = self.runner_up
            parts.append(f"next best is {other.feature} with {other.fall:.2g} for {other.price:g}")
        parts += [_in_words(outcome) for outcome in self.outcomes]
        return "; ".join(parts) if parts else f"asked for by the plan of the model ({self.source})"


def _complete_reason(*fields: Any) -> Reason:
    """Return a reason from its pickled fields."""
    *figures, details, estimated, source = fields
    return Reason(*figures, details=details, estimated=estimated, source=source)


_FIELDS: Final = (
    "feature", "price", "measure", "risk", "fall", "runner_up", "outcomes", "estimated", "source"
)  # fmt: skip


def _in_words(outcome: Outcome) -> str:
    """Return an outcome as a clause of a sentence."""
    if outcome.probabilities is None:
        belief = f"{outcome.prediction:.4g}"
    else:
        belief = f"{outcome.prediction} {outcome.probabilities[outcome.prediction]:.0%}"
    then = "ends" if outcome.asks is None else f"asks for {outcome.asks}"
    return f"{outcome.answer} ({outcome.probability:.0%}): {belief}, {then}"


@dataclass(frozen=True, slots=True)
class Expectation:
    """What a method expects of the answers that it collects before it looks at them.

    Attributes
    ----------
    measure, risk, fall, source
        As in `Reason`.
    """

    measure: str
    risk: float
    fall: float
    source: str


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why a walk has ended.

    Attributes
    ----------
    kind : {"finished", "budget"}
        ``"finished"``: the model has no further question. ``"budget"``: it had, but could not pay for it.
    why : str
        The same in words, with the figures of the method where it has some.
    risk : float or None
        The expected loss of the prediction, found as that in the reasons of the questions before it; None if
        the model does not say.
    measure : str
        As in `Reason`.
    too_expensive : tuple of str
        What the model wanted and could not pay for.
    refused : tuple of str
        What was refused.
    """

    kind: str
    why: str
    risk: float | None
    measure: str
    too_expensive: tuple[str, ...]
    refused: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data, for JSON."""
        return asdict(self) | {"text": str(self)}

    def __str__(self) -> str:
        risk = "" if self.risk is None else f"; the expected {self.measure} is {self.risk:.3g}"
        dear = f"; too expensive: {', '.join(self.too_expensive)}" if self.too_expensive else ""
        return f"{self.why}{dear}{risk}"
