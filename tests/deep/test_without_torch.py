"""Without PyTorch a fit says how to get it, and everything else works."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import farthing

RELEASED = Path(__file__).parents[1] / "store" / "released" / "0.1.0"
CODE = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import numpy as np
import farthing
from farthing.deep import GreedySelectionClassifier
model = farthing.load({path!r})
assert model.walk().ask is not None
try:
    GreedySelectionClassifier().fit(np.zeros((4, 1)), [0, 1, 0, 1])
except ImportError as error:
    assert error.name == "torch"
    print(error)
"""


def test_a_stored_model_answers_and_a_fit_names_the_command():
    path = RELEASED / "GreedySelectionClassifier.farthing"
    ran = subprocess.run(
        [sys.executable, "-c", CODE.format(path=str(path))], check=True, capture_output=True, text=True
    )
    assert "pip install 'farthing[deep]'" in ran.stdout


def test_importing_the_methods_does_not_import_torch():
    code = "import sys\nimport farthing.deep\nassert 'torch' not in sys.modules\nprint(farthing.__version__)"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == farthing.__version__
