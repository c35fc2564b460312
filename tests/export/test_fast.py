"""All forms of the second copy of trees decide rows at hand as walks do: jumps, and sets of leaves."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.lib.compilers import builds_with, compiler_named
from experiments.lib.export_replays import BITS_32, STRICT
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from tests.export.test_stack import deepest
from tests.export.walking import MULTILIB, c_walk, compile_c

from farthing.costs import CostSheet, Group
from farthing.export import FLAGS, Program, export_model, leaf_sets
from farthing.export import tables as tables_module
from farthing.export.fast_forms import fast_form, mask_bytes
from farthing.export.leaf_lookups import MISSED_JUMP, LeafLookups
from farthing.export.leaf_sets import ThresholdBlocks
from farthing.export.tables import Tables
from farthing.export.tree_paths import TreePaths, for_doubles_of
from farthing.forests import from_model

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
# Sets of leaves for every threshold, the same for blocks of thresholds, and jumps.
FORMS = ("masks", "blocks", "jumps")
_TABLE = np.random.default_rng(0)
_X = np.round(_TABLE.normal(size=(400, 40)), 1)
_Y = _X[:, 0] * _X[:, 1] + _X[:, 2] + _X[:, 35:].sum(axis=1)


def take(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all exports have one form."""
    monkeypatch.setattr(tables_module, "fast_form", lambda _table: "jumps" if form == "jumps" else "masks")
    monkeypatch.setattr(leaf_sets, "MOST_BYTES", 4000 if form == "blocks" else 1 << 24)


@cache
def rival_of(n_trees: int, n_leaves: int, seed: int, n_classes: int) -> Any:
    """Return a forest, or boosted trees if there are no classes; they compare float32."""
    if n_classes:
        y = np.digitize(_Y, np.quantile(_Y, np.linspace(0, 1, n_classes + 1)[1:-1]))
        return RandomForestClassifier(n_trees, max_leaf_nodes=n_leaves, random_state=seed).fit(_X, y)
    boosted = GradientBoostingRegressor(n_estimators=n_trees, max_leaf_nodes=n_leaves, random_state=seed)
    return boosted.fit(_X, _Y)


def model_of(n_trees: int, n_leaves: int, seed: int, n_classes: int, **costs: Any) -> Any:
    """Return what is imported of such trees."""
    return from_model(rival_of(n_trees, n_leaves, seed, n_classes), **costs)


def assert_decides_as_walks(model: Any, folder: Path, options: tuple[str, ...]) -> None:
    """Compare ``farthing_decide``, ``farthing_tell_all`` and the library, also at thresholds."""
    walk = c_walk(model, folder, options=options)
    prices, within = walk._program.prices, model.fitted_
    table = Tables.of(walk._program).trees
    assert table is not None
    rng = np.random.default_rng(1)
    rows = rng.choice([*table.thresholds, *_X[:, 0], np.inf, -np.inf, 1e300, 0.0], size=(60, _X.shape[1]))
    rows[::7, 0] = np.nan
    names = [within.schema.index(name) for name in prices.names]
    expected, acquired = model.predict(rows), model.acquired(rows)
    for row, value, bought in zip(rows, expected, acquired, strict=True):
        made = walk.decide(row[names].tolist())
        assert made is not None
        walk.start(None, {})
        walk.tell_all(row[names].tolist())
        label, values, spent = walk.decision
        assert made == (spent, values, walk.acquired)
        assert set(walk.acquired) == set(np.array(within.schema.names)[bought])
        assert spent == within.costs.total(list(walk.acquired))
        assert (values[0] if label < 0 else within.classes[label]) == value


