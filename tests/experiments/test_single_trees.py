"""Figure 3.4: tables are quantised column by column, and a missing value stays one missing value."""

import numpy as np
from experiments.lib.single_trees import PIMA, distinct, small_tables, tree_curves


def test_a_missing_value_is_a_level_of_its_own():
    X = np.array([[0.0, 1.0], [np.nan, 1.0], [5.0, 3.0], [10.0, 3.0], [np.nan, 1.0]])
    rows, y = distinct(X, np.array([0, 1, 0, 1, 1]))
    assert rows.tolist() == [[-1.0, 0.0], [0.0, 0.0], [5.0, 9.0], [9.0, 9.0]]
    assert y.tolist() == [1, 0, 0, 1]


def test_pima_has_all_its_columns_and_as_many_rows_as_in_the_thesis():
    ((_, X, y),) = small_tables((PIMA,))
    assert np.isfinite(X).all()
    assert (X.max(axis=0) > X.min(axis=0)).all()
    assert abs(len(y) - 753) <= 1  # the thesis quantises a value on an edge the other way
    whole = tree_curves(X, y)["threshold-pairs"][-1]
    assert whole[0] > 3  # more features than the three that have no missing value
    assert whole[1] == 0.0
