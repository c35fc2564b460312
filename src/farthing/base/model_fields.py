"""The fields of a fitted model as a state: what files and pickles hold."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

#: Metadata of a field that a file may lack; it is None then.
OPTIONAL: Final = {"optional": True}


@dataclass(frozen=True, eq=False, kw_only=True)
class ModelFields:
    """What a dataclass of a fitted model offers to files and pickles."""

    def state(self) -> dict[str, Any]:
        """Return the fields by the names of the estimator's attributes, which end in "_"; for files.

        Optional fields that are None or empty are left out.
        """
        state = {f"{each.name}_": getattr(self, each.name) for each in fields(self)}
        unset = {f"{name}_" for name in optional_fields(type(self)) if _is_unset(getattr(self, name))}
        return {name: value for name, value in state.items() if name not in unset}

    def __getstate__(self) -> dict[str, Any]:
        # Cached properties may hold compiled objects, which do not pickle; they are recomputed on demand.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # a frozen dataclass refuses setattr


def optional_fields(model_type: type[ModelFields]) -> dict[str, Any]:
    """Return the fields of a model that its files may lack, with what they are then."""
    return {
        each.name: each.default_factory() if callable(each.default_factory) else each.default
        for each in fields(model_type)
        if each.metadata.get("optional")
    }


def _is_unset(value: Any) -> bool:
    """Return whether an optional field has nothing to store."""
    return value is None or (isinstance(value, dict) and not value)
