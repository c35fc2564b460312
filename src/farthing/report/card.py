"""A model card: what a model is for, what it costs, and how well it does, as Markdown by skops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthing.base import BudgetedEstimator
from farthing.report.audit import audit

if TYPE_CHECKING:
    from skops.card import Card


def model_card(model: BudgetedEstimator, X: Any, y: Any = None, *, description: str = "") -> Card:
    """Return a card of a fitted model; ``card.save("README.md")`` writes it, ``card.add`` adds sections.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : array or frame, shape (n_rows, n_features)
        Rows to measure spends on, preferably not those of the fit.
    y : array, shape (n_rows,), optional
        Their targets; without them the card has no score.
    description : str
        What the model is for. A card without it says that it is missing.

    Returns
    -------
    skops.card.Card

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> from farthing.forests import BudgetTreeClassifier
    >>> heart = load_heart_disease()
    >>> model = BudgetTreeClassifier(costs=heart.costs, max_depth=2).fit(heart.X[::2], heart.y[::2])
    >>> card = model_card(model, heart.X[1::2], heart.y[1::2], description="Heart disease, yes or no.")
    >>> "Mean spend" in card.render()
    True
    """
    try:
        from skops.card import Card  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("model_card needs skops: pip install 'farthing[adaptive]'") from error
    found = audit(model, X)
    unit = f" {found.sheet.unit}" if found.sheet.unit else ""
    card = Card(model, model_diagram=False, template=None)
    card.add(**{"Model description": description or "Not described: say what it is for, and what not."})
    card.add_hyperparams(section="Model description/Parameters")
    spends = {"Rows measured": str(found.n_rows), "Mean spend": f"{found.mean:.6g}{unit}"}
    spends |= {
        f"Quantile {level:g} of the spend": f"{spend:.6g}{unit}" for level, spend in found.quantiles.items()
    }
    if y is not None:
        spends["Score (`model.score`)"] = f"{model.score(X, y):.6g}"
    card.add_table(
        **{"Spend and score": {"figure": list(spends), "value": list(spends.values())}}, folded=False
    )
    features = found.features()
    bought = [place for place, share in enumerate(features["share"]) if share > 0]
    shown = {
        "feature": [features["feature"][place] for place in bought],
        f"price{unit}": [f"{features['cost'][place]:.6g}" for place in bought],
        "bought by": [f"{features['share'][place]:.1%}" for place in bought],
    }
    card.add_table(**{"Features that are bought": shown}, folded=False)
    if (certificate := model.fitted_.certificate) is not None:
        card.add(**{"Guarantee": str(certificate)})
    return card
