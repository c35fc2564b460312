"""A step over HTTP: the question, the decision so far, the account; and what is said of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import ANY

import httpx
import pytest
from tests.service.conftest import HEART
from tests.serving import DIRECT, running

import farthing
from farthing import BudgetedClassifier
from farthing.costs import CostSheet
from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings
from farthing.service.bulk_predictions import predict_rows
from farthing.service.model_description import describe, frontier_point
from farthing.service.request_body import BadRequestError
from farthing.service.request_limits import Deadline, Limits
from farthing.service.schemas import NextRequest, PredictRequest
from farthing.service.walk_steps import next_step


def ask(http: httpx.Client, name: str = "heart", **body: Any) -> dict[str, Any]:
    response = http.post(f"/v1/models/{name}/next", json=body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def test_a_consultation_goes_as_the_readme_says(http: httpx.Client) -> None:
    step = ask(http)
    assert step["ask"] == {"feature": "cp", "price": 1.0, "group": None}
    assert (step["spent"], step["left"], step["unused"]) == (0.0, 110.0, [])
    step = ask(http, known={"cp": 4})
    assert (step["ask"]["feature"], step["spent"], step["left"]) == ("ca", 1.0, 109.0)
    step = ask(http, known={"cp": 4, "ca": 3, "trestbps": 160})
    assert step["ask"] is None
    assert step["decision"]["prediction"] == 1
    assert step["decision"]["classes"] == [0, 1]
    assert step["decision"]["acquired"] == ["cp", "trestbps", "ca"]
    assert step["spent"] == step["decision"]["spent"] == pytest.approx(102.9)


def test_what_was_not_asked_for_is_listed_and_not_used(http: httpx.Client) -> None:
    step = ask(http, known={"cp": 4, "chol": 233, "slope": 1})
    assert step["unused"] == ["chol", "slope"]
    assert step == ask(http, known={"cp": 4}) | {"unused": ["chol", "slope"]}


def test_the_order_of_the_answers_does_not_matter(http: httpx.Client) -> None:
    assert ask(http, known={"ca": 3, "cp": 4}) == ask(http, known={"cp": 4, "ca": 3})


def test_given_is_free_refused_is_missing_and_null_is_paid(http: httpx.Client) -> None:
    assert ask(http, given={"cp": 4})["spent"] == 0.0
    assert ask(http, refused=["cp"])["spent"] == 0.0
    assert ask(http, known={"cp": None})["spent"] == 1.0
    refused, missing = ask(http, refused=["cp"]), ask(http, known={"cp": None})
    assert refused["decision"]["prediction"] == missing["decision"]["prediction"]


def test_a_budget_holds_and_more_than_the_models_own_may_be_spent(http: httpx.Client) -> None:
    everything = {"cp": 4, "ca": 3, "thal": 7, "trestbps": 160, "thalach": 100}
    for budget in (0, 1, 50, 101.9):
        step = ask(http, known=everything, budget=budget)
        assert step["spent"] <= budget
        assert step["left"] == budget - step["spent"]
    assert "ca" in ask(http, known=everything, budget=10)["unused"], "it is over the budget, so never asked"
    assert ask(http, budget=1000)["left"] == 1000


def test_a_group_is_paid_once(http: httpx.Client, models: Path) -> None:
    model = farthing.load(models / "forest.farthing")
    known: dict[str, Any] = {}
    groups: dict[str | None, list[float]] = {}
    asked: dict[str | None, list[str]] = {}
    while (step := ask(http, "forest", known=known))["ask"]:
        groups.setdefault(step["ask"]["group"], []).append(step["ask"]["price"])
        asked.setdefault(step["ask"]["group"], []).append(step["ask"]["feature"])
        known[step["ask"]["feature"]] = None
    assert step["spent"] == model.costs_.total(known)
    shared = {name: group.cost for name, group in model.costs_.groups.items()}
    assert len(groups) > 1, "a group was touched"
    for name, prices in groups.items():
        if name is not None:
            assert prices[0] > shared[name]
            assert sum(prices) == pytest.approx(model.costs_.total(asked[name]))


def test_other_seeds_ask_otherwise_and_the_same_seed_the_same(http: httpx.Client, models: Path) -> None:
    model = farthing.load(models / "stochastic.farthing")
    firsts = set()
    for seed in range(12):
        question = ask(http, "stochastic", seed=seed)["ask"]
        assert question == ask(http, "stochastic", seed=seed)["ask"]
        assert question["feature"] == model.walk(seed=seed).ask.feature
        firsts.add(question["feature"])
    assert len(firsts) > 1
    assert ask(http, "stochastic")["ask"]["feature"] == model.walk().ask.feature


def test_a_regressor_has_no_classes_and_an_unseen_category_is_named(http: httpx.Client) -> None:
    step = ask(http, "colour", given={"x0": "violet", "x1": 0.5})
    assert step["unseen"] == ["x0"]
    assert step["ask"] is None
    assert step["decision"]["classes"] is step["decision"]["probabilities"] is None
    missing = ask(http, "colour", given={"x0": None, "x1": 0.5})
    assert missing["decision"] == step["decision"]


def test_bulk_rows_are_consultations(http: httpx.Client, models: Path) -> None:
    model = farthing.load(models / "heart.farthing")
    whole = dict.fromkeys(model.schema_.names, 1.0)  # no thal is 1
    rows = [whole, {"cp": 4.0}, whole | {"cp": 4.0, "ca": None}, {}]
    response = http.post("/v1/models/heart/predict", json={"rows": rows, "budget": [110, 110, 200, 5]})
    assert response.status_code == 200
    made = response.json()
    for row, budget, decision in zip(rows, [110, 110, 200, 5], made["decisions"], strict=True):
        local = farthing.consult(model, row, budget=budget, lacking="refuse")
        assert decision["prediction"] == local.prediction
        assert decision["probabilities"] == list(local.probabilities.values())
        assert (decision["spent"], decision["acquired"]) == (local.spent, list(local.acquired))
    assert made["unseen"] == {"thal": 2}
    assert made["spent"] == sum(decision["spent"] for decision in made["decisions"])


def test_models_are_listed_and_described(http: httpx.Client, models: Path) -> None:
    listed = http.get("/v1/models").json()
    assert [model["name"] for model in listed["models"]] == ["colour", "forest", "heart", "stochastic"]
    assert listed["faults"] == {}
    about = http.get("/v1/models/heart").json()
    sheet = farthing.load(models / "heart.farthing").costs_
    assert (about["method"], about["unit"], about["budget"]) == ("BudgetTreeClassifier", sheet.unit, 110.0)
    assert about["total"] == sheet.total(sheet.features)
    assert {feature["name"]: feature["cost"] for feature in about["features"]} == dict(
        zip(sheet.features, sheet.own.tolist(), strict=True)
    )
    assert {group["name"]: group["cost"] for group in about["groups"]} == {
        name: group.cost for name, group in sheet.groups.items()
    }
    assert about["frontier"] is None
    colours = http.get("/v1/models/colour").json()["features"][0]
    assert (colours["kind"], colours["categories"]) == ("categorical", ["blue", "green", "red"])
    response = http.get("/v1/models/liver")
    assert response.status_code == 404
    assert "there are: colour, forest, heart, stochastic" in response.json()["detail"]


def test_the_point_of_the_frontier_is_told(tmp_path: Path) -> None:
    model = BudgetedClassifier(HEART.costs, "20%", methods=[BudgetTreeClassifier(max_depth=2)], cv=2)
    model.fit(HEART.X, HEART.y).save(tmp_path / "door.farthing")
    with running(Settings(sources=(str(tmp_path),))) as url:
        told = httpx.get(f"{url}/v1/models/door", **DIRECT).json()["frontier"]
    chosen = model.chosen_
    assert (told["method"], told["budget"], told["budget_kind"]) == (chosen.method, "20%", "mean")
    assert (told["spend"], told["max_spend"], told["score"]) == (chosen.spend, chosen.max_spend, chosen.score)
    assert set(told["params"]) == set(chosen.params)
    assert "estimator" not in told


def test_what_json_cannot_hold_of_a_point_is_null() -> None:
    class Chosen:
        chosen_: ClassVar = {"method": "GreedyMiserClassifier", "spend": float("inf"), "interval": (0.7, 0.8)}

    told = frontier_point(Chosen())
    assert told is not None
    assert (told["spend"], told["interval"], told["budget"]) == (None, [0.7, 0.8], None)


def test_health(http: httpx.Client) -> None:
    response = http.get("/healthz")
    assert (response.status_code, response.json()) == (200, {"status": "ok", "models": 4, "faults": 0})


def test_reasons_are_given_on_request(http: httpx.Client) -> None:
    plain = http.post("/v1/models/heart/next", json={}).json()
    assert "reason" not in plain
    step = http.post("/v1/models/heart/next", json={"reasons": True}).json()
    assert {**step, **plain} == step
    reason = step["reason"]
    assert (reason["feature"], reason["price"]) == (step["ask"]["feature"], step["ask"]["price"])
    assert reason["fall"] > 0
    assert sum(outcome["probability"] for outcome in reason["outcomes"]) == pytest.approx(1)
    assert len(reason["outcomes"][0]["probabilities"]) == len(step["decision"]["classes"])
    assert step["stop_reason"] is None
    ended = http.post("/v1/models/heart/next", json={"reasons": True, "budget": 0}).json()
    assert ended["reason"] is None
    assert ended["stop_reason"]["kind"] == "budget"


def test_panels_are_those_of_a_local_walk(http: httpx.Client, models: Path) -> None:
    local, row = farthing.load(models / "forest.farthing").walk(), HEART.X.iloc[0].to_dict()
    rounds: list[list[str]] = []
    known: dict[str, Any] = {}
    while panel := local.panel(3):
        step = ask(http, "forest", known=known, panel=3, rounds=rounds)
        shown = [{"feature": one.feature, "price": one.price, "group": one.group} for one in panel]
        assert step["panel"] == shown
        # Trees ask alike, whatever came together.
        assert ask(http, "forest", known=known, panel=3)["panel"] == shown
        local.tell_panel({one.feature: row[one.feature] for one in panel})
        rounds.append([one.feature for one in panel])
        known |= {one.feature: row[one.feature] for one in panel}
    end = ask(http, "forest", known=known, panel=3, rounds=rounds)
    assert (end["panel"], end["ask"], end["unused"]) == ([], None, [])
    assert end["spent"] == local.spent
    assert end["decision"]["acquired"] == list(local.decision.acquired)
    assert len(rounds) == local.n_rounds < len(known)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"known": {"cp": 4}, "rounds": [["cp"], ["cp"]]}, "twice"),
        ({"known": {"cp": 4}, "rounds": [["ca"]]}, "neither in known nor refused"),
        ({"known": {"cp": 4, "ca": 1, "thal": 3}, "panel": 2, "budget": 30}, "more than is left"),
        ({"panel": 0}, "greater than or equal to 1"),
    ],
)
def test_panels_that_cannot_be_are_refused(http: httpx.Client, body: dict[str, Any], words: str) -> None:
    response = http.post("/v1/models/heart/next", json=body)
    assert response.status_code == 422
    assert words in response.text


def test_further_resources_are_asked_capped_and_accounted_for() -> None:
    minutes = {"ca": 30.0, "thal": 60.0, "cp": 2.0}
    own = dict(zip(HEART.costs.features, HEART.costs.own.tolist(), strict=True))
    sheet = CostSheet(own, HEART.costs.groups, "CAD", resources={"minutes": minutes})
    model = BudgetTreeClassifier(costs=sheet, cost_rule="penalty", tradeoff=0.0, max_depth=3)
    model.fit(HEART.X, HEART.y)
    row = HEART.X.iloc[0].to_dict()
    for budget in (None, 40, {"CAD": 200, "minutes": 40}, {"minutes": 0}):
        step = next_step(model, NextRequest(known=row, budget=budget), Limits())
        local = farthing.consult(model, row, budget=budget)
        assert step["decision"]["resources"] == local.resources
        assert step["spent"] == local.spent
    assert step["decision"]["resources"] == {"minutes": 0.0}
    first = next_step(model, NextRequest(), Limits())["ask"]
    assert first["resources"] == {"minutes": minutes.get(first["feature"], 0.0)}
    with pytest.raises(BadRequestError) as caught:
        next_step(model, NextRequest(budget={"hours": 1}), Limits())
    assert "'hours', which the cost sheet lacks" in caught.value.problems[0].message
    assert describe(model)["resources"] == [{"name": "minutes", "features": minutes, "groups": ANY}]
    made, _ = predict_rows(model, PredictRequest(rows=[row]), Limits(), Deadline(5))
    assert made[0]["resources"] == farthing.consult(model, row).resources
