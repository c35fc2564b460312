"""Longer runs: the papers' figures, comparisons with rivals, fuzzing; `farthing reproduce` runs them."""
