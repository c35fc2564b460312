"""
Neighbours choose the next feature
==================================

The nearest training rows say which feature to buy next and how sure the vote is; different rows buy different features.
"""

import matplotlib.pyplot as plt

from farthing.boosting import AdaBoostClassifier
from farthing.datasets import load_heart_disease
from farthing.neighbors import MarginNeighborsClassifier

heart = load_heart_disease()
stumps = AdaBoostClassifier(n_estimators=20)
model = MarginNeighborsClassifier(stumps, n_neighbors=15, costs=heart.costs).fit(heart.X[:200], heart.y[:200])
bought = model.acquired(heart.X[200:240])
fig, ax = plt.subplots(figsize=(6, 3.6))
ax.imshow(bought.T, aspect="auto", cmap="Blues")
ax.set_yticks(range(bought.shape[1]), heart.X.columns)
ax.set_xlabel("patient")
ax.set_title("What each patient bought")
fig.tight_layout()
