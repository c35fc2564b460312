"""How boosted trees serve several outputs: one tree for each, or one tree with a value for each."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias

from farthing.base.parameters import one_of

MultiStrategy: TypeAlias = Literal["auto", "one_output_per_tree", "multi_output_tree"]

#: What the parameter ``multi_strategy`` may be.
MULTI_STRATEGY: Final[list[Any]] = [one_of("auto", "one_output_per_tree", "multi_output_tree")]

# Indented as the class docstrings that `documented` inserts this text into.
MULTI_STRATEGY_TEXT: Final = """multi_strategy : {"auto", "one_output_per_tree", "multi_output_tree"}
        With more than two classes, whether a round grows one tree for each class, or one tree whose nodes
        have a value for each class; the names are XGBoost's. "auto" grows one tree for all from 4 classes on,
        where it was mostly more accurate. Its splits gain the sum over the classes of their gains,
        with more than 32 classes over the 32 with the largest gradients."""

# The least number of outputs with one tree for all; docs/results/class_trees.md has the measurements.
_LEAST_OUTPUTS: Final = 4


def grows_multi_output(strategy: str, n_outputs: int) -> bool:
    """Return whether a round grows one tree for all outputs.

    Examples
    --------
    >>> grows_multi_output("auto", 1), grows_multi_output("auto", 19)
    (False, True)
    """
    if strategy == "auto":
        return n_outputs >= _LEAST_OUTPUTS
    return strategy == "multi_output_tree" and n_outputs > 1
