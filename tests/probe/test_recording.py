"""Where the recording run finds settings and packages."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

CASE = Path(__file__).parent.parent / "cases" / "excuse-branch" / "repo"


def test_settings_above_the_repository_do_not_count(probed, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--no-such-option"\n')
    folder = tmp_path / "repository"
    shutil.copytree(CASE, folder)
    (folder / ".git").mkdir()
    code, document = probed(folder, "tests/parity.py::main", "--budget", "2s")
    assert (code, len(document["witnesses"])) == (1, 1)


CHECK = """from rowparity.parity import main


def check(reference, restored, prefixes):
    main(reference, restored, prefixes)
"""


def _split(folder):
    """The case as a package in one folder, and a check of its own with tests in another."""
    package = folder / "packages/rows/lib/rowparity"
    package.mkdir(parents=True)
    (folder / ".git").mkdir()
    (package / "__init__.py").touch()
    shutil.copy(CASE / "tests/parity.py", package / "parity.py")
    tests = folder / "checks"
    tests.mkdir()
    (tests / "check.py").write_text(CHECK)
    text = (CASE / "tests/test_parity.py").read_text()
    (tests / "test_parity.py").write_text(
        text.replace("from parity import main", "from check import check as main")
    )
    return package.parent


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        '[tool.pytest.ini_options]\npythonpath = ["packages/rows/lib"]\n',
        '[tool.setuptools.packages.find]\nwhere = ["packages/rows/lib"]\n',
        '[tool.setuptools.package-dir]\n"" = "packages/rows/lib"\n',
    ],
)
def test_the_repository_s_settings_say_where_its_packages_stand(probed, tmp_path, settings):
    _split(tmp_path)
    (tmp_path / "pyproject.toml").write_text(settings)
    code, document = probed(tmp_path, "checks/check.py::check", "--budget", "2s")
    assert (code, len(document["witnesses"])) == (1, 1)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["path", "finder"])
def test_a_package_that_is_being_worked_on_is_found(probed, tmp_path, form):
    folder = tmp_path / "repository"
    package = _split(folder)
    # Outside of the repository, as an editable install of another checkout is.
    elsewhere = tmp_path / "elsewhere"
    package.rename(elsewhere)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    (site,) = (tmp_path / "venv").glob("lib/python3*/site-packages")
    (site / "tools.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    if form == "path":
        (site / "__editable__.rows.pth").write_text(f"{elsewhere}\n")
    else:
        (site / "__editable__.rows.pth").write_text(
            "import __editable___rows_finder; __editable___rows_finder.install()\n"
        )
        (site / "__editable___rows_finder.py").write_text(
            f"MAPPING: dict = {{'rowparity': {str(elsewhere / 'rowparity')!r}}}\n\ndef install():\n    pass\n"
        )
    code, document = probed(folder, "checks/check.py::check", "--budget", "2s", "--python", python)
    assert code == 1, document
    assert len(document["witnesses"]) == 1


ENGINE = """
import threading

class Engine:
    def __init__(self, rows):
        self.rows, self.lock = rows, threading.Lock()

def check(engine, tolerance):
    for row in engine.rows:
        assert row["loss"] < tolerance
"""
ENGINE_TEST = """
import pytest
from engine import Engine, check

@pytest.fixture
def engine():
    return Engine([{"loss": 0.5}])

def test_engine(engine):
    check(engine, 1.0)
"""


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("engine.py::check", "`engine` is engine.Engine that holds lock (in test_engine.py::test_engine)"),
        ("test_engine.py::test_engine", "`engine` is engine.Engine that holds lock"),
    ],
)
def test_inputs_that_are_no_plain_data_are_named_with_the_way_out(reviewbot, tmp_path, target, says):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "engine.py").write_text(textwrap.dedent(ENGINE))
    (tmp_path / "test_engine.py").write_text(textwrap.dedent(ENGINE_TEST))
    ran = reviewbot("probe", target, cwd=tmp_path)
    assert ran.code == 3
    assert says in ran.err
    assert "--example FILE" in ran.err


LATER = """
import asyncio

async def agree(written, heard):
    await asyncio.sleep(0)
    for one, other in zip(written, heard, strict=True):
        assert one["pitch"] == other["pitch"]

def faults(written, heard):
    for at, (one, other) in enumerate(zip(written, heard, strict=True)):
        if one["pitch"] != other["pitch"]:
            yield f"{at}: pitch"

def soon(written, heard):
    return agree(written, heard)
"""
LATER_TEST = """
import asyncio
from later import agree, faults, soon

def notes():
    return [{"pitch": 440, "length": 2}, {"pitch": 392, "length": 1}]

def test_agree():
    asyncio.run(agree(notes(), notes()))

def test_faults():
    assert list(faults(notes(), notes())) == []

def test_soon():
    asyncio.run(soon(notes(), notes()))
"""


@pytest.mark.parametrize("function", ["agree", "faults", "soon"])
def test_a_check_that_is_awaited_or_yields_its_errors_is_recorded(probed, tmp_path, function):
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "later.py").write_text(LATER)
    (tmp_path / "test_later.py").write_text(LATER_TEST)
    code, document = probed(tmp_path, f"later.py::{function}")
    assert (code, document["inputs"]) == (1, f"recorded in test_later.py::test_{function}")
    assert any(kill["edit"].startswith("pitch changed") for kill in document["kills"])
    assert document["never_compared"] == ["length"]


def test_an_interpreter_without_pytest_is_said_to_be_the_wrong_one(reviewbot, tmp_path):
    folder = Path(shutil.copytree(CASE, tmp_path / "repository"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    ran = reviewbot("probe", "tests/parity.py::main", "--python", python, cwd=folder)
    assert ran.code == 3
    assert "has no pytest: name the one that they run in with --python" in ran.err
