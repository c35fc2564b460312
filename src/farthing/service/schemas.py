"""Requests and answers as pydantic models: requests are validated by them, answers documented."""

from __future__ import annotations

from typing import Annotated, Any, Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

JsonObject: TypeAlias = dict[str, Any]
"""An object as JSON has it: a mapping with names as keys."""

_NUMBERS = {"type": "array", "items": {"type": "number"}}  # the message of a device
_SCALARS = {"anyOf": [{"type": "number"}, {"type": "string"}, {"type": "boolean"}, {"type": "null"}]}
Value = Annotated[Any, WithJsonSchema({"anyOf": [*_SCALARS["anyOf"], _NUMBERS]})]
Label = Annotated[Any, WithJsonSchema({"anyOf": _SCALARS["anyOf"][:3]})]

Budget = Annotated[float, Field(ge=0, allow_inf_nan=False)]
# Tags, since pydantic would report the faults of both kinds; `request_shape` takes them out of places again.
BUDGET_KINDS: Final = ("number", "by_name")
Budgets = Annotated[
    Annotated[Budget, Tag(BUDGET_KINDS[0])] | Annotated[dict[str, Budget], Tag(BUDGET_KINDS[1])],
    Discriminator(lambda given: BUDGET_KINDS[isinstance(given, dict)]),
]
Together = Annotated[list[str], Field(fail_fast=True)]
Seed = Annotated[int, Field(ge=0, le=2**63 - 1)]


class Request(BaseModel):
    """The base of all requests: strict types, no unknown fields."""

    model_config = ConfigDict(strict=True, extra="forbid")


