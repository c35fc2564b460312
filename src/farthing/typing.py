"""Type aliases of arrays."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""An array of 64-bit floats; docstrings give the shape."""

Flags: TypeAlias = NDArray[np.bool_]
"""An array of booleans."""

Integers: TypeAlias = NDArray[np.int64]
"""An array of 64-bit integers: indices, codes, counts."""
