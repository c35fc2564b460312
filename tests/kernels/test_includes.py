"""The C++ core's includes follow the data flow: a folder includes only itself and the folders before it."""

import re
from pathlib import Path

import pytest

CPP = Path(__file__).parents[2] / "cpp"
FLOW = [
    "common",
    "table",
    "account",
    "grow",
    "predict",
    "boost",
    "cascade",
    "prune",
    "neighbors",
    "linear",
    "optimal",
    "deep",
    "store",
    "bindings",
    "tests",
]
SOURCES = sorted(path for path in CPP.rglob("*") if path.suffix in {".hpp", ".cpp"})


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', path.read_text(), flags=re.MULTILINE)


def test_every_source_lies_in_a_folder_of_the_flow():
    assert SOURCES
    assert {path.relative_to(CPP).parts[0] for path in SOURCES} == set(FLOW)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(CPP).as_posix())
def test_includes_name_files_of_this_folder_or_an_earlier_one(path):
    folder = path.relative_to(CPP).parts[0]
    # The tests stand on the core, which knows no Python.
    allowed = set(FLOW[: FLOW.index(folder) + 1]) - ({"bindings"} if folder == "tests" else set())
    for name in includes(path):
        assert (CPP / name).is_file(), f"{name}: includes are paths from cpp/"
        assert name.split("/")[0] in allowed, f"{name}: {folder} may include {sorted(allowed)}"


def test_headers_do_not_include_each_other_in_a_circle():
    includes_of = {path.relative_to(CPP).as_posix(): includes(path) for path in SOURCES}
    done: set[str] = set()

    def visit(name: str, above: tuple[str, ...]) -> None:
        assert name not in above, " -> ".join((*above, name))
        if name not in done:
            for included in includes_of[name]:
                visit(included, (*above, name))
            done.add(name)

    for name in includes_of:
        visit(name, ())
