"""The MNIST experiment: images that are moved."""

import numpy as np
import pytest
from experiments.boards.cascade_mnist import SIDE, moved


@pytest.mark.parametrize(("down", "right"), [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)])
def test_moved_images_are_shifted_and_lose_what_leaves(down, right):
    image = np.zeros((SIDE, SIDE), dtype=np.float32)
    image[5, 7] = 1
    image[0, 0] = image[-1, -1] = 2
    image_moved = moved(image.reshape(1, -1), down, right).reshape(SIDE, SIDE)
    assert image_moved[5 + down, 7 + right] == 1
    assert np.count_nonzero(image_moved) == 3 - (down != 0 or right != 0)
