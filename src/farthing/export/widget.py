"""A consultation within a notebook: the exported page in a frame of a cell."""

from __future__ import annotations

from functools import cached_property
from html import escape

from farthing.base import BudgetedEstimator
from farthing.export.program import Program


class ConsultationWidget:
    """A consultation that a notebook shows: the questions of a model, one at a time, with their prices.

    Make one in the last line of a cell. The page runs in the browser, so it needs no kernel and also works in
    a notebook that was saved and is only viewed. It is plain HTML in a frame of its own without access to
    the notebook; what is entered stays there.

    Parameters
    ----------
    model : estimator
        Fitted, and of a method that `export_model` can write as a page.
    height : int
        Pixels.

    Raises
    ------
    ExportError
        If the model cannot be written as a page; it names the method and says why.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.export import ConsultationWidget
    >>> from farthing.forests import BudgetTreeClassifier
    >>> heart = load_heart_disease()
    >>> model = BudgetTreeClassifier(costs=heart.costs, max_depth=2).fit(heart.X, heart.y)
    >>> ConsultationWidget(model.with_labels(heart.labels), height=600)
    ConsultationWidget(BudgetTreeClassifier, height=600)
    """

    def __init__(self, model: BudgetedEstimator, height: int = 640) -> None:
        if height < 1:
            raise ValueError(f"height must be a number of pixels, 1 or more; got {height!r}")
        self.model = model
        self.height = height
        self.program = Program.of(model)

    @cached_property
    def page(self) -> str:
        """The page, as HTML."""
        # The page is part of the service, whose package needs the extra `serve`.
        from farthing.export.html_writer import write_html  # noqa: PLC0415

        (text,) = write_html(self.program, "model", self.model, embedded=True).files.values()
        return str(text)

    def _repr_html_(self) -> str:
        rights = "allow-scripts allow-forms allow-modals allow-downloads"
        style = f"width:100%;height:{self.height}px;border:0"
        page = escape(self.page)
        return f'<iframe srcdoc="{page}" sandbox="{rights}" style="{style}" title="Consultation"></iframe>'

    def __repr__(self) -> str:
        return f"ConsultationWidget({type(self.model).__name__}, height={self.height})"
