"""The exceptions and warnings of Farthing.

::

    FarthingError
    +-- CostError     (ValueError)  a price list that is not valid
    +-- LabelError    (ValueError)  a sheet of labels that is not valid, or not of this table
    +-- TableError    (ValueError)  a table that does not fit: columns, types, values
    +-- BudgetError   (ValueError)  a budget below what has to be bought in any case
    +-- GuaranteeError (ValueError) a guarantee that cannot be given on the rows at hand
    +-- RepriceError  (ValueError)  a model that cannot be moved to other prices without a new fit
    +-- WalkError     (RuntimeError) an answer to a walk that asks for nothing
    +-- RoundError    (RuntimeError) an online gate that gets a label out of turn
    +-- FileError     (ValueError)  a file that is not an intact Farthing model
    +-- ModelImportError (ValueError) a model of another library that cannot be imported
    +-- ExportError   (ValueError)  a model that cannot be written in another language
    +-- SourceError   (RuntimeError) a source of features that fails
    +-- ServiceError  (RuntimeError) a service that did not answer as expected
    +-- ClusterError  (RuntimeError) a cluster that is not there, or loses its workers

    BudgetWarning          (UserWarning) a budget so small that a model buys no feature or has few trees
    UnseenCategoryWarning  (UserWarning) categories that no training row had, which count as missing
    IdentifierWarning      (UserWarning) a column in which every training row has a value of its own
    OneClassWarning        (UserWarning) a target with a single class
    UnrecordedWarning      (UserWarning) tests that a model asks for and records next to never hold
"""

import inspect
import warnings


class FarthingError(Exception):
    """Base class of all exceptions of Farthing."""


class CostError(FarthingError, ValueError):
    """A price list has an entry that cannot be a price, or does not match the table."""


class LabelError(FarthingError, ValueError):
    """A sheet of labels has an entry that cannot be shown, or one that the model does not have."""


class TableError(FarthingError, ValueError):
    """A table does not fit the model: columns are missing, or a value has the wrong type."""

    #: The column of the value, where answers to several questions are given at once.
    column: str | None = None


class BudgetError(FarthingError, ValueError):
    """A budget is below what a model has to buy in any case."""


class GuaranteeError(FarthingError, ValueError):
    """No variant of a model can be certified to keep a guarantee on the rows at hand."""


class RepriceError(FarthingError, ValueError):
    """A model cannot be moved to other prices without a new fit."""


class WalkError(FarthingError, RuntimeError):
    """``tell`` or ``refuse`` was called on a walk that asks for nothing."""


class RoundError(FarthingError, RuntimeError):
    """An online gate got a label that it was not waiting for, or a new row while waiting for a label."""


class FileError(FarthingError, ValueError):
    """A file is not an intact Farthing model: cut short, altered, or never one."""


class ModelImportError(FarthingError, ValueError):
    """A model of another library cannot be imported: its kind, splits or output have no equivalent here."""


class ExportError(FarthingError, ValueError):
    """A model cannot be written in another language: its walk needs more than tables."""


class SourceError(FarthingError, RuntimeError):
    """A source of features fails, takes too long, or gives something else than its features."""


class ServiceError(FarthingError, RuntimeError):
    """A service cannot be reached, refuses to answer, or serves another model than before."""


class ClusterError(FarthingError, RuntimeError):
    """No Dask client is active, a fit makes no progress, or workers are lost faster than it continues."""


class BudgetWarning(UserWarning):
    """A budget is so small that the model buys nothing and predicts the prior, or has few trees."""


class UnseenCategoryWarning(UserWarning):
    """A table or an answer has categories that no training row had; they count as missing."""


class IdentifierWarning(UserWarning):
    """A column of text has a different value in every training row, as an identifier does."""


class OneClassWarning(UserWarning):
    """All training rows have the same class, so the model predicts it for nothing."""


class UnrecordedWarning(UserWarning):
    """Records next to never hold a test that a model learns from or asks for."""


class PrecisionWarning(UserWarning):
    """A column holds integers that are too large to be told apart as floats."""


class TrustWarning(UserWarning):
    """A model was saved that can be loaded only by those who trust the file."""


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the line outside Farthing that made the call."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "farthing":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
