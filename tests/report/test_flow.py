"""The questions of a model as a tree, against walks of the same rows."""

from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from farthing.adaptive import EdgeClassifier
from farthing.boosting import AdaBoostRSClassifier, GreedyMiserRegressor
from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier
from farthing.neighbors import RandomOrderClassifier
from farthing.report.flow import More, Question, Stop, flow

DATA = load_heart_disease()
X, y = DATA.X[:60], DATA.y[:60]
MODELS = {
    "tree": BudgetTreeClassifier(costs=DATA.costs, max_depth=3),
    "cascade": MiserCascadeClassifier(costs=DATA.costs, budget=60),
    "sampled votes": AdaBoostRSClassifier(costs=DATA.costs, budget=150, n_estimators=10),
    "regressor": GreedyMiserRegressor(costs=DATA.costs, tradeoff=1e-3, n_estimators=4),
}


@pytest.fixture(scope="module", params=list(MODELS))
def model(request):
    return MODELS[request.param].fit(X, y)


def asked(model, row):
    """The features that a walk asks for, in order."""
    walk, order = model.walk(), []
    while (ask := walk.ask) is not None:
        order.append((ask.feature, ask.price))
        walk.tell(X.iloc[row][ask.feature])
    return tuple(order), walk.decision


def paths(branches, before=()):
    """Every node below branches, with the questions before it."""
    for branch in branches:
        node = branch.then
        if isinstance(node, Question):
            here = (*before, (node.feature, node.price))
            yield here, node
            yield from paths(node.branches, here)
        else:
            yield before, node


def test_questions_are_those_of_the_walks(model):
    found = flow(model, X, max_depth=20, min_share=0.0)
    walks = [asked(model, row) for row in range(len(X))]
    prefixes = Counter(order[:k] for order, _ in walks for k in range(1, len(order) + 1))
    ends = Counter(order for order, _ in walks)
    nodes = list(paths(found.branches))
    assert not any(isinstance(node, More) for _, node in nodes)
    questions = {path: node.share * len(X) for path, node in nodes if isinstance(node, Question)}
    assert {path: round(count, 9) for path, count in questions.items()} == dict(prefixes)
    stops = {path: node for path, node in nodes if isinstance(node, Stop)}
    assert {path: round(node.share * len(X), 9) for path, node in stops.items()} == dict(ends)
    for path, node in stops.items():
        mean = np.mean([decision.spent for order, decision in walks if order == path])
        assert node.spend == pytest.approx(mean)


def test_limits_keep_every_row_and_the_spend(model):
    found = flow(model, X, max_depth=2, min_share=0.1)
    nodes = [node for _, node in paths(found.branches)]
    ends = [node for node in nodes if not isinstance(node, Question)]
    assert sum(node.share for node in ends) == pytest.approx(1.0)
    assert sum(node.share * node.spend for node in ends) == pytest.approx(model.spend(X).mean())
    assert all(len(path) <= 2 for path, _ in paths(found.branches))
    assert all(node.share >= 0.1 for node in nodes if isinstance(node, Question))


def test_shares_of_a_question_are_those_of_its_branches(model):
    for _, node in paths(flow(model, X).branches):
        if isinstance(node, Question):
            assert sum(branch.then.share for branch in node.branches) == pytest.approx(node.share)


def test_answers_say_which_side_of_a_split_rows_took():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 10, size=(200, 3)).astype(float)
    labels = np.where(values[:, 0] < 4, values[:, 1] < 5, values[:, 2] < 5).astype(int) + 2 * (
        values[:, 0] < 4
    )
    found = flow(BudgetTreeClassifier(max_depth=2).fit(values, labels), values)
    (root,) = found.branches
    assert root.then.feature == "x0"
    assert {(branch.then.feature, branch.answers) for branch in root.then.branches} == {
        ("x1", "0 to 3"),
        ("x2", "4 to 9"),
    }


