"""Ctrl-C ends the growth of one large tree, not only the fit between two trees."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
import numpy as np
from farthing.forests import BudgetTreeClassifier

rng = np.random.default_rng(0)
X, y = rng.normal(size=(60_000, 30)), rng.integers(0, 40, 60_000)
model = BudgetTreeClassifier(max_depth=60, cost_rule="penalty", tradeoff=0.0)
growing = threading.Event()

def interrupt():
    growing.wait()
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
growing.set()
spent = time.process_time()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", time.process_time() - spent)
else:
    print("finished", time.process_time() - spent)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT of its own process")
def test_one_tree_is_interrupted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=600
    )
    assert done.stdout.startswith("interrupted"), done.stdout + done.stderr
