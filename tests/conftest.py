"""Settings that all tests share."""

import gc

import pytest
from hypothesis import settings

# No test fails for being slow: the machine may be busy. Examples are drawn anew in each run, so fewer of them
# find the same over several runs; `--hypothesis-profile thorough` draws many in one.
settings.register_profile("farthing", deadline=None, max_examples=20)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("farthing")

# Modules and tests live to the end, and each round of the garbage collector would walk all their objects:
# a tenth of the time of a run. So it runs less often, and not over what is there when the tests begin.
gc.set_threshold(50_000, 20, 100)


# These take seconds each, or start servers, browsers and clusters, which one worker, the first, should do.
# Whoever gets one of them as the last test lets the other workers wait.
FIRST = ("tests/distributed", "tests/service", "test_tiny_run[", "test_contract_at_slow_defaults")


# `make` does not install PyTorch, which takes gigabytes.
NEEDS_TORCH = "needs PyTorch, which `make` does not install: .venv/bin/pip install 'torch>=2.2'"


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: next((i for i, name in enumerate(FIRST) if name in item.nodeid), len(FIRST)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Skip a test that trains a network where there is no PyTorch, such as those of all methods."""
    try:
        return (yield)
    except ImportError as error:
        if error.name == "torch":
            pytest.skip(NEEDS_TORCH)
        raise


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