def test_pictures(model, tmp_path):
    found = flow(model, X)
    root = ElementTree.fromstring(found.svg())
    shown = "".join(root.itertext())
    first = found.branches[0].then
    assert isinstance(first, Question)
    assert first.feature in shown
    bars = list(root.iter("{http://www.w3.org/2000/svg}rect"))
    assert len(bars) == len(list(paths(found.branches)))
    chart = found.mermaid()
    assert chart.startswith("flowchart LR\n")
    assert chart.count("-->") == len(bars)
    found.write(tmp_path / "flow.md")
    assert (tmp_path / "flow.md").read_text().startswith("```mermaid\n")
    with pytest.raises(ValueError, match=r"expected \.svg or \.md"):
        found.write(tmp_path / "flow.png")


def test_names_of_users_are_escaped():
    name = 'a<script>"&#'
    table = X[["age", "cp"]].rename(columns={"age": name})
    found = flow(BudgetTreeClassifier(max_depth=4, costs={name: 0, "cp": 9}).fit(table, y), table)
    assert "<script>" not in found.svg()
    assert name in "".join(ElementTree.fromstring(found.svg()).itertext())
    assert "<script>" not in found.mermaid()


def test_devices_are_questions():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 4))
    labels = (values[:, 0] + values[:, 2] > 0).astype(int)
    model = EdgeClassifier({"left": ["x0", "x1"], "right": ["x2", "x3"]}).fit(values, labels)
    found = flow(model, values, min_share=0.0)
    ends = [node for _, node in paths(found.branches) if isinstance(node, Stop)]
    assert sum(node.share * node.spend for node in ends) == pytest.approx(model.spend(values).mean())


def test_bad_limits_are_errors():
    model = MODELS["tree"].fit(X, y)
    with pytest.raises(ValueError, match="max_depth must be 1 or more"):
        flow(model, X, max_depth=0)
    with pytest.raises(ValueError, match="min_share"):
        flow(model, X, min_share=1.5)
    with pytest.raises(ValueError, match="no rows"):
        flow(model, X[:0])


def test_a_tree_needs_no_rows():
    """The counts at its nodes are those of the rows that it learned from."""
    tree = MODELS["tree"].fit(X, y)
    told, walked = (
        list(paths(found.branches)) for found in (flow(tree, min_share=0), flow(tree, X, min_share=0))
    )
    assert [path for path, _ in sorted(told, key=shares)] == [path for path, _ in sorted(walked, key=shares)]
    for (path, ours), (_, theirs) in zip(sorted(told, key=shares), sorted(walked, key=shares), strict=True):
        assert ours.share == pytest.approx(theirs.share, abs=0.003), path
        assert type(ours) is type(theirs)
    assert sum(node.share for _, node in told if isinstance(node, Stop)) == pytest.approx(1)


def shares(node):
    return str(node[0]), type(node[1]).__name__


@pytest.mark.parametrize("name", ["cascade", "regressor"])
def test_others_need_none_either(name):
    model = MODELS[name].fit(X, y)
    found = flow(model, max_depth=20, min_share=0)
    assert found.imagined
    assert "1000 imagined rows" in found.mermaid()
    stops = [node for _, node in paths(found.branches) if isinstance(node, Stop)]
    assert sum(node.share for node in stops) == pytest.approx(1)
    first = next(path for path, _ in paths(found.branches))[0]
    assert first == asked(model, 0)[0][0]


def test_what_the_model_does_not_tell_needs_rows():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 4))
    labels = (values[:, 0] > 0).astype(int)
    with pytest.raises(ValueError, match="does not ask for columns; give rows"):
        flow(EdgeClassifier({"left": ["x0", "x1"], "right": ["x2", "x3"]}).fit(values, labels))
    with pytest.raises(ValueError, match="no likely answers; give rows"):
        flow(
            RandomOrderClassifier(BudgetTreeClassifier(), costs=[1, 2, 3, 4], budget=5.0).fit(values, labels)
        )
