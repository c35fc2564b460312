"""Models as files: one zip of JSON and raw arrays, written atomically and read without running code.

The format is documented in ``docs/file-format.md``.
"""

from farthing.store import sklearn_archive
from farthing.store.archive import open_regular
from farthing.store.codec import DATA_ERRORS, register_codec
from farthing.store.model_file import read, write
from farthing.store.trusted_types import trusted_names, trusting

__all__ = [
    "DATA_ERRORS",
    "open_regular",
    "read",
    "register_codec",
    "sklearn_archive",
    "trusted_names",
    "trusting",
    "write",
]
