"""
A LightGBM model that you already have, on a budget
===================================================

A booster tests its best features in nearly every tree, so cutting splits off does not help: whoever predicts with it pays for almost
everything. Averaging features out does. ``MiserCascadeClassifier.around`` projects the trees on more and more features, and sets exits
for every mean budget on rows that the booster has not seen. No tree is grown.
"""

import lightgbm
import matplotlib.pyplot as plt

from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_heart_disease
from farthing.forests import from_model

heart = load_heart_disease()
X, y = heart.X.astype(float), heart.y
train, held_out, new = slice(0, 140), slice(140, 220), slice(220, None)
yours = lightgbm.LGBMClassifier(n_estimators=60, num_leaves=6, learning_rate=0.08, verbose=-1, n_jobs=1)
yours.fit(X[train], y[train])

model = from_model(yours, costs=heart.costs)
print("the same predictions:", bool((model.predict(X) == yours.predict(X)).all()))
print(f"as it is: {model.spend(X[new]).mean():.2f} CAD a patient, accuracy {model.score(X[new], y[new]):.3f}")

# %%
# The price list and rows that the booster was not trained on are all that the cascade needs.
cascade = MiserCascadeClassifier.around(model, X[held_out], y[held_out])
budgets = [0, 5, 10, 20, 40, 80, 120, 160, 200, 300]
found = [cascade.at(budget).decide(X[new]) for budget in budgets]
fig, ax = plt.subplots(figsize=(6, 3.2))
ax.plot(
    [each.spent.mean() for each in found],
    [(each.prediction == y[new]).mean() for each in found],
    "o-",
    label="cascade",
)
ax.plot(model.spend(X[new]).mean(), model.score(X[new], y[new]), "s", label="LightGBM as it is")
ax.set_xlabel("mean spend of new patients, CAD")
ax.set_ylabel("accuracy")
ax.legend(loc="lower right")
fig.tight_layout()

# %%
# One budget, as a model of its own; easy patients leave early.
cheap = cascade.at(60)
walk = cheap.walk()
while (ask := walk.ask) is not None:
    walk.tell(X[new].iloc[3][ask.feature])
    print(f"{ask.feature:10}{ask.price:8.2f}")
print(f"decision {walk.decision.prediction}, spent {walk.decision.spent:.2f}")
