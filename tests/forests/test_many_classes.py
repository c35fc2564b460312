"""Forests of many classes: what a user sees of the memory that their nodes take."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from farthing import load
from farthing.forests import BudgetForestClassifier


def test_a_file_grows_with_the_rows_and_not_with_the_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 4))
    sizes = {}
    for n_classes in (4, 400):
        model = BudgetForestClassifier(n_estimators=3, random_state=0).fit(X, np.arange(1200) % n_classes)
        path = tmp_path / f"{n_classes}.farthing"
        model.save(path)
        sizes[n_classes] = path.stat().st_size
        assert np.array_equal(load(path).predict_proba(X[:20]), model.predict_proba(X[:20]))
    # A dense matrix of nodes and classes would be a hundred times as large.
    assert sizes[400] < 5 * sizes[4]
