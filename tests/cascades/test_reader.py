"""The reader of a branching cascade: exact sums, what it learns, and what a file of it must hold."""

from fractions import Fraction

import numpy as np
import pytest

from farthing import load
from farthing.cascades import BranchingCascadeClassifier, NetworkReader
from farthing.cascades.learner import Learner
from farthing.cascades.network import Network
from farthing.cascades.reading import Reading
from farthing.errors import FileError
from farthing.table import Schema

READER = NetworkReader(n_units=32, n_steps=300, learning_rate=0.01)


def stripes(n_rows, seed):
    """Draw rows of four classes: the signs of two sums of three columns each; the last two are noise."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 8))
    return X, (X[:, :3].sum(axis=1) > 0) + 2 * (X[:, 3:6].sum(axis=1) > 0)


@pytest.fixture(scope="module")
def tables():
    return stripes(1200, 0), stripes(600, 1)


def cascade(reader, **params):
    return BranchingCascadeClassifier(
        budget=6, n_branches=3, n_trees=8, max_depth=2, random_state=0, reader=reader, **params
    )


def test_sums_are_exact_so_that_a_row_alone_has_the_bits_it_has_among_others():
    rng = np.random.default_rng(0)
    network = Network.of(
        [rng.normal(size=shape) for shape in ((6, 5), (5, 4), (4, 3))],
        [rng.normal(size=n) for n in (5, 4, 3)],
    )
    inputs = np.rint(rng.normal(size=(40, 6)) * 256) / 256
    outputs = network.outputs(inputs)
    assert all((network.outputs(inputs[[row]])[0] == outputs[row]).all() for row in range(40))
    heard = [Fraction(value) for value in inputs[0]]
    for layer, (weights, biases) in enumerate(zip(network.weights, network.biases, strict=True)):
        if layer:  # what is above zero, to the nearest of a grid
            heard = [Fraction(round(max(value, 0) * 4096), 4096) for value in heard]
        heard = [
            sum((h * Fraction(w) for h, w in zip(heard, column, strict=True)), Fraction(bias))
            for column, bias in zip(weights.T, biases, strict=True)
        ]
    assert [Fraction(value) for value in outputs[0]] == heard


def test_the_first_step_of_a_learner_goes_against_the_differences_of_its_loss():
    inputs = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)

    def loss(moved=None):
        learner = Learner([3, 4, 2], np.random.default_rng(2))
        if moved is not None:
            learner._params[moved[0]].flat[moved[1]] += moved[2]
        return float((learner.outputs(inputs).astype(np.float64) ** 2).sum() / 2)

    learner, before = (
        Learner([3, 4, 2], np.random.default_rng(2)),
        Learner([3, 4, 2], np.random.default_rng(2)),
    )
    learner.step(learner.outputs(inputs), rate=0.125)
    for number, (now, then) in enumerate(zip(learner._params, before._params, strict=True)):
        for place in range(now.size):
            slope = (loss((number, place, 1e-2)) - loss((number, place, -1e-2))) / 2e-2
            if abs(slope) > 1e-3:
                assert now.flat[place] - then.flat[place] == pytest.approx(-0.125 * np.sign(slope), rel=1e-3)


def test_numbers_categories_and_missing_values_have_their_inputs_and_the_unknown_has_none():
    X = np.array([[1.0, "ash"], [3.0, "oak"], [3.0, None], [1.0, "fir"]], dtype=object)
    schema = Schema.learn(X)
    values = schema.encode(X).values
    reading = Reading.learn(values, np.ones(4), schema, np.arange(2))
    known = np.array([[True, False], [True, True], [False, True], [False, False]])
    assert reading.inputs(values, known).tolist() == [
        [-1, 0, 0, 0, 1, 0],
        [1, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, -1],
        [0, 0, 0, 0, 0, 0],
    ]
    far = np.array([[1e300, 0.0], [-1e300, 0.0]])
    assert reading.inputs(far, known[:2])[:, 0].tolist() == [4, -4]


def test_levels_part_the_different_values_evenly():
    rows = [[0.0, 7.0, "ash"], [4.0, 7.0, "oak"], [9.0, 7.0, "oak"], [np.nan, 7.0, "ash"]]
    X = np.array(rows, dtype=object)
    schema = Schema.learn(X)
    values = schema.encode(X).values
    reading = Reading.learn(values, np.ones(4), schema, np.arange(3), n_levels=2)
    known = np.ones((4, 3), dtype=np.bool_)
    known[1, 1] = False
    assert reading.inputs(values, known).tolist() == [
        [-1, -1, -1, -1, 1, 0, 1, 1, 1],
        [1, -1, 0, 0, 0, 1, 1, 0, 1],
        [1, 1, -1, -1, 0, 1, 1, 1, 1],
        [0, 0, -1, -1, 1, 0, -1, 1, 1],
    ]
    between = np.array([[2.0, 8.0, 0.0], [6.5, 6.0, 0.0], [-3.0, 7.0, 0.0], [99.0, 7.0, 0.0]])
    read = reading.inputs(between, np.ones((4, 3), dtype=np.bool_))
    assert read[:, :4].tolist() == [[0, -1, 1, 1], [1, 0, -1, -1], [-1, -1, -1, -1], [1, 1, -1, -1]]


def test_networks_of_branches_read_what_their_branch_has_bought(tables):
    (X, y), (fresh, truth) = tables
    plan = NetworkReader(
        n_units=32, n_steps=200, learning_rate=0.01, by_branch=True, outside=0.7, learn_rows=900, n_levels=3
    )
    alone, read = cascade(None).fit(X, y), cascade(plan).fit(X, y)
    assert len(read.reader_.parts) == len(read.ends_)
    for branch, part in enumerate(read.reader_.parts):
        assert part.reading.columns.tolist() == sorted(read._columns(branch).tolist())
    assert (read.acquired(fresh) == alone.acquired(fresh)).all()
    assert np.mean(read.predict(fresh) == truth) > np.mean(alone.predict(fresh) == truth) + 0.05
    one_by_one = [read.predict_proba(row[np.newaxis])[0] for row in fresh[:20]]
    assert np.array_equal(read.predict_proba(fresh[:20]), one_by_one)


def test_a_reader_adds_to_shallow_boosters_what_sums_have_to_say(tables):
    (X, y), (fresh, truth) = tables
    alone, read = cascade(None).fit(X, y), cascade(READER).fit(X, y)
    assert (read.acquired(fresh) == alone.acquired(fresh)).all()
    assert read.spend(fresh).max() <= 6
    assert np.mean(read.predict(fresh) == truth) > np.mean(alone.predict(fresh) == truth) + 0.05
    only = cascade(NetworkReader(1.0, n_units=32, n_steps=300, learning_rate=0.01, dropout=0.1)).fit(X, y)
    assert np.mean(only.predict(fresh) == truth) > 0.8


def test_where_nothing_is_bought_nothing_is_read(tables):
    (X, y), (fresh, _) = tables
    model = cascade(READER).set_params(budget=0).fit(X, y)
    assert model.reader_ is None
    assert not model.acquired(fresh).any()


def test_the_same_seed_gives_the_same_reader_and_another_seed_another(tables):
    (X, y), (fresh, _) = tables
    short = NetworkReader(n_units=8, n_steps=5)
    first, again = (cascade(short).fit(X, y).predict_proba(fresh) for _ in range(2))
    assert (first == again).all()
    other = cascade(short).set_params(random_state=1).fit(X, y).predict_proba(fresh)
    assert (first != other).any()


@pytest.mark.parametrize("more", [{}, {"by_branch": True, "n_levels": 4}])
def test_a_file_has_the_reader_and_is_refused_if_it_was_changed(tables, tmp_path, more):
    (X, y), (fresh, _) = tables
    model = cascade(NetworkReader(n_units=8, n_steps=5, n_networks=2, **more)).fit(X, y)
    model.save(tmp_path / "model.farthing")
    loaded = load(tmp_path / "model.farthing")
    assert (loaded.predict_proba(fresh) == model.predict_proba(fresh)).all()
    assert loaded.reader.get_params() == model.reader.get_params()
    model.reader_.parts[0].networks[0].biases[0][0] += 1e-9
    model.save(tmp_path / "model.farthing")
    with pytest.raises(FileError, match="grid"):
        load(tmp_path / "model.farthing")


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"share": 0.0}, "share must be above 0"),
        ({"n_units": 513}, "n_units must be an integer from 1 to 512"),
        ({"n_steps": 0}, "n_steps must be an integer"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1"),
        ({"outside": -0.1}, "outside must lie between 0 and 1"),
        ({"n_levels": 0}, "n_levels must be an integer from 1 to 256"),
        ({"learn_rows": 0}, "learn_rows must be an integer"),
        ({"by_branch": 1}, "by_branch must be True or False"),
    ],
)
def test_bad_parameters_are_named(tables, params, message):
    with pytest.raises(ValueError, match=message):
        cascade(NetworkReader(**params)).fit(*tables[0])
