"""A function or method that gives a verdict, handed to a check where its call is meant: `assert row.equal`.

It is true whatever its call would say. Only known functions of known libraries, what these return, and
methods of a class of the repository that are plain functions: what else an object holds under a name may be
a value.
"""

from __future__ import annotations

import ast
import sys
from typing import TYPE_CHECKING

import libcst as cst

from reviewbot.flow.patterns import pattern
from reviewbot.flow.syntax import dotted, qualified
from reviewbot.flow.values import values
from reviewbot.source.units import once, root_of

if TYPE_CHECKING:
    from reviewbot.lint.repo import Repo
    from reviewbot.source.units import File, Unit

_OF_ARRAYS = ("isfinite", "isnan", "isinf", "isposinf", "isneginf", "isreal", "logical_and", "logical_or")
_COMPARE_ARRAYS = ("eq", "ne", "lt", "le", "gt", "ge", "isclose", "equal", "not_equal", "greater", "less")
_FUNCTIONS = frozenset({
    *(f"{library}.{name}" for library in ("torch", "numpy", "jax.numpy", "cupy") for name in _OF_ARRAYS),
    *(f"{library}.{name}" for library in ("math", "cmath") for name in ("isfinite", "isnan", "isinf")),
    *(f"os.path.{name}" for name in ("exists", "isfile", "isdir", "islink", "samefile")),
    "torch.is_tensor", "torch.is_floating_point", "torch.is_complex", "torch.is_grad_enabled",
    "torch.cuda.is_available", "torch.cuda.is_initialized", "torch.distributed.is_initialized",
    "torch.distributed.is_available", "torch.backends.mps.is_available",
})  # fmt: skip
_GIVE_ARRAYS = frozenset({
    f"{library}.{name}" for library in ("torch", "numpy", "jax.numpy", "cupy")
    for name in (*_OF_ARRAYS, *_COMPARE_ARRAYS)
})  # fmt: skip
_VERDICT = pattern(
    r"^(is|has|are|can|does|should|equals?|all_?close|is_?close|matches|contains|valid\w*|exists?|same\w*"
    r"|identical|agrees?|holds?|passe[sd])(_|$)"
)
# A test of what there is.
_ABOUT_PRESENCE = pattern(
    r"(?i)(^|_)(has|have|exists?|presen\w*|import\w*|api|export\w*|attr\w*|interface|defin\w*)(_|$)"
)
_NAMES = frozenset(name.rpartition(".")[2] for name in _FUNCTIONS)


def not_called(unit: Unit, node: cst.BaseExpression, repo: Repo) -> str | None:
    """Why an expression is true always: it is a function, or a method, whose call would be the verdict."""
    if type(node) is not cst.Attribute or _ABOUT_PRESENCE.search(unit.name.rpartition(".")[2]):
        return None
    code, name = dotted(node), node.attr.value
    if qualified(node, unit.file.imports) in _FUNCTIONS:
        return f"`{code}` is not called, and a function is true"
    owner = values(unit).resolve(node.value)
    if type(owner) is not cst.Call:
        return None
    if name in ("all", "any"):
        gives = qualified(owner.func, unit.file.imports) in _GIVE_ARRAYS
        return f"`.{name}` is not called, and a method is true" if gives else None
    made, root = dotted(owner.func), _root(owner.func)
    if type(root) is not cst.Name or type(node.value) is not cst.Name or values(unit).reaching(root):
        return None
    return (
        f"`{code}` is not called, and a method is true" if _is_plain(unit, f"{made}.{name}", repo) else None
    )


def _root(node: cst.BaseExpression) -> cst.BaseExpression:
    while type(node) is cst.Attribute:
        node = node.value
    return node


def _is_plain(unit: Unit, name: str, repo: Repo) -> bool:
    """Whether a dotted name is a method of a class of the repository that gives a verdict, never a value."""
    found = repo.index.definition(name, unit.file.path, unit.file.imports)
    if found is None or found[1].kind != "method" or found[1].decorators:
        return False
    file = unit.file if found[0] == unit.file.path else repo.file(found[0])
    method = None if file is None else file.unit(found[1].name)
    if file is None or method is None or name.rpartition(".")[2] in _given(file):
        return False
    return _gives_verdict(method)


@once
def _given(file: File) -> frozenset[str]:
    """The names and attributes that something in a file is given as a value."""
    stored = (node for node in ast.walk(file.tree) if isinstance(node, (ast.Name, ast.Attribute)))
    return frozenset(_last(node) for node in stored if isinstance(node.ctx, ast.Store))


def _gives_verdict(method: Unit) -> bool:
    """Whether a method's name, its annotation or all that it returns say that it gives a verdict."""
    tree = method.tree
    if not isinstance(tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return False
    if _VERDICT.search(tree.name) or (isinstance(tree.returns, ast.Name) and tree.returns.id == "bool"):
        return True
    returned = [one.value for one in method.asts(ast.Return)]
    return bool(returned) and all(isinstance(one, ast.Compare) for one in returned)


def may_not_be_called(unit: Unit, node: ast.expr) -> bool:
    """The same asked quickly: a known function's name, or a field of what a class or another call made."""
    if not isinstance(node, ast.Attribute):
        return False
    if node.attr in _NAMES or node.attr in ("all", "any"):
        return True
    return isinstance(node.value, ast.Name) and node.value.id in _made_by_classes(unit)


_PYTHONS_OWN = sys.stdlib_module_names


@once
def _made_by_classes(unit: Unit) -> frozenset[str]:
    """The names that a unit gives what a class made, by the class's name: none of Python's own, and none that
    a parameter holds, as in `self.Reader()`."""
    given = _parameters(unit).difference(unit.facts.stored)
    return frozenset(
        target.id
        for node in unit.asts(ast.Assign)
        if isinstance(node.value, ast.Call) and _last(node.value.func)[:1].isupper()
        if (root := root_of(node.value.func)) not in given
        if unit.file.imports.get(root, "").partition(".")[0] not in _PYTHONS_OWN
        for target in node.targets
        if isinstance(target, ast.Name)
    )


def _parameters(unit: Unit) -> frozenset[str]:
    if not isinstance(unit.tree, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return frozenset()
    given = unit.tree.args
    every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    return frozenset(one.arg for one in every if one is not None)


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
