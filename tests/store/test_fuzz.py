"""A short run of the fuzz: every spoilt file works or is refused, within its memory and time."""

from pathlib import Path

import pytest
from experiments.fuzz.fuzz_models import every_method, saved, saved_models
from experiments.fuzz.spoilt_files import HEAVY, NOT_REGULAR, ROUNDS, fuzz, kind_of, kinds, spoil

from farthing.base import registered

EACH = ROUNDS  # cases of each light mutation; `make fuzz` tries thousands


@pytest.fixture(scope="module")
def files() -> list[bytes]:
    return saved_models()


def test_spoilt_files_work_or_are_refused(files: list[bytes]) -> None:
    cases = len(kinds()) + (ROUNDS - 1) * (len(kinds()) - len(HEAVY))
    tally = fuzz(files, cases, seed=1)
    assert tally.violations == []
    assert sum(tally.outcomes.values()) == cases
    # The fuzz itself works: mutations with repaired checksums get past them, and blind ones do not.
    assert tally.outcomes["elements", "works"] > 0
    assert tally.outcomes["truncate", "refused"] == EACH
    assert tally.outcomes[NOT_REGULAR, "refused"] == EACH


def test_a_case_is_a_function_of_its_seed(files: list[bytes], tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for case in range(len(kinds())):
        assert spoil(files, 3, case, one) == spoil(files, 3, case, two) == kinds()[case]
        assert one.is_file() == two.is_file()
        if kind_of(case) != NOT_REGULAR:
            assert one.read_bytes() == two.read_bytes()


def test_every_method_has_a_file() -> None:
    methods = every_method()
    assert set(registered()) >= set(methods)
    assert {"EdgeClassifier", "AdaptGbrtClassifier", "OptimalTreeClassifier"} <= set(methods)
    assert all(saved(model) in saved_models() for model in methods.values())
