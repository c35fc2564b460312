"""What can be read from a frontier."""

import math

import pytest

from farthing.base.frontier import _decode, _encode
from farthing.frontier import Frontier, Point


def point(spend, score, method="Tree", most=None, **params):
    return Point(method, params, spend, spend if most is None else most, score, 0.01)


FRONTIER = Frontier(
    (
        point(5, 0.8, depth=3),
        point(1, 0.6),
        point(3, 0.8),
        point(4, 0.7),
        point(9, 0.9, most=20),
        point(2, math.nan),
    ),
    score_name="accuracy",
    full_cost=10.0,
)


def test_pareto_has_what_nothing_beats():
    assert [(p.spend, p.score) for p in FRONTIER.pareto()] == [(1, 0.6), (3, 0.8), (9, 0.9)]


def test_hard_pareto_goes_by_the_most_that_a_row_pays():
    assert [p.max_spend for p in FRONTIER.pareto(hard=True)] == [1, 3, 20]


@pytest.mark.parametrize(("budget", "score"), [(0.9, None), (1, 0.6), (2.9, 0.6), (3, 0.8), (100, 0.9)])
def test_within_is_the_best_that_fits(budget, score):
    found = FRONTIER.within(budget)
    assert (None if found is None else found.score) == score


def test_a_budget_may_be_met_up_to_rounding():
    assert Frontier((point(0.1 + 0.2, 0.5),)).within(0.3) is not None


def test_within_a_hard_budget():
    assert FRONTIER.within(9, hard=True).score == 0.8


def test_the_table_has_a_line_for_each_budget():
    lines = FRONTIER.table([0.5, 3]).splitlines()
    assert "nothing fits" in lines[1]
    assert "0.8000" in lines[2]
    assert "0.7804 to 0.8196" in lines[2]


def test_the_table_goes_by_shares_of_the_full_cost():
    assert [line.split()[0] for line in FRONTIER.table().splitlines()[1:]] == [
        "0.2",
        "0.5",
        "1",
        "2",
        "5",
        "10",
    ]


def test_the_frame_has_every_point():
    frame = FRONTIER.to_frame()
    assert len(frame) == len(FRONTIER)
    assert frame["efficient"].sum() == 3
    assert frame["low"][0] == pytest.approx(0.8 - 0.0196)


def test_some_methods_alone():
    both = Frontier((point(1, 0.5), point(2, 0.6, method="Vote")))
    assert both.of("Vote").methods == ("Vote",)
    with pytest.raises(LookupError, match="Tree"):
        both.of("Forest")


def test_frontiers_of_different_scores_are_not_compared():
    with pytest.raises(ValueError, match="different scores"):
        Frontier.union({"a": FRONTIER, "b": Frontier((), score_name="recall")})


def test_frontiers_are_compared_in_one_figure():
    axes = Frontier.union({"a": FRONTIER, "b": Frontier((point(2, 0.7),), score_name="accuracy")}).plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a: Tree", "b: Tree", "efficient"]


def test_more_methods_than_colours_are_told_apart():
    axes = Frontier(tuple(point(n, 0.5, method=f"M{n:02}") for n in range(14))).plot()
    looks = {
        (dots.get_facecolor()[0].tobytes(), dots.get_paths()[0].vertices.tobytes())
        for dots in axes.collections
    }
    assert len(looks) == 14


@pytest.mark.parametrize(
    ("name", "score", "error", "expected"),
    [
        ("accuracy", 0.99, 0.02, (0.9508, 1.0)),
        ("accuracy, classes weighted", 0.01, 0.02, (0.0, 0.0492)),
        ("r2", 0.99, 0.02, (0.9508, 1.0)),
        ("neg_mean_squared_error", -0.01, 0.02, (-0.0492, 0.0)),
        ("profit", 0.99, 0.02, (0.9508, 1.0292)),
    ],
)
def test_an_interval_stays_within_what_a_score_can_be(name, score, error, expected):
    found = Frontier((Point("Tree", {}, 1.0, 1.0, score, error),), full_cost=2.0, score_name=name)
    frame = found.to_frame()
    assert (frame["low"][0], frame["high"][0]) == pytest.approx(expected)


def test_the_point_of_a_tradeoff():
    path = Frontier((point(9, 0.9, tradeoff=0.0), point(3, 0.8, tradeoff=0.1), point(2, 0.7, tradeoff=0.1)))
    assert path.at(0.05).spend == 9
    assert path.at(5).spend == 3  # the better one of two
    with pytest.raises(ValueError, match="zero or more; got -1"):
        path.at(-1)
    with pytest.raises(ValueError, match="no point at a trade-off of 0 or less"):
        Frontier((point(3, 0.8, tradeoff=0.1),)).at(0)


def test_near_needs_a_reference():
    with pytest.raises(ValueError, match="no reference"):
        FRONTIER.near(0.1)


@pytest.mark.parametrize(
    ("wrong", "kind", "told"),
    [
        ({"extra": 1}, ValueError, "a frontier has points, failures and names"),
        ({"points": [1]}, TypeError, "must be a list of points"),
        ({"names": ["accuracy"]}, TypeError, "pairs of strings"),
        ({"failures": [["Tree", 3]]}, TypeError, "pairs of strings"),
        ({"full_cost": "10"}, TypeError, "must be numbers"),
    ],
)
def test_a_crafted_frontier_is_refused(wrong, kind, told):
    assert [p.spend for p in _decode(_encode(FRONTIER))] == [p.spend for p in FRONTIER]
    with pytest.raises(kind, match=told):
        _decode({**_encode(FRONTIER), **wrong})
