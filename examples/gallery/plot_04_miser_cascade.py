"""
One fit, every budget
=====================

A miser cascade has exits for every mean budget; ``at`` moves it without a new fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
model = MiserCascadeClassifier(costs=heart.costs, budget=50, n_estimators=20, n_stages=6, random_state=0)
model.fit(heart.X[103:], heart.y[103:])

budgets = [2, 5, 10, 20, 50, 100, 200]
X, y = heart.X[:103], heart.y[:103]
moved = [model.at(budget).decide(X) for budget in budgets]
spends = [d.spent.mean() for d in moved]
accuracy = [np.mean(d.prediction == y) for d in moved]
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(spends, accuracy, "o-")
ax.set_xscale("log")
ax.set_xlabel("mean spend of new patients, CAD")
ax.set_ylabel("accuracy")
fig.tight_layout()
