"""How far any gate can get on the docstrings of ``benchmarks/lazy_pipeline.py``.

``farthing reproduce lazy_limit`` writes docs/results/lazy_limit.md, some minutes of one core.

The blocks, the rows and the boosters are those of the benchmark. Rows are sent on to the dear block in the
order of the cheap model's confidence, the least sure first, as a gate by confidence sends them whose
threshold is set on the scored rows themselves. Beside it is the gate that knows which labels the dear block
puts right, and sends these first. For each share of rows the time is measured that both blocks and both
boosters take for just the rows that they see.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from benchmarks.lazy_pipeline import Job, fitted_booster, posts_job, text_job
from numpy.typing import NDArray
from sklearn.pipeline import FeatureUnion

from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.typing import Flags, Floats, Integers

NAME: Final = "lazy_limit"
SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
GOAL: Final = 5.0
ALLOWED: Final = 0.005


class Found(NamedTuple):
    """What gates do on the scored rows.

    Attributes
    ----------
    sure, knowing : ndarray of float64, shape (n_rows + 1,)
        Accuracy if 0, 1, ..., n_rows rows go on: those of least confidence, and those of the gate that knows.
    seconds : dict of float to float
        By the share of rows that go on, those of least confidence.
    """

    sure: Floats
    knowing: Floats
    seconds: dict[float, float]


def scores(quick: Flags, whole: Flags, order: Integers) -> Floats:
    """Return the accuracy if the first 0, 1, ..., n rows of an order go on, shape (n_rows + 1,).

    Parameters
    ----------
    quick, whole : ndarray of bool, shape (n_rows,)
        Whether a row is right by the cheap model, and by the one that it goes on to.
    order : ndarray of int64, shape (n_rows,)
    """
    gained = np.cumsum(whole[order].astype(np.int64) - quick[order].astype(np.int64))
    return np.asarray((quick.sum() + np.append(0, gained)) / len(quick))


def measure(job: Job) -> Found:
    """Fit the blocks and both boosters, and score and time gates."""
    union = FeatureUnion(job.blocks)
    learned = _dense(union.fit_transform(*job.train))
    (_, cheap), (_, dear) = union.transformer_list
    X, y = job.test
    n_cheap = cheap.transform(X[:1]).shape[1]
    quick, whole = (fitted_booster(part, job.train[1]) for part in (learned[:, :n_cheap], learned))

    def send(order: Integers) -> NDArray[np.str_]:
        """Predict all rows by the cheap model, and some again."""
        first = _dense(cheap.transform(X))
        labels = quick.classes_[quick.predict_proba(first).argmax(axis=1)]
        if len(order):
            rest = _dense(dear.transform([X[row] for row in order.tolist()]))
            labels[order] = whole.predict(np.concatenate([first[order], rest], axis=1))
        return labels  # type: ignore[no-any-return]

    alone, both = (send(order) == y for order in (np.arange(0), np.arange(len(y))))
    confidence = quick.predict_proba(_dense(cheap.transform(X))).max(axis=1)
    by_confidence = np.argsort(confidence, kind="stable")
    by_truth = np.argsort(alone.astype(np.int64) - both, kind="stable")
    seconds = {}
    for share in SHARES:
        begin = time.process_time()
        send(by_confidence[: round(share * len(y))])
        seconds[share] = time.process_time() - begin
    return Found(scores(alone, both, by_confidence), scores(alone, both, by_truth), seconds)


def page(found: Found, n_rows: int) -> str:
    """Return the page in Markdown."""
    whole = found.sure[-1]
    needed = int(np.argmax(found.sure >= whole - ALLOWED)) / n_rows
    knowing = int(np.argmax(found.knowing >= whole - ALLOWED)) / n_rows
    # Times are noisy, and interpolation wants an order.
    ratios = np.minimum.accumulate([found.seconds[1.0] / found.seconds[share] for share in SHARES])
    at = float(np.interp(needed, SHARES, ratios))
    allowed = float(np.interp(-GOAL, -ratios, SHARES))
    lost = 100 * (whole - found.sure[int(allowed * n_rows)])
    rows = [
        [
            f"{share:.0%}",
            f"{ratio:.2f}",
            f"{found.sure[round(share * n_rows)]:.4f}",
            f"{found.knowing[round(share * n_rows)]:.4f}",
        ]
        for share, ratio in zip(SHARES, ratios, strict=True)
    ]
    missed = (
        f"What does not hold: {GOAL:g} times as fast as the full pipeline, within half a point of its "
        "accuracy, is out of reach of a gate by confidence on these blocks, even if its threshold is set on "
        f"the scored rows themselves. Half a point is kept with {needed:.0%} of rows sent on, {at:.1f} times "
        f"as fast; {GOAL:g} times as fast are {allowed:.0%} of rows, {lost:.1f} points behind."
    )
    met = (
        f"Within half a point of the full pipeline a gate by confidence is {at:.1f} times as fast, with "
        f"{needed:.0%} of rows sent on."
    )
    text = [
        "# What a lazy pipeline can gain at most on docstrings",
        missed if at < GOAL else met,
        f"The cheap block alone is right on {found.sure[0]:.1%} of rows, all blocks on {whole:.1%}. A gate "
        f"that knew which labels the dear block puts right would send {knowing:.0%} of rows. Which ones "
        "these are the cheap model cannot tell by its confidence; policies that are learned could not on "
        "other packages, either. More speed needs a cheap block that says more, or one of a price "
        "in between.",
        markdown(
            ["rows sent on", "times as fast", "accuracy, least sure first", "accuracy, gate that knows"], rows
        ),
        f"{n_rows} rows. Times are of one processor, both blocks and both boosters included. Between the "
        "shares of the table they are interpolated.",
    ]
    return "\n\n".join(text)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and write the page."""
    args = parse(options(__doc__), NAME, arguments)
    job = posts_job((200, 10, 150)) if args.tiny else text_job()
    write_page(args.out, NAME, page(measure(job), len(job.test[1])), command(NAME))


def _dense(outputs: object) -> Floats:
    return np.asarray(outputs.toarray() if hasattr(outputs, "toarray") else outputs, dtype=np.float64)


if __name__ == "__main__":
    main()
