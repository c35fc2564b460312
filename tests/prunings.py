"""Naive twins of pruning: small forests, all their prunings, the thesis's linear program and Algorithm 3."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from farthing.costs import CostSheet, Group
from farthing.forests import BudgetForestClassifier


@dataclass(frozen=True)
class Case:
    """A small forest and all that its pruning depends on."""

    model: Any
    X: NDArray[np.float64]
    y: NDArray[np.int64]
    sheet: CostSheet
    X_error: NDArray[np.float64] | None = None
    y_error: NDArray[np.int64] | None = None
    path_length_cost: float = 0.0

    @property
    def arguments(self) -> dict[str, Any]:
        return {
            "forest": self.model,
            "X": self.X,
            "y": self.y,
            "costs": self.sheet,
            "X_error": self.X_error,
            "y_error": self.y_error,
            "path_length_cost": self.path_length_cost,
        }

    @cached_property
    def prices(self) -> NDArray[np.float64]:
        """Return what errors cost: 1 each, unless the forest was fitted with prices."""
        given = self.model.error_costs_
        return 1 - np.eye(len(self.model.classes_)) if given is None else np.asarray(given)

    def price(self, label: int, node: int) -> float:
        """Return what a row of a label costs if it ends at a node."""
        code = int(np.searchsorted(self.model.classes_, label))
        said = int((self.model.forest_.value[node] @ self.prices).argmin())
        return float(self.prices[code, said])

    @cached_property
    def trees(self) -> list[Tree]:
        forest = self.model.forest_
        return [Tree(self, t, *map(int, forest.offsets[t : t + 2])) for t in range(forest.n_trees)]

    def value(self, kept: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the mean error of the trees and the mean cost of the rows, path lengths included."""
        error = float(np.mean([tree.error(kept) for tree in self.trees]))
        used = np.any([tree.used(kept) for tree in self.trees], axis=0)
        tests = sum(tree.tests(kept) for tree in self.trees)
        return error, float(self.sheet.total_rows(used).mean() + self.path_length_cost * tests / len(self.X))

    def prunings(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the error and the cost of every pruning, by brute force."""
        found = []
        for choice in itertools.product(*(tree.prunings() for tree in self.trees)):
            error = float(np.mean([one.error for one in choice]))
            used = np.logical_or.reduce([one.used for one in choice])
            tests = sum(one.tests for one in choice)
            cost = self.sheet.total_rows(used).mean() + self.path_length_cost * tests / len(self.X)
            found.append((error, cost))
        errors, costs = np.array(found).T
        return errors, costs


@dataclass(frozen=True)
class Pruned:
    """One pruning of one tree."""

    error: float
    used: NDArray[np.bool_]
    tests: int


@dataclass(frozen=True)
class Tree:
    """One tree, walked row by row."""

    case: Case
    number: int
    begin: int
    end: int

    def path(self, row: NDArray[np.float64]) -> list[int]:
        """Return the nodes that a row passes, the last one where it ends."""
        forest, nodes = self.case.model.forest_, [self.begin]
        while (to := forest.route(nodes[-1], row[forest.feature[nodes[-1]]])) is not None:
            nodes.append(to)
        return nodes

    @cached_property
    def paths(self) -> list[list[int]]:
        return [self.path(row) for row in self.case.X]

    def children(self, node: int) -> list[int]:
        forest = self.case.model.forest_
        if forest.feature[node] < 0:
            return []
        return [self.begin + int(forest.left[node]), self.begin + int(forest.right[node])]

    @cached_property
    def errors(self) -> dict[int, float]:
        """Return e_h over the number of rows, of those that end at h if it is a leaf."""
        case, forest = self.case, self.case.model.forest_
        value = forest.value
        if case.X_error is None or case.y_error is None:
            weight = value[self.begin].sum()
            return {h: (value[h] @ case.prices).min() / weight for h in range(self.begin, self.end)}
        wrong = dict.fromkeys(range(self.begin, self.end), 0.0)
        for row, label in zip(case.X_error, case.y_error, strict=True):
            for h in self.path(row):
                wrong[h] += case.price(label, h)
        return {h: count / len(case.X_error) for h, count in wrong.items()}

    @cached_property
    def staying(self) -> dict[int, float]:
        """Return the errors of the rows that a missing value stops at an inner node."""
        case, forest = self.case, self.case.model.forest_
        wrong = dict.fromkeys(range(self.begin, self.end), 0.0)
        if case.X_error is None or case.y_error is None:
            return wrong
        for row, label in zip(case.X_error, case.y_error, strict=True):
            last = self.path(row)[-1]
            if forest.feature[last] >= 0:
                wrong[last] += case.price(label, last) / len(case.X_error)
        return wrong

    def error(self, kept: NDArray[np.bool_]) -> float:
        def below(h: int) -> float:
            if not self.children(h) or not kept[h]:
                return self.errors[h]
            return self.staying[h] + sum(below(child) for child in self.children(h))

        return below(self.begin)

    def taken(self, kept: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield each test as a row and a node."""
        for row, path in enumerate(self.paths):
            for h in path:
                if self.case.model.forest_.feature[h] < 0 or not kept[h]:
                    break
                yield row, h

    def used(self, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
        used = np.zeros(self.case.X.shape, dtype=bool)
        for row, h in self.taken(kept):
            used[row, self.case.model.forest_.feature[h]] = True
        return used

    def tests(self, kept: NDArray[np.bool_]) -> int:
        return sum(1 for _ in self.taken(kept))

    def prunings(self) -> list[Pruned]:
        def below(h: int) -> list[tuple[int, ...]]:
            children = self.children(h)
            if not children:
                return [()]
            both = itertools.product(*(below(child) for child in children))
            return [(), *((h, *left, *right) for left, right in both)]

        found = []
        for nodes in below(self.begin):
            kept = np.zeros(self.case.model.forest_.n_nodes, dtype=bool)
            kept[list(nodes)] = True
            found.append(Pruned(self.error(kept), self.used(kept), self.tests(kept)))
        return found


def make_case(seed: int, error_costs: Any = None) -> Case:
    """Return a random forest of two or three shallow trees: groups, free features, missing values, ties."""
    rng = np.random.default_rng(seed)
    n_features = int(rng.integers(3, 6))
    names = [f"x{k}" for k in range(n_features)]
    prices = rng.integers(0, 5, size=n_features).astype(float)
    if seed % 3 == 1:
        prices = np.round(rng.uniform(0, 3, size=n_features), 2)
    if seed % 3 == 2:
        prices = rng.uniform(0, 3, size=n_features)  # not on any decimal grid
    members = rng.permutation(names)
    groups = {"a": Group(float(rng.integers(1, 4)), list(members[:2])), "b": Group(0.5, [members[2]])}
    sheet = CostSheet(dict(zip(names, prices, strict=True)), groups=groups)
    X = rng.integers(0, 4, size=(50, n_features)).astype(float)
    y = (X[:, 0] + X[:, 1] + rng.integers(0, 3, size=50)).astype(int) % 3
    model = BudgetForestClassifier(
        n_estimators=2 + seed % 2,
        max_depth=3 - seed % 2,
        impurity="gini",
        cost_rule="penalty",
        tradeoff=0.0,
        max_features=2,
        random_state=seed,
        costs=sheet,
        error_costs=error_costs,
    ).fit(X[:30], y[:30])
    rest = X[30:].copy()
    rest[rng.random(rest.shape) < 0.1] = np.nan
    given = seed % 4 == 3
    return Case(
        model,
        rest[:10],
        y[30:40],
        sheet,
        X_error=rest if given else None,
        y_error=y[30:] if given else None,
        path_length_cost=0.25 if seed % 5 == 4 else 0.0,
    )


class ThesisProgram:
    """The linear relaxation of (IP), thesis page 55, with groups: w_ki <= w_gi."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.names: dict[Any, int] = {}
        self.error: dict[int, float] = {}
        self.cost: dict[int, float] = {}
        equal: list[list[tuple[int, float]]] = []
        below: list[list[tuple[int, float]]] = []
        n = len(case.X)
        for tree in case.trees:
            self._tree(tree, equal, below)
        for key in [key for key in self.names if key[0] == "w"]:
            _, k, row = key
            self.cost[self.names[key]] = case.sheet.own[k] / n
            if (group := int(case.sheet.group_of[k])) >= 0:
                bought = self.column(("g", group, row))
                self.cost[bought] = case.sheet.shared[group] / n
                below.append([(self.names[key], 1.0), (bought, -1.0)])
        self.constraints = [
            LinearConstraint(self._matrix(equal), 1, 1),
            LinearConstraint(self._matrix(below), -np.inf, 0),
        ]

    def column(self, key: Any) -> int:
        return self.names.setdefault(key, len(self.names))

    def _tree(self, tree: Tree, equal: list[Any], below: list[Any]) -> None:
        case, n = self.case, len(self.case.X)
        forest = case.model.forest_

        def visit(h: int, above: list[int], stayed: float, tests: float) -> None:
            z = self.column(("z", h))
            reaching = sum(h in path for path in tree.paths)
            self.error[z] = (tree.errors[h] + stayed) / len(case.trees)
            # A row that stops above h has taken its tests there, so they are charged where it stops.
            self.cost[z] = case.path_length_cost * tests / n
            children = tree.children(h)
            if not children:
                equal.append([(u, 1.0) for u in [*above, z]])
            # Rows that stay at h count once, with the leftmost leaf below it.
            for place, child in enumerate(children):
                first = place == 0
                visit(
                    child,
                    [*above, z],
                    stayed + tree.staying[h] if first else 0.0,
                    tests + reaching if first else 0.0,
                )

        visit(tree.begin, [], 0.0, 0.0)
        for row, path in enumerate(tree.paths):
            seen: set[int] = set()
            for place, h in enumerate(path):
                k = int(forest.feature[h])
                if k < 0 or k in seen:
                    continue
                seen.add(k)
                mine = self.column(("wt", tree.number, k, row))
                bought = self.column(("w", k, row))
                equal.append([(mine, 1.0), *((self.column(("z", u)), 1.0) for u in path[: place + 1])])
                below.append([(mine, 1.0), (bought, -1.0)])

    def _matrix(self, rows: list[Any]) -> Any:
        entries = [(i, column, weight) for i, row in enumerate(rows) for column, weight in row]
        i, j, weight = zip(*entries, strict=True)
        return coo_array((weight, (i, j)), shape=(len(rows), len(self.names))).tocsr()

    def optimum(self, lam: float) -> float:
        objective = np.zeros(len(self.names))
        for column, weight in self.error.items():
            objective[column] += weight
        for column, weight in self.cost.items():
            objective[column] += lam * weight
        # `milp` without integer variables is HiGHS on the linear program, with less ado than `linprog`.
        answer = milp(objective, constraints=self.constraints, bounds=Bounds(0, 1))
        assert answer.status == 0
        return float(answer.fun)


def algorithm_three(case: Case, lam: float, n_steps: int) -> tuple[float, float]:
    """Run the thesis's primal-dual steps; return the best dual bound and the best pruning's objective.

    Given the dual variables beta each tree is a shortest path, here the recursion over its nodes; the step
    size is Polyak's, with the best pruning so far for the unknown optimum. No groups, as in the thesis.
    """
    forest, n, n_trees = case.model.forest_, len(case.X), len(case.trees)
    charge = lam * case.sheet.own / n
    first: list[dict[int, list[tuple[int, int]]]] = []  # by tree: node -> rows and features first met there
    for tree in case.trees:
        met: dict[int, list[tuple[int, int]]] = {}
        for row, path in enumerate(tree.paths):
            seen: set[int] = set()
            for h in path:
                k = int(forest.feature[h])
                if k >= 0 and k not in seen:
                    seen.add(k)
                    met.setdefault(h, []).append((row, k))
        first.append(met)
    beta = np.zeros((n_trees, n, len(charge)))
    mine = np.zeros_like(beta)
    lower, upper = -np.inf, np.inf
    for _ in range(n_steps):
        total = 0.0
        kept = np.zeros(forest.n_nodes, dtype=bool)
        mine[:] = 0
        for t, tree in enumerate(case.trees):

            def best(
                h: int, t: int = t, tree: Tree = tree, beta: NDArray[np.float64] = beta
            ) -> tuple[float, list[int]]:
                leaf = tree.errors[h] / n_trees
                children = tree.children(h)
                if not children:
                    return leaf, []
                parts = [best(child) for child in children]
                split = sum(part[0] for part in parts) + tree.staying[h] / n_trees
                split += sum(beta[t, row, k] for row, k in first[t].get(h, []))
                return (split, [h, *parts[0][1], *parts[1][1]]) if split < leaf else (leaf, [])

            value, nodes = best(tree.begin)
            total += value
            kept[nodes] = True
            for h in nodes:
                for row, k in first[t].get(h, []):
                    mine[t, row, k] = 1
        mu = charge - beta.sum(axis=0)
        bought = (mu < 0).astype(float)
        lower = max(lower, total + float((mu * bought).sum()))
        error, cost = case.value(kept)
        upper = min(upper, error + lam * cost)
        slope = mine - bought
        if (norm := float((slope**2).sum())) == 0:
            break
        step = max(upper - (total + float((mu * bought).sum())), 1e-12) / norm
        beta = np.maximum(beta + 0.7 * step * slope, 0)
    return lower, upper
