"""The examples of sources and lazy pipelines."""

from __future__ import annotations

import numpy as np
import pytest
from examples import panel_consultation, text_blocks
from tests.postgres import running_postgres

from farthing import REFUSED, consult
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.sources import Source, Sources


def test_most_messages_are_decided_without_the_dear_block() -> None:
    pipeline = text_blocks.fitted_pipeline()
    texts, kinds = text_blocks.messages(300, seed=1)
    computed = pipeline.computed(texts)
    assert computed[:, 0].all()
    assert computed[:, 1].mean() < 0.45
    assert pipeline.score(texts, kinds) > 0.9
    whole = pipeline.model_.fitted_
    outputs, acquired = whole.outputs(pipeline.features(texts))
    np.testing.assert_array_equal(pipeline.predict(texts), whole.results(whole.settle(outputs, acquired))[0])


def test_a_database_is_consulted_and_a_table_that_hangs_is_given_up() -> None:
    pytest.importorskip("sqlalchemy", reason="sources over SQL need the extra farthing[sql]")
    from examples import database_consultation as example  # noqa: PLC0415

    engine = example.database()
    try:
        heart = load_heart_disease()
        given = example.sources(engine)
        model = BudgetTreeClassifier(costs=given.costs("USD"), max_depth=4).fit(heart.X, heart.y)
        patient = int(model.spend(heart.X).argmax())
        decision, faults = example.consulted(given, patient)
        assert decision == consult(model, heart.X.iloc[patient])
        assert decision.spent == 7.0
        assert faults == {}

        quick, slow = given

        def hang(row: object) -> object:
            raise TimeoutError("no answer within 2 s")

        broken = Sources([quick, Source(hang, slow.features, name="lab", price=6.0)])
        decision, faults = example.consulted(broken, patient)
        lacking = {**heart.X.iloc[patient].to_dict(), **dict.fromkeys(slow.features, REFUSED)}
        assert decision == consult(model, lacking)
        assert decision.spent <= 1.0
        assert set(faults) == set(slow.features)
    finally:
        engine.dispose()


def test_a_slow_table_of_postgresql_is_given_up_after_its_time_limit() -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="sources over SQL need the extra farthing[sql]")
    from examples import database_consultation as example  # noqa: PLC0415

    with running_postgres() as url:
        engine = example.database(url)
        heart = load_heart_disease()
        model = BudgetTreeClassifier(costs=example.sources(engine).costs("USD"), max_depth=4)
        patient = int(model.fit(heart.X, heart.y).spend(heart.X).argmax())
        decision, faults = example.consulted(example.sources(engine, timeout=60.0), patient)
        assert decision == consult(model, heart.X.iloc[patient])
        assert (decision.spent, faults) == (7.0, {})
        with engine.begin() as connection:
            connection.execute(sqlalchemy.text("ALTER TABLE lab RENAME TO lab_rows"))
            connection.execute(
                sqlalchemy.text("CREATE VIEW lab AS SELECT lab_rows.* FROM lab_rows, pg_sleep(600)")
            )
        given = example.sources(engine, timeout=0.5)
        decision, faults = example.consulted(given, patient)
        lacking = {**heart.X.iloc[patient].to_dict(), **dict.fromkeys(tuple(given)[1].features, REFUSED)}
        assert decision == consult(model, lacking)
        assert decision.spent <= 1.0
        assert faults
        engine.dispose()


def test_a_consultation_in_panels_saves_visits_within_both_budgets() -> None:
    forest, budget = panel_consultation.fitted_forest(), {"CAD": 300.0, "minutes": 240.0}
    patient = load_heart_disease().X.iloc[1].to_dict()
    alone, single, _ = panel_consultation.consulted(forest, patient, 1, budget)
    decision, visits, waited = panel_consultation.consulted(forest, patient, 3, budget)
    assert len(visits) <= (len(single) + 1) // 2
    assert decision.prediction == alone.prediction
    assert decision.spent <= 300
    assert decision.resources is not None
    assert waited <= decision.resources["minutes"] <= 240
    assert sorted(name for visit in visits for name in visit) == sorted(decision.acquired)
