"""The ranking metrics against their definitions, averaged over all orders of tied documents."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.metrics import (
    ndcg,
    ndcg_by_query,
    precision,
    precision_by_query,
    prefix_precision,
    prefix_precision_by_query,
)


def orders(grades, scores):
    """Yield the grades in every order that the scores allow."""
    levels = [
        [g for g, s in zip(grades, scores, strict=True) if s == level] for level in sorted(set(scores))[::-1]
    ]
    for parts in itertools.product(*(itertools.permutations(level) for level in levels)):
        yield [grade for part in parts for grade in part]


def naive_ndcg(grades, scores, k):
    def gain(order):
        return sum((2**g - 1) / math.log2(j + 2) for j, g in enumerate(order[:k]))

    best = gain(sorted(grades, reverse=True))
    return np.mean([gain(order) / best if best else 1.0 for order in orders(grades, scores)])


def naive_precision(grades, scores, k):
    def run(order):
        wrong = [j for j, grade in enumerate(order[:k]) if grade == 0]
        return wrong[0] / k if wrong else 1.0

    return np.mean([run(order) for order in orders(grades, scores)])


def naive_plain_precision(grades, scores, k):
    return np.mean([sum(grade > 0 for grade in order[:k]) / k for order in orders(grades, scores)])


documents = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=8
)


@given(rows=documents, k=st.integers(1, 6))
def test_the_metrics_are_their_definitions(rows, k):
    qid, grades, scores = (np.array(column) for column in zip(*rows, strict=True))
    pairs = (
        (ndcg_by_query, naive_ndcg),
        (prefix_precision_by_query, naive_precision),
        (precision_by_query, naive_plain_precision),
    )
    for fast, naive in pairs:
        expected = [naive(grades[qid == q].tolist(), scores[qid == q].tolist(), k) for q in np.unique(qid)]
        assert np.allclose(fast(grades, scores, qid=qid, k=k), expected, rtol=0, atol=1e-12)


@given(rows=documents, seed=st.integers(0, 9))
def test_the_order_of_the_rows_does_not_matter(rows, seed):
    qid, grades, scores = (np.array(column) for column in zip(*rows, strict=True))
    shuffled = np.random.default_rng(seed).permutation(len(qid))
    for metric in (ndcg, precision, prefix_precision):
        once = metric(grades, scores, qid=qid)
        again = metric(grades[shuffled], scores[shuffled], qid=qid[shuffled])
        assert once == pytest.approx(again, abs=1e-12)


def test_values_of_the_thesis():
    # All five relevant: 1. The first unrelated document at position j of 1 to 5: (j - 1) / 5.
    for j in range(1, 6):
        grades = [1] * (j - 1) + [0] + [1] * 5
        assert prefix_precision(grades, -np.arange(len(grades))) == pytest.approx((j - 1) / 5)
    assert prefix_precision([3, 1, 1, 2, 1, 0], -np.arange(6)) == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"grades": [1, 2], "scores": [1.0]}, "one number per document"),
        ({"grades": [], "scores": []}, "at least one"),
        ({"grades": [-1], "scores": [1.0]}, "zero or more"),
        ({"grades": [1, 0], "scores": [1.0, np.nan]}, "row 1"),
        ({"grades": [1], "scores": [1.0], "k": 0}, "k must be"),
        ({"grades": [1], "scores": [1.0], "qid": [1, 2]}, "one query per row"),
    ],
)
def test_what_is_no_ranking_is_refused(arguments, message):
    for metric in (ndcg, precision, prefix_precision):
        with pytest.raises(ValueError, match=message):
            metric(**arguments)
