"""The tables and verdicts of `experiments.papers.nan2018_adaptive`, from what its runs have found."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.lib.adaptive_pieces import Dot, Found, at_saving, holds, near, read
from experiments.lib.adaptive_runs import SETS
from experiments.lib.pages import markdown

# Cost reduction within 1 % of the top accuracy, section 5.4.
PUBLISHED = {"letters": 0.31, "covtype": 0.32, "miniboone": 0.63}
# The method that is compared with the others, if it is not ADAPT-GBRT.
OURS = {"letters_nest": "two stages"}
# Shares of f0's cost at which methods are compared.
FRACTIONS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)


def there() -> Iterator[tuple[str, Found]]:
    """Yield the sets that have been run, in part or as a whole."""
    for name in SETS:
        if (found := read(name)) is not None:
            yield name, found


def goal_of(name: str, found: Found) -> float | None:
    """Return the saving that the thesis claims for ADAPT-GBRT on a set."""
    published = next((value for key, value in PUBLISHED.items() if name.startswith(key)), None)
    return published if found.curves.get("ADAPT-GBRT") else None


def saving(found: Found, dot: Dot) -> float:
    """Return the share of f0's cost that a system saves on the test rows."""
    return 1 - dot.spend / found.full.spend


def told(found: Found, dot: Dot | None) -> str:
    """Return the saving of a system on the test rows, and its accuracy less that of f0."""
    if dot is None:
        return "never"
    return f"{saving(found, dot):.1%}, accuracy {dot.score - found.full.score:+.2%}"


def met(found: Found, dot: Dot | None, goal: float) -> bool:
    """Tell whether a system saves as much as the thesis claims, within 1 % of f0, on the test rows."""
    return dot is not None and saving(found, dot) >= goal and holds(found, dot)


def read_off(found: Found, method: str) -> Dot | None:
    """Return the cheapest system of a frontier whose test accuracy is within 1 % of f0's."""
    kept = [dot for dot in found.curves[method] if holds(found, dot)]
    return min(kept, key=lambda dot: dot.spend, default=None)


def goals() -> str:
    """Return a table of the goals: ADAPT-GBRT's saving by three choices, and by the test curve."""
    lines = []
    for name, found in there():
        goal = goal_of(name, found)
        if goal is None:
            continue
        chosen = [at_saving(found, "ADAPT-GBRT", goal), *(near(found, "ADAPT-GBRT", n) for n in (0, 1))]
        cells = [f"{told(found, dot)}: {'met' if met(found, dot, goal) else 'missed'}" for dot in chosen]
        full = f"{found.full.score:.4f}, {found.full.spend:.2f}"
        lines.append([name, full, f"{goal:.0%}", *cells, told(found, read_off(found, "ADAPT-GBRT"))])
    header = [
        "set",
        "f0: accuracy, cost",
        "thesis",
        "most accurate at the thesis's saving",
        "cheapest within 1 %",
        "cheapest within 1 % by a margin",
        "read off the test curve",
    ]
    return markdown(header, lines)


def shortfalls() -> str:
    """Return the goals that are missed and those that are met, and those missed by a choice with a margin."""
    missed: list[str] = []
    reached: list[str] = []
    cautious: list[str] = []
    for name, found in there():
        goal = goal_of(name, found)
        if goal is None:
            continue
        dot = at_saving(found, "ADAPT-GBRT", goal)
        text = f"{name} {goal:.0%}: {told(found, dot)}"
        (reached if met(found, dot, goal) else missed).append(text)
        if not met(found, dot := near(found, "ADAPT-GBRT", 1), goal):
            cautious.append(f"{name} {told(found, dot)}")
    parts = []
    if missed:
        parts.append(f"The thesis's saving within 1 % of f0 is missed on {'; '.join(missed)}.")
    if reached:
        parts.append(
            f"It is met on {'; '.join(reached)}." if missed else f"Savings met: {'; '.join(reached)}."
        )
    if cautious:
        parts.append(
            "Those are the most accurate systems at the thesis's saving. The cheapest within 1 % by a margin "
            f"of one standard error, the safest choice, misses it on {'; '.join(cautious)}."
        )
    return " ".join(parts)


def reductions(errors: float) -> str:
    """Return the table of cost reductions within 1 %, with so many standard errors of margin."""
    lines = []
    for name, found in there():
        for method, curve in found.curves.items():
            if not curve:
                continue
            head = [name, method]
            dot = near(found, method, errors)
            if dot is None:
                lines.append([*head, "never within 1 %", "", "", "", told(found, read_off(found, method))])
                continue
            below = f"no, {found.full.score - dot.score:.2%} below"
            cells = [f"{dot.score:.4f}", f"{dot.spend:.2f}", f"{saving(found, dot):.1%}"]
            kept = "yes" if holds(found, dot) else below
            lines.append([*head, *cells, kept, told(found, read_off(found, method))])
    header = ["set", "method", "accuracy", "cost", "saving", "within 1 % on test", "read off the test curve"]
    return markdown(header, lines)


