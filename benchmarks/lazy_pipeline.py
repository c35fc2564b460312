"""Lazy pipelines: the time of a scoring job, against computing every block for every row.

Docstrings are those of installed packages, of 30 words or more and each once; the label is the package. A
file is in one part as a whole: 30 % of them to learn from, 20 % held out, 50 % to score. The cheap block
counts the 100 most frequent words of the training texts, the dear one is word and character n-grams and their
projection. Both were set before the first run on these texts.

Posts are made, with headers, quotes and signatures; the label is one of 20 newsgroups. The number of words,
the length, and what multinomial naive Bayes finds were set to what scikit-learn's guide says of the real 20
Newsgroups, before the first run of this benchmark on them; `experiments/lib/made_posts.py` says where each
property comes from, and which are assumed. There are 3,000 posts to learn from, 1,500 held out, 2,500 to
score; threads are in one part as a whole. The blocks are those of a text pipeline on which Willump was
measured: TF-IDF of 10,000 words, and of 50,000 n-grams of 2 to 6 characters, each projected to 60 columns,
since features are dense here.

On covtype the cheap block is the table itself, the dear one the share of each class among the nearest of
8,000 training rows, by brute force.

`LazyPipeline` is a `DAGClassifier`, whose states are sets of blocks, with trees of the rivals' size, at the
prices that `CostSheet.measure` finds, and at the least budget whose accuracy on held-out rows is within 0.25
points of its best (`LazyPipeline.cheapest`), which is scored on rows that did not choose it. The rivals see
the same fitted blocks: the full pipeline computes all of them and asks histogram boosting of scikit-learn;
the hand-made cascade has one such model on the cheap block and one on all, and sends the rows on whose cheap
probability is below the threshold that loses 0.25 points on the same held-out rows. The gates by confidence
of our model, their thresholds, and the choice among all points of its path, were found on docstrings of
other packages (polars, sqlalchemy, mlflow, pip, mypy). There, policies that are learned, by linear models or
by trees, were at most 0.2 points better than such a threshold at the same share of rows that go on, and
mostly worse. The method and the regularisation of leaves were chosen on rows of covtype that are not used
here: a `MiserCascadeClassifier` was 0.2 to 0.9 points less accurate with 2,500 rows to learn from, and
without regularisation scikit-learn's boosters lost 4 to 6 points with 8,000. How far any gate by confidence
can get on the docstrings is on the page of ``farthing reproduce lazy_limit``.

Lines on accuracy give 100 plus the points that we are ahead, over 100, so that 0.995 is half a point behind.
Overhead is that of rounds of a linear model, which needs every block, over the same model on blocks computed
at once. All times are of one processor.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from experiments.lib.made_posts import made_posts
from experiments.lib.pages import ROOT, commit
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from benchmarks.measure import Line, race
from farthing import LazyPipeline
from farthing.cascades import DAGClassifier
from farthing.datasets import load_table
from farthing.forests import from_model
from farthing.sources.lazy_rounds import predict_in_rounds

HOW: Final = (
    "On lines of time against the full pipeline and the cascade, the ratio is the rival's median over ours: "
    "above 1 we are faster. Those of overhead are medians over turns in alternation, ours over the rival's: "
    "below 1 would be in our favour."
)
PACKAGES: Final = ("numpy", "scipy", "sklearn", "pandas", "matplotlib")
# Of all boosters; those of scikit-learn by default, but for the regularisation.
_TREES: Final[dict[str, Any]] = {
    "learning_rate": 0.1,
    "max_depth": None,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 20,
    "l2_regularization": 1.0,
}
_ROUNDS: Final = 60
_MARGIN: Final = 0.0025
_GOALS: Final = {"full pipeline": 5.0, "hand-made cascade": 1.0}


@dataclass(frozen=True)
class Job:
    """Rows to learn from, to choose settings on, and to score."""

    name: str
    blocks: list[tuple[str, Any]]
    train: tuple[Any, NDArray[Any]]
    held_out: tuple[Any, NDArray[Any]]
    test: tuple[Any, NDArray[Any]]


def docstrings(package: str) -> list[tuple[str, list[str]]]:
    """Return the docstrings of 30 words or more of an installed package, each once, file by file."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    root = Path(next(iter(spec.submodule_search_locations or ())))
    files = [path for path in sorted(root.rglob("*.py")) if "tests" not in path.parts]
    seen: set[str] = set()
    found = []
    for path in files:
        try:
            with warnings.catch_warnings():  # of escapes in their source
                warnings.simplefilter("ignore")
                nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        except (SyntaxError, UnicodeDecodeError):
            continue
        kinds = (ast.FunctionDef, ast.ClassDef, ast.Module)
        texts = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, kinds)]
        kept = [text for text in dict.fromkeys(texts) if len(text.split()) >= 30 and text not in seen]
        seen.update(kept)
        if kept:
            found.append((str(path.relative_to(root)), kept))
    return found


