"""What a project's own settings files say: pytest's options, the Python versions it supports."""

from __future__ import annotations

import ast
import fnmatch
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from reviewbot.source.files import Files
from reviewbot.source.newer import parse


@dataclass(frozen=True, slots=True)
class PytestSettings:
    """pytest's options for the tests in one folder, with pytest's own defaults.

    `where` is the settings file they stand in, "" where there is none. `threads_fail`: a warning that a
    thread has ended by an exception is an error, so that the test fails.
    """

    xfail_strict: bool = False
    python_files: tuple[str, ...] = ("test_*.py", "*_test.py")
    python_classes: tuple[str, ...] = ("Test",)
    python_functions: tuple[str, ...] = ("test",)
    testpaths: tuple[str, ...] = ()
    addopts: tuple[str, ...] = ()
    threads_fail: bool = False
    where: str = ""

    def collects_file(self, path: str) -> bool:
        """Whether `python_files` names a file of this path (its folder is not looked at)."""
        return _collects(self.python_files, path)

    def collects_class(self, name: str) -> bool:
        """Whether `python_classes` names it. unittest's own classes are collected whatever their name."""
        return _names(self.python_classes, name)

    def collects_function(self, name: str) -> bool:
        """Whether `python_functions` names a function or method."""
        return _names(self.python_functions, name)


@lru_cache(maxsize=1)
def _collects(patterns: tuple[str, ...], path: str) -> bool:
    # Asked for every test of a file.
    name = path.rpartition("/")[2]
    return any(
        fnmatch.fnmatch(f"/{path}" if "/" in pattern else name, _anchored(pattern)) for pattern in patterns
    )


def _anchored(pattern: str) -> str:
    return pattern if "/" not in pattern or pattern.startswith("/") else f"*/{pattern}"


def _names(options: Iterable[str], name: str) -> bool:
    return any(name.startswith(option) or fnmatch.fnmatchcase(name, option) for option in options)


def pytest_settings(files: Files, folder: str) -> PytestSettings | None:
    """What the settings files in exactly this folder say to pytest; None where none of them speaks to it.

    The order is pytest's own. A file that cannot be parsed says nothing.
    """
    for name, read in _PYTEST_FILES.items():
        path = f"{folder}/{name}" if folder not in ("", ".") else name
        content = files.read(path)
        if content is None:
            continue
        try:
            options = read(content.decode())
        except ValueError:
            continue
        if options is not None:
            return _settings(options, path)
    return None


def requires_python(files: Files, folder: str) -> tuple[int, int] | None:
    """The least Python version that the project in exactly this folder supports, such as (3, 9), if it
    says so in pyproject.toml, setup.cfg or, as a text that is written out, setup.py."""
    prefix = "" if folder in ("", ".") else f"{folder}/"
    stated: object = None
    project = _toml(files.read(f"{prefix}pyproject.toml")).get("project")
    if isinstance(project, dict):
        stated = project.get("requires-python")
    if stated is None:
        stated = _ini(files.read(f"{prefix}setup.cfg")).get("options", {}).get("python_requires")
    if stated is None:
        stated = _given_to_setup(files.read(f"{prefix}setup.py"), "python_requires")
    least = [
        (int(major), int(minor or 0))
        for major, minor in re.findall(r"(?:>=|~=|==|>)\s*(\d+)(?:\.(\d+))?", str(stated or ""))
    ]
    return max(least) if least else None


def _settings(options: Mapping[str, Any], path: str) -> PytestSettings:
    default = PytestSettings()
    addopts = _words(options.get("addopts"))
    options = {**options, **_overrides(addopts)}
    strict = options.get("strict_xfail", options.get("xfail_strict", options.get("strict")))
    return PytestSettings(
        xfail_strict=str(strict).strip().lower() in ("1", "true", "yes", "on"),
        python_files=_words(options.get("python_files")) or default.python_files,
        python_classes=_words(options.get("python_classes")) or default.python_classes,
        python_functions=_words(options.get("python_functions")) or default.python_functions,
        testpaths=_words(options.get("testpaths")),
        addopts=addopts,
        threads_fail=any(map(_fails_threads, (*_lines(options.get("filterwarnings")), *_filters(addopts)))),
        where=path,
    )


