"""All commands: importing the files of this package registers them."""

import importlib
import pkgutil

import farthing.cli
from farthing.cli.app import app

__all__ = ["app"]

# Found by name, so that a new command needs no entry in a list.
for _module in pkgutil.iter_modules(farthing.cli.__path__):
    importlib.import_module(f"farthing.cli.{_module.name}")
