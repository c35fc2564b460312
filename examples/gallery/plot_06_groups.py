"""
Features that share a price
===========================

Who buys one blood test pays for drawing the blood; the second costs only its own price.
"""

import matplotlib.pyplot as plt

from farthing import CostSheet, Group

sheet = CostSheet(
    {"age": 1, "chol": 5.17, "fbs": 3.10},
    groups={"blood": Group(2.10, ["chol", "fbs"])},
    unit="CAD",
)
print(sheet)
print("fbs alone:", sheet.price("fbs"), "after chol:", sheet.price("fbs", owned=["chol"]))

orders = [["chol", "fbs"], ["fbs", "chol"]]
fig, ax = plt.subplots(figsize=(6, 2.4))
for row, order in enumerate(orders):
    owned, begin = [], 0.0
    for name in order:
        price = sheet.price(name, owned=owned)
        ax.barh(
            row,
            price,
            left=begin,
            label=name if row == 0 else None,
            color={"chol": "#b5322a", "fbs": "#c9d3e6"}[name],
        )
        begin, owned = begin + price, [*owned, name]
ax.set_yticks([0, 1], [" then ".join(order) for order in orders])
ax.set_xlabel("CAD: the same total in either order")
ax.legend()
fig.tight_layout()
