"""Ctrl-C ends the growth of one large tree, also within one node, not only the fit between two trees."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
import numpy as np
import pandas as pd
import sys
import farthing.trees.grow
from farthing import _core
from farthing.forests import BudgetTreeClassifier

rng = np.random.default_rng(0)
X, y = {table}
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
threading.Thread(target=interrupt, daemon=True).start()
try:
    BudgetTreeClassifier(max_depth={depth}, n_jobs=1, cost_rule="penalty", tradeoff=0.0).fit(X, y)
except KeyboardInterrupt:
    print("interrupted", time.process_time() - began[0])
"""


# A deep tree of many nodes; and a stump, whose single search tries an order of the categories for each class.
DEEP = ("rng.normal(size=(100_000, 30)), rng.integers(0, 60, 100_000)", 80)
ONE_NODE = (
    "pd.DataFrame({j: pd.Categorical(rng.integers(0, 200, 20_000)) for j in range(60)}), "
    "rng.integers(0, 300, 20_000)",
    1,
)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT of its own process")
@pytest.mark.parametrize(("table", "depth"), [DEEP, ONE_NODE], ids=["deep", "one node"])
def test_one_tree_is_interrupted(table: str, depth: int) -> None:
    program = PROGRAM.format(table=table, depth=depth)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=600
    )
    told = done.stdout.split()
    assert told[:1] == ["interrupted"], done.stdout + done.stderr
    # Of the processor, from the start of the growth: the whole tree takes more than ten times as much.
    assert float(told[1]) < 4
