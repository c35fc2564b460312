"""The check of links finds what is dead and nothing else; the files of the root folder have no dead link."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

_spec = importlib.util.spec_from_file_location("check_links", ROOT / "tools" / "check_links.py")
assert _spec is not None
assert _spec.loader is not None
check_links = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check_links)

ALIVE = (
    *("b.html", "b.html#part", "#here", "#", "#top", "folder/", "/b.html", "a%20b.png?digest=1", "folder/#x"),
    *("https://example.org/none", "//example.org/none", "mailto:a@example.org", "data:,x"),
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return the folder of a site with three pages and a picture."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text('<p id="x">')
    (tmp_path / "b.html").write_text('<a name="part">')
    (tmp_path / "a b.png").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize("link", ALIVE)
def test_links_that_lead_somewhere_pass(site: Path, link: str) -> None:
    (site / "a.html").write_text(f'<h1 id="here"></h1><a href="{link}"></a>')
    assert check_links.dead_links_of_site(site) == []


@pytest.mark.parametrize(
    ("tag", "said"),
    [
        ('<a href="c.html">', "a.html: c.html: no such file"),
        ('<a href="b.html#other">', "a.html: b.html#other: no such part"),
        ('<a href="#other">', "a.html: #other: no such part"),
        ('<a href="folder/#y">', "a.html: folder/#y: no such part"),
        ('<img src="c.png">', "a.html: c.png: no such file"),
        ('<script src="/c.js">', "a.html: /c.js: no such file"),
    ],
)
def test_dead_links_are_named(site: Path, tag: str, said: str) -> None:
    (site / "a.html").write_text(tag)
    assert check_links.dead_links_of_site(site) == [said]


def test_templates_of_the_theme_are_no_pages(site: Path) -> None:
    (site / "_static").mkdir()
    (site / "_static" / "macros.html").write_text('<a href="{{ pathto(1) }}">')
    assert check_links.dead_links_of_site(site) == []


def test_markdown_is_held_to_files_and_headings(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "# One: `two` three\n\n[x](#one-two-three) [x](b.md) [x](#four) [x](b.md#five) [x](https://example.org)\n"
        "```\n# Four\n[x](none.md)\n```\n"
    )
    (tmp_path / "b.md").write_text("## Six\n")
    assert check_links.dead_links_of_markdown([page]) == [
        "a.md: #four: no such heading",
        "a.md: b.md#five: no such heading",
    ]


def test_the_files_of_the_root_folder_have_no_dead_link() -> None:
    files = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/results/*.md")]
    assert len(files) > 50
    # The guide and the landing page also link to pages that are made when the site is built.
    dead = check_links.dead_links_of_markdown(sorted(files))
    assert [line for line in dead if "gallery" not in line and "generated" not in line] == []
