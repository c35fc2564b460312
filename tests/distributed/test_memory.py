"""Memory that a fit takes and frees in each round stays with the process until it ends."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

# Faults per round of arrays of 1 MiB, without the block, in it and after it; as Dask starts its workers.
SCRIPT = """
import resource
import numpy as np
from farthing.distributed.memory import kept_memory

def faults():
    def count():
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(2**17)
    before = count()
    for _ in range(10):
        np.ones(2**17)
    return (count() - before) / 10

before = faults()
with kept_memory():
    with kept_memory():
        pass
    within = faults()
print(before, within, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have other rules")
def test_pages_are_cleared_once() -> None:
    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    told = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, check=True, capture_output=True, text=True
    ).stdout
    before, within, after = map(float, told.split())
    assert before > 100
    assert within < 1
    assert after > 100
