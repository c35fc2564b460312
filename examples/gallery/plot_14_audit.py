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
account = audit(model, heart.X)
print(account)

fig, ax = plt.subplots(figsize=(6, 3.6))
places = np.arange(heart.X.shape[1])
ax.barh(places - 0.2, account.spend_importances, 0.4, label="share of the spend")
ax.barh(places + 0.2, model.feature_importances_, 0.4, label="share of what the trees explain")
ax.set_yticks(places, heart.X.columns)
ax.legend()
fig.tight_layout()
