"""Experts of an `OnlineGate`: each a gate and a local model, given one by one, together, or as thresholds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.utils.validation import check_is_fitted

from farthing.adaptive.adapt.base import AdaptClassifier
from farthing.store import register_codec
from farthing.table import encode
from farthing.typing import Floats

# The scores of the gates, above 0 to ask the remote model, and the predictions of the local models.
Opinions: TypeAlias = tuple[Floats, Sequence[Any] | NDArray[Any]]


class Look(Protocol):
    """The opinions of the experts about one context."""

    def one(self, number: int) -> tuple[float, Any]:
        """Return the gate's score and the local prediction of one expert."""
        ...

    def all(self) -> Opinions:
        """Return the scores, shape (n_experts,), and the predictions of all."""
        ...


class Experts(Protocol):
    """A set of experts."""

    @property
    def n_experts(self) -> int:
        """Number of experts."""
        ...

    def look(self, x: Any) -> Look:
        """Return the opinions about one context."""
        ...

    def looks(self, X: Any) -> Iterator[Look]:
        """Yield the opinions about the rows of a table, one after another."""
        ...


class Pairs:
    """Experts one by one: pairs (gate, local) of functions, or of fitted scikit-learn models.

    Only the drawn expert is evaluated, and all of them if it asks for the label.

    Parameters
    ----------
    pairs : sequence of (gate, local)
        A gate is a function from x to a score, above 0 to ask the remote model, or a model with
        ``decision_function``. A local model is a function from x to a prediction, or a model with
        ``predict``. Models get x as a table of one row.

    Examples
    --------
    >>> experts = Pairs([(lambda x: x - 2, lambda x: x > 0), (lambda x: 1, lambda x: False)])
    >>> look = experts.look(1.5)
    >>> look.one(0)
    (-0.5, True)
    >>> look.all()
    (array([-0.5,  1. ]), [True, False])
    """

    def __init__(self, pairs: Sequence[tuple[Any, Any]]) -> None:
        self.pairs = [_functions(pair) for pair in pairs]
        if not self.pairs:
            raise ValueError("an OnlineGate needs at least one expert, a pair (gate, local)")

    @property
    def n_experts(self) -> int:
        """Number of experts."""
        return len(self.pairs)

    def look(self, x: Any) -> Look:
        """Return the opinions about one context."""
        return _PairsLook(self.pairs, x)

    def looks(self, X: Any) -> Iterator[Look]:
        """Yield the opinions about the rows of a table, one after another."""
        return map(self.look, _rows(X))


class _PairsLook:
    def __init__(self, pairs: Sequence[tuple[Any, Any]], x: Any) -> None:
        self._pairs = pairs
        self._x = x

    def one(self, number: int) -> tuple[float, Any]:
        gate, local = self._pairs[number]
        return float(gate(self._x)), local(self._x)

    def all(self) -> Opinions:
        scores = np.array([float(gate(self._x)) for gate, _ in self._pairs])
        return scores, [local(self._x) for _, local in self._pairs]


class Panel:
    """Experts together: one function gives the opinions of all, which is fast for many experts.

    Parameters
    ----------
    advise : callable
        From x to the gates' scores, above 0 to ask the remote model, and the local predictions, each of shape
        (n_experts,).
    n_experts : int
        Number of experts.

    Examples
    --------
    >>> bars = np.array([0.5, 1.0, 2.0])
    >>> panel = Panel(lambda x: (abs(x) - bars, np.full(3, x > 0)), 3)
    >>> panel.look(1.2).all()[0].round(1)
    array([ 0.7,  0.2, -0.8])
    """

    def __init__(self, advise: Callable[[Any], Opinions], n_experts: int) -> None:
        self.advise = advise
        self._n_experts = int(n_experts)
        if self._n_experts < 1:
            raise ValueError(f"n_experts must be at least 1; got {n_experts}")

    @property
    def n_experts(self) -> int:
        """Number of experts."""
        return self._n_experts

    def look(self, x: Any) -> Look:
        """Return the opinions about one context."""
        scores, predictions = self.advise(x)
        scores = np.asarray(scores, dtype=np.float64)
        if scores.shape != (self._n_experts,) or len(predictions) != self._n_experts:
            raise ValueError(
                f"advise must give {self._n_experts} scores and as many predictions; got scores of shape "
                f"{scores.shape} and {len(predictions)} predictions"
            )
        return _PanelLook(scores, predictions)

    def looks(self, X: Any) -> Iterator[Look]:
        """Yield the opinions about the rows of a table, one after another."""
        return map(self.look, _rows(X))


class _PanelLook:
    def __init__(self, scores: Floats, predictions: Sequence[Any] | NDArray[Any]) -> None:
        self._scores = scores
        self._predictions = predictions

    def one(self, number: int) -> tuple[float, Any]:
        return float(self._scores[number]), self._predictions[number]

    def all(self) -> Opinions:
        return self._scores, self._predictions


