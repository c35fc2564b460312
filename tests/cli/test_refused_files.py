"""Tables and destinations that a command refuses, each with what to do about it."""

import builtins
import os
import sys

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from farthing.cli import doctor
from farthing.cli.commands import app
from farthing.cli.destinations import check_destination, check_report
from farthing.cli.tables import queries_of, read_table, target_of
from farthing.errors import FileError, TableError

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})


def test_feather_is_read_and_has_no_separator(tmp_path):
    FRAME.to_feather(tmp_path / "t.feather")
    assert list(read_table(tmp_path / "t.feather").columns) == ["a", "b"]
    with pytest.raises(TableError, match="--sep is for CSV files"):
        read_table(tmp_path / "t.feather", ";")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather"])
def test_what_is_no_table_of_its_kind(tmp_path, name):
    (tmp_path / name).write_text("a,b\n1,2\n")
    with pytest.raises(TableError, match=f"{name} cannot be read as a table"):
        read_table(tmp_path / name)


def test_a_missing_query_is_named_by_its_row():
    with pytest.raises(TableError, match="'q' is missing in row 2 of the data"):
        queries_of(pd.DataFrame({"q": [1.0, np.nan]}), "q")


def test_dates_are_no_target():
    with pytest.raises(TableError, match="'when' holds dates"):
        target_of(pd.DataFrame({"when": pd.to_datetime(["2024-01-01", "2024-01-02"])}), "when")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "out.farthing")
    with pytest.raises(FileError, match="is not a regular file"):
        check_destination(tmp_path / "out.farthing", "-o")


def test_a_folder_that_takes_no_files(tmp_path, monkeypatch):
    def full(path, *arguments, **options):
        if str(path).endswith(".tmp"):
            raise OSError(28, "No space left on device")
        return plain(path, *arguments, **options)

    plain = builtins.open
    monkeypatch.setattr(builtins, "open", full)
    with pytest.raises(FileError, match=r"cannot be written to .*: No space left on device"):
        check_destination(tmp_path / "out.farthing", "-o")


def test_a_file_that_may_not_be_written(tmp_path, monkeypatch):
    (tmp_path / "out.farthing").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(FileError, match="check its permissions"):
        check_destination(tmp_path / "out.farthing", "-o")


def test_a_report_names_the_packages_it_lacks(tmp_path, monkeypatch):
    found = sys.modules["importlib.util"].find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "jinja2" else found(name))
    with pytest.raises(ImportError, match=r"--report needs jinja2: pip install 'farthing\[report\]'"):
        check_report(tmp_path / "report.html")


def test_the_doctor_says_that_the_core_does_not_load(monkeypatch):
    monkeypatch.setitem(sys.modules, "farthing.costs", None)
    ran = CliRunner().invoke(app, ["doctor"])
    assert ran.exit_code == 1
    assert "farthing.costs" in ran.stdout
    assert doctor._installed("no-such-package") is None
