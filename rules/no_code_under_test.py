"""A test runs none of the repository's code.

## Why
What it checks is worked out in the test itself: a copy of the code's arithmetic, of a branch, of a loop that
marks what is done. The copy stays right when the code goes wrong, so no change of the code makes the test
fail; and the name of the test says that something is tested.

## Instead
Call the code. Where it is too large to be called, take the part that matters out into a function of its own,
and call that from both sides.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from reviewbot.flow import assertions
from reviewbot.flow.collection import is_example, is_material
from reviewbot.flow.demands import Demand, demands
from reviewbot.flow.judging import in_test_file
from reviewbot.flow.own_modules import own_module
from reviewbot.flow.patterns import pattern
from reviewbot.flow.summaries import dotted_name
from reviewbot.lint.repo import Repo
from reviewbot.lint.rule import Example, File, Finding, Rule, Unit, once, tree_span, tree_step

# Libraries that only compute: what runs in a test that calls no others is known from the test alone.
_COMPUTE = frozenset({
    "torch", "numpy", "jax", "scipy", "einops", "math", "cmath", "random", "itertools", "functools",
    "collections", "copy", "re", "json", "datetime", "statistics", "fractions", "decimal", "operator",
    "typing", "string", "dataclasses", "enum", "types", "uuid", "textwrap", "bisect", "heapq", "hashlib",
    "pytest", "unittest", "contextlib", "parameterized", "absl", "__future__",
})  # fmt: skip
# With these a test reaches code that it does not name.
_REACHES = frozenset({
    "open", "eval", "exec", "compile", "__import__", "globals", "getfixturevalue", "ops", "library",
    "classes", "load", "load_inline", "register", "import_module", "super", "patch", "warns",
    "catch_warnings", "skip", "skipTest", "importorskip", "xfail", "fail",
})  # fmt: skip
_TESTED = frozenset({"torch", "jax", "scipy", "numpy"})
_FIXTURES = frozenset({"tmp_path", "subtests", "device", "dtype"})
_OF_UNITTEST = frozenset({
    *(name for name in (*assertions.KNOWN, *assertions.RAISING_CONTEXTS) if name.startswith("assert")),
    "subTest", "maxDiff", "id",
})  # fmt: skip
_DEVICES = pattern(r"^(cpu|cuda|mps|meta)(:\d+)?$")
# A test of the machine, or one that only says that tests run.
_ENVIRONMENT = pattern(
    r"(?i)version|available|installed|sanity|dummy|placeholder|smoke|environ|reproduc|upstream"
)
_LEAST = 2  # operations in what is checked: a literal compared with itself is another rule's
_HELPERS = 3  # functions of the test file, one called by the other
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class NoCodeUnderTest(Rule):
    folds = True
    told_by = (("constant-verdict", "unit"), ("mock-echo", "unit"), ("test-restates-code", "unit"))
    bad = (
        Example(
            """
            import torch
            from sailing.loss import clipped_loss

            def test_clipped_loss(run):
                assert clipped_loss(run(1)) == 2

            def test_clipping_of_headwind():
                gains = -torch.ones(2, 4)
                ratio = torch.tensor([[1.5, 0.5, 1.0, 1.3], [0.7, 1.4, 0.9, 1.1]])
                plain = -gains * ratio
                clipped = -gains * torch.clamp(ratio, 0.8, 1.2)
                loss = torch.max(plain, clipped)
                assert torch.all(loss >= plain)  # <- here
            """,
            files={"sailing/loss.py": "def clipped_loss(row):\\n    return row\\n"},
        ),
        Example(
            """
            import pytest
            from sailing.log import Log

            class TestKept:
                @pytest.mark.parametrize("name, shared", [("wind", True), ("crew", False)])
                def test_what_is_kept(self, name, shared):
                    held = {"crew"} if shared else set()
                    skipped = name != "wind" and name not in held
                    assert not skipped or not shared  # <- here
            """,
            files={"sailing/log.py": "class Log:\\n    pass\\n"},
        ),
        # A library's own part is tested in its place.
        Example(
            """
            from torch.utils.data.dataset import random_split
            from sailing.log import Log

            def test_split():
                parts = random_split([1, 2, 3, 4], [1, 3])
                assert len(parts[0]) + len(parts[1]) == 4  # <- here
            """,
            files={"sailing/log.py": "class Log:\\n    pass\\n"},
        ),
    )
    good = (
        # An assertion of the test's own class runs the code.
        Example(
            """
            import unittest
            from sailing.log import render

            class TestLog(unittest.TestCase):
                def assert_round_trip(self, text):
                    self.assertEqual(render(text), text)

                def test_entries(self):
                    self.assert_round_trip("day 3" + "\\n" + "day 4")

                def test_render(self):
                    self.assertEqual(render("day 1"), "day 1")
            """,
            files={"sailing/__init__.py": "", "sailing/log.py": "def render(text): return text\n"},
        ),
        # What it names is made by the set-up of the module.
        Example(
            """
            from sailing.log import Log

            log = None

            def setup_module(module):
                module.log = Log()

            def test_entries():
                days = log.days
                log.write("day 3")
                assert log.days == days + 1
            """,
            files={"sailing/__init__.py": "", "sailing/log.py": "class Log:\n    days = 0\n"},
        ),
        # The code is reached through a fixture, an attribute, a name in a text, a table, or a helper.
        Example(
            """
            import numpy as np
            import pytest
            from unittest.mock import patch
            from sailing.log import Log

            ROWS = [Log(1).row, Log(2).row]

            def rows():
                return [Log(1).row]

            @pytest.fixture
            def log():
                return Log(3)

            def test_fixture(log):
                assert log.days + 1 == 4

            class TestLog:
                def setup_method(self):
                    self.log = Log(4)

                def test_attribute(self):
                    total = np.sum(self.log.days) + 1
                    assert total == 5

            def test_table():
                assert sum(row[0] for row in ROWS) + 1 == 3

            def test_helper():
                assert sum(row[0] for row in rows()) + 1 == 3

            @pytest.mark.parametrize("row", [Log(5).row])
            def test_case(row):
                assert row[0] + row[1] == 7

            def test_text():
                with patch("sailing.log.days", 3):
                    days = 1 + 2
                assert days == 3
            """,
            files={
                "sailing/log.py": "class Log:\\n    def __init__(self, days):\\n        self.days = days\\n"
            },
        ),
        # A fixture is given the case; a decorator of the class is what is tested, or runs before each test.
        Example(
            """
            import pytest
            from datetime import datetime
            from sailing.log import Log, at_noon

            @pytest.fixture
            def found(request):
                return Log(request.param)

            @pytest.mark.parametrize("found", [3, 4], indirect=True)
            def test_found(found):
                assert len(found) + 1 == 3

            @at_noon
            class TestNoon:
                def test_hour(self):
                    assert datetime.now().hour + 0 == 12

            class TestDawn:
                @pytest.fixture(autouse=True)
                def dawn(self):
                    with at_noon.moved(-6):
                        yield

                def test_hour(self):
                    assert datetime.now().hour + 0 == 6
            """,
            files={"sailing/log.py": "class Log:\\n    pass\\nclass at_noon:\\n    pass\\n"},
        ),
        # Nothing of the repository is about; the machine; a library's own operators; no arithmetic at all.
        Example("""
            import numpy as np

            def test_sum():
                total = np.sum([1, 2]) + 1
                assert total == 4
        """),
        Example(
            """
            import torch
            import sailing.kernels
            from sailing.log import *

            def test_star():
                made = chart(1) + 2
                assert made == 3

            def test_operator():
                out = torch.ops.sailing.reef(torch.ones(3)) + 1
                assert out.sum() == 6

            def test_device():
                out = torch.ones(3, device="sail") + 1
                assert out.sum() == 6

            def test_cuda_is_available():
                free = torch.cuda.mem_get_info()[0] - 1
                assert free > 0
            """,
            files={
                "sailing/log.py": "def chart(days):\\n    return days\\n",
                "sailing/kernels.py": "import torch\\n",
                "sailing/__init__.py": "",
            },
        ),
    )

    def suspect(self, unit: Unit) -> bool:
        if not unit.is_test or not _REACHES.isdisjoint(unit.facts.calls) or _ENVIRONMENT.search(unit.name):
            return False
        if not _doing_more(unit.file).isdisjoint(unit.facts.names):
            return False
        return not any(
            isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr not in _OF_UNITTEST
            for node in unit.asts(ast.Attribute)
        )

    def confirm(self, unit: Unit, repo: Repo) -> Iterator[Finding]:
        path = unit.file.path
        if not self.suspect(unit) or not in_test_file(path) or is_example(path) or is_material(path):
            return
        if not repo.once(_imports_own, path, *unit.file.imports.values()) or not _is_closed(unit, repo):
            return
        wanted = [one for one in demands(unit.tree.body) if not _is_raising(one)]
        made = _made(unit)
        worked = [one for one in wanted if _work(one, made) >= _LEAST]
        if not worked:
            return
        first = worked[0]
        source = next((made[name] for name in sorted(first.names) if name in made), None)
        steps = [tree_step(unit, first.node, "this is checked")]
        if source is not None:
            says = "it is worked out here, in the test"
            steps.insert(0, tree_step(unit, source, says))
        name = unit.name.rpartition(".")[2]
        library = _library(unit)
        what = f"it tests {library}" if library else "what it checks is worked out in the test itself"
        yield self.finding_at(
            unit,
            tree_span(unit, first.node),
            f"the test runs none of the repository's code: {what}",
            certainty="question",
            steps=steps,
            still_catches=(f"nothing: no change of the repository's code makes `{name}` fail",),
        )


def _is_raising(demand: Demand) -> bool:
    return demand.relation == "raises"


def _library(unit: Unit) -> str:
    """What of a library a test may be about: something that the file imports by its own name."""
    for name in sorted(unit.facts.names & unit.file.imports.keys()):
        target = unit.file.imports[name]
        first, _, rest = target.partition(".")
        if first in _TESTED and rest.count(".") and not rest.startswith(("nn.", "testing.")):
            return f"`{name}` of `{first}`"
    return ""


def _imports_own(repo: Repo, path: str, *targets: str) -> bool:
    """Whether something that a file imports is of the repository, and no test."""
    for target in targets:
        if target.partition(".")[0] in _COMPUTE:
            continue
        for name in (target, target.rpartition(".")[0]):
            found = own_module(name, path, repo) if name.strip(".") else None
            if found is not None and not in_test_file(found):
                return True
    return False


@once
def _doing_more(file: File) -> frozenset[str]:
    """The imported names of a file that are of no package which only computes."""
    return frozenset(
        name for name, origin in file.imports.items() if origin.lstrip(".").partition(".")[0] not in _COMPUTE
    )


def _is_closed(unit: Unit, repo: Repo) -> bool:
    """Whether all that a test runs is written in it, or is a library's that only computes."""
    tree = unit.tree
    if not isinstance(tree, _FUNCTIONS):
        return False
    filled = _filled(tree)
    given = {one.arg for one in [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]}
    if tree.args.vararg or tree.args.kwarg or given - filled - _FIXTURES - {"self"}:
        return False
    if any(_is_skip(mark) for mark in tree.decorator_list):
        return False
    around = list(_around(unit))
    beside = [one for body in (unit.file.tree.body, *(one.body for one in around)) for one in body]
    if any(map(_runs_around_each, beside)):
        return False
    marks = [mark for one in (tree, *around) for mark in one.decorator_list]
    return _only_computes([*tree.body, *marks], given, unit, repo, _HELPERS)


