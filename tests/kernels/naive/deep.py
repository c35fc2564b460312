"""Greedy walks by networks, as `cpp/deep` says them, in plain NumPy: sums of float32 in the same order."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger

Floats = NDArray[np.float64]
Layers = list[tuple[NDArray[np.float32], NDArray[np.float32]]]


@dataclass
class Networks:
    """Columns, two networks and prices."""

    n_categories: list[int]  # 0 for a number
    mean: Floats
    scale: Floats
    units: NDArray[np.int64]
    predictor: Layers
    selector: Layers
    by_value: bool
    n_classes: int
    tradeoff: float
    is_blind: bool
    sheet: CostSheet

    @property
    def first(self) -> NDArray[np.int64]:
        """The first row of each column in the first layer."""
        widths = [n + 1 if n else 3 for n in self.n_categories]
        return np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)

    def added(
        self, layers: Layers, column: int, value: float
    ) -> list[tuple[NDArray[np.float32], np.float32]]:
        """Return the rows that a value adds to the first layer, with their factors."""
        rows, begin, end = layers[0][0], self.first[column], self.first[column + 1]
        if math.isnan(value):
            return [(rows[end - 1], np.float32(1))]
        if self.n_categories[column]:
            return [(rows[begin + int(value)], np.float32(1))]
        units = np.float32(np.clip((value - self.mean[column]) / self.scale[column], -10, 10))
        return [(rows[begin], np.float32(1)), (rows[begin + 1], units)]

    def evaluate(self, layers: Layers, bought: list[tuple[int, float]]) -> NDArray[np.float32]:
        """Return the outputs of a network for what was bought, in the order of the purchases."""
        out = layers[0][1].copy()
        for column, value in bought:
            for row, factor in self.added(layers, column, value):
                out = out + factor * row
        for weights, intercepts in layers[1:]:
            hidden, out = out, intercepts.copy()
            for unit in np.flatnonzero(hidden > 0):
                out = out + hidden[unit] * weights[unit]
        return out

    def entropy(self, scores: NDArray[np.float32]) -> float:
        """Return the entropy of the probabilities of scores."""
        every = [0.0, float(scores[0])] if self.n_classes == 2 else [float(score) for score in scores]
        largest = max(every)
        terms = [math.exp(score - largest) for score in every]
        total = moment = 0.0
        for score, term in zip(every, terms, strict=True):
            total += term
            moment += (score - largest) * term
        return math.log(total) - moment / total


@dataclass
class Walker:
    """A row on its way."""

    networks: Networks
    ledger: RowLedger
    bought: list[tuple[int, float]] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)

    def columns(self, unit: int) -> list[int]:
        """Return what may be asked for of a unit: the first column that was not, if it is affordable."""
        left = [j for j in np.flatnonzero(self.networks.units == unit).tolist() if j not in self.asked]
        return [left[0]] if left and self.ledger.affords(left[0]) else []

    def next(self, last: int | None) -> int | None:
        """Return the next column; ``last`` is the one that was asked for last."""
        networks = self.networks
        if networks.n_classes == 1:
            return None
        if last is not None and (same := self.columns(int(networks.units[last]))):
            return same[0]
        scores = networks.evaluate(networks.selector, self.bought)
        entropy = networks.entropy(networks.evaluate(networks.predictor, self.bought))
        found = []
        for unit, score in enumerate(scores.tolist()):
            for column in self.columns(unit):
                price = 1.0 if networks.is_blind else self.ledger.price(column)
                gain = entropy / (1 + math.exp(-score)) if networks.by_value else score
                if not networks.by_value:
                    rank = (price == 0, gain)
                else:
                    rank = (math.inf if price == 0 and gain > 0 else gain / (price or 1.0), gain, -price)
                found.append((rank, column, gain, price))
        if not found:
            return None
        best = max(rank for rank, *_ in found)
        _, column, gain, price = next(each for each in found if each[0] == best)
        if networks.by_value or networks.tradeoff > 0:
            most = gain if networks.by_value else entropy
            if not most > (0.0 if networks.is_blind else networks.tradeoff * price):
                return None
        return column

    def walk(self, values: Floats) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Return the predictor's output and what was bought, for a row."""
        column = None
        while (column := self.next(column)) is not None:
            self.ledger.buy(column)
            self.bought.append((column, float(values[column])))
            self.asked.add(column)
        acquired = np.isin(np.arange(len(values)), sorted(self.asked))
        return self.networks.evaluate(self.networks.predictor, self.bought), acquired
