"""Which functions and classes of a file a test runner would pick up, read off names, bases and settings.

Reads `ast` only. A class whose base stands in another file may be a test case by that base.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Literal, Protocol

from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name

FunctionTree = ast.FunctionDef | ast.AsyncFunctionDef

if TYPE_CHECKING:
    from reviewbot.source.units import File

    class Settings(Protocol):
        """pytest's settings, as far as names go (`reviewbot.source.project.PytestSettings`)."""

        def collects_file(self, path: str) -> bool: ...
        def collects_class(self, name: str) -> bool: ...
        def collects_function(self, name: str) -> bool: ...


Owner = Literal["unittest", "pytest", "unknown", "none"]
"""What makes a class hold tests: unittest's TestCase as a base; a name that pytest collects; nothing here
but a base from elsewhere, which may be either; nothing."""


def bases(node: ast.ClassDef, file: File) -> list[str]:
    """The dotted names of a class's bases and of their bases as far as they stand in the file."""
    classes = file.classes
    found: list[str] = []
    stack, seen = [node], {id(node)}
    while stack:
        for base in stack.pop().bases:
            name = dotted_name(base.value if isinstance(base, ast.Subscript) else base)
            found.append(name or "?")
            inner = classes.get(name)
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                stack.append(inner)
    return found


def owner(node: ast.ClassDef, file: File, settings: Settings) -> Owner:
    """Why the methods of a class would be collected, or that they would not."""
    named = settings.collects_class(node.name)
    every = bases(node, file)
    if any(name.rpartition(".")[2].endswith("TestCase") for name in every):
        return "unittest"
    if named:
        return "pytest"
    outside = [name for name in every if name not in file.classes and name not in _PLAIN_BASES]
    return "unknown" if outside or node.keywords else "none"


_PLAIN_BASES = frozenset({"object", "ABC", "abc.ABC", "Generic", "typing.Generic", "Protocol", "NamedTuple"})


_EXAMPLES = pattern(r"(?i)(^|/)(examples?(_\w+)?|samples?|snippets|test_?data|data|resources|templates)/")


def is_example(path: str) -> bool:
    """Whether a file stands in a folder of things that tests work on, which are no tests themselves."""
    return _EXAMPLES.search(path) is not None


_MATERIAL = pattern(
    r"(?i)(^|/)tests?/(.*/)?(test_?data|data|cases|snippets|samples|resources|templates|snapshots|golden"
    r"|inputs?|corpus|\w+_files)/"
)


def is_material(path: str) -> bool:
    """Whether a file stands among the texts that tests read: a formatter's cases, sources to be parsed."""
    return _MATERIAL.search(path) is not None


def is_fixture(function: FunctionTree) -> bool:
    """Whether a decorator makes it a fixture, a property or a hook rather than a test or a helper."""
    names = [decorator_name(decorator) for decorator in function.decorator_list]
    return any(
        name.rpartition(".")[2]
        in ("fixture", "yield_fixture", "property", "cached_property", "hookimpl", "setter")
        or name.endswith((".setter", ".getter", ".deleter", ".register", ".overload"))
        or name in ("overload", "typing.overload")
        for name in names
    )


def decorator_name(decorator: ast.expr) -> str:
    """The dotted name of a decorator, called or not."""
    return dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)


def keeps_name(function: FunctionTree | ast.ClassDef) -> bool:
    """Whether every decorator is one of pytest's, unittest's, mock's or hypothesis's, which leave a test to
    be found under its name alone."""
    known = (
        "pytest.mark.",
        "mark.",
        "mock.",
        "patch",
        "unittest.",
        "hypothesis.",
        "given",
        "settings",
        "example",
    )
    also = ("staticmethod", "classmethod", "skip", "skipIf", "skipUnless", "expectedFailure", "parametrize")
    return all(
        name.startswith(known) or name in also for name in map(decorator_name, function.decorator_list)
    )


def runs_itself(file: File) -> bool:
    """Whether the file hands itself to a test runner: `unittest.main()`, `pytest.main()` and their like."""
    return any(dotted_name(node.func) in _MAINS for node in file.asts(ast.Call))


_MAINS = frozenset({
    "unittest.main", "absltest.main", "pytest.main", "main", "test_case.main", "googletest.main",
    "tf.test.main", "run_tests", "support.run_unittest", "run_unittest", "nose.main",
    "nose.runmodule", "parameterized.main",
})  # fmt: skip
