"""The main job on the bundled data: ``make demo``, or ``python -m farthing.demo``.

Fits trees on heart disease at several budgets, prints what each pays and how often it is right under
cross-validation, and walks one patient through the tests that a tree asks for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from farthing.datasets import Dataset, load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.walks import Walk

BUDGETS = (0, 2, 5, 10, 25, 110, 200)
N_FOLDS, N_REPEATS, SEED = 5, 10, 0
MAX_DEPTH, MIN_ROWS_LEAF = 4, 10
# All the trade-offs that were tried; 0 is the tree that does not weigh prices.
TRADEOFFS = (0.0, 0.0003, 0.001, 0.003)
# Picked from the lines that the demonstration prints for TRADEOFFS, so its accuracy is flattered.
TRADEOFF = 0.001
# The first patient whose walk goes beyond the cheap tests.
PATIENT, PATIENT_BUDGET = 1, 110


class Outcome(NamedTuple):
    """What cross-validation saw of one model, for each row the mean over the repeats."""

    correct: NDArray[np.float64]
    spent: NDArray[np.float64]

    @property
    def accuracy(self) -> float:
        """Share of the predictions that are right."""
        return float(self.correct.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the accuracy over the rows, the independent draws; the repeats are not."""
        return float(self.correct.std(ddof=1) / np.sqrt(len(self.correct)))


def cross_validate(model: BudgetTreeClassifier, data: Dataset) -> Outcome:
    """Fit and predict on repeated stratified folds; pay by the price list of the data."""
    correct, spent = np.zeros(len(data.y)), np.zeros(len(data.y))
    folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=N_REPEATS, random_state=SEED)
    for train, test in folds.split(data.X, data.y):
        model.fit(take(data.X, train), data.y[train])
        rows = take(data.X, test)
        correct[test] += model.predict(rows) == data.y[test]
        spent[test] += data.costs.total_rows(model.acquired(rows))
    return Outcome(correct / N_REPEATS, spent / N_REPEATS)


def take(X: Any, rows: Any) -> Any:
    """Take rows of a frame or of an array."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def tree(data: Dataset, budget: float | None, tradeoff: float = TRADEOFF) -> BudgetTreeClassifier:
    """Make the tree of the demonstration."""
    return BudgetTreeClassifier(
        costs=data.costs,
        cost_rule="penalty",
        tradeoff=tradeoff,
        budget=budget,
        max_depth=MAX_DEPTH,
        min_rows_leaf=MIN_ROWS_LEAF,
    )


def print_accuracy(data: Dataset) -> None:
    """Print a line for each trade-off without a budget, then one for each budget."""
    print(f"Heart disease: {len(data.y)} patients, {len(data.feature_names)} tests, ", end="")
    print(f"{data.costs.total(data.costs.features):.2f} {data.costs.unit} for all of them.")
    print(f"Trees of depth {MAX_DEPTH}; {N_FOLDS}-fold cross-validation, {N_REPEATS} times.")
    print("The standard error is over patients.\n")
    print("No budget, gain weighed against price by the trade-off (0: a plain tree, blind to prices):\n")
    print_header("trade-off")
    for tradeoff in TRADEOFFS:
        print_outcome(f"{tradeoff:g}", cross_validate(tree(data, None, tradeoff), data))
    print(f"\nA hard budget for each patient, trade-off {TRADEOFF:g}. That value was picked from the lines")
    print("above, on the same patients, so take these accuracies as somewhat too high:\n")
    print_header("budget")
    for budget in BUDGETS:
        print_outcome(f"{budget:.2f}", cross_validate(tree(data, budget), data))


def print_header(first: str) -> None:
    """Print the head of a table of outcomes."""
    print(f"{first:>12}  {'mean spend':>10}  {'accuracy':>8}  {'std error':>9}")


def print_outcome(label: str, outcome: Outcome) -> None:
    """Print one line of the table."""
    spend, accuracy, error = outcome.spent.mean(), outcome.accuracy, outcome.standard_error
    print(f"{label:>12}  {spend:>10.2f}  {accuracy:>8.1%}  {error:>9.1%}")


def print_walk(data: Dataset) -> None:
    """Fit on all patients but one, then let the tree ask for that one's tests, one at a time."""
    others = np.delete(np.arange(len(data.y)), PATIENT)
    model = tree(data, PATIENT_BUDGET)
    model.fit(take(data.X, others), data.y[others])
    answers = dict(zip(data.costs.features, take(data.X, PATIENT), strict=True))
    names = dict(zip(data.costs.features, data.feature_names, strict=True))

    walk = model.walk()
    print(f"\nPatient {PATIENT}, whom the tree has not seen, with at most {PATIENT_BUDGET:.2f} to spend:\n")
    print_step("test", "answer", "price", "spent", "belief")
    print_step("(nothing asked yet)", "", "", f"{walk.spent:.2f}", belief(walk))
    while (ask := walk.ask) is not None:
        name, answer = names[ask.feature], answers[ask.feature]
        walk.tell(answer)
        test = f"{name}: {data.meanings[name]}"
        print_step(test, spell(data, name, answer), f"{ask.price:.2f}", f"{walk.spent:.2f}", belief(walk))

    decision = walk.decision
    said, truth = (data.codes["target"][int(label)] for label in (decision.prediction, data.y[PATIENT]))
    print(f"\nHeart disease: {said}, for {decision.spent:.2f} {data.costs.unit}. In truth: {truth}.")


def print_step(test: str, answer: str, price: str, spent: str, disease: str) -> None:
    """Print one step of the walk."""
    print(f"{test:<46}  {answer:<20}  {price:>7}  {spent:>7}  {disease:>6}")


def belief(walk: Walk) -> str:
    """Say how likely the walk holds the disease, after the answers so far."""
    probabilities = walk.decision.probabilities
    return "" if probabilities is None else f"{probabilities[1]:.0%}"


def spell(data: Dataset, name: str, answer: Any) -> str:
    """Say an answer in words where it is a code."""
    if np.isnan(answer):
        return "missing"
    return data.codes[name][int(answer)] if name in data.codes else f"{answer:g}"


def main() -> None:
    """Run the demonstration."""
    data = load_heart_disease()
    print_accuracy(data)
    print_walk(data)


if __name__ == "__main__":
    main()
