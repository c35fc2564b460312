"""One step of a walk as a pure function from all that is known to the next question."""

from __future__ import annotations

from farthing.base import BudgetedEstimator
from farthing.errors import WalkError
from farthing.service.request_body import BadRequestError, Problem
from farthing.service.request_checks import check_budget, check_next
from farthing.service.request_limits import Deadline, Limits
from farthing.service.schemas import JsonObject, NextRequest
from farthing.table import mute_unseen, unmute_unseen
from farthing.walks import REFUSED, WITHIN, Ask, Decision, Walk


def next_step(
    model: BudgetedEstimator, request: NextRequest, limits: Limits, deadline: Deadline | None = None
) -> JsonObject:
    """Replay a walk over what a client knows, up to the first question without an answer.

    Parameters
    ----------
    model : fitted model
    request : NextRequest
        All that the client knows.
    limits : Limits
    deadline : Deadline, optional
        When the request must be answered; by default the time of the limits from now on.

    Returns
    -------
    dict
        The fields of ``NextAnswer``, without the version.

    Raises
    ------
    BadRequestError
        If a feature is unknown or given twice, or a value does not fit its column.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> model = BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", "yes"])
    >>> next_step(model, NextRequest(known={"x1": 1}), Limits())["ask"]
    {'feature': 'x0', 'price': 2.0, 'group': None}
    >>> step = next_step(model, NextRequest(known={"x0": 0, "x1": 1}), Limits())
    >>> step["ask"], step["decision"]["prediction"], step["spent"], step["unused"]
    (None, 'yes', 2.0, ['x1'])
    """
    token = mute_unseen()  # the answer names them
    try:
        return _next_step(model, request, limits, deadline)
    finally:
        unmute_unseen(token)


def _next_step(
    model: BudgetedEstimator, request: NextRequest, limits: Limits, deadline: Deadline | None
) -> JsonObject:
    unseen = check_next(model.fitted_.questions, request, limits.strict_categories)
    if request.budget is not None:
        check_budget(model.fitted_.costs, request.budget)
    deadline = deadline or Deadline(limits.max_seconds)
    walk = model.walk(seed=request.seed, budget=request.budget, known=request.given)
    answers = request.known | dict.fromkeys(request.refused, REFUSED) if request.refused else request.known
    # The next question is a pure function of the model, the seed and the answers, so replaying them gives the
    # state of the walk without any state in the service.
    if request.rounds is None and request.panel is None:
        walk.replay(answers, deadline.check)
    else:
        _replay_rounds(walk, request, answers, deadline)
    ask, used, decision = walk.ask, walk.answers, walk.decision
    return {
        "ask": None if ask is None else _question(ask),
        "decision": decision_to_json(decision),
        "spent": decision.spent,
        "left": walk.left,
        "unused": [name for name in request.known if name not in used],
        "unseen": unseen,
        **({} if request.panel is None else {"panel": _panel(walk, request, deadline)}),
        **(_reasons(walk) if request.reasons else {}),
    }


def _question(ask: Ask) -> JsonObject:
    taken = {} if ask.resources is None else {"resources": ask.resources}
    return {"feature": ask.feature, "price": ask.price, "group": ask.group, **taken}


def _panel(walk: Walk, request: NextRequest, deadline: Deadline) -> list[JsonObject]:
    """Return the questions to ask at once."""
    assert request.panel is not None
    within = WITHIN if request.within is None else request.within
    return [_question(ask) for ask in walk.panel(request.panel, within=within, watch=deadline.check)]


def _replay_rounds(walk: Walk, request: NextRequest, answers: dict[str, object], deadline: Deadline) -> None:
    """Replay a walk whose answers came in panels."""
    rounds = [list(answers)] if request.rounds is None else request.rounds
    together = {name for names in rounds for name in names}
    alone = {name: value for name, value in answers.items() if name not in together}
    for number, names in enumerate(rounds):
        if not names:
            continue
        deadline.check()
        walk.replay(alone, deadline.check)
        try:
            walk.tell_panel({name: answers[name] for name in names})
        except WalkError as error:
            raise BadRequestError(422, [Problem(("rounds", number), str(error), "panel")]) from None
    walk.replay(alone, deadline.check)


def _reasons(walk: Walk) -> JsonObject:
    """Return why the walk asks for its feature, or why it has ended."""
    ask, stop = walk.ask, walk.stop_reason
    reason = None if ask is None else ask.reason
    return {
        "reason": None if reason is None else reason.to_dict(),
        "stop_reason": None if stop is None else stop.to_dict(),
    }


def decision_to_json(decision: Decision) -> JsonObject:
    """Return a decision as the fields of ``DecisionAnswer``."""
    likely = decision.probabilities
    return {
        "prediction": decision.prediction,
        "classes": None if likely is None else list(likely),
        "probabilities": None if likely is None else list(likely.values()),
        "spent": decision.spent,
        "acquired": list(decision.acquired),
        **({} if decision.resources is None else {"resources": decision.resources}),
    }
