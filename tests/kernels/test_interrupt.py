"""Ctrl-C ends the growth of one large tree, not only the fit between two trees."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
import numpy as np
import sys
import farthing.trees.grow
from farthing import _core
from farthing.forests import BudgetTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(100_000, 30)), rng.integers(0, 60, 100_000)
began = []

def interrupt():
    while not began:
        time.sleep(0.01)
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)

class Grower(_core.TreeGrower):
    def classes(self, *arguments, **options):
        began.append(time.process_time())
        return super().classes(*arguments, **options)

sys.modules["farthing.trees.grow"].TreeGrower = Grower
threading.Thread(target=interrupt, daemon=True).start()
try:
    BudgetTreeClassifier(max_depth=80, n_jobs=1, cost_rule="penalty", tradeoff=0.0).fit(X, y)
except KeyboardInterrupt:
    print("interrupted", time.process_time() - began[0])
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT of its own process")
def test_one_tree_is_interrupted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=600
    )
    told = done.stdout.split()
    assert told[:1] == ["interrupted"], done.stdout + done.stderr
    # Of the processor, from the start of the growth: the whole tree takes more than ten times as much.
    assert float(told[1]) < 4
