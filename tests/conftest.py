"""Settings that all tests share."""

import gc

from hypothesis import settings

# No test fails for being slow: the machine may be busy.
settings.register_profile("farthing", deadline=None)
settings.load_profile("farthing")

# Modules and tests live to the end, and each round of the garbage collector would walk all their objects:
# a tenth of the time of a run. So it runs less often, and not over what is there when the tests begin.
gc.set_threshold(50_000, 20, 100)


def pytest_collection_finish():
    gc.collect()
    gc.freeze()
