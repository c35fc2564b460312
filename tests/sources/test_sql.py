"""Features from databases: SQLite, and a PostgreSQL server that the test starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.postgres import close, running_postgres

from farthing import REFUSED, consult
from farthing.errors import SourceError
from farthing.forests import BudgetTreeClassifier
from farthing.sources import Sources, sql_source

sqlalchemy = pytest.importorskip("sqlalchemy", reason="sources over SQL need the extra farthing[sql]")

QUERY = "SELECT chol, fbs FROM lab WHERE patient = :id"
LINES = (
    "CREATE TABLE lab (patient INTEGER, chol FLOAT, fbs FLOAT)",
    "INSERT INTO lab VALUES (1, 233, 1), (2, 150, NULL), (3, 1, 1), (3, 2, 2)",
)


def fill(engine: Any) -> Any:
    with engine.begin() as connection:
        for line in LINES:
            connection.execute(sqlalchemy.text(line))
    return engine


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[Any]:
    engine = fill(sqlalchemy.create_engine(f"sqlite:///{tmp_path}/lab.db"))
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    with running_postgres() as url:
        engine = sqlalchemy.create_engine(url)
        yield fill(engine)
        close(engine)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: Any) -> Any:
    return request.getfixturevalue(request.param)


def test_columns_become_features(engine: Any) -> None:
    lab = sql_source(engine, QUERY, ["chol", "fbs"], name="lab", price=7)
    assert lab.read({"id": 1, "more": "ignored"}) == {"chol": 233, "fbs": 1}
    assert lab.read({"id": 2}) == {"chol": 150, "fbs": None}
    assert lab.read({"id": 9}) == {"chol": REFUSED, "fbs": REFUSED}
    assert lab.n_failures == 0
    by_row = sql_source(engine, "SELECT chol FROM lab WHERE patient = :row", "chol")
    assert by_row.read(1) == {"chol": 233}


def test_a_parameter_is_a_value_and_never_a_part_of_the_query(engine: Any) -> None:
    query = "SELECT chol FROM lab WHERE CAST(patient AS VARCHAR(99)) = :id"
    assert sql_source(engine, query, "chol").read({"id": "1 OR 1=1"}) == {"chol": REFUSED}


@pytest.mark.parametrize(
    ("query", "row", "message"),
    [
        (QUERY, {"id": 3}, "more than one row"),
        (QUERY, {"name": 3}, "the row has no 'id', which the query needs"),
        ("SELECT cholesterol, fbs FROM lab", {}, "cholesterol"),
        ("SELECT patient FROM lab WHERE patient = 1", {}, "gave 'patient', but none of its features"),
    ],
)
def test_faults_are_named(engine: Any, query: str, row: Any, message: str) -> None:
    lab = sql_source(engine, query, ["chol", "fbs"], name="lab")
    with pytest.raises(SourceError, match=message):
        lab.read(row)


def test_a_consultation_goes_on_without_a_table_that_fails(engine: Any) -> None:
    table = {"age": [30, 60, 40, 70] * 5, "chol": [150, 300, 280, 160] * 5}
    tree = BudgetTreeClassifier(costs={"age": 1, "chol": 7}).fit(table, ["well", "ill", "ill", "well"] * 5)
    good = sql_source(engine, "SELECT chol FROM lab WHERE patient = :id", "chol", price=7)
    bad = sql_source(engine, "SELECT chol FROM no_such_table", "chol", price=7)
    age = sql_source(engine, "SELECT 50 AS age", "age", price=1)
    row = {"id": 1}
    assert consult(tree, Sources([age, good]), row=row) == consult(tree, {"age": 50, "chol": 233})
    assert consult(tree, Sources([age, bad]), row=row) == consult(tree, {"age": 50, "chol": REFUSED})


def test_postgresql_itself_ends_a_slow_query(postgres: Any) -> None:
    slow = sql_source(postgres, "SELECT 1.0 AS chol FROM pg_sleep(30)", "chol", timeout=0.3)
    with pytest.raises(SourceError):
        slow.read({})
    running = (
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(30)%' AND state = 'active' "
        "AND pid <> pg_backend_pid()"
    )
    deadline = 100
    with postgres.connect() as connection:
        while connection.execute(sqlalchemy.text(running)).scalar() and deadline:
            connection.execute(sqlalchemy.text("SELECT pg_sleep(0.1)"))
            deadline -= 1
    assert deadline, "the query still runs ten seconds after its time limit"