def text_job(shares: tuple[float, float, float] = (0.3, 0.2, 0.5)) -> Job:
    """Return the job on docstrings: which package is a text of? A file is in one part as a whole."""
    rng = np.random.default_rng(0)
    parts: list[tuple[list[str], list[str]]] = [([], []), ([], []), ([], [])]
    for package in PACKAGES:
        for _, texts in docstrings(package):
            rows, labels = parts[int(rng.choice(3, p=shares))]
            rows += texts
            labels += [package] * len(texts)
    pairs = make_union(
        TfidfVectorizer(ngram_range=(1, 3), max_features=20_000),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), max_features=20_000),
    )
    blocks = [
        ("words", CountVectorizer(max_features=100)),
        ("pairs", projected(pairs)),
    ]
    train, held_out, test = ((texts, np.array(labels)) for texts, labels in parts)
    return Job("docstrings", blocks, train, held_out, test)


class Kept(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer that keeps what its fit gave for the training rows."""

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any) -> Kept:
        """Fit."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Fit a copy, and keep its outputs."""
        self.fitted_ = clone(self.transformer)
        self.outputs_ = _dense(self.fitted_.fit_transform(X, y))
        return self.outputs_

    def transform(self, X: Any) -> Any:
        """Return the outputs of other rows."""
        return self.fitted_.transform(X)


def posts_job(shape: tuple[int, int, int] = (3000, 1500, 2500)) -> Job:
    """Return the job on made posts: which newsgroup is a post of? Threads are in one part as a whole."""
    blocks = [
        ("words", projected(TfidfVectorizer(max_features=10_000))),
        ("characters", projected(TfidfVectorizer(analyzer="char", ngram_range=(2, 6), max_features=50_000))),
    ]
    found = [made_posts(n_posts, seed) for seed, n_posts in enumerate(shape, start=10)]
    train, held_out, test = (
        ([post.text for post in posts], np.array([post.group for post in posts])) for posts in found
    )
    return Job("posts", blocks, train, held_out, test)


def projected(vectorizer: Any) -> Any:
    """Return sparse outputs as 60 columns."""
    return make_pipeline(vectorizer, TruncatedSVD(60, random_state=0))


class NeighborShares(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The share of each class among the nearest training rows; of a training row, among the others."""

    def fit(self, X: Any, y: Any) -> NeighborShares:
        """Keep the rows."""
        self.scaler_ = StandardScaler().fit(X)
        self.search_ = KNeighborsClassifier(11, algorithm="brute").fit(self.scaler_.transform(X), y)
        self.y_ = np.asarray(y)
        return self

    def transform(self, X: Any) -> Any:
        """Return the shares, shape (n_rows, n_classes)."""
        return self.search_.predict_proba(self.scaler_.transform(X))

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Fit, and leave each row out of its own neighbours."""
        places = self.fit(X, y).search_.kneighbors(self.scaler_.transform(X), 12, return_distance=False)[
            :, 1:
        ]
        return (self.y_[places][:, :, np.newaxis] == self.search_.classes_).mean(axis=1)


def covtype_job(n_train: int = 8000, n_held_out: int = 4000, n_test: int = 12_000) -> Job:
    """Return the job on covtype."""
    table = load_table("covtype")
    rows = np.random.default_rng(0).permutation(len(table.y))
    X, y = np.asarray(table.X, dtype=np.float64), np.asarray(table.y)
    ends = np.cumsum([0, n_train, n_held_out, n_test]).tolist()
    parts = [(X[rows[begin:end]], y[rows[begin:end]]) for begin, end in pairwise(ends)]
    blocks = [("table", FunctionTransformer()), ("neighbors", NeighborShares())]
    return Job("covtype", blocks, parts[0], parts[1], parts[2])


def fitted_pipeline(job: Job) -> LazyPipeline:
    """Fit the lazy pipeline, and choose the least budget that is good enough on the held-out rows."""
    model = DAGClassifier(n_estimators=_ROUNDS, confidence_gates=True, random_state=0, **_TREES)
    blocks = [(name, Kept(transformer)) for name, transformer in job.blocks]
    return LazyPipeline(blocks, model).fit(*job.train).cheapest(*job.held_out, within=_MARGIN)


@dataclass(frozen=True)
class Rivals:
    """The full pipeline and the hand-made cascade, on the same fitted blocks."""

    union: FeatureUnion
    cheap: Any
    n_cheap: int
    boosted: HistGradientBoostingClassifier
    boosted_cheap: HistGradientBoostingClassifier
    threshold: float

    def full(self, X: Any) -> NDArray[Any]:
        """Predict with all blocks for all rows."""
        return self.boosted.predict(_dense(self.union.transform(X)))  # type: ignore[no-any-return]

    def cascade(self, X: Any) -> NDArray[Any]:
        """Predict with the cheap block, and again with all blocks where that is not sure."""
        cheap = _dense(self.cheap.transform(X))
        likely = self.boosted_cheap.predict_proba(cheap)
        labels = self.boosted_cheap.classes_[likely.argmax(axis=1)]
        rows = np.flatnonzero(likely.max(axis=1) < self.threshold)
        if len(rows):
            rest = [X[row] for row in rows.tolist()] if isinstance(X, list) else X[rows]
            dear = self.union.transformer_list[1][1].transform(rest)
            labels[rows] = self.boosted.predict(np.concatenate([cheap[rows], _dense(dear)], axis=1))
        return labels  # type: ignore[no-any-return]


def fitted_rivals(job: Job, pipeline: LazyPipeline, table: NDArray[np.float64]) -> Rivals:
    """Fit the rivals on the features that the pipeline was fitted on."""
    union = FeatureUnion([(block.name, block.transformer) for block in pipeline.blocks_])
    n_cheap = len(pipeline.blocks_[0].features)
    y = job.train[1]
    boosted, cheap = (fitted_booster(part, y) for part in (table, table[:, :n_cheap]))
    held_out, truth = pipeline.features(job.held_out[0]), job.held_out[1]
    likely = cheap.predict_proba(held_out[:, :n_cheap])
    quick, whole = cheap.classes_[likely.argmax(axis=1)], boosted.predict(held_out)
    best, chosen = accuracy_score(truth, whole), 1.01
    for threshold in np.linspace(1.0, 0.3, 71).tolist():
        labels = np.where(likely.max(axis=1) < threshold, whole, quick)
        if accuracy_score(truth, labels) >= best - _MARGIN:
            chosen = threshold
    return Rivals(union, pipeline.blocks_[0].transformer, n_cheap, boosted, cheap, chosen)


def fitted_booster(table: NDArray[np.float64], y: NDArray[Any]) -> HistGradientBoostingClassifier:
    """Fit the booster of the rivals."""
    return HistGradientBoostingClassifier(max_iter=_ROUNDS, random_state=0, **_TREES).fit(table, y)


def training_table(pipeline: LazyPipeline) -> NDArray[np.float64]:
    """Return the features of the training rows as the fit of the blocks gave them."""
    return np.concatenate([block.transformer.outputs_ for block in pipeline.blocks_], axis=1)


def lines_of(job: Job) -> list[Line]:
    """Compare on one job."""
    pipeline = fitted_pipeline(job)
    learned = training_table(pipeline)
    rivals = fitted_rivals(job, pipeline, learned)
    X, y = job.test
    ours = accuracy_score(y, pipeline.predict(X))
    share = pipeline.computed(X)[:, 1].mean()
    sides: list[tuple[str, Callable[[Any], NDArray[Any]]]] = [
        ("full pipeline", rivals.full),
        ("hand-made cascade", rivals.cascade),
    ]
    lines = []
    for rival, predict in sides:
        theirs = accuracy_score(y, predict(X))
        line = race(
            f"{job.name}: time, dear block for {share:.0%} of rows",
            rival,
            lambda: pipeline.predict(X),
            lambda predict=predict: predict(X),  # type: ignore[misc]
            warm_up=False,  # both have run
            clock=time.process_time,
        )
        ratio = line.theirs / line.ours
        lines.append(Line(line.what, rival, line.ours, line.theirs, ratio, _GOALS[rival], higher=True))
        lines.append(
            Line(f"{job.name}: accuracy", rival, ours, theirs, 1 + ours - theirs, 0.995, unit="", higher=True)
        )
    return [*lines, overhead(job, pipeline, learned)]


def overhead(job: Job, pipeline: LazyPipeline, table: NDArray[np.float64]) -> Line:
    """Compare rounds of a linear model, for which every row needs every block, with blocks at once."""
    X, n_rows, blocks = job.test[0], len(job.test[1]), pipeline.blocks_
    model = from_model(LogisticRegression(max_iter=50).fit(table, job.train[1])).fitted_
    assert predict_in_rounds(model, blocks, X, n_rows).blocks.all()
    return race(
        f"{job.name}: overhead, all blocks needed",
        "the same model, blocks at once",
        lambda: predict_in_rounds(model, blocks, X, n_rows),
        lambda: model.outputs(pipeline.features(X)),
        goal=1.1,
        warm_up=False,
        clock=time.process_time,
    )


JOBS: Final[dict[str, Callable[[], Job]]] = {
    "docstrings": text_job,
    "posts": posts_job,
    "covtype": covtype_job,
}


def kept_lines(name: str) -> list[Line]:
    """Compare on one job, unless that is done at this commit; so that jobs can be run one by one."""
    now = commit()
    done = ROOT / "build" / "lazy_pipeline" / f"{now}_{name}.json"
    # With changes nobody knows what a file was made by.
    if not done.exists() or now.endswith("+changes"):
        lines = lines_of(JOBS[name]())
        done.parent.mkdir(parents=True, exist_ok=True)
        done.write_text(json.dumps([asdict(line) for line in lines]))
    return [Line(**fields) for fields in json.loads(done.read_text())]


def run(threads: int) -> list[Line]:  # noqa: ARG001 - both sides have the threads of the environment
    """Measure everything."""
    return [line for name in JOBS for line in kept_lines(name)]


def _dense(outputs: Any) -> NDArray[np.float64]:
    return np.asarray(outputs.toarray() if hasattr(outputs, "toarray") else outputs, dtype=np.float64)
