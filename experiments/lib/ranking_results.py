"""What the methods reached on one ranking table, kept as a file, so that the page can be written again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.lib.ranking_methods import Model


@dataclass(frozen=True)
class RankingResults:
    """The models of every method on one table.

    Attributes
    ----------
    title, sizes : str
        The table and the seed, and the numbers of its documents and queries.
    methods : dict
        From the name of a method to its models.
    by_chance : ndarray of float64, shape (n_queries,)
        NDCG@5 of each test query without any feature.
    linear_score, linear_spend : float
        Of the L1 linear model that is best on validation queries, on test queries.
    commit : str
        The code that fitted the models.
    """

    title: str
    sizes: str
    methods: dict[str, list[Model]]
    by_chance: NDArray[np.float64]
    linear_score: float
    linear_spend: float
    commit: str

    def save(self, file: Path) -> None:
        """Write the results as JSON."""
        file.write_text(json.dumps(asdict(self), default=lambda array: array.tolist()), encoding="utf-8")

    @classmethod
    def load(cls, file: Path) -> RankingResults:
        """Read what `save` wrote."""
        fields = json.loads(file.read_text(encoding="utf-8"))
        fields["by_chance"] = np.array(fields["by_chance"])
        arrays = ("validation_scores", "scores")
        fields["methods"] = {
            name: [Model(**{**m, **{field: np.array(m[field]) for field in arrays}}) for m in models]
            for name, models in fields["methods"].items()
        }
        return cls(**fields)
