"""The sheet of labels: what the features and classes of a model mean to people."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeAlias

from farthing.costs.validation import brief, nearest, quoted
from farthing.documents import json_document, read_text, toml_document
from farthing.errors import LabelError
from farthing.labels.entries import ClassLabel, FeatureLabel, check_text, from_fields, key_of

_NO_FEATURE = FeatureLabel()
_NO_CLASS = ClassLabel()


@dataclass(frozen=True)
class Labels:
    """What the features and classes of a model mean: titles, questions, units, ranges, names, colours.

    A sheet is an immutable value. It travels in the model file; the page, ``farthing ask`` and the report
    show it. Predictions do not depend on it.

    Parameters
    ----------
    features : mapping of str to FeatureLabel
        By column; each a `FeatureLabel` or a mapping of its fields.
    classes : mapping of object to ClassLabel
        By label or its text; each a `ClassLabel`, a mapping of its fields, or the name alone.
    title : str
        What is predicted.

    Examples
    --------
    >>> labels = Labels(
    ...     {"chol": {"title": "Cholesterol", "unit": "mg/dl"}}, {1: "disease", 0: "no disease"}
    ... )
    >>> labels.title_of("chol"), labels.title_of("age"), labels.class_name(1)
    ('Cholesterol', 'age', 'disease')
    """

    features: Mapping[str, FeatureLabel] = field(default_factory=dict)
    classes: Mapping[str, ClassLabel] = field(default_factory=dict)
    title: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        features = {
            name: from_fields(FeatureLabel, plain, f"the label of {brief(name)}")
            for name, plain in _mapping(self.features, "features").items()
        }
        for name in features:
            if not isinstance(name, str):
                raise LabelError(f"features has the name {brief(name)}; expected names of columns")
        classes = {
            key_of(label): from_fields(
                ClassLabel, {"name": plain} if isinstance(plain, str) else plain, f"the class {brief(label)}"
            )
            for label, plain in _mapping(self.classes, "classes").items()
        }
        put(self, "features", MappingProxyType(features))
        put(self, "classes", MappingProxyType(classes))
        check_text(self.title, "title")

    def __hash__(self) -> int:
        return hash((*self.features.items(), *self.classes.items(), self.title))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_dict, (self.to_dict(),)  # a mapping proxy does not pickle

    def __bool__(self) -> bool:
        return bool(self.features or self.classes or self.title)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a sheet from a ``.toml`` or ``.json`` file that holds the constructor's arguments.

        ::

            title = "Heart disease"
            [features.chol]
            title = "Serum cholesterol"
            question = "What is the serum cholesterol?"
            unit = "mg/dl"
            allowed = [50, 1000]                # outside: refused
            usual = [150, 350]                  # outside: asked back
            [features.cp]
            title = "Chest pain"
            categories = {1 = "typical angina", 2 = "atypical angina"}
            [classes.1]
            name = "heart disease"
            colour = "#a32020"

        Parameters
        ----------
        path : str or path-like
            The file; its extension determines the format.
        """
        suffix = Path(path).suffix
        parse = {".toml": toml_document, ".json": json_document}.get(suffix.lower())
        if parse is None:
            raise LabelError(f"{os.fspath(path)}: the extension {suffix!r} is unknown; expected .toml, .json")
        try:
            content = read_text(path, LabelError)
            return cls.from_dict(parse(content, "a sheet of labels", LabelError))
        except LabelError as error:
            raise LabelError(f"{os.fspath(path)}: {error}") from None

    @classmethod
    def of(cls, labels: LabelsLike) -> Labels:
        """Return the sheet for an argument of a user: a sheet, a mapping, or the path of a file."""
        if isinstance(labels, Labels):
            return labels
        return cls.from_dict(labels) if isinstance(labels, Mapping) else cls.read(labels)

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Build a sheet from the output of `to_dict`, which is checked, as it may come from a file.

        Examples
        --------
        >>> Labels.from_dict({"titel": "Heart disease"})
        Traceback (most recent call last):
        farthing.errors.LabelError: unknown entry 'titel'; expected 'features', 'classes', 'title'
        """
        names = ("features", "classes", "title")
        found = _mapping(plain, "a sheet of labels")
        unknown = [name for name in found if name not in names]
        if unknown:
            raise LabelError(f"unknown entry {quoted(unknown)}; expected {quoted(names)}")
        return cls(**found)

    def to_dict(self) -> dict[str, Any]:
        """Return what is set, as strings, numbers, lists and dictionaries."""
        return {
            "features": {name: label.to_dict() for name, label in self.features.items()},
            "classes": {name: label.to_dict() for name, label in self.classes.items()},
            "title": self.title,
        }

    def feature(self, name: str) -> FeatureLabel:
        """Return the label of a feature; an empty one if it has none."""
        return self.features.get(name, _NO_FEATURE)

    def title_of(self, name: str) -> str:
        """Return the title of a feature, or its name."""
        return self.feature(name).title or name

    def class_label(self, label: object) -> ClassLabel:
        """Return the label of a class; an empty one if it has none."""
        return self.classes.get(key_of(label), _NO_CLASS)

    def class_name(self, label: object) -> str:
        """Return the name of a class, or the class itself as text."""
        return self.class_label(label).name or str(label)

    def only(self, names: Iterable[str]) -> Labels:
        """Return the sheet of some features; those that it does not have are ignored."""
        kept = set(names)
        return Labels(
            {name: label for name, label in self.features.items() if name in kept}, self.classes, self.title
        )

    def renamed(self, names: Mapping[str, str]) -> Labels:
        """Return the sheet with other names of features.

        Examples
        --------
        >>> Labels({"age": {"unit": "years"}}).renamed({"age": "x0"}).feature("x0").unit
        'years'
        """
        features = {names.get(name, name): label for name, label in self.features.items()}
        return Labels(features, self.classes, self.title)

    def check(self, names: Iterable[str], classes: Iterable[object] | None = None) -> None:
        """Raise LabelError if the sheet has a feature or a class that a model lacks.

        Parameters
        ----------
        names : iterable of str
            What the model may ask for.
        classes : iterable of object, optional
            Its classes; None for a regressor.

        Examples
        --------
        >>> Labels({"chole": {"unit": "mg/dl"}}).check(["age", "chol"])
        Traceback (most recent call last):
        farthing.errors.LabelError: there is a label for 'chole', which is not a feature of the model
        (did you mean 'chol'?)
        """
        columns = list(names)
        known = set(columns)
        for name in self.features:
            if name not in known:
                raise LabelError(
                    f"there is a label for {brief(name)}, which is not a feature of the model"
                    + nearest(name, columns)
                )
        keys = [] if classes is None else [key_of(label) for label in classes]
        for key in self.classes:
            if key not in keys:
                has = f"it has {quoted(keys)}" if keys else "it predicts a number"
                raise LabelError(f"there is a label for the class {brief(key)}, which the model lacks; {has}")


LabelsLike: TypeAlias = Labels | Mapping[str, Any] | str | os.PathLike[str]
"""What `Labels.of` accepts; a string is a path."""


def _mapping(plain: object, what: str) -> dict[Any, Any]:
    if not isinstance(plain, Mapping):
        raise LabelError(f"{what} is {brief(plain)}; expected entries by name")
    return dict(plain)
