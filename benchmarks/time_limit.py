"""`time_limit` of the front door: the seconds that a fit takes, against its limit.

`BudgetedClassifier` with a mean budget of 20 % of what all features cost and otherwise at its defaults. A fit
may take a tenth more than its limit; one that has tried everything ends earlier. The first candidate is
fitted whatever the limit, so that there is a model.
"""

from __future__ import annotations

import time
import warnings
from typing import Final

from benchmarks.front_door import SHARE, TABLES, table_of
from benchmarks.measure import Line
from farthing import BudgetedClassifier
from farthing.base.registry import import_methods

HOW: Final = "Each line is one fit; the load of the machine changes it."
LIMITS: Final = (2.0, 5.0, 20.0)
CHOSEN: Final = ("heart disease", "satellite", "adult")
GOAL: Final = 1.1


def run(threads: int) -> list[Line]:  # noqa: ARG001 - a fit takes the threads of all cores
    """Measure everything."""
    import_methods()
    lines = []
    for name in CHOSEN:
        X, y, prices = table_of(name, TABLES[name])
        for limit in LIMITS:
            model = BudgetedClassifier(prices, SHARE * sum(prices), time_limit=limit)
            begin = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, y)
            taken = time.perf_counter() - begin
            lines.append(Line(f"{name}, {limit:g} s", "the limit", taken, limit, taken / limit, GOAL))
            print(lines[-1], flush=True)
    return lines
