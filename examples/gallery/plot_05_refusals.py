"""
When a test is not available
============================

A refused feature costs nothing and is not asked for again. A missing value was measured, and is paid for.
"""

import matplotlib.pyplot as plt

from farthing.boosting import GreedyMiserClassifier
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
model = GreedyMiserClassifier(n_estimators=20, costs=heart.costs).fit(heart.X[103:], heart.y[103:])
X, y = heart.X[:103], heart.y[:103]

names = ["nothing", *heart.X.columns]
scores = [(model.predict(X, refused=[] if name == "nothing" else [name]) == y).mean() for name in names]
spends = [model.spend(X, refused=[] if name == "nothing" else [name]).mean() for name in names]
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 3.6), sharey=True)
left.barh(names, scores)
left.set_xlabel("accuracy without it")
left.set_xlim(0.5, 1)
right.barh(names, spends, color="#c9a227")
right.set_xlabel("mean spend")
fig.tight_layout()
