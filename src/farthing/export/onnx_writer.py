"""The prediction of whole rows as an ONNX model; there is no walk in it, and no account.

The names of inputs and outputs are those of skl2onnx: ``X``; ``label`` and ``probabilities`` of a classifier,
``variable`` of a model that predicts numbers. The trees are one TreeEnsembleRegressor, which servers have had
for long: it compares doubles, and its sums are rounded to floats once, at the end. The link is made of plain
operators.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from farthing.errors import ExportError
from farthing.export.onnx_trees import OnnxTrees
from farthing.export.program import Program, is_tree_sum
from farthing.export.runtime_files import Written
from farthing.typing import Floats
from farthing.walks.plans import LinkStep, TreePlan

_OPSET: Final = 18
_ML_OPSET: Final = 3
_IR_VERSION: Final = 9
# The least probability of `farthing.learning.calibration.temper`.
_MIN_PROBABILITY: Final = 1e-12


def write_onnx(program: Program, name: str, columns: tuple[str, ...]) -> Written:
    """Return a program as an ONNX model, which takes all columns of the fit in their order, as doubles.

    Parameters
    ----------
    program : Program
        A sum over trees without exits.
    name : str
        The name of the file, and of the graph.
    columns : tuple of str
        The columns of the fit.

    Raises
    ------
    ExportError
        If the model is not a sum over trees, tests categories, or has a hard budget.
    """
    plan = program.plan
    if not isinstance(plan, TreePlan) or not is_tree_sum(plan):
        raise ExportError(
            f"{program.method} cannot be exported to ONNX: which trees a row passes depends on the row, "
            "and a tree ensemble of ONNX adds all of them"
        )
    if program.budget is not None:
        raise ExportError(
            f"{program.method} with a hard budget cannot be exported to ONNX, which has no account; export "
            "it to c or js"
        )
    forest = plan.trees.forest
    try:
        trees = OnnxTrees.of(plan.trees, columns)
    except ExportError as error:
        raise ExportError(f"{program.method} cannot be exported to ONNX: {error}") from error
    graph = _Graph()
    values = "X"
    if forest.dtype == "float32":
        values = graph.cast(graph.cast(values, "float"), "double")
    if not forest.tested.any() and program.settles:
        results = graph.constant_rows(values, program.unseen)
    else:
        results = graph.cast(graph.trees(values, trees, program.n_outputs), "double")
        for step in program.link:
            results = graph.step(results, step)
    return Written(
        {f"{name}.onnx": graph.model(program, name, len(columns), results)},
        table_bytes=_bytes(trees),
    )


def _bytes(trees: OnnxTrees) -> int:
    """Return the bytes of the numbers of the trees, as ONNX stores them."""
    return len(trees.node) * 8 * 7 + len(trees.leaf_score) * 8 * 4


class _Graph:
    """Nodes of an ONNX graph, made one after another; values have names."""

    def __init__(self) -> None:
        try:
            import onnx  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise ImportError("ONNX needs the package onnx: pip install 'farthing[onnx]'") from error
        self._onnx: Any = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def _name(self) -> str:
        return f"v{len(self._nodes) + len(self._constants)}"

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output; return its name."""
        made = self._name()
        self._nodes.append(
            self._onnx.helper.make_node(kind, list(inputs), [made], domain=domain, **attributes)
        )
        return made

    def constant(self, values: Any) -> str:
        """Add a constant tensor."""
        made = self._name()
        self._constants.append(self._onnx.numpy_helper.from_array(np.asarray(values), made))
        return made

    def cast(self, value: str, kind: str) -> str:
        """Round to floats, or widen to doubles."""
        types = {"float": self._onnx.TensorProto.FLOAT, "double": self._onnx.TensorProto.DOUBLE}
        return self.op("Cast", value, to=types[kind])

    def trees(self, values: str, trees: OnnxTrees, n_outputs: int) -> str:
        """Add the sum over the trees as floats, shape (n_rows, n_outputs)."""
        tensor = self._onnx.numpy_helper.from_array
        return self.op(
            "TreeEnsembleRegressor",
            values,
            domain="ai.onnx.ml",
            n_targets=n_outputs,
            aggregate_function="SUM",
            post_transform="NONE",
            nodes_treeids=trees.tree,
            nodes_nodeids=trees.node,
            nodes_featureids=trees.feature,
            nodes_modes=trees.mode,
            nodes_truenodeids=trees.left,
            nodes_falsenodeids=trees.right,
            nodes_missing_value_tracks_true=trees.missing,
            nodes_values_as_tensor=tensor(np.array(trees.threshold, dtype=np.float64), "thresholds"),
            target_treeids=trees.leaf_tree,
            target_nodeids=trees.leaf_node,
            target_ids=trees.leaf_output,
            target_weights_as_tensor=tensor(np.array(trees.leaf_score, dtype=np.float64), "scores"),
        )

    def constant_rows(self, values: str, row: Floats) -> str:
        """Return the same results for each row of the table."""
        zero, one, none = self.constant([0]), self.constant([1]), self.constant(np.zeros((1, 1)))
        rows = self.op("Slice", self.op("Shape", values), zero, one)
        # The table itself may hold NaN, so it is not multiplied.
        blank = self.op("Expand", none, self.op("Concat", rows, one, axis=0))
        return self.op("Add", blank, self.constant(row[np.newaxis]))

    def step(self, value: str, step: LinkStep) -> str:  # noqa: PLR0911 - one line a step
        """Add a step of the link, as `farthing.export.links.apply_link` computes it."""
        match step.name:
            case "first" | "take":
                return self._columns(value, 0, int(step.number))
            case "divide":
                return self.op("Div", value, self.constant(np.float64(step.number)))
            case "times":
                return self.op("Mul", value, self.constant(np.float64(step.number)))
            case "sigmoid":
                score = self._columns(value, 0, 1)
                both = self.op("Concat", self.op("Neg", score), score, axis=1)
                return self.op("Sigmoid", both)
            case "second":
                return self._columns(value, 1, 2)
            case "softmax":
                return self.op("Softmax", value, axis=1)
            case "normalise":
                return self._normalise(value)
            case "exponential":
                return self.op("Exp", value)
            case "one":
                return self._columns(self.op("Add", self.op("Sub", value, value), self.constant(1.0)), 0, 1)
            case "temper":
                least = self.op("Max", value, self.constant(_MIN_PROBABILITY))
                logs = self.op("Div", self.op("Log", least), self.constant(np.float64(step.number)))
                return value if step.number == 1 else self.op("Softmax", logs, axis=1)
            case "mean_grade":
                return self._row_sum(self.op("Mul", value, self.constant(np.array([step.grades]))))
            case _:
                return self._single(value, step)

    def _single(self, value: str, step: LinkStep) -> str:
        """Add a step of XGBoost, which rounds to floats."""
        if step.name == "single_exponential":
            return self.cast(self.cast(self.op("Exp", value), "float"), "double")
        if step.name == "single_sigmoid":
            second = self.cast(self.op("Sigmoid", self._columns(value, 0, 1)), "float")
            both = self.op("Concat", self.op("Sub", self.constant(np.float32(1)), second), second, axis=1)
            return self.cast(both, "double")
        return self.cast(self.cast(self.op("Softmax", value, axis=1), "float"), "double")

    def _columns(self, value: str, begin: int, end: int) -> str:
        places = [self.constant([each]) for each in (begin, end, 1)]
        return self.op("Slice", value, *places)

    def _row_sum(self, value: str) -> str:
        return self.op("ReduceSum", value, self.constant([1]), keepdims=1)

    def _normalise(self, value: str) -> str:
        # Rows of zeros become uniform.
        none = self.op("Equal", self._row_sum(self.op("Abs", value)), self.constant(np.float64(0)))
        counts = self.op("Where", none, self.constant(np.float64(1)), value)
        return self.op("Div", counts, self._row_sum(counts))

    def model(self, program: Program, name: str, n_columns: int, results: str) -> bytes:
        """Return the graph from ``X`` to the outputs as a file."""
        onnx = self._onnx
        helper, single = onnx.helper, onnx.TensorProto.FLOAT
        outputs = []
        if program.classes is None:
            self._nodes.append(helper.make_node("Cast", [results], ["variable"], to=single))
            outputs.append(helper.make_tensor_value_info("variable", single, [None, 1]))
        else:
            labels, kind = self._labels(program)
            if program.error_costs is None:
                best = self.op("ArgMax", results, axis=1, keepdims=0)
            else:
                expected = self.op("MatMul", results, self.constant(program.error_costs))
                best = self.op("ArgMin", expected, axis=1, keepdims=0)
            self._nodes.append(helper.make_node("Gather", [labels, best], ["label"]))
            self._nodes.append(helper.make_node("Cast", [results], ["probabilities"], to=single))
            outputs += [
                helper.make_tensor_value_info("label", kind, [None]),
                helper.make_tensor_value_info("probabilities", single, [None, program.n_results]),
            ]
        graph = helper.make_graph(
            self._nodes,
            name,
            [helper.make_tensor_value_info("X", onnx.TensorProto.DOUBLE, [None, n_columns])],
            outputs,
            initializer=self._constants,
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _ML_OPSET)]
        made = helper.make_model(
            graph, producer_name="farthing", opset_imports=opsets, ir_version=_IR_VERSION
        )
        onnx.checker.check_model(made)
        found: bytes = made.SerializeToString()
        return found

    def _labels(self, program: Program) -> tuple[str, int]:
        """Return the classes as a tensor, and its type: integers, or else text."""
        labels = program.classes or []
        if all(isinstance(label, int) and not isinstance(label, bool) for label in labels):
            return self.constant(np.array(labels, dtype=np.int64)), self._onnx.TensorProto.INT64
        texts = np.array([str(label) for label in labels], dtype=object)
        return self.constant(texts), self._onnx.TensorProto.STRING
