"""
Prune a forest that you already have
====================================

The trees of scikit-learn are imported with their predictions, and BudgetPrune finds every trade-off of error and spend at
once. For boosted models, such as those of LightGBM, see :ref:`sphx_glr_gallery_plot_17_lightgbm.py`.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier

from farthing.datasets import load_heart_disease
from farthing.forests import from_model, prune_path
from farthing.report import audit

heart = load_heart_disease()
X, y = heart.X.astype(float).fillna(-1), heart.y
source = RandomForestClassifier(n_estimators=20, max_depth=5, random_state=0).fit(X[:200], y[:200])

forest = from_model(source, costs=heart.costs)
print("mean spend as it is:", round(audit(forest, X[200:]).mean, 2))

# %%
# The whole path, judged on rows that the forest has not seen.
path = prune_path(forest, X[200:], y[200:])
points = list(path)
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.step([point.spend for point in points], [1 - point.score for point in points], where="post")
ax.set_xlabel("mean spend in CAD")
ax.set_ylabel("error")
ax.set_title(f"{len(points)} prunings from one parametric minimum cut")
fig.tight_layout()

# %%
# One of them, as a model of its own.
pruned = path.within(40).model
print("pruned:", round(pruned.spend(X[200:]).mean(), 2))
