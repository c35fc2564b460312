"""Fitted models whose raw output is a sum over trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, ClassVar, Final, TypeGuard

import numpy as np
from numpy.typing import NDArray

from farthing._core import SplitJudge, undo_rounds
from farthing.base.fitted import FittedModel
from farthing.base.model_fields import OPTIONAL
from farthing.costs import within_budget
from farthing.errors import ExportError
from farthing.trees import (
    Forest,
    NodeValues,
    Predictor,
    Progress,
    SparseRows,
    dense_values,
    explained_shares,
    same_values,
)
from farthing.walks import ForestPolicy, PaidTrees, Policy, Stand
from farthing.walks.plans import Link, Plan, TreePlan

# Rows that refuse the same columns are predicted together from this number on; fewer are walked, since their
# trees must be prepared first.
_TOGETHER: Final = 8
# The links that the core knows, by the names of their steps.
_CORE_LINKS: Final[Mapping[tuple[str, ...], str]] = {
    (): "identity",
    ("first",): "identity",
    ("normalise",): "normalise",
    ("sigmoid",): "sigmoid",
    ("softmax",): "softmax",
}


def ladder(n_rounds: int) -> list[int]:
    """Return numbers of rounds from 1 to ``n_rounds``, each about a quarter larger than the one before.

    Examples
    --------
    >>> ladder(20)
    [1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20]
    """
    # A factor of 10 ** 0.1, ten steps per decade.
    steps = [1]
    while (step := max(steps[-1] + 1, round(steps[-1] * 1.26))) < n_rounds:
        steps.append(step)
    return steps if n_rounds <= 1 else [*steps, n_rounds]


@dataclass(frozen=True, eq=False, kw_only=True)
class TreeModel(FittedModel):
    """A sum over trees: walks visit them in order; array calls use the compiled predictor.

    If the cost sheet has a call, it is the evaluation of all trees.

    Parameters
    ----------
    forest : Forest
        The trees.
    learning_rate : float or None
        Of boosted trees: the factor of their values. None if there is none, or it is not known.
    """

    forest: Forest
    learning_rate: float | None = field(default=None, metadata=OPTIONAL)

    #: Whether every row passes all trees; False if they form several models, of which a row uses only some.
    is_one_sum: ClassVar[bool] = True

    #: Whether the values of nodes may be sparse: the model predicts without making their zeros.
    takes_sparse_values: ClassVar[bool] = False

    @property
    def single_sums(self) -> bool:
        """Whether the sum over the trees is rounded to float32 after each tree."""
        return False

    def node_scores(self) -> NodeValues:
        """Return what each node adds to the raw output, shape (n_nodes, width); by default its value."""
        return self.forest.node_values

    @cached_property
    def predictor(self) -> Predictor:
        """The compiled predictor of the trees."""
        return Predictor(self.forest, self.node_scores(), single_sums=self.single_sums)

    @property
    def feature_importances(self) -> NDArray[np.float64]:
        """The share of each column in what the trees explain, shape (n_features,).

        A split counts by the variance of the output that it explains over the training rows at its node.
        Prices have no part in it: ``spend_importances`` of `farthing.report.audit` are by spend. An attribute
        of the estimator, ``feature_importances_``.
        """
        return explained_shares(self.forest, self.node_scores())

    def policy(self, seed: int | None = None) -> Policy:  # trees are not stochastic
        """Return a policy that walks the trees one after another."""
        if self.costs.calls:
            return PaidTrees(self.predictor, [self.forest.n_trees], [self.costs.n_columns])
        return ForestPolicy.of(self.predictor)

    def plan(self) -> Plan:
        """Return the trees in order; methods that walk them otherwise override it."""
        if type(self).policy is not TreeModel.policy:
            return super().plan()
        return TreePlan(
            self.predictor, (self.forest.n_trees,), (self.costs.n_columns,) if self.costs.calls else ()
        )

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows in the compiled core; see `FittedModel.outputs`."""
        if self.costs.calls:
            progress = Progress(values, len(self.prior), self.costs, budget=budget, n_threads=n_threads)
            rows = np.arange(len(values))
            self.predictor.advance_paid(progress, 0, self.forest.n_trees, rows, self.costs.n_columns)
            return progress.outputs, progress.acquired
        return self.predictor.predict(values, sheet=self.costs, budget=budget, n_threads=n_threads)

    def outputs_of_variants(
        self,
        variants: Sequence[FittedModel],
        values: NDArray[np.floating],
        *,
        budgets: Sequence[NDArray[np.float64] | None],
        n_threads: int = 1,
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.bool_]]]:
        """Predict by models of the first trees of this one, from few to many; rows pass each tree once."""
        ends = [variant.forest.n_trees for variant in variants if self.holds(variant)]
        if len(ends) < len(variants) or ends != sorted(ends) or not _same(budgets):
            yield from super().outputs_of_variants(variants, values, budgets=budgets, n_threads=n_threads)
            return
        progress = Progress(values, len(self.prior), self.costs, budget=budgets[0], n_threads=n_threads)
        for begin, end in pairwise([0, *ends]):
            if end > begin:
                self.predictor.advance(progress, begin, end)
            yield progress.outputs.copy(), progress.acquired

    def holds(self, variant: FittedModel) -> TypeGuard[TreeModel]:
        """Return whether a model is the sum over the first trees of this one, at the same prices."""
        return (
            isinstance(variant, TreeModel)
            and self.passes_all_trees
            and variant.passes_all_trees
            and self.single_sums == variant.single_sums
            and self.costs == variant.costs
            and variant.forest.begins(self.forest)
            and same_values(variant.node_scores(), self.node_scores()[: variant.forest.n_nodes])
        )

    @property
    def passes_all_trees(self) -> bool:
        """Whether a prediction is the sum over all trees, in order, and nothing else."""
        return type(self).outputs is TreeModel.outputs and not self.costs.calls

    def outputs_refused(
        self,
        values: NDArray[np.floating],
        refused: NDArray[np.bool_],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows, of which those that refuse the same are predicted together."""
        # Under a budget, what is over it counts as missing if it is wanted first, and is then not refused.
        if budget is not None or not self.passes_all_trees:
            return super().outputs_refused(values, refused, budget=budget, seeds=seeds, n_threads=n_threads)
        outputs = np.empty((len(values), len(self.prior)))
        acquired = np.zeros(values.shape, dtype=np.bool_)
        sets, set_of = np.unique(refused, axis=0, return_inverse=True)
        alone = np.bincount(set_of.ravel(), minlength=len(sets)) < _TOGETHER
        few = np.flatnonzero(alone[set_of.ravel()])
        if len(few):
            outputs[few], acquired[few] = super().outputs_refused(values[few], refused[few])
        for number in np.flatnonzero(~alone).tolist():
            rows, flags = np.flatnonzero(set_of.ravel() == number), sets[number]
            predictor = self.predictor.without(frozenset(np.flatnonzero(flags).tolist()))
            found, tested = predictor.predict(np.where(flags, np.nan, values[rows]), n_threads=n_threads)
            outputs[rows], acquired[rows] = found, tested & ~flags
        return outputs, acquired

    def outputs_capped(
        self,
        values: NDArray[np.floating],
        caps: Mapping[str, NDArray[np.float64]],
        refused: NDArray[np.bool_] | None = None,
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Predict many rows within caps of further resources; only rows that pass a cap are walked."""
        given: dict[str, Any] = {"budget": budget, "seeds": seeds, "n_threads": n_threads}
        if refused is not None or not self.passes_all_trees:
            return super().outputs_capped(values, caps, refused, **given)
        outputs, acquired = self.outputs(values, **given)
        # The path through a tree does not depend on prices. So a row whose purchases keep all caps in the end
        # kept them all the way, and is what its walk would be.
        over = np.zeros(len(values), dtype=np.bool_)
        for name, cap in caps.items():
            over |= ~within_budget(self.costs.resources[name].total_rows(acquired), cap)
        if len(rows := np.flatnonzero(over)):
            outputs[rows], acquired[rows] = super().outputs_capped(
                values[rows],
                {name: cap[rows] for name, cap in caps.items()},
                budget=None if budget is None else budget[rows],
                seeds=None if seeds is None else seeds[rows],
            )
        return outputs, acquired

    def label_shares(self, stands: Sequence[Stand]) -> NDArray[np.float64] | None:
        """Return what the labels at the node of a single tree, or of boosted trees, are; else None."""
        if stands[0].forest.n_trees == 1:
            believed = self.believe(np.array([stand.output for stand in stands]))
            return believed.reshape(len(stands), -1)
        if self.learning_rate is None:
            return None
        return self.boosted_labels(*self.last_steps(stands, self.learning_rate))

    def boosted_labels(
        self, outputs: NDArray[np.float64], steps: NDArray[np.float64], walked: NDArray[np.bool_]
    ) -> NDArray[np.float64] | None:
        """Return the labels that the last round of boosting was fitted to; by default those of least squares.

        Parameters
        ----------
        outputs : ndarray of float64, shape (n_stands, n_outputs)
            The outputs before that round.
        steps : ndarray of float64, shape (n_stands, n_outputs)
            What the nodes of the round ask for, of which the learning rate adds a part.
        walked : ndarray of bool, shape (n_stands, n_outputs)
            The outputs whose trees were walked.
        """
        del walked
        return outputs + steps

    #: What `boosted_labels` are: "values" of least squares, or "shares" of classes by Newton steps.
    boosted_kind: ClassVar[str] = "values"

    def label_rule(self) -> tuple[str, NodeValues | None]:
        """Return what `label_shares` is made of, for the core: its name, and the counts of nodes."""
        if self.forest.n_trees == 1:
            return "belief", None
        return ("none" if self.learning_rate is None else self.boosted_kind), None

    def split_judge(self, exits: Sequence[int] = (), threshold: float = 1.0) -> SplitJudge | None:
        """Return what judges answers in one call of the core; None if it does not know the link.

        Parameters
        ----------
        exits : sequence of int
            After how many trees a row may leave.
        threshold : float
            Above which probability of the top class it leaves.
        """
        try:
            factor, steps = _scaled(self.link_steps())
        except ExportError:
            return None
        link, scores, (labels, counts) = _CORE_LINKS.get(steps), self.node_scores(), self.label_rule()
        # The judge knows no factor, so it gets larger scores; those of a round must be as they are.
        is_round = factor != 1 and (self.single_sums or labels in ("values", "shares"))
        is_value = steps == ("first",) and len(self.prior) > 1
        if link is None or is_value or is_round:
            return None
        if isinstance(scores, SparseRows) or isinstance(counts, SparseRows):
            return None
        return SplitJudge(
            np.ascontiguousarray(scores * factor if factor != 1 else scores, np.float64),
            link,
            labels,
            None if counts is None else np.ascontiguousarray(counts, np.float64),
            1.0 if self.learning_rate is None else self.learning_rate,
            self.prior * factor,
            list(exits),
            threshold,
            self.single_sums,
        )

    def last_steps(
        self, stands: Sequence[Stand], learning_rate: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        """Return the arguments of `boosted_labels`."""
        scores, outputs = self.node_scores(), np.array([stand.output for stand in stands])
        # One round: as many trees as it takes to add to every output once.
        n_last = outputs.shape[1] // scores.shape[1]
        nodes = [stand.nodes[-n_last:] for stand in stands]
        trees = [stand.trees[-n_last:] for stand in stands]
        starts = [0, *accumulate(map(len, nodes))]
        return undo_rounds(
            stands[0].forest.compiled,
            dense_values(scores),
            outputs,
            np.concatenate(nodes),
            np.concatenate(trees),
            starts,
            learning_rate,
        )

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the trees test, shape (n_features,)."""
        return self.forest.tested

    def check(self) -> None:
        """Raise ValueError if the trees do not fit the table and the outputs."""
        super().check()
        if self.learning_rate is not None and not 0 < self.learning_rate < np.inf:
            raise ValueError(f"learning_rate must be above zero; got {self.learning_rate!r}")
        if self.is_one_sum and len(self.costs.calls) > 1:
            raise ValueError("the trees of a sum are evaluated in one call")
        if isinstance(self.forest.node_values, SparseRows) and not self.takes_sparse_values:
            raise ValueError(f"the trees of a {type(self).__name__} have no sparse values")
        if self.forest.n_features != len(self.schema.names):
            raise ValueError(
                f"the trees have {self.forest.n_features} features, the table has {len(self.schema.names)}"
            )
        if self.forest.n_outputs != len(self.prior):
            raise ValueError(
                f"the trees have {self.forest.n_outputs} outputs, the model has {len(self.prior)}"
            )


def _scaled(steps: Link) -> tuple[float, tuple[str, ...]]:
    """Return the factor that a link begins with, and the names of its other steps.

    Examples
    --------
    >>> from farthing.walks.plans import LinkStep
    >>> _scaled((LinkStep("times", 2.0), LinkStep("sigmoid")))
    (2.0, ('sigmoid',))
    """
    factor, names = 1.0, list[str]()
    for step in steps:
        if not names and step.name in ("times", "divide"):
            factor *= step.number if step.name == "times" else 1 / step.number
        else:
            names.append(step.name)
    return factor, tuple(names)


def _same(budgets: Sequence[NDArray[np.float64] | None]) -> bool:
    """Return whether all budgets are the same, or there are none."""
    first = budgets[0]
    return all(
        budget is first or (budget is not None and first is not None and np.array_equal(budget, first))
        for budget in budgets
    )
