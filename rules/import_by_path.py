"""A module of the repository that is loaded by its file path where a plain import would do.

## Why
What is loaded by path is a second copy of the module: its classes are not the ones that the rest of the
code uses, patches do not reach it, coverage and type checkers do not see it, and a moved file is only
noticed when the test runs.

## Instead
Import it by its name, or put it where it can be imported (`conftest.py`, a package of helpers).
"""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator

import libcst as cst

from reviewbot.flow.calls import module_value
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.syntax import argument, last_name, literal, qualified, walk
from reviewbot.flow.values import values
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Step, Unit, step

_LOADERS = {
    "importlib.util.spec_from_file_location": (1, "location"),
    "importlib.machinery.SourceFileLoader": (1, "path"),
    "imp.load_source": (1, "pathname"),
    "runpy.run_path": (0, "path_name"),
}
_LAST_NAMES = frozenset(name.rpartition(".")[2] for name in _LOADERS)


class ImportByPath(Rule):
    kinds = ("function", "method", "module")
    bad = (
        Example(
            """
            import importlib.util
            from pathlib import Path
            def load():
                path = Path(__file__).parent / "helpers.py"
                spec = importlib.util.spec_from_file_location("helpers", path)  # <- here
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
            """,
            files={"tests/helpers.py": "def check(rows):\n    assert rows\n"},
        ),
        Example(
            """
            import os
            import runpy
            HERE = os.path.dirname(os.path.abspath(__file__))
            helpers = runpy.run_path(os.path.join(HERE, "parity", "compare.py"))  # <- here
            """,
            files={"tests/parity/compare.py": "", "tests/parity/__init__.py": ""},
        ),
        Example(
            """
            from importlib.machinery import SourceFileLoader
            rows = SourceFileLoader("rows", "src/rows.py").load_module()  # <- here
            """,
            files={"src/rows.py": "", "src/__init__.py": ""},
        ),
    )
    good = (
        Example(
            """
            import importlib.util
            import sys
            import types
            from pathlib import Path
            def load():
                sys.modules["bakery.heavy"] = types.ModuleType("bakery.heavy")
                path = Path(__file__).parents[1] / "bakery" / "oven.py"
                spec = importlib.util.spec_from_file_location("oven", path)
                module = importlib.util.module_from_spec(spec)
                sys.modules[spec.name] = module
                spec.loader.exec_module(module)
                return module
            """,
            files={"bakery/oven.py": "", "bakery/__init__.py": "import bakery.heavy\n"},
        ),
        Example(
            """
            import importlib.util
            import sys
            from pathlib import Path
            def oven(monkeypatch, stub):
                for name in ("bakery.heavy", "bakery.heat"):
                    monkeypatch.setitem(sys.modules, name, stub)
                path = Path(__file__).parents[1] / "bakery" / "oven.py"
                spec = importlib.util.spec_from_file_location("oven", path)
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
            """,
            files={"bakery/oven.py": "", "bakery/__init__.py": "import bakery.heavy\n"},
        ),
        Example(
            """
            import importlib.util
            from pathlib import Path
            def load(path):
                spec = importlib.util.spec_from_file_location("plugin", path)
                other = importlib.util.spec_from_file_location("run", Path(__file__).parent / "run-it.py")
                return spec, other
            """,
            files={"tests/run-it.py": ""},
        ),
        Example(
            """
            import importlib.util
            def test_plugin(tmp_path):
                path = tmp_path / "plugin.py"
                path.write_text("x = 1")
                spec = importlib.util.spec_from_file_location("plugin", path)
                assert spec
            """,
        ),
        Example(
            """
            import runpy
            def test_script():
                assert runpy.run_path("tests/cli.py", run_name="__main__")
            """,
            files={"tests/cli.py": "print(1)\n"},
        ),
        Example(
            """
            import importlib.util
            from pathlib import Path
            path = Path(__file__).parents[1] / "scripts" / "convert.py"
            spec = importlib.util.spec_from_file_location("convert", path)
            """,
            files={"scripts/convert.py": ""},
        ),
    )

    def concerns(self, file: File) -> bool:
        return file.calls(*_LAST_NAMES)

    def suspect(self, unit: Unit) -> bool:
        return unit.calls(*_LAST_NAMES) and unit.has(ast.Call)

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        if not in_test_file(unit.file.path) or _puts_modules(unit):
            return
        for call in unit.find(cst.Call):
            where = _LOADERS.get(qualified(call.func, unit.file.imports))
            given = argument(call, *where) if where is not None else None
            if given is None or argument(call, 2, "run_name") is not None:
                continue
            tail = _tail(unit, given)
            path = _module(unit, repo, tail) if tail else None
            if path is None:
                continue
            name = _dotted(path, repo)
            yield self.finding(
                unit,
                call,
                f"`{path}` is loaded by its file path; `import {name}` would give the very module: is there a"
                " reason?",
                # A folder of tests may be on no path, and a package pull in what is not installed.
                certainty="question",
                steps=(
                    step(unit, given, "the path of a module"),
                    Step(path, 1, 1, "can be imported by name"),
                ),
                still_catches=(f"the import itself, when `{name}` is renamed or moved",),
            )


