"""A short run of the fuzz: every spoilt file works or is refused, within its memory and time."""

import pytest
from experiments.fuzz.fuzz_models import saved_models
from experiments.fuzz.mutations import MUTATIONS
from experiments.fuzz.spoilt_files import fuzz, spoil

EACH = 3  # cases of each mutation; `make fuzz` tries thousands


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return saved_models()


def test_spoilt_files_work_or_are_refused(files: list[bytes]) -> None:
    cases = EACH * len(MUTATIONS)
    tally = fuzz(files, cases, seed=1)
    assert tally.violations == []
    assert sum(tally.outcomes.values()) == cases
    # The fuzz itself works: mutations with repaired checksums get past them, and blind ones do not.
    assert tally.outcomes["elements", "works"] > 0
    assert tally.outcomes["truncate", "refused"] == EACH


def test_a_case_is_a_function_of_its_seed(files: list[bytes]) -> None:
    for case in range(len(MUTATIONS)):
        assert spoil(files, 3, case) == spoil(files, 3, case)