def margins() -> str:
    """Return the standard errors of the validation rows, set by set."""
    return "; ".join(
        f"{name} {found.validation_error:.2%} ({found.n_validation:,} rows)" for name, found in there()
    )


def best_at(found: Found, method: str, fraction: float) -> float | None:
    """Return the test accuracy of the best system by validation that spends a share of f0's cost at most."""
    limit = fraction * found.full.validation_spend
    fits = [dot for dot in found.curves[method] if dot.validation_spend <= limit]
    return max(fits, key=lambda dot: dot.validation_score).score if fits else None


def behind(found: Found, ours: str, rival: str) -> list[tuple[float, float]]:
    """Return the shares of f0's cost at which a rival is more accurate than ours, and by how much."""
    pairs = [(f, best_at(found, ours, f), best_at(found, rival, f)) for f in FRACTIONS]
    return [(f, b - a) for f, a, b in pairs if a is not None and b is not None and b > a]


def duels() -> Iterator[tuple[str, Found, str, str]]:
    """Yield the comparisons of section 5.4: a set, what it gave, our method and its rival."""
    for name, found in there():
        done = [method for method, curve in found.curves.items() if curve]
        ours = OURS.get(name, "ADAPT-GBRT")
        pairs = [(ours, rival) for rival in done if ours in done and rival != ours]
        if {"ADAPT-LIN", "L1 baseline"} <= set(done):
            pairs.append(("ADAPT-LIN", "L1 baseline"))
        for one, rival in pairs:
            # A method whose systems all cost more than these shares says nothing about them.
            if all(best_at(found, method, FRACTIONS[-1]) is not None for method in (one, rival)):
                yield name, found, one, rival


def defeats() -> str:
    """Return where a method of the thesis is behind a rival that it claims to outperform."""
    lost, won = [], []
    for name, found, ours, rival in duels():
        if name == "letters_nest":
            continue
        worst = behind(found, ours, rival)
        if worst:
            share, gap = max(worst, key=lambda pair: pair[1])
            places = f"{len(worst)} of {len(FRACTIONS)} costs, at most by {gap:.4f} (at {share:.0%})"
            lost.append(f"{ours} behind {rival} on {name} at {places}")
        else:
            won.append(f"{ours} over {rival} on {name}")
    text = "The thesis claims that ADAPT-GBRT outperforms the Greedy Miser, BudgetPrune and ADAPT-LIN, and "
    text += "ADAPT-LIN the L1 baseline. "
    text += f"Here this fails: {'; '.join(lost)}." if lost else "Here this holds at every cost compared."
    return f"{text} It holds for {'; '.join(won)}." if lost and won else text


def unfinished() -> str:
    """Return what of the sweep has not been run."""
    parts = [
        f"{name} {method} {done} of {of}"
        for name, found in there()
        for method, (done, of) in found.done.items()
        if done < of
    ]
    missing = [name for name in SETS if read(name) is None]
    text = f"Settings run so far, where not all: {'; '.join(parts)}." if parts else "All settings are run."
    return f"{text} Not run: {', '.join(missing)}." if missing else text


def at_costs(name: str, found: Found) -> str:
    """Return test accuracies at the same mean costs, each method's best system by validation."""
    lines = []
    for method in filter(found.curves.get, found.curves):
        scores = [best_at(found, method, fraction) for fraction in FRACTIONS]
        lines.append([method, *("" if score is None else f"{score:.4f}" for score in scores)])
    return markdown([f"{name}, share of the cost of f0", *(f"{f:.0%}" for f in FRACTIONS)], lines)


def standing(name: str) -> str:
    """Return where our methods are behind their rivals on a set."""
    lines = []
    for one, found, ours, rival in duels():
        if one != name:
            continue
        places = ", ".join(f"{share:.0%} (by {gap:.4f})" for share, gap in behind(found, ours, rival))
        lines.append(f"{ours} is behind {rival} at {places or 'none'} of these costs.")
    return " ".join(lines)


def what_was_run() -> str:
    """Return a table of settings, seconds and commits."""
    lines = [
        [
            name,
            method,
            f"{found.done[method][0]} of {found.done[method][1]}",
            found.systems[method],
            f"{seconds:.0f}",
            found.code[method],
        ]
        for name, found in there()
        for method, seconds in found.seconds.items()
    ]
    return markdown(["set", "method", "settings done", "systems", "processor seconds", "commit"], lines)
