"""The exceptions that Farthing raises and the warnings that it gives, all in one place.

::

    FarthingError
    +-- CostError     (ValueError)  a price list that is not one
    +-- TableError    (ValueError)  a table that does not fit: columns, types, values
    +-- BudgetError   (ValueError)  a budget below what has to be bought in any case
    +-- WalkError     (RuntimeError) a walk told or refused when it asks for nothing
    +-- RoundError    (RuntimeError) a gate on line that is told a label out of turn
    +-- FileError     (ValueError)  a file that is not an intact Farthing model
    +-- ModelImportError (ValueError) a model of another library that cannot be brought over
    +-- ServiceError  (RuntimeError) a service that did not answer, or not as it should

    BudgetWarning     (UserWarning) a budget so small that a model predicts without any feature
"""


class FarthingError(Exception):
    """The root of everything that Farthing raises on purpose."""


class CostError(FarthingError, ValueError):
    """A price list has an entry that cannot be a price, or does not match the table."""


class TableError(FarthingError, ValueError):
    """A table does not fit the model: columns are missing, or a value has the wrong type."""


class BudgetError(FarthingError, ValueError):
    """A budget is below what a model has to buy in any case."""


class WalkError(FarthingError, RuntimeError):
    """A walk was told or refused an answer while it asks for nothing."""


class RoundError(FarthingError, RuntimeError):
    """A gate that learns on line was told a label that it does not wait for, or asked while it waits."""


class FileError(FarthingError, ValueError):
    """A file is not an intact Farthing model: cut short, altered, or never one."""


class ModelImportError(FarthingError, ValueError):
    """A model of another library cannot be brought over: its kind, tests or output have no equal here."""


class ServiceError(FarthingError, RuntimeError):
    """A service cannot be reached, refuses to answer, or serves another model than before."""


class BudgetWarning(UserWarning):
    """A budget is so small that the model buys nothing and predicts the prior."""
