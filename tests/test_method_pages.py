"""The pages of methods: every registered method has one, and names what is there."""

import ast
import doctest
import inspect
import tomllib
from pathlib import Path

import pytest

import farthing
from farthing.base import get, registered

DOCS = Path(__file__).parents[1] / "docs"
NOTES = tomllib.loads((DOCS / "method_notes.toml").read_text(encoding="utf-8"))
OWN = [name for name in registered() if get(name).__module__.startswith("farthing.")]


def test_every_method_has_a_page_and_every_page_its_parts() -> None:
    on_pages = {name for note in NOTES.values() for name in note["classes"]}
    assert set(OWN) - on_pages == set(), "docs/method_notes.toml lacks these"
    packages = (farthing.boosting, farthing.forests, farthing.adaptive, farthing.cascades, farthing.neighbors)
    others = (farthing.deep, farthing.multiclass, farthing.pipelines, farthing.frontier)
    public = {name for package in (*packages, *others) for name in package.__all__}
    assert on_pages - public == set()


@pytest.mark.parametrize("name", NOTES)
def test_a_page_has_an_equation_where_it_is_from_and_when_to_use_it(name: str) -> None:
    note = NOTES[name]
    assert [part for part in ("title", "short", "what", "equation", "when") if not note.get(part)] == []
    assert note.get("paper") or note.get("source")


@pytest.mark.parametrize("name", OWN)
def test_the_page_of_a_method_has_an_example_that_runs(name: str) -> None:
    # What a docstring shows is on the page, and --doctest-modules runs it.
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(get(name)) or "")
    assert examples, f"{name} has no example in its docstring"
    assert any(example.want for example in examples), f"the example of {name} shows no result"


@pytest.mark.parametrize("name", [name for name, note in NOTES.items() if note.get("paper")])
def test_methods_of_a_paper_cite_it(name: str) -> None:
    """Each class of a page that names a paper has references of its own, for readers of the docstring."""
    classes = [each for each in NOTES[name]["classes"] if each in OWN]
    assert [each for each in classes if "References\n---" not in (inspect.getdoc(get(each)) or "")] == []


@pytest.mark.parametrize("name", OWN)
def test_the_page_of_a_method_links_to_its_source(name: str) -> None:
    """Sphinx cannot read a decorator with ``{**texts}``, and leaves out the source without a warning."""
    source = Path(inspect.getfile(get(name))).read_text(encoding="utf-8")
    decorated = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ClassDef))
    displays = (
        part for node in decorated for each in node.decorator_list for part in ast.walk(each)
        if isinstance(part, ast.Dict)
    )  # fmt: skip
    assert [ast.unparse(display) for display in displays if None in display.keys] == []


def test_pages_of_results_that_they_name_are_there() -> None:
    named = {page for note in NOTES.values() for page in note.get("results", [])}
    assert {page for page in named if not (DOCS / "results" / f"{page}.md").is_file()} == set()


def test_the_gallery_has_examples_with_pictures() -> None:
    examples = sorted((DOCS.parent / "examples" / "gallery").glob("plot_*.py"))
    assert len(examples) >= 15
    for path in examples:
        text = path.read_text(encoding="utf-8")
        assert "plt.subplots" in text or ".plot()" in text
