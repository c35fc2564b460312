"""Temperatures: from probabilities, from scores, and against a search over a grid."""

import numpy as np
import pytest

from farthing.learning.calibration import score_temperature, temperature_of
from farthing.learning.losses import scores_to_probabilities


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_and_their_probabilities_have_the_same_temperature(n_classes: int, weighted: bool) -> None:
    rng = np.random.default_rng(n_classes)
    scores = rng.normal(size=(400, 1 if n_classes == 2 else n_classes))
    codes = rng.integers(n_classes, size=400)
    weights = rng.integers(1, 4, size=400).astype(float) if weighted else None
    of_probabilities = temperature_of(scores_to_probabilities(scores, n_classes), codes, weights)
    assert score_temperature(scores, codes, weights) == pytest.approx(of_probabilities, rel=1e-4)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_no_temperature_of_a_grid_has_a_lower_loss(n_classes: int) -> None:
    rng = np.random.default_rng(7)
    codes = rng.integers(n_classes, size=500)
    centres = 3.0 * np.eye(n_classes)[codes]
    scores = centres + rng.normal(scale=3.0, size=centres.shape)
    outputs = scores[:, 1:] - scores[:, :1] if n_classes == 2 else scores

    def loss(temperature: float) -> float:
        chances = scores_to_probabilities(outputs / temperature, n_classes)
        return float(-np.log(chances[np.arange(500), codes]).mean())

    found = score_temperature(outputs, codes)
    assert found != 1.0
    assert loss(found) <= min(map(loss, np.exp(np.linspace(-3, 3, 601)))) + 1e-9


def test_scores_that_are_never_wrong_get_a_low_temperature_within_bounds() -> None:
    assert np.exp(-3.0) <= score_temperature(np.array([[-2.0], [2.0]]), np.array([0, 1])) < 0.2
