"""Every method, over HTTP: walks, refusals, budgets and bulk predictions are those of the model itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.serving import running

import farthing
from farthing.base import get, registered, trials
from farthing.checks.fitting import fit
from farthing.checks.problems import Problem, problems
from farthing.checks.walking import source_of
from farthing.service import AsyncClient, Client, Settings
from farthing.walks import REFUSED, Decision

# Without PyTorch networks cannot be fitted.
LEFT_OUT = () if find_spec("torch") else ("farthing.deep.",)
MODULES = {name: get(name).__module__ for name in registered()}
METHODS = [
    name for name, at in MODULES.items() if at.split(".")[0] == "farthing" and not at.startswith(LEFT_OUT)
]
N_ROWS = 3


@pytest.fixture(scope="module")
def fitted() -> dict[str, tuple[Any, Problem]]:
    """Return a model of every method, at its last trial settings, on a problem with text."""
    made = {}
    for name in METHODS:
        estimator = trials(name)[-1]
        problem = problems(estimator)[1]
        made[name] = (fit(estimator, problem), problem)
    return made


@pytest.fixture(scope="module")
def url(fitted: dict[str, tuple[Any, Problem]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of a service of all these models."""
    folder = tmp_path_factory.mktemp("every")
    for name, (model, _) in fitted.items():
        model.save(Path(folder) / f"{name}.farthing")
    with running(Settings(sources=(str(folder),))) as address:
        yield address


@pytest.mark.parametrize("name", METHODS)
def test_walks_over_the_service_are_local_walks(name: str, fitted: Any, url: str) -> None:
    model, problem = fitted[name]
    rng = np.random.default_rng(5)
    with Client(url, name) as client:
        for row in range(N_ROWS):
            source = source_of(model, problem, row)
            seeded = {"seed": 11 + row, "known": {"x0": source["x0"]}}
            for options in ({}, {"budget": 0.6 * problem.total}, seeded):
                lacks = {feature for feature in problem.names if rng.random() < 0.2}
                answers = {feature: source[feature] for feature in problem.names if feature not in lacks}
                assert steps(client, answers, options) == steps(model, answers, options)


def steps(model: Any, answers: dict[str, Any], options: dict[str, Any]) -> list[Any]:
    """Return everything that a walk says, from its first question to its end."""
    said: list[Any] = []
    walk = model.walk(**options)
    while (ask := walk.ask) is not None:
        said.append((ask, walk.spent, walk.left, walk.decision))
        walk.tell(answers.get(ask.feature, REFUSED))
    return [*said, walk.decision]


@pytest.mark.parametrize("name", METHODS)
def test_bulk_predictions_are_those_of_the_model(name: str, fitted: Any, url: str) -> None:
    model, problem = fitted[name]
    rows = [source_of(model, problem, row) for row in range(len(problem.fresh))]
    with Client(url, name) as client:
        got = client.predict(rows, budget=0.6 * problem.total)
    expected = model.decide(problem.fresh, budget=0.6 * problem.total)
    assert [made.prediction for made in got] == expected.prediction.tolist()
    assert [made.spent for made in got] == expected.spent.tolist()
    assert [made.acquired for made in got] == [
        tuple(np.array(model.costs_.features)[bought].tolist()) for bought in expected.acquired
    ]
    if expected.probabilities is not None:
        assert [list(made.probabilities.values()) for made in got] == expected.probabilities.tolist()


def test_consult_takes_a_model_and_a_client_alike(fitted: Any, url: str) -> None:
    model, problem = fitted["BudgetTreeClassifier"]
    source = problem.row(0)
    with Client(url, "BudgetTreeClassifier") as client:
        assert farthing.consult(client, source) == farthing.consult(model, source)

    async def several() -> list[Decision]:
        async with AsyncClient(url, "BudgetTreeClassifier") as client:
            rows = [problem.row(row) for row in range(8)]
            return list(await asyncio.gather(*(farthing.aconsult(client, row, budget=2) for row in rows)))

    expected = [farthing.consult(model, problem.row(row), budget=2) for row in range(8)]
    assert asyncio.run(several()) == expected


def test_the_table_has_text() -> None:
    """Otherwise the tests above would not send any."""
    problem = problems(trials("BudgetTreeClassifier")[0])[1]
    assert problem.categorical is not None
    text = problem.names[problem.categorical]
    assert any(isinstance(problem.row(row)[text], str) for row in range(N_ROWS))
