"""What notebooks show: prices, frontiers, walks and models as HTML, with every text escaped."""

from __future__ import annotations

import numpy as np

from farthing import CostSheet, Frontier, Group
from farthing.base import Point
from farthing.forests import BudgetTreeClassifier
from farthing.notebook import html_table
from farthing.walks import REFUSED


def test_a_price_list_shows_own_and_shared_prices() -> None:
    sheet = CostSheet({"<age>": 1, "chol": 5.17}, groups={"blood": Group(2.1, ["chol"])}, unit="CAD")
    shown = sheet._repr_html_()
    assert "&lt;age&gt;" in shown
    assert "<age>" not in shown
    assert [text in shown for text in ("5.17", "blood", "2.1", "CAD")] == [True] * 4


def test_a_long_table_is_shortened() -> None:
    shown = html_table("t", ["n"], [[str(n)] for n in range(100)])
    assert "(65 more)" in shown
    assert ">24<" in shown
    assert ">25<" not in shown
    assert ">99<" in shown


def test_a_frontier_shows_its_efficient_points() -> None:
    frontier = Frontier(
        (Point("Tree", {}, 3.0, 3.0, 0.8), Point("Tree", {}, 2.0, 4.0, 0.9)), full_cost=10.0, unit="CAD"
    )
    shown = frontier._repr_html_()
    assert "1 efficient of 2 points, spend in CAD" in shown
    assert "20.0%" in shown
    assert "30.0%" not in shown


def test_a_walk_and_a_model_show_what_they_buy() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = BudgetTreeClassifier(max_depth=1, costs={"a": 3, "b": 4}, budget=5)
    assert "May buy" not in model._html_repr()
    import pandas as pd  # noqa: PLC0415

    model.fit(pd.DataFrame(X, columns=["a", "b"]), [0, 0, 1, 1])
    shown = model._html_repr()
    assert "May buy 1 of 2 columns; at most 5 for each row" in shown
    assert shown.count("<td") >= 2
    walk = model.walk()
    assert "it asks for a at 3" in walk._repr_html_()
    walk.tell(1.0)
    assert "Prediction 1, spent 3; it has decided" in walk._repr_html_()
    walk = model.walk()
    walk.tell(REFUSED)
    assert ">refused<" in walk._repr_html_()
