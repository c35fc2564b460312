"""
Hard and mean budgets
=====================

Under a mean budget clear rows pay for hard ones; under a hard one no row exceeds it.
"""

import matplotlib.pyplot as plt

from farthing.boosting import AdaBoostBTClassifier
from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
X, y = heart.X[:200], heart.y[:200]
mean = MiserCascadeClassifier(costs=heart.costs, budget=100, n_estimators=15, n_stages=6, random_state=0).fit(
    X, y
)
hard = AdaBoostBTClassifier(costs=heart.costs, budget=100, n_estimators=30, curtail=True).fit(X, y)
fig, ax = plt.subplots(figsize=(6, 3.2))
for model, name in ((mean, "mean budget"), (hard, "hard budget")):
    spends = model.spend(heart.X[200:])
    print(f"{name}: mean {spends.mean():.1f}, largest {spends.max():.1f}")
    ax.hist(spends, bins=20, alpha=0.6, label=name)
ax.axvline(100, color="k", lw=1)
ax.set_xlabel("spend of a patient, CAD")
ax.set_ylabel("patients")
ax.legend()
fig.tight_layout()
