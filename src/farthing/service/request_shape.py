"""From the bytes of a body to a checked request, in time that its size bounds.

A validator reports all that is wrong, and a hostile body has millions of wrong things. So the number of
values is bounded by what the model could use before any of them is built, and lists are measured before they
are validated.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from pydantic import ValidationError

from farthing.base import BudgetedEstimator
from farthing.service.request_body import MAX_PROBLEMS, BadRequestError, Problem, parse
from farthing.service.request_limits import Limits
from farthing.service.schemas import BUDGET_KINDS, InferRequest, NextRequest, PredictRequest, RawRequest
from farthing.store.strict_json import MAX_VALUES

Checked = TypeVar("Checked", NextRequest, PredictRequest, InferRequest, RawRequest)

_FIELDS: Final[dict[type[Any], frozenset[str]]] = {
    kind: frozenset(kind.model_fields) for kind in (NextRequest, PredictRequest, InferRequest, RawRequest)
}
# The list that each kind has, and what is in it.
_LISTS: Final[dict[type[Any], tuple[str, str]]] = {
    NextRequest: ("refused", "features"),
    PredictRequest: ("rows", "rows"),
    InferRequest: ("inputs", "tensors"),
    RawRequest: ("rows", "rows"),
}
# Values that a row of a model can have: counted once, since a table may have 20,000 columns.
_widths: WeakKeyDictionary[BudgetedEstimator, int] = WeakKeyDictionary()
# Values beyond those of a full request: enough for the names of unknown features to be told.
_SLACK: Final = 1000

MAX_ANSWER_VALUES: Final = 2_000_000
"""Values that one answer may hold; they take some 100 MB before they are sent."""


def read_request(data: bytes, kind: type[Checked], model: BudgetedEstimator, limits: Limits) -> Checked:
    """Parse and check a body.

    Parameters
    ----------
    data : bytes
        The body.
    kind : type
        What it must hold.
    model : fitted model
        Its number of features bounds how many values a body may have.
    limits : Limits

    Raises
    ------
    BadRequestError
        With what is wrong, up to MAX_PROBLEMS.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier().fit(np.eye(2), [0, 1])
    >>> read_request(b'{"refused": ["x1"]}', NextRequest, model, Limits()).refused
    ['x1']
    """
    plain = parse(data, *size_limits(kind, model, limits))
    _check_lengths(plain, kind, model, limits)
    try:
        return kind.model_validate(plain)
    except ValidationError as error:
        # Without the input: an answer must not echo values of features.
        found = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_PROBLEMS]
        problems = [Problem(_place(item["loc"]), item["msg"], item["type"]) for item in found]
        raise BadRequestError(422, problems) from None


def _place(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Return the place of a fault in the body, without the kind of budget that pydantic adds to it."""
    if place[:1] == ("budget",) and place[1:2] and place[1] in BUDGET_KINDS:
        return place[:1] + place[2:]
    return tuple(place)


class SizeLimits(NamedTuple):
    """The largest number of values in a body, and of items in one of its lists or objects."""

    max_values: int
    max_items: int


def size_limits(
    kind: type[NextRequest | PredictRequest | InferRequest | RawRequest],
    model: BudgetedEstimator,
    limits: Limits,
) -> SizeLimits:
    """Return how much a request for a model can make use of."""
    if kind is RawRequest:  # how many values a raw row has, only the blocks of the pipeline know
        return SizeLimits(MAX_VALUES, MAX_VALUES)
    width = _widths.get(model)
    if width is None:
        # The message of a device is a list of scores.
        width = sum(2 + getattr(column, "n_scores", 0) for column in model.fitted_.questions.columns)
        _widths[model] = width
    # A step has three collections of features; a row may come with a budget and a seed.
    of_model = 3 * width if kind is NextRequest else (width + 3) * limits.max_rows
    most = min(MAX_VALUES, of_model + _SLACK)
    # The data of a tensor may be one flat list.
    longest = max(width + _SLACK, limits.max_rows) if kind is PredictRequest else most
    return SizeLimits(most, min(most, longest))


def max_rows(model: BudgetedEstimator, limits: Limits) -> int:
    """Return how many rows may go in one request.

    An empty row of ten bytes is answered by a probability for each class, so of a model of many classes
    fewer rows go than `Limits` allow.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier().fit(np.arange(2000.0)[:, None], np.arange(2000) // 2)
    >>> max_rows(model, Limits(max_rows=10_000))
    1000
    """
    # The labels are told with each row.
    of_row = 2 * len(getattr(model, "classes_", ())) or 1
    return min(limits.max_rows, max(1, MAX_ANSWER_VALUES // of_row))


def _check_lengths(plain: Any, kind: type[Checked], model: BudgetedEstimator, limits: Limits) -> None:
    """Check the number of fields, and the lengths of the lists."""
    if not isinstance(plain, dict):
        return
    known = _FIELDS[kind]
    if not known.issuperset(plain):
        strange = [name for name in plain if name not in known][:MAX_PROBLEMS]
        raise BadRequestError(
            422, [Problem((name,), "Extra inputs are not permitted", "extra_forbidden") for name in strange]
        )
    name, what = _LISTS[kind]
    found = plain.get(name)
    if isinstance(found, list):
        most = (
            max_rows(model, limits)
            if kind in (PredictRequest, RawRequest)
            else len(model.fitted_.questions.columns)
        )
        if len(found) > most:
            message = f"{len(found)} {what}; at most {most} go in one request"
            raise BadRequestError(422, [Problem((name,), message, "too_many")])
