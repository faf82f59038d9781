"""What `pytest.mark.parametrize` gives a test, where a program works it out and may find nothing.

```python
NAMES = [name for name in dir(layers) if name.startswith("Fused")]

@pytest.mark.parametrize("name", NAMES)  # after a rename there are none, and pytest skips the test
```

Reads `ast` only.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reviewbot.flow.calls import module_value
from reviewbot.flow.parameter_sets import given_to_parametrize
from reviewbot.source.units import called_last, once

if TYPE_CHECKING:
    from reviewbot.source.units import File, Unit

_SAME = frozenset({"list", "tuple", "sorted", "set", "frozenset", "reversed"})
# What is asked of a name: another one no longer answers to it.
_BY_NAME = frozenset({"startswith", "endswith", "match", "search", "fullmatch", "hasattr", "fnmatch"})
_GLOBBING = frozenset({"glob", "iglob"})
_LISTING = frozenset({"listdir", "scandir", "iterdir", "walk", "rglob", *_GLOBBING})
_COUNTED = frozenset({"len", "bool", "any"})
_DEEPEST = 4


@dataclass(frozen=True, slots=True, eq=False)
class Computed:
    """`values`, given to `parametrize`, are made at `made`, a clause with them as its subject is `says`."""

    values: ast.expr
    made: ast.AST
    says: str


def computed(unit: Unit) -> Iterator[Computed]:
    """What a test is parametrized with that is filtered by name, or looked for where the run stands, and
    that nothing in the file counts. Each is told once, of the first test that it is given to."""
    for values in given_to_parametrize(unit):
        if isinstance(values, ast.Name) and values.id in _looked_at(unit.file):
            continue
        found = _made(unit.file, values, _DEEPEST)
        if found is not None and _firsts(unit.file).get(ast.dump(values)) is unit:
            yield Computed(values, *found)


@once
def _firsts(file: File) -> dict[str, Unit]:
    """The first test of a file that is given what is written so."""
    found: dict[str, Unit] = {}
    for unit in file.units:
        for values in given_to_parametrize(unit) if unit.is_test else ():
            found.setdefault(ast.dump(values), unit)
    return found


def _made(file: File, node: ast.expr | None, depth: int) -> tuple[ast.AST, str] | None:
    """What makes the values, if it may find none."""
    if node is None or not depth:
        return None
    if isinstance(node, ast.Name):
        return None if node.id in file.imports else _made(file, module_value(file, node.id), depth - 1)
    if isinstance(node, (ast.ListComp, ast.SetComp)):
        return _filtered(file, node, node.generators, depth) if len(node.generators) == 1 else None
    if not isinstance(node, ast.Call):
        return None
    last = called_last(node)
    if isinstance(node.func, ast.Name) and last in _SAME and len(node.args) == 1:
        return _made(file, node.args[0], depth - 1)
    if last in _GLOBBING and _is_beside_the_run(node):
        return node, f"are the files that `{ast.unparse(node)}` finds from where the run stands"
    return _handed_out(file, node, depth) if isinstance(node.func, ast.Name) else None


def _filtered(
    file: File, node: ast.AST, loops: list[ast.comprehension], depth: int
) -> tuple[ast.AST, str] | None:
    """A filter by name over what a program works out."""
    (loop,) = loops
    if not loop.ifs or not all(map(_asks_by_name, loop.ifs)) or not _is_worked_out(file, loop.iter):
        return _made(file, loop.iter, depth - 1) if not loop.ifs else None
    asked = " and ".join(map(ast.unparse, loop.ifs))
    return node, f"are those of `{ast.unparse(loop.iter)}` for which `{asked}` holds"


def _asks_by_name(test: ast.expr) -> bool:
    """`name.startswith("Fused")`, `"int8" in name`; not what leaves exceptions out."""
    if isinstance(test, ast.BoolOp):
        return any(map(_asks_by_name, test.values))
    if isinstance(test, ast.Call):
        return called_last(test) in _BY_NAME
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], (ast.In, ast.Eq))
        and any(_is_text(side) for side in (test.left, *test.comparators))
    )


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_worked_out(file: File, node: ast.expr) -> bool:
    """Whether what is filtered is no table that the file writes: a call, or what another module has. A folder
    is rather kept beside the tests."""
    if isinstance(node, ast.Call):
        return called_last(node) not in _LISTING
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id in file.imports


def _is_beside_the_run(call: ast.Call) -> bool:
    """Whether a pattern is looked for from the working folder: `glob.glob("data/*.csv")`."""
    if len(call.args) != 1 or not isinstance(call.func, (ast.Name, ast.Attribute)):
        return False
    function = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(function, ast.Call):
        # `Path("data").glob("*.csv")`
        owner = function.args[0] if called_last(function) == "Path" and len(function.args) == 1 else None
        return owner is not None and _is_relative(owner)
    return (function is None or (isinstance(function, ast.Name) and function.id == "glob")) and _is_relative(
        call.args[0]
    )


def _is_relative(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not node.value.startswith("/")


def _handed_out(file: File, call: ast.Call, depth: int) -> tuple[ast.AST, str] | None:
    """What a function of the module returns, or yields under a condition."""
    function = file.unit(called_last(call))
    if function is None or not isinstance(function.tree, ast.FunctionDef):
        return None
    returns = function.asts(ast.Return)
    if len(returns) == 1 and not function.has(ast.Yield, ast.YieldFrom):
        bound = dict(zip((arg.arg for arg in function.tree.args.args), call.args, strict=False))
        value = returns[0].value
        if value is not None and bound:
            value = _Given(bound).visit(copy.deepcopy(value))
        return _made(file, value, depth - 1)
    return _yielded(file, function.tree) if not returns else None


class _Given(ast.NodeTransformer):
    """Puts what a call gives in the place of a function's parameters."""

    def __init__(self, bound: dict[str, ast.expr]) -> None:
        self._bound = bound

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._bound.get(node.id, node)


def _yielded(file: File, tree: ast.FunctionDef) -> tuple[ast.AST, str] | None:
    """`for name in dir(layers): if name.startswith("Fused"): yield name`."""
    loop = tree.body[-1]
    if not isinstance(loop, ast.For) or len(loop.body) != 1 or loop.orelse:
        return None
    (branch,) = loop.body
    yields = isinstance(branch, ast.If) and not branch.orelse and len(branch.body) == 1
    if not isinstance(branch, ast.If) or not yields or not isinstance(branch.body[0], ast.Expr):
        return None
    if not isinstance(branch.body[0].value, ast.Yield) or not _asks_by_name(branch.test):
        return None
    if not _is_worked_out(file, loop.iter):
        return None
    return loop, f"are those of `{ast.unparse(loop.iter)}` for which `{ast.unparse(branch.test)}` holds"


@once
def _looked_at(file: File) -> frozenset[str]:
    """The names whose size or truth the file looks at: `assert NAMES`, `len(NAMES)`, `if not NAMES`."""
    found: set[str] = set()
    for node in file.asts(ast.Call):
        if called_last(node) in _COUNTED:
            found.update(arg.id for arg in node.args if isinstance(arg, ast.Name))
    tests = [node.test for node in file.asts(ast.Assert)] + [node.test for node in file.asts(ast.If)]
    for test in tests:
        found.update(below.id for below in ast.walk(test) if isinstance(below, ast.Name))
    return frozenset(found)
