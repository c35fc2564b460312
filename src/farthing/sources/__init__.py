"""Where features come from: functions, services, databases, Feast, pipelines that compute them on demand.

``source`` is one source with its rules of failure, ``source_set`` several as `farthing.consult` takes them,
``http``, ``sql`` and ``feast`` are adapters, ``lazy_pipeline`` computes blocks of features for the rows that
need them.
"""

from farthing.sources import lazy_files  # noqa: F401  (registers its reader)
from farthing.sources.breaker import CircuitBreaker
from farthing.sources.feast import feast_sources
from farthing.sources.http import http_source
from farthing.sources.lazy_pipeline import LazyPipeline
from farthing.sources.row_answers import AwaitedAnswers, RowAnswers
from farthing.sources.source import Source
from farthing.sources.source_set import Sources
from farthing.sources.sql import sql_source

__all__ = [
    "AwaitedAnswers",
    "CircuitBreaker",
    "LazyPipeline",
    "RowAnswers",
    "Source",
    "Sources",
    "feast_sources",
    "http_source",
    "sql_source",
]
