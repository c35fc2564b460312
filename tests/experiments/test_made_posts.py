"""Made posts are repeatable, and have the properties that their module states."""

import re
from collections import Counter

import numpy as np
from experiments.lib.made_posts import FIELDS, N_GROUPS, made_posts, world


def test_a_seed_gives_the_same_posts_and_another_seed_other_ones():
    once, again, other = made_posts(30, 3), made_posts(30, 3), made_posts(30, 4)
    assert once == again
    assert not {post.text for post in once} & {post.text for post in other}


def test_posts_are_as_long_as_those_of_20_newsgroups():
    posts = made_posts(400, 0)
    distinct = [len(set(re.findall(r"\b\w\w+\b", post.text.lower()))) for post in posts]
    assert 140 < np.mean(distinct) < 185  # 159 in scikit-learn's guide; the spread of a mean of 400 is 5


def test_words_are_zipfian_and_frequent_ones_short():
    known = world()
    counts = Counter(word for post in made_posts(300, 1) for word in post.body.split())
    top = [count for _, count in counts.most_common(200)]
    slope = np.polyfit(np.log(np.arange(11, 201)), np.log(top[10:]), 1)[0]
    assert -1.2 < slope < -0.7
    lengths = [np.mean([len(word) for word in part]) for part in np.split(known.words[:30_000], 3)]
    assert np.mean([len(word) for word in known.words[:100]]) < lengths[0] < lengths[2]


def test_words_of_a_group_tell_it_from_another_and_less_so_within_a_field():
    known = world()
    own = [set(places[:400].tolist()) for places, _ in known.topics]
    whole = [set(places.tolist()) for places, _ in known.topics]
    assert len(known.topics) == N_GROUPS == sum(FIELDS)
    assert len(whole[0] & whole[1]) > 400 > len(whole[0] & whole[5])
    assert len(own[0] & own[1]) < 200
