"""Text classification with a cheap and a dear block: most rows are decided by the cheap one.

Run it with ``python -m examples.text_blocks``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from farthing import LazyPipeline
from farthing.cascades import MiserCascadeClassifier

SIGNS = {"complaint": ("refund", "broken"), "praise": ("thanks", "great")}
FILLER = ("the", "order", "came", "on", "a", "day", "in", "week", "and", "it", "was", "box", "with", "tape")


def messages(n_rows: int, seed: int) -> tuple[list[str], NDArray[np.str_]]:
    """Return messages and what they are: four in five say it in a word, the others only by word order."""
    rng = np.random.default_rng(seed)
    kinds = rng.choice(list(SIGNS), size=n_rows)
    texts = []
    for kind in kinds:
        words = rng.choice(FILLER, size=20).tolist()
        if rng.random() < 0.8:
            words[int(rng.integers(20))] = str(rng.choice(SIGNS[kind]))
        pair = ["not", "good"] if kind == "complaint" else ["good", "not"]
        place = int(rng.integers(19))
        words[place : place + 2] = pair
        texts.append(" ".join(words))
    return texts, kinds


def fitted_pipeline() -> LazyPipeline:
    """Fit a pipeline that may spend 8 of the 21 that all blocks cost, on average."""
    blocks = [
        ("words", CountVectorizer(vocabulary=[word for signs in SIGNS.values() for word in signs])),
        ("pairs", make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), TruncatedSVD(20, random_state=0))),
    ]
    model = MiserCascadeClassifier(budget=8, n_estimators=20, random_state=0)
    return LazyPipeline(blocks, model, costs={"words": 1, "pairs": 20}).fit(*messages(600, seed=0))


def main() -> None:
    """Fit, score new messages, and say how often the dear block was computed."""
    pipeline = fitted_pipeline()
    texts, kinds = messages(400, seed=1)
    share = pipeline.computed(texts)[:, 1].mean()
    print(f"accuracy {pipeline.score(texts, kinds):.3f}, the dear block for {share:.0%} of the messages")


if __name__ == "__main__":
    main()
