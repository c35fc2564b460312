"""What a method pays for 99 % of the best: chosen on validation queries alone."""

import numpy as np
import pytest
from experiments.lib.ranking_cronus import cronus, cronus_start, cronus_tradeoffs, runs, trees_of
from experiments.lib.ranking_methods import CRONUS, EARLY, MISER, PLAIN, Model, margins, ranker, stops
from experiments.lib.ranking_page import first_lines, satellite_section
from experiments.lib.ranking_problems import yahoo
from experiments.lib.ranking_results import RankingResults
from experiments.lib.ranking_verdicts import Areas, Reached, price, share_interval
from experiments.lib.satellite_bands import SatelliteResults, Setting


def model(validation, spend, *, test=None, best=True):
    spend, test = float(spend), validation if test is None else test
    return Model(
        spend, np.array([validation, validation + 0.1]), spend, 10 * spend, np.array([test, test + 0.1]), best
    )


METHODS = {
    MISER: [model(0.50, 1), model(0.899, 5), model(0.9, 20)],
    PLAIN: [model(0.895, 40, best=False), model(0.9, 50)],
}


def test_every_method_may_choose_the_cheapest_of_its_models():
    reached = Reached(METHODS)
    assert (reached.pick(MISER).spend, reached.pick(PLAIN).spend) == (5, 40)
    assert reached.share(MISER) == reached.share(MISER, price) == 0.125
    assert reached.paper_share(MISER) == 0.1  # of the plain booster's best round
    assert reached.verdict() == "met"


def test_the_paper_asks_for_the_accuracy_of_the_plain_booster():
    better = {**METHODS, MISER: [*METHODS[MISER], model(0.95, 30)]}
    assert Reached(better).pick(MISER).spend == 30
    assert Reached(better, of=PLAIN).pick(MISER).spend == 5
    assert Reached(better, of=PLAIN).paper_share(MISER) == 0.1


def test_no_test_score_has_a_part_in_the_choice():
    lucky = model(0.50, 1, test=0.99)
    methods = {**METHODS, MISER: [lucky, *METHODS[MISER][1:]]}
    assert Reached(methods).pick(MISER).spend == 5
    unlucky = {**METHODS, MISER: [model(0.50, 1), model(0.899, 5, test=0.7)]}
    reached = Reached(unlucky)
    assert reached.pick(MISER).spend == 5
    assert reached.on_test(MISER) == pytest.approx(0.75 / 0.95)
    assert reached.verdict() == "missed: 78.9% on test queries"


def test_a_plain_booster_that_does_not_get_there_counts_with_its_best_round():
    methods = {MISER: [model(0.9, 10)], PLAIN: [model(0.6, 30, best=False), model(0.7, 40)]}
    reached = Reached(methods)
    assert reached.pick(PLAIN) is None
    assert reached.share(MISER) == 0.25
    assert reached.verdict() == "missed: 0.25"
    assert reached.share(PLAIN) == np.inf
    assert reached.verdict(PLAIN) == "missed: it never gets there"


def test_the_interval_is_over_validation_queries():
    low, high = share_interval(METHODS, MISER)
    assert low <= Reached(METHODS).share(MISER) <= high


def test_the_area_is_that_of_what_validation_chooses():
    areas = Areas.of(METHODS, np.array([0.2, 0.2]))
    assert (areas.budgets[0], areas.budgets[-1]) == pytest.approx((0.05, 50))
    affords = {name: [sum(b >= m.spend for b in areas.budgets) for m in METHODS[name]] for name in METHODS}
    one, five, twenty = affords[MISER]
    scores = np.array([0.2, 0.5, 0.899, 0.9]) @ [25 - one, one - five, five - twenty, twenty] / 25
    assert areas.by_method[MISER][0] == pytest.approx(scores)
    assert areas.lead(PLAIN)[0] > 0
    assert areas.lead(MISER) == (0, 0, 0)


def test_every_method_has_as_many_models():
    assert len(margins(12)) == len(stops(300, 12)) == len(cronus_tradeoffs(12)) == 12
    assert stops(300, 12)[0] == 1
    assert stops(300, 12)[-1] == 300
    assert stops(5, 12) == [1, 2, 3, 4, 5]
    assert stops(0, 12) == [0]
    assert stops(9, 1) == [9]


