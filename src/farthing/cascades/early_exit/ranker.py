"""Early exit for documents: those far behind the best of their query leave, and pay for no more trees."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, ContractRegressor, RankerMixin, register
from farthing.base.inputs import check_cap, check_caps
from farthing.base.parameters import NON_NEGATIVE, at_least
from farthing.boosting import GreedyMiserRanker, GreedyMiserRegressor
from farthing.cascades.early_exit.base import CONSTRAINTS, EarlyExitBase
from farthing.cascades.early_exit.model import is_made_of_trees
from farthing.cascades.early_exit.query_walk import QueryWalk
from farthing.cascades.early_exit.ranker_model import EarlyExitRankerModel
from farthing.costs import CostsLike
from farthing.metrics import query_codes
from farthing.table import encode, refused_flags
from farthing.walks import Decisions, Walk


@register(
    grid={"margin": [0.1, 0.3, 1.0, 3.0], "k": [5], "rounds_per_exit": [10]},
    trials=[
        {
            "estimator": GreedyMiserRegressor(n_estimators=9, learning_rate=0.5),
            "margin": 0.5,
            "k": 3,
            "rounds_per_exit": 2,
        },
        {
            "estimator": GreedyMiserRanker(n_estimators=6, learning_rate=0.7, tree_cost=0.1),
            "margin": 0.0,
            "k": 1,
            "rounds_per_exit": 1,
        },
    ],
)
class EarlyExitRanker(RankerMixin, EarlyExitBase, ContractRegressor):
    """A boosted ranker whose unpromising documents leave early, by their distance to the k-th best.

    The trees are learned as usual. At the i-th of n exits a document leaves if its score is at least
    ``margin * (n - i) / (n - 1)`` below that of the k-th best remaining document of its query (Early Exit
    Using Proximity Threshold); it keeps the score it left with. Queries of at most k documents keep them all.

    The unit is the query: what a row acquires and spends is for that row, given its query, and the walk is
    over the query's documents (`walk_query`). `walk` is that of a query of one document.

    Parameters
    ----------
    estimator : regressor or ranker made of boosted trees, optional
        The model to learn; None means a `GreedyMiserRanker` at its defaults, which ignores prices. Its hard
        budget, if it has one, is kept.
    margin : float
        How far a document may be behind at the first exit, in units of the score; 0 or more.
    k : int
        Rank of the document that the others are compared with; `score` is NDCG@k.
    rounds_per_exit : int
        Rounds of boosting between two exits.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features, in place of the estimator's; None keeps those.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same bits.

    Attributes
    ----------
    model_ : regressor
        The fitted estimator.
    margin_ : float
        As given.
    k_, rounds_per_exit_ : int
        As given.

    References
    ----------
    Cambazoglu et al.: Early exit optimizations for additive machine learned ranking systems. WSDM 2010; as in
    section 6 of Xu, Weinberger, Chapelle: The Greedy Miser. ICML 2012.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> qid = np.repeat(np.arange(10), 30)
    >>> grades = np.digitize(X[:, 0] + X[:, 1], [0, 1, 2])
    >>> ranker = EarlyExitRanker(margin=0.2, rounds_per_exit=5).fit(X, grades, qid)
    >>> bool(ranker.spend(X, qid=qid).mean() < ranker.model_.spend(X).mean())
    True
    """

    model_type = EarlyExitRankerModel
    rows_are_independent = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "margin": [NON_NEGATIVE],
        "k": [at_least(1)],
    }

    fitted_: EarlyExitRankerModel

    def __init__(
        self,
        estimator: Any = None,
        *,
        margin: float = 0.5,
        k: int = 5,
        rounds_per_exit: int = 10,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(estimator, rounds_per_exit, costs, n_jobs)
        self.margin = margin
        self.k = k

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None, **options: Any
    ) -> Self:
        """Learn from documents with grades.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            One document per row.
        y : array, shape (n_rows,)
            Grades; larger is better.
        qid : array, shape (n_rows,), optional
            The query of each document, for estimators that take it; None means one query.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is ignored.
        **options
            Further options of the estimator's ``fit``.

        Returns
        -------
        self
        """
        model = self._unfitted()
        given = {"qid": qid} if "qid" in inspect.signature(model.fit).parameters else {}
        return self.wrap(model.fit(X, y, sample_weight=sample_weight, **given, **options))

    # The contract, with queries.

    def predict(
        self, X: Any, *, qid: Any = None, budget: Any = None, seeds: Any = None, refused: Any = None
    ) -> NDArray[Any]:
        """Score each document.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            Only the entries that a prediction acquires are read.
        qid : array, shape (n_rows,), optional
            The query of each document, in any order; None means one query.
        budget : float or array, shape (n_rows,), optional
            What each row may spend; None means the model's own hard budget, if it has one.
        seeds : int or array, shape (n_rows,), optional
            Ignored: trees are not stochastic.
        refused : sequence of str, or array or frame of bool, shape (n_rows, n_features), optional
            What is not available, as in `walk_query` with refusals: names of features, for all documents, or
            a flag for each entry of X. It may change what other documents of the query buy.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
            Within a query, larger is better.
        """
        return self.decide(X, qid=qid, budget=budget, seeds=seeds, refused=refused).prediction

    def acquired(
        self, X: Any, *, qid: Any = None, budget: Any = None, seeds: Any = None, refused: Any = None
    ) -> NDArray[np.bool_]:
        """Return what each document acquires, given its query; parameters as in `predict`.

        Returns
        -------
        ndarray of bool, shape (n_rows, n_features)
        """
        return self.decide(X, qid=qid, budget=budget, seeds=seeds, refused=refused).acquired

    def spend(
        self,
        X: Any,
        *,
        qid: Any = None,
        budget: Any = None,
        seeds: Any = None,
        refused: Any = None,
        resource: Any = None,
    ) -> NDArray[np.float64]:
        """Return the spend of each document, or what it takes of a resource, given its query.

        Parameters are those of `predict`, and the name of a further resource.

        Returns
        -------
        ndarray of float64, shape (n_rows,)
        """
        acquired = self.acquired(X, qid=qid, budget=budget, seeds=seeds, refused=refused)
        return self._account(acquired, resource)

    def decide(
        self,
        X: Any,
        *,
        qid: Any = None,
        budget: Any = None,
        seeds: Any = None,  # trees are not stochastic
        refused: Any = None,
    ) -> Decisions:
        """Score, and return what was acquired and paid, in one pass; parameters as in `predict`.

        Returns
        -------
        Decisions
        """
        outputs, acquired = self._rank(X, qid, budget, refused)
        model = self.fitted_
        if not len(outputs):
            return Decisions(np.empty(0), None, np.empty(0), acquired)
        prediction, _ = model.results(model.settle(outputs, acquired))
        return Decisions(prediction, None, model.costs.total_rows(acquired), acquired)

    def _rank(
        self, X: Any, qid: Any, budget: Any, refused: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        self.check_ready()
        model = self.fitted_
        encoded = encode(model.schema, X, type(self).__name__, needed=self._needed(refused), min_rows=0)
        n_rows = len(encoded.values)
        # Without rows there is no query to code.
        query = query_codes(qid, n_rows) if n_rows else np.empty(0, dtype=np.int64)
        caps = check_caps(model.budget if budget is None else budget, n_rows)
        flags = None if refused is None else refused_flags(model.schema, X, refused, n_rows)
        outputs, acquired = model.rank(encoded.values, caps, query, self.n_threads(), flags)
        encoded.check(acquired[:, : model.costs.n_columns])
        return outputs, acquired

    def walk_query(
        self,
        n_documents: int,
        budget: float | None = None,
        known: Sequence[Mapping[str, object]] | None = None,
    ) -> QueryWalk:
        """Start the lazy prediction of a query.

        Parameters
        ----------
        n_documents : int
            How many documents it has.
        budget : float, optional
            What may be spent on each; None means the model's own hard budget, if it has one.
        known : sequence of mappings, one for each document, optional
            Features owned from the start, which cost nothing.

        Returns
        -------
        QueryWalk
        """
        self.check_ready()
        if known is not None and len(known) != n_documents:
            raise ValueError(f"known must be given for each of {n_documents} documents; got {len(known)}")
        model = self.fitted_
        cap = model.budget if budget is None else check_cap(budget)
        walks = []
        for document in range(n_documents):
            policy = model.trees_policy()
            owned = None if known is None else known[document]
            walk = Walk(policy, model.schema, model.costs, model.conclude_row, budget=cap, known=owned)
            walks.append((walk, policy))
        return QueryWalk(walks, len(model.exits), model.keeps)

    def _ranking_scores(self, X: Any, qid: Any, budget: Any) -> NDArray[np.float64]:
        return self.predict(X, qid=qid, budget=budget)

    def _default_estimator(self) -> BudgetedEstimator:
        return GreedyMiserRanker()

    def _check_estimator(self, model: object) -> BudgetedEstimator:
        if not is_made_of_trees(model) or not isinstance(model, ContractRegressor):
            raise TypeError(
                f"estimator must be a regressor or ranker made of trees, such as GreedyMiserRanker; got "
                f"{type(model).__name__}. For classes, see EarlyExitClassifier"
            )
        return model

    def _make_model(self, fields: dict[str, Any]) -> EarlyExitRankerModel:
        return EarlyExitRankerModel(**fields, margin=float(self.margin), k=int(self.k))
