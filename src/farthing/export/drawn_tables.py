"""The tables of a vote whose learners are drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, chain

from farthing.export.program import Program
from farthing.walks.drawn_votes import DrawnVotePlan, Draws, LinearLearners, TopOrder, TreeLearners, UnitDraws

Named = dict[str, tuple[str, Sequence[float]]]
Numbers = dict[str, float]


def drawn_tables(program: Program, plan: DrawnVotePlan, order: list[int]) -> tuple[Named, Numbers]:
    """Return the tables, by name with their kind, and the constants.

    Parameters
    ----------
    program : Program
        For the numbers of columns.
    plan : DrawnVotePlan
    order : list of int
        The number that each node of the written trees has in the forest.
    """
    slot = program.prices.slot
    sets = [[slot(column) for column in own] for own in plan.columns]
    tables: Named = {
        "SET_BEGIN": ("whole", [0, *accumulate(map(len, sets))]),
        "SET_ITEM": ("whole", list(chain(*sets))),
        "PRIOR": ("double", plan.prior.tolist()),
    }
    numbers: Numbers = {
        "LEARNERS": len(sets),
        "MAX_SAMPLES": min(plan.max_samples, 2**31 - 1),
        "FULL_VOTE": int(plan.full_vote),
        "DRAWN_TREES": int(isinstance(plan.learners, TreeLearners)),
        "DRAWN_TOP": int(plan.way == "top"),
        "DRAWN_ONE_BY_ONE": int(plan.way == "draws"),
        "DRAWN_UNITS": int(plan.way == "units"),
    }
    if plan.way != "top":
        keys = [plan.keys.get(column, 0) for column in program.prices.columns]
        tables["PURCHASE"] = ("uint64_t", keys)
    _add_learners(tables, numbers, plan, order, slot)
    if isinstance(plan.choice, TopOrder):
        _add_top(tables, numbers, plan.choice)
    elif isinstance(plan.choice, Draws):
        _add_draws(tables, numbers, plan.choice)
    else:
        _add_units(tables, numbers, plan.choice)
    return tables, numbers


def _add_learners(
    tables: Named, numbers: Numbers, plan: DrawnVotePlan, order: list[int], slot: object
) -> None:
    learners, one_by_one = plan.learners, plan.way == "draws"
    if isinstance(learners, TreeLearners):
        uses_votes = not one_by_one or plan.full_vote or len(plan.choice.exact)  # type: ignore[union-attr]
        numbers["DRAWN_VOTES"] = int(bool(uses_votes))
        if uses_votes:
            tables["VOTE"] = ("real", learners.votes[order].ravel().tolist())
        if one_by_one:
            tables["DRAWN_VOTE"] = ("real", learners.drawn[order].ravel().tolist())
        return
    assert isinstance(learners, LinearLearners)
    assert callable(slot)
    tables |= {
        "VOTER": ("whole", [slot(column) for column in learners.columns.tolist()]),
        "FACTOR": ("real", learners.factor.tolist()),
        "MISSING_VOTE": ("real", learners.missing.tolist()),
        "ALPHA": ("real", learners.alphas.tolist()),
    }
    numbers |= {"STEPS": learners.steps, "DRAWN_VOTES": 1}
    if one_by_one:
        tables["WEIGHT"] = ("real", learners.weights.tolist())


def _add_top(tables: Named, numbers: Numbers, choice: TopOrder) -> None:
    tables["ORDER"] = ("whole", choice.order.tolist())
    numbers |= {"CURTAIL": int(choice.curtail), "PLAN_STOPS": int(choice.stops is not None)}
    if choice.curtail:
        tables["REACH"] = ("real", choice.reach.tolist())
    if choice.stops is not None:
        tables["STOP_LOW"] = ("real", choice.stops[0].tolist())
        tables["STOP_HIGH"] = ("real", choice.stops[1].tolist())


def _add_draws(tables: Named, numbers: Numbers, choice: Draws) -> None:
    numbers |= {
        "EXACT_LEARNERS": len(choice.exact),
        "COSTLY_LEARNERS": len(choice.by_cost),
        "DRAW_SCALE": float(choice.scale),
    }
    tables |= {
        "CUMULATIVE": ("uint64_t", choice.cumulative.tolist()),
        "BY_COST": ("whole", choice.by_cost.tolist()),
        "BY_COST_COST": ("real", choice.costs[choice.by_cost].tolist()),
    }
    if len(choice.exact):
        tables["EXACT"] = ("whole", choice.exact.tolist())


def _add_units(tables: Named, numbers: Numbers, choice: UnitDraws) -> None:
    tables |= {
        "UNIT_BEGIN": ("whole", [0, *accumulate(map(len, choice.learners))]),
        "UNIT_LEARNER": ("whole", list(chain(*choice.learners))),
        "SPREAD": ("real", choice.spreads.tolist()),
        "MEAN_VOTE": ("real", choice.means.ravel().tolist()),
        "MEAN_TOTAL": ("double", choice.start.tolist()),
    }
    numbers |= {
        "UNITS": len(choice.learners),
        "CONSTANTS": len(choice.constants),
        # A power of two may be beyond the doubles, not its two halves.
        "PRICE_UNIT": math.ldexp(1.0, -(choice.price_exponent // 2)),
        "PRICE_UNIT_REST": math.ldexp(1.0, -(choice.price_exponent - choice.price_exponent // 2)),
        "ADDITIVE": int(choice.additive),
    }
    if choice.constants:
        tables["CONSTANT"] = ("whole", list(choice.constants))
