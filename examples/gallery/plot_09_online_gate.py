"""
A gate that learns online
=========================

A device can answer a row itself, or send it to a remote model and pay for the call. EXP3.G begins by sending nearly everything, and finds
out from the labels of what it sent how often a call is worth its price. The dearer the call, the fewer rows are sent.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from farthing.adaptive import AdaptExperts, AdaptLinClassifier, OnlineGate

rng = np.random.default_rng(0)
X = rng.normal(size=(2400, 6))
hard = X[:, 1] * X[:, 2] > 0.8  # where the sign of another column decides, which no linear model sees
y = (X[:, 0] + 2.5 * hard * np.sign(X[:, 3]) + 0.2 * rng.normal(size=len(X)) > 0).astype(int)
remote = RandomForestClassifier(20, random_state=0)
fitted = AdaptLinClassifier(remote, random_state=0).fit(X[:400], y[:400])

fig, ax = plt.subplots(figsize=(6, 3.2))
for cost in [0.05, 0.2, 0.5]:
    gate = OnlineGate(AdaptExperts(fitted, thresholds=11), cost=cost, random_state=0)
    sent = []
    for row in range(400, len(X)):
        decision = gate.decide(X[row])
        sent.append(decision.remote)
        if decision.remote:
            gate.feedback(y[row])
    ax.plot(np.convolve(sent, np.ones(200) / 200, "valid"), label=f"a call costs {cost} of an error")
    print(f"a call costs {cost}: {np.mean(sent):.2f} of the rows were sent")
ax.set_xlabel("row of the stream")
ax.set_ylabel("share sent, of the last 200 rows")
ax.set_ylim(0, 1.05)
ax.legend(loc="lower left", fontsize="small")
fig.tight_layout()
