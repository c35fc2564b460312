"""
A frontier of spend and accuracy
================================

`farthing.sweep` fits settings of several methods on folds. Each point is a model; the line joins those that no other beats in
both spend and accuracy.
"""

import matplotlib.pyplot as plt

import farthing
from farthing.datasets import load_heart_disease

heart = load_heart_disease()
methods = ["BudgetTreeClassifier", "AdaBoostBTClassifier"]
frontier = farthing.sweep(methods, heart.X, heart.y, heart.costs)
print(frontier.table())
fig, ax = plt.subplots(figsize=(7, 4))
frontier.plot(ax)
fig.tight_layout()
