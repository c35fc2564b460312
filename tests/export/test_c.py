"""Exported C walks as the library does: questions, prices, spend and decisions, with refusals and budgets."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.lib.compilers import builds_with, compiler_named
from experiments.lib.export_replays import BITS_32, STRICT
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from tests.export.walking import (
    EXPORTED,
    KINDS,
    MULTILIB,
    NOT_EXPORTED,
    CWalk,
    assert_all_at_once,
    assert_same_walks,
    c_walk,
    compile_c,
    fitted,
)

from farthing.base import FittedModel
from farthing.base.registry import get
from farthing.errors import ExportError
from farthing.export import FLAGS, Program, export_model
from farthing.export.links import apply_link

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")


@pytest.fixture(scope="module")
def kinds() -> dict[str, tuple[Any, Any]]:
    return {kind: fitted(*which) for kind, which in KINDS.items()}


@needs_gcc
@pytest.mark.parametrize("method", EXPORTED)
def test_walks_as_the_library(method: str, tmp_path: Path) -> None:
    for table, trial in enumerate((2, 1)):
        model, fresh = fitted(method, trial, table, n_classes=2 + table)
        assert assert_same_walks(model, fresh, tmp_path / str(table), 25) > 0
        if not Program.of(model).answer_width:
            other = c_walk(model, tmp_path, name=f"model{table}")
            assert_all_at_once(model, other, np.asarray(fresh, dtype=object))


@needs_gcc
@settings(
    max_examples=5,
    deadline=None,
    phases=[Phase.generate],  # each example is fitted and compiled
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    method=st.sampled_from(EXPORTED),
    trial=st.integers(0, 3),
    table=st.integers(0, 1),
    n_classes=st.integers(2, 3),
    seed=st.integers(0, 1000),
)
def test_any_fit_walks_as_the_library(
    method: str, trial: int, table: int, n_classes: int, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model, fresh = fitted(method, trial, table, n_classes)
    try:
        model.fitted_.plan()
    except ExportError:
        assume(False)
    assert_same_walks(model, fresh, tmp_path_factory.mktemp("model"), 20, options=("-Os",), seed=seed)


@pytest.mark.parametrize("method", EXPORTED)
def test_the_steps_of_a_link_are_its_conclusion(method: str) -> None:
    model, _ = fitted(method, 1)
    within = model.fitted_
    n_outputs = Program.of(model).n_outputs
    outputs = np.random.default_rng(0).normal(size=(20, n_outputs)).__abs__() * 3
    gated = Program.of(model).handover is not None
    expected = within.cheap_probabilities(outputs) if gated else within.conclude(outputs)
    np.testing.assert_array_equal(apply_link(within.link_steps(), outputs), expected.reshape(20, -1))


@needs_gcc
def test_a_chosen_model_walks_as_the_library(tmp_path: Path) -> None:
    model, fresh = fitted("BudgetedRegressor", 1)
    assert_same_walks(model, fresh, tmp_path, 25)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_compilers_agree(compiler: str, level: str, kinds: dict[str, Any], tmp_path: Path) -> None:
    command = compiler_named(compiler)
    if command is None:
        pytest.skip(f"{compiler} is not installed")
    for kind, (model, fresh) in kinds.items():
        assert_same_walks(model, fresh, tmp_path / kind, 20, command, (level,), seed=1)


_DRIVER = """#include "model.h"
#include <stdio.h>
typedef char state_has_the_stated_size[sizeof(farthing_state) == FARTHING_STATE_BYTES ? 1 : -1];
static unsigned seed = 1;
static unsigned next_number(void) { return (seed = seed * 1664525u + 1013904223u) >> 16; }
#ifdef FARTHING_ANSWER
static int answer(farthing_state *state, double value) {
    double numbers[FARTHING_ANSWER];
    int i;
    for (i = 0; i < FARTHING_ANSWER; ++i) numbers[i] = next_number() % 7 - 2.5;
    return farthing_tell_list(state, numbers) && farthing_tell(state, value);
}
#else
#define answer farthing_tell
#endif
int main(void) {
    int walk;
    for (walk = 0; walk < 300; ++walk) {
        farthing_state state;
        double row[FARTHING_FEATURES];
        int i;
        for (i = 0; i < FARTHING_FEATURES; ++i) row[i] = next_number() % 8 ? next_number() % 7 - 2.5 : NAN;
        int questions = 0;
        farthing_start(&state, walk % 3 ? next_number() % 8 : HUGE_VAL);
        if (walk % 5 == 0 && farthing_known(&state, (int32_t)(next_number() % KNOWABLE), 1.0) != KNOWN)
            return 1;
        while (farthing_next(&state) != FARTHING_DECIDED) {
            const unsigned kind = next_number() % 8;
            const double value = kind == 1 ? NAN : kind == 2 ? -7e300 : next_number() % 7 - 2.5;
            if (++questions > FARTHING_FEATURES || farthing_price(&state) < 0.0) return 2;
            if (kind == 0 ? farthing_refuse(&state) : answer(&state, value)) return 3;
            if (!(farthing_decision(&state).spent >= 0.0)) return 4;
        }
        farthing_start(&state, walk % 2 ? HUGE_VAL : next_number() % 8);
        farthing_tell_all(&state, row);
#ifdef FARTHING_ANSWER
        while (farthing_next(&state) != FARTHING_DECIDED) if (answer(&state, 0.5)) return 7;
#endif
        if (farthing_next(&state) != FARTHING_DECIDED || !(farthing_decision(&state).spent >= 0.0)) return 6;
        if (farthing_tell(&state, 0.0) != -1 || farthing_refuse(&state) != -1) return 5;
    }
    return 0;
}
"""


def _driver(program: Program) -> str:
    """Return the driver, which knows what can be known: no message, and not the call of another model."""
    features = program.prices.n_columns
    if program.handover is not None:
        features -= 1
    knows = 0 if features and (program.handover is not None or not program.answer_width) else -1
    return f"#define KNOWABLE {max(1, features)}\n#define KNOWN {knows}\n{_DRIVER}"


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_sanitizers_find_nothing(kind: str, kinds: dict[str, Any], tmp_path: Path) -> None:
    export_model(kinds[kind][0], tmp_path)
    (tmp_path / "main.c").write_text(_driver(Program.of(kinds[kind][0])))
    command = [
        "gcc",
        *FLAGS.split(),
        *STRICT,
        "-O0",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    sources = [str(tmp_path / name) for name in ("main.c", "model.c")]
    built = subprocess.run(
        [*command, *sources, "-lm", "-o", str(tmp_path / "walks")],
        capture_output=True,
        text=True,
        check=False,
    )
    if "cannot find" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([str(tmp_path / "walks")], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_allocated(kind: str, kinds: dict[str, Any], tmp_path: Path) -> None:
    export_model(kinds[kind][0], tmp_path)
    compile_c(tmp_path / "model.c", "gcc", ["-c", "-Os"], tmp_path / "model.o")
    listed = subprocess.run(
        ["nm", "-u", str(tmp_path / "model.o")], capture_output=True, text=True, check=True
    )
    wanted = {line.split()[-1] for line in listed.stdout.splitlines()}
    assert wanted <= {"memcpy", "memset", "exp", "log", "sqrt", "_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}
    written = subprocess.run(["nm", str(tmp_path / "model.o")], capture_output=True, text=True, check=True)
    assert not [line for line in written.stdout.splitlines() if line.split()[-2] in "BbDdC"]


@needs_gcc
@pytest.mark.parametrize("kind", KINDS)
def test_32_bits_agree(kind: str, kinds: dict[str, Any], tmp_path: Path) -> None:
    if not builds_with("gcc", *BITS_32):
        pytest.skip(f"gcc cannot build for 32 bits; {MULTILIB}")
    model, fresh = kinds[kind]
    assert assert_same_walks(model, fresh, tmp_path, 20, options=("-O2", *BITS_32)) > 0


def test_a_walk_that_has_ended_takes_no_answer(kinds: dict[str, Any], tmp_path: Path) -> None:
    model, _ = kinds["tree"]
    walk = c_walk(model, tmp_path)
    assert isinstance(walk, CWalk)
    walk.start(0.0, {})
    while walk.ask is not None:
        walk.refuse()
    assert walk._library.farthing_tell(walk._state, ctypes.c_double(1.0)) == -1


@pytest.mark.parametrize("method", sorted(NOT_EXPORTED))
def test_a_method_without_a_plan_says_why(method: str) -> None:
    kind = get(method).model_type
    assert kind.plan is FittedModel.plan
    assert kind.no_plan != FittedModel.no_plan


def test_the_error_names_the_method_and_the_reason() -> None:
    model, _ = fitted("RandomOrderClassifier", 0)
    with pytest.raises(ExportError, match=r"^RandomOrderClassifier cannot be exported: .*training rows"):
        export_model(model, "unused")


def test_a_curtailed_cascade_says_how_to_fit_it(tmp_path: Path) -> None:
    model, _ = fitted("MiserCascadeClassifier", 3)
    with pytest.raises(ExportError, match="curtail=False"):
        export_model(model, tmp_path)


def test_names_of_files_and_targets_are_checked(kinds: dict[str, Any], tmp_path: Path) -> None:
    model, _ = kinds["vote"]
    with pytest.raises(ValueError, match=r"to must be one of c, .*got 'cobol'"):
        export_model(model, tmp_path, to="cobol")
    with pytest.raises(ValueError, match="name must be letters"):
        export_model(model, tmp_path, name="../x")
