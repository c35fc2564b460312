"""
Rank documents on a budget
==========================

A miser scores documents of queries; the trade-off decides which features are worth their price.
"""

import matplotlib.pyplot as plt
import numpy as np

from farthing.boosting import GreedyMiserRanker
from farthing.metrics import ndcg

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 6))
qid = np.repeat(np.arange(60), 10)
grades = np.digitize(X @ [1, 0.7, 0.5, 0.35, 0.25, 0] + 0.3 * rng.normal(size=600), [0, 1])
costs = [20, 10, 5, 2, 1, 1]
train, test = qid < 40, qid >= 40

spends, scores = [], []
for tradeoff in [0.0, 6e-3, 8e-3, 1e-2, 1.5e-2, 1.7e-2, 2e-2, 3e-2]:
    model = GreedyMiserRanker(n_estimators=40, tradeoff=tradeoff, relative=True, costs=costs)
    model.fit(X[train], grades[train], qid=qid[train])
    spends.append(model.spend(X[test]).mean())
    scores.append(ndcg(grades[test], model.predict(X[test]), qid=qid[test], k=5))
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(spends, scores, "o-")
ax.set_xlabel("mean spend of a document")
ax.set_ylabel("NDCG@5")
fig.tight_layout()
