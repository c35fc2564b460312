"""The addresses that a release writes into its metadata and its README."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "write_addresses.py"
PLACE = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "Someone/farthing"}
REPOSITORY = "https://github.com/Someone/farthing"
URLS = {
    "Homepage": "https://someone.github.io/farthing/",
    "Documentation": "https://someone.github.io/farthing/",
    "Repository": REPOSITORY,
    "Changelog": f"{REPOSITORY}/blob/HEAD/CHANGELOG.md",
    "Issues": f"{REPOSITORY}/issues",
}

_spec = importlib.util.spec_from_file_location("write_addresses", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
write_addresses = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(write_addresses)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources' metadata into which the script has written."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("pyproject.toml", "README.md", "LICENSE", "CMakeLists.txt", "tools/write_addresses.py"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    script = folder / "tools" / "write_addresses.py"
    subprocess.run([sys.executable, script], env=os.environ | PLACE, check=True, capture_output=True)
    return folder


def test_the_written_project_is_the_one_before_with_its_addresses(checkout: Path) -> None:
    written = tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))
    before = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert written["project"].pop("urls") == URLS
    assert written == before


def test_a_wheel_of_the_written_sources_names_the_addresses(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = pytest.importorskip("scikit_build_core.build")
    monkeypatch.chdir(checkout)
    folder = build.prepare_metadata_for_build_wheel(str(tmp_path))
    metadata = message_from_string((tmp_path / folder / "METADATA").read_text(encoding="utf-8"))
    assert metadata.get_all("Project-URL") == [f"{name}, {url}" for name, url in URLS.items()]
    assert f"]({REPOSITORY}/blob/v{metadata['Version']}/docs/guide.md)" in metadata.get_payload()


def test_every_link_and_picture_of_the_readme_is_an_address_and_names_a_file(checkout: Path) -> None:
    page = (checkout / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", page)
    assert len(targets) > 10
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    for target in targets:
        kind, path = re.fullmatch(
            rf"{REPOSITORY}/(blob|raw)/v{re.escape(version)}/([^#]+)(?:#.*)?", target
        ).groups()
        assert (ROOT / path).is_file(), path
        assert (kind == "raw") == path.endswith((".svg", ".png")), path


def test_links_that_are_addresses_stay() -> None:
    page = "[a](https://example.org/x) [b](#part) [c](mailto:a@example.org) [d](docs/d.md#part)"
    written = write_addresses.with_absolute_links(page, "https://x.org/a/b", "v1.0.0")
    assert written == page.replace("docs/d.md", "https://x.org/a/b/blob/v1.0.0/docs/d.md")


def test_a_server_without_pages_shows_the_sources_of_the_site() -> None:
    urls = write_addresses.project_urls(PLACE | {"GITHUB_SERVER_URL": "https://git.example.org/"})
    assert urls["Documentation"] == "https://git.example.org/Someone/farthing/blob/HEAD/docs/index.md"


def test_the_site_of_an_owner_is_at_the_root() -> None:
    urls = write_addresses.project_urls(PLACE | {"GITHUB_REPOSITORY": "Someone/someone.github.io"})
    assert urls["Homepage"] == "https://someone.github.io/"


@pytest.mark.parametrize("name", PLACE)
def test_without_an_address_nothing_is_invented(name: str) -> None:
    with pytest.raises(LookupError, match=name):
        write_addresses.project_urls({key: value for key, value in PLACE.items() if key != name})


def test_addresses_that_are_there_stay() -> None:
    written = '[project]\nurls = {Homepage = "https://example.org"}\n'
    assert write_addresses.with_urls(written, URLS) == written