class NextRequest(Request):
    """All that a client knows of one row. The server keeps nothing between two requests."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"given": {"age": 63}, "known": {"chol": 233}, "refused": ["ca"], "budget": 40, "seed": 7}
            ]
        }
    )

    given: dict[str, Value] = Field(
        default_factory=dict, description="Features owned from the start, which cost nothing."
    )
    known: dict[str, Value] = Field(
        default_factory=dict,
        description="Answers to questions asked; null means measured but missing, which is paid for.",
    )
    # Lists fail at their first bad item: a body of two million of them would make as many errors.
    refused: Annotated[list[str], Field(fail_fast=True)] = Field(
        default_factory=list, description="Features that are not available."
    )
    budget: Budgets | None = Field(
        default=None,
        description="Maximum spend; null means the model's own budget. By name: maxima of the costs, by "
        "their unit, and of further resources.",
    )
    seed: Seed | None = Field(default=None, description="For stochastic models; null means the model's own.")
    panel: Annotated[int, Field(ge=1, le=100)] | None = Field(
        default=None,
        description="Also return up to so many questions to ask at once. All of `known` counts as bought, "
        "whether the walk has asked for it or not.",
    )
    within: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="What panels may waste on answers that are not needed, as a share; null means 0.1.",
    )
    rounds: Annotated[list[Together], Field(fail_fast=True)] | None = Field(
        default=None,
        description="The features of `known` and `refused` that were answered together, panel by panel. "
        "Others are answers to questions asked one by one. null means one panel of all if `panel` is given, "
        "else none.",
    )
    reasons: bool = Field(
        default=False, description="Whether to say why the feature is asked for, or why the walk has ended."
    )


class PredictRequest(Request):
    """Rows to predict, each as its own walk would decide."""

    rows: Annotated[list[dict[str, Value]], Field(fail_fast=True)] = Field(
        description="Features by name. null means measured but missing; what is left out is not available.",
        min_length=1,
    )
    budget: Budget | Annotated[list[Budget], Field(fail_fast=True)] | None = Field(
        default=None, description="One for all rows, or one per row."
    )
    seeds: Seed | Annotated[list[Seed], Field(fail_fast=True)] | None = Field(
        default=None, description="One for all rows, or one per row."
    )


RawRow = Annotated[Any, WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}, _NUMBERS]})]


class RawRequest(Request):
    """Raw rows to predict, whose features the blocks of a lazy pipeline compute on the server."""

    rows: Annotated[list[RawRow], Field(fail_fast=True)] = Field(
        description="All of one kind: texts, objects with values by column, or lists of numbers.",
        min_length=1,
    )
    budget: Budgets | None = Field(
        default=None,
        description="Maximum spend of each row; null means the model's own. By name: maxima of the costs, by "
        "their unit, and of further resources.",
    )


class Tensor(BaseModel):
    """A tensor of the Open Inference Protocol."""

    model_config = ConfigDict(strict=True)

    name: str
    shape: Annotated[list[int], Field(fail_fast=True, max_length=8)]
    datatype: str
    parameters: dict[str, Any] | None = None
    data: list[Any] = Field(description="Flat in row-major order, or nested.")


class RequestedOutput(BaseModel):
    """A tensor that the answer must have."""

    name: str


class InferRequest(Request):
    """Rows to predict, by the Open Inference Protocol."""

    id: str | None = Field(default=None, max_length=200)
    parameters: dict[str, Any] | None = Field(default=None, description="budget: what each row may spend.")
    inputs: Annotated[list[Tensor], Field(fail_fast=True, min_length=1)]
    outputs: Annotated[list[RequestedOutput], Field(fail_fast=True, max_length=10)] | None = None


class Answer(BaseModel):
    """The base of all answers."""

    model_config = ConfigDict(extra="forbid")


class Question(Answer):
    """The feature wanted next."""

    feature: str
    price: float = Field(description="What the answer adds to the spend.")
    group: str | None = Field(description="The group whose shared cost the feature is part of.")
    resources: dict[str, float] | None = Field(
        default=None, description="What it takes of each further resource; only if the prices have some."
    )


class DecisionAnswer(Answer):
    """The prediction as of now."""

    prediction: Label = Field(description="A class label, or a number.")
    classes: list[Label] | None = Field(description="The labels; null for a regressor.")
    probabilities: list[float] | None = Field(description="One per class.")
    spent: float
    acquired: list[str] = Field(description="What was paid for, in the order of the price list.")
    resources: dict[str, float] | None = Field(
        default=None, description="What was taken of each further resource; only if the prices have some."
    )


class OutcomeAnswer(Answer):
    """One of the answers that make a difference."""

    answer: str = Field(description="The answers that it stands for, such as `<= 3.5`.")
    probability: float = Field(description="Their share among the training rows at this question.")
    prediction: Label
    probabilities: list[float] | None = Field(description="One per class, in the order of the decision.")
    asks: str | None = Field(description="What would be asked next; null if the walk would end.")


class RunnerUpAnswer(Answer):
    """The feature with the next largest fall per price."""

    feature: str
    price: float
    fall: float


class ReasonAnswer(Answer):
    """Why a feature is asked for."""

    feature: str
    price: float
    measure: str = Field(description="What the risk is the expectation of.")
    risk: float | None
    fall: float | None = Field(description="By how much the answer is expected to lower it.")
    per_price: float | None
    runner_up: RunnerUpAnswer | None
    outcomes: list[OutcomeAnswer] = Field(description="The likeliest first.")
    ends: list[str] = Field(description="The answers that would end the walk.")
    estimated: bool = Field(description="false if all figures are those of the training rows.")
    source: str
    text: str = Field(description="The same as a sentence.")


class StopReasonAnswer(Answer):
    """Why a walk has ended."""

    kind: str = Field(description="finished, or budget if it could not pay for more.")
    why: str
    risk: float | None
    measure: str
    too_expensive: list[str]
    refused: list[str]
    text: str


class NextAnswer(Answer):
    """The next question, and the decision so far, which is valid at any time."""

    ask: Question | None = Field(description="null when the model has decided.")
    decision: DecisionAnswer
    spent: float
    left: float | None = Field(description="What the budget still holds; null without one.")
    unused: list[str] = Field(description="Entries of `known` that the walk has not asked for.")
    unseen: list[str] = Field(
        description="Features whose category was unseen during fitting: they count as missing."
    )
    version: str = Field(description="Of the model; changes when its file does.")
    panel: list[Question] | None = Field(
        default=None,
        description="Up to `panel` questions to ask at once, `ask` first; each price is that after those "
        "before it. Only if `panel` is given.",
    )
    reason: ReasonAnswer | None = Field(default=None, description="Why `ask`; only if `reasons` is true.")
    stop_reason: StopReasonAnswer | None = Field(
        default=None, description="Why the walk has ended; only if `reasons` is true."
    )


class PredictAnswer(Answer):
    """A decision for each row."""

    decisions: list[DecisionAnswer]
    spent: float = Field(description="For all rows together.")
    unseen: dict[str, int] = Field(
        description="By feature: rows whose category was unseen, so counts as missing."
    )
    version: str


Bounds = list[float | None]
"""The lowest and the highest value; null where there is no bound."""


class FeatureMeaning(Answer):
    """What a feature means to people, from the sheet of labels in the model file."""

    title: str
    question: str
    unit: str
    allowed: Bounds | None = Field(description="A value outside cannot be right.")
    usual: Bounds | None = Field(description="A value outside should be asked back.")
    categories: dict[str, str] = Field(description="The text of each category or code.")


class ClassMeaning(Answer):
    """What a class means to people."""

    name: str
    colour: str = Field(description="#rrggbb, or empty.")


class Feature(Answer):
    """A column of the model's table."""

    name: str
    kind: str = Field(description="numeric, categorical, or device, whose message is a list of numbers")
    categories: list[Label]
    cost: float = Field(description="Its own cost, without a group's.")
    group: str | None
    label: FeatureMeaning | None = Field(description="null if the model has no label for it.")


