"""Speed and memory, side by side with the rivals. `make bench` runs all of it.

Machines differ and are noisy, so every figure is a ratio to a rival in the same run, the median of several
turns taken in alternation.
"""
