"""Ctrl-C ends the growth of one large tree, also within one node, not only the fit between two trees."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

# A deep tree of many nodes; and a stump, whose single search tries an order of the categories for each class.
CASES = {
    "deep": ("rng.normal(size=(100_000, 30)), rng.integers(0, 60, 100_000)", 80),
    "one node": (
        "pd.DataFrame({j: pd.Categorical(rng.integers(0, 200, 20_000)) for j in range(60)}), "
        "rng.integers(0, 300, 20_000)",
        1,
    ),
}

PROGRAM = f"""
import json, os, signal, threading, time
import numpy as np
import pandas as pd
import sys
import farthing.trees.grow
from farthing import _core
from farthing.forests import BudgetTreeClassifier

rng = np.random.default_rng(0)
began = []

def interrupt():
    while not began:
        time.sleep(0.01)
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGINT)

class Grower(_core.TreeGrower):
    def classes(self, *arguments, **options):
        began.append(time.process_time())
        return super().classes(*arguments, **options)

sys.modules["farthing.trees.grow"].TreeGrower = Grower
found = {{}}
for name, (table, depth) in {CASES!r}.items():
    X, y = eval(table)
    began.clear()
    threading.Thread(target=interrupt, daemon=True).start()
    try:
        BudgetTreeClassifier(max_depth=depth, n_jobs=1, cost_rule="penalty", tradeoff=0.0).fit(X, y)
    except KeyboardInterrupt:
        found[name] = time.process_time() - began[0]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def interrupted() -> dict[str, float]:
    """Return how long each tree went on, in seconds of the processor; one process interrupts them all."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT of its own process")
@pytest.mark.parametrize("case", CASES)
def test_one_tree_is_interrupted(case: str, interrupted: dict[str, float]) -> None:
    assert case in interrupted, f"the {case} tree was not interrupted"
    # From the start of the growth: the whole tree takes more than ten times as much.
    assert interrupted[case] < 4
