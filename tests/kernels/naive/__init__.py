"""The naive twins of the compiled kernels, in the order of the data flow.

No histogram, no subtraction, no heap, no bits, no thread: a twin looks at all rows again for every question.
What it shares with the fast kernel is the definition alone: the bins, the grid of the sums, the formulas of
the gains, the order in which ties are broken.
"""

from tests.kernels.naive.bins import ColumnBins, bin_column, bins_of_codes, edges_of, random_bits, sample_rows
from tests.kernels.naive.classes import Classes, impurity_of
from tests.kernels.naive.criteria import Gradients, Target
from tests.kernels.naive.grower import Grower
from tests.kernels.naive.predictor import code_sets, predict_row, turn
from tests.kernels.naive.prices import Sheet
from tests.kernels.naive.splits import LEFT, RIGHT, best_split
from tests.kernels.naive.sums import to_fixed
from tests.kernels.naive.vector_gradients import VectorGradients

__all__ = [
    "LEFT",
    "RIGHT",
    "Classes",
    "ColumnBins",
    "Gradients",
    "Grower",
    "Sheet",
    "Target",
    "VectorGradients",
    "best_split",
    "bin_column",
    "bins_of_codes",
    "code_sets",
    "edges_of",
    "impurity_of",
    "predict_row",
    "random_bits",
    "sample_rows",
    "to_fixed",
    "turn",
]
