"""Weighted votes of weak learners: what AdaBoost, its sampled and budgeted variants and FMCC share."""

__all__: list[str] = []
