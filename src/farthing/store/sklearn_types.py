"""Which types of scikit-learn a file may hold without being trusted, and checks of those with native code.

skops runs no code of a file, but builds any estimator of scikit-learn with the arrays that the file gives it.
Some predict by native code that follows these arrays without looking: a wrong index or length is then a crash
of the process. So a type is allowed only if it predicts by NumPy and SciPy, which check, or if its arrays are
checked here. All others, such as trees and nearest neighbours, are read only if the user trusts them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

# By the public module; the private ones change from version to version.
ALLOWED: Final[dict[str, frozenset[str]]] = {
    "calibration": frozenset({"CalibratedClassifierCV"}),
    "compose": frozenset({"ColumnTransformer", "TransformedTargetRegressor"}),
    "decomposition": frozenset({"PCA", "TruncatedSVD"}),
    "discriminant_analysis": frozenset({"LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"}),
    "dummy": frozenset({"DummyClassifier", "DummyRegressor"}),
    "ensemble": frozenset(
        {
            "AdaBoostClassifier", "AdaBoostRegressor", "BaggingClassifier", "BaggingRegressor",
            "ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier", "RandomForestRegressor",
            "StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor",
        }
    ),
    "feature_selection": frozenset(
        {"SelectFromModel", "SelectKBest", "SelectPercentile", "VarianceThreshold"}
    ),
    "impute": frozenset({"MissingIndicator", "SimpleImputer"}),
    "linear_model": frozenset(
        {
            "ARDRegression", "BayesianRidge", "ElasticNet", "ElasticNetCV", "GammaRegressor",
            "HuberRegressor", "Lars", "Lasso", "LassoCV", "LassoLars", "LinearRegression",
            "LogisticRegression", "LogisticRegressionCV", "PassiveAggressiveClassifier",
            "PassiveAggressiveRegressor", "Perceptron", "PoissonRegressor", "QuantileRegressor", "Ridge",
            "RidgeCV", "RidgeClassifier", "RidgeClassifierCV", "SGDClassifier", "SGDRegressor",
            "TheilSenRegressor", "TweedieRegressor",
        }
    ),
    "multiclass": frozenset({"OneVsOneClassifier", "OneVsRestClassifier", "OutputCodeClassifier"}),
    "naive_bayes": frozenset(
        {"BernoulliNB", "CategoricalNB", "ComplementNB", "GaussianNB", "MultinomialNB"}
    ),
    "neural_network": frozenset({"MLPClassifier", "MLPRegressor"}),
    "pipeline": frozenset({"FeatureUnion", "Pipeline"}),
    "preprocessing": frozenset(
        {
            "Binarizer", "FunctionTransformer", "KBinsDiscretizer", "LabelBinarizer", "LabelEncoder",
            "MaxAbsScaler", "MinMaxScaler", "Normalizer", "OneHotEncoder", "OrdinalEncoder",
            "PolynomialFeatures", "PowerTransformer", "QuantileTransformer", "RobustScaler",
            "StandardScaler", "TargetEncoder",
        }
    ),
    "svm": frozenset({"LinearSVC", "LinearSVR", "NuSVC", "SVC"}),
    # The classes of a tree hold no arrays themselves; those are in sklearn.tree._tree.Tree.
    "tree": frozenset(
        {"DecisionTreeClassifier", "DecisionTreeRegressor", "ExtraTreeClassifier", "ExtraTreeRegressor"}
    ),
    # Losses and links are needed to fit, and hold numbers.
    "_loss": frozenset(),
}  # fmt: skip

_SAFE_MODULES: Final = ("sklearn._loss.", "sklearn.linear_model._sgd_fast")
_KERNELS: Final = ("linear", "poly", "rbf", "sigmoid")


def is_allowed(module: str, name: str) -> bool:
    """Return whether a file may hold a type without being trusted; only types of scikit-learn are judged.

    Examples
    --------
    >>> is_allowed("sklearn.linear_model._logistic", "LogisticRegression")
    True
    >>> is_allowed("sklearn.neighbors._classification", "KNeighborsClassifier")
    False
    """
    package, _, rest = module.partition(".")
    if package != "sklearn" or module.startswith(_SAFE_MODULES):
        return True
    return name in ALLOWED.get(rest.partition(".")[0], ())


def check_native_arrays(model: Any) -> None:
    """Raise ValueError if an estimator within a model has arrays that its native code would follow astray."""
    from sklearn.svm import SVC, NuSVC  # noqa: PLC0415 - loading a model without one need not import it

    for part in _parts(model):
        if isinstance(part, SVC | NuSVC) and hasattr(part, "support_vectors_"):
            _check_svc(part)


def _parts(model: Any) -> Iterator[Any]:
    """Yield every object within a model, itself included, once each and without recursion."""
    seen: dict[int, Any] = {}
    stack = [model]
    while stack:
        part = stack.pop()
        if id(part) in seen or isinstance(part, str | bytes | int | float | None):
            continue
        seen[id(part)] = part
        yield part
        if isinstance(part, dict):
            stack += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            stack += part
        elif isinstance(part, np.ndarray):
            stack += part.reshape(-1).tolist() if part.dtype == object else []
        elif hasattr(part, "__dict__"):
            stack += vars(part).values()


def _check_svc(model: Any) -> None:
    """Check the arrays of a classifier of libsvm against each other; it checks none of them."""
    state = vars(model)

    def array(name: str, dtype: Any, *shape: int) -> Any:
        found = state.get(name)
        if not isinstance(found, np.ndarray) or found.dtype != dtype:
            raise ValueError(f"{name} of a {type(model).__name__} must be an array of {np.dtype(dtype)}")
        if found.shape != shape:
            raise ValueError(f"{name} of a {type(model).__name__} has shape {found.shape}, expected {shape}")
        return found

    n_classes = len(np.asarray(state.get("classes_")).reshape(-1))
    n_pairs = n_classes * (n_classes - 1) // 2
    counts = array("_n_support", np.int32, n_classes)
    if n_classes < 2 or (counts < 0).any():
        raise ValueError("a classifier must have two classes and counts of at least zero")
    n_vectors, n_features = int(counts.sum(dtype=np.int64)), state.get("n_features_in_")
    if type(n_features) is not int or state.get("_sparse") is not False:
        raise ValueError("only a classifier of dense rows can be read")
    if state.get("kernel") not in _KERNELS or type(state.get("degree")) is not int:
        raise ValueError(f"the kernel must be one of {', '.join(_KERNELS)}, with an integer degree")
    for name in ("_gamma", "coef0", "cache_size"):
        number = state.get(name)
        if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
            raise ValueError(f"{name} of a {type(model).__name__} must be a finite number")
    array("support_", np.int32, n_vectors)
    array("support_vectors_", np.float64, n_vectors, n_features)
    for name in ("dual_coef_", "_dual_coef_"):
        array(name, np.float64, n_classes - 1, n_vectors)
    array("_intercept_", np.float64, n_pairs)
    n_probabilities = len(np.asarray(state.get("_probA")).reshape(-1))
    if n_probabilities not in (0, n_pairs):
        raise ValueError("_probA must have an entry for each pair of classes, or none")
    for name in ("_probA", "_probB"):
        array(name, np.float64, n_probabilities)
