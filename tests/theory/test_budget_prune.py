"""BudgetPrune is exact: against the linear program of Nan's thesis, brute force and Algorithm 3."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.prunings import Case, ThesisProgram, algorithm_three, make_case

from farthing.costs import CostSheet
from farthing.forests import PruningPath, prune_path

SEEDS = range(54)


def objective(case: Case, path: PruningPath, lam: float) -> float:
    j = path.index(lam)
    return float(
        path.objective_errors[j] + lam * (path.costs[j] + case.path_length_cost * path.path_lengths[j])
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cut_is_the_optimum_of_program_and_brute_force(seed: int) -> None:
    """On 54 forests with groups, for 20 trade-offs each and at every breakpoint."""
    case = make_case(seed)
    path = prune_path(**case.arguments)
    errors, costs = case.prunings()
    rng = np.random.default_rng(seed)
    top = 1.2 * path.tradeoffs[-1] if path.tradeoffs[-1] > 0 else 1.0
    program = ThesisProgram(case)
    for lam in [0.0, *rng.uniform(0, top, size=19)]:
        ours = objective(case, path, lam)
        assert ours == pytest.approx((errors + lam * costs).min(), abs=1e-9)
        assert ours == pytest.approx(program.optimum(lam), abs=1e-7)

    # Every breakpoint is there, and is one: the optimum is linear between neighbours, and the cost falls.
    ends = np.append(path.tradeoffs, top)
    for lam in [*path.tradeoffs, *(ends[:-1] + ends[1:]) / 2]:
        assert objective(case, path, lam) == pytest.approx((errors + lam * costs).min(), abs=1e-9)
    spent = path.costs + case.path_length_cost * path.path_lengths
    assert (np.diff(spent) < 0).all()
    assert (np.diff(path.tradeoffs[1:]) > 0).all()
    for j in range(1, len(path)):
        before = path.objective_errors[j - 1] + path.tradeoffs[j] * spent[j - 1]
        assert before == pytest.approx(path.objective_errors[j] + path.tradeoffs[j] * spent[j], abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_with_prices_of_errors_the_objective_is_their_sum_with_the_spend(seed: int) -> None:
    """At a trade-off of 1 no pruning has a lower total cost, errors and tests."""
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 9, size=(3, 3)) * (1.0 - np.eye(3))
    case = make_case(seed, error_costs=table)
    path = prune_path(**case.arguments)
    errors, costs = case.prunings()
    for lam in (0.0, 0.3, 1.0, 4.0):
        assert objective(case, path, lam) == pytest.approx((errors + lam * costs).min(), abs=1e-8)
    # The measured error of each pruning is what its model's labels cost on the rows.
    for point in path.points[:: max(1, len(path) // 3)]:
        said = point.model.predict(case.X)
        assert point.details["forest_error"] == pytest.approx(table[case.y, said].mean())
        assert point.score == -point.details["forest_error"]


@pytest.mark.parametrize("seed", SEEDS[::6])
def test_prunings_are_nested_and_ties_go_to_the_cheapest_then_the_largest(seed: int) -> None:
    case = make_case(seed)
    path = prune_path(**case.arguments)
    inner = case.model.forest_.feature >= 0
    for j in range(len(path) - 1):
        larger, smaller = path.kept(j)[inner], path.kept(j + 1)[inner]
        assert (smaller <= larger).all()
        assert smaller.sum() < larger.sum()
    for j in range(len(path)):
        kept = path.kept(j)
        value = case.value(kept)
        cost = path.costs[j] + case.path_length_cost * path.path_lengths[j]
        assert value == pytest.approx((path.objective_errors[j], cost), abs=1e-9)
        # No single split could be kept as well for nothing.
        for tree in case.trees:
            for h in range(tree.begin, tree.end):
                if inner[h] and not kept[h] and (h == tree.begin or any_parent(case, tree, h, kept)):
                    more = kept.copy()
                    more[h] = True
                    assert case.value(more) != pytest.approx(value, abs=1e-12)


def any_parent(case: Case, tree: object, node: int, kept: np.ndarray) -> bool:
    forest = case.model.forest_
    start = int(forest.tree_starts()[node])
    parents = np.flatnonzero((start + forest.left == node) | (start + forest.right == node))
    return any(kept[p] and forest.tree_starts()[p] == start for p in parents)


def test_the_first_pruning_is_the_whole_forest_if_no_split_does_harm() -> None:
    case = make_case(4)
    path = prune_path(**case.arguments)
    assert path.at(0).model.forest_ == case.model.forest_
    assert path.kept(0)[case.model.forest_.feature >= 0].all()


def test_free_is_free() -> None:
    """With all costs zero there is one pruning, the forest itself."""
    case = make_case(0)
    nothing = CostSheet(dict.fromkeys(case.sheet.features, 0.0))
    path = prune_path(case.model, case.X, case.y, nothing)
    assert len(path) == 1
    assert path.at(7.0).model.forest_ == case.model.forest_


@pytest.mark.parametrize("scale", [0.5, 8.0])
def test_costs_times_a_power_of_two_are_rates_over_it(scale: float) -> None:
    case = make_case(2)
    path, other = (
        prune_path(case.model, case.X, case.y, sheet) for sheet in (case.sheet, case.sheet.scaled(scale))
    )
    np.testing.assert_array_equal(other.tradeoffs * scale, path.tradeoffs)
    assert all(np.array_equal(other.kept(j), path.kept(j)) for j in range(len(path)))


@pytest.mark.parametrize("seed", [0, 3, 10, 12])
def test_algorithm_three_of_the_thesis_closes_in_on_the_optimum(seed: int) -> None:
    case = make_case(seed)
    sheet = CostSheet(dict(zip(case.sheet.features, case.sheet.own + 0.5, strict=True)))
    case = replace(case, sheet=sheet, path_length_cost=0.0)
    path = prune_path(**case.arguments)
    for lam in path.tradeoffs[-1] * np.array([0.1, 0.5, 0.9]):
        exact = objective(case, path, lam)
        lower, upper = algorithm_three(case, lam, n_steps=300)
        assert lower <= exact + 1e-9
        assert upper >= exact - 1e-9
        assert upper - lower <= 0.02 * exact
        assert upper == pytest.approx(exact, rel=0.01)
