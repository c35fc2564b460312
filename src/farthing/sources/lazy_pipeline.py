"""`LazyPipeline`: raw rows in, predictions out; blocks are computed only for the rows that need them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from farthing import store
from farthing.base import BudgetedEstimator
from farthing.base.files import PathLike
from farthing.base.inputs import check_caps
from farthing.costs import (
    Block,
    CostSheet,
    CostsLike,
    as_table,
    n_rows_of,
    named_block,
    select,
    split_budget,
    take_rows,
)
from farthing.costs.validation import quoted
from farthing.errors import CostError, TableError
from farthing.sources.lazy_blocks import (
    FittedBlocks,
    OneRow,
    block_costs,
    feature_table,
    held_out_rows,
    specified,
)
from farthing.sources.lazy_choice import cheapest_model
from farthing.sources.lazy_rounds import Computed, Limits, as_floats, predict_in_rounds
from farthing.sources.source import Source
from farthing.sources.source_set import Sources
from farthing.typing import Flags, Floats
from farthing.walks import Decisions, Walk

# Rows on which blocks are timed if no prices are given.
_TIMED_ROWS: Final = 2048


def _classifies(pipeline: LazyPipeline) -> bool:
    return hasattr(pipeline.model, "predict_proba")


class LazyPipeline(BaseEstimator):  # type: ignore[misc]
    """Transformers of raw rows, and a model that decides row by row which of them are worth their time.

    Each block is a transformer whose outputs are features of the model; in the price list it is a group. The
    model predicts in rounds over a batch: all rows that want the same block next have it computed in one
    call. Rows that are decided early never pay for the other blocks. Predictions are those of the model on
    the table of all blocks, bit for bit if the blocks treat each row on its own.

    Parameters
    ----------
    blocks : list of (name, transformer) or (name, transformer, columns)
        As in scikit-learn's FeatureUnion, or ColumnTransformer: columns are names, positions, or a function
        of X that returns them. Rows may be texts, images, records of a frame: whatever the transformers take.
        Outputs must be numbers; sparse ones are made dense.
    model : estimator
        A classifier or regressor of this library that buys columns. Its ``costs`` are replaced.
    costs : CostSheet, mapping of str to float, path or None
        The prices of the blocks by name, or those of the features, ``block__feature``. None times the blocks
        on training rows, in microseconds per row of a batch (`CostSheet.measure`): then prices, and with them
        the model, differ from run to run.
    batch_size : int
        Rows that are predicted at a time, which bounds the memory.
    within : float, optional
        How much of the best score, accuracy or R2, the pipeline may lose to be cheaper: 0.005 is half a point
        of accuracy. Then a fifth of the rows is held out, and of the models that the fit contains, such as
        those of other budgets, the cheapest one that is good enough on these rows is kept; see `cheapest`.

    Attributes
    ----------
    blocks_ : list of Block
        The fitted transformers, with the names of their features.
    model_ : estimator
        The fitted model of the features.
    costs_ : CostSheet
        The prices of the features.
    classes_ : ndarray, shape (n_classes,)
        The labels, of a classifier.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from farthing.forests import BudgetTreeClassifier
    >>> texts = ["good film", "bad film", "good plot, bad end", "very good"] * 5
    >>> blocks = [
    ...     ("words", CountVectorizer(vocabulary=["good", "bad"])),
    ...     ("pairs", CountVectorizer(ngram_range=(2, 2)))]
    >>> pipeline = LazyPipeline(blocks, BudgetTreeClassifier(), costs={"words": 1, "pairs": 20})
    >>> pipeline = pipeline.fit(texts, ["yes", "no", "no", "yes"] * 5)
    >>> pipeline.predict(["good end", "bad end"])
    array(['yes', 'no'], dtype='<U3')
    >>> pipeline.spend(["good end", "bad end"])
    array([1., 1.])
    """

    def __init__(
        self,
        blocks: Any,
        model: Any,
        *,
        costs: CostsLike = None,
        batch_size: int = 10_000,
        within: float | None = None,
    ) -> None:
        self.blocks = blocks
        self.model = model
        self.costs = costs
        self.batch_size = batch_size
        self.within = within

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LazyPipeline:
        """Fit all blocks and the model.

        Parameters
        ----------
        X : array, frame or list, length n_rows
            Raw rows.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights for the model; blocks do not see them.

        Returns
        -------
        self
        """
        self._check_parameters()
        if self.within is not None:
            learn, held_out = held_out_rows(y, n_rows_of(X), stratify=_classifies(self))
            labels, weights = np.asarray(y), None if sample_weight is None else np.asarray(sample_weight)
            self._fit(
                take_rows(X, learn), labels[learn], sample_weight=None if weights is None else weights[learn]
            )
            found = self.cheapest(
                take_rows(X, held_out),
                labels[held_out],
                within=self.within,
                sample_weight=None if weights is None else weights[held_out],
            )
            return self.adopt(found.blocks_, found.model_)
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> LazyPipeline:
        fitted, tables = [], []
        for name, transformer, columns in specified(self.blocks, X):
            made = clone(transformer)
            outputs = as_table(made.fit_transform(select(X, columns), y))
            block = named_block(name, made, columns, outputs.shape[1])
            fitted.append(block)
            tables.append(as_floats(block, outputs))
        sheet = self._sheet(fitted, X)
        model = clone(self.model)
        model.set_params(costs=sheet)
        table = feature_table(fitted, np.concatenate(tables, axis=1))
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.adopt(fitted, model.fit(table, y, **weights))

    def cheapest(self, X: Any, y: Any, *, within: float = 0.005, sample_weight: Any = None) -> LazyPipeline:
        """Return the pipeline with the cheapest model of the fit that is nearly as good as the best one.

        One fit may contain the models of many budgets (``model_.variants()``), and of all points of a path
        (``model_.path()``). All of them decide about the given rows, for which every block is computed.

        Parameters
        ----------
        X : array, frame or list, length n_rows
            Raw rows that the pipeline was not fitted on.
        y : array, shape (n_rows,)
            Their labels or numbers.
        within : float
            How much of the score, accuracy or R2, it may lose on these rows against the model of the best
            score, which is scored on rows that did not choose it.
        sample_weight : array, shape (n_rows,), optional
            Weights of the rows in scores and spends.

        Returns
        -------
        LazyPipeline
            With the same blocks.
        """
        if not within >= 0:  # written so that NaN fails, too
            raise ValueError(f"within must be zero or more; got {within!r}")
        check_is_fitted(self)
        metric = accuracy_score if _classifies(self) else r2_score
        table = feature_table(self.blocks_, self.features(X))
        model = cheapest_model(
            self.model_, table, y, metric=metric, within=within, sample_weight=sample_weight
        )
        made: LazyPipeline = clone(self)
        return made.adopt(self.blocks_, model)

    def decide(self, X: Any, *, budget: Any = None) -> Decisions:
        """Return predictions, acquired features and spend from one pass.

        Parameters
        ----------
        X : array, frame or list, length n_rows
            Raw rows.
        budget : float, array of shape (n_rows,), or mapping of str to these, optional
            Hard budget of each row; None means the model's own hard budget, if it has one. A mapping caps
            further resources of the prices as well.

        Returns
        -------
        Decisions
        """
        made = self._computed(X, budget)
        model = self.model_.fitted_
        prediction, probabilities = model.results(made.outputs)
        return Decisions(prediction, probabilities, model.costs.total_rows(made.acquired), made.acquired)

    def predict(self, X: Any, *, budget: Any = None) -> NDArray[Any]:
        """Predict each row, shape (n_rows,); parameters as in `decide`."""
        return self.decide(X, budget=budget).prediction

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, budget: Any = None) -> Floats:
        """Return probabilities, shape (n_rows, n_classes); parameters as in `decide`."""
        probabilities = self.decide(X, budget=budget).probabilities
        assert probabilities is not None
        return probabilities

    def spend(self, X: Any, *, budget: Any = None) -> Floats:
        """Return what each row costs by the price list, shape (n_rows,); parameters as in `decide`."""
        return self.decide(X, budget=budget).spent

    def acquired(self, X: Any, *, budget: Any = None) -> Flags:
        """Return which features each row acquires, shape (n_rows, n_features); parameters as in `decide`."""
        return self.decide(X, budget=budget).acquired

    def computed(self, X: Any, *, budget: Any = None) -> Flags:
        """Return which blocks are computed for each row, shape (n_rows, n_blocks); as in `decide`."""
        return self._computed(X, budget).blocks

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or R2 of a regressor."""
        metric = accuracy_score if _classifies(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def features(self, X: Any) -> Floats:
        """Return the features of all blocks, computed for every row, shape (n_rows, n_features)."""
        check_is_fitted(self)
        return np.concatenate([as_floats(block, block.compute(X)) for block in self.blocks_], axis=1)

    def walk(
        self,
        seed: int | None = None,
        budget: float | Mapping[str, float] | None = None,
        known: Mapping[str, object] | None = None,
    ) -> Walk:
        """Start the lazy prediction of one row, which asks for features of blocks; see `sources`."""
        check_is_fitted(self)
        return self.model_.walk(seed=seed, budget=budget, known=known)

    def sources(self, **rules: Any) -> Sources:
        """Return the blocks as sources of one raw row: ``consult(pipeline, pipeline.sources(), row=text)``.

        Parameters
        ----------
        **rules
            Time limit and failure rules of each, see `Source`; none by default.
        """
        check_is_fitted(self)
        groups = self.costs_.groups
        return Sources(
            Source(
                OneRow(block),
                block.features,
                name=block.name,
                price=groups[block.name].cost if block.name in groups else 0.0,
                own={name: float(self.costs_.own[self.costs_.column(name)]) for name in block.features},
                **{"timeout": None, **rules},
            )
            for block in self.blocks_
        )

    def blocks_to_measure(self) -> list[Block]:
        """Return the fitted blocks, for `CostSheet.measure`."""
        check_is_fitted(self)
        return list(self.blocks_)

    @property
    def costs_(self) -> CostSheet:
        """The prices of the features."""
        check_is_fitted(self)
        return self.model_.fitted_.costs

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels."""
        return self.model_.fitted_.classes  # type: ignore[attr-defined, no-any-return]

    def save(self, path: PathLike) -> None:
        """Write the pipeline to one file, which `farthing.load` reads; it contains no pickle and no code.

        Transformers are stored through skops. Those with native code, and those of other libraries, can be
        loaded only by naming their types as ``trusted``, of which a `TrustWarning` tells here.
        """
        check_is_fitted(self)
        state = {"blocks": self.blocks_, "model": self.model_, "batch_size": self.batch_size}
        store.write(path, "LazyPipeline", state)

    def adopt(self, blocks: Sequence[Block], model: BudgetedEstimator) -> LazyPipeline:
        """Set the fitted blocks and the model of their features, which must fit together."""
        self._check_parameters()
        if model.fitted_.schema.names != tuple(name for block in blocks for name in block.features):
            raise ValueError("the features of the blocks must be the columns of the model")
        self.blocks_, self.model_ = list(blocks), model
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.model)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        return tags

    def _check_parameters(self) -> None:
        model = self.model
        if (
            not isinstance(model, BudgetedEstimator)
            or model.asks != "columns"
            or not model.rows_are_independent
        ):
            raise TypeError(
                "model must be a classifier or regressor of this library that buys columns; "
                f"got {type(model).__name__}"
            )
        if self.within is not None and not self.within >= 0:
            raise ValueError(f"within must be None, or zero or more; got {self.within!r}")
        if not isinstance(self.batch_size, int) or self.batch_size < 1:
            raise ValueError(f"batch_size must be a whole number of at least 1; got {self.batch_size!r}")

    def _sheet(self, blocks: Sequence[Block], X: Any) -> CostSheet:
        names = [name for block in blocks for name in block.features]
        if self.costs is None:
            rows = np.arange(min(n_rows_of(X), _TIMED_ROWS))
            return CostSheet.measure(FittedBlocks(blocks), take_rows(X, rows)).align(names)
        if isinstance(self.costs, Mapping) and set(self.costs) == {block.name for block in blocks}:
            return block_costs(blocks, self.costs)
        try:
            return CostSheet.of(self.costs, names)
        except CostError as error:
            known = quoted([block.name for block in blocks])
            raise CostError(
                f"{error}. Give a price for each of the blocks {known}, or for each feature"
            ) from None

    def _computed(self, X: Any, budget: Any) -> Computed:
        check_is_fitted(self)
        model, n_rows = self.model_.fitted_, n_rows_of(X)
        money, given = split_budget(budget, model.costs)
        limits = Limits(
            check_caps(model.budget if money is None else money, n_rows),
            {name: np.full(n_rows, cap) for name, cap in model.own_caps().items()}
            | {name: _of_rows(cap, name, n_rows) for name, cap in given.items()},
        )
        parts = []
        for rows in _batches(n_rows, self.batch_size):
            part = X if len(rows) == n_rows else take_rows(X, rows)
            options = {**limits.of(rows)._asdict(), "n_threads": self.model_.n_threads()}
            parts.append(predict_in_rounds(model, self.blocks_, part, len(rows), **options))
        if not parts:
            raise TableError("there are no rows to predict; expected at least one")
        return parts[0] if len(parts) == 1 else Computed(*map(np.concatenate, zip(*parts, strict=True)))


def _of_rows(cap: Any, name: str, n_rows: int) -> Floats:
    caps = check_caps(cap, n_rows)
    if caps is None:
        raise ValueError(f"the budget has no number for {name!r}")
    return caps


def _batches(n_rows: int, size: int) -> Iterator[NDArray[np.int64]]:
    for begin in range(0, n_rows, size):
        yield np.arange(begin, min(begin + size, n_rows))
