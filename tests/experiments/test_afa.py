"""The board of active feature acquisition: its figures, who reads which rows, and what its page says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

pytest.importorskip("lightgbm", reason="the static selections of the board have models of LightGBM")

from experiments.boards import afa
from experiments.lib import afa_methods
from experiments.lib.afa_methods import METHODS, Method, Setup
from experiments.lib.afa_page import Board, first_lines, page
from experiments.lib.afa_pieces import FIGURES, Kept, Piece, Work, auroc, figures, measure, read, write
from experiments.lib.afa_static import RANKINGS, StaticSelection
from experiments.lib.afa_tables import MADE_UP, SIDE, TASKS, Rows, Source, Task, drawn, split_of

from farthing.boosting import GreedyMiserClassifier
from farthing.walks import Decisions, MaskedModel

POISON = 1e9


def miser(setup: Setup) -> Any:
    return GreedyMiserClassifier(costs=setup.costs, budget=setup.budget, n_estimators=5, **setup.settings)


def work(task: Task = MADE_UP, method: Method | None = None, **others: Any) -> Work:
    return Work("made up", task, "miser", method or Method(miser), **{"seed": 0, **others})


@pytest.mark.parametrize("n_classes", [2, 3])
def test_figures_are_those_of_scikit_learn(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    classes = np.array(["ash", "beech", "cedar"])[:n_classes]
    y = classes[rng.integers(0, n_classes, 50)]
    likely = rng.dirichlet(np.ones(n_classes), 50)
    guess = classes[likely.argmax(axis=1)]
    found = figures(y, Decisions(guess, likely, np.ones(50), np.ones((50, 1), dtype=bool)), classes)
    expected = (
        roc_auc_score(y == classes[1], likely[:, 1])
        if n_classes == 2
        else roc_auc_score(y, likely, multi_class="ovr", average="macro")
    )
    assert found == {
        "accuracy": accuracy_score(y, guess),
        "f1": f1_score(y, guess, average="macro"),
        "auroc": pytest.approx(expected, abs=1e-12),
    }


def test_a_class_without_rows_is_left_out_of_the_mean_area() -> None:
    likely = np.array([[0.7, 0.2, 0.1], [0.2, 0.7, 0.1], [0.1, 0.6, 0.3]])
    assert auroc(np.array([0, 1, 1]), likely, np.array([0, 1, 2])) == 1.0


def test_splits_share_the_test_rows_and_nothing_else() -> None:
    rows, is_test = MADE_UP.source()
    first, second = split_of(MADE_UP, 0), split_of(MADE_UP, 1)
    assert first.test is not None
    assert second.test is not None
    pd.testing.assert_frame_equal(first.test.X, second.test.X)
    assert not first.train.X.equals(second.train.X)
    assert len(first.test.y) == is_test.sum() == 60
    parts = pd.concat([first.train.X, first.validation.X, first.test.X])
    assert len(parts.drop_duplicates()) == len(parts) == len(rows.y)
    assert drawn("one", 400).sum() == 100
    assert not np.array_equal(drawn("one", 400), drawn("two", 400))


def test_the_last_images_validate_whatever_the_seed() -> None:
    order = pd.DataFrame({"a": np.arange(50.0)})
    task = replace(
        MADE_UP, source=lambda: Source(Rows(order, np.arange(50) % 2), np.arange(50) < 10), images=True
    )
    for seed in (0, 1):
        split = split_of(task, seed)
        assert split.validation.X["a"].tolist() == list(range(42, 50))
        assert split.train.X["a"].tolist() == list(range(10, 42))


def poisoned() -> Source:
    rows, is_test = MADE_UP.source()
    X = rows.X.copy()
    X.loc[is_test] = POISON
    return Source(Rows(X, np.where(is_test, 99, rows.y)), is_test)


class Recorder:
    """A method that notes all rows that it is given."""

    seen: list[pd.DataFrame]

    def __init__(self, setup: Setup) -> None:
        self.model = miser(setup)
        self.seen = []

    def fit(self, X: pd.DataFrame, y: Any) -> Recorder:
        assert 99 not in y
        self.seen.append(X)
        self.model.fit(X, y)
        self.classes_ = self.model.classes_
        return self

    def decide(self, X: pd.DataFrame, *, budget: Any = None) -> Decisions:
        self.seen.append(X)
        return self.model.decide(X, budget=budget)


def test_development_reads_no_test_row(tmp_path: Path) -> None:
    made: list[Recorder] = []

    def recorder(setup: Setup) -> Recorder:
        made.append(Recorder(setup))
        return made[-1]

    task, method = replace(MADE_UP, source=poisoned), Method(recorder)
    assert split_of(task, 100, development=True).test is None
    (piece,) = measure(Kept(tmp_path), work(task, method, seed=100, development=True), [2])
    assert all(float(X.max().max()) < POISON for X in made[0].seen)
    assert piece.n_rows == 36  # those that validate, of 180 that are not test rows
    clean = split_of(MADE_UP, 100).validation
    expected = made[0].model.decide(clean.X, budget=2)
    assert piece.accuracy == accuracy_score(clean.y, expected.prediction)
    # Outside development the same run does read them: the check above can fail.
    labelled = replace(
        task, source=lambda: Source(Rows(poisoned().rows.X, MADE_UP.source().rows.y), poisoned().is_test)
    )
    measure(Kept(tmp_path), work(labelled, method, seed=101), [2])
    assert float(made[1].seen[-1].max().max()) == POISON


def test_development_runs_other_seeds_and_leaves_the_page_alone(tmp_path: Path) -> None:
    afa.main(["--tiny", "--development", "--out", str(tmp_path), "--methods", "BudgetTree"])
    assert not (tmp_path / "afa.md").exists()
    found = tmp_path / "kept" / "development"
    assert "- No test row was read: figures are of the rows that validate." in (found / "afa.md").read_text()
    assert {piece.seed for piece in read(found / "afa.csv")} == set(afa.DEVELOPMENT_SEEDS)
    assert not set(afa.DEVELOPMENT_SEEDS) & set(afa.SEEDS)


def test_seeds_that_the_page_has_not_are_refused(tmp_path: Path) -> None:
    for arguments in (["--seeds", "7"], ["--development", "--seeds", "0"]):
        with pytest.raises(SystemExit, match="the seeds are"):
            afa.main(["--tiny", "--out", str(tmp_path), *arguments])
    assert not list(tmp_path.rglob("looks.txt"))


def test_a_piece_is_evaluated_once_and_a_second_look_is_counted(tmp_path: Path) -> None:
    arguments = ["--tiny", "--out", str(tmp_path), "--methods", "BudgetTree", "--seeds", "0"]
    afa.main(arguments)
    looks = tmp_path / "kept" / "looks.txt"
    assert len(looks.read_text().splitlines()) == 2
    afa.main(arguments)
    assert len(looks.read_text().splitlines()) == 2
    for file in (tmp_path / "kept").glob("piece_*.json"):
        file.unlink()
    afa.main(arguments)  # the figures are still in the table beside the page
    assert len(looks.read_text().splitlines()) == 2
    (tmp_path / "afa.csv").unlink()
    for file in (tmp_path / "kept").glob("piece_*.json"):
        file.unlink()
    afa.main(arguments)
    assert [piece.looks for piece in read(tmp_path / "afa.csv")] == [2, 2]
    assert "more often for 2 (made up, BudgetTree, seed 0, k = 1: 2" in (tmp_path / "afa.md").read_text()


def test_the_first_lines_name_what_is_missing_and_where_ours_is_not_first(tmp_path: Path) -> None:
    afa.main(["--tiny", "--out", str(tmp_path)])
    pieces = read(tmp_path / "afa.csv")
    methods = {name: METHODS[name] for name in afa.TINY_METHODS}
    other = replace(MADE_UP, budgets=(1,))

    def lines(kept: list[Piece]) -> str:
        return "\n".join(first_lines(Board(kept, {"made up": MADE_UP, "other": other}, methods, (0, 1))))

    whole = lines(pieces)
    assert "Not run at all: other." in whole
    assert "missing" not in whole
    fewer = lines([one for one in pieces if one.method != "BudgetTree" and (one.seed, one.k) != (1, 2)])
    assert "made up: not run: BudgetTree; missing 1 of 4 pieces each: GreedyMiser, static (mutual" in fewer
    static = "static, mutual information"
    raised = [replace(one, auroc=0.9 if one.method == static else 0.8) for one in pieces]
    ahead = "static (mutual information) (0.9000, by 0.1000 +- 0.0000)"
    assert f"ours is not first: GreedyMiser (0.8000) is behind {ahead}." in lines(raised)
    lowered = [replace(one, auroc=0.7 if one.method == static else 0.8) for one in pieces]
    assert "seeds 0 and 1: GreedyMiser (0.8000) is first, by 0.1000 +- 0.0000 before" in lines(lowered)
    uneven = [
        replace(one, auroc=one.auroc - 0.5 * (one.method == static and one.seed == 0)) for one in lowered
    ]
    assert "by 0.3500 +- 0.2500 before static (mutual information)." in lines(uneven)
    uneven = [
        replace(one, auroc=one.auroc + 0.15 * (one.method == static and one.seed == 0)) for one in lowered
    ]
    assert "by 0.0250 +- 0.0750 before static (mutual information), within the standard err" in lines(uneven)
    partial = [one for one in lowered if one.method != "GreedyMiser" or one.seed == 0]
    assert "seed 0: GreedyMiser (0.8000) is first" in lines(partial)
    longer = "seeds 0 and 1, without GreedyMiser: BudgetTree (0.8000) is first, by 0.1000 +- 0.0000 before"
    assert longer in lines(partial)
    text = page(Board(pieces[:-1], {"made up": MADE_UP}, methods, (0, 1)), "# Title\n\nText.")
    assert text.startswith("# Title\n\n- made up: missing 1 of 4 pieces each: ")


def test_published_figures_are_beside_our_best_piece(tmp_path: Path) -> None:
    task = replace(MADE_UP, published={1: 0.5, 2: 0.9}, budgets=(1, 2))
    (piece,) = measure(Kept(tmp_path), work(), [1])
    best = [replace(piece, k=k, accuracy=value, n_rows=10_000) for k, value in ((1, 0.6), (2, 0.88))]
    text = page(Board(best, {"made up": task}, {"miser": Method(miser)}, (0,)), "# Title\n\nText.")
    assert "below at k = 2 (-0.0200 +- 0.0032, miser); above at k = 1 (+0.1000 +- 0.0049, miser)" in text
    assert "| published, GDFS | 0.5 | 0.9 |" in text
    assert "| our best piece - published | +0.1000 +- 0.0049 | -0.0200 +- 0.0032 |" in text


def test_seconds_of_networks_are_those_of_one_fit_for_all_budgets(tmp_path: Path) -> None:
    (piece,) = measure(Kept(tmp_path), work(), [1])
    trees = [replace(piece, k=k, fit_seconds=1.0, choice_seconds=0.5) for k in (1, 2)]
    networks = [replace(piece, k=k, method="net", fit_seconds=30.0) for k in (1, 2)]
    methods = {"miser": Method(miser), "net": Method(miser, "networks", one_fit=True)}
    lines = first_lines(Board([*trees, *networks], {"made up": MADE_UP}, methods, (0,)))
    (line,) = [line for line in lines if line.startswith("Training seconds for all budgets")]
    assert line.endswith(": made up: net takes 10 times as long as miser.")


def test_networks_are_compared_with_trees_of_the_same_seeds(tmp_path: Path) -> None:
    (piece,) = measure(Kept(tmp_path), work(), [1])

    def pieces(method: str, seconds: float, auroc: float, seeds: tuple[int, ...]) -> list[Piece]:
        return [
            replace(piece, method=method, seed=seed, k=k, auroc=auroc, fit_seconds=seconds * (1 + seed))
            for seed in seeds
            for k in (1, 2)
        ]

    kept = [
        *pieces("best", 2.0, 0.9, (0, 1)),
        *pieces("fast", 1.0, 0.8, (0, 1)),
        *pieces("poor", 0.1, 0.6, (0, 1)),
        *pieces("net", 40.0, 0.7, (0,)),
    ]
    methods = {name: Method(miser) for name in ("best", "fast", "poor")}
    methods["net"] = Method(miser, "networks", one_fit=True)
    text = page(Board(kept, {"made up": MADE_UP}, methods, (0, 1)), "# Title\n\nText.")
    assert "| made up | net | 40 | best | 4 | 10 | fast | 2 | 20 |" in text  # both of seed 0 alone
    better = [replace(one, auroc=0.95) if one.method == "net" else one for one in kept]
    text = page(Board(better, {"made up": MADE_UP}, methods, (0, 1)), "# Title\n\nText.")
    assert "| made up | net | 40 | best | 4 | 10 | none |  |  |" in text


def test_settings_are_chosen_by_the_validation_rows(tmp_path: Path) -> None:
    settings = ({"learning_rate": 1e-9}, {"learning_rate": 0.3})
    (piece,) = measure(Kept(tmp_path), work(method=Method(miser, settings=settings)), [2])
    assert piece.settings == "learning_rate=0.3"
    assert piece.choice_seconds > 0


def test_settings_of_a_mean_budget_are_those_that_keep_it(tmp_path: Path) -> None:
    def capped(setup: Setup) -> Any:
        return miser(replace(setup, budget=setup.settings["own"], settings={}))

    method = Method(capped, kind="soft", settings=tuple({"own": own} for own in (4, 1, 2, 3)))
    (piece,) = measure(Kept(tmp_path), work(method=method), [2])
    assert (piece.settings, piece.features) == ("own=2", 2.0)  # three and four features are better, and over


def test_a_row_over_the_budget_is_an_error(tmp_path: Path) -> None:
    class Greedy(Recorder):
        def decide(self, X: pd.DataFrame, *, budget: Any = None) -> Decisions:
            return self.model.decide(X, budget=4)

    method = Method(lambda setup: Greedy(replace(setup, budget=4)))
    with pytest.raises(AssertionError, match="a row looks at 4 features, 2 are the budget"):
        measure(Kept(tmp_path), work(method=method), [2])


def test_pieces_survive_their_table(tmp_path: Path) -> None:
    pieces = measure(Kept(tmp_path), work(), [1])
    write(tmp_path / "pieces.csv", pieces)
    (found,) = read(tmp_path / "pieces.csv")
    for name in FIGURES:
        assert getattr(found, name) == pytest.approx(getattr(pieces[0], name), rel=1e-5)
    assert (found.key, found.looks, found.commit) == (pieces[0].key, 1, pieces[0].commit)


def test_blocks_of_four_pixels_cost_one() -> None:
    costs = TASKS["mnist_superpixels"].costs([f"p{place}" for place in range(SIDE * SIDE)])
    assert len(costs.group_names) == 196
    assert costs.total(["p0", "p1", f"p{SIDE}", f"p{SIDE + 1}"]) == 1.0
    assert costs.total(["p1", "p2"]) == 2.0
    assert TASKS["mnist"].costs(["p0", "p1"]).total(["p0", "p1"]) == 2.0


@pytest.mark.parametrize("ranking", RANKINGS)
def test_static_selections_find_the_informative_columns(ranking: str) -> None:
    split = split_of(MADE_UP, 0)
    model = StaticSelection(ranking, split.costs, (1, 3), 0).fit(split.train, split.validation)
    assert set(split.train.X.columns[model.columns[3]]) == {"a", "b", "c"}
    decided = model.decide(split.validation.X, budget=3)
    assert (decided.spent == 3).all()
    assert decided.acquired[0].tolist() == [True, True, True, False]
    assert np.mean(decided.prediction == split.validation.y) > 0.8


def test_a_fit_that_fails_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(setup: Setup) -> Any:
        raise ZeroDivisionError

    monkeypatch.setitem(METHODS, "GreedyMiser", Method(broken))
    wanted = ["--methods", "GreedyMiser", "BudgetTree", "--seeds", "0"]
    with pytest.raises(SystemExit, match="2 fits failed: made up, GreedyMiser, seed 0"):
        afa.main(["--tiny", "--out", str(tmp_path), *wanted])
    assert {piece.method for piece in read(tmp_path / "afa.csv")} == {"BudgetTree"}


def test_episodes_of_the_protocol_give_the_figures_of_the_piece(tmp_path: Path) -> None:
    (piece,) = measure(Kept(tmp_path), work(), [2])
    split = split_of(MADE_UP, 0)
    assert split.test is not None
    model = miser(Setup(split.costs, 2, (2,), 0)).fit(*split.train)
    masked, rows = MaskedModel(model), split.test.X.to_numpy()
    mask = np.zeros(rows.shape, dtype=bool)
    while (actions := masked.act(np.where(mask, rows, 0), mask)).any():
        going = np.flatnonzero(actions)
        mask[going, actions[going, 0] - 1] = True
    likely = masked.predict(np.where(mask, rows, 0), mask)
    assert piece.features == mask.sum(axis=1).mean()
    assert piece.accuracy == np.mean(model.classes_[likely.argmax(axis=1)] == split.test.y)
    assert piece.auroc == auroc(split.test.y, likely, model.classes_)


def test_networks_are_those_that_the_library_has(monkeypatch: pytest.MonkeyPatch) -> None:
    class FakeClassifier:
        def __init__(self, **settings: Any) -> None:
            self.settings = settings

    FakeClassifier.__module__ = "farthing.deep.fake"
    others = {"FakeClassifier": FakeClassifier, "GreedyMiserClassifier": GreedyMiserClassifier}
    monkeypatch.setattr(afa_methods, "registered", lambda: tuple(others))
    monkeypatch.setattr(afa_methods, "get", others.__getitem__)
    monkeypatch.setattr(afa_methods, "find_spec", lambda name: None if name == "torch" else name)
    assert afa_methods.networks() == {}
    monkeypatch.setattr(afa_methods, "find_spec", lambda name: name)
    ((name, method),) = afa_methods.networks().items()
    assert (name, method.family, method.kind, method.one_fit) == ("Fake", "networks", "hard", True)
    setup = Setup(MADE_UP.costs(["a"]), 10, (5, 10), 3)
    expected = {"costs": setup.costs, "budget": 10, "max_questions": 10, "random_state": 3}
    assert method.make(setup).settings == expected
