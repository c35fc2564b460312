"""Building blocks that methods share in learning: losses, boosters, ledgers, folds, calibration, exits."""

__all__: list[str] = []
