"""Exits between the points of a cascade's path, against counting row by row."""

from dataclasses import replace

import numpy as np
import pytest

from farthing.cascades import MiserCascadeClassifier
from farthing.cascades.miser_cascade.finer_exits import HeldOutChain
from farthing.learning.exits import ALWAYS, NEVER


@pytest.fixture(scope="module")
def chain():
    rng = np.random.default_rng(0)
    risks = np.round(rng.random((4, 300)), 2)  # with ties
    risks[0] = 0.5  # nothing is known at first
    errors = (rng.random((4, 300)) < risks).astype(float)
    return HeldOutChain(np.array([0.0, 1.0, 5.0, 20.0]), risks, errors, rng.integers(1, 4, 300).astype(float))


def test_the_means_are_those_of_walks(chain):
    thresholds = np.array([NEVER, 0.3, 0.2, ALWAYS])
    spends, errors = [], []
    for row in range(300):
        stage = next(s for s in range(4) if chain.risks[s, row] <= thresholds[s])
        spends.append(chain.totals[stage])
        errors.append(chain.errors[stage, row])
    wanted = [np.average(values, weights=chain.weights) for values in (spends, errors)]
    assert chain.spend_and_error(thresholds) == pytest.approx(wanted)


def test_fewer_rows_go_on_the_smaller_the_share(chain):
    own = np.array([NEVER, 0.3, NEVER, ALWAYS])
    before = None
    for share in (1.0, 0.8, 0.5, 0.2, 0.01):
        found = chain.raised(own, share)
        assert found[0] == NEVER  # all rows have the same risk there, so all go on
        assert (found >= own).all()
        for stage in (1, 2):
            above = (chain.risks[stage] > own[stage]).sum()
            on = (chain.risks[stage] > found[stage]).sum()
            # Rows of equal risk stay together, and at least some go on.
            ties = max(np.unique(chain.risks[stage], return_counts=True)[1])
            assert max(1, round(share * above)) <= on <= share * above + ties + 1
        spend = chain.spend_and_error(found)[0]
        assert before is None or spend <= before
        before = spend


def test_a_model_between_two_points_spends_what_is_wanted():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(3000, 3))
    labels = (values @ [1.0, 0.6, 1.5] > 0).astype(int)
    model = MiserCascadeClassifier([1, 2, 30], n_estimators=10, n_stages=4, max_depth=2, random_state=0)
    model.fit(values[:1000], labels[:1000])
    fitted = model.fitted_
    # A path with a gap: nothing between the cheapest points and the dearest.
    few = [0, len(fitted.path_spend) - 1]
    gap = replace(
        fitted,
        path_spend=fitted.path_spend[few],
        path_risk=fitted.path_risk[few],
        path_chain=fitted.path_chain[few],
        path_thresholds=fitted.path_thresholds[few],
    )
    coarse, fine = (model.variant({}, one) for one in (gap.at(15.0, "mean"), gap.near(15.0)))
    assert coarse.spend(values[1000:]).mean() == 0
    assert 9 < fine.spend(values[1000:]).mean() < 20
    assert fine.score(values[1000:], labels[1000:]) > coarse.score(values[1000:], labels[1000:]) + 0.05
    without = replace(gap, held_risks=None, held_errors=None, held_weights=None)
    assert (without.near(15.0).thresholds == gap.at(15.0, "mean").thresholds).all()


def test_a_limit_at_a_point_of_the_path_up_to_rounding():
    """`at` has a slack for rounding; the point below the limit must be the one that it means."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(600, 4))
    labels = (values @ [1.0, 0.6, 1.5, 0.8] > 0).astype(int)
    model = MiserCascadeClassifier([1, 2, 30, 5], n_estimators=10, n_stages=5, max_depth=2, random_state=0)
    fitted = model.fit(values, labels).fitted_
    lengths = [int((fitted.chains[number] >= 0).sum()) for number in fitted.path_chain]
    assert len(set(lengths)) > 1, "neighbours on the path have chains of different lengths"
    for spend in fitted.path_spend:
        limit = float(np.nextafter(spend, 0.0))
        found, at_the_point = fitted.near(limit), fitted.near(float(spend))
        assert np.array_equal(found.chain, at_the_point.chain)
        assert np.array_equal(found.thresholds, at_the_point.thresholds)
