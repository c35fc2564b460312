"""
Errors with prices
==================

With prices of errors in the same currency as those of tests there is no budget to choose: the policy of the least
expected total cost decides how much to spend.
"""

import matplotlib.pyplot as plt
import numpy as np

from farthing import ErrorCosts
from farthing.datasets import load_heart_disease
from farthing.forests import DiagnosticPolicyClassifier

heart = load_heart_disease()
factors, tests, errors = [0.3, 1, 3, 10], [], []
for factor in factors:
    prices = factor * np.array([[0.0, 75.0], [88.0, 0.0]])
    model = DiagnosticPolicyClassifier(heart.costs, error_costs=ErrorCosts(prices), max_depth=3)
    model.fit(heart.X[:200], heart.y[:200])
    decided = model.decide(heart.X[200:])
    tests.append(decided.spent.mean())
    errors.append(prices[heart.y[200:], decided.prediction].mean())
fig, ax = plt.subplots(figsize=(6, 3.2))
places = np.arange(len(factors))
ax.bar(places, tests, label="tests")
ax.bar(places, errors, bottom=tests, label="errors")
ax.set_xticks(places, [f"errors x {factor}" for factor in factors])
ax.set_ylabel("mean cost of a patient, CAD")
ax.legend()
fig.tight_layout()