def _around(unit: Unit) -> Iterator[ast.ClassDef]:
    """The classes that a test stands in."""
    body = unit.file.tree.body
    while inner := [one for one in body if isinstance(one, ast.ClassDef) and _holds(one, unit.line)]:
        yield inner[0]
        body = inner[0].body


def _holds(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or 0)


def _runs_around_each(node: ast.stmt) -> bool:
    """Whether a fixture runs around each test that stands beside it, and may change what that calls, or a
    set-up of the module gives it what it names."""
    if isinstance(node, _FUNCTIONS) and node.name in ("setup_module", "setUpModule"):
        return bool(node.args.args) or any(isinstance(below, ast.Global) for below in ast.walk(node))
    marks = node.decorator_list if isinstance(node, _FUNCTIONS) else []
    return any(
        isinstance(mark, ast.Call)
        and any(one.arg == "autouse" and not _is_false(one.value) for one in mark.keywords)
        for mark in marks
    )


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _filled(tree: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """The parameters that tables of cases fill."""
    found: set[str] = set()
    for mark in tree.decorator_list:
        if not isinstance(mark, ast.Call):
            continue
        last = dotted_name(mark.func).rpartition(".")[2]
        if last in ("expand", "parameters", "named_parameters", "product"):
            return {one.arg for one in tree.args.args}
        indirect = next((one.value for one in mark.keywords if one.arg == "indirect"), None)
        if last == "parametrize" and mark.args and (indirect is None or _is_false(indirect)):
            names = [one.value for one in ast.walk(mark.args[0]) if isinstance(one, ast.Constant)]
            found |= {part.strip() for name in names if isinstance(name, str) for part in name.split(",")}
    return found


def _is_skip(mark: ast.expr) -> bool:
    name = dotted_name(mark.func if isinstance(mark, ast.Call) else mark).rpartition(".")[2]
    return name.lower().startswith(("skip", "xfail", "expectedfailure", "usefixtures", "patch"))


def _only_computes(nodes: list[ast.AST], bound: set[str], unit: Unit, repo: Repo, depth: int) -> bool:
    """Whether nodes name nothing but what they bind, builtins, and what only computes."""
    below = [node for top in nodes for node in ast.walk(top)]
    for node in below:
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            bound = bound | {node.id}
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            bound = bound | {node.name}
        elif isinstance(node, ast.arg):
            bound = bound | {node.arg}
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            return False
        elif isinstance(node, ast.ExceptHandler) and node.name:
            bound = bound | {node.name}
    package = {target.lstrip(".").partition(".")[0] for target in unit.file.imports.values()} - _COMPUTE
    for node in below:
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if node.attr in _REACHES or (own and node.attr not in _OF_UNITTEST):
                return False
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if any(name and name in node.value for name in package):
                return False
        elif isinstance(node, ast.keyword) and node.arg == "device" and isinstance(node.value, ast.Constant):
            if not _DEVICES.search(str(node.value.value)):
                return False
        elif isinstance(node, ast.Name) and node.id not in bound and node.id in _REACHES:
            return False
    free = {node.id for node in below if isinstance(node, ast.Name)} - bound
    return all(_is_known(name, unit, repo, depth) for name in sorted(free))


def _is_known(name: str, unit: Unit, repo: Repo, depth: int) -> bool:
    imports = unit.file.imports
    if name in imports:
        target = imports[name]
        return target.partition(".")[0] in _COMPUTE and own_module(target, unit.file.path, repo) is None
    for other in unit.file.tree.body:
        if isinstance(other, _FUNCTIONS) and other.name == name:
            given = {one.arg for one in [*other.args.posonlyargs, *other.args.args, *other.args.kwonlyargs]}
            plain = not other.decorator_list and not other.args.vararg and not other.args.kwarg
            return depth > 0 and plain and _only_computes(list(other.body), given, unit, repo, depth - 1)
        if isinstance(other, ast.ClassDef) and other.name == name:
            return False
        if isinstance(other, ast.Assign) and any(
            isinstance(node, ast.Name) and node.id == name
            for node in ast.walk(other)
            if node is not other.value
        ):
            return all(isinstance(node, _PLAIN) for node in ast.walk(other.value))
    return hasattr(builtins, name)


_PLAIN = (
    ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.expr_context,
    ast.BinOp, ast.operator,
)  # fmt: skip


def _made(unit: Unit) -> dict[str, ast.stmt]:
    """The first statement of a test that works a name out."""
    found: dict[str, ast.stmt] = {}
    for node in unit.asts(ast.Assign):
        for target in node.targets:
            for name in ast.walk(target):
                if isinstance(name, ast.Name) and _operations(node.value):
                    found.setdefault(name.id, node)
    return found


def _work(demand: Demand, made: dict[str, ast.stmt]) -> int:
    """How many operations there are in what is demanded, and in what it was made from."""
    return _operations(demand.node) + sum(
        _operations(made[name].value)
        for name in demand.names
        if name in made  # type: ignore[attr-defined]
    )


_OPERATIONS = (ast.BinOp, ast.BoolOp, ast.Compare, ast.Call, ast.IfExp, ast.comprehension)


def _operations(node: ast.AST) -> int:
    return sum(isinstance(below, _OPERATIONS) for below in ast.walk(node))
