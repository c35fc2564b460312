"""The contract of votes on two classes, which have one output; tests/test_common.py checks them on three."""

from __future__ import annotations

from typing import Any

import pytest

from farthing.base import register
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier, AdaBoostRSClassifier
from farthing.checks import yield_checks


@register()
class TwoClassAdaBoost(AdaBoostClassifier):
    binary_only = True


@register()
class TwoClassAdaBoostBT(AdaBoostBTClassifier):
    binary_only = True


@register()
class TwoClassAdaBoostRS(AdaBoostRSClassifier):
    binary_only = True


@pytest.mark.parametrize(
    "estimator",
    [
        TwoClassAdaBoost(n_estimators=12, max_depth=2, curtail=True),
        TwoClassAdaBoostBT(n_estimators=5, budget=4.0, price="marginal", max_depth=2),
        TwoClassAdaBoostRS(n_estimators=12, budget=4.0),
        TwoClassAdaBoostRS(n_estimators=12, sampling="top", curtail=True),
    ],
    ids=repr,
)
def test_contract(estimator: Any) -> None:
    for name, check in yield_checks(estimator, tables="small"):
        if "check_estimator" not in name:
            try:
                check()
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
