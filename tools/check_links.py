"""Check the links inside the built site and between the Markdown files of the root folder.

    python tools/check_links.py build/site/html

Every link, picture, style and script that is not on another host must be a file of the site, and a part of a
page (``#part``) must be there. Links of the files that a repository shows as they are, such as the README,
must be files and headings. Links to other hosts are tried by ``make linkcheck-outside``.
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).parents[1]
#: Attributes that hold an address.
ADDRESSES = ("href", "src", "poster", "data")
MARKDOWN_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


class Page(HTMLParser):
    """The addresses and the named parts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.parts = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep what a tag links to, and its name."""
        for name, value in attrs:
            if value is None:
                continue
            if name in ADDRESSES:
                self.links.append(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.parts.add(value)


@cache
def read_html(path: Path) -> Page:
    """Return a page of the site."""
    return Page(path.read_text(encoding="utf-8"))


@cache
def headings(path: Path) -> set[str]:
    """Return the names that GitHub gives to the headings of a Markdown file."""
    lines = CODE.sub("", path.read_text(encoding="utf-8")).splitlines()
    titles = [line.lstrip("#").strip() for line in lines if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def pages_of(folder: Path) -> list[Path]:
    """Return the pages of a built site, without the templates that the theme leaves among its styles."""
    return [path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] != "_static"]


def dead_links_of_site(folder: Path) -> list[str]:
    """Return the links inside a built site that lead nowhere, each with its page."""
    dead = []
    for path in pages_of(folder):
        for link in read_html(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            place = unquote(parts.path)
            start = folder if place.startswith("/") else path.parent
            target = (start / place.lstrip("/")).resolve() if place else path.resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.is_file():
                dead.append(f"{path.relative_to(folder)}: {link}: no such file")
            elif target.suffix == ".html" and unquote(parts.fragment) not in read_html(target).parts:
                dead.append(f"{path.relative_to(folder)}: {link}: no such part")
    return dead


def dead_links_of_markdown(paths: list[Path]) -> list[str]:
    """Return the links of Markdown files to files and headings that are not there, each with its file."""
    dead = []
    for path in paths:
        for link in MARKDOWN_LINK.findall(CODE.sub("", path.read_text(encoding="utf-8"))):
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = path.parent / unquote(parts.path) if parts.path else path
            if not target.exists():
                dead.append(f"{path.name}: {link}: no such file")
            elif parts.fragment and target.suffix == ".md" and parts.fragment not in headings(target):
                dead.append(f"{path.name}: {link}: no such heading")
    return dead


def main() -> None:
    """Print the dead links of the site that is named and of the root folder; fail if there are any."""
    site = Path(sys.argv[1])
    if not (site / "index.html").is_file():
        sys.exit(f"{site} holds no site; make docs builds it")
    shown = sorted(ROOT.glob("*.md")) + sorted((ROOT / ".github").rglob("*.md"))
    dead = dead_links_of_site(site) + dead_links_of_markdown(shown)
    pages = [read_html(path) for path in pages_of(site)]
    links = sum(len(page.links) for page in pages)
    sys.stdout.write("".join(f"{line}\n" for line in dead))
    sys.stdout.write(
        f"{len(pages)} pages with {links} links, {len(shown)} files of Markdown: {len(dead)} dead\n"
    )
    sys.exit(bool(dead))


if __name__ == "__main__":
    main()
