"""Without PyTorch, its modules are not imported for their examples, and those that train are skipped."""

from importlib.util import find_spec
from pathlib import Path

import pytest

_DEEP = Path(__file__).parent / "farthing" / "deep"
_HAS_TORCH = find_spec("torch") is not None
_MODULES = (
    [] if _HAS_TORCH else [path for path in _DEEP.rglob("*.py") if "import torch\n" in path.read_text()]
)

collect_ignore = [str(path) for path in _MODULES]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the examples of estimators that train networks."""
    for item in items:
        if not _HAS_TORCH and item.path.name == "classifier.py" and item.path.is_relative_to(_DEEP):
            item.add_marker(pytest.mark.skip(reason="needs PyTorch: .venv/bin/pip install 'torch>=2.2'"))
