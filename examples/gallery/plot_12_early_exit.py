"""
Easy rows leave early
=====================

A booster is cut into blocks of rounds; a row whose top class is likely enough leaves before the next block buys more.
"""

import matplotlib.pyplot as plt

from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
X, y = heart.X[200:], heart.y[200:]
thresholds, spends, scores = [0.6, 0.7, 0.8, 0.9, 0.95, 1.0], [], []
for threshold in thresholds:
    miser = GreedyMiserClassifier(n_estimators=20, max_depth=2, tradeoff=1e-4)
    model = EarlyExitClassifier(miser, threshold=threshold, rounds_per_exit=4, costs=heart.costs)
    decided = model.fit(heart.X[:200], heart.y[:200]).decide(X)
    spends.append(decided.spent.mean())
    scores.append((decided.prediction == y).mean())
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(spends, scores, "o-")
for threshold, spend, score in zip(thresholds, spends, scores, strict=True):
    ax.annotate(f"{threshold}", (spend, score), textcoords="offset points", xytext=(4, 4))
ax.set_xlabel("mean spend, CAD")
ax.set_ylabel("accuracy; labels are thresholds")
fig.tight_layout()
