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
X, y = heart.X[:103], heart.y[:103]
thresholds, spends, scores = [0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 1.0], [], []
for threshold in thresholds:
    miser = GreedyMiserClassifier(n_estimators=60, max_depth=2, tradeoff=1e-3)
    model = EarlyExitClassifier(miser, threshold=threshold, rounds_per_exit=2, costs=heart.costs)
    decided = model.fit(heart.X[103:], heart.y[103:]).decide(X)
    spends.append(decided.spent.mean())
    scores.append((decided.prediction == y).mean())
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(spends, scores, "o-")
for threshold, spend, score in zip(thresholds, spends, scores, strict=True):
    ax.annotate(f"{threshold}", (spend, score), textcoords="offset points", xytext=(4, 4))
ax.margins(x=0.08, y=0.12)
ax.set_xlabel("mean spend of a new patient, CAD")
ax.set_ylabel("accuracy; labels are thresholds")
fig.tight_layout()
