"""A consultation over a database with a quick table and a slow one, which is given up after its time limit.

Run it with ``python -m examples.database_consultation [URL]``; without a URL of a database, such as
``postgresql+psycopg://user@host/name``, it uses SQLite in memory.
"""

from __future__ import annotations

import sys
from typing import Any

import sqlalchemy
from sqlalchemy.pool import NullPool, StaticPool

from farthing import Decision, consult
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.sources import Source, Sources, sql_source

QUICK = ("age", "sex", "cp")


def database(url: str | None = None) -> sqlalchemy.Engine:
    """Return a database with the tables ``chart`` and ``lab``, of the patients of heart disease."""
    memory: dict[str, Any] = {"connect_args": {"check_same_thread": False}, "poolclass": StaticPool}
    # A query that was given up keeps its connection until the server ends it, so none is shared.
    given = {"poolclass": NullPool} if url else memory
    engine = sqlalchemy.create_engine(url or "sqlite://", **given)
    heart = load_heart_disease()
    slow = [name for name in heart.X.columns if name not in QUICK]
    tables = {"chart": heart.X[list(QUICK)], "lab": heart.X[slow]}
    for name, table in tables.items():
        table.to_sql(name, engine, index_label="patient", if_exists="replace")
    return engine


def sources(engine: sqlalchemy.Engine, **rules: Any) -> Sources:
    """Return the tables as sources; the rules, such as a time limit, are those of the slow one."""
    heart = load_heart_disease()
    slow = [name for name in heart.X.columns if name not in QUICK]
    chart = f"SELECT {', '.join(QUICK)} FROM chart WHERE patient = :id"
    lab = f"SELECT {', '.join(slow)} FROM lab WHERE patient = :id"
    return Sources(
        [
            sql_source(engine, chart, QUICK, name="chart", price=1.0),
            sql_source(engine, lab, slow, name="lab", price=6.0, **rules),
        ]
    )


def consulted(given: Sources, patient: int) -> tuple[Decision, dict[str, str]]:
    """Return the decision about a patient, and what could not be had."""
    heart = load_heart_disease()
    model = BudgetTreeClassifier(costs=given.costs("USD"), max_depth=4).fit(heart.X, heart.y)
    answers = given.begin({"id": patient})
    return consult(model, answers), answers.faults


def too_slow(source: Source) -> str:
    """Say how long a source took."""
    return "never answered" if source.latency is None else f"took {source.latency * 1e3:.1f} ms"


def main() -> None:
    """Consult about one patient."""
    given = sources(database(*sys.argv[1:2]), timeout=2.0, retries=1)
    decision, faults = consulted(given, patient=7)
    print(
        decision,
        *(f"{source.name} {too_slow(source)}" for source in given),
        faults or "nothing failed",
        sep="\n",
    )


if __name__ == "__main__":
    main()