@pytest.mark.parametrize("form", FORMS)
@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.generate],  # each example is compiled
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    n_trees=st.integers(1, 12),
    n_leaves=st.integers(2, 64),
    n_classes=st.sampled_from([0, 2, 4]),
    priced=st.sampled_from(["whole", "broken", "groups"]),
    seed=st.integers(0, 9),
)
def test_forms_decide_as_walks(
    form: str, n_trees: int, n_leaves: int, n_classes: int, priced: str, seed: int,
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    take(form, monkeypatch)
    model = model_of(n_trees, n_leaves, seed, n_classes, **_costs(priced))
    assert_decides_as_walks(model, tmp_path_factory.mktemp("model"), ("-O0",))


def _costs(priced: str) -> dict[str, Any]:
    own = [(1.0 if priced == "whole" else 0.1) * (place % 5) for place in range(_X.shape[1])]
    groups = {"panel": Group(4.0, [f"x{place}" for place in range(9)])} if priced == "groups" else None
    return {"costs": CostSheet(own, groups=groups)}


@pytest.mark.parametrize("form", FORMS)
def test_trees_of_several_classes_add_to_their_own_output(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(form, monkeypatch)
    rival = GradientBoostingClassifier(n_estimators=8, max_leaf_nodes=12, random_state=0)
    model = from_model(rival.fit(_X, np.digitize(_Y, np.quantile(_Y, [0.3, 0.6]))))
    table = Tables.of(Program.of(model)).trees
    assert table is not None
    assert table.width < table.n_outputs
    assert_decides_as_walks(model, tmp_path, ("-O0",))


_DRIVER = """#include "model.h"
#include <stdio.h>
static double row[FARTHING_FEATURES];
int main(void) {
    uint32_t acquired[FARTHING_WORDS + 1];
    unsigned seed = 1;
    int turn, i;
    acquired[FARTHING_WORDS] = 7;
    for (turn = 0; turn < 500; ++turn) {
        farthing_state state;
        farthing_result made, walked;
        for (i = 0; i < FARTHING_FEATURES; ++i) {
            seed = seed * 1664525u + 1013904223u;
            row[i] = seed >> 24 ? (double)(seed >> 16) / 8192.0 - 4.0 : seed & 1 ? HUGE_VAL : -1e300;
        }
        if (turn % 9 == 0) row[turn % FARTHING_FEATURES] = NAN;
        made = farthing_decide(row, acquired);
        farthing_start(&state, HUGE_VAL);
        while (farthing_next(&state) >= 0) farthing_tell(&state, row[farthing_next(&state)]);
        walked = farthing_decision(&state);
        if (made.spent != walked.spent || made.value[0] != walked.value[0]) return 1;
        for (i = 0; i < FARTHING_FEATURES; ++i) {
            if ((int)(acquired[i / 32] >> i % 32 & 1u) != farthing_acquired(&state, i)) return 2;
        }
    }
    return acquired[FARTHING_WORDS] != 7;
}
"""
_SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("compiler", "options"),
    [
        ("gcc", ("-O0", *_SANITIZED)),
        ("gcc", ("-O2",)),
        ("gcc", ("-Os", "-DFARTHING_FAST=1")),
        ("gcc", ("-O2", *BITS_32)),
        ("clang", ("-O2",)),
        ("clang", ("-Os", "-DFARTHING_FAST=1", *BITS_32)),
    ],
)
def test_a_row_at_hand_is_decided_question_by_question(
    form: str, compiler: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compiler_named(compiler)
    if program is None:
        pytest.skip(f"{compiler} is not installed")
    if not builds_with(program, *options):
        pytest.skip(f"{compiler} has no headers or libraries for {' '.join(options)}; {MULTILIB}")
    take(form, monkeypatch)
    export_model(model_of(20, 33, 0, 2), tmp_path)
    (tmp_path / "main.c").write_text(_DRIVER)
    sources = [str(tmp_path / name) for name in ("main.c", "model.c")]
    command = [program, *FLAGS.split(), *STRICT, *options, *sources, "-lm", "-o", str(tmp_path / "rows")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(tmp_path / "rows")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_the_stated_stack_is_enough(
    form: str, level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(form, monkeypatch)
    # Sets of leaves take some bytes of the stack for each tree; jumps do not, and take gcc long to compile.
    n_trees = 20 if form == "jumps" else 100
    exported = export_model(model_of(n_trees, 33, 0, 2), tmp_path)
    assert exported.stack_bytes is not None
    assert 0 < deepest(tmp_path / "model.c", level) <= exported.stack_bytes


def test_the_portable_search_for_a_bit_is_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take("blocks", monkeypatch)
    assert_decides_as_walks(model_of(5, 64, 3, 0), tmp_path, ("-O0", "-DFARTHING_PORTABLE"))


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_allocated_or_written_beside_the_stack(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(form, monkeypatch)
    export_model(model_of(10, 16, 0, 2), tmp_path)
    compile_c(tmp_path / "model.c", "gcc", ["-c", "-O2"], tmp_path / "model.o")
    listed = subprocess.run(["nm", str(tmp_path / "model.o")], capture_output=True, text=True, check=True)
    symbols = [line.split()[-2:] for line in listed.stdout.splitlines()]
    allowed = {"memcpy", "memset", "exp", "log", "sqrt", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
    assert {name for kind, name in symbols if kind == "U"} <= allowed
    assert not [name for kind, name in symbols if kind in "BbDdC"]


def test_a_large_model_has_several_thresholds_in_a_block() -> None:
    table = Tables.of(Program.of(model_of(300, 33, 0, 0))).trees
    assert table is not None
    blocks = ThresholdBlocks.of(table)
    assert blocks.walks
    assert len(blocks.rows) * mask_bytes(table) <= leaf_sets.MOST_BYTES
    small = Tables.of(Program.of(model_of(3, 8, 0, 0))).trees
    assert small is not None
    assert not ThresholdBlocks.of(small).walks


def test_lookups_find_the_leaf_of_every_set_of_tests() -> None:
    table = Tables.of(Program.of(model_of(5, 16, 0, 2))).trees
    assert table is not None
    for number in range(table.n_trees):
        tree = TreePaths(table, number)
        lookups = LeafLookups.of(table, tree)
        below = [leaf for root in lookups.inner for leaf in lookups.leaves(table, root)]
        assert set(below) <= set(tree.leaves)
        for root, inner in lookups.inner.items():
            assert root == inner[0]
            assert len(set(lookups.leaves(table, root))) == len(inner) + 1


def test_even_splits_are_looked_up_and_sure_ones_are_jumps() -> None:
    table = Tables.of(Program.of(model_of(1, 2, 0, 2))).trees
    assert table is not None
    assert table.feature == [table.feature[0], -1, -1]
    tree = TreePaths(table, 0)
    table.cover[:] = [100.0, 50.0, 50.0]
    assert LeafLookups.of(table, tree).inner == {0: [0]}
    table.cover[:] = [100.0, 99.0, 1.0]
    assert LeafLookups.of(table, tree).inner == {}


def test_many_guesses_take_sets_and_many_features_take_jumps() -> None:
    rng = np.random.default_rng(0)
    narrow, wide = rng.normal(size=(2000, 6)), rng.normal(size=(2000, 90))
    y = np.sign(narrow[:, 0] * narrow[:, 1]) + narrow[:, 2] * narrow[:, 3]

    def form(X: Any, n_trees: int, n_leaves: int) -> str | None:
        rival = GradientBoostingRegressor(
            n_estimators=n_trees, max_leaf_nodes=n_leaves, max_features=6, max_depth=None, random_state=0
        )
        table = Tables.of(Program.of(from_model(rival.fit(X, y)))).trees
        assert table is not None
        return fast_form(table)

    assert form(narrow, 60, 16) == "masks"
    assert form(wide, 30, 16) == "jumps"
    assert form(narrow, 10, 100) == "jumps"  # more leaves than a set has bits


def test_values_of_few_bits_leave_few_jumps_to_miss() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(2000, 8)).astype(float)
    y = X @ rng.normal(size=8) + X[:, 0] * X[:, 1] + rng.normal(size=2000)
    rival = GradientBoostingRegressor(n_estimators=60, max_leaf_nodes=16, max_depth=None, random_state=0)
    table = Tables.of(Program.of(from_model(rival.fit(X, y)))).trees
    assert table is not None
    guessed = sum(LeafLookups.of(table, TreePaths(table, tree)).missed for tree in range(table.n_trees))
    assert guessed > 10 * MISSED_JUMP  # were rows to part anew in each tree; but there are eight bits
    assert fast_form(table) == "jumps"


@given(
    threshold=st.floats(width=32, allow_nan=False),
    strict=st.booleans(),
    value=st.floats(allow_nan=False),
    steps=st.integers(-2, 2),
)
def test_thresholds_for_doubles_part_them_as_rounded_ones(
    threshold: float, strict: bool, value: float, steps: int
) -> None:
    made = for_doubles_of(threshold, strict=strict)
    near = made
    for _ in range(abs(steps)):
        near = float(np.nextafter(near, np.copysign(np.inf, steps)))
    with np.errstate(over="ignore"):
        for each in (value, near):
            rounded = np.float32(each)
            expected = rounded < np.float32(threshold) if strict else rounded <= np.float32(threshold)
            assert (each < made if strict else each <= made) == expected
