"""The folder of tables that are too large to bundle."""

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder that FARTHING_DATA names, or say that it must be set."""
    folder = os.environ.get("FARTHING_DATA")
    if not folder:
        raise OSError(
            "this needs tables that are not bundled: set the environment variable FARTHING_DATA to the "
            "folder that has them; farthing.datasets.load_table describes its files"
        )
    return Path(folder)
