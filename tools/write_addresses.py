"""Write the addresses of the project into pyproject.toml and README.md, before a release is built.

    python tools/write_addresses.py

The sources name no repository: a copy of them is built wherever it is. GitHub tells a workflow where that is,
by GITHUB_SERVER_URL and GITHUB_REPOSITORY. An index of packages shows the README without the files around it,
so that its links need the address, too. docs/conf.py takes the links of the site from here.
"""

import os
import re
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: A link of Markdown to a file of the repository: not to an address, and not within the page.
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?!https?:|mailto:|#)(?P<path>[^)\s]+)\)")


def project_urls(environment: Mapping[str, str]) -> dict[str, str]:
    """Return ``[project.urls]`` of the repository that a workflow of GitHub runs in.

    Raises
    ------
    LookupError
        If the environment does not say where it is.
    """
    try:
        server, name = environment["GITHUB_SERVER_URL"].rstrip("/"), environment["GITHUB_REPOSITORY"]
    except KeyError as error:
        raise LookupError(f"{error.args[0]} is not set: the repository has no address") from None
    repository = f"{server}/{name}"
    site = _pages(name) if server == "https://github.com" else f"{repository}/blob/HEAD/docs/index.md"
    return {
        "Homepage": site,
        "Documentation": site,
        "Repository": repository,
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


def _pages(name: str) -> str:
    """Return where GitHub Pages shows the site of a repository, by ``owner/project``."""
    owner, project = name.split("/")
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if project.lower() == host else f"https://{host}/{project}/"


def with_urls(pyproject: str, urls: Mapping[str, str]) -> str:
    """Return the text of a pyproject.toml with ``[project.urls]``; what somebody wrote there stays."""
    if "urls" in tomllib.loads(pyproject)["project"]:
        return pyproject
    table = "".join(f'{name} = "{url}"\n' for name, url in urls.items())
    return f"{pyproject.rstrip()}\n\n[project.urls]\n{table}"


def with_absolute_links(page: str, repository: str, revision: str) -> str:
    """Return a page of Markdown whose links to files, and whose images, are addresses of one revision."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}{link['text']}({repository}/{kind}/{revision}/{link['path']})"

    return LINK.sub(absolute, page)


def main() -> None:
    """Write both files in place."""
    urls = project_urls(os.environ)
    pyproject, readme = ROOT / "pyproject.toml", ROOT / "README.md"
    written = with_urls(pyproject.read_text(encoding="utf-8"), urls)
    pyproject.write_text(written, encoding="utf-8")
    revision = f"v{tomllib.loads(written)['project']['version']}"
    page = with_absolute_links(readme.read_text(encoding="utf-8"), urls["Repository"], revision)
    readme.write_text(page, encoding="utf-8")
    sys.stdout.write("".join(f"{name}: {url}\n" for name, url in urls.items()))


if __name__ == "__main__":
    main()
