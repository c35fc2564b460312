"""The Yahoo-shaped table has the shape it says."""

import numpy as np
from experiments.lib.yahoo_shaped import GRADES, LEVELS, yahoo_prices, yahoo_shaped


def test_it_is_a_function_of_its_seed():
    one, two, other = yahoo_shaped(500, 3), yahoo_shaped(500, 3), yahoo_shaped(500, 4)
    assert one.X.tobytes() == two.X.tobytes()
    assert np.array_equal(one.grades, two.grades)
    assert one.X.tobytes() != other.X.tobytes()


def test_its_shape():
    table = yahoo_shaped(3000)
    assert table.X.shape == (3000, 519)
    assert np.isfinite(table.X).all()
    assert np.abs(np.bincount(table.grades, minlength=5) / 3000 - GRADES).max() < 0.01
    sizes = np.bincount(table.qid)[:-1]  # the last query may be cut
    assert sizes.min() >= 5
    assert sizes.max() <= 40
    part = table.queries(3, 5)
    assert set(part.qid) == {3, 4}
    assert len(part.X) == sizes[3] + sizes[4]


def test_irrelevant_documents_come_tenfold():
    table, many = yahoo_shaped(800), yahoo_shaped(800, replicate=True)
    assert np.array_equal(np.bincount(many.grades), np.bincount(table.grades) * [10, 1, 1, 1, 1])
    assert np.array_equal(np.unique(many.X, axis=0), np.unique(table.X, axis=0))


def test_the_prices_have_the_levels_of_the_real_list(monkeypatch):
    monkeypatch.delenv("FARTHING_DATA", raising=False)
    prices, counts = np.unique(yahoo_prices().own, return_counts=True)
    assert dict(zip(prices.tolist(), counts.tolist(), strict=True)) == LEVELS


def test_some_cheap_and_some_dear_features_tell_the_grade():
    table = yahoo_shaped(4000)
    relations = np.abs([np.corrcoef(column, table.grades)[0, 1] for column in table.X.T])
    own = table.costs.own
    assert relations[own == 1].max() > 0.2
    assert relations[own >= 50].max() > 0.25
    assert (relations < 0.05).mean() > 0.3  # noise
