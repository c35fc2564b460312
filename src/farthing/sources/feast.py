"""Features from the online store of Feast, one source for each feature view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from farthing.costs.validation import amount, quoted, unique
from farthing.errors import SourceError
from farthing.sources.source import Source
from farthing.sources.source_set import Sources
from farthing.walks import REFUSED

if TYPE_CHECKING:
    from feast import FeatureStore

# Of a value in an answer of Feast (FieldStatus): there, and there but null. Others are not found, or too old.
_PRESENT, _NULL = 1, 2
_WAIT: Final = 10.0


def feast_sources(
    store: FeatureStore | str,
    features: Iterable[str],
    *,
    entity: str | Iterable[str] | None = None,
    prices: Mapping[str, float] | None = None,
    full_names: bool = False,
    **rules: Any,
) -> Sources:
    """Return a source for each feature view of Feast's online store.

    A walk reads a view when it first asks for one of its features, and never reads the others. A view is a
    group of the price list. A row that the store does not have, or has only older than the view's ``ttl``, is
    refused; null is a value: measured, but missing. On-demand views are read like others, and Feast reads
    what they are computed from.

    Parameters
    ----------
    store : feast.FeatureStore or str
        The store, or the folder of its repository.
    features : iterable of str
        As Feast names them: ``"lab:chol"``.
    entity : str or iterable of str, optional
        The join keys. They are taken from a row that is a mapping; by default all of its fields are. With one
        key, a row that is not a mapping is the key itself.
    prices : mapping of str to float, optional
        What reading a view costs; 0 for those that are not listed.
    full_names : bool
        Whether the features of the model are named ``lab__chol``, not ``chol``.
    **rules
        Time limit and failure rules of each view; see `Source`.

    Returns
    -------
    Sources

    Notes
    -----
    Feast 0.67 wants a pandas below 3; this library works with either.

    Examples
    --------
    With a repository of Feast in the folder ``features``::

        sources = feast_sources("features", ["lab:chol", "visit:age"], entity="patient", prices={"lab": 7.5})
        model = BudgetedClassifier(sources.costs()).fit(X, y)
        decision = farthing.consult(model, sources, row={"patient": 63})
    """
    made = _store(store)
    views = _by_view(features)
    known = _views_of(made)
    if unknown := [view for view in views if view not in known]:
        raise ValueError(f"the store has no view {quoted(unknown)}; it has {quoted(known) or 'none'}")
    given = {} if prices is None else dict(prices)
    if unknown := [view for view in given if view not in views]:
        raise ValueError(f"prices has {quoted(unknown)}, of which no feature is read")
    keys = None if entity is None else unique([entity] if isinstance(entity, str) else entity, "join key")
    return Sources(
        Source(
            _reader(made, view, names, keys, full_names=full_names),
            [f"{view}__{name}" if full_names else name for name in names],
            name=view,
            price=amount(given.get(view, 0.0), f"the price of the view {view!r}"),
            **{"timeout": _WAIT, **rules},
        )
        for view, names in views.items()
    )


def _reader(
    store: Any, view: str, names: list[str], keys: tuple[str, ...] | None, *, full_names: bool
) -> Callable[[Any], Any]:
    """Return the function that reads one view for one row."""
    asked = [f"{view}:{name}" for name in names]

    def fetch(row: Any) -> Any:
        found = store.get_online_features(
            features=asked, entity_rows=[_entity_row(row, keys)], full_feature_names=full_names
        )
        values, status = found.to_dict(), _statuses(found)
        return {
            name: value[0] if status.get(name, _PRESENT) in (_PRESENT, _NULL) else REFUSED
            for name, value in values.items()
        }

    return fetch


def _statuses(found: Any) -> dict[str, int]:
    """Return the status of each value of an answer for one row."""
    names = found.proto.metadata.feature_names.val
    return {name: int(each.statuses[0]) for name, each in zip(names, found.proto.results, strict=True)}


def _entity_row(row: Any, keys: tuple[str, ...] | None) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        if keys is None or len(keys) != 1:
            raise SourceError("the row is not a mapping; name its join key as entity")
        return {keys[0]: row}
    if keys is None:
        return dict(row)
    if lacks := [key for key in keys if key not in row]:
        raise SourceError(f"the row has no {quoted(lacks)}, by which Feast finds it")
    return {key: row[key] for key in keys}


def _by_view(features: Iterable[str]) -> dict[str, list[str]]:
    """Return the features of each view, in their order."""
    views: dict[str, list[str]] = {}
    for feature in unique([features] if isinstance(features, str) else features):
        view, colon, name = feature.partition(":")
        if not (view and colon and name):
            raise ValueError(f"a feature of Feast is named view:feature; got {feature!r}")
        views.setdefault(view, []).append(name)
    if not views:
        raise ValueError("name at least one feature, such as 'lab:chol'")
    return views


def _views_of(store: Any) -> list[str]:
    return [view.name for view in (*store.list_feature_views(), *store.list_on_demand_feature_views())]


def _store(store: Any) -> Any:
    if not isinstance(store, str):
        return store
    try:
        import feast  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("sources over Feast need its package: pip install 'farthing[feast]'") from error
    return feast.FeatureStore(repo_path=store)
