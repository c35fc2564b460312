"""Farthing: prediction on a budget.

Every feature has a price. Farthing learns models that know the prices, accounts for what each prediction
spends, and asks for one feature at a time.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "REFUSED",
    "Ask",
    "BudgetedClassifier",
    "BudgetedRanker",
    "BudgetedRegressor",
    "CostSheet",
    "Decision",
    "ErrorCosts",
    "Frontier",
    "Group",
    "Guarantee",
    "Labels",
    "LazyPipeline",
    "PreparedTable",
    "Walk",
    "aconsult",
    "adaptive",
    "boosting",
    "cascades",
    "certify",
    "consult",
    "deep",
    "forests",
    "load",
    "multiclass",
    "neighbors",
    "pipeline",
    "pipelines",
    "sources",
    "sweep",
]

# Names load when they are first used (PEP 562), since scikit-learn and SciPy alone take seconds to import.
if TYPE_CHECKING:
    from farthing import (
        adaptive,
        boosting,
        cascades,
        deep,
        forests,
        multiclass,
        neighbors,
        pipelines,
        sources,
    )
    from farthing.base import Guarantee, load
    from farthing.costs import CostSheet, Group
    from farthing.frontier import (
        BudgetedClassifier,
        BudgetedRanker,
        BudgetedRegressor,
        ErrorCosts,
        Frontier,
    )
    from farthing.frontier.sweep import sweep
    from farthing.labels import Labels
    from farthing.learning.guarantees.certify import certify
    from farthing.pipelines import pipeline
    from farthing.sources import LazyPipeline
    from farthing.table import PreparedTable
    from farthing.walks import REFUSED, Ask, Decision, Walk, aconsult, consult

    __version__: str
else:  # hidden from type checkers, to which `__getattr__` would mean that any name is there
    _HOMES = {
        "base": ("Guarantee", "load"),
        "costs": ("CostSheet", "Group"),
        "frontier": (
            *("BudgetedClassifier", "BudgetedRanker", "BudgetedRegressor", "ErrorCosts", "Frontier", "sweep"),
        ),
        "labels": ("Labels",),
        "learning.guarantees": ("certify",),
        "pipelines": ("pipeline",),
        "sources": ("LazyPipeline",),
        "table": ("PreparedTable",),
        "walks": ("REFUSED", "Ask", "Decision", "Walk", "aconsult", "consult"),
    }
    _HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
    # Those that need no extra; `farthing.report`, `farthing.service` and `farthing.cli` are imported by name.
    _SUBMODULES = (
        *("adaptive", "base", "boosting", "cascades", "checks", "costs", "datasets", "deep", "errors"),
        *("forests", "frontier", "labels", "learning", "metrics", "multiclass", "neighbors", "notebook"),
        *("pipelines", "sources", "store", "table", "trees", "typing", "walks"),
    )

    def __getattr__(name):
        if name in _HOME_OF:
            value = getattr(import_module(f"farthing.{_HOME_OF[name]}"), name)
        elif name in _SUBMODULES:
            value = import_module(f"farthing.{name}")
        elif name == "__version__":
            value = _installed_version()
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value  # the next use does not come here
        return value

    def __dir__():
        return sorted({*globals(), *_HOME_OF, *_SUBMODULES, "__version__"})

    def _installed_version():
        from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - takes long to import

        try:
            return version("farthing")
        except PackageNotFoundError:  # imported from a source tree that is not installed
            return "0"
