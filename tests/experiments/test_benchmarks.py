"""A benchmark's page says which goals are missed, and where the rival does better."""

import numpy as np
from benchmarks.measure import Line, standing, table
from experiments.boards import lazy_limit


def test_missed_goals_and_better_rivals_are_named():
    lines = [
        Line("grow", "LightGBM", 2.0, 1.0, 2.0, 1.5),
        Line("steps", "empty", 3.0, 4.0, 0.75, 0.5, higher=True),
        Line("speed", "loop", 3.0, 90.0, 30.0, 20.0, higher=True),
        Line("error", "scikit-learn", 0.1, 0.2, 0.5, None),
    ]
    assert standing(table(lines)) == (
        "Goals met: 2 of 3. Missed: grow (2.00, LightGBM). "
        "The ratio is not in our favour at: grow (2.00, LightGBM); steps (0.75, empty)."
    )
    assert standing(table(lines[2:])) == "Goals met: 1 of 1."


def test_without_a_goal_a_line_says_which_side_is_ours():
    lines = [
        Line("time", "cascade", 2.0, 1.0, 0.5, None, higher=True),
        Line("time", "full", 1.0, 2.0, 2.0, None, higher=True),
        Line("overhead", "at once", 1.0, 2.0, 1.5, None),
    ]
    assert standing(table(lines)) == (
        "Goals met: 0 of 0. "
        "The ratio is not in our favour at: time (0.50, cascade); overhead (1.50, at once)."
    )


def test_scores_of_a_gate_go_from_the_cheap_model_to_the_whole_one():
    rng = np.random.default_rng(0)
    quick, whole, order = rng.random(50) < 0.6, rng.random(50) < 0.9, rng.permutation(50)
    expected = [
        np.mean(np.where(np.isin(np.arange(50), order[:n_sent]), whole, quick)) for n_sent in range(51)
    ]
    assert np.allclose(lazy_limit.scores(quick, whole, order), expected)
