"""Features from a database, through SQLAlchemy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from farthing.errors import SourceError
from farthing.sources.source import Source
from farthing.walks import REFUSED

if TYPE_CHECKING:
    import sqlalchemy


def sql_source(
    engine: sqlalchemy.Engine | str, query: str, features: str | Iterable[str], **rules: Any
) -> Source:
    """Return a source that queries a database.

    The query selects the features by their names, in at most one row. No row means that it is not available;
    NULL is a value: measured, but missing. Nothing is committed. On PostgreSQL the time limit of the source
    is that of the statement as well, so that the server ends a query that takes too long.

    Parameters
    ----------
    engine : sqlalchemy.Engine or str
        The database, or its URL.
    query : str
        With the fields of the row as parameters: ``"SELECT chol, fbs FROM lab WHERE patient = :id"``;
        ``:row`` if the row is not a mapping.
    features : str or iterable of str
        What the source gives.
    **rules
        Price, time limit and failure rules; see `Source`.

    Returns
    -------
    Source

    Examples
    --------
    >>> import sqlalchemy
    >>> from sqlalchemy.pool import StaticPool
    >>> engine = sqlalchemy.create_engine(
    ...     "sqlite://", connect_args={"check_same_thread": False}, poolclass=StaticPool)
    >>> with engine.begin() as connection:
    ...     for line in ("CREATE TABLE lab (patient, chol, fbs)", "INSERT INTO lab VALUES (63, 233, 1)"):
    ...         _ = connection.execute(sqlalchemy.text(line))
    >>> lab = sql_source(engine, "SELECT chol, fbs FROM lab WHERE patient = :id", ["chol", "fbs"], price=7)
    >>> lab.read({"id": 63})
    {'chol': 233, 'fbs': 1}
    >>> engine.dispose()
    """
    alchemy = _sqlalchemy()
    database = alchemy.create_engine(engine) if isinstance(engine, str) else engine
    statement = alchemy.text(query)
    needed = set(statement.compile().params)
    timeout = rules.get("timeout", 10.0)
    limit = None
    if database.dialect.name == "postgresql" and timeout:
        # A number of ours, not of a row.
        limit = alchemy.text(f"SET LOCAL statement_timeout = {max(1, round(timeout * 1000))}")

    def fetch(row: Any) -> Any:
        given = row if isinstance(row, Mapping) else {"row": row}
        if lacks := sorted(needed.difference(given)):
            raise SourceError(f"the row has no {', '.join(map(repr, lacks))}, which the query needs")
        with database.connect() as connection:
            if limit is not None:
                connection.execute(limit)
            found = connection.execute(statement, {name: given[name] for name in needed})
            rows = found.mappings().fetchmany(2)
        if len(rows) > 1:
            raise SourceError("the query gave more than one row; make it select one")
        return {str(name): value for name, value in rows[0].items()} if rows else REFUSED

    return Source(fetch, features, **rules)


def _sqlalchemy() -> Any:
    try:
        import sqlalchemy  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("sources over SQL need SQLAlchemy: pip install 'farthing[sources]'") from error
    return sqlalchemy
