"""Fits and predictions on Dask collections, with the bits of one process; needs ``farthing[dask]``.

`fit` of an estimator takes Dask arrays and dataframes if a `distributed.Client` is active:

1. Ordinary tasks look at each partition, sample it, and bin it (`passes`). The rows that set the bins are
   drawn by their numbers, so bins do not depend on the partitions. They stay on the worker that made them.
2. Every worker that holds partitions becomes a rank and runs the method on its own rows (`ranks`).
3. Whatever is a sum over rows, histograms above all, is summed over the ranks (`exchange`). Sums are integers
   or exact, so all ranks have the bits of one process, and take the same decisions from them.

`predict` and its like on a collection are lazy, partition by partition (`lazy`). A sweep chooses rows of a
collection by their numbers (`table`).
"""

from farthing.distributed.detect import is_collection

__all__ = ["is_collection"]
