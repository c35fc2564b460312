"""The reference holds every public name; `make docs` refuses to build one that lacks some."""

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import re
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import farthing

DOCS = Path(__file__).parents[1] / "docs"
# The command has pages of its own, and what methods share inside is not public.
NOT_PUBLIC = {"cli", "learning"}
#: Modules of one file that are public.
MODULES = {"errors", "metrics", "mlflow"}
PACKAGES = {info.name for info in pkgutil.iter_modules(farthing.__path__) if info.ispkg} - NOT_PUBLIC


def public(module: ModuleType) -> list[str]:
    """Return the names that a package offers; of a module without a list, the classes that it defines."""
    own = [
        name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__
    ]
    return list(getattr(module, "__all__", None) or [name for name in own if not name.startswith("_")])


def named_values(package: ModuleType) -> set[str]:
    """Return the names that have a text below, or a comment above their definition in a package's files."""
    found = set()
    for path in Path(str(package.__file__)).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        found.update(re.findall(r"^#: .+\n(?:#: .+\n)*(\w+)\b.*=", text, re.MULTILINE))
        body = ast.parse(text).body
        for node, after in pairwise(body):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found.update(each.id for each in targets if is_text and isinstance(each, ast.Name))
    return found


def test_every_public_package_is_in_the_reference() -> None:
    listed = set(
        re.findall(r"^generated/api_(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert listed == PACKAGES | MODULES | {"farthing"}


@pytest.mark.parametrize("name", sorted(PACKAGES | MODULES))
def test_every_public_name_says_what_it_is(name: str) -> None:
    """Autodoc leaves out, without a word, what has no text."""
    module = importlib.import_module(f"farthing.{name}")
    names = public(module)
    assert names
    values = {each: getattr(module, each) for each in names}
    code = {each for each, value in values.items() if inspect.isclass(value) or inspect.isroutine(value)}
    modules = {each for each, value in values.items() if inspect.ismodule(value)}
    silent = {each for each in code | modules if not (values[each].__doc__ or "").strip()}
    others = set(values) - code - modules
    assert silent | (others - named_values(module)) == set()


def test_names_at_the_top_are_those_of_public_packages() -> None:
    offered = {each for name in PACKAGES for each in public(importlib.import_module(f"farthing.{name}"))}
    top = {name for name in farthing.__all__ if not inspect.ismodule(getattr(farthing, name))}
    assert top - offered == {"certify"}  # whose text is on the page of the top


def test_a_build_without_a_public_name_is_refused() -> None:
    pytest.importorskip("sphinx", reason="of the extra docs")
    spec = importlib.util.spec_from_file_location("site_pages", DOCS / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    assert set(pages.PACKAGES) == PACKAGES | MODULES
    everything = pages.undocumented(())
    assert "farthing.costs.CostSheet" in everything
    assert len(everything) > 250
    assert pages.undocumented(set(everything)) == []
    assert pages.undocumented(set(everything) - {"farthing.walks.Walk"}) == ["farthing.walks.Walk"]
