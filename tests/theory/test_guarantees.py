"""Guarantees hold as often as they say, on draws and on models; their p-values against definitions."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

import farthing
from farthing import Guarantee, certify
from farthing.base import Certificate
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.errors import FileError, GuaranteeError
from farthing.forests import BudgetTreeClassifier, PrunedForestClassifier
from farthing.learning.guarantees.ladders import by_spend
from farthing.learning.guarantees.p_values import betting, binomial
from farthing.store import codec

DISTRIBUTIONS = {
    "coins": lambda rng, n, mean: (rng.random(n) < mean).astype(float),
    "two prices": lambda rng, n, mean: np.where(rng.random(n) < (mean - 0.01) / 0.49, 0.5, 0.01),
    "spread": lambda rng, n, mean: rng.beta(4 * mean, 4 * (1 - mean), n),
}
# Of the tests on random draws below, which are all at once wrong with at most this probability.
SIGNIFICANCE = 1e-6


def most_failures(error, n_trials):
    """The number of failures that a valid p-value exceeds with probability `SIGNIFICANCE`."""
    return binom.ppf(1 - SIGNIFICANCE, n_trials, error)


@pytest.mark.parametrize("n_rows", [20, 300])
@pytest.mark.parametrize("level", [0.05, 0.3])
@pytest.mark.parametrize("name", list(DISTRIBUTIONS))
@pytest.mark.parametrize("error", [0.1, 0.01])
def test_a_mean_at_the_level_is_seldom_rejected(name, level, n_rows, error):
    rng = np.random.default_rng(0)
    trials = [betting(DISTRIBUTIONS[name](rng, n_rows, level), level, error) for _ in range(700)]
    assert sum(p <= error for p in trials) <= most_failures(error, len(trials))


def test_a_low_mean_is_rejected():
    rng = np.random.default_rng(1)
    for draw in DISTRIBUTIONS.values():
        assert betting(draw(rng, 500, 0.15), 0.3, 1e-4) <= 1e-4


def bettor(draws, level, error):
    """The p-value draw by draw, the bets by the normal distribution itself."""
    capital, best, seen = 1.0, 1.0, []
    squares = 4 * level * (1 - level)
    for place, draw in enumerate(draws):
        deviation = math.sqrt(squares / (4 + place) * (len(draws) - place))
        d = norm.ppf(error * capital)
        capital *= 1 + min(norm.pdf(d) / norm.cdf(d) / deviation, 0.999 / (1 - level)) * (level - draw)
        best = max(best, capital)
        if best >= 1 / error:
            return error
        seen.append(draw)
        squares += (draw - (4 * level + sum(seen)) / (4 + len(seen))) ** 2
    return 1 / best


@pytest.mark.parametrize("mean", [0.2, 0.25, 0.29])
def test_the_capital_is_that_of_the_bettor(mean):
    rng = np.random.default_rng(2)
    found = []
    for _ in range(20):
        draws = rng.beta(5 * mean, 5 * (1 - mean), 40)
        if draws.mean() <= 0.3:
            found.append(betting(draws, 0.3, 0.05))
            assert found[-1] == pytest.approx(bettor(draws, 0.3, 0.05))
    assert len(set(found)) > 1
    assert betting(np.append(np.zeros(40), np.ones(40)), 0.3, 0.05) == 1.0  # lucky at first only


def test_a_bet_for_several_draws_is_as_valid():
    rng = np.random.default_rng(7)
    trials = [betting((rng.random(4500) < 0.1).astype(float), 0.1) for _ in range(400)]
    assert 0.03 * 400 < sum(p <= 0.1 for p in trials) <= most_failures(0.1, 400)


@pytest.mark.parametrize(("n_rows", "share"), [(100, 0.6), (250, 0.8), (1000, 0.9)])
def test_coins_are_rejected_nearly_as_often_as_by_the_exact_test(n_rows, share):
    rng = np.random.default_rng(8)
    level = 0.15
    draws = (rng.random((400, n_rows)) < share * level).astype(float)
    betted = np.mean([betting(row, level) <= 0.1 for row in draws])
    exact = np.mean([binomial(row, level) <= 0.1 for row in draws])
    assert betted > exact - 0.15
    # Bets of a fixed size (Waudby-Smith and Ramdas) reject in about 0.6 as many.
    assert betted > 1.15 * np.mean([fixed_bets(row, level, 0.1) <= 0.1 for row in draws])


def fixed_bets(draws, level, error):
    """The p-value of bets that do not look at the capital."""
    counts = np.arange(1, len(draws) + 1)
    means = (level + np.cumsum(draws)) / (counts + 1)
    squares = level * (1 - level) + np.cumsum((draws - means) ** 2)
    variances = np.append(level * (1 - level), (squares / (counts + 1))[:-1])
    bets = np.minimum(np.sqrt(2 * math.log(1 / error) / (len(draws) * variances)), 0.9 / (1 - level))
    return math.exp(-np.cumsum(np.log1p(bets * (level - draws))).max())


def test_the_binomial_is_the_tail():
    draws = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    assert binomial(draws, 0.4) == pytest.approx(0.6**6 + 6 * 0.4 * 0.6**5)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(9000, 5))
    labels = (values @ [1.0, 0.8, 0.6, 0.4, 0.2] + rng.normal(size=9000) > 0).astype(int)
    model = MiserCascadeClassifier(
        [1, 2, 4, 8, 16], n_estimators=15, n_stages=5, max_depth=2, n_folds=2, random_state=0
    )
    return model.fit(values[:500], labels[:500]), values[500:]


@pytest.mark.parametrize("n_learned", [0, 500], ids=["nominal order", "order of learned rows"])
def test_the_budget_is_broken_as_seldom_as_stated(problem, n_learned):
    model, values = problem
    # Rows that are not drawn again below, as the test must not see what orders its variants.
    learned, values = (values[:n_learned] if n_learned else None), values[n_learned:]
    rng, budget, error = np.random.default_rng(4), 6.0, 0.2
    failures, spends = 0, []
    means = {}
    for _ in range(25):
        some = rng.choice(len(values), 250, replace=False)
        kept = certify(model, values[some], Guarantee(budget=budget, confidence=1 - error), learned=learned)
        nominal = kept.budget
        if nominal not in means:
            means[nominal] = kept.spend(values).mean()
        failures += means[nominal] > budget
        spends.append(means[nominal])
        assert kept.certificate_.spend <= budget
    assert failures <= binom.ppf(1 - 1e-4, 25, error)
    assert np.mean(spends) > 0.6 * budget  # not by spending nothing


class OutOfOrder(MiserCascadeClassifier):
    """A cascade whose nominal order puts a model without a limit before all others."""

    def guarantee_ladder(self, guarantee):
        found = super().guarantee_ladder(guarantee)
        return replace(found, rungs=(1e6, *found.rungs))


def test_learned_rows_put_variants_in_order(problem):
    model, values = problem
    spoilt = OutOfOrder(**model.get_params()).adopt(model.fitted_)
    guarantee, test, learned = Guarantee(budget=6.0), values[:500], values[500:1000]
    with pytest.raises(GuaranteeError, match="too few"):
        certify(spoilt, test, guarantee)
    ordered = certify(spoilt, test, guarantee, learned=learned)
    assert ordered.budget == certify(model, test, guarantee, learned=learned).budget
    ladder = by_spend(spoilt.guarantee_ladder(guarantee), learned)
    spends = [float(ladder.make(rung).spend(learned).mean()) for rung in ladder.rungs]
    assert spends == sorted(spends)
    assert ladder.rungs[0] < 1e6


def test_the_agreement_is_broken_as_seldom_as_stated(problem):
    model, values = problem
    rng, agreement, error = np.random.default_rng(5), 0.9, 0.2
    whole = model.at(None).predict(values)
    shares = {}
    failures, spends = 0, []
    for _ in range(25):
        some = rng.choice(len(values), 250, replace=False)
        kept = certify(model, values[some], Guarantee(agreement=agreement, confidence=1 - error))
        if kept.budget not in shares:
            decided = kept.decide(values)
            shares[kept.budget] = (decided.prediction == whole).mean(), decided.spent.mean()
        failures += shares[kept.budget][0] < agreement
        spends.append(shares[kept.budget][1])
        assert kept.certificate_.agreed >= agreement
    assert failures <= binom.ppf(1 - 1e-4, 25, error)
    assert np.mean(spends) < 0.9 * model.at(None).spend(values).mean()


def test_both_at_once(problem):
    model, values = problem
    kept = certify(model, values[:2000], Guarantee(budget=20.0, agreement=0.7))
    decided, whole = kept.decide(values), model.at(None).predict(values)
    assert decided.spent.mean() <= 20.0
    assert (decided.prediction == whole).mean() >= 0.7
    assert "mean spend at most 20" in str(kept.certificate_)
    with pytest.raises(GuaranteeError, match="both the budget of 2 and the agreement"):
        certify(model, values[:2000], Guarantee(budget=2.0, agreement=0.99))


def test_the_order_of_rows_does_not_matter_for_the_truth(problem):
    model, values = problem
    budget = 6.0
    spend = model.at(budget).spend(values[:250])
    # Rows sorted by spend: a bettor who saw the cheap ones first would be sure of any budget.
    ordered = values[:250][np.argsort(spend, kind="stable")]
    kept = certify(model, ordered, Guarantee(budget=budget))
    assert kept.spend(values).mean() <= 1.1 * budget


def test_a_budget_for_everything_needs_no_test(problem):
    model, values = problem
    kept = certify(model, values[:5], Guarantee(budget=100.0))
    assert kept.budget == 150.0
    assert kept.certificate_.n_rows == 5


def test_the_whole_model_agrees_with_itself_whatever_the_number_of_rows(problem):
    model, values = problem
    kept = certify(model, values[:3], Guarantee(agreement=0.99, confidence=0.99))
    assert kept.budget is None
    assert kept.certificate_.agreed == 1.0
    assert np.array_equal(kept.predict(values[:100]), model.at(None).predict(values[:100]))


def test_what_cannot_be_certified_is_an_error(problem):
    model, values = problem
    with pytest.raises(GuaranteeError, match="3 rows are too few"):
        certify(model, values[:3], Guarantee(budget=0.01, confidence=0.99))
    with pytest.raises(ValueError, match="the table has none"):
        certify(model, values[:0], Guarantee(budget=5.0))
    with pytest.raises(ValueError, match="holds on every row already"):
        certify(replace_kind(model), values[:50], Guarantee(budget=5.0))
    tree = BudgetTreeClassifier().fit(values[:50], values[:50, 0] > 0)
    with pytest.raises(TypeError, match="BudgetTreeClassifier cannot be moved"):
        certify(tree, values[:50], Guarantee(budget=5.0))
    regressor = MiserCascadeRegressor([1, 2, 4, 8, 16], n_estimators=2, n_stages=2, n_folds=1)
    with pytest.raises(ValueError, match="for classifiers"):
        certify(regressor.fit(values[:80], values[:80, 0]), values[:50], Guarantee(agreement=0.9))


def replace_kind(model):
    return model.variant({"budget_kind": "hard", "budget": 4.0}, model.model_at(4.0, "hard"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "needs a budget, an agreement, or both"),
        ({"budget": -1.0}, "zero or more"),
        ({"budget": math.inf}, "finite"),
        ({"agreement": 1.0}, "between 0 and 1"),
        ({"budget": 1.0, "confidence": 0.0}, "between 0 and 1"),
    ],
)
def test_wrong_guarantees_are_errors(given, message):
    with pytest.raises(ValueError, match=message):
        Guarantee(**given)


@pytest.mark.parametrize(
    "given", [{"budget": "60"}, {"budget": True}, {"agreement": "x"}, {"confidence": None}]
)
def test_what_is_no_number_is_named(given):
    (name,) = given
    with pytest.raises(TypeError, match=f"the {name} of a guarantee must be a number"):
        Guarantee(**{"budget": 3.0, **given})


def test_numbers_of_numpy_survive_a_file(problem, tmp_path):
    _, values = problem
    wanted = Guarantee(budget=np.int64(40), agreement=np.float32(0.7), confidence=np.float32(0.875))
    model = MiserCascadeClassifier(
        [1, 2, 4, 8, 16], guarantee=wanted, n_estimators=3, n_stages=2, n_folds=1, random_state=0
    )
    model.fit(values[:800], values[:800, 0] > 0).save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    assert loaded.certificate_ == model.certificate_
    assert loaded.guarantee == wanted
    assert wanted.confidence == 0.875


def test_a_guarantee_is_one(problem):
    model, values = problem
    with pytest.raises(TypeError, match="expected a Guarantee; got float"):
        certify(model, values[:100], 0.9)


def test_pruned_forests_have_guarantees_too(problem):
    _, values = problem
    labels = (values[:, 0] + values[:, 1] > 0).astype(int)
    forest = PrunedForestClassifier([1, 2, 4, 8, 16], n_estimators=5, random_state=0).fit(
        values[:400], labels[:400]
    )
    kept = certify(forest, values[400:1400], Guarantee(budget=5.0))
    assert kept.spend(values[1400:]).mean() <= 5.0


def test_certificates_are_stored_as_values():
    found = Certificate(5.0, None, 0.9, 100, "betting", 7, 4.2)
    plain, arrays = codec.encode({"certificate": found})
    assert codec.decode(plain, arrays)["certificate"] == found
    assert replace(found, agreed=0.5) != found
    plain["certificate"]["fields"]["n_rows"] = "many"
    with pytest.raises(FileError, match="n_rows of a certificate"):
        codec.decode(plain, arrays)


def test_a_fit_with_a_guarantee_keeps_rows_for_its_test(problem, tmp_path):
    _, values = problem
    labels = (values[:, 0] + values[:, 1] > 0).astype(int)
    settings = {"n_estimators": 10, "n_stages": 4, "max_depth": 2, "n_folds": 1, "random_state": 0}
    wanted = Guarantee(budget=5.0, holdout=0.4)
    model = MiserCascadeClassifier([1, 2, 4, 8, 16], guarantee=wanted, **settings)
    model.fit(values[:1000], labels[:1000])
    assert model.certificate_.n_rows == 400
    assert model.spend(values[1000:]).mean() <= 5.0
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing")
    assert loaded.certificate_ == model.certificate_
    assert loaded.guarantee == wanted
    assert model.at(3.0).certificate_ is None  # nothing was tested of another budget
    with pytest.raises(ValueError, match="say the same twice"):
        model.set_params(budget=4.0).fit(values[:1000], labels[:1000])
    with pytest.raises(ValueError, match="weights must be equal"):
        model.set_params(budget=None).fit(values[:100], labels[:100], sample_weight=np.arange(1, 101))
