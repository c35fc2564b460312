"""`import farthing` loads no heavy library, and each name loads its package when it is first used."""

import ast
import json
import pickle
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

import farthing
from farthing.datasets import load_heart_disease
from farthing.neighbors import MarginNeighborsClassifier

HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "joblib", "matplotlib", "lightgbm", "xgboost")
LIGHT = ["errors", "metrics", "costs", "table", "datasets", "trees", "walks", "store"]


def fresh(code, *arguments):
    """Run code in a new interpreter; return what it printed, read as JSON."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
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


# What needs a fresh farthing, but scikit-learn with it, which takes seconds to import.
BESIDE_SCIKIT_LEARN = {
    "star": (
        "from farthing import *\nnames = dir()\nfrom farthing.base import registry\n"
        "print(json.dumps([names, sorted(registry._ENTRIES)]))"
    ),
    "a package as an attribute": (
        "import farthing\nprint(json.dumps(farthing.base.get('AdaBoostClassifier').__name__))"
    ),
    "the registry": "from farthing.base import registered\nprint(json.dumps(registered()))",
    "a name that is taken": (
        "from farthing.base import register\n"
        "try:\n"
        "    register()(type('AdaBoostClassifier', (), {'__module__': 'mine'}))\n"
        "except ValueError as error:\n"
        "    print(json.dumps(str(error)))\n"
    ),
    "load": "import farthing\nprint(json.dumps(type(farthing.load(sys.argv[1])).__name__))",
}


@pytest.fixture(scope="module")
def beside_scikit_learn(tmp_path_factory):
    """What each code printed, run in a copy of a process that has scikit-learn, but no part of farthing."""
    heart, path = load_heart_disease(), tmp_path_factory.mktemp("lazy") / "model.farthing"
    MarginNeighborsClassifier(costs=heart.costs).fit(heart.X, heart.y).save(path)
    code = (
        "import json, os, sys\n"
        "import sklearn.ensemble, sklearn.utils.estimator_checks\n"
        "assert not [name for name in sys.modules if name.startswith('farthing')]\n"
        "print('{', end='', flush=True)\n"
        f"for number, (name, code) in enumerate({BESIDE_SCIKIT_LEARN!r}.items()):\n"
        "    print(', ' * (number > 0), json.dumps(name), ': ', flush=True)\n"
        "    if not (child := os.fork()):\n"
        "        exec(code, {'json': json, 'sys': sys})\n"
        "        sys.stdout.flush()\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0, name\n"
        "print('}')"
    )
    return fresh(code, str(path))


def test_star_imports_everything(beside_scikit_learn):
    assert set(farthing.__all__) <= set(beside_scikit_learn["star"][0])


def test_dir_lists_what_is_not_loaded_yet():
    listed = fresh("import json, farthing\nprint(json.dumps(dir(farthing)))")
    assert set(farthing.__all__) | {"__version__", "base", "datasets"} <= set(listed)
    assert listed == sorted(set(listed))


def test_packages_are_attributes_without_an_import_of_their_own(beside_scikit_learn):
    assert beside_scikit_learn["a package as an attribute"] == "AdaBoostClassifier"


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


def test_the_registry_finds_every_method_by_itself(beside_scikit_learn):
    """Methods register when their module is loaded; nothing but farthing.base is imported here."""
    eager = beside_scikit_learn["star"][1]
    assert len(eager) > 20
    assert beside_scikit_learn["the registry"] == eager


def test_load_finds_methods_and_values_that_no_import_named(beside_scikit_learn):
    assert beside_scikit_learn["load"] == "MarginNeighborsClassifier"


def test_the_name_of_a_method_that_is_not_loaded_is_taken(beside_scikit_learn):
    assert "already registered by farthing.boosting" in beside_scikit_learn["a name that is taken"]