class SharedCost(Answer):
    """A cost that several features share; the first one bought pays it."""

    name: str
    cost: float
    members: list[str]


class ResourceAmounts(Answer):
    """What features and groups take of a further resource."""

    name: str
    features: dict[str, float] = Field(description="Own amounts by feature; others take nothing.")
    groups: dict[str, float] = Field(description="Shared amounts by group.")


class CallPrice(Answer):
    """What a prediction pays for beside features."""

    name: str
    cost: float


class ModelSummary(Answer):
    """A model in the list of models."""

    name: str
    method: str
    version: str
    n_features: int
    fault: str | None = Field(
        description="Why the current file could not be loaded; the model from an earlier one is served."
    )


class ModelList(Answer):
    """All models, and the files that could not be loaded."""

    models: list[ModelSummary]
    faults: dict[str, str] = Field(description="By name: why a file could not be loaded.")


class ModelInfo(ModelSummary):
    """A model, its features and their prices."""

    title: str = Field(description="What is predicted; may be empty.")
    unit: str = Field(description="Of all prices; may be empty.")
    budget: float | None = Field(description="The model's own hard budget.")
    mean_budget: float | None = Field(
        description="The budget that limits the mean spend; one row may spend more."
    )
    total: float = Field(description="What all features cost together.")
    classes: list[Label] | None = Field(description="The labels; null for a regressor.")
    class_labels: list[ClassMeaning] | None = Field(description="One per class.")
    features: list[Feature]
    groups: list[SharedCost]
    calls: list[CallPrice] = Field(description="What is paid beside features, such as evaluations of trees.")
    resources: list[ResourceAmounts] = Field(description="Further resources, such as minutes.")
    frontier: dict[str, Any] | None = Field(
        description="The point of the frontier at which the model was chosen: spend, score, and more."
    )
    guarantee: dict[str, Any] | None = Field(
        default=None,
        description="What is guaranteed on new rows: budget, agreement, confidence, the rows and the bound "
        "of its test, and the same as text.",
    )


class Status(Answer):
    """Whether a worker lives, or should be sent requests."""

    status: str


class Health(Answer):
    """Whether the service has a model."""

    status: str
    models: int
    faults: int


class ProblemAnswer(Answer):
    """One thing that is wrong with a request."""

    loc: list[str | int] = Field(description='Where: "body", then field names and list positions.')
    msg: str
    type: str


class Unprocessable(Answer):
    """What is wrong with a request, field by field."""

    detail: list[ProblemAnswer]


class InferenceError(Answer):
    """Why a request of the Open Inference Protocol was not answered."""

    error: str


class Failure(Answer):
    """Why a request was not answered."""

    detail: str
