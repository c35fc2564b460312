"""The estimate of the time left is right within a factor of two, for methods that differ in time."""

import numpy as np
import pytest

from farthing.base import Frontier, Point
from farthing.base.fit_time import FitTime, expected_seconds
from farthing.base.score_words import ScoreWords
from farthing.boosting import GreedyMiserClassifier
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import BudgetedClassifier, sweep
from farthing.frontier.candidates import Candidate
from farthing.frontier.fold_curves import FoldCurve, SettingCurves
from farthing.frontier.time_left import TimeLeft


def simulate(n_jobs):
    """Return the share done, the estimate, the truth, and whether it is a bound, after each fit."""
    rng = np.random.default_rng(0)
    # As in a sweep: the first setting of each method before the second of any, five folds of each.
    speeds = {"fast": 1.0, "medium": 12.0, "slow": 100.0}
    places = [(method, (method, turn)) for turn in range(6) for method in speeds for _ in range(5)]
    seconds = [speeds[method] * rng.uniform(0.7, 1.3) for method, _ in places]
    free, ends = [0.0] * n_jobs, []
    for time in seconds:
        worker = int(np.argmin(free))
        free[worker] += time
        ends.append(free[worker])
    now = 0.0
    left = TimeLeft(places, clock=lambda: now)
    told = []
    for done, number in enumerate(np.argsort(ends), start=1):
        now = ends[number]
        left.done(*places[number], seconds[number])
        told.append((done / len(places), left.seconds(), max(ends) - now, left.is_bound))
    return told


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_the_estimate_is_right_within_a_factor_of_two(n_jobs):
    told = simulate(n_jobs)
    # Up to the last fits, of which those that run are partly done.
    ratios = np.array([estimate / true for share, estimate, true, bound in told if not bound and share < 0.9])
    assert len(ratios) > 60
    assert ratios.min() > 0.5
    assert ratios.max() < 2.0
    # Before each method has been seen, it is a lower bound, and said to be one.
    early = [(estimate, true) for _, estimate, true, bound in told if bound]
    assert early
    assert all(estimate < true for estimate, true in early)


def test_results_of_a_cache_take_no_time():
    now = 0.0
    left = TimeLeft([("tree", 0)] * 10, clock=lambda: now)
    for _ in range(5):
        left.done("tree", 0)
    assert left.seconds() is None
    now = 2.0
    left.done("tree", 0, 2.0)
    assert left.seconds() == 8.0


def test_a_time_limit_bounds_the_estimate():
    now = 0.0
    left = TimeLeft([("tree", 0)] * 10, limit=5.0, clock=lambda: now)
    now = 2.0
    left.done("tree", 0, 2.0)
    assert left.seconds() == 3.0


def test_the_estimate_counts_down_while_a_fit_runs():
    times = iter([0.0, 10.0, 10.0, 14.0, 18.0, 40.0])
    left = TimeLeft([("tree", 0)] * 4, clock=lambda: next(times))
    left.done("tree", 0, 10.0)
    # The second fit takes longer than the first did.
    assert [left.seconds() for _ in range(4)] == [30.0, 26.0, 22.0, 20.0]


def test_a_method_of_which_nothing_is_known_counts_as_long_as_it_has_run():
    times = iter([0.0, 1.0, 1.0, 7.0, 11.0])
    left = TimeLeft([("tree", 0), ("slow", 1), ("slow", 1), ("other", 2)], clock=lambda: next(times))
    left.done("tree", 0, 1.0)
    assert left.is_bound
    # The one that is under way has run 6 s, and may take as long again; so may the next.
    assert [left.seconds() for _ in range(3)] == [None, 12.0, 20.0]


def test_what_is_expected_counts_until_it_is_known():
    now = 0.0
    steps = [("fold", 0)] * 2 + [("chart", 0)] * 2
    left = TimeLeft(steps, expected={"fold": 5.0, "chart": 1.0}, clock=lambda: now)
    assert left.seconds() == 12.0
    assert not left.is_bound
    now = 8.0
    left.done("fold", 0, 8.0)
    assert left.seconds() == 10.0


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


def test_a_sweep_times_its_fits(heart):
    methods = [BudgetTreeClassifier(max_depth=1), GreedyMiserClassifier(n_estimators=60)]
    frontier = sweep(methods, heart.X, heart.y, heart.costs)
    times = {time.method: time.seconds for time in frontier.fit_times}
    assert times.keys() == {"BudgetTreeClassifier", "GreedyMiserClassifier"}
    assert min(times.values()) > 0


def test_the_fit_on_all_rows_has_a_bar(heart, capsys):
    model = BudgetedClassifier(heart.costs, 5, methods=["BudgetTreeClassifier"], cv=2, progress=True)
    model.fit(heart.X, heart.y)
    err = capsys.readouterr().err
    assert "fits" in err
    assert "fit on all rows" in err


def test_a_setting_without_a_time_takes_that_of_its_method():
    times = [FitTime("Tree", {"depth": 2}, 1.0), FitTime("Tree", {"depth": 8}, 5.0)]
    assert expected_seconds(times, Point("Tree", {"depth": 4}, 1, 1, 0.9)) == 3.0
    assert expected_seconds(times, Point("Forest", {}, 1, 1, 0.9)) is None


class TestWords:
    @pytest.mark.parametrize(
        ("name", "score", "said"),
        [
            ("accuracy", 0.8079, "accuracy 0.8079"),
            ("neg_mean_squared_error", -3211.4, "mean squared error 3211"),
            ("roc_auc", 0.91, "area under the ROC curve 0.9100"),
            ("neg_log_loss", -0.4, "log loss 0.4000"),
            ("cost of a row, negated", -12.345, "mean cost of a row, with its errors 12.35"),
        ],
    )
    def test_scores(self, name, score, said):
        words = ScoreWords.of(name)
        assert f"{words.title} {words.text(score)}" == said

    def test_tables(self):
        points = (
            Point("Tree", {}, 3.54, 4, -3211.0, error=10.0),
            Point("Forest", {}, 317.3, 400, -3300.0),
            Point("Miser", {}, 1.0, 4, -5000.0),
        )
        frontier = Frontier(points, score_name="neg_mean_squared_error", full_cost=600.0)
        assert "neg_" not in frontier.table()
        lines = frontier.efficient_table().splitlines()
        assert [line.split()[-1] for line in lines] == ["model", "Miser()", "Tree()"]
        assert "3191 to 3231" in lines[2]

    def test_the_ends_of_a_long_table_stay(self):
        points = tuple(Point("Tree", {"n": n}, n, n, 1 - 1 / (n + 1)) for n in range(50))
        lines = Frontier(points, full_cost=50.0).efficient_table(most=5).splitlines()
        assert len(lines) == 6
        assert "n=0)" in lines[1]
        assert "n=49)" in lines[-1]


@pytest.mark.parametrize(
    ("weights", "grown"), [([20.0] * 5, 1.25**0.25), ([50.0, 50.0], 2**0.25), ([25.0], 4 / 3)]
)
def test_the_last_fit_has_more_rows_than_those_of_the_folds(weights, grown):
    folds = [FoldCurve([{}], np.zeros((1, 5)), weight, 0.0, 0.0, 0.0, seconds=3.0) for weight in weights]
    curves = SettingCurves(Candidate("Tree", BudgetTreeClassifier(), {}), folds, overlap=1.0)
    assert curves.seconds_on_all == pytest.approx(3.0 * grown)
