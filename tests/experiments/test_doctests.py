"""The examples in the docstrings of experiments/lib run."""

import doctest
import pkgutil
from importlib import import_module

import pytest
from experiments import lib

MODULES = [found.name for found in pkgutil.iter_modules(lib.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = import_module(f"experiments.lib.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).failed == 0
