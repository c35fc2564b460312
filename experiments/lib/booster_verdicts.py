"""What Huang, Powers and Reyzin (2015) claim, judged by the trials: which sentence fails on which set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from experiments.lib.booster_trials import BUDGETS, LEAVES, OWN_RULES, RULES, TRAP_BUDGET
from experiments.lib.kept_trials import Figures

Results: TypeAlias = dict[str, Figures]
"""Figures of all trials of each set, (n_trials, ...)."""


def mean_and_interval(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means over the first axis and the half widths of their 95 % intervals."""
    spread = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(values.shape[1:])
    return values.mean(axis=0), 1.96 * spread / np.sqrt(len(values))


def distance(found: Figures, one: str, other: str) -> float:
    """Return the mean distance between the mean errors of two rules over all budgets, in points."""
    return float(np.abs(found[one].mean(axis=0) - found[other].mean(axis=0)).mean())


@dataclass(frozen=True)
class Duel:
    """Trees of one size against the rules at the least budget that covers the trees' mean spend."""

    leaves: int
    spend: float
    error: float
    budget: float
    rule: str  # of the least mean error there
    rule_error: float
    worst: float  # upper end of the 95 % interval of the trees' error less that of the rule, over all rules
    best: float  # lower end of that interval for the best rule


def duels(found: Figures) -> list[Duel]:
    """Return a duel for each size of tree whose mean spend some budget covers."""
    met = []
    for place, leaves in enumerate(LEAVES):
        spend = float(found["tree_spend"][:, place].mean())
        covering = np.flatnonzero(spend <= BUDGETS)
        if not len(covering):
            continue
        at = int(covering[0])
        errors = {rule: float(found[rule][:, at].mean()) for rule in RULES}
        rule = min(errors, key=lambda name: errors[name])
        gaps = {name: mean_and_interval(found["trees"][:, place] - found[name][:, at]) for name in RULES}
        met.append(
            Duel(
                leaves,
                spend,
                float(found["trees"][:, place].mean()),
                float(BUDGETS[at]),
                rule,
                errors[rule],
                max(float(mean + half) for mean, half in gaps.values()),
                float(gaps[rule][0] - gaps[rule][1]),
            )
        )
    return met


