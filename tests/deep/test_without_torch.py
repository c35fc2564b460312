"""Without PyTorch a fit says how to get it, and everything else works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RELEASED = Path(__file__).parents[1] / "store" / "released" / "0.1.0"
# One process for both tests, since its imports take a second.
CODE = """
import json
import sys
from farthing.deep import GreedySelectionClassifier
loaded = "torch" in sys.modules
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import numpy as np
import farthing
model = farthing.load({path!r})
assert model.walk().ask is not None
try:
    GreedySelectionClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1])
except ImportError as error:
    print(json.dumps({{"loaded": loaded, "lacks": error.name, "says": str(error)}}))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """Return what a process without PyTorch says."""
    code = CODE.format(path=str(RELEASED / "GreedySelectionClassifier.farthing"))
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return dict(json.loads(ran.stdout))


def test_a_stored_model_answers_and_a_fit_names_the_command(told):
    assert told["lacks"] == "torch"
    assert "pip install 'farthing[deep]'" in told["says"]


def test_importing_the_methods_does_not_import_torch(told):
    assert told["loaded"] is False