def test_results_are_kept(tmp_path):
    methods = {**METHODS, EARLY: [model(0.1, 1)]}
    kept = RankingResults("a", "b", methods, np.array([0.1, 0.2]), 0.8, 3.0, "abc")
    kept.save(tmp_path / "a.json")
    again = RankingResults.load(tmp_path / "a.json")
    assert again.title == "a"
    assert again.methods[EARLY][0].score == pytest.approx(0.15)
    assert Reached(again.methods).share(MISER) == Reached(METHODS).share(MISER)


def results(methods):
    return RankingResults("some table", "two queries", methods, np.array([0.2, 0.2]), 0.8, 3.0, "abc")


def test_the_page_begins_with_what_does_not_hold():
    cheaper = {**METHODS, EARLY: [model(0.9, 4), model(0.9, 60)], CRONUS: [model(0.9, 12)]}
    text = first_lines([results(cheaper)], ["mslr"], None)
    assert "claim that miser gets to the plain booster's accuracy for 0.1 of its cost holds" in text
    assert "claim that Cronus gets to the plain booster's accuracy for 0.25 of its cost holds" in text
    assert "NDCG@5 for less on some table (4 against 5)" in text
    assert "early exit is ahead at some spend on some table (by 0.4000 at a spend of 4)" in text
    assert "Cronus nowhere gets to 99 % of the plain booster's NDCG@5 for less" in text
    assert "Cronus is ahead at some spend on some table (by 0.0010 at a spend of 12)" in text
    assert "is met on 1 of 1 tables (some table met: 0.12" in text
    assert "| Cronus | 1/4 | 0.24 |" in text
    # The plain booster's trees test features for 500.
    assert "| Cronus, of a plain booster that buys all that its trees may test |  | 0.02 |" in text
    assert "Not run this time: mslr." in text
    # Without a miser that spends so little, both order by chance: 0.2.
    free = model(0.15, 0)
    dear = {**METHODS, MISER: [model(0.9, 20)], EARLY: [model(0.9, 60)], CRONUS: [free, model(0.8, 60)]}
    text = first_lines([results(dear)], [], None)
    assert "for 0.1 of its cost does not hold on some table" in text
    assert "for 0.25 of its cost does not hold on some table" in text
    assert "is met on 0 of 1 tables (some table missed: 0.50" in text
    assert "Early exit nowhere gets to 99 % of the plain booster's NDCG@5 for less" in text
    assert "nowhere below that of early exit" in text
    assert "nowhere below that of Cronus" in text
    assert "| Cronus | 1/4 | never |" in text


@pytest.fixture(scope="module")
def boosted():
    problem = yahoo(400, 0)
    booster = ranker(problem, 3).fit(problem.train.X, problem.train.grades, problem.train.qid)
    return problem.train, booster


def test_the_terms_of_cronus_sum_to_the_booster(boosted):
    documents, booster = boosted
    trees = trees_of(booster)
    assert trees.n_terms == booster.n_rounds_ == 3
    sums = booster.fitted_.prior[0] + 0.1 * trees.terms(documents.X).sum(axis=1)
    assert sums == pytest.approx(booster.predict(documents.X))


def test_cronus_buys_features_of_the_booster_alone(boosted):
    documents, booster = boosted
    tested = booster.fitted_.may_buy()
    cheap, nothing = (cronus_start(booster, documents, tradeoff, 3.5) for tradeoff in (1e-6, 1.0))
    assert 0 < cheap.fitted_.may_buy().sum() <= tested.sum()
    assert not (cheap.fitted_.may_buy() & ~tested).any()
    assert not nothing.fitted_.may_buy().any()


def test_replicas_count_as_weights(boosted):
    documents, booster = boosted
    first, counts = runs(documents)
    assert len(first) < len(documents.qid) == counts.sum()
    np.testing.assert_array_equal(documents.X, np.repeat(documents.X[first], counts, axis=0))
    model = cronus(booster, documents, 1e-4, 3.5)
    predicted = model.predict(documents.X)
    model.fit(documents.X, documents.grades, documents.qid)
    np.testing.assert_array_equal(model.predict(documents.X), predicted)


@pytest.mark.parametrize(("spend", "holds"), [(30.0, True), (50.0, False)])
def test_satellite_has_a_verdict(spend, holds):
    settings = [
        Setting("miser", "a", 5.0, 0.5, 5.0, 0.95),  # better on test rows alone
        Setting("miser", "b", spend, 0.9, spend, 0.9),
        Setting("SVM, everything", "c", 76.0, 0.9, 76.0, 0.9),
    ]
    found = SatelliteResults("rows", 76.0, settings, "abc")
    assert found.pick("miser").setting == "b"
    assert found.holds() is holds
    assert ("does not hold on satellite" in satellite_section(found)) is not holds
