"""pytest's options and the supported Python versions, as the settings files state them."""

from __future__ import annotations

import pytest

from reviewbot.lint.repo import Repo
from reviewbot.source.files import InMemory


def repo(files: dict[str, str], here: str = "tests/unit/test_a.py") -> Repo:
    return Repo(files=InMemory({path: text.encode() for path, text in files.items()})).of(here)


@pytest.mark.parametrize(
    "files",
    [
        {"pytest.ini": "[pytest]\nxfail_strict = true\n"},
        {"pytest.toml": "[pytest]\nstrict_xfail = true\n"},
        {".pytest.ini": "[pytest]\nstrict = True\n"},
        {"pyproject.toml": "[tool.pytest.ini_options]\nxfail_strict = true\n"},
        {"pyproject.toml": "[tool.pytest]\nstrict = true\n"},
        {"tox.ini": "[tox]\n[pytest]\nxfail_strict=1\n"},
        {"setup.cfg": "[metadata]\n[tool:pytest]\nxfail_strict=yes\n"},
        {"tests/pytest.ini": "[pytest]\naddopts = -q -o xfail_strict=true\n"},
        {"pyproject.toml": "[project]\n", "setup.cfg": "[tool:pytest]\nxfail_strict=on\n"},
    ],
)
def test_xfail_is_strict(files):
    seen = repo(files).pytest
    assert seen.xfail_strict
    assert seen.where in files


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"pytest.ini": "[pytest]\n"},
        {"pytest.ini": "", "pyproject.toml": "[tool.pytest.ini_options]\nxfail_strict = true\n"},
        {"pytest.ini": "[pytest]\nstrict = true\nxfail_strict = false\n"},
        {"tests/tox.ini": "[pytest]\n", "pytest.ini": "[pytest]\nxfail_strict = true\n"},
        {"src/pytest.ini": "[pytest]\nxfail_strict = true\n"},
        {"pyproject.toml": "xfail_strict = [["},
    ],
)
def test_xfail_is_not_strict(files):
    assert not repo(files).pytest.xfail_strict


def test_patterns_are_split_as_a_shell_splits():
    seen = repo({"setup.cfg": "[tool:pytest]\npython_files =\n    \"tests/unit/test_*.py\"\n    'it/*.py'\n"})
    assert seen.pytest.python_files == ("tests/unit/test_*.py", "it/*.py")
    assert seen.pytest.collects_file("tests/unit/test_a.py")
    assert not seen.pytest.collects_file("tests/slow/test_a.py")


@pytest.mark.parametrize(
    ("said", "fails"),
    [
        ('filterwarnings = ["error"]', True),
        (
            'filterwarnings = ["ignore", "error::pytest.PytestUnhandledThreadExceptionWarning"]',
            True,
        ),
        ('addopts = "-q -W error"', True),
        ('addopts = "-Werror"', True),
        ('filterwarnings = ["error::DeprecationWarning"]', False),
        ('filterwarnings = ["error:unclosed file"]', False),
        ('addopts = "-W ignore"', False),
        ("", False),
    ],
)
def test_whether_a_test_fails_when_a_thread_of_it_does(said, fails):
    text = f"[tool.pytest.ini_options]\n{said}\n"
    assert repo({"pyproject.toml": text}).pytest.threads_fail is fails


def test_what_is_collected():
    seen = repo({"pytest.ini": "[pytest]\npython_files = check_*.py it/*.py\npython_functions = it_ *_ok\n"})
    assert seen.pytest.collects_file("tests/check_a.py")
    assert seen.pytest.collects_file("tests/it/a.py")
    assert not seen.pytest.collects_file("tests/test_a.py")
    assert seen.pytest.collects_function("it_works")
    assert seen.pytest.collects_function("works_ok")
    assert not seen.pytest.collects_function("test_a")
    assert seen.pytest.collects_class("TestA")


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.9,<4"\n'}, (3, 9)),
        ({"setup.cfg": "[options]\npython_requires = ~=3.10\n"}, (3, 10)),
        ({"setup.py": "from setuptools import setup\nsetup(name='a', python_requires='>=3.11')\n"}, (3, 11)),
        ({"setup.py": "import setuptools\nsetuptools.setup(python_requires='>=' + LEAST)\n"}, None),
        ({"setup.py": "setup(python_requires='>=3.11'\n"}, None),
        ({"pyproject.toml": "[project]\nname = 'a'\n"}, None),
        ({}, None),
    ],
)
def test_requires_python(files, version):
    assert repo(files).requires_python == version


def test_every_question_is_remembered_and_its_digest_follows_the_answer():
    strict = repo({"pytest.ini": "[pytest]\nxfail_strict = true\n"})
    assert strict.asked == set()
    assert strict.pytest.xfail_strict
    assert strict.requires_python is None
    assert strict.read("conftest.py") is None
    assert strict.asked == {
        ("pytest", "tests/unit"),
        ("requires-python", "tests/unit"),
        ("file", "conftest.py"),
    }
    loose = repo({"conftest.py": "x = 1\n"})
    assert {fact for fact in strict.asked if strict.digest(fact) != loose.digest(fact)} == {
        ("pytest", "tests/unit"),
        ("file", "conftest.py"),
    }
