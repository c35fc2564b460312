"""
A gate that learns online
=========================

Sending a row to the remote model costs 0.2 of an error. EXP3.G finds out how often that is worth it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from farthing.adaptive import AdaptExperts, AdaptLinClassifier, OnlineGate
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
numbers = heart.X.astype(float).fillna(0)
fitted = AdaptLinClassifier(GaussianNB(), random_state=0).fit(numbers[:150], heart.y[:150])
gate = OnlineGate(AdaptExperts(fitted, thresholds=11), cost=0.2, random_state=0)
sent = []
for row in range(150, len(numbers)):
    decision = gate.decide(numbers.iloc[row])
    sent.append(decision.remote)
    if decision.remote:
        gate.feedback(heart.y[row])
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(np.cumsum(sent) / np.arange(1, len(sent) + 1))
ax.set_xlabel("row of the stream")
ax.set_ylabel("share sent to the remote model")
ax.set_ylim(0, 1)
fig.tight_layout()
