"""The race: who leaves, and that the winner stays."""

import numpy as np
import pytest

from farthing import BudgetedClassifier
from farthing.base import Point
from farthing.datasets import load_heart_disease
from farthing.frontier.data_split import trial_rows
from farthing.frontier.fold_curves import Judged
from farthing.frontier.race import HOPELESS, STAY, heats, survivors
from farthing.frontier.row_values import Standing, difference


def judged(losses, scores=None):
    losses = np.asarray(losses, dtype=np.float32)
    scores = -losses if scores is None else np.asarray(scores, dtype=np.float32)
    n = len(losses)
    point = Point("Tree", {}, 1.0, 1.0, float(scores.mean()), loss=float(losses.mean()))
    return Judged(point, Standing(scores, losses, np.ones(n), np.arange(n)))


def test_a_setting_that_is_worse_on_the_same_rows_leaves():
    rng = np.random.default_rng(0)
    hard = rng.uniform(0, 1, 200)  # some rows are hard for everybody
    close = hard + rng.normal(0.0, 0.1, 200)
    worse = hard + 0.05 + rng.normal(0, 0.01, 200)
    # The difference of 0.05 is far below the spread of the losses, but not below that of the differences.
    assert np.std(hard) / np.sqrt(200) > 0.02
    assert survivors({0: judged(hard), 1: judged(close), 2: judged(worse)}, 0) == [0, 1]


def test_at_most_so_many_stay():
    rng = np.random.default_rng(1)
    all_alike = {place: judged(rng.uniform(0, 1, 50)) for place in range(12)}
    for heat, most in enumerate((*STAY, STAY[-1])):
        left = survivors(all_alike, heat)
        assert len(left) <= most
        # Those of the least loss.
        mean = {place: one.point.loss for place, one in all_alike.items()}
        assert min(mean, key=mean.get) in left


def test_who_cannot_pass_the_best_preferred_setting_leaves():
    base = np.full(100, 0.5)
    noise = np.tile([0.1, -0.1], 50)  # standard error of the mean: 0.01
    behind = {0: judged(base), 1: judged(base + noise + 2 * 0.01), 2: judged(base + noise + 0.5 * 0.01)}
    assert survivors(behind, 0) == [0, 1, 2]
    assert survivors(behind, 0, preferred=[0]) == [0, 2]
    # Another preferred one leaves only if it is hopeless.
    assert survivors(behind, 0, preferred=[0, 1]) == [0, 1, 2]
    # The best preferred setting stays however far it is behind.
    ahead = {0: judged(base + 0.3), 1: judged(base + 0.4), 2: judged(base + noise)}
    assert survivors(ahead, 0, preferred=[0, 1]) == [0, 2]


def test_those_who_have_no_model_within_the_budget_leave():
    assert survivors({0: judged([0.1, 0.2]), 1: None}, 0, always=[3]) == [0, 3]


def test_scores_without_rows_are_compared_by_points():
    scores = np.random.default_rng(0).permutation(STAY[-1] + 2)
    points = {p: Judged(Point("Tree", {}, 1.0, 1.0, float(score)), None) for p, score in enumerate(scores)}
    assert survivors(points, len(STAY)) == np.flatnonzero(scores >= 2).tolist()


@pytest.mark.parametrize("gap", [0.03, 0.1])
def test_the_winner_is_kept(gap):
    """Of twelve settings the one that is truly better wins a race nearly as often as a whole grid."""
    rng = np.random.default_rng(2)
    kept = found = 0
    n_rows, n_folds, trials = 60, 5, 200
    for _ in range(trials):
        shared = rng.normal(0, 0.3, n_folds * n_rows)
        losses = 0.4 + shared + rng.normal(0, 0.15, (12, n_folds * n_rows))
        losses[7] -= gap
        found += int(np.argmin(losses.mean(axis=1)) == 7)
        left = list(range(12))
        for heat, _ in enumerate(heats(n_folds)[:-1]):
            seen = losses[:, : (heat + 1) * n_rows]
            left = survivors({place: judged(seen[place]) for place in left}, heat)
        kept += min(left, key=lambda place: losses[place].mean()) == 7
    assert kept >= 0.8 * found
    assert kept > 0.5 * trials


def test_differences_are_of_the_same_rows():
    one, other, weights = np.array([1.0, 2.0, 4.0]), np.array([0.0, 0.0, 3.0]), np.array([1.0, 1.0, 2.0])
    found = difference(one, other, weights)
    assert found.mean == pytest.approx((1 + 2 + 2) / 4)
    # With equal weights it is the textbook error of a mean.
    plain = difference(one, other, np.ones(3))
    assert plain.error == pytest.approx(np.std(one - other, ddof=1) / np.sqrt(3))
    assert HOPELESS > 1


def test_a_large_table_begins_on_a_part_of_its_rows():
    learn, evaluate = np.arange(30_000), np.arange(30_000, 40_000)
    some, same = trial_rows([(learn, evaluate)], 0)
    assert len(some) == 3000
    assert set(some) <= set(learn)
    assert np.array_equal(same, evaluate)
    # Of a smaller one the trial would be no small part.
    assert trial_rows([(learn[:7000], evaluate)], 0) is None
    assert len(trial_rows([(learn[:8000], evaluate)], 0)[0]) == 2000
    assert trial_rows([(learn, evaluate)] * 2, 0) is None


def test_the_door_fits_less_than_a_grid_and_says_who_leads(capsys):
    heart = load_heart_disease()
    methods = [("BudgetTreeClassifier", {"max_depth": [0, 1, 2, 3, 4, 5, 6, 8]})]
    model = BudgetedClassifier(heart.costs, 60.0, methods=methods, progress=True).fit(heart.X, heart.y)
    assert "leads: BudgetTreeClassifier" in capsys.readouterr().err
    # Who left after one fold has a larger error than the finalists.
    errors = sorted(point.error for point in model.frontier_ if point.spend > 0)
    assert errors[-1] > 1.5 * errors[0]
    assert len(model.frontier_.fit_times) == 9  # with the model that buys nothing
