"""The registry finds methods by name, and refuses two of one name."""

from __future__ import annotations

import pytest
from tests.stumps import StumpListClassifier, StumpListRegressor

from farthing.base import default_grid, get, register, registered


def test_a_method_is_found_by_its_name() -> None:
    assert get("StumpListClassifier") is StumpListClassifier
    assert default_grid("StumpListClassifier") == {"n_rules": [1, 4, 16]}
    assert default_grid("StumpListRegressor") is None
    assert {"StumpListClassifier", "StumpListRegressor"} <= set(registered())
    assert list(registered()) == sorted(registered())


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(LookupError, match=r"no method named 'Nobody' is registered; there are .*StumpList"):
        get("Nobody")


def test_two_of_one_name_are_refused() -> None:
    stranger = type("StumpListRegressor", (), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match=r"'StumpListRegressor' is already registered by tests\.stumps"):
        register()(stranger)
    assert get("StumpListRegressor") is StumpListRegressor


def test_a_class_defined_anew_replaces_itself() -> None:
    def define() -> type:
        return register()(type("Reloaded", (), {"__module__": "notebook", "__qualname__": "Reloaded"}))

    define()
    assert define() is get("Reloaded")
