"""The tables of a program, by name, with the smallest type that holds them: the same for every language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from farthing.errors import ExportError
from farthing.export.drawn_tables import drawn_tables
from farthing.export.fast_forms import fast_form
from farthing.export.program import Program, is_tree_sum
from farthing.export.table_types import Table, real, whole
from farthing.export.tree_packing import packed_ways, tests_and_rows
from farthing.export.tree_table import LeafRows, TreeTable
from farthing.walks import plans
from farthing.walks.drawn_votes import DrawnVotePlan, TreeLearners
from farthing.walks.plans import (
    ClassVotePlan,
    Exit,
    Gate,
    Interval,
    LinearSum,
    MessagePlan,
    Risk,
    StationPlan,
    TreePlan,
    TreeSum,
    VotePlan,
)


def _typed(kind: str, entries: Sequence[float]) -> tuple[str, list[float] | list[int]]:
    """Return a kind of table, "whole" and "real" being the smallest that does, and its entries."""
    if kind in ("whole", "real"):
        made = whole(map(int, entries)) if kind == "whole" else real(entries)
        return made.kind, made.entries
    return kind, list(entries)


# Nodes of the largest tree whose right children may be found by a search, where their table is left out.
MOST_SEARCHED: Final = 64
_KINDS = {
    TreePlan: "tree", StationPlan: "station", VotePlan: "vote", ClassVotePlan: "class_vote",
    DrawnVotePlan: "drawn", MessagePlan: "message",
}  # fmt: skip


@dataclass(eq=False)
class Tables:
    """All that the runtime of a language reads.

    Attributes
    ----------
    kind : str
        The name of the plan's runtime: "tree", "station", "vote", "class_vote", "drawn" or "message".
    tables : dict of str to Table
        Constant arrays.
    numbers : dict of str to int or float
        Constants; those that are 0 or 1 switch parts of the runtime on.
    trees : TreeTable or None
        The trees.
    exit_link : Link or None
        The link of a `Risk`.
    exit_risk : Risk or None
        One of the exits, for its costs.
    """

    kind: str
    tables: dict[str, Table] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    trees: TreeTable | None = None
    exit_risk: Risk | None = None

    @classmethod
    def of(cls, program: Program) -> Tables:
        """Return the tables of a program."""
        plan = program.plan
        made = cls(_KINDS[type(plan)])
        made._add_prices(program)
        if isinstance(plan, TreePlan):
            made._add_tree_plan(program, plan)
        elif isinstance(plan, StationPlan):
            made._add_station_plan(program, plan)
        elif isinstance(plan, VotePlan):
            made._add_vote_plan(program, plan)
        elif isinstance(plan, ClassVotePlan):
            made._add_class_vote_plan(program, plan)
        elif isinstance(plan, DrawnVotePlan):
            made._add_drawn_plan(program, plan)
        else:
            made.tables["START"] = Table("double", plan.start.tolist())
        made._add_handover(program)
        made._add_conclusion(program)
        return made

    def _add_prices(self, program: Program) -> None:
        prices = program.prices
        everything = np.concatenate([prices.own, prices.shared])
        are_whole = bool((everything == np.rint(everything)).all() and np.abs(everything).sum() < 2**31)
        price_table = (lambda each: whole(map(int, each))) if are_whole else real
        self.tables["OWN"] = price_table(prices.own)
        if len(prices.shared):
            self.tables["SHARED"] = price_table(prices.shared)
            self.tables["GROUP_OF"] = Table(whole([-1, *prices.group_of]).kind, list(prices.group_of))
        self.numbers |= {
            "FARTHING_FEATURES": prices.n_columns,
            "FARTHING_ITEMS": len(prices.names),
            "FARTHING_GROUPS": len(prices.shared),
            "FARTHING_OUTPUTS": program.n_outputs,
            "FARTHING_RESULTS": program.n_results,
            "PRICES_WHOLE": int(are_whole),
        }

    def _add_trees(self, program: Program, table: TreeTable, *, adds: bool = True) -> None:
        leaf = table.n_slots
        n_nodes, width = len(table.feature), table.width
        leaves = table.leaf_rows() if adds else None
        self.trees = table
        self.tables |= {
            "FEATURE": whole(leaf if slot < 0 else slot for slot in table.feature),
            "TEST": whole(table.test if leaves is None else tests_and_rows(table, leaves.rows)),
            "SKIP": whole(table.skip),
            "ROOTS": whole(table.roots),
            "THRESHOLD": real(table.thresholds),
        }
        is_pooled = False
        if leaves is not None:
            self._add_leaves(leaves, width)
        else:
            pooled = real(np.array(table.scores).ravel())
            index = whole(table.score)
            direct = real(np.array([table.scores[row] for row in table.score[: table.roots[-1]]]).ravel())
            # Scores that hardly repeat take less room without an index.
            is_pooled = pooled.size + index.size < direct.size or table.route_scores != []
            self.tables["SCORES"] = pooled if is_pooled else direct
            if is_pooled:
                self.tables["SCORE"] = index
        self.tables["WAYS"], ways = packed_ways(table)
        self.numbers |= ways
        if table.sets:
            self.tables |= {"SETS": whole(table.sets), "SET_BYTES": whole(table.set_bytes)}
        if width < table.n_outputs:
            self.tables["TARGET"] = whole(table.target)
        self.numbers |= {
            "LEAF": leaf,
            "TREES": table.n_trees,
            "TREE_WIDTH": width,
            "TREE_SETS": int(bool(table.sets)),
            "TREE_SINGLE": int(table.single),
            "TREE_STRICT": int(table.strict),
            "TREE_SINGLE_SUMS": int(table.single_sums),
            "TREE_POOLED": int(is_pooled),
            "TREE_MEANS": int(leaves is not None),
            "TREE_COUNTS": int(leaves is not None and leaves.are_counts),
            "TREE_HEIGHT": table.height,
            "TREE_TARGETS": int(width < table.n_outputs),
            "TREE_ADDS": int(adds),
            "TREE_SHORT": int(table.longest <= MOST_SEARCHED),
            "TREE_NODES": n_nodes,
        }
        assert program.n_outputs == table.n_outputs

    def _add_leaves(self, leaves: LeafRows, width: int) -> None:
        """Add what is known of leaves, each once."""
        distinct = list(dict.fromkeys(leaves.rows))
        if leaves.are_counts:
            self.tables["SCORES"] = whole(int(count) for row in distinct for count in row)
        else:
            self.tables["SCORES"] = real(score for row in distinct for score in row[:width])
            self.tables["COVER"] = whole(int(row[-1]) for row in distinct)

    def _tree_table(self, program: Program, predictors: Sequence[object], routes: object = None) -> TreeTable:
        prices = program.prices
        return TreeTable.of(predictors, prices.slot, len(prices.names), routes)  # type: ignore[arg-type]

    def _add_tree_plan(self, program: Program, plan: TreePlan) -> None:
        self._add_trees(program, self._tree_table(program, [plan.trees]))
        self.tables["ENDS"] = whole(plan.ends)
        if plan.calls:
            self.tables["CALLS"] = whole(program.prices.slot(call) for call in plan.calls)
        assert self.trees is not None
        form = fast_form(self.trees) if is_tree_sum(plan) else None
        self.numbers |= {
            "PLAN_BLOCKS": len(plan.ends),
            "PLAN_CALLS": int(bool(plan.calls)),
            "PLAN_AT_ONCE": int(form is not None),
            "PLAN_MASKS": int(form == "masks"),
        }
        self._add_exits([plan.exit] if len(plan.ends) > 1 else [None])

    def _add_exits(self, exits: Sequence[Exit | None]) -> None:
        """Add where rows end: an interval, a gate or a risk, of which a plan has one kind."""
        kinds = {type(each) for each in exits if each is not None}
        if len(kinds) > 1:
            raise ExportError("it has exits of more than one kind")
        kind = kinds.pop() if kinds else None
        self.numbers |= {
            "PLAN_EXITS": int(kind is not None),
            "EXIT_INTERVAL": int(kind is Interval),
            "EXIT_GATE": int(kind is Gate),
            "EXIT_RISK": int(kind is Risk),
        }
        if kind is Interval:
            intervals = [each if isinstance(each, Interval) else Interval(-np.inf, np.inf) for each in exits]
            self.tables["EXIT_LOW"] = real(each.low for each in intervals)
            self.tables["EXIT_HIGH"] = real(each.high for each in intervals)
        elif kind is not None:
            thresholds = [each.threshold if isinstance(each, Gate | Risk) else None for each in exits]
            risks = [each for each in exits if isinstance(each, Risk)]
            self.exit_risk = risks[0] if risks else None
            never = np.inf if risks and risks[0].certainty else -np.inf
            self.tables["EXIT_THRESHOLD"] = real(never if each is None else each for each in thresholds)

    def _add_station_plan(self, program: Program, plan: StationPlan) -> None:
        stations, slot = plan.stations, program.prices.slot
        begins = np.cumsum([0, *(len(station.columns) for station in stations)])
        calls = [station.call for station in stations]
        has_calls = any(call is not None for call in calls)
        directed = any(station.direction is not None for station in stations) and len(stations) > 1
        readouts = [station.readout for station in stations]
        self.tables |= {
            "COLUMNS": whole(slot(column) for station in stations for column in station.columns),
            "COLUMNS_BEGIN": whole(begins.tolist()),
        }
        if has_calls:
            self.tables["CALLS"] = whole(-1 if call is None else slot(call) for call in calls)
        if not plan.partial:
            self.tables["START"] = Table("double", plan.start.tolist())
            self.tables["CHILDREN"] = whole(child for station in stations for child in station.children)
        if directed:
            self.tables["DIRECTION"] = real(
                np.array([np.zeros(0) if s.direction is None else s.direction for s in stations]).ravel()
            )
            self.tables["CUT"] = real(station.threshold for station in stations)
        self.numbers |= {
            "PLAN_CALLS": int(has_calls),
            "PLAN_WHOLE": int(plan.whole),
            "PLAN_PARTIAL": int(plan.partial),
            "PLAN_ROUTES": int(plan.routes is not None),
            "PLAN_DIRECTED": int(directed),
        }
        self._add_readouts(readouts, program.n_outputs)
        self._add_exits([station.exit for station in stations])
        self._add_sums(program, plan)

    def _add_readouts(self, readouts: Sequence[plans.Readout], n_outputs: int) -> None:
        affine = any((r.slope, r.offset, r.most) != (1.0, 0.0, np.inf) for r in readouts)
        ranks = any(r.ranks is not None for r in readouts)
        divides = any(r.divisor != 1.0 for r in readouts)
        if affine or divides or ranks:
            self.tables["DIVISOR"] = real(r.divisor for r in readouts)
        if affine:
            self.tables["SLOPE"] = real(r.slope for r in readouts)
            self.tables["OFFSET"] = real(r.offset for r in readouts)
            self.tables["MOST"] = real(r.most for r in readouts)
        scaled = readouts[0].n_scaled
        self.numbers |= {
            "PLAN_READOUT": int(affine or divides or ranks),
            "PLAN_AFFINE": int(affine),
            "PLAN_RANKS": int(ranks),
            "PLAN_SCALED": n_outputs if scaled < 0 else scaled,
        }

    def _add_sums(self, program: Program, plan: StationPlan) -> None:
        sums = [station.scores for station in plan.stations]
        trees = [each for each in sums if isinstance(each, TreeSum)]
        self.numbers["PLAN_TREES"] = int(bool(trees))
        if not trees:
            self._add_terms(program, [each for each in sums if isinstance(each, LinearSum)])
            return
        if any(isinstance(each, LinearSum) and len(each.columns) for each in sums):
            raise ExportError("it has stations of trees and stations of linear scores")
        predictors = list({id(each.trees): each.trees for each in trees}.values())
        table = self._tree_table(program, predictors, plan.routes)
        self._add_trees(program, table)
        first: dict[int, int] = {}
        for predictor in predictors:
            first[id(predictor)] = sum(p.forest.n_trees for p in predictors[: len(first)])
        spans = [
            (first[id(each.trees)] + each.begin, first[id(each.trees)] + each.end)
            if isinstance(each, TreeSum)
            else (0, 0)
            for each in sums
        ]
        self.tables["TREES_BEGIN"] = whole(begin for begin, _ in spans)
        self.tables["TREES_END"] = whole(end for _, end in spans)
        has_intercepts = any(each.intercept is not None for each in sums)
        self.numbers["PLAN_INTERCEPTS"] = int(has_intercepts)
        if has_intercepts:
            none = np.zeros(program.n_outputs)
            self.tables["INTERCEPT"] = real(
                np.array([none if each.intercept is None else each.intercept for each in sums]).ravel()
            )
        if plan.routes is not None:
            self.tables["ROUTE_SCORES"] = real(np.array(table.route_scores).ravel())
            self.numbers["ROUTES"] = table.roots[-1]

    def _add_terms(self, program: Program, sums: Sequence[LinearSum]) -> None:
        slot = program.prices.slot
        self.tables |= {
            "TERMS_BEGIN": whole(np.cumsum([0, *(len(each.columns) for each in sums)]).tolist()),
            "TERM_ITEM": whole(slot(column) for each in sums for column in each.columns.tolist()),
            "TERM_CATEGORY": real(np.concatenate([each.category for each in sums])),
            "TERM_MEAN": real(np.concatenate([each.mean for each in sums])),
            "TERM_SCALE": real(np.concatenate([each.scale for each in sums])),
            "TERM_COEF": real(np.concatenate([each.coef.ravel() for each in sums])),
            "INTERCEPT": real(np.concatenate([each.intercept for each in sums])),
        }

    def _add_votes(self, program: Program, plan: VotePlan | ClassVotePlan) -> list[int]:
        """Add what votes of two and of more classes share; return the old numbers of the nodes."""
        slot, n_items = program.prices.slot, len(program.prices.names)
        table = self._tree_table(program, [plan.trees])
        self._add_trees(program, table, adds=False)
        order = [slot(column) for column in plan.order.tolist()]
        position = [order.index(item) if item in order else 0 for item in range(n_items)]
        finished = 65535 if len(table.feature) < 65535 else 2**32 - 1
        self.numbers["FINISHED"] = finished
        self.tables |= {
            "ORDER": whole(order),
            "POSITION": whole(position),
            "STUMP": whole(plan.stump.astype(int).tolist()),
        }
        return table.order

    def _add_vote_plan(self, program: Program, plan: VotePlan) -> None:
        order = self._add_votes(program, plan)
        self.tables["BOUNDS"] = real(np.column_stack([plan.low[order], plan.high[order]]).ravel())
        self.tables["SHARED_LOW"] = real(plan.shared_low)
        self.tables["SHARED_HIGH"] = real(plan.shared_high)
        self.numbers |= {
            "START_LOW": float(plan.start[0]),
            "START_HIGH": float(plan.start[1]),
            "PLAN_STOPS": int(plan.stops is not None),
        }
        if plan.stops is not None:
            self.tables["STOP_LOW"], self.tables["STOP_HIGH"] = real(plan.stops[0]), real(plan.stops[1])

    def _add_class_vote_plan(self, program: Program, plan: ClassVotePlan) -> None:
        order = self._add_votes(program, plan)
        self.tables |= {
            "WEIGHTS": real(plan.weights),
            "NODE_LEAD": whole(plan.node_lead[order].ravel().tolist()),
            "NODE_SUM": whole(plan.node_sum[order].ravel().tolist()),
            "SHARED_LEAD": real(plan.shared_lead.ravel()),
            "SHARED_SUM": real(plan.shared_sum.ravel()),
            "START_LEAD": Table("double", plan.start[0].ravel().tolist()),
            "START_SUM": Table("double", plan.start[1].tolist()),
        }

    def _add_drawn_plan(self, program: Program, plan: DrawnVotePlan) -> None:
        if isinstance(plan.learners, TreeLearners):
            table = self._tree_table(program, [plan.learners.trees])
            self._add_trees(program, table, adds=False)
            # Votes come from tables of their own.
            del self.tables["SCORES"]
            self.tables.pop("SCORE", None)
            tables, numbers = drawn_tables(program, plan, table.order)
        else:
            tables, numbers = drawn_tables(program, plan, [])
        self.tables |= {key: Table(*_typed(kind, entries)) for key, (kind, entries) in tables.items()}
        self.numbers |= numbers

    def _add_handover(self, program: Program) -> None:
        handover = program.handover
        self.numbers["PLAN_HANDOVER"] = int(handover is not None)
        if program.answer_width:
            self.numbers["FARTHING_ANSWER"] = program.answer_width
        if handover is None:
            return
        self.tables["READS"] = whole(program.prices.slot(column) for column in handover.columns)
        self.numbers |= {
            "HANDOVER": program.prices.n_columns - 1,
            "HANDOVER_READS": len(handover.columns),
            "HANDOVER_THRESHOLD": float(handover.threshold),
        }

    def _add_conclusion(self, program: Program) -> None:
        self.tables["UNSEEN"] = Table("double", program.unseen.tolist())
        cut = program.label_cut
        self.numbers |= {
            "UNSEEN_LABEL": program.unseen_label,
            "PROGRAM_SETTLES": int(program.settles),
            "PROGRAM_LABEL_CUT": int(cut is not None),
        }
        if cut is not None:
            self.numbers |= {"LABEL_CUT": cut.cut, "LABEL_BELOW": cut.below, "LABEL_ABOVE": cut.above}
        # With a cut on the score of two classes, prices of errors are in the cut and perhaps nowhere else.
        if program.error_costs is not None and (cut is None or self.numbers.get("EXIT_RISK")):
            self.tables["ERROR_COSTS"] = real(program.error_costs.ravel())
