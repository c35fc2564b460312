"""Comparisons with rivals, and of the parts of a method with each other."""
