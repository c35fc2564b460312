"""What examples need: PyTorch for those that train networks, and a registry that they leave as it was."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from farthing.base import registry

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


@pytest.fixture(autouse=True)
def registry_as_before() -> Iterator[None]:
    """Take out the methods that an example registers; later tests would take them for the library's."""
    before = registry.registered()
    yield
    for name in set(registry.registered()) - set(before):
        del registry._ENTRIES[name]  # noqa: SLF001
