"""Settings that all tests share."""

from hypothesis import settings

# No test fails for being slow: the machine may be busy.
settings.register_profile("farthing", deadline=None)
settings.load_profile("farthing")