class AdaptExperts:
    """Experts that differ in the threshold of one gate, so that a deployed gate is tuned online.

    An expert sends a row on if the gate's score, its log-odds of doing so, is above the expert's threshold;
    the local model of all is f1. A file can hold these experts.

    Parameters
    ----------
    model : AdaptClassifier
        Fitted: `AdaptLinClassifier`, `AdaptGbrtClassifier` or `AdaptLstsqClassifier`.
    thresholds : int or array, shape (n_experts,)
        Log-odds; an int is a number of thresholds, evenly spaced as probabilities from 0, which sends every
        row on, to 1, which sends none.

    Examples
    --------
    >>> from farthing.adaptive import AdaptLinClassifier
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaptLinClassifier(costs=heart.costs, random_state=0).fit(heart.X, heart.y)
    >>> experts = AdaptExperts(model, thresholds=3)
    >>> experts.thresholds
    array([-inf,   0.,  inf])
    >>> scores, predictions = experts.look(heart.X.iloc[0]).all()
    >>> scores > 0
    array([ True, False, False])
    """

    def __init__(self, model: AdaptClassifier, thresholds: Any = 21) -> None:
        if not isinstance(model, AdaptClassifier):
            raise TypeError(f"model must be one of the Adapt classifiers; got {type(model).__name__}")
        check_is_fitted(model)
        self.model = model
        self.thresholds = _thresholds(thresholds)
        self._names = model.fitted_.schema.names

    @property
    def n_experts(self) -> int:
        """Number of experts."""
        return len(self.thresholds)

    def look(self, x: Any) -> Look:
        """Return the opinions about one row: a mapping or Series, an array or list, or a table of one row."""
        return next(self.looks(self._table(x)))

    def looks(self, X: Any) -> Iterator[Look]:
        """Yield the opinions about the rows of a table, one after another."""
        model = self.model.fitted_
        encoded = encode(model.schema, X, type(self.model).__name__)
        scores, acquired = model.pair.outputs(encoded.values)
        encoded.check(acquired)
        labels = model.classes[model.cheap_probabilities(scores).argmax(axis=1)].tolist()
        for gate, label in zip(scores[:, 0].tolist(), labels, strict=True):
            yield _ThresholdLook(gate, self.thresholds, label)

    def _table(self, x: Any) -> Any:
        if hasattr(x, "keys") and not hasattr(x, "columns"):  # a mapping, a Series
            x = [x[name] for name in self._names]
        if np.ndim(x) == 1:
            # dtype object, since a row may mix numbers and categories.
            table = np.empty((1, len(x)), dtype=object)
            table[0] = list(x)
            named = self.model.fitted_.schema.named
            return dict(zip(self._names, table.T, strict=True)) if named else table
        return x


class _ThresholdLook:
    def __init__(self, gate: float, thresholds: Floats, label: Any) -> None:
        self._gate = gate
        self._thresholds = thresholds
        self._label = label

    def one(self, number: int) -> tuple[float, Any]:
        # An infinite threshold gives an infinite score of the right sign: send always, or never.
        return self._gate - float(self._thresholds[number]), self._label

    def all(self) -> Opinions:
        return self._gate - self._thresholds, np.full(len(self._thresholds), self._label, dtype=object)


def as_experts(given: Any) -> Experts:
    """Return experts in any of the forms that `OnlineGate` takes as a set of experts."""
    if hasattr(given, "look") and hasattr(given, "n_experts"):
        return given  # type: ignore[no-any-return]
    if isinstance(given, AdaptClassifier):
        return AdaptExperts(given)
    return Pairs(given)


def _functions(pair: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise ValueError(f"an expert is a pair (gate, local); got {pair!r}")
    gate, local = pair
    return _function(gate, "decision_function", "gate"), _function(local, "predict", "local")


def _function(given: Any, method: str, what: str) -> Callable[[Any], Any]:
    if (found := getattr(given, method, None)) is not None:
        return lambda x: found([x])[0]
    if callable(given):
        return given  # type: ignore[no-any-return]
    raise TypeError(f"a {what} must be a function of x, or have {method}; got {type(given).__name__}")


def _rows(X: Any) -> Iterator[Any]:
    if hasattr(X, "iloc"):
        return (X.iloc[row] for row in range(len(X)))
    if hasattr(X, "iter_rows"):
        return X.iter_rows(named=True)  # type: ignore[no-any-return]
    return iter(X)


def _thresholds(thresholds: Any) -> Floats:
    if isinstance(thresholds, int | np.integer) and not isinstance(thresholds, bool):
        if thresholds < 2:
            raise ValueError(f"thresholds must be at least 2 if given as a number; got {thresholds}")
        return np.asarray(logit(np.linspace(0.0, 1.0, int(thresholds))))
    levels = np.array(thresholds, dtype=np.float64)
    if levels.ndim != 1 or not len(levels) or np.isnan(levels).any():
        raise ValueError(f"thresholds must be a list of log-odds, or their number; got {thresholds!r}")
    return levels


def _decode(fields: dict[str, Any]) -> AdaptExperts:
    if not isinstance(fields["thresholds"], np.ndarray):
        raise TypeError("thresholds must be an array")
    return AdaptExperts(fields["model"], fields["thresholds"])


register_codec(
    "AdaptExperts",
    AdaptExperts,
    lambda experts: {"model": experts.model, "thresholds": experts.thresholds},
    _decode,
)
