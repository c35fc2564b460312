"""`import farthing` loads no heavy library, and each name loads its package when it is first used."""

import ast
import json
import pickle
import subprocess
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import farthing

HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "joblib", "matplotlib", "lightgbm", "xgboost")
LIGHT = ["errors", "metrics", "costs", "table", "datasets", "trees", "walks", "store"]


def fresh(code):
    """Run code in a new interpreter; return what it printed, read as JSON."""
    command = [sys.executable, "-W", "error", "-c", code]
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def heavy_after(statement):
    return fresh(
        f"import json, sys\n{statement}\nprint(json.dumps([n for n in {HEAVY!r} if n in sys.modules]))"
    )


def test_importing_farthing_loads_neither_numpy_nor_anything_heavier():
    loaded = fresh(
        "import json, sys\n"
        "import farthing\n"
        "names = ('numpy', 'importlib.metadata')\n"
        "print(json.dumps([n for n in sys.modules if n.startswith('farthing.') or n in names]))"
    )
    assert loaded == []
    assert heavy_after("import farthing") == []


def test_the_help_of_the_command_loads_neither_numpy_nor_anything_heavier():
    code = (
        "import contextlib, io, json, sys\n"
        "from farthing.cli import main\n"
        "sys.argv = ['farthing', '--help']\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):\n"
        "    main()\n"
        "assert 'fit' in out.getvalue()\n"
        f"print(json.dumps([n for n in ('numpy', *{HEAVY!r}) if n in sys.modules]))"
    )
    assert fresh(code) == []


def test_packages_below_the_estimators_need_no_scikit_learn():
    assert heavy_after("".join(f"import farthing.{package}\n" for package in LIGHT)) == []


def test_a_bundled_table_with_its_prices_needs_no_scikit_learn():
    code = "from farthing import CostSheet, consult\nfrom farthing.datasets import load_heart_disease\n"
    assert "sklearn" not in heavy_after(f"{code}CostSheet({{'a': 1}})\nload_heart_disease()")


def test_a_name_is_that_of_its_module_and_is_kept():
    from farthing.frontier.sweep import sweep  # noqa: PLC0415

    assert farthing.sweep is sweep
    assert vars(farthing)["sweep"] is sweep
    assert pickle.loads(pickle.dumps(farthing.BudgetedClassifier)) is farthing.BudgetedClassifier


@cache
def star():
    """The names and the methods that are there after a star import."""
    return fresh(
        "import json\nfrom farthing import *\nnames = dir()\nfrom farthing.base import registry\n"
        "print(json.dumps([names, sorted(registry._ENTRIES)]))"
    )


def test_star_imports_everything():
    assert set(farthing.__all__) <= set(star()[0])


def test_dir_lists_what_is_not_loaded_yet():
    listed = fresh("import json, farthing\nprint(json.dumps(dir(farthing)))")
    assert set(farthing.__all__) | {"__version__", "base", "datasets"} <= set(listed)
    assert listed == sorted(set(listed))


def test_packages_are_attributes_without_an_import_of_their_own():
    assert fresh("import json, farthing\nprint(json.dumps(farthing.base.get('AdaBoostClassifier').__name__))")


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'farthing' has no attribute 'Nothing'"):
        farthing.Nothing  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Nothing'"):
        from farthing import Nothing  # noqa: F401, PLC0415


def test_the_version_is_that_of_the_installed_package():
    try:
        assert farthing.__version__ == version("farthing")
    except PackageNotFoundError:
        assert farthing.__version__ == "0"


def test_type_checkers_see_what_is_there():
    """The imports under TYPE_CHECKING and `__all__` name the same things from the same modules."""
    tree = ast.parse(Path(farthing.__file__).read_text(encoding="utf-8"))
    block = next(
        node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.name: node.module for node in imports for alias in node.names}
    assert set(farthing.__all__) == set(seen)
    for name, module in seen.items():
        assert getattr(farthing, name) is getattr(sys.modules[module], name)


REGISTERED = "import json\nfrom farthing.base import registered\nprint(json.dumps(registered()))"


def test_the_registry_finds_every_method_by_itself():
    """Methods register when their module is loaded; nothing but farthing.base is imported here."""
    eager = star()[1]
    assert len(eager) > 20
    assert fresh(REGISTERED) == eager


def test_load_finds_methods_and_values_that_no_import_named(tmp_path):
    from farthing.datasets import load_heart_disease  # noqa: PLC0415
    from farthing.neighbors import MarginNeighborsClassifier  # noqa: PLC0415

    heart = load_heart_disease()
    path = tmp_path / "model.farthing"
    MarginNeighborsClassifier(costs=heart.costs).fit(heart.X, heart.y).save(path)
    code = f"import json, farthing\nprint(json.dumps(type(farthing.load({str(path)!r})).__name__))"
    assert fresh(code) == "MarginNeighborsClassifier"


def test_the_name_of_a_method_that_is_not_loaded_is_taken():
    code = (
        "import json\n"
        "from farthing.base import register\n"
        "try:\n"
        "    register()(type('AdaBoostClassifier', (), {'__module__': 'mine'}))\n"
        "except ValueError as error:\n"
        "    print(json.dumps(str(error)))\n"
    )
    assert "already registered by farthing.boosting" in fresh(code)
