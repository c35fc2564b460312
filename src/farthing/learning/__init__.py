"""What methods share in learning: training sets, losses, boosters, ledgers, folds, calibration, exits."""

__all__: list[str] = []
