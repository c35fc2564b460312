"""The registry of methods by name: what `load` may build and what a sweep may try."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias, TypeVar

Grid: TypeAlias = Mapping[str, Any] | Callable[..., Mapping[str, Any] | None]
Preference: TypeAlias = Callable[..., bool]
Method = TypeVar("Method", bound=type)

LAST: Final = 100
"""The rank of a method that was registered without one."""

# The packages whose import registers the methods. They build on this one, so they are named as text, and
# imported only when a method is looked for.
_METHOD_PACKAGES: Final = (
    *("boosting", "forests", "adaptive", "cascades", "neighbors", "deep", "multiclass", "pipelines"),
    *("frontier", "sources"),
)


def _never(context: Any) -> bool:  # noqa: ARG001 - as a preference is called
    return False


@dataclass(frozen=True, slots=True)
class Entry:
    """A registered method.

    Attributes
    ----------
    method : type
        The estimator's class.
    grid : mapping, callable or None
        Settings that a sweep tries by default: parameter names to lists of values, or a callable that returns
        such a mapping, or None for no setting.
    auto : mapping, callable or bool
        Settings for a sweep that names no method; True is all of ``grid``, False none.
    rank : int
        Methods of lower rank are tried first.
    time_rank : int
        The same, under a time limit.
    trials : tuple of mappings
        Settings, besides the defaults, at which the contract is checked.
    preferred : callable
        From the table of a sweep to whether other methods must clearly beat this one to be chosen.
    """

    method: type
    grid: Grid | None = None
    auto: Grid | bool = True
    rank: int = LAST
    time_rank: int = LAST
    trials: tuple[Mapping[str, Any], ...] = ()
    preferred: Preference = _never


_ENTRIES: dict[str, Entry] = {}


def register(
    *,
    grid: Grid | None = None,
    auto: Grid | bool = True,
    rank: int = LAST,
    time_rank: int = LAST,
    trials: Sequence[Mapping[str, Any]] = (),
    preferred: Preference = _never,
) -> Callable[[Method], Method]:
    """Enter a class in the registry, under its own name.

    Parameters
    ----------
    grid : mapping or callable, optional
        Settings for a sweep that names the method, or all methods.
    auto : mapping, callable or bool
        Settings for a sweep that names no methods: a smaller grid, or True for ``grid``, or False for none.
    rank : int
        Order in such a sweep: lower ranks come first.
    time_rank : int
        Order in such a sweep under a time limit: methods that are fitted in less time have a lower one.
    trials : sequence of mappings
        Settings, besides the defaults, at which the contract is checked: one for each branch of the method
        that walks, pays or predicts differently.
    preferred : callable, optional
        From the table of a sweep, a `SweepContext`, to whether this method did so well on other tables that
        another one must be ahead of it by more than chance to be chosen.

    Returns
    -------
    callable
        A class decorator.

    Examples
    --------
    >>> from farthing.base import get, register
    >>> @register(grid={"max_depth": [1, 2, 3]})
    ... class Oracle: ...
    >>> get("Oracle") is Oracle
    True
    """

    def enter(method: Method) -> Method:
        name = method.__name__
        # A clash with a method of Farthing's must be found here, not when that one is loaded.
        if not _is_own(method):
            import_methods()
        present = _ENTRIES.get(name)
        # The same origin is no clash: a notebook cell run twice, or a reloaded module, redefines its class.
        if present is not None and _origin(present.method) != _origin(method):
            raise ValueError(
                f"a method named {name!r} is already registered by {present.method.__module__}; "
                f"rename the one of {method.__module__}, since files are loaded by this name"
            )
        _ENTRIES[name] = Entry(method, grid, auto, rank, time_rank, tuple(trials), preferred)
        return method

    return enter


def import_methods() -> None:
    """Import the packages of Farthing's methods, which registers them and the values that files of them hold.

    Importing `farthing` or `farthing.base` loads no method, since all of them together take seconds.

    Examples
    --------
    >>> from farthing.base.registry import import_methods
    >>> import_methods()
    >>> "GreedyMiserClassifier" in registered()
    True
    """
    for package in _METHOD_PACKAGES:
        import_module(f"farthing.{package}")


def is_registered(method: type) -> bool:
    """Return whether a class itself is registered, not just another one of its name."""
    entry = _ENTRIES.get(method.__name__)
    return entry is not None and entry.method is method


def get(name: str) -> Any:
    """Return the class registered under a name; LookupError, with the known names, if there is none."""
    return _entry(name).method


def default_grid(name: str) -> Grid | None:
    """Return the settings for a sweep that the class was registered with."""
    return _entry(name).grid


def auto_grid(name: str) -> Grid | None:
    """Return the settings for a sweep that names no method; None leaves this one out."""
    entry = _entry(name)
    if isinstance(entry.auto, bool):
        return entry.grid if entry.auto else None
    return entry.auto


def rank(name: str) -> int:
    """Return the rank of a method; the lowest is tried first."""
    return _entry(name).rank


def time_rank(name: str) -> tuple[int, int]:
    """Return the order of a method under a time limit; the lowest is tried first."""
    entry = _entry(name)
    return entry.time_rank, entry.rank


def preferred(name: str) -> Preference:
    """Return whether other methods must clearly beat this one to be chosen, by the table of a sweep."""
    return _entry(name).preferred


def trials(name: str) -> tuple[Any, ...]:
    """Return an estimator at each setting that the contract is checked at; the first has the defaults."""
    entry = _entry(name)
    return (entry.method(), *(entry.method(**settings) for settings in entry.trials))


def registered() -> tuple[str, ...]:
    """Return the names of all methods, sorted."""
    import_methods()
    return tuple(sorted(_ENTRIES))


def _entry(name: str) -> Entry:
    if name not in _ENTRIES:
        import_methods()
    try:
        return _ENTRIES[name]
    except KeyError:
        raise LookupError(
            f"no method named {name!r} is registered; there are {', '.join(registered()) or 'none'}. "
            "Import the module that defines it first"
        ) from None


def _is_own(method: type) -> bool:
    return method.__module__.startswith("farthing.")


def _origin(method: type) -> tuple[str, str]:
    return method.__module__, method.__qualname__
