"""
Text with an expensive block of features
========================================

Word counts are free; the output of a language model costs 10 for the whole block. The block is a group with a shared price, so that
a row that buys one of its columns owns them all.
"""

import matplotlib.pyplot as plt
import numpy as np

from farthing import CostSheet, Group
from farthing.cascades import MiserCascadeClassifier

rng = np.random.default_rng(0)
topic = rng.integers(0, 2, 500)
words = rng.poisson(1 + 1.2 * topic[:, np.newaxis] * [1, 0.5, 0, 0], (500, 4))
block = topic[:, np.newaxis] + rng.normal(scale=0.6, size=(500, 3))
X = np.hstack([words, block])
names = [f"x{k}" for k in range(7)]
costs = CostSheet(dict.fromkeys(names, 0), groups={"language model": Group(10, names[4:])})

model = MiserCascadeClassifier(costs=costs, budget=5, n_estimators=15, n_stages=3, random_state=0)
model.fit(X[:300], topic[:300])
budgets = [0, 2, 4, 6, 8, 10]
decided = [model.at(budget).decide(X[300:]) for budget in budgets]
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot([d.spent.mean() for d in decided], [(d.prediction == topic[300:]).mean() for d in decided], "o-")
ax.set_xlabel("mean spend: share of the texts sent to the language model, times 10")
ax.set_ylabel("accuracy")
fig.tight_layout()