def _fails_threads(said: str) -> bool:
    """Whether a filter of warnings, `action:message:category:module`, makes an error of a failed thread."""
    action, _, rest = said.strip().partition(":")
    message, _, category = rest.partition(":")
    named = category.partition(":")[0].rpartition(".")[2]
    every = ("", "Warning", "PytestWarning", "PytestUnhandledThreadExceptionWarning")
    return action == "error" and not message and named in every


def _filters(addopts: tuple[str, ...]) -> list[str]:
    """The filters of warnings among command line options: `-W error`, `-Werror`."""
    pairs = zip(addopts, (*addopts[1:], ""), strict=False)
    apart = [following for word, following in pairs if word in ("-W", "--pythonwarnings")]
    return apart + [word[2:].lstrip("=") for word in addopts if word.startswith("-W") and word != "-W"]


def _lines(value: object) -> tuple[str, ...]:
    """The entries of a setting that has one a line."""
    if isinstance(value, (list, tuple)):
        return tuple(str(entry) for entry in value)
    return tuple(value.splitlines()) if isinstance(value, str) else ()


def _overrides(addopts: tuple[str, ...]) -> dict[str, str]:
    """`-o name=value` and `--override-ini=name=value` among command line options."""
    found = {}
    for word, following in zip(addopts, (*addopts[1:], ""), strict=False):
        if word in ("-o", "--override-ini"):
            given = following
        elif word.startswith("--override-ini="):
            given = word.partition("=")[2]
        else:
            continue
        name, equals, value = given.partition("=")
        if equals:
            found[name.strip()] = value
    return found


def _words(value: object) -> tuple[str, ...]:
    """The words of a setting, which pytest splits as a shell does: `"a b" c` are two."""
    if isinstance(value, (list, tuple)):
        return tuple(str(word) for word in value)
    if not isinstance(value, str):
        return ()
    try:
        return tuple(shlex.split(value))
    except ValueError:
        return tuple(value.split())


def _toml(content: bytes | None) -> dict[str, Any]:
    try:
        return _document(content.decode()) if content else {}
    except ValueError:
        return {}


def _document(text: str) -> dict[str, Any]:
    """Raises `ValueError` for what is no TOML, and for what nests too deeply to be read."""
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _given_to_setup(content: bytes | None, name: str) -> object:
    """What a setup.py gives `setup` under a keyword, where it is a constant; nothing of it is run."""
    if content is None or name.encode() not in content:
        return None
    try:
        tree = parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        called = getattr(function, "attr", getattr(function, "id", ""))
        if isinstance(node, ast.Call) and called == "setup":
            for keyword in node.keywords:
                if keyword.arg == name and isinstance(keyword.value, ast.Constant):
                    return keyword.value.value
    return None


def _ini(content: bytes | None) -> dict[str, dict[str, str]]:
    try:
        return _sections(content.decode()) if content else {}
    except ValueError:
        return {}


def _sections(text: str) -> dict[str, dict[str, str]]:
    """The sections of an ini file, read as pytest reads them: nothing is interpolated, keys keep case."""
    import configparser

    parser = configparser.RawConfigParser(strict=False, comment_prefixes=("#", ";"), allow_no_value=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from None
    return {
        name: {key: value or "" for key, value in parser.items(name, raw=True)} for name in parser.sections()
    }


def _own_toml(text: str) -> dict[str, Any]:
    table = _document(text).get("pytest", {})
    return table if isinstance(table, dict) else {}


def _pyproject(text: str) -> dict[str, Any] | None:
    tool = _document(text).get("tool", {})
    table = tool.get("pytest") if isinstance(tool, dict) else None
    if not isinstance(table, dict):
        return None
    inner = table.get("ini_options")
    if isinstance(inner, dict):
        return inner
    return table or None


# pytest's own files in pytest's own order: the first that is there (or, of the shared ones, that has a
# section for it) decides.
_PYTEST_FILES: dict[str, Callable[[str], Mapping[str, Any] | None]] = {
    "pytest.toml": _own_toml,
    ".pytest.toml": _own_toml,
    "pytest.ini": lambda text: _sections(text).get("pytest", {}),
    ".pytest.ini": lambda text: _sections(text).get("pytest", {}),
    "pyproject.toml": _pyproject,
    "tox.ini": lambda text: _sections(text).get("pytest"),
    "setup.cfg": lambda text: _sections(text).get("tool:pytest"),
}
