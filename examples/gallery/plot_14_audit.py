"""
What a model spends, and on what
================================

An audit needs no labels: it counts what the predictions of a table buy. Beside it, what the features explain.
"""

import matplotlib.pyplot as plt
import numpy as np

from farthing.boosting import GreedyMiserClassifier
from farthing.datasets import load_heart_disease
from farthing.report import audit

heart = load_heart_disease()
model = GreedyMiserClassifier(n_estimators=20, tradeoff=1e-4, costs=heart.costs).fit(heart.X, heart.y)
print(audit(model, heart.X))

bought = model.acquired(heart.X).mean(axis=0)
spend = bought * heart.costs.own
fig, ax = plt.subplots(figsize=(6, 3.6))
places = np.arange(len(bought))
ax.barh(places - 0.2, spend / spend.sum(), 0.4, label="share of the own prices paid")
ax.barh(places + 0.2, model.feature_importances_, 0.4, label="share of what the trees explain")
ax.set_yticks(places, heart.X.columns)
ax.legend()
fig.tight_layout()
