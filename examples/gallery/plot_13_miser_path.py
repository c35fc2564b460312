"""
The path of a Greedy Miser
==========================

Each trade-off gives a booster; each of its rounds is a point. Larger trade-offs buy less.
"""

import matplotlib.pyplot as plt

from farthing.boosting import GreedyMiserClassifier, miser_path
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
miser = GreedyMiserClassifier(n_estimators=20, relative=True, costs=heart.costs)
path = miser_path(
    miser,
    heart.X[103:],
    heart.y[103:],
    tradeoffs=[0.0, 1e-4, 1e-3, 1e-2],
    validation=(heart.X[:103], heart.y[:103]),
)
fig, ax = plt.subplots(figsize=(6, 3.2))
for tradeoff, curve in path.by("tradeoff").items():
    ax.plot([p.spend for p in curve], [p.score for p in curve], ".-", label=f"trade-off {tradeoff:g}")
ax.set_xlabel("mean spend, CAD")
ax.set_ylabel(path.score_name)
ax.legend()
fig.tight_layout()
