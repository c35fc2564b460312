"""Pictures and reasons of every method, by the models of the released files."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import farthing
from farthing.report.flow import Question, Stop, flow
from farthing.walks import consult

pd = pytest.importorskip("pandas")

RELEASED = sorted((Path(__file__).parents[1] / "store" / "released").iterdir())[-1]
RECORDS = {
    name: [
        {feature: float("nan") if value is None else value for feature, value in row["answers"].items()}
        for row in rows
    ]
    for name, rows in json.loads((RELEASED / "decisions.json").read_text(encoding="utf-8")).items()
    if "answers" in rows[0]  # devices answer by messages, see tests/adaptive/test_edge.py
}


@pytest.fixture(scope="module", params=RECORDS)
def case(request):
    return farthing.load(RELEASED / f"{request.param}.farthing"), RECORDS[request.param]


def stops(branches):
    for branch in branches:
        if isinstance(branch.then, Question):
            yield from stops(branch.then.branches)
        elif isinstance(branch.then, Stop):
            yield branch.then


def test_every_method_has_a_picture(case):
    model, records = case
    schema = model.fitted_.schema
    frame = pd.DataFrame(records)[list(schema.names)]
    found = flow(model, frame if schema.named else frame.to_numpy(), max_depth=50, min_share=0.0)
    assert sum(stop.share for stop in stops(found.branches)) == pytest.approx(1)
    shown = "".join(ElementTree.fromstring(found.svg()).itertext())
    chart = found.mermaid()
    assert chart.startswith("flowchart LR\n")
    for branch in found.branches:
        if isinstance(branch.then, Question):
            assert branch.then.feature in shown
            assert branch.then.feature in chart


def test_every_method_gives_reasons(case):
    model, records = case
    for record in records[:5]:
        walk = model.walk()
        while (ask := walk.ask) is not None:
            reason = ask.reason
            assert (reason.feature, reason.price) == (ask.feature, ask.price)
            assert reason.to_dict()["text"] == str(reason) != ""
            if reason.outcomes:
                assert sum(outcome.probability for outcome in reason.outcomes) == pytest.approx(1)
                assert {outcome.asks for outcome in reason.outcomes} <= {None, *model.costs_.features}
            else:
                assert reason.estimated
            walk.tell(record[ask.feature])
        stop = walk.stop_reason
        assert stop.kind == "finished"
        assert stop.to_dict()["text"] == str(stop) != ""
        assert walk.decision.prediction == consult(model, record).prediction