def tree_verdict(results: Results) -> tuple[bool, str]:
    """Say where trees that ignore costs beat every rule, and where some rule beats trees of every size.

    Returns
    -------
    holds : bool
        Whether trees beat every rule nowhere.
    sentence : str
    """
    lines, beaten = [], []
    for name, found in results.items():
        met = duels(found)
        wins = [duel for duel in met if duel.worst < 0]
        if wins:
            top = min(wins, key=lambda duel: duel.error - duel.rule_error)
            last = min(float(found[rule][:, -1].mean()) for rule in RULES)
            lines.append(
                f"  - {name}: trees of {', '.join(str(duel.leaves) for duel in wins)} leaves. Those of "
                f"{top.leaves} leaves have an error of {top.error:.1f} % at a mean spend of {top.spend:.1f}; "
                f"the best rule has {top.rule_error:.1f} % at a budget of {top.budget:g} and {last:.1f} % at "
                f"{BUDGETS[-1]:g}."
            )
        elif all(duel.best > 0 for duel in met):
            beaten.append(name)
    if not lines:
        return True, "- Trees that ignore costs beat every rule, at the same spend, on no set."
    head = (
        f"- **Budgeted boosting outperforms pruned decision trees** (abstract): not on {len(lines)} of "
        f"{len(results)} sets. There trees that ignore costs have a lower error than each rule at the "
        "least budget that covers the trees' mean spend, by 95 % intervals. A rule beats trees of every size "
        f"on {', '.join(beaten) or 'no set'}."
    )
    return False, "\n".join([head, *lines])


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and a test of it on one set."""

    text: str
    holds: Callable[[Figures], bool]
    of: tuple[str, ...] | None = None  # the sets that the paper names; None: all
    most: bool = False  # "often", "tends to", "on most": the paper claims it of more than half of the sets


def least_budget(errors: NDArray[np.float64], goal: float) -> float:
    """Return the least budget whose mean error is at most a goal; infinity if there is none.

    Examples
    --------
    >>> errors = np.linspace(30, 2, 15)[np.newaxis]  # one trial
    >>> least_budget(errors, 26.0), least_budget(errors, 1.0)
    (6.0, inf)
    """
    return float(BUDGETS[errors.mean(axis=0) <= goal].min(initial=np.inf))


def claims() -> list[Claim]:
    """Return what the paper says of its figures."""
    small, large = BUDGETS <= 6, BUDGETS >= 20
    return [
        Claim(
            "AdaBoostBT improves on AdaBoostRS (mean over the budgets)",
            lambda f: f["basic"].mean() < f["rs"].mean(),
        ),
        Claim(
            "greedy is often better than AdaBoostBT at small budgets (up to 6)",
            lambda f: f["greedy"][:, small].mean() < f["basic"][:, small].mean(),
            most=True,
        ),
        Claim(
            "smoothed tends to perform worse than greedy at small budgets (up to 6)",
            lambda f: f["smoothed"][:, small].mean() > f["greedy"][:, small].mean(),
            most=True,
        ),
        Claim(
            "smoothed tends to exceed the accuracy of greedy at large budgets (from 20)",
            lambda f: f["smoothed"][:, large].mean() < f["greedy"][:, large].mean(),
            most=True,
        ),
        Claim(
            "smoothed has AdaBoostBT's least error at a smaller budget on breast cancer, ecoli and heart",
            lambda f: (
                least_budget(f["smoothed"], f["basic"].mean(axis=0).min())
                < least_budget(f["basic"], f["basic"].mean(axis=0).min())
            ),
            ("breast cancer", "ecoli", "heart"),
        ),
        Claim(
            "AdaBoostBT needs a budget of 18 on ecoli for what smoothed has at 6",
            lambda f: least_budget(f["basic"], f["smoothed"][:, BUDGETS == 6].mean()) >= 18,
            ("ecoli",),
        ),
        Claim(
            "AdaBoostBT performs better with more budget on most sets (at 30 than at 10)",
            lambda f: f["basic"][:, -1].mean() < f["basic"][:, BUDGETS == 10].mean(),
            most=True,
        ),
        Claim(
            "budgeted boosting drives errors down with higher budgets (all three rules, at 30 than at 10)",
            lambda f: all(f[rule][:, -1].mean() < f[rule][:, BUDGETS == 10].mean() for rule in OWN_RULES),
        ),
        Claim(
            "SpeedBoost is almost the same as greedy (within half a point, mean over the budgets)",
            lambda f: distance(f, "greedy", "speedboost") < 0.5,
        ),
        Claim(
            "smoothed outperforms SpeedBoost on ecoli, heart, sonar and ionosphere (mean over the budgets)",
            lambda f: f["smoothed"].mean() < f["speedboost"].mean(),
            ("ecoli", "heart", "sonar", "ionosphere"),
        ),
        Claim(
            "greedy does not spend a budget of 2 on sonar in all its rounds (half of it at most)",
            lambda f: f["greedy_spent"].mean() < TRAP_BUDGET / 2,
            ("sonar",),
        ),
        Claim(
            "decision trees overfit as they grow, on all sets (the largest is worse than the best by 0.05)",
            lambda f: f["trees"][:, -1].mean() > f["trees"].mean(axis=0).min() + 0.05,
        ),
    ]


def judged(results: Results) -> tuple[list[str], list[str]]:
    """Return the claims that fail on some set, with the sets, and those that hold on all."""
    trees_lose, sentence = tree_verdict(results)
    fails, holds = ([], [sentence]) if trees_lose else ([sentence], [])
    for claim in claims():
        names = [name for name in results if claim.of is None or name in claim.of]
        if not names:
            continue
        missed = [name for name in names if not claim.holds(results[name])]
        where = f"not on {', '.join(missed)} ({len(missed)} of {len(names)} sets)"
        if claim.most and 2 * len(missed) < len(names):
            where += ", so on most sets, which is all that the paper says"
        if not missed:
            where = f"on all {len(names)} sets" if claim.of is None else "yes"
        (fails if missed else holds).append(f"- {claim.text[0].upper()}{claim.text[1:]}: {where}.")
    return fails, holds