def _puts_modules(unit: Unit) -> bool:
    """Whether code puts modules of its own where imports look: then the module is loaded among stand-ins."""
    targets = [target.target for node in unit.find(cst.Assign) for target in node.targets]
    for call in unit.find(cst.Call):
        # `monkeypatch.setitem(sys.modules, "heavy", stub)`, `patch.dict("sys.modules", {"heavy": stub})`
        if last_name(call) in ("setitem", "dict") and call.args and _is_modules(unit, call.args[0].value):
            named = call.args[1].value if len(call.args) > 1 else None
            if not isinstance(named, cst.Attribute):
                return True
    return any(
        isinstance(target, cst.Subscript)
        and qualified(target.value, unit.file.imports) == "sys.modules"
        and not _is_own_name(target)
        for target in targets
    )


def _is_modules(unit: Unit, node: cst.BaseExpression) -> bool:
    """Whether a value is where Python keeps the modules that are imported, or its name."""
    return literal(node) == "sys.modules" or qualified(node, unit.file.imports) == "sys.modules"


def _is_own_name(target: cst.Subscript) -> bool:
    """`sys.modules[spec.name] = module` is a part of loading."""
    index = target.slice[0].slice
    return isinstance(index, cst.Index) and not isinstance(index.value, cst.SimpleString)


def _dotted(path: str, repo: Repo) -> str:
    """The name by which a module is imported: from its outermost package on."""
    parts = [posixpath.basename(path).removesuffix(".py")]
    home = posixpath.dirname(path)
    while home and repo.read(posixpath.join(home, "__init__.py")) is not None:
        parts.insert(0, posixpath.basename(home))
        home = posixpath.dirname(home)
    return ".".join(parts)


def _tail(unit: Unit, node: cst.BaseExpression) -> str:
    """The literal end of a path expression, "" where it rests on something that is not known."""
    flow = values(unit)
    parts: list[str] = []
    known = False
    stack = [node]
    while stack:
        current = flow.resolve(stack.pop())
        for below in walk(current):
            if isinstance(below, cst.SimpleString):
                value = literal(below)
                if isinstance(value, str):
                    parts.append(value)
            elif isinstance(below, cst.Name) and below.value == "__file__":
                known = True
            elif isinstance(below, cst.Name) and below.value not in _PATH_WORDS:
                inner = flow.resolve(below)
                if inner is not below:
                    stack.append(inner)
                elif below.value not in unit.file.imports and not _is_here(unit, below.value):
                    return ""
    joined = posixpath.normpath("/".join(parts)) if parts else ""
    only = isinstance(flow.resolve(node), cst.SimpleString)
    return joined if (known or only or _uses_here(unit, node)) and joined.endswith(".py") else ""


_PATH_WORDS = frozenset({
    "os", "path", "join", "dirname", "abspath", "realpath", "Path", "pathlib", "parent", "parents", "resolve",
    "absolute", "str", "joinpath", "fspath", "expanduser", "PurePath",
})  # fmt: skip


def _is_here(unit: Unit, name: str) -> bool:
    """Whether a module constant is made from `__file__`."""
    value = module_value(unit.file, name)
    return value is not None and any(
        isinstance(node, ast.Name) and node.id == "__file__" for node in ast.walk(value)
    )


def _uses_here(unit: Unit, node: cst.BaseExpression) -> bool:
    return any(
        isinstance(below, cst.Name) and _is_here(unit, below.value)
        for below in walk(values(unit).resolve(node))
    )


def _module(unit: Unit, repo: Repo, tail: str) -> str | None:
    """The path of the importable module that a tail means: beside the test, in a package, or at the root."""
    name = posixpath.basename(tail).removesuffix(".py")
    if not name.isidentifier():
        return None
    folder = posixpath.dirname(unit.file.path)
    for base in (folder, posixpath.dirname(folder), ""):
        path = posixpath.normpath(posixpath.join(base, tail))
        if path.startswith("..") or repo.read(path) is None:
            continue
        home = posixpath.dirname(path)
        beside = home == folder and not any("importlib" in option for option in repo.pytest.addopts)
        packaged = repo.read(posixpath.join(home, "__init__.py")) is not None
        return path if beside or packaged else None
    return None
