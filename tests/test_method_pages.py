"""The pages of methods: every registered method has one, and names what is there."""

import tomllib
from pathlib import Path

import farthing
from farthing.base import get, registered

DOCS = Path(__file__).parents[1] / "docs"
NOTES = tomllib.loads((DOCS / "method_notes.toml").read_text(encoding="utf-8"))


def test_every_method_has_a_page_and_every_page_its_parts() -> None:
    on_pages = {name for note in NOTES.values() for name in note["classes"]}
    own = {name for name in registered() if get(name).__module__.startswith("farthing.")}
    assert own - on_pages == set(), "docs/method_notes.toml lacks these"
    packages = (farthing.boosting, farthing.forests, farthing.adaptive, farthing.cascades, farthing.neighbors)
    others = (farthing.multiclass, farthing.pipelines, farthing.frontier)
    public = {name for package in (*packages, *others) for name in package.__all__}
    assert on_pages - public == set()
    for note in NOTES.values():
        assert note["what"]
        assert note["when"]


def test_pages_of_results_that_they_name_are_there() -> None:
    named = {page for note in NOTES.values() for page in note.get("results", [])}
    assert {page for page in named if not (DOCS / "results" / f"{page}.md").is_file()} == set()


def test_the_gallery_has_examples_with_pictures() -> None:
    examples = sorted((DOCS.parent / "examples" / "gallery").glob("plot_*.py"))
    assert len(examples) >= 15
    for path in examples:
        text = path.read_text(encoding="utf-8")
        assert "plt.subplots" in text or ".plot()" in text
