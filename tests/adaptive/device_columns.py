"""The devices of the edge tests, and the columns that each measures."""

DEVICES = {"wrist": ["x0", "x1"], "ankle": ["x2", "x3"], "hip": [4]}
