"""
A consultation, test by test
============================

A tree that may spend 110 dollars asks for one test at a time. The bars show what each test costs, the line how likely
heart disease is after it.
"""

import matplotlib.pyplot as plt

from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier

heart = load_heart_disease()
model = BudgetTreeClassifier(costs=heart.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4)
model.fit(heart.X[2:], heart.y[2:])  # the first two patients are kept back

walk, patient = model.walk(), heart.X.iloc[1]
names, prices, risks = ["before any test"], [0.0], [walk.decision.probabilities[1]]
while (ask := walk.ask) is not None:
    walk.tell(patient[ask.feature])
    names.append(ask.feature)
    prices.append(ask.price)
    risks.append(walk.decision.probabilities[1])
    print(f"{ask.feature:>9} for {ask.price:6.2f}: risk {risks[-1]:.2f}")

fig, ax = plt.subplots(figsize=(6, 3.2))
ax.bar(names, prices, color="#c9d3e6")
ax.set_ylabel("price in CAD")
risk = ax.twinx()
risk.plot(names, risks, "o-", color="#b5322a")
risk.set_ylim(0, 1.03)
risk.set_ylabel("probability of heart disease")
ax.set_title(f"Decided for {walk.decision.spent:.2f} CAD")
fig.tight_layout()
