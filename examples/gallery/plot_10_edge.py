"""
Edge devices that speak only when it matters
============================================

Two devices measure two columns each. A device sends its message only when its gate opens.
"""

import matplotlib.pyplot as plt
import numpy as np

from farthing.adaptive import EdgeRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 4))
y = np.where(X[:, 0] > 0, 3 * X[:, 1], 0) + np.where(X[:, 2] > 0, X[:, 3], 0)
devices = {"wrist": ["x0", "x1"], "ankle": ["x2", "x3"]}
model = EdgeRegressor(devices, budget_share=0.5, random_state=0).fit(X, y)
sends = model.acquired(X)
print("R^2:", round(model.score(X, y), 3), "messages of a row:", sends.sum(axis=1).mean().round(2))

fig, axes = plt.subplots(1, 2, figsize=(7, 3), sharey=True)
for place, (ax, name) in enumerate(zip(axes, devices, strict=True)):
    first, second = X[:, 2 * place], X[:, 2 * place + 1]
    ax.scatter(first, second, c=sends[:, place], s=8, cmap="coolwarm")
    ax.set_title(f"{name}: red rows are sent")
fig.tight_layout()
